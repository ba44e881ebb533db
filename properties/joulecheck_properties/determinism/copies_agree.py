"""DET006."""

from __future__ import annotations

from typing import ClassVar, Final

import attrs

from joulecheck.case import Case, Cases
from joulecheck.errors import NotOffered
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.copies import copies_of
from joulecheck_properties.differences import agreement
from joulecheck_properties.margins import least
from joulecheck_strategies import workloads

TOLERANCE: Final = 1e-12


class CopiesAgree(Property):
    """A copy of the model gives the answers of the model.

    Statement:
        e(w) is the answer of `copy.deepcopy(model)`, and of the model when it was
        pickled and unpickled.

    Rationale:
        Sweeps copy a model to change it, and pools of processes pickle it. State that
        is left behind, such as a calibration or a table that was filled later, is
        missed in the copy only.

    Domain:
        Models that support one of the two ways; a way that raises says nothing.

    Tolerance:
        1e-12 of the quantity.

    Source:
        The definition of a copy.

    Planted bug:
        forgetful-copy: a copy of the model loses its calibration of 1 %.

    Shrinks to:
        The GEMM of one MAC.
    """

    id: ClassVar = "DET006"
    name: ClassVar = "copies-agree"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="forgetful-copy",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )
    thinning: ClassVar = 4

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if next(copies_of(model.model), None) is None:
            msg = "it can be neither copied nor pickled"
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least agreement of the model with its copies."""
        own = model.ask(cases)
        copies = (attrs.evolve(model, model=one) for one in copies_of(model.model))
        return least(
            (agreement(own, one.ask(cases), TOLERANCE) for one in copies), len(cases)
        )

"""DET005."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.elsewhere import Late, NoAnswer, ask_elsewhere
from joulecheck.errors import NotOffered
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.differences import agreement
from joulecheck_strategies import workloads

TOLERANCE: Final = 1e-12


class ProcessesAgree(Property):
    """Another process gives the same answers.

    Statement:
        e(w), asked here, is e(w), asked in a process that imports and builds the model
        anew and hashes text from another seed.

    Rationale:
        Campaigns, services and colleagues each run their own process. An answer that
        follows the order of a set, the hash of a name, the time, or what was asked
        before in this process is another one there.

    Domain:
        Models that another process finds by their name: those of a registered family,
        and MODULE:CLASS on the command line. The scalar path is asked. An answer that
        takes more than 30 s says nothing; a process that dies, or where the model
        cannot be built, disagrees.

    Tolerance:
        1e-12 of the quantity.

    Source:
        The definition of a function.

    Planted bug:
        hash-seeded: energy has noise that is seeded by the hash of the machine's name.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        SCL005 finds by chance an answer that depends on how text is hashed. This law asks
        for it, of any model that has a name.
    """

    id: ClassVar = "DET005"
    name: ClassVar = "processes-agree"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="hash-seeded",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )
    thinning: ClassVar = 512

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if not model.loadable:
            msg = (
                "no other process finds it by its name: name it FAMILY:NAME or MODULE:CLASS"
            )
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The agreement of the answers here with those of the other process."""
        here = model.one_by_one.ask(cases)
        try:
            there = ask_elsewhere(model, cases)
        except Late:
            return np.full(len(cases), np.nan)
        except NoAnswer:
            return np.full(len(cases), -1.0)
        return agreement(here, there, TOLERANCE)

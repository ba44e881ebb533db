"""BND003."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import ROUNDING
from joulecheck_strategies import workloads


class UtilisationIsAShare(Property):
    """Utilisation lies between 0 and 1.

    Statement:
        0 <= u(w) <= 1.

    Rationale:
        It is the share of a resource that is in use. Above 1 it was divided by the
        wrong peak, or is a percentage.

    Domain:
        Every case for which the model gives a utilisation.

    Tolerance:
        1e-9.

    Source:
        The definition of a share.

    Planted bug:
        inverted-utilisation: peak over achieved.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        CMP009 finds whatever this law does where a machine states its peak. Of a model
        that tells a utilisation and no peak nothing else is known.
    """

    id: ClassVar = "BND003"
    name: ClassVar = "utilisation-is-a-share"
    needs: ClassVar = frozenset({Offer.UTILISATION})
    planted: ClassVar = Planted(
        fault="inverted-utilisation",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The distance to the nearer end."""
        utilisation = model.ask(cases).utilisation
        return ROUNDING + np.minimum(utilisation, 1 - utilisation)

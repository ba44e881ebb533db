"""SYM002."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Part, PartedCase, PartedCases
from joulecheck.model import Subject
from joulecheck.property import Planted
from joulecheck.space import CaseSpace
from joulecheck.workload import Conv2d
from joulecheck.workload.columns import Floats
from joulecheck_properties.costs import (
    LawOfCosts,
    no_cheaper_than_parts,
    no_dearer_than_parts,
)
from joulecheck_strategies import groups_alone


class OneGroupIsPlain(LawOfCosts):
    """A grouped convolution is its groups, each a plain convolution.

    Statement:
        E(one) <= E(w) <= g E(one) and T(one) <= T(w) <= g T(one), where w has g groups and
        one is a plain convolution of C / g channels and K / g filters. With one group all
        of them are equal.

    Rationale:
        The groups share nothing, so that they can run one after another; and a machine that
        does all of them does one. A model that divides by the groups too seldom or too
        often, in MACs, weights or traffic, leaves these bounds.

    Domain:
        Convolutions of two groups or more, depthwise ones among them. A model that deals
        groups out whole, so that units that are left over stay idle, declares an exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The definition of a grouped convolution: Krizhevsky, Sutskever and Hinton, ImageNet
        Classification with Deep Convolutional Neural Networks, NIPS 2012.

    Planted bug:
        dense-groups: a convolution costs as much as if it had no groups.

    Shrinks to:
        The convolution of two channels and two filters of one tap, in two groups.
    """

    id: ClassVar = "SYM002"
    name: ClassVar = "one-group-is-plain"
    needs: ClassVar = frozenset(())
    planted: ClassVar = Planted(
        fault="dense-groups",
        model="reference:Intel-i7-12700K",
        shrinks_to=PartedCase(
            whole=Case(Conv2d(n=1, c=2, h=1, w=1, k=2, r=1, s=1, groups=2)),
            parts=(Part(Case(Conv2d(n=1, c=1, h=1, w=1, k=1, r=1, s=1)), 2),),
            how="groups",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Convolutions, each beside one of its groups."""
        return groups_alone(model)

    def margin(self, model: Subject, cases: PartedCases) -> Floats:
        """The least of the margins of both bounds, of both costs."""
        whole, group = model.ask(cases.whole), model.ask(cases.parts)
        above = no_cheaper_than_parts(whole, group, cases)
        below = no_dearer_than_parts(whole, group, cases)
        return np.where(cases.parted, np.fmin(above, below), np.nan)

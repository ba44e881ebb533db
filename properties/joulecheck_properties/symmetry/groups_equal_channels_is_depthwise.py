"""SYM003."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, EquivalentPair, EquivalentPairs
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Conv2d
from joulecheck.workload.columns import Floats
from joulecheck_properties.differences import agreement
from joulecheck_properties.margins import ROUNDING
from joulecheck_strategies import DepthwiseAsGroups, respellings


class GroupsEqualChannelsIsDepthwise(Property):
    """A depthwise convolution is one of as many groups as channels.

    Statement:
        e(w) = e(w') for the energy, the latency, the utilisation and every term, where w
        is depthwise with filters as large as its image (R = H, S = W), and w' is
        pointwise over C H W channels in C groups.

    Rationale:
        Such a filter has one position and meets each element of its channel once, so that
        the elements of a channel can as well be the channels of a group. Depthwise
        convolutions often have a code path of their own; here it must agree with the one of
        groups.

    Domain:
        Depthwise convolutions of a filter as large as the image, without padding, of two
        channels or more. A machine that adds up over taps and over channels in different
        hardware may cost otherwise and declares an exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The definition of a convolution: the same MACs on the same elements, and as many
        sums.

    Planted bug:
        depthwise-once: a depthwise convolution counts for one channel.

    Shrinks to:
        Two channels of an image of 1 x 2, beside four channels in two groups.

    Stays because:
        SYM002 finds the same by its bounds. That the two spellings cost the same is
        stated by this law alone.
    """

    id: ClassVar = "SYM003"
    name: ClassVar = "groups-equal-channels-is-depthwise"
    needs: ClassVar = frozenset(())
    planted: ClassVar = Planted(
        fault="depthwise-once",
        model="reference:Intel-i7-12700K",
        shrinks_to=EquivalentPair(
            one=Case(Conv2d(n=1, c=2, h=1, w=2, k=2, r=1, s=2, groups=2)),
            other=Case(Conv2d(n=1, c=4, h=1, w=1, k=2, r=1, s=1, groups=2)),
            how=DepthwiseAsGroups.how,
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Depthwise convolutions, each beside one of groups."""
        return respellings(model, DepthwiseAsGroups())

    def margin(self, model: Subject, cases: EquivalentPairs) -> Floats:
        """The least margin of equality over all quantities."""
        one, other = model.ask(cases.one), model.ask(cases.other)
        return np.where(cases.differ, agreement(one, other, ROUNDING), np.nan)

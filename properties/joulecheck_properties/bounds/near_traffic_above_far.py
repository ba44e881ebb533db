"""BND008."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.errors import NotOffered
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most, least
from joulecheck_strategies import workloads


class NearTrafficAboveFar(Property):
    """A memory near the arithmetic moves at least the bytes of the ones beyond it.

    Statement:
        Q_m >= sum_f Q_f for a memory m on the chip and the farther memory, or all those
        outside the chip, whose operands all pass m.

    Rationale:
        What comes from further out passes the nearer memory, and most of it is used
        there more than once. Levels that change places, bits taken for bytes in one of
        them, or a hit rate above 1 break it.

    Domain:
        Machines that list their memories from the arithmetic outwards and say which
        operands each carries, where the model tells the traffic of both. Workloads that
        use all of their inputs: of a convolution whose stride skips some, a far memory
        may hand over the whole tensor. A machine that fetches more from further out
        than it asked for, as in longer lines, declares an exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Inclusion of traffic in a hierarchy: Mattson, Gecsei, Slutz and Traiger, IBM
        Systems Journal 9(2), 1970.

    Planted bug:
        near-elements: the traffic of L1 is in elements instead of bytes.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        BND014 and BND016 find bytes that are wrong at one level by their price or their
        time. Where a memory has neither, only the levels can be held against each other.
    """

    id: ClassVar = "BND008"
    name: ClassVar = "near-traffic-above-far"
    needs: ClassVar = frozenset({Offer.TRAFFIC})
    planted: ClassVar = Planted(
        fault="near-elements",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if not any(_pairs(model)):
            msg = (
                "it tells the traffic of no two memories of which one carries the "
                "operands of the other"
            )
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over the pairs."""
        answers = model.ask(cases)
        unknown = np.full(len(cases), np.nan)

        def crossing(*names: str) -> Floats:
            return np.asarray(sum(answers.traffic.get(name, unknown) for name in names))

        margins = (at_most(crossing(*far), crossing(near)) for near, far in _pairs(model))
        operators = cases.operators
        skipped = operators.per_case(operators.input_elements - operators.touched_elements)
        return np.where(skipped == 0, least(margins, len(cases)), np.nan)


def _pairs(model: Subject) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Memories on the chip, each with others all of whose operands pass it."""
    memories = {n: m for n, m in model.machine.memories.items() if n in model.traffic}
    homes = [name for name, memory in memories.items() if memory.homes]
    on_chip = [name for name in memories if name not in homes]
    for near, further in combinations(on_chip, 2):
        carried = memories[further].carries
        if carried and carried <= memories[near].carries:
            yield near, (further,)
    for near in on_chip:
        beyond = [home for home in homes if memories[home].homes <= memories[near].carries]
        if beyond:
            yield near, tuple(beyond)

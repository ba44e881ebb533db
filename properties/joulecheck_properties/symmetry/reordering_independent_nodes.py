"""SYM007."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, EquivalentPair, EquivalentPairs
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Node, Subgraph
from joulecheck.workload.columns import Floats
from joulecheck_properties.differences import agreement_of_totals
from joulecheck_properties.margins import ROUNDING
from joulecheck_strategies import reorderings


class ReorderingIndependentNodes(Property):
    """The order of operators that do not read each other changes nothing.

    Statement:
        e(g) = e(g') for the energy, the latency and the utilisation, where g' lists two
        neighbouring nodes of g that share no edge in the other order.

    Rationale:
        A list of nodes says what each reads and not when each runs. Every topological order
        follows from such exchanges. A model that takes the list for the schedule, or the
        last node for the result, shows here.

    Domain:
        Graphs with two neighbouring nodes of which the later does not read the earlier.
        Terms are left out, for some models name them by the place of a node. A model that
        schedules in the order of the list, and says so, declares an exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The definition of `Subgraph`: its edges are all that it says of order.

    Planted bug:
        lost-outputs: only the last operator's result leaves the chip.

    Shrinks to:
        A GEMM of one MAC, then one of two columns.
    """

    id: ClassVar = "SYM007"
    name: ClassVar = "reordering-independent-nodes"
    needs: ClassVar = frozenset(())
    planted: ClassVar = Planted(
        fault="lost-outputs",
        model="reference:Intel-i7-12700K",
        shrinks_to=EquivalentPair(
            one=Case(Subgraph([Node(Gemm(m=1, n=1, k=1)), Node(Gemm(m=1, n=2, k=1))])),
            other=Case(Subgraph([Node(Gemm(m=1, n=2, k=1)), Node(Gemm(m=1, n=1, k=1))])),
            how="nodes 0 and 1 exchanged",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Graphs, each beside itself in another order."""
        return reorderings(model)

    def margin(self, model: Subject, cases: EquivalentPairs) -> Floats:
        """The least margin of equality over the totals."""
        one, other = model.ask(cases.one), model.ask(cases.other)
        return np.where(cases.differ, agreement_of_totals(one, other, ROUNDING), np.nan)

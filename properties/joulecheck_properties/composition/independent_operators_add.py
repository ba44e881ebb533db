"""CMP005."""

from __future__ import annotations

from typing import ClassVar

from joulecheck.case import Case, Part, PartedCase, PartedCases
from joulecheck.coefficient import Layer
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Node, Subgraph
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import ROUNDING, equality, least
from joulecheck_strategies import side_by_side


class IndependentOperatorsAdd(Property):
    """Graphs without an edge between them add up.

    Statement:
        E_t(g | h) = E_t(g) + E_t(h) for every energy term t outside STATIC, where g | h is
        the graph of the operators of g, then of those of h.

    Rationale:
        Energy is additive over what shares nothing. A model that takes a list of operators
        for a chain, or that keeps state from one operator to the next, shows here.

    Domain:
        Any two graphs. STATIC energy follows the latency, which may overlap, and is left
        out. A model that runs independent operators at the same time in parts of a memory,
        or that pays an overhead once a graph, may declare an exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Energy counts events, and the events of both graphs are those of either.

    Planted bug:
        lost-outputs: only the last operator's result leaves the chip.

    Shrinks to:
        Two GEMMs of one MAC, side by side.
    """

    id: ClassVar = "CMP005"
    name: ClassVar = "independent-operators-add"
    needs: ClassVar = frozenset({Offer.ENERGY_TERMS, Offer.LAYERS})
    planted: ClassVar = Planted(
        fault="lost-outputs",
        model="reference:Intel-i7-12700K",
        shrinks_to=PartedCase(
            whole=Case(Subgraph([Node(Gemm(m=1, n=1, k=1)), Node(Gemm(m=1, n=1, k=1))])),
            parts=(Part(Case(Gemm(m=1, n=1, k=1))), Part(Case(Gemm(m=1, n=1, k=1)))),
            how="graphs",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Pairs of graphs, side by side."""
        return side_by_side(model)

    def margin(self, model: Subject, cases: PartedCases) -> Floats:
        """The least margin of equality over the dynamic terms."""
        together, alone = model.ask(cases.whole), model.ask(cases.parts)
        names = {*together.energy_terms, *alone.energy_terms}
        dynamic = sorted(n for n in names if model.layers.get(n) is not Layer.STATIC)
        pairs = (
            (together.energy_term(name), cases.total(alone.energy_term(name)))
            for name in dynamic
        )
        return least((equality(a, b, ROUNDING) for a, b in pairs), len(cases))

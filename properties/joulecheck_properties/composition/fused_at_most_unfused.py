"""CMP004."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Part, PartedCase, PartedCases
from joulecheck.model import Subject
from joulecheck.property import Planted
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Subgraph
from joulecheck.workload.columns import Floats
from joulecheck_properties.costs import LawOfCosts, no_dearer_than_parts
from joulecheck_strategies import operators_alone


class FusedAtMostUnfused(LawOfCosts):
    """A graph costs no more than its operators one by one.

    Statement:
        E(g) <= sum_o E(o) and T(g) <= sum_o T(o), over the operators o of g, each as a
        workload of its own that reads and writes outside.

    Rationale:
        A machine may decline to fuse. What it keeps on the chip between two operators
        saves traffic, and what it overlaps saves time; it has to do neither.

    Domain:
        Graphs of two operators or more. A GEMM of two activations has a B of its own for
        each element of its batch, so that it stands against that many GEMMs of a batch of
        one. A model of forced fusion, whose intermediates take room that reuse would need,
        may declare an exemption: two GEMMs of 4096^3 that pin half of a buffer of 2^20
        elements move 380 million elements instead of 302.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The unfused schedule is one of the graph's schedules.

    Planted bug:
        launch-per-edge: each edge of a graph waits for two more launches.

    Shrinks to:
        Two GEMMs of one MAC, one after the other.
    """

    id: ClassVar = "CMP004"
    name: ClassVar = "fused-at-most-unfused"
    needs: ClassVar = frozenset(())
    planted: ClassVar = Planted(
        fault="launch-per-edge",
        model="reference:Intel-i7-12700K",
        shrinks_to=PartedCase(
            whole=Case(Subgraph.chain(Gemm(m=1, n=1, k=1), Gemm(m=1, n=1, k=1))),
            parts=(Part(Case(Gemm(m=1, n=1, k=1))), Part(Case(Gemm(m=1, n=1, k=1)))),
            how="operators",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Graphs, each beside its operators."""
        return operators_alone(model)

    def margin(self, model: Subject, cases: PartedCases) -> Floats:
        """The lesser of the margins of energy and of latency."""
        whole, alone = model.ask(cases.whole), model.ask(cases.parts)
        return np.where(cases.parted, no_dearer_than_parts(whole, alone, cases), np.nan)

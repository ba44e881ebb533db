from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from joulecheck.case import Case
from joulecheck.errors import InvalidWorkload
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    LoopNest,
    Node,
    Precision,
    Shape,
    Subgraph,
    Totals,
    Traffic,
    gemm_columns,
    loop_nest,
    nodes_of,
    operand_count,
    rewired,
    traffic,
)
from joulecheck_strategies import WorkloadSpace

RELU = Elementwise(Function.RELU, (1, 3, 2, 1))
ADD = Elementwise(Function.ADD, (1, 3, 2, 1))

cases = WorkloadSpace(precisions=tuple(Precision)).strategy()
graphs = cases.map(lambda case: case.workload).filter(
    lambda workload: isinstance(workload, Subgraph)
)


def attention() -> Subgraph:
    """Scores of 4 queries on 6 keys of width 8, then their mixture of 6 values."""
    keys = Gemm(m=6, n=8, k=16)
    queries = Gemm(m=4, n=8, k=16)
    scores = Gemm(m=4, n=6, k=8)
    mixture = Gemm(m=4, n=8, k=6)
    return Subgraph(
        [Node(keys), Node(queries), Node(scores, (1, 0)), Node(mixture, (2, None))]
    )


def skip_connection() -> Subgraph:
    """A GEMM whose result goes through RELU and around it into a sum."""
    return Subgraph([Node(Gemm(m=2, n=3, k=5)), Node(RELU, (0,)), Node(ADD, (0, 1))])


class TestNode:
    """An operator and where its operands come from."""

    def test_reads_all_operands_from_outside_unless_told(self) -> None:
        found = [Node(op).sources for op in (Gemm(m=1, n=1, k=1), RELU, ADD)]

        assert found == [(None, None), (None,), (None, None)]

    def test_operand_count_is_that_of_its_sources(self) -> None:
        conv = Conv2d(n=1, c=1, h=1, w=1, k=1, r=1, s=1)
        several = Elementwise(Function.ADD, (1,), operands=4)
        found = [operand_count(op) for op in (Gemm(m=1, n=1, k=1), conv, several)]

        assert found == [2, 1, 4]


class TestSubgraph:
    """A DAG whose shapes fit."""

    def test_counts_the_work_of_all_nodes(self) -> None:
        graph = skip_connection()

        assert graph.macs == 30
        assert graph.other_ops == 12
        assert graph.ops == 72

    def test_knows_its_intermediates(self) -> None:
        graph = skip_connection()

        assert [graph.is_intermediate(i) for i in range(3)] == [True, True, False]

    def test_chain_feeds_each_operator_to_the_next(self) -> None:
        graph = Subgraph.chain(Gemm(m=2, n=3, k=5), RELU, ADD)

        assert [node.sources for node in graph.nodes] == [(None, None), (0,), (1, None)]

    def test_attention_multiplies_two_activations(self) -> None:
        graph = attention()

        assert graph.macs == (6 + 4) * 8 * 16 + 4 * 6 * 8 + 4 * 8 * 6

    def test_refuses_more_than_eight_nodes(self) -> None:
        with pytest.raises(InvalidWorkload, match=r"1 to 8 nodes, got 9: split the graph"):
            Subgraph.chain(*[RELU] * 9)

    def test_refuses_no_nodes(self) -> None:
        with pytest.raises(InvalidWorkload, match="got 0"):
            Subgraph([])

    @pytest.mark.parametrize("source", [1, 2, -1, True, 0.0])
    def test_refuses_a_source_that_is_no_earlier_node(self, source: Any) -> None:  # noqa: ANN401 - anything a user may pass
        nodes = [Node(RELU), Node(RELU, (source,))]

        with pytest.raises(InvalidWorkload, match="list producers before consumers"):
            Subgraph(nodes)

    def test_refuses_another_number_of_sources(self) -> None:
        with pytest.raises(InvalidWorkload, match="must name 2 operands of Elementwise"):
            Subgraph([Node(ADD, (None,))])

    def test_refuses_shapes_that_do_not_fit(self) -> None:
        wide = Elementwise(Function.RELU, (1, 3, 2, 2))

        with pytest.raises(InvalidWorkload, match=r"operand 0 .* of node 0: use operator"):
            Subgraph([Node(RELU), Node(wide, (0,))])

    def test_refuses_a_second_operand_that_does_not_fit(self) -> None:
        gemm = Gemm(m=2, n=4, k=3)

        with pytest.raises(InvalidWorkload, match="operand 1"):
            Subgraph([Node(RELU), Node(gemm, (0, 0))])


class TestGemmColumns:
    """An activation as the second operand of a GEMM."""

    @pytest.mark.parametrize(
        ("shape", "expected"),
        [
            (Shape(2, 5, 7, 1), 7),  # transposed: channels are K
            (Shape(2, 7, 5, 1), 7),  # as it is: positions are K
            (Shape(2, 5, 5, 1), 5),
            (Shape(2, 5, 1, 3), 3),
            (Shape(1, 5, 7, 1), None),  # another batch
            (Shape(2, 6, 7, 1), None),
        ],
    )
    def test_is_the_size_beside_k(self, shape: Shape, expected: int | None) -> None:
        assert gemm_columns(2, 5, shape) == expected


class TestTotals:
    """A workload as two numbers."""

    def test_has_operations_and_no_macs(self) -> None:
        totals = Totals(ops=5, bytes=7)

        assert (totals.ops, totals.other_ops, totals.macs) == (5, 5, 0)
        assert nodes_of(totals) == ()

    @pytest.mark.parametrize("numbers", [(-1, 0), (0, -1), (1.0, 1), (True, 1)])
    def test_refuses_what_is_no_count(self, numbers: tuple[Any, Any]) -> None:
        with pytest.raises(
            InvalidWorkload, match=r"Totals\.(ops|bytes) must be an int >= 0"
        ):
            Totals(*numbers)


class TestNodesOf:
    """Any workload as nodes."""

    def test_a_single_operator_is_one_node(self) -> None:
        assert nodes_of(RELU) == (Node(RELU),)

    def test_a_subgraph_has_its_own(self) -> None:
        graph = skip_connection()

        assert nodes_of(graph) == graph.nodes


class TestLoopNest:
    """A node as GEMMs."""

    def test_the_batch_folds_into_m_under_weights(self) -> None:
        assert loop_nest(Node(Gemm(m=2, n=3, k=5, batch=7))) == LoopNest(1, 14, 3, 5)

    def test_the_batch_stays_apart_under_an_activation(self) -> None:
        node = Node(Gemm(m=2, n=3, k=5, batch=7), (0, 0))

        assert loop_nest(node) == LoopNest(7, 2, 3, 5)


class TestTraffic:
    """Each external tensor once."""

    def test_of_a_gemm_is_its_three_matrices(self) -> None:
        found = traffic(Gemm(m=2, n=3, k=5, batch=7), Precision.FP16)

        assert found == Traffic(input=140, weight=30, output=84, internal=0)
        assert found.external == 254

    def test_half_bytes_round_up_tensor_by_tensor(self) -> None:
        found = traffic(Elementwise(Function.ADD, (3,)), Precision.INT4)

        assert found == Traffic(input=4, weight=0, output=2, internal=0)

    def test_intermediates_stay_inside_and_count_once(self) -> None:
        found = traffic(skip_connection(), Precision.INT8)

        assert found == Traffic(input=10, weight=15, output=6, internal=12)

    def test_an_activation_as_second_operand_is_no_weight(self) -> None:
        found = traffic(attention(), Precision.INT8)

        assert found.weight == 2 * 8 * 16 + 6 * 8
        assert found.internal == 6 * 8 + 4 * 8 + 4 * 6
        assert found.input == (6 + 4) * 16

    def test_fusing_a_chain_never_adds_external_bytes(self) -> None:
        gemm, relu = Gemm(m=2, n=3, k=5), RELU
        fused = traffic(Subgraph.chain(gemm, relu), Precision.FP32)
        apart = [traffic(op, Precision.FP32).external for op in (gemm, relu)]

        assert fused.external == sum(apart) - 2 * fused.internal

    def test_of_totals_is_as_stated(self) -> None:
        assert traffic(Totals(ops=1, bytes=9), Precision.FP4).external == 9

    @given(cases)
    def test_a_case_counts_the_same(self, case: Case) -> None:
        assert case.bytes == traffic(case.workload, case.precision).external
        assert case.ops == 2 * case.macs + case.workload.other_ops


class TestRewired:
    """A subgraph without some of its nodes."""

    @given(graphs, st.booleans())
    def test_keeping_all_changes_nothing(self, graph: Subgraph, bypass: bool) -> None:  # noqa: FBT001 - drawn
        assert rewired(graph, range(len(graph.nodes)), bypass=bypass) == graph

    @given(graphs, st.booleans(), st.data())
    def test_any_subset_is_valid_and_keeps_its_kinds(
        self,
        graph: Subgraph,
        bypass: bool,  # noqa: FBT001 - drawn
        data: st.DataObject,
    ) -> None:
        places = st.integers(0, len(graph.nodes) - 1)
        keep = sorted(data.draw(st.sets(places, min_size=1)))
        smaller = rewired(graph, keep, bypass=bypass)

        assert smaller is not None
        found = [type(node.operator) for node in smaller.nodes]
        assert found == [type(graph.nodes[index].operator) for index in keep]

    def test_keeping_none_leaves_nothing(self) -> None:
        assert rewired(skip_connection(), [], bypass=True) is None

    def test_bypass_reads_what_the_removed_node_read(self) -> None:
        graph = Subgraph.chain(Gemm(m=2, n=3, k=5), RELU, RELU)
        smaller = rewired(graph, [0, 2], bypass=True)

        assert smaller == Subgraph.chain(Gemm(m=2, n=3, k=5), RELU)

    def test_without_bypass_the_reader_reads_from_outside(self) -> None:
        graph = Subgraph.chain(Gemm(m=2, n=3, k=5), RELU, RELU)
        smaller = rewired(graph, [0, 2], bypass=False)

        assert smaller == Subgraph([Node(Gemm(m=2, n=3, k=5)), Node(RELU)])

    def test_shapes_follow_the_new_source(self) -> None:
        graph = Subgraph.chain(
            Gemm(m=2, n=3, k=5), Gemm(m=2, n=7, k=3), Gemm(m=2, n=4, k=7)
        )
        smaller = rewired(graph, [0, 2], bypass=True)

        assert smaller == Subgraph.chain(Gemm(m=2, n=3, k=5), Gemm(m=2, n=4, k=3))

    def test_a_second_operand_that_no_longer_fits_comes_from_outside(self) -> None:
        widen, narrow = Gemm(m=2, n=4, k=3), Gemm(m=2, n=3, k=4)
        head = [Node(RELU), Node(widen, (0, None))]
        graph = Subgraph([*head, Node(narrow, (1, None)), Node(ADD, (2, 0))])
        wide = Elementwise(Function.ADD, (1, 4, 2, 1))
        smaller = rewired(graph, [0, 1, 3], bypass=True)

        assert smaller == Subgraph([*head, Node(wide, (1, None))])

    def test_all_pairs_of_attention_are_valid(self) -> None:
        graph = attention()
        found = [rewired(graph, keep, bypass=True) for keep in combinations(range(4), 2)]

        assert all(smaller is not None for smaller in found)
        assert np.all([len(smaller.nodes) == 2 for smaller in found if smaller])

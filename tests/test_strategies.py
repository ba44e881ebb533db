"""The public strategies: valid draws within their bounds, that shrink to the plainest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import SearchStrategy

from derivable import KNOBS
from joulecheck.case import Case, DerivedCase, PrecisionPair, ScaledCase
from joulecheck.space import Bounds
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Precision,
    Subgraph,
    Totals,
    nodes_of,
)
from joulecheck_strategies import strategies as js
from joulecheck_strategies.networks import networks, real_workloads

SMALL = Bounds(batch=2, gemm=64, channels=8, image=8, filter=3, groups=4)


def plainest(strategy: SearchStrategy[Any]) -> Any:  # noqa: ANN401 - what it draws
    return find(strategy, lambda _: True, settings=settings(database=None))


@settings(max_examples=50)
@given(js.gemms(min_value=3, max_value=9, max_batch=2))
def test_gemms_keep_their_bounds(gemm: Gemm) -> None:
    assert all(3 <= size <= 9 for size in (gemm.m, gemm.n, gemm.k))
    assert gemm.batch <= 2


@settings(max_examples=50)
@given(js.conv2ds(max_value=12, max_channels=6, max_filter=5, max_padding=1))
def test_conv2ds_keep_their_bounds(conv: Conv2d) -> None:
    assert max(conv.h, conv.w) <= 12
    assert max(conv.r, conv.s) <= 5
    assert conv.padding <= 1
    assert conv.c % conv.groups == 0


@settings(max_examples=50)
@given(js.elementwises(functions=[Function.ADD, Function.RELU], max_operands=2))
def test_elementwises_keep_to_the_functions_asked_for(operator: Elementwise) -> None:
    assert operator.function in {Function.ADD, Function.RELU}
    assert operator.operands <= 2


@settings(max_examples=50)
@given(js.totals(max_value=7))
def test_totals_keep_their_bounds(totals: Totals) -> None:
    assert max(totals.ops, totals.bytes) <= 7


@settings(max_examples=30)
@given(js.subgraphs(min_nodes=3, max_nodes=4, kinds=["conv2d"], bounds=SMALL))
def test_subgraphs_have_the_nodes_asked_for(graph: Subgraph) -> None:
    assert 3 <= len(graph.nodes) <= 4
    assert all(isinstance(node.operator, Conv2d) for node in graph.nodes)


@settings(max_examples=30)
@given(js.perturbations(coefficients=["a", "b", "c"], max_size=2, min_factor=0.5))
def test_perturbations_scale_some_of_the_coefficients(case: ScaledCase) -> None:
    assert 1 <= len(case.scale) <= 2
    assert set(case.scale) <= {"a", "b", "c"}
    assert all(0.5 <= factor <= 10 for factor in case.scale.values())


@settings(max_examples=30)
@given(js.precision_pairs(among=[Precision.INT8, Precision.INT16, Precision.FP32]))
def test_precision_pairs_are_ordered(pair: PrecisionPair) -> None:
    assert pair.narrower.precision is Precision.INT8
    assert pair.wider.precision is Precision.INT16
    assert pair.narrower.workload == pair.wider.workload


@settings(max_examples=30)
@given(js.cases(workload=js.network_layers(names=["ResNet-50"])))
def test_network_layers_are_those_of_the_data_file(case: Case) -> None:
    (network,) = (n for n in networks() if n.name == "ResNet-50")
    assert case.workload in {*network.layers, *network.blocks}


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (js.gemms(), Gemm(m=1, n=1, k=1)),
        (js.conv2ds(), Conv2d(n=1, c=1, h=1, w=1, k=1, r=1, s=1)),
        (js.elementwises(), Elementwise(Function.RELU, (1, 1, 1, 1))),
        (js.totals(), Totals(ops=0, bytes=0)),
        (js.workloads(), Gemm(m=1, n=1, k=1)),
        (js.precisions(), Precision.FP32),
        (js.cases(), Case(Gemm(m=1, n=1, k=1))),
    ],
    ids=["gemms", "conv2ds", "elementwises", "totals", "workloads", "precisions", "cases"],
)
def test_they_shrink_to_the_plainest(
    strategy: SearchStrategy[Any], expected: object
) -> None:
    assert plainest(strategy) == expected


def test_subgraphs_shrink_to_the_fewest_nodes() -> None:
    assert len(plainest(js.subgraphs(min_nodes=3)).nodes) == 3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: js.gemms(min_value=0), "min_value must be at least 1, got 0"),
        (lambda: js.gemms(max_value=2.0), "max_value must be an int, got 2.0"),  # type: ignore[arg-type]
        (lambda: js.gemms(min_value=9, max_value=3), "min_value=9 must not exceed"),
        (lambda: js.conv2ds(max_padding=-1), "max_padding must be at least 0, got -1"),
        (lambda: js.elementwises(functions=[]), "functions must name at least one"),
        (lambda: js.subgraphs(min_nodes=1), "min_nodes must be at least 2, got 1"),
        (lambda: js.workloads(max_nodes=9), "max_nodes must be at most 8, got 9"),
        (lambda: js.workloads(kinds=["gem"]), "did you mean gemm"),
        (lambda: js.network_layers(names=["ResNet-5O"]), "did you mean ResNet-50"),
        (lambda: js.precisions(among=[]), "among must name at least one Precision"),
        (lambda: js.perturbations(coefficients=[]), "at least one coefficient"),
        (
            lambda: js.perturbations(coefficients=["a"], min_factor=0),
            "factors must be positive and ordered, got 0 to 10",
        ),
        (
            lambda: js.precision_pairs(among=[Precision.INT8, Precision.FP32]),
            "two precisions that are ordered",
        ),
        (lambda: js.machine_perturbations(knobs={}), "at least one knob, got none"),
        (
            lambda: js.machine_perturbations(knobs=KNOBS, min_factor=2.0, max_factor=1.0),
            "factors must be positive and ordered, got 2.0 to 1.0",
        ),
        (
            lambda: js.machine_perturbations(knobs=KNOBS, max_size=0),
            "max_size must be at least 1, got 0",
        ),
        (
            lambda: js.machine_perturbations(knobs=KNOBS, max_factor=0.5),
            "knob 'units' may not be turned between 0.0625 and 0.5",
        ),
    ],
)
def test_a_wrong_argument_is_refused_at_once(
    wrong: Callable[[], object], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        wrong()


class TestMachinePerturbations:
    """Cases on machines that differ in some figures."""

    @given(case=js.machine_perturbations(knobs=KNOBS, max_size=3))
    def test_turn_each_knob_as_far_as_it_may(self, case: DerivedCase) -> None:
        factors = case.derivation.factors

        assert 1 <= len(factors) <= 3
        assert all(KNOBS[name].allows(factor) for name, factor in factors.items())
        assert all(1 / 16 <= factor <= 16 for factor in factors.values())

    def test_shrink_to_one_knob(self) -> None:
        found = plainest(js.machine_perturbations(knobs=KNOBS))

        assert list(found.derivation.factors) == ["clock"]
        assert found.case == Case(Gemm(m=1, n=1, k=1))

    def test_reach_all_knobs_at_once(self) -> None:
        drawn = js.machine_perturbations(knobs=KNOBS)

        def turns_all(case: DerivedCase) -> bool:
            return case.derivation.factors.keys() == KNOBS.keys()

        assert find(drawn, turns_all, settings=settings(database=None))

    def test_ask_the_cases_that_are_given(self) -> None:
        case = Case(Gemm(m=2, n=3, k=5))
        drawn = js.machine_perturbations(knobs=KNOBS, case=st.just(case))

        assert plainest(drawn).case == case


class TestNetworks:
    """The data file of real layers."""

    def test_has_the_networks_that_architects_expect(self) -> None:
        names = {network.name for network in networks()}

        assert names >= {
            "ResNet-50", "MobileNetV2", "BERT-base", "GPT-2", "ViT-B/16", "Llama-7B",
            "U-Net",
        }  # fmt: skip
        assert all(network.source for network in networks())

    def test_has_residual_blocks_attention_and_separable_convolutions(self) -> None:
        graphs = [w for w in real_workloads() if isinstance(w, Subgraph)]
        operators = [[node.operator for node in nodes_of(graph)] for graph in graphs]

        assert any(None in node.sources[1:] and node.sources[0] is not None
                   for graph in graphs for node in graph.nodes
                   if isinstance(node.operator, Elementwise))  # fmt: skip
        assert any(isinstance(node.operator, Gemm) and None not in node.sources
                   for graph in graphs for node in graph.nodes)  # fmt: skip
        assert any(
            isinstance(op, Conv2d) and op.groups == op.c > 1
            for ops in operators
            for op in ops
        )

    @pytest.mark.parametrize(
        ("index", "ops"),
        [(0, 524_288), (1, 2_147_483_648), (2, 137_438_953_472)],
    )
    def test_starts_with_the_standard_workloads(self, index: int, ops: int) -> None:
        assert networks()[0].layers[index].ops == ops

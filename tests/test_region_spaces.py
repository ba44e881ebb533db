"""What case spaces offer to the search for regions, against cases built one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pytest

from joulecheck.case import WorkloadPair
from joulecheck.space import CaseSpace, Trait
from joulecheck.workload import Conv2d, Elementwise, Gemm, Node, Precision
from joulecheck.workload.columns import Floats
from joulecheck.workload.subgraph import nodes_of
from joulecheck_strategies import GrowthSpace, PerturbationSpace, WorkloadSpace

GRAPHS: Final = WorkloadSpace(precisions=(Precision.FP32, Precision.INT8))
GROWTH: Final = GrowthSpace(GRAPHS)
PERTURBED: Final = PerturbationSpace(GRAPHS, ("alu", "dram"))


def moved(nodes: Sequence[Node], by: int) -> list[tuple[Any, ...]]:
    """Each operator with its edges, that many places later."""
    return [
        (node.operator, *(None if s is None else s + by for s in node.sources))
        for node in nodes
    ]


def declared(node: Node) -> dict[str, float | str]:
    """The fields of an operator, by the names of their columns."""
    match node.operator:
        case Gemm(m=m, n=n, k=k, batch=batch):
            return {"batch": batch, "m": m, "n": n, "k": k}
        case Conv2d() as conv:
            names = ("c", "h", "w", "r", "s", "stride", "padding", "dilation", "groups")
            own = {name: getattr(conv, name) for name in names}
            return {"batch": conv.n, "filters": conv.k, **own}
        case Elementwise() as one:
            batch, c, h, w = one.output_shape
            sizes = {"batch": batch, "c": c, "h": h, "w": w}
            return {**sizes, "function": one.function.name, "operands": one.operands}


def columns_at(
    fields: Mapping[str, Floats | Trait], place: int
) -> Iterator[tuple[str, float | str]]:
    """The fields that one operator has."""
    for name, column in fields.items():
        if isinstance(column, Trait):
            if column.codes[place] >= 0:
                yield name, column.names[column.codes[place]]
        elif not np.isnan(column[place]):
            yield name, float(column[place])


def test_operators_are_declared_by_their_fields() -> None:
    rows = GRAPHS.sample(np.random.default_rng(0), 256)
    nodes = [node for row in rows for node in nodes_of(GRAPHS.build(row.tolist()).workload)]
    fields = GRAPHS.operator_fields(rows)

    for place, node in enumerate(nodes):
        found, expected = dict(columns_at(fields, place)), declared(node)
        derived = {"p", "q"} if isinstance(node.operator, Conv2d) else set()
        assert {name: found[name] for name in expected} == expected
        assert found.keys() - expected.keys() == derived


@pytest.mark.parametrize("space", [GRAPHS, PERTURBED, GROWTH])
class TestEmbedded:
    """A larger graph holds the smaller one."""

    def test_rows_are_canonical(self, space: CaseSpace) -> None:
        rng = np.random.default_rng(0)
        rows = space.sample(rng, 256)
        larger = space.embedded(rng, rows)

        assert larger.shape == rows.shape
        np.testing.assert_array_equal(space.canonical(larger), larger)
        assert (space.nodes(larger) >= space.nodes(rows)).all()
        assert (space.nodes(larger) > space.nodes(rows)).any()

    def test_what_belongs_to_no_node_stays(self, space: CaseSpace) -> None:
        rng = np.random.default_rng(1)
        rows = space.sample(rng, 256)
        larger = space.embedded(rng, rows)
        own = [i for i, gene in enumerate(space.genes) if "." not in gene.name]
        kept = [i for i in own if space.genes[i].name not in {"dimension", "growth"}]

        np.testing.assert_array_equal(larger[:, kept], rows[:, kept])


def test_a_larger_graph_has_the_operators_and_edges_of_the_smaller() -> None:
    rng = np.random.default_rng(2)
    rows = GRAPHS.sample(rng, 256)
    larger = GRAPHS.embedded(rng, rows)

    for small, large in zip(rows.tolist(), larger.tolist(), strict=True):
        inner, outer = (nodes_of(GRAPHS.build(row).workload) for row in (small, large))
        offsets = range(len(outer) - len(inner) + 1)
        assert any(
            moved(inner, by) == moved(outer[by : by + len(inner)], 0) for by in offsets
        )


def test_the_same_dimension_grows_in_a_larger_graph() -> None:
    rng = np.random.default_rng(3)
    rows = GROWTH.sample(rng, 256)
    larger = GROWTH.embedded(rng, rows)
    before, after = (GROWTH.traits(some)["grown"].codes for some in (rows, larger))

    np.testing.assert_array_equal(before, after)
    pair = GROWTH.build(larger[0].tolist())
    assert isinstance(pair, WorkloadPair)


def test_single_operators_have_no_larger_graphs() -> None:
    single = WorkloadSpace(max_nodes=1)
    rng = np.random.default_rng(4)

    assert len(single.embedded(rng, single.sample(rng, 8))) == 0

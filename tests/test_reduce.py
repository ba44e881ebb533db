from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, Final

import attrs
import numpy as np
import pytest

from joulecheck.campaign.order import Plainness
from joulecheck.campaign.reduce import (
    CHUNK,
    EXHAUSTIVE,
    LAZY_LIMIT,
    Reduced,
    reduce,
)
from joulecheck.case import Case
from joulecheck.counterexample import Minimality
from joulecheck.space import Bounds
from joulecheck.workload import Conv2d, Elementwise, Function, Gemm, Precision, Subgraph
from joulecheck.workload.columns import CONV2D, ELEMENTWISE, Bools, Ints
from joulecheck_strategies import GrowthSpace, WorkloadSpace

Holds = Callable[[Any], Bools]
"""Whether each case of a batch fails."""

GRAPHS: Final = WorkloadSpace(precisions=(Precision.FP32, Precision.INT8))
GEMMS: Final = WorkloadSpace(kinds=("gemm",), max_nodes=1)
SMALL: Final = WorkloadSpace(kinds=("gemm",), max_nodes=1, bounds=Bounds(batch=4, gemm=9))


def sampled(space: Any, holds: Holds, seed: int = 0) -> Ints:  # noqa: ANN401 - any space
    """The last failing row of some batches: one with more in it than the first."""
    random = np.random.default_rng(seed)
    for _ in range(64):
        rows = space.sample(random, 1 << 12)
        failing = rows[holds(space.batch(rows))]
        if len(failing):
            found: Ints = failing[space.nodes(failing).argmax()]
            return found
    pytest.fail("no sampled case fails")


def reduced(
    space: Any,  # noqa: ANN401 - any space
    holds: Holds,
    *,
    seed: int = 0,
    vectorised: bool = True,
) -> Reduced:
    row = sampled(space, holds, seed).tolist()
    return reduce(space, row, lambda rows: holds(space.batch(rows)), vectorised=vectorised)


def somewhere(cases: Any, which: Bools) -> Bools:  # noqa: ANN401 - a batch
    """Whether some operator of each case is marked."""
    found: Bools = cases.operators.per_case(which.astype(np.float64)) > 0
    return found


def deep(cases: Any) -> Bools:  # noqa: ANN401 - a batch
    return somewhere(cases, cases.operators.k % 128 == 7)


def wide_filters(cases: Any) -> Bools:  # noqa: ANN401 - a batch
    rows = cases.operators
    is_wide = (rows.kind == CONV2D) & (rows.k >= 18) & (rows.n > 1)
    return somewhere(cases, is_wide) & somewhere(cases, rows.kind == ELEMENTWISE)


def attention(cases: Any) -> Bools:  # noqa: ANN401 - a batch
    return somewhere(cases, cases.operators.weight_is_internal)


def large(cases: Any) -> Bools:  # noqa: ANN401 - a batch
    found: Bools = cases.macs >= 1000
    return found


def of_integers(cases: Any) -> Bools:  # noqa: ANN401 - a batch
    return large(cases) & (cases.bits == 8)


class TestMinimal:
    """What is left is what the fault needs."""

    @pytest.mark.parametrize("seed", range(4))
    def test_a_residue_in_any_node_needs_one_small_gemm(self, seed: int) -> None:
        found = reduced(GRAPHS, deep, seed=seed)

        assert GRAPHS.build(found.row) == Case(Gemm(m=1, n=1, k=7))

    @pytest.mark.parametrize("seed", range(4))
    def test_a_product_is_met_exactly_and_by_one_field(self, seed: int) -> None:
        found = reduced(GRAPHS, large, seed=seed)

        assert GRAPHS.build(found.row) == Case(Gemm(m=1, n=1000, k=1))

    def test_a_precision_that_matters_stays(self) -> None:
        found = reduced(GRAPHS, of_integers)

        assert GRAPHS.build(found.row) == Case(Gemm(m=1, n=1000, k=1), Precision.INT8)

    @pytest.mark.parametrize("seed", range(4))
    def test_nodes_that_matter_stay_and_others_go(self, seed: int) -> None:
        found = reduced(GRAPHS, wide_filters, seed=seed)
        workload = GRAPHS.build(found.row).workload

        assert isinstance(workload, Subgraph)
        assert {type(n.operator) for n in workload.nodes} == {Conv2d, Elementwise}
        assert len(workload.nodes) == 2
        assert found.minimality is Minimality.PROVEN

    def test_an_edge_that_matters_stays(self) -> None:
        workload = GRAPHS.build(reduced(GRAPHS, attention).row).workload

        assert isinstance(workload, Subgraph)
        assert workload.macs <= 3

    def test_one_field_may_grow_so_that_another_shrinks_more(self) -> None:
        def holds(cases: Any) -> Bools:  # noqa: ANN401 - a batch
            rows = cases.operators  # batch and M are one dimension of the loop nest
            found: Bools = (rows.m >= 52) & (rows.n % 14 == 10)
            return found

        space = attrs.evolve(SMALL, bounds=Bounds(batch=8, gemm=16))
        row = space.genes_of(Case(Gemm(m=9, n=10, k=1, batch=6)))
        found = reduce(space, row, lambda r: holds(space.batch(r)), vectorised=True)

        assert space.build(found.row) == Case(Gemm(m=13, n=10, k=1, batch=4))

    def test_a_pair_of_workloads_reduces_to_one_step_of_one_dimension(self) -> None:
        space = GrowthSpace(GRAPHS)

        def holds(pairs: Any) -> Bools:  # noqa: ANN401 - a batch
            found: Bools = pairs.larger.macs >= pairs.smaller.macs + 100
            return found

        pair = space.build(reduced(space, holds).row)

        assert pair.smaller == Case(Gemm(m=1, n=1, k=1))
        assert pair.larger.macs == 101

    def test_the_plainest_case_stays(self) -> None:
        row = GRAPHS.plainest.tolist()
        found = reduce(GRAPHS, row, lambda r: np.ones(len(r), bool), vectorised=True)

        assert found == Reduced(tuple(row), Minimality.PROVEN, 0)


class TestAgainstBruteForce:
    """Small domains can be enumerated."""

    ROWS: Final = SMALL.canonical(
        np.array(
            [
                SMALL.genes_of(Case(Gemm(m=m, n=n, k=k, batch=b)))
                for b, m, k, n in product(
                    range(1, 5), range(1, 10), range(1, 10), range(1, 10)
                )
            ]
        )
    )

    @pytest.mark.parametrize("seed", range(20))
    def test_meets_the_minimum(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        period, most = random.integers(3, 8), random.integers(8, 60)
        rest = random.integers(period)
        batch, m, k, n = (SMALL.column[f"0.{x}"] for x in ("batch", "m", "k", "n"))

        def fails(rows: Ints) -> Bools:
            residue: Bools = (rows[:, m] * rows[:, k]) % period == rest
            return residue & (rows[:, n] * rows[:, batch] * rows[:, m] >= most)

        failing = self.ROWS[fails(self.ROWS)]
        plainest = failing[Plainness.of(SMALL, failing).order()[0]]
        start = failing[random.integers(len(failing))]
        found = reduce(SMALL, start.tolist(), fails, vectorised=True)

        assert found.row == tuple(plainest)
        assert found.minimality is Minimality.PROVEN


class TestWhatIsAsked:
    """Candidates are canonical and plainer, and counted."""

    def test_every_candidate_is_canonical_and_plainer(self) -> None:
        row = sampled(GRAPHS, deep)
        accepted = [row]

        def fails(rows: Ints) -> Bools:
            np.testing.assert_array_equal(GRAPHS.canonical(rows), rows)
            here = Plainness.of(GRAPHS, accepted[-1][None, :])
            assert Plainness.of(GRAPHS, rows).plainer_than(here).all()
            failing = deep(GRAPHS.batch(rows))
            if failing.any():
                accepted.append(rows[failing.argmax()])
            return failing

        found = reduce(GRAPHS, row.tolist(), fails, vectorised=True)

        assert found.row == tuple(accepted[-1])

    def test_evaluations_are_counted(self) -> None:
        asked = 0

        def fails(rows: Ints) -> Bools:
            nonlocal asked
            asked += len(rows)
            return deep(GRAPHS.batch(rows))

        found = reduce(GRAPHS, sampled(GRAPHS, deep).tolist(), fails, vectorised=True)

        assert found.evaluations == asked > 0

    @pytest.mark.parametrize("vectorised", [True, False])
    def test_repeats_give_the_same(self, *, vectorised: bool) -> None:
        once, again = (
            reduced(GRAPHS, wide_filters, seed=3, vectorised=vectorised) for _ in range(2)
        )

        assert once == again


class TestUnproven:
    """What was not asked in full is not called minimal."""

    def test_two_fields_too_large_to_ask_every_pair(self) -> None:
        def holds(cases: Any) -> Bools:  # noqa: ANN401 - a batch
            rows = cases.operators
            found: Bools = (rows.n >= 3000) & (rows.k >= 3000)
            return found

        found = reduced(GEMMS, holds)

        assert GEMMS.build(found.row) == Case(Gemm(m=1, n=3000, k=3000))
        assert found.minimality is Minimality.UNPROVEN

    def test_a_model_without_a_batch_path_is_asked_one_by_one(self) -> None:
        sizes: list[int] = []

        def fails(rows: Ints) -> Bools:
            sizes.append(len(rows))
            return large(GRAPHS.batch(rows))

        row = sampled(GRAPHS, large).tolist()
        found = reduce(GRAPHS, row, fails, vectorised=False)

        assert set(sizes) == {1}
        assert found.evaluations == len(sizes) <= LAZY_LIMIT
        assert found.minimality is Minimality.UNPROVEN
        assert GRAPHS.build(found.row) == Case(Gemm(m=1, n=1000, k=1))

    def test_its_limit_holds_where_nothing_is_plainer(self) -> None:
        row = sampled(GRAPHS, attention, seed=1)
        calls = 0

        def fails(rows: Ints) -> Bools:
            nonlocal calls
            calls += 1
            return np.zeros(len(rows), dtype=bool)

        found = reduce(GRAPHS, row.tolist(), fails, vectorised=False)

        assert found == Reduced(tuple(row), Minimality.UNPROVEN, LAZY_LIMIT)
        assert calls == LAZY_LIMIT

    @pytest.mark.parametrize("thinning", [64, 4096])
    def test_a_law_that_costs_scalar_calls_gets_fewer(self, thinning: int) -> None:
        row = sampled(GRAPHS, attention, seed=1)
        sizes: list[int] = []

        def fails(rows: Ints) -> Bools:
            sizes.append(len(rows))
            return np.zeros(len(rows), dtype=bool)

        found = reduce(GRAPHS, row.tolist(), fails, vectorised=True, thinning=thinning)

        assert found.minimality is Minimality.UNPROVEN
        assert max(sizes) <= CHUNK // thinning
        assert sum(sizes) < max(LAZY_LIMIT, EXHAUSTIVE // thinning) + CHUNK // thinning

    def test_it_proves_what_it_can_ask_in_full(self) -> None:
        row = GRAPHS.genes_of(Case(Gemm(m=2, n=1, k=1)))

        def fails(rows: Ints) -> Bools:
            return np.zeros(len(rows), dtype=bool)

        found = reduce(GRAPHS, row, fails, vectorised=True, thinning=256)

        assert found.minimality is Minimality.PROVEN


class TestOrder:
    """Fewest nodes, fewest fields off their minimum, smallest product, then genes."""

    def test_cases_in_order(self) -> None:
        cases = [
            Case(Gemm(m=1, n=1, k=1)),
            Case(Gemm(m=1, n=1, k=7)),
            Case(Gemm(m=1, n=99, k=1)),
            Case(Gemm(m=99, n=1, k=1)),
            Case(Gemm(m=1, n=7, k=7)),
            Case(Gemm(m=2, n=2, k=2)),
            Case(Subgraph.chain(Gemm(m=1, n=1, k=1), Gemm(m=1, n=1, k=1))),
        ]
        rows = np.array([GRAPHS.genes_of(case) for case in cases])
        mixed = np.random.default_rng(0).permutation(len(rows))
        order = Plainness.of(GRAPHS, rows[mixed]).order()

        np.testing.assert_array_equal(rows[mixed][order], rows)

    def test_an_order_of_some_of_the_rows(self) -> None:
        rows = GRAPHS.sample(np.random.default_rng(0), 64)
        keys, which = Plainness.of(GRAPHS, rows), rows[:, 2] % 2 == 1
        order = keys.order(which)

        assert order.tolist() == [i for i in keys.order() if which[i]]

    def test_plainer_agrees_with_the_order(self) -> None:
        rows = GRAPHS.sample(np.random.default_rng(0), 256)
        order = Plainness.of(GRAPHS, rows).order()
        ordered = np.unique(rows[order], axis=0, return_index=True)[1]
        distinct = rows[order][np.sort(ordered)]
        middle = Plainness.of(GRAPHS, distinct[100][None, :])
        plainer = Plainness.of(GRAPHS, distinct).plainer_than(middle)

        assert plainer.tolist() == [True] * 100 + [False] * (len(distinct) - 100)

    def test_no_rows(self) -> None:
        keys = Plainness.of(GRAPHS, GRAPHS.empty(0))

        assert keys.order().tolist() == []


def test_a_function_that_matters_stays() -> None:
    def holds(cases: Any) -> Bools:  # noqa: ANN401 - a batch
        return np.array([str(Function.MULTIPLY) in repr(c.workload) for c in cases])

    found = GRAPHS.build(reduced(GRAPHS, holds).row)

    assert found == Case(Elementwise(Function.MULTIPLY, (1, 1, 1, 1), 2))

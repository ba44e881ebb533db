from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Final

import attrs
import numpy as np
import pytest

from joulecheck.campaign.shrink import shrink
from joulecheck.case import AnyCase, Case
from joulecheck.errors import HarnessError
from joulecheck.workload import Gemm, Precision, nodes_of
from joulecheck_strategies import GrowthSpace, PerturbationSpace, WorkloadSpace

GRAPHS: Final = WorkloadSpace(precisions=(Precision.FP32, Precision.INT8))
LIMIT: Final = 2000

Fails = Callable[[AnyCase], bool]


def deep(case: AnyCase) -> bool:
    assert isinstance(case, Case)
    return any(
        isinstance(node.operator, Gemm) and node.operator.k >= 60
        for node in nodes_of(case.workload)
    )


def many_macs(case: AnyCase) -> bool:
    assert isinstance(case, Case)
    return case.macs >= 10_000 and case.precision is Precision.INT8


def failing_rows(fails: Fails, count: int, seed: int = 0) -> list[list[int]]:
    random, found = np.random.default_rng(seed), []
    while len(found) < count:
        rows = GRAPHS.sample(random, 64).tolist()
        found += [row for row in rows if fails(GRAPHS.build(row))]
    return found[:count]


class Asked:
    """Notes the cases that are asked."""

    def __init__(self, fails: Fails) -> None:
        self.fails = fails
        self.cases: list[AnyCase] = []

    def __call__(self, case: AnyCase) -> bool:
        self.cases.append(case)
        return self.fails(case)


class TestHandOver:
    """Hypothesis replays the injected case, and nothing before it."""

    @pytest.mark.parametrize("fails", [deep, many_macs])
    def test_the_injected_case_is_asked_first(self, fails: Fails) -> None:
        for row in failing_rows(fails, 10):
            asked = Asked(fails)
            shrink(GRAPHS, row, asked, limit=LIMIT)

            assert asked.cases[0] == GRAPHS.build(row)

    @pytest.mark.parametrize(
        "space", [GRAPHS, GrowthSpace(GRAPHS), PerturbationSpace(GRAPHS, ("a", "b"))]
    )
    def test_so_for_every_sampled_case_of_a_kind(
        self, space: WorkloadSpace | GrowthSpace | PerturbationSpace
    ) -> None:
        for row in space.sample(np.random.default_rng(1), 30).tolist():
            asked = Asked(lambda _: True)
            shrink(space, row, asked, limit=5)

            assert asked.cases[0] == space.build(row)

    def test_a_case_that_does_not_replay_is_the_harness_in_error(self) -> None:
        other = GRAPHS.genes_of(Case(Gemm(m=3, n=5, k=77)))

        @attrs.frozen(slots=False)
        class Misaligned(WorkloadSpace):
            def choices(self, row: Sequence[int]) -> tuple[int | bool, ...]:
                del row
                return super().choices(other)

        space = Misaligned(precisions=GRAPHS.precisions)
        row = GRAPHS.genes_of(Case(Gemm(m=3, n=5, k=78)))
        with pytest.raises(HarnessError, match="replayed"):
            shrink(space, row, deep, limit=LIMIT)


class TestResult:
    """A failing case that is no larger."""

    def test_a_value_shrinks_to_its_threshold(self) -> None:
        row = GRAPHS.genes_of(Case(Gemm(m=300, n=20, k=777, batch=5), Precision.INT8))

        assert shrink(GRAPHS, row, deep, limit=LIMIT) == Case(Gemm(m=1, n=1, k=60))

    def test_most_graphs_shrink_to_the_one_node_that_matters(self) -> None:
        found = [shrink(GRAPHS, row, deep, limit=LIMIT) for row in failing_rows(deep, 10)]

        assert found.count(Case(Gemm(m=1, n=1, k=60))) >= 7

    def test_it_fails(self) -> None:
        for row in failing_rows(many_macs, 10):
            assert many_macs(shrink(GRAPHS, row, many_macs, limit=LIMIT))

    def test_a_case_that_holds_on_the_scalar_path_comes_back(self) -> None:
        [row] = failing_rows(deep, 1)

        assert shrink(GRAPHS, row, lambda _: False, limit=LIMIT) == GRAPHS.build(row)


class TestLimit:
    """No more cases are asked than allowed, and none twice."""

    @pytest.mark.parametrize("limit", [1, 7, 40])
    def test_the_limit_holds(self, limit: int) -> None:
        [row] = failing_rows(many_macs, 1)
        asked = Asked(many_macs)
        found = shrink(GRAPHS, row, asked, limit=limit)

        assert len(asked.cases) <= limit
        assert many_macs(found)

    def test_no_case_is_asked_twice(self) -> None:
        [row] = failing_rows(many_macs, 1)
        asked = Asked(many_macs)
        shrink(GRAPHS, row, asked, limit=LIMIT)

        assert len(asked.cases) == len(set(map(repr, asked.cases)))

    def test_without_any_the_case_itself_comes_back(self) -> None:
        [row] = failing_rows(deep, 1)

        assert shrink(GRAPHS, row, deep, limit=0) == GRAPHS.build(row)


SCRIPT: Final = """
import sys
sys.path.insert(0, sys.argv[1])
from test_shrink import GRAPHS, Asked, failing_rows, many_macs, shrink
for row in failing_rows(many_macs, 5):
    asked = Asked(many_macs)
    print(shrink(GRAPHS, row, asked, limit=2000), len(asked.cases))
"""


def in_a_process(**environment: str) -> str:
    kept = {k: v for k, v in os.environ.items() if k != "CI"}
    command = [sys.executable, "-c", SCRIPT, os.path.dirname(__file__)]  # noqa: PTH120
    done = subprocess.run(  # noqa: S603 - this interpreter, this file
        command, env=kept | environment, check=True, capture_output=True, text=True
    )
    return done.stdout


class TestDeterminism:
    """One case shrinks to one case, by the same steps."""

    def test_repeats_ask_the_same_cases(self) -> None:
        [row] = failing_rows(many_macs, 1, seed=5)
        once, again = Asked(many_macs), Asked(many_macs)
        for asked in (once, again):
            shrink(GRAPHS, row, asked, limit=LIMIT)

        assert once.cases == again.cases

    def test_so_do_other_processes_and_continuous_integration(self) -> None:
        here = in_a_process(PYTHONHASHSEED="1")

        assert here.count("\n") == 5
        assert in_a_process(PYTHONHASHSEED="2") == here
        assert in_a_process(PYTHONHASHSEED="1", CI="true") == here

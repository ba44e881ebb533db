"""The laws of wholes and their parts on tiny models, at the edges of their domains."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, prod

import pytest

from joulecheck.case import Case, Part, PartedCase
from joulecheck.errors import InvalidModel, NotOffered
from joulecheck.estimate import Estimate
from joulecheck.machine import Machine
from joulecheck.model import DIMENSIONS, Offer, Subject
from joulecheck.property import property_named
from joulecheck.space import Bounds
from joulecheck.testing import Violated, assert_holds
from joulecheck.workload import Conv2d, Elementwise, Function, Gemm, LoopNest
from joulecheck_strategies import SplitSpace
from tiny import MAC, Tiny, gemm, holds

LAWS = ("CON001", "CON002", "CON004")
FEW = Bounds(batch=1, gemm=64)
GRADUAL = Machine(name="tiny", quanta=(4, 16))


def nest_of(case: Case) -> LoopNest:
    workload = case.workload
    assert isinstance(workload, Gemm | Conv2d | Elementwise)
    return workload.loop_nest


def tiles_of(rows: int, columns: int) -> Callable[[Case], Estimate]:
    """Whole tiles, each of which reads its inputs and weights and writes its results."""

    def answer(case: Case) -> Estimate:
        instances, m, n, k = nest_of(case)
        tiles = instances * ceil(m / rows) * ceil(n / columns)
        return Estimate(energy=tiles * (rows * k + k * columns + rows * columns))

    return answer


def model(answer: Callable[[Case], Estimate], **declared: object) -> Tiny:
    full = {
        "operators": {"gemm", "conv2d", "elementwise"},
        "splits": DIMENSIONS,
        "gradual": True,
        "machine": GRADUAL,
    }
    return Tiny(answer, **full | declared)


def cut(whole: Gemm, *parts: tuple[Gemm, int], how: str = "m") -> PartedCase:
    return PartedCase(Case(whole), [Part(Case(part), times) for part, times in parts], how)


TWO_ROWS = cut(gemm(m=2), (gemm(), 1), (gemm(), 1))


class TestAllThree:
    """What the three laws share."""

    @pytest.mark.parametrize("law", LAWS)
    def test_hold_for_whole_tiles(self, law: str) -> None:
        assert_holds(law, model(tiles_of(4, 16)), max_examples=300)

    @pytest.mark.parametrize("law", LAWS)
    @pytest.mark.parametrize("cost", ["energy", "latency"])
    @pytest.mark.parametrize(("whole", "expected"), [(2.0, True), (2.1, False)])
    def test_bound_either_cost(
        self, law: str, cost: str, whole: float, *, expected: bool
    ) -> None:
        def answer(case: Case) -> Estimate:
            return Estimate(**{cost: whole if case == TWO_ROWS.whole else 1.0})

        assert holds(law, answer, TWO_ROWS) is expected

    @pytest.mark.parametrize("law", LAWS)
    def test_say_nothing_of_a_single_part(self, law: str) -> None:
        alone = PartedCase(MAC, (Part(MAC),), "")

        assert holds(law, lambda _: Estimate(energy=1.0), alone) is None

    @pytest.mark.parametrize("law", LAWS)
    def test_are_not_asked_of_totals(self, law: str) -> None:
        with pytest.raises(NotOffered, match="totals"):
            assert_holds(law, model(lambda _: Estimate(energy=1.0), operators={"totals"}))

    @pytest.mark.parametrize(
        ("law", "lacking", "offer"),
        [("CON001", "splits", Offer.SPLITS), ("CON004", "gradual", Offer.GRADUAL)],
    )
    def test_need_a_declaration(self, law: str, lacking: str, offer: Offer) -> None:
        subject = Subject.of(model(tiles_of(1, 1), **{lacking: ()}))

        assert list(property_named(law).missing(subject)) == [offer]

    @pytest.mark.parametrize("wrong", ["m", ("m", "rows"), {"x": 1}])
    def test_splits_are_checked(self, wrong: object) -> None:
        with pytest.raises(InvalidModel, match="splits must be a collection of batch, m"):
            Subject.of(model(tiles_of(1, 1), splits=wrong))


class TestSubadditive:
    """CON001."""

    def test_catches_a_uniform_tile(self) -> None:
        def least_of_two(case: Case) -> Estimate:
            """Small tiles cost a third more a row: 8 + 2 rows are 12, 10 rows are 13.3."""
            rows = nest_of(case).m
            return Estimate(energy=min(8 * ceil(rows / 8), 4 / 3 * 2 * ceil(rows / 2)))

        split = model(least_of_two, operators={"gemm"}, splits={"m"})

        with pytest.raises(Violated) as caught:
            assert_holds("CON001", split, max_examples=500)
        assert isinstance(caught.value.case, PartedCase)
        assert caught.value.case.how == "m"
        assert_holds("CON002", split, max_examples=500)

    def test_cuts_only_what_is_declared(self) -> None:
        def square_in_k(case: Case) -> Estimate:
            return Estimate(energy=float(nest_of(case).k ** 2))

        rest = {"batch", "m", "n"}
        assert_holds("CON001", model(square_in_k, splits=rest), max_examples=300)
        with pytest.raises(Violated):
            assert_holds("CON001", model(square_in_k))

    def test_lets_partial_sums_be_added(self) -> None:
        """Each pass of 8 of K beyond the first moves partial sums out and back."""

        def passes(case: Case) -> Estimate:
            instances, m, n, k = nest_of(case)
            partial = 2 * 4 - case.precision.bits / 8
            out = 3 * partial * instances * m * n if not case.macs else 0
            more = partial * instances * m * n * (ceil(k / 8) - 1)
            return Estimate(energy=case.bytes + more + out)

        assert_holds("CON001", model(passes, splits={"k"}), max_examples=300)

    def test_leaves_k_alone_without_additions(self) -> None:
        only = Subject.of(model(tiles_of(1, 1), operators={"gemm"}))
        space = property_named("CON001").space(only)

        assert isinstance(space, SplitSpace)
        assert space.dimensions == {"batch", "m", "n"}

    def test_bounds_elementwise_functions(self) -> None:
        def superlinear(case: Case) -> Estimate:
            workload = case.workload
            elements = prod(workload.shape) if isinstance(workload, Elementwise) else 0
            return Estimate(energy=float(elements**2))

        with pytest.raises(Violated) as caught:
            assert_holds("CON001", model(superlinear))
        assert isinstance(caught.value.case, PartedCase)
        assert caught.value.case.whole == Case(Elementwise(Function.RELU, (1, 1, 1, 2)))


class TestGrowthWithinQuanta:
    """CON002."""

    def test_counts_the_smaller_work_as_often_as_it_goes_in(self) -> None:
        def answer(case: Case) -> Estimate:
            return Estimate(energy={5: 3.0, 2: 1.0}.get(nest_of(case).m, 1.0))

        assert holds("CON002", answer, cut(gemm(m=5), (gemm(m=2), 3)))
        assert holds("CON002", answer, cut(gemm(m=5), (gemm(m=2), 2))) is False

    def test_needs_no_declaration(self) -> None:
        bare = Tiny(tiles_of(4, 16), operators={"gemm", "conv2d", "elementwise"})

        assert_holds("CON002", bare, max_examples=300)

    def test_catches_thrashing(self) -> None:
        def cache(case: Case) -> Estimate:
            """What exceeds 64 bytes is fetched for every MAC."""
            return Estimate(energy=float(case.bytes if case.bytes <= 64 else 9 * case.macs))

        small = Tiny(cache, operators={"gemm"}, bounds=Bounds(batch=1, gemm=64))
        with pytest.raises(Violated):
            assert_holds("CON002", small, max_examples=1000)

    def test_leaves_k_alone(self) -> None:
        def square_in_k(case: Case) -> Estimate:
            return Estimate(energy=float(nest_of(case).k ** 2))

        assert_holds("CON002", model(square_in_k), max_examples=300)


class TestNoJumpBeyondQuanta:
    """CON004."""

    @staticmethod
    def cliff(at: int) -> Callable[[Case], Estimate]:
        def answer(case: Case) -> Estimate:
            rows = nest_of(case).m
            return Estimate(energy=float(rows + (1000 if rows > at else 0)))

        return answer

    def test_catches_a_cliff(self) -> None:
        only = model(self.cliff(40), operators={"gemm"}, bounds=FEW)

        with pytest.raises(Violated) as caught:
            assert_holds("CON004", only, max_examples=1000)

        assert caught.value.case == cut(gemm(m=41), (gemm(m=40), 1), (gemm(m=16), 1))

    def test_allows_a_step_of_a_quantum(self) -> None:
        def steps(case: Case) -> Estimate:
            return Estimate(energy=float(16 * ceil(nest_of(case).m / 16)))

        assert_holds("CON004", model(steps), max_examples=300)

    def test_a_quantum_is_no_more_than_what_there_was(self) -> None:
        space = property_named("CON004").space(Subject.of(model(tiles_of(1, 1))))
        row = space.genes_of(cut(gemm(m=9), (gemm(m=8), 1), (gemm(m=8), 1)))

        assert space.build(row).how == "m"

    def test_cuts_k_as_well(self) -> None:
        def deep(case: Case) -> Estimate:
            return Estimate(energy=float(1 + 99 * (nest_of(case).k > 3)))

        only = model(deep, operators={"gemm"}, bounds=FEW)

        with pytest.raises(Violated) as caught:
            assert_holds("CON004", only, max_examples=1000)

        expected = cut(gemm(k=4), (gemm(k=3), 1), (gemm(k=3), 1), how="k")
        assert caught.value.case == expected

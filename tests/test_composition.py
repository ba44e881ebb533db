"""How latency is composed of terms."""

from __future__ import annotations

import numpy as np
import pytest

from joulecheck import Each, Max, Sum
from joulecheck.composition import Composition, composed, goes_by_operator
from joulecheck.errors import InvalidModel
from joulecheck.estimate import including

TERMS = {
    "launch": np.array([1.0, 1.0]),
    "a": np.array([2.0, 5.0]),
    "b": np.array([3.0, 4.0]),
}


class TestComposed:
    """The value of a composition."""

    @pytest.mark.parametrize(
        ("composition", "expected"),
        [
            ("a", [2.0, 5.0]),
            (Sum("a"), [2.0, 5.0]),
            (Sum("launch", "a", "b"), [6.0, 10.0]),
            (Max("a", "b"), [3.0, 5.0]),
            (Sum("launch", Max("a", "b")), [4.0, 6.0]),
            (Sum("launch", Each(Max("a", "b"))), [4.0, 6.0]),
            (Max("launch", Sum("a", "b")), [5.0, 9.0]),
        ],
    )
    def test_adds_and_overlaps(
        self, composition: Composition, expected: list[float]
    ) -> None:
        assert composed(composition, TERMS, 2).tolist() == expected

    def test_takes_a_term_that_is_not_there_for_0(self) -> None:
        assert composed(Max("c", Sum("c", "a")), TERMS, 2).tolist() == [2.0, 5.0]
        assert composed(Sum("c"), {}, 1).tolist() == [0.0]

    @pytest.mark.parametrize(
        ("composition", "expected"),
        [
            ("a", False),
            (Sum("launch", Max("a", "b")), False),
            (Each("a"), True),
            (Max("launch", Sum("a", Each("b"))), True),
        ],
    )
    def test_tells_whether_it_goes_operator_by_operator(
        self, composition: Composition, *, expected: bool
    ) -> None:
        assert goes_by_operator(composition) is expected


class TestDeclaration:
    """What a user may write."""

    @pytest.mark.parametrize("kind", [Sum, Max])
    def test_takes_at_least_one_part(self, kind: type[Sum]) -> None:
        with pytest.raises(InvalidModel, match="takes at least one part, got none"):
            kind()

    @pytest.mark.parametrize("kind", [Sum, Max, Each])
    @pytest.mark.parametrize("part", [3, ["a"], None])
    def test_takes_names_and_compositions_only(self, kind: type[Sum], part: object) -> None:
        with pytest.raises(InvalidModel, match="takes names of terms, Sum, Max and Each"):
            kind(part)

    def test_is_a_value(self) -> None:
        assert Sum("a", Max("b", "c")) == Sum("a", Max("b", "c"))
        assert Sum("a") != Max("a")
        assert len({Sum("a"), Sum("a"), Max("a")}) == 2


class TestIncluding:
    """Which sub-totals a term counts in."""

    SUMS = {"chip": ["alu", "l1"], "all": ["chip", "dram"], "far": ["dram"], "x": ["x"]}  # noqa: RUF012 - never changed

    @pytest.mark.parametrize(
        ("part", "expected"),
        [
            ("alu", {"chip", "all"}),
            ("dram", {"all", "far"}),
            ("chip", {"all"}),
            ("static", set()),
            ("x", {"x"}),
        ],
    )
    def test_follows_sub_totals_of_sub_totals(self, part: str, expected: set[str]) -> None:
        assert including(self.SUMS, part) == expected

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from joulecheck.workload import PLAINEST_FIRST, Precision

P = Precision

WIDTHS = {
    64: {P.FP64, P.INT64},
    32: {P.FP32, P.TF32, P.INT32},
    16: {P.BF16, P.FP16, P.INT16},
    8: {P.FP8_E4M3, P.FP8_E5M2, P.INT8},
    4: {P.FP4, P.INT4},
}

precisions = st.sampled_from(Precision)


class TestBits:
    """The width of an element in memory."""

    def test_all_formats_have_their_width(self) -> None:
        found = {width: {p for p in P if p.bits == width} for width in WIDTHS}

        assert found == WIDTHS

    def test_formats_of_one_width_are_different_members(self) -> None:
        assert len(set(P)) == 13


class TestBytesFor:
    """Bytes of a tensor."""

    @pytest.mark.parametrize(
        ("elements", "expected"), [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3)]
    )
    def test_a_last_half_byte_counts_as_one(self, elements: int, expected: int) -> None:
        assert P.INT4.bytes_for(elements) == expected
        assert P.FP4.bytes_for(elements) == expected

    def test_is_exact_where_floats_are_not(self) -> None:
        elements = 10**27 + 1

        assert P.FP64.bytes_for(elements) == 8 * 10**27 + 8
        assert P.INT4.bytes_for(elements) == 5 * 10**26 + 1

    @given(precisions, st.integers(0, 10**30))
    def test_is_the_least_number_of_bytes_that_holds_all_bits(
        self, precision: Precision, elements: int
    ) -> None:
        size = precision.bytes_for(elements)

        assert 0 <= 8 * size - precision.bits * elements < 8


class TestNarrowerThan:
    """The partial order of formats."""

    def test_is_the_order_that_physics_gives(self) -> None:
        narrower_than_fp64 = {p for p in P if p.narrower_than(P.FP64)}
        wider_than_int4 = {p for p in P if P.INT4.narrower_than(p)}
        wider_than_fp16 = {p for p in P if P.FP16.narrower_than(p)}

        assert narrower_than_fp64 == {
            P.FP32,
            P.TF32,
            P.BF16,
            P.FP16,
            P.FP8_E4M3,
            P.FP8_E5M2,
        }
        assert wider_than_int4 == {P.INT8, P.INT16, P.INT32}
        assert wider_than_fp16 == {P.TF32, P.FP32, P.FP64}

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (P.FP16, P.BF16),
            (P.FP8_E4M3, P.FP8_E5M2),
            (P.INT8, P.FP32),
            (P.INT32, P.FP64),
            (P.INT16, P.FP16),
        ],
    )
    def test_leaves_what_physics_does_not_order(
        self, one: Precision, other: Precision
    ) -> None:
        assert not one.narrower_than(other)
        assert not other.narrower_than(one)

    def test_never_goes_both_ways(self) -> None:
        both = [
            (a, b) for a, b in product(P, P) if a.narrower_than(b) and b.narrower_than(a)
        ]

        assert both == []

    def test_is_transitive(self) -> None:
        missing = [
            (a, c)
            for a, b, c in product(P, P, P)
            if a.narrower_than(b) and b.narrower_than(c) and not a.narrower_than(c)
        ]

        assert missing == []

    def test_a_narrower_format_has_no_more_bits(self) -> None:
        wrong = [(a, b) for a, b in product(P, P) if a.narrower_than(b) and a.bits > b.bits]

        assert wrong == []


class TestPlainestFirst:
    """The order in which minimal cases prefer formats."""

    def test_names_each_format_once(self) -> None:
        assert sorted(p.name for p in PLAINEST_FIRST) == sorted(p.name for p in P)

    def test_starts_with_the_most_usual(self) -> None:
        assert PLAINEST_FIRST[:2] == (P.FP32, P.INT8)

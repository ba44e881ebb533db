from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from joulecheck.errors import InvalidWorkload, JoulecheckError
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    LoopNest,
    Shape,
    fitted_conv2d,
)

BILLION = 10**9

dimensions = st.integers(1, 12)
shapes = st.builds(Shape, *[dimensions] * 4)


@st.composite
def convolutions(draw: st.DrawFn) -> Conv2d:
    """Small convolutions with any stride, padding, dilation and groups."""
    return fitted_conv2d(
        draw(shapes),
        k=draw(dimensions),
        r=draw(st.integers(1, 5)),
        s=draw(st.integers(1, 5)),
        stride=draw(st.integers(1, 3)),
        padding=draw(st.integers(0, 2)),
        dilation=draw(st.integers(1, 3)),
        groups=draw(st.one_of(st.none(), dimensions)),
    )


def positions(size: int, filter_size: int, conv: Conv2d) -> int:
    """The output size, counted by sliding the filter over the padded image."""
    padded = size + 2 * conv.padding
    last_tap = conv.dilation * (filter_size - 1)
    return sum(start + last_tap < padded for start in range(0, padded, conv.stride))


def reached(size: int, outputs: int, filter_size: int, conv: Conv2d) -> int:
    """How many of the input's positions along one axis any tap reads."""
    taps = {
        output * conv.stride + tap * conv.dilation - conv.padding
        for output in range(outputs)
        for tap in range(filter_size)
    }
    return len(taps & set(range(size)))


class TestGemm:
    """M x N x K with B shared by the batch."""

    def test_counts_macs_and_operations(self) -> None:
        gemm = Gemm(m=2, n=3, k=5, batch=7)

        assert gemm.macs == 2 * 3 * 5 * 7
        assert gemm.ops == 2 * gemm.macs
        assert gemm.other_ops == 0

    def test_counts_the_elements_of_its_tensors(self) -> None:
        gemm = Gemm(m=2, n=3, k=5, batch=7)

        assert gemm.input_elements == 7 * 2 * 5
        assert gemm.weight_elements == 5 * 3
        assert gemm.output_elements == 7 * 2 * 3
        assert gemm.input_tensors == 1

    def test_hands_on_n_channels_of_m_positions(self) -> None:
        gemm = Gemm(m=2, n=3, k=5, batch=7)

        assert gemm.input_shape == Shape(7, 5, 2, 1)
        assert gemm.output_shape == Shape(7, 3, 2, 1)

    def test_folds_the_batch_into_m(self) -> None:
        assert Gemm(m=2, n=3, k=5, batch=7).loop_nest == LoopNest(1, 14, 3, 5)

    def test_is_exact_where_int64_wraps(self) -> None:
        gemm = Gemm(m=BILLION, n=BILLION, k=BILLION, batch=BILLION)

        assert gemm.macs == 10**36
        assert gemm.ops == 2 * 10**36

    def test_reads_all_positions_and_channels_of_another_shape(self) -> None:
        gemm = Gemm(m=1, n=3, k=1).reading(Shape(n=2, c=5, h=4, w=6))

        assert gemm == Gemm(m=24, n=3, k=5, batch=2)

    @pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", None, np.int64(1)])
    def test_refuses_what_is_no_positive_int(self, value: Any) -> None:  # noqa: ANN401 - anything a user may pass
        with pytest.raises(InvalidWorkload) as caught:
            Gemm(m=1, n=value, k=1)

        assert str(caught.value) == (
            f"Gemm.n must be an int >= 1, got {value!r}: pass a plain Python int in "
            f"that range"
        )

    def test_refusal_is_a_value_error_of_this_package(self) -> None:
        assert issubclass(InvalidWorkload, ValueError)
        assert issubclass(InvalidWorkload, JoulecheckError)

    def test_is_a_value(self) -> None:
        gemm = Gemm(m=1, n=2, k=3)

        assert {gemm: 1}[Gemm(m=1, n=2, k=3)] == 1
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            gemm.m = 2  # type: ignore[misc]  # it is refused


class TestConv2d:
    """N images of C x H x W under K filters of R x S."""

    def test_counts_resnets_first_layer(self) -> None:
        conv = Conv2d(n=1, c=3, h=224, w=224, k=64, r=7, s=7, stride=2, padding=3)

        assert (conv.p, conv.q) == (112, 112)
        assert conv.macs == 118_013_952
        assert conv.weight_elements == 9408
        assert conv.output_shape == Shape(1, 64, 112, 112)

    @given(convolutions())
    def test_output_is_where_the_filter_can_stand(self, conv: Conv2d) -> None:
        expected = (positions(conv.h, conv.r, conv), positions(conv.w, conv.s, conv))

        assert (conv.p, conv.q) == expected

    @given(convolutions())
    def test_macs_are_one_a_filter_weight_and_output_position(self, conv: Conv2d) -> None:
        assert conv.macs == conv.n * conv.p * conv.q * conv.weight_elements
        assert conv.ops == 2 * conv.macs

    @given(convolutions())
    def test_loop_nest_holds_all_macs_and_outputs(self, conv: Conv2d) -> None:
        nest = conv.loop_nest

        assert nest.instances * nest.m * nest.n * nest.k == conv.macs
        assert nest.instances * nest.m * nest.n == conv.output_elements
        assert nest.instances * nest.n * nest.k == conv.weight_elements

    @given(convolutions())
    def test_touched_elements_are_no_more_than_the_filters_reach(
        self, conv: Conv2d
    ) -> None:
        rows = reached(conv.h, conv.p, conv.r, conv)
        columns = reached(conv.w, conv.q, conv.s, conv)

        assert 0 <= conv.touched_elements <= conv.n * conv.c * rows * columns

    @given(convolutions())
    def test_touched_elements_are_exact_without_gaps(self, conv: Conv2d) -> None:
        assume(conv.dilation == 1 and min(conv.r, conv.s) >= conv.stride)
        rows = reached(conv.h, conv.p, conv.r, conv)
        columns = reached(conv.w, conv.q, conv.s, conv)

        assert conv.touched_elements == conv.n * conv.c * rows * columns

    def test_a_stride_beyond_the_filter_leaves_elements_untouched(self) -> None:
        conv = Conv2d(n=1, c=1, h=4, w=4, k=1, r=1, s=1, stride=2)

        assert conv.input_elements == 16
        assert conv.touched_elements == 4

    def test_pointwise_is_a_gemm(self) -> None:
        conv = Conv2d(n=2, c=5, h=3, w=4, k=7, r=1, s=1)
        gemm = Gemm(m=24, n=7, k=5)

        assert conv.loop_nest == gemm.loop_nest
        assert conv.macs == gemm.macs
        assert conv.input_elements == gemm.input_elements
        assert conv.weight_elements == gemm.weight_elements

    def test_depthwise_has_one_filter_a_channel(self) -> None:
        conv = Conv2d(n=1, c=8, h=4, w=4, k=8, r=3, s=3, padding=1, groups=8)

        assert conv.weight_elements == 8 * 9
        assert conv.macs == 16 * 8 * 9

    def test_is_exact_where_int64_wraps(self) -> None:
        conv = Conv2d(n=BILLION, c=BILLION, h=BILLION, w=1, k=BILLION, r=1, s=1)

        assert conv.macs == 10**36

    @pytest.mark.parametrize(("c", "k", "field"), [(3, 4, "c"), (4, 3, "k")])
    def test_refuses_groups_that_do_not_divide(self, c: int, k: int, field: str) -> None:
        with pytest.raises(InvalidWorkload, match=rf"groups must divide {field}, got"):
            Conv2d(n=1, c=c, h=1, w=1, k=k, r=1, s=1, groups=2)

    @pytest.mark.parametrize(("r", "s", "field"), [(6, 1, "r"), (1, 6, "s")])
    def test_refuses_a_filter_beyond_the_padded_image(
        self, r: int, s: int, field: str
    ) -> None:
        with pytest.raises(InvalidWorkload, match=rf"Conv2d\.{field}=6 .* image of 5"):
            Conv2d(n=1, c=1, h=3, w=3, k=1, r=r, s=s, padding=1)

    def test_dilation_spreads_the_filter(self) -> None:
        fits = Conv2d(n=1, c=1, h=5, w=5, k=1, r=3, s=3, dilation=2)

        assert (fits.p, fits.q) == (1, 1)
        with pytest.raises(InvalidWorkload, match="spans 7 positions"):
            attrs.evolve(fits, dilation=3)

    def test_padding_may_be_0_and_no_less(self) -> None:
        with pytest.raises(InvalidWorkload, match=r"Conv2d\.padding must be an int >= 0"):
            Conv2d(n=1, c=1, h=1, w=1, k=1, r=1, s=1, padding=-1)


class TestFittedConv2d:
    """Any wish becomes a valid convolution."""

    @given(convolutions())
    def test_a_valid_convolution_is_left_as_it_is(self, conv: Conv2d) -> None:
        fields = ("r", "s", "stride", "padding", "dilation", "groups")
        wish = {name: getattr(conv, name) for name in fields}

        assert fitted_conv2d(conv.input_shape, k=conv.k, **wish) == conv

    def test_clips_the_filter_and_lowers_the_groups(self) -> None:
        conv = fitted_conv2d(Shape(1, 6, 3, 2), k=5, r=9, s=9, groups=4)

        assert conv == Conv2d(n=1, c=6, h=3, w=2, k=6, r=3, s=2, groups=2)

    @given(convolutions(), shapes)
    def test_filters_fit_any_other_shape(self, conv: Conv2d, shape: Shape) -> None:
        moved = conv.reading(shape)

        assert moved.input_shape == shape
        assert (moved.stride, moved.padding) == (conv.stride, conv.padding)
        assert moved.r <= conv.r
        assert moved.s <= conv.s

    @given(convolutions())
    def test_reading_its_own_shape_changes_nothing(self, conv: Conv2d) -> None:
        assert conv.reading(conv.input_shape) == conv

    def test_depthwise_stays_depthwise(self) -> None:
        conv = Conv2d(n=1, c=4, h=1, w=1, k=4, r=1, s=1, groups=4)

        assert conv.reading(Shape(1, 6, 1, 1)).groups == 6


class TestElementwise:
    """One function over equal tensors."""

    def test_takes_the_usual_number_of_operands(self) -> None:
        found = {f.name: Elementwise(f, (3,)).operands for f in Function}

        assert found == {"RELU": 1, "SIGMOID": 1, "GELU": 1, "ADD": 2, "MULTIPLY": 2}

    def test_costs_its_function_for_each_element(self) -> None:
        gelu = Elementwise(Function.GELU, (2, 3, 4))

        assert gelu.ops == gelu.other_ops == 24 * 8
        assert gelu.macs == 0

    def test_costs_an_operation_an_operand_after_the_first(self) -> None:
        assert Elementwise(Function.ADD, (10,), operands=4).ops == 30

    def test_counts_the_elements_of_its_tensors(self) -> None:
        add = Elementwise(Function.ADD, (2, 5), operands=3)

        assert add.input_elements == 30
        assert add.output_elements == 10
        assert add.weight_elements == 0
        assert add.loop_nest == LoopNest(1, 10, 1, 1)

    def test_shape_is_filled_up_from_the_front(self) -> None:
        assert Elementwise(Function.RELU, (2, 5)).output_shape == Shape(1, 1, 2, 5)

    @pytest.mark.parametrize("shape", [(), (1,) * 5])
    def test_refuses_other_ranks_than_1_to_4(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(InvalidWorkload, match="must have 1 to 4 dimensions"):
            Elementwise(Function.RELU, shape)

    def test_refuses_a_size_below_1(self) -> None:
        with pytest.raises(InvalidWorkload, match=r"Elementwise\.shape must be an int"):
            Elementwise(Function.RELU, (2, 0))

    @pytest.mark.parametrize(
        ("function", "operands", "rule"),
        [
            (Function.RELU, 2, "1 for a unary function"),
            (Function.ADD, 1, "2 or more"),
        ],
    )
    def test_refuses_operands_that_the_function_does_not_take(
        self, function: Function, operands: int, rule: str
    ) -> None:
        with pytest.raises(InvalidWorkload, match=rf"must be {rule}, got {operands}"):
            Elementwise(function, (1,), operands)

    @given(shapes)
    def test_reads_any_shape(self, shape: Shape) -> None:
        add = Elementwise(Function.ADD, (1,), operands=3).reading(shape)

        assert add.output_shape == shape
        assert add.operands == 3

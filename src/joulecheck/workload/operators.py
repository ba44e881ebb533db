"""Operators: GEMM, 2-D convolution and elementwise, exact at any size.

Every count is a Python int, so nothing wraps or rounds. Dimensions carry the names
of the field: M, N, K of a GEMM; N, C, H, W, K, R, S of a convolution.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from math import gcd, prod
from typing import Any, Final, NamedTuple, Protocol, Self

import attrs

from joulecheck.errors import InvalidWorkload
from joulecheck.quantities import OPS_PER_MAC


class Shape(NamedTuple):
    """An activation tensor as operators hand it on: N images of C channels, H x W.

    The (batch, M, N) result of a GEMM is N channels of M x 1 positions.
    """

    n: int
    c: int
    h: int
    w: int

    @property
    def positions(self) -> int:
        """H x W."""
        return self.h * self.w

    @property
    def elements(self) -> int:
        """N x C x H x W."""
        return prod(self)


class LoopNest(NamedTuple):
    """An operator as `instances` independent GEMMs of M x N x K (im2col for conv)."""

    instances: int
    m: int
    n: int
    k: int


class Operator(Protocol):
    """What every operator knows of itself. Counts are exact ints, in elements or ops."""

    @property
    def macs(self) -> int:
        """Multiply-accumulates."""

    @property
    def other_ops(self) -> int:
        """Operations that are not part of a multiply-accumulate."""

    @property
    def ops(self) -> int:
        """All operations; one MAC is two."""

    @property
    def input_shape(self) -> Shape:
        """The activation tensor that it reads first."""

    @property
    def input_elements(self) -> int:
        """Elements of all activation inputs."""

    @property
    def touched_elements(self) -> int:
        """Elements of one activation input that it certainly reads: a lower bound."""

    @property
    def input_tensors(self) -> int:
        """How many activation inputs of equal size it reads."""

    @property
    def weight_elements(self) -> int:
        """Elements of the stationary operand, 0 where there is none."""

    @property
    def output_shape(self) -> Shape:
        """The activation tensor that it writes."""

    @property
    def output_elements(self) -> int:
        """Elements written."""

    @property
    def loop_nest(self) -> LoopNest:
        """The GEMMs that it amounts to; elementwise is M x 1 x 1 without MACs."""

    def reading(self, shape: Shape) -> Self:
        """The same operator on an input of another shape."""


def require_int(owner: str, field: str, value: object, minimum: int) -> None:
    """Raise `InvalidWorkload` unless `value` is an int of at least `minimum`."""
    if type(value) is not int or value < minimum:
        msg = (
            f"{owner}.{field} must be an int >= {minimum}, got {value!r}: "
            f"pass a plain Python int in that range"
        )
        raise InvalidWorkload(msg)


def _dimension(minimum: int = 1, **options: Any) -> Any:  # noqa: ANN401 - as attrs.field
    def check(owner: object, attribute: attrs.Attribute[int], value: int) -> None:
        require_int(type(owner).__name__, attribute.name, value, minimum)

    return attrs.field(validator=check, **options)


@attrs.frozen
class Gemm:
    """C[batch, M, N] = A[batch, M, K] x B[K, N], with B shared by the whole batch.

    Raises:
        InvalidWorkload: a dimension is not an int >= 1.
    """

    m: int = _dimension()
    n: int = _dimension()
    k: int = _dimension()
    batch: int = _dimension(default=1)

    @property
    def macs(self) -> int:
        """Product of batch, M, N and K."""
        return self.batch * self.m * self.n * self.k

    @property
    def other_ops(self) -> int:
        """None."""
        return 0

    @property
    def ops(self) -> int:
        """2 x MACs."""
        return OPS_PER_MAC * self.macs

    @property
    def input_shape(self) -> Shape:
        """K channels of M positions."""
        return Shape(self.batch, self.k, self.m, 1)

    @property
    def input_elements(self) -> int:
        """Product of batch, M and K."""
        return self.batch * self.m * self.k

    @property
    def touched_elements(self) -> int:
        """All of A."""
        return self.input_elements

    @property
    def input_tensors(self) -> int:
        """One: A."""
        return 1

    @property
    def weight_elements(self) -> int:
        """K x N: B, read once for the whole batch."""
        return self.k * self.n

    @property
    def output_shape(self) -> Shape:
        """N channels of M positions."""
        return Shape(self.batch, self.n, self.m, 1)

    @property
    def output_elements(self) -> int:
        """Product of batch, M and N."""
        return self.batch * self.m * self.n

    @property
    def loop_nest(self) -> LoopNest:
        """One GEMM with the batch folded into M, for B is shared."""
        return LoopNest(1, self.batch * self.m, self.n, self.k)

    def reading(self, shape: Shape) -> Gemm:
        """The GEMM over all positions (M) and channels (K) of `shape`."""
        return Gemm(m=shape.positions, n=self.n, k=shape.c, batch=shape.n)


@attrs.frozen
class Conv2d:
    """A 2-D convolution: N images of C x H x W, K filters of R x S.

    `groups` splits the channels; depthwise is `groups == c`, pointwise `r == s == 1`.

    Raises:
        InvalidWorkload: a field is no int in its range, `groups` does not divide `c`
            and `k`, or the dilated filter does not fit the padded image.
    """

    n: int = _dimension()
    c: int = _dimension()
    h: int = _dimension()
    w: int = _dimension()
    k: int = _dimension()
    r: int = _dimension()
    s: int = _dimension()
    stride: int = _dimension(default=1)
    padding: int = _dimension(minimum=0, default=0)
    dilation: int = _dimension(default=1)
    groups: int = _dimension(default=1)

    def __attrs_post_init__(self) -> None:
        """Hold the rules that join several fields."""
        for field, value in (("c", self.c), ("k", self.k)):
            if value % self.groups:
                msg = (
                    f"Conv2d.groups must divide {field}, got groups={self.groups} and "
                    f"{field}={value}: choose a common divisor of c and k"
                )
                raise InvalidWorkload(msg)
        for field, filter_size, size in (("r", self.r, self.h), ("s", self.s, self.w)):
            span = self.dilation * (filter_size - 1) + 1
            if span > size + 2 * self.padding:
                msg = (
                    f"Conv2d.{field}={filter_size} with dilation {self.dilation} spans "
                    f"{span} positions and must fit the padded image of "
                    f"{size + 2 * self.padding}: lower {field} or raise the padding"
                )
                raise InvalidWorkload(msg)

    @property
    def p(self) -> int:
        """Output height P."""
        return self._output(self.h, self.r)

    @property
    def q(self) -> int:
        """Output width Q."""
        return self._output(self.w, self.s)

    def _output(self, size: int, filter_size: int) -> int:
        span = self.dilation * (filter_size - 1) + 1
        return (size + 2 * self.padding - span) // self.stride + 1

    @property
    def macs(self) -> int:
        """N x P x Q x K x (C / groups) x R x S."""
        return self.output_elements * (self.c // self.groups) * self.r * self.s

    @property
    def other_ops(self) -> int:
        """None."""
        return 0

    @property
    def ops(self) -> int:
        """2 x MACs."""
        return OPS_PER_MAC * self.macs

    @property
    def input_shape(self) -> Shape:
        """N x C x H x W."""
        return Shape(self.n, self.c, self.h, self.w)

    @property
    def input_elements(self) -> int:
        """N x C x H x W; the halo is not counted twice and padding not at all."""
        return self.input_shape.elements

    @property
    def touched_elements(self) -> int:
        """N x C x the rows and columns that the filters certainly touch."""
        rows = certainly_touched(self, self.h, self.p, self.r)
        return self.n * self.c * rows * certainly_touched(self, self.w, self.q, self.s)

    @property
    def input_tensors(self) -> int:
        """One."""
        return 1

    @property
    def weight_elements(self) -> int:
        """K x (C / groups) x R x S."""
        return self.k * (self.c // self.groups) * self.r * self.s

    @property
    def output_shape(self) -> Shape:
        """N x K x P x Q."""
        return Shape(self.n, self.k, self.p, self.q)

    @property
    def output_elements(self) -> int:
        """N x K x P x Q."""
        return self.output_shape.elements

    @property
    def loop_nest(self) -> LoopNest:
        """One GEMM a group: M = N P Q, N = K / groups, K = (C / groups) R S."""
        groups = self.groups
        return LoopNest(
            groups,
            self.n * self.p * self.q,
            self.k // groups,
            (self.c // groups) * self.r * self.s,
        )

    def reading(self, shape: Shape) -> Conv2d:
        """The same filters on `shape`, clipped to what fits it.

        R and S shrink to the padded image, `groups` to a common divisor (depthwise
        stays depthwise) and K to the next multiple of it.
        """
        depthwise = self.groups == self.c and self.c > 1
        return fitted_conv2d(
            shape,
            k=self.k - self.groups + 1,
            r=self.r,
            s=self.s,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            groups=None if depthwise else self.groups,
        )


def certainly_touched(conv: Conv2d, size: int, outputs: int, filter_size: int) -> int:
    """Positions of one axis of a convolution's input that some filter tap reads.

    Exact where the taps of neighbouring outputs leave no gap; else a lower bound that
    counts a single tap, or disjoint blocks less the padding.
    """
    if conv.dilation == 1 and filter_size >= conv.stride:
        last = (outputs - 1) * conv.stride + filter_size - conv.padding
        return max(0, min(size, last))
    if conv.dilation == 1:
        return max(0, outputs * filter_size - 2 * conv.padding)
    return max(0, outputs - 2 * -(-conv.padding // conv.stride))


def fitted_conv2d(  # noqa: PLR0913 - one argument a field of a convolution
    shape: Shape,
    *,
    k: int,
    r: int,
    s: int,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int | None = 1,
) -> Conv2d:
    """A valid convolution of `shape` from any wish for its other fields.

    Args:
        shape: the input tensor.
        k: filters; rounded up to a multiple of the groups.
        r: filter height; clipped to the padded image, as `s` is.
        s: filter width.
        stride: at least 1.
        padding: at least 0.
        dilation: at least 1.
        groups: lowered to its common divisor with C; None means depthwise.
    """
    common = shape.c if groups is None else gcd(shape.c, groups)
    return Conv2d(
        n=shape.n,
        c=shape.c,
        h=shape.h,
        w=shape.w,
        k=-(-k // common) * common,
        r=min(r, (shape.h + 2 * padding - 1) // dilation + 1),
        s=min(s, (shape.w + 2 * padding - 1) // dilation + 1),
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=common,
    )


class Function(Enum):
    """An elementwise function. The value is its cost in operations an element.

    The costs of the transcendental functions are joulecheck's own convention: the
    operations of a short rational approximation. For a function of several operands
    it is the cost of each operand after the first.
    """

    RELU = ("RELU", 1, True)
    SIGMOID = ("SIGMOID", 4, True)
    GELU = ("GELU", 8, True)
    ADD = ("ADD", 1, False)
    MULTIPLY = ("MULTIPLY", 1, False)

    @property
    def cost(self) -> int:
        """Operations an element (and an operand after the first)."""
        return self.value[1]

    @property
    def unary(self) -> bool:
        """Whether it takes exactly one operand; others take two or more."""
        return self.value[2]


MAX_RANK: Final = 4


def _as_shape(sizes: Iterable[int]) -> tuple[int, ...]:
    return tuple(sizes)


def _check_shape(
    owner: object, attribute: attrs.Attribute[Any], value: tuple[int, ...]
) -> None:
    if not 1 <= len(value) <= MAX_RANK:
        msg = (
            f"{type(owner).__name__}.{attribute.name} must have 1 to {MAX_RANK} "
            f"dimensions, got {value!r}: fold the others together"
        )
        raise InvalidWorkload(msg)
    for size in value:
        require_int(type(owner).__name__, attribute.name, size, 1)


@attrs.frozen
class Elementwise:
    """One function over equal tensors of `shape`: `operands` in, one out, no MACs.

    Raises:
        InvalidWorkload: `shape` has no 1 to 4 ints >= 1, or `operands` is not 1 for
            a unary function, or below 2 for another.
    """

    function: Function
    shape: tuple[int, ...] = attrs.field(converter=_as_shape, validator=_check_shape)
    operands: int = _dimension(
        default=attrs.Factory(lambda self: 1 if self.function.unary else 2, takes_self=True)
    )

    def __attrs_post_init__(self) -> None:
        """Hold the rule that joins function and operands."""
        if self.function.unary != (self.operands == 1):
            rule = "1 for a unary function" if self.function.unary else "2 or more"
            msg = (
                f"Elementwise.operands must be {rule}, got {self.operands} for "
                f"{self.function.name}: leave it out to get the usual number"
            )
            raise InvalidWorkload(msg)

    @property
    def macs(self) -> int:
        """None."""
        return 0

    @property
    def other_ops(self) -> int:
        """Elements x cost x (operands - 1, or 1 for a unary function)."""
        return self.output_elements * self.function.cost * max(1, self.operands - 1)

    @property
    def ops(self) -> int:
        """The same: no MAC is among them."""
        return self.other_ops

    @property
    def input_shape(self) -> Shape:
        """`shape` with ones in front up to rank 4."""
        return Shape(*(1,) * (MAX_RANK - len(self.shape)), *self.shape)

    @property
    def input_elements(self) -> int:
        """Elements of all operands."""
        return self.operands * self.output_elements

    @property
    def touched_elements(self) -> int:
        """All of an operand."""
        return self.output_elements

    @property
    def input_tensors(self) -> int:
        """One an operand."""
        return self.operands

    @property
    def weight_elements(self) -> int:
        """None."""
        return 0

    @property
    def output_shape(self) -> Shape:
        """That of each operand."""
        return self.input_shape

    @property
    def output_elements(self) -> int:
        """The product of `shape`."""
        return prod(self.shape)

    @property
    def loop_nest(self) -> LoopNest:
        """One position an element."""
        return LoopNest(1, self.output_elements, 1, 1)

    def reading(self, shape: Shape) -> Elementwise:
        """The same function over `shape`."""
        return Elementwise(self.function, tuple(shape), self.operands)

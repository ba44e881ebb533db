"""Public strategies for `@given`: `from joulecheck_strategies.strategies import gemms`.

They follow the style of `hypothesis.strategies`: arguments are keywords, are checked at
once, and every strategy shrinks towards its plainest case.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Final

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import DrawFn, SearchStrategy

from joulecheck.case import Case, Derivation, DerivedCase, PrecisionPair, ScaledCase
from joulecheck.errors import did_you_mean
from joulecheck.knob import Knob, KnobKind
from joulecheck.space import Bounds
from joulecheck.workload import (
    MAX_NODES,
    PLAINEST_FIRST,
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Precision,
    Shape,
    Subgraph,
    Totals,
    Workload,
    fitted_conv2d,
)
from joulecheck_strategies.for_model import ORDERED_PAIRS
from joulecheck_strategies.networks import networks
from joulecheck_strategies.workload_space import NATURES, WorkloadSpace

__all__ = [
    "cases",
    "conv2ds",
    "elementwises",
    "gemms",
    "machine_perturbations",
    "network_layers",
    "perturbations",
    "precision_pairs",
    "precisions",
    "subgraphs",
    "totals",
    "workloads",
]

_BOUNDS: Final = Bounds()


def _require(condition: object, message: str) -> None:
    if not condition:
        raise InvalidArgument(message)


def _sizes(name: str, low: int, high: int, least: int = 1) -> SearchStrategy[int]:
    """Integers from `low` to `high`; `name` is what is bounded, for messages."""
    for bound, value in (("min", low), ("max", high)):
        what = f"{bound}_{name}"
        _require(type(value) is int, f"{what} must be an int, got {value!r}")
        _require(value >= least, f"{what} must be at least {least}, got {value}")
    _require(low <= high, f"min_{name}={low} must not exceed max_{name}={high}")
    return st.integers(low, high)


def gemms(
    *,
    min_value: int = 1,
    max_value: int = _BOUNDS.gemm,
    max_batch: int = _BOUNDS.batch,
) -> SearchStrategy[Gemm]:
    """GEMMs, M, N and K from `min_value` to `max_value`.

    Shrinks towards M = N = K = `min_value` and a batch of 1.

    Raises:
        InvalidArgument: a bound is no int of at least 1, or the bounds are crossed.
    """
    size = _sizes("value", min_value, max_value)
    return st.builds(Gemm, m=size, n=size, k=size, batch=_sizes("batch", 1, max_batch))


def conv2ds(  # noqa: PLR0913 - one argument a bound
    *,
    min_value: int = 1,
    max_value: int = _BOUNDS.image,
    max_channels: int = _BOUNDS.channels,
    max_filter: int = _BOUNDS.filter,
    max_stride: int = _BOUNDS.stride,
    max_padding: int = _BOUNDS.padding,
    max_dilation: int = _BOUNDS.dilation,
    max_groups: int | None = None,
    max_batch: int = _BOUNDS.batch,
) -> SearchStrategy[Conv2d]:
    """Convolutions of images of `min_value` to `max_value` rows and columns.

    Filters are clipped to the padded image and groups to a divisor of the channels,
    so that every draw is valid; `max_groups=None` also draws depthwise ones. Shrinks
    towards a pointwise convolution of one channel.

    Raises:
        InvalidArgument: a bound is no int in its range, or the bounds are crossed.
    """
    image = _sizes("value", min_value, max_value)
    channels = _sizes("channels", 1, max_channels)
    shape = st.builds(Shape, _sizes("batch", 1, max_batch), channels, image, image)
    some = _sizes("groups", 1, _BOUNDS.groups if max_groups is None else max_groups)
    return st.builds(
        fitted_conv2d,
        shape,
        k=channels,
        r=_sizes("filter", 1, max_filter),
        s=_sizes("filter", 1, max_filter),
        stride=_sizes("stride", 1, max_stride),
        padding=_sizes("padding", 0, max_padding, least=0),
        dilation=_sizes("dilation", 1, max_dilation),
        groups=some | st.none() if max_groups is None else some,
    )


def elementwises(  # noqa: PLR0913 - one argument a bound
    *,
    functions: Collection[Function] = tuple(Function),
    min_value: int = 1,
    max_value: int = _BOUNDS.image,
    max_channels: int = _BOUNDS.channels,
    max_batch: int = _BOUNDS.batch,
    max_operands: int = 3,
) -> SearchStrategy[Elementwise]:
    """Elementwise functions of tensors N x C x H x W, H and W within the bounds.

    Shrinks towards the first of `functions` on a single element.

    Raises:
        InvalidArgument: no function, a bound that is no int in its range, or crossed
            bounds.
    """
    _require(functions, "functions must name at least one Function, got none")
    _sizes("operands", 2, max_operands, least=2)
    image = _sizes("value", min_value, max_value)
    shape = st.tuples(
        _sizes("batch", 1, max_batch), _sizes("channels", 1, max_channels), image, image
    )
    return st.sampled_from(list(functions)).flatmap(
        lambda function: st.builds(
            Elementwise,
            st.just(function),
            shape,
            st.just(1) if function.unary else st.integers(2, max_operands),
        )
    )


def totals(*, min_value: int = 0, max_value: int = 1 << 40) -> SearchStrategy[Totals]:
    """Workloads that are only so many operations and so many bytes.

    Raises:
        InvalidArgument: a bound is no int of at least 0, or the bounds are crossed.
    """
    size = _sizes("value", min_value, max_value, least=0)
    return st.builds(Totals, ops=size, bytes=size)


def workloads(
    *,
    min_nodes: int = 1,
    max_nodes: int = MAX_NODES,
    kinds: Collection[str] = NATURES,
    bounds: Bounds = _BOUNDS,
) -> SearchStrategy[Workload]:
    """Operators and graphs of up to eight, as campaigns draw them.

    A node reads the one before it, an earlier one or a tensor from outside: chains,
    residual additions, branches, the two GEMMs of attention. Shrinks towards the GEMM
    of one MAC.

    Args:
        min_nodes: a single operator counts as one node.
        max_nodes: at most 8.
        kinds: of operators: "gemm", "conv2d", "elementwise".
        bounds: the largest dimensions; shapes inside a graph follow from them.

    Raises:
        InvalidArgument: a number of nodes or a kind that does not exist.
    """
    _sizes("nodes", min_nodes, max_nodes)
    _require(
        max_nodes <= MAX_NODES, f"max_nodes must be at most {MAX_NODES}, got {max_nodes}"
    )
    _require(kinds, f"kinds must name at least one of {', '.join(NATURES)}, got none")
    for kind in kinds:
        known = did_you_mean(kind, NATURES)
        _require(kind in NATURES, f"no kind of operator is called {kind!r}: {known}")
    chosen = tuple(kind for kind in NATURES if kind in kinds)
    return _graphs(
        WorkloadSpace(kinds=chosen, max_nodes=max_nodes, bounds=bounds), min_nodes
    )


@st.composite
def _graphs(draw: DrawFn, space: WorkloadSpace, min_nodes: int) -> Workload:
    """Read the genes of a space, going on to another node until there are enough."""
    bounds = {gene.name: gene for gene in space.genes}
    wanted = {f"{slot}.more" for slot in range(1, min_nodes)}

    def take(name: str) -> int:
        gene = bounds[name]
        if name in wanted:
            return gene.high
        is_boolean = (gene.low, gene.high) == (0, 1)
        return int(draw(st.booleans() if is_boolean else st.integers(gene.low, gene.high)))

    return space.read(take).workload


def subgraphs(
    *,
    min_nodes: int = 2,
    max_nodes: int = MAX_NODES,
    kinds: Collection[str] = NATURES,
    bounds: Bounds = _BOUNDS,
) -> SearchStrategy[Subgraph]:
    """Graphs of at least two operators; see `workloads`.

    Raises:
        InvalidArgument: as `workloads`, or `min_nodes` below 2.
    """
    _require(min_nodes > 1, f"min_nodes must be at least 2, got {min_nodes}: see workloads")
    return workloads(  # type: ignore[return-value]  # several nodes are a subgraph
        min_nodes=min_nodes, max_nodes=max_nodes, kinds=kinds, bounds=bounds
    )


def network_layers(*, names: Collection[str] | None = None) -> SearchStrategy[Workload]:
    """Layers and blocks of real networks, such as "ResNet-50"; of all of them by default.

    Raises:
        InvalidArgument: a network that is not in the data file.
    """
    known = {network.name: network for network in networks()}
    for name in names or ():
        _require(name in known, f"no network {name!r}: {did_you_mean(name, known)}")
    chosen = [known[name] for name in (known if names is None else names)]
    _require(chosen, "names must name at least one network, got none")
    return st.sampled_from([w for n in chosen for w in (*n.layers, *n.blocks)])


def precisions(
    *, among: Collection[Precision] = tuple(Precision)
) -> SearchStrategy[Precision]:
    """Precisions, plainest (FP32) first.

    Raises:
        InvalidArgument: none to choose from.
    """
    _require(among, "among must name at least one Precision, got none")
    return st.sampled_from([p for p in PLAINEST_FIRST if p in among])


def precision_pairs(
    *,
    workload: SearchStrategy[Workload] | None = None,
    among: Collection[Precision] = tuple(Precision),
) -> SearchStrategy[PrecisionPair]:
    """One workload at two precisions that physics orders, the narrower first.

    Raises:
        InvalidArgument: no two of `among` are ordered.
    """
    pairs = [pair for pair in ORDERED_PAIRS if set(pair) <= set(among)]
    _require(pairs, "among must hold two precisions that are ordered")
    return st.builds(
        lambda work, pair: PrecisionPair(Case(work, pair[0]), Case(work, pair[1])),
        workloads() if workload is None else workload,
        st.sampled_from(pairs),
    )


def cases(
    *,
    workload: SearchStrategy[Workload] | None = None,
    among: Collection[Precision] = tuple(Precision),
) -> SearchStrategy[Case]:
    """A workload at a precision: one question to a model.

    Raises:
        InvalidArgument: no precision to choose from.
    """
    work = workloads() if workload is None else workload
    return st.builds(Case, work, precisions(among=among))


def perturbations(
    *,
    coefficients: Collection[str] | Mapping[str, object],
    case: SearchStrategy[Case] | None = None,
    min_factor: float = 1e-6,
    max_factor: float = 10.0,
    max_size: int | None = None,
) -> SearchStrategy[ScaledCase]:
    """A case under perturbed coefficients: one, a pair, ... or all of them.

    Args:
        coefficients: their names, such as a model's `coefficients`.
        case: what is asked; any case by default.
        min_factor: the least factor, above 0.
        max_factor: the greatest.
        max_size: how many coefficients are perturbed at most; all by default.

    Raises:
        InvalidArgument: no coefficient, or bounds that are not positive and ordered.
    """
    names = sorted(coefficients)
    _require(names, "coefficients must name at least one coefficient, got none")
    _require(
        0 < min_factor <= max_factor,
        f"factors must be positive and ordered, got {min_factor} to {max_factor}",
    )
    most = len(names) if max_size is None else max_size
    _sizes("size", 1, most)
    factors = st.floats(min_factor, max_factor)
    scale = st.dictionaries(st.sampled_from(names), factors, min_size=1, max_size=most)
    return st.builds(ScaledCase, cases() if case is None else case, scale)


def machine_perturbations(
    *,
    knobs: Mapping[str, Knob],
    case: SearchStrategy[Case] | None = None,
    min_factor: float = 1 / 16,
    max_factor: float = 16.0,
    max_size: int | None = None,
) -> SearchStrategy[DerivedCase]:
    """A case on a machine of which one figure differs, a pair, ... or all of them.

    Counts are multiplied by whole numbers. Shrinks towards the first knob alone.

    Args:
        knobs: those of a model.
        case: what is asked; any case by default.
        min_factor: the least factor, above 0; a knob's own range goes before.
        max_factor: the greatest, likewise.
        max_size: how many figures differ at most; all by default.

    Raises:
        InvalidArgument: no knob, bounds that are not positive and ordered, or a knob
            that may not be turned between them.
    """
    _require(knobs, "knobs must name at least one knob, got none")
    _require(
        0 < min_factor <= max_factor,
        f"factors must be positive and ordered, got {min_factor} to {max_factor}",
    )
    most = len(knobs) if max_size is None else max_size
    _sizes("size", 1, most)
    turns = {n: _turns(n, knob, min_factor, max_factor) for n, knob in knobs.items()}
    names = st.lists(st.sampled_from(list(turns)), min_size=1, max_size=most, unique=True)
    factors = names.flatmap(lambda some: st.fixed_dictionaries({n: turns[n] for n in some}))
    return st.builds(
        DerivedCase, cases() if case is None else case, st.builds(Derivation, factors)
    )


def _turns(name: str, knob: Knob, least: float, greatest: float) -> SearchStrategy[float]:
    """The factors of a knob between two bounds."""
    low, high = max(least, knob.low), min(greatest, knob.high)
    whole = knob.kind is KnobKind.COUNT
    if whole:
        low, high = math.ceil(low), math.floor(high)
    message = f"knob {name!r} may not be turned between {least} and {greatest}: {knob}"
    _require(low <= high, message)
    return st.integers(int(low), int(high)).map(float) if whole else st.floats(low, high)

"""A small graph of operators that a machine runs as one fused piece of work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Final

import attrs

from joulecheck.errors import InvalidWorkload
from joulecheck.quantities import OPS_PER_MAC
from joulecheck.workload.operators import (
    Conv2d,
    Elementwise,
    Gemm,
    LoopNest,
    Shape,
    require_int,
)
from joulecheck.workload.precision import Precision

AnyOperator = Gemm | Conv2d | Elementwise

MAX_NODES: Final = 8


def _as_sources(sources: Iterable[int | None]) -> tuple[int | None, ...]:
    return tuple(sources)


@attrs.frozen
class Node:
    """An operator and where its activation operands come from.

    A source is the index of an earlier node, or None for a tensor from outside. The
    second source of a GEMM is its B operand: None means weights from outside.
    """

    operator: AnyOperator
    sources: tuple[int | None, ...] = attrs.field(converter=_as_sources)

    @sources.default
    def _from_outside(self) -> tuple[int | None, ...]:
        return (None,) * operand_count(self.operator)


def operand_count(operator: AnyOperator) -> int:
    """How many sources a node of this operator names: GEMM 2, Conv 1, else operands."""
    match operator:
        case Gemm():
            return 2
        case Conv2d():
            return 1
        case Elementwise():
            return operator.operands


def gemm_columns(batch: int, k: int, shape: Shape) -> int | None:
    """N of a GEMM whose B operand is the tensor `shape`, or None if it does not fit.

    B may be read as it is (channels are N) or transposed (channels are K), as in the
    two GEMMs of attention; transposed wins where both fit.
    """
    if shape.n != batch:
        return None
    if shape.c == k:
        return shape.positions
    return shape.c if shape.positions == k else None


def _check_nodes(_: object, __: object, nodes: tuple[Node, ...]) -> None:
    if not 1 <= len(nodes) <= MAX_NODES:
        msg = (
            f"Subgraph.nodes must hold 1 to {MAX_NODES} nodes, got {len(nodes)}: "
            f"split the graph"
        )
        raise InvalidWorkload(msg)
    for index, node in enumerate(nodes):
        _check_sources(index, node)
        _check_shapes(index, node, nodes)


def _check_sources(index: int, node: Node) -> None:
    expected = operand_count(node.operator)
    if len(node.sources) != expected:
        msg = (
            f"Subgraph.nodes[{index}].sources must name {expected} operands of "
            f"{type(node.operator).__name__}, got {node.sources!r}"
        )
        raise InvalidWorkload(msg)
    for source in node.sources:
        if source is not None and not (type(source) is int and 0 <= source < index):
            msg = (
                f"Subgraph.nodes[{index}].sources must be None or an earlier node, "
                f"got {source!r}: list producers before consumers"
            )
            raise InvalidWorkload(msg)


def _check_shapes(index: int, node: Node, nodes: tuple[Node, ...]) -> None:
    for position, source in enumerate(node.sources):
        if source is None:
            continue
        shape = nodes[source].operator.output_shape
        if not _fits(node.operator, position, shape):
            msg = (
                f"Subgraph.nodes[{index}]: operand {position} of {node.operator} must "
                f"fit the output {tuple(shape)} (N, C, H, W) of node {source}: use "
                f"operator.reading(shape)"
            )
            raise InvalidWorkload(msg)


def _fits(operator: AnyOperator, position: int, shape: Shape) -> bool:
    if isinstance(operator, Gemm):
        if position == 1:
            return gemm_columns(operator.batch, operator.k, shape) == operator.n
        wanted = (operator.batch, operator.k, operator.m)
        return (shape.n, shape.c, shape.positions) == wanted
    return operator.input_shape == shape


def _as_nodes(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(nodes)


@attrs.frozen
class Subgraph:
    """A DAG of 1 to 8 operators in topological order, whose shapes fit.

    A tensor that a later node reads is an intermediate: it stays inside and is no
    external traffic. Outputs that no node reads leave the subgraph.

    Raises:
        InvalidWorkload: too many nodes, a source that is no earlier node, or an
            operand whose shape does not fit its producer's output.
    """

    nodes: tuple[Node, ...] = attrs.field(converter=_as_nodes, validator=_check_nodes)

    @classmethod
    def chain(cls, *operators: AnyOperator) -> Subgraph:
        """Each operator reads the one before it; other operands come from outside."""
        heads = [Node(operators[0])]
        tail = [
            Node(later, (index, *(None,) * (operand_count(later) - 1)))
            for index, (_, later) in enumerate(pairwise(operators))
        ]
        return cls((*heads, *tail))

    @property
    def macs(self) -> int:
        """Multiply-accumulates of all nodes."""
        return sum(node.operator.macs for node in self.nodes)

    @property
    def other_ops(self) -> int:
        """Operations of all nodes that are not part of a MAC."""
        return sum(node.operator.other_ops for node in self.nodes)

    @property
    def ops(self) -> int:
        """All operations; one MAC is two."""
        return OPS_PER_MAC * self.macs + self.other_ops

    def is_intermediate(self, index: int) -> bool:
        """Whether a later node reads the output of node `index`."""
        return any(index in node.sources for node in self.nodes[index + 1 :])


def _check_count(owner: object, attribute: attrs.Attribute[int], value: int) -> None:
    require_int(type(owner).__name__, attribute.name, value, 0)


@attrs.frozen
class Totals:
    """A workload as two numbers, for models that ask for no more: ops and bytes.

    Raises:
        InvalidWorkload: a number is not an int >= 0.
    """

    ops: int = attrs.field(validator=_check_count)
    bytes: int = attrs.field(validator=_check_count)

    @property
    def macs(self) -> int:
        """Zero: totals do not say which operations are MACs."""
        return 0

    @property
    def other_ops(self) -> int:
        """All of them."""
        return self.ops


Workload = Gemm | Conv2d | Elementwise | Subgraph | Totals


def nodes_of(workload: Workload) -> tuple[Node, ...]:
    """The nodes of a subgraph, one node for a single operator, none for `Totals`."""
    match workload:
        case Subgraph():
            return workload.nodes
        case Totals():
            return ()
        case _:
            return (Node(workload),)


@attrs.frozen
class Traffic:
    """External bytes by role, and the bytes that stay inside, at one precision.

    Each tensor is rounded up to whole bytes by itself, so none has zero bytes.
    """

    input: int
    weight: int
    output: int
    internal: int

    @property
    def external(self) -> int:
        """Input, weight and output together: what must cross the chip's edge."""
        return self.input + self.weight + self.output


def traffic(workload: Workload, precision: Precision) -> Traffic:
    """The compulsory traffic of a workload: each external tensor once, in bytes.

    `Totals` does not say which bytes are which: all count as input.
    """
    if isinstance(workload, Totals):
        return Traffic(workload.bytes, 0, 0, 0)
    nodes = nodes_of(workload)
    read = {source for node in nodes for source in node.sources} - {None}
    inputs = weights = outputs = internal = 0
    for index, (operator, sources) in enumerate((n.operator, n.sources) for n in nodes):
        activations = sources[:1] if isinstance(operator, Gemm) else sources
        tensor = precision.bytes_for(operator.input_elements // operator.input_tensors)
        inputs += tensor * activations.count(None)
        if not (isinstance(operator, Gemm) and sources[1] is not None):
            weights += precision.bytes_for(operator.weight_elements)
        result = precision.bytes_for(operator.output_elements)
        if index in read:
            internal += result
        else:
            outputs += result
    return Traffic(inputs, weights, outputs, internal)


def loop_nest(node: Node) -> LoopNest:
    """The GEMMs of a node; with an activation as B, the batch cannot fold into M."""
    operator = node.operator
    if isinstance(operator, Gemm) and node.sources[1] is not None:
        return LoopNest(operator.batch, operator.m, operator.n, operator.k)
    return operator.loop_nest


def operators_alone(workload: Workload) -> list[tuple[AnyOperator, int]]:
    """The operators of a workload, each reading and writing outside, and how often.

    A GEMM whose B operand is an intermediate has a B of its own for each element of
    its batch: that many GEMMs of a batch of one.
    """
    found: list[tuple[AnyOperator, int]] = []
    for node in nodes_of(workload):
        operator = node.operator
        if isinstance(operator, Gemm) and node.sources[1] is not None:
            found.append((attrs.evolve(operator, batch=1), operator.batch))
        else:
            found.append((operator, 1))
    return found


def rewired(subgraph: Subgraph, keep: Iterable[int], *, bypass: bool) -> Subgraph | None:
    """The subgraph without the other nodes, its shapes derived anew.

    A reader of a removed node reads that node's own first source (`bypass`) or a
    tensor from outside of the shape that it read before. Operands after the first
    come from outside where they no longer fit. None if `keep` is empty.
    """
    kept = sorted(keep)
    if not kept:
        return None
    place = {old: new for new, old in enumerate(kept)}
    built: list[Node] = []
    for old in kept:
        node = subgraph.nodes[old]
        follow: Callable[[int | None], int | None] = (
            (lambda source: _bypassed(subgraph, source, place))
            if bypass
            else (lambda source: None if source is None else place.get(source))
        )
        built.append(_refit(node, tuple(follow(s) for s in node.sources), built))
    return Subgraph(built)


def _bypassed(subgraph: Subgraph, source: int | None, place: dict[int, int]) -> int | None:
    while source is not None and source not in place:
        source = subgraph.nodes[source].sources[0]
    return None if source is None else place[source]


def _refit(node: Node, sources: tuple[int | None, ...], built: list[Node]) -> Node:
    operator: Any = node.operator
    first, *others = sources
    if first is not None:
        operator = operator.reading(built[first].operator.output_shape)
    if isinstance(operator, Gemm) and others[0] is not None:
        shape = built[others[0]].operator.output_shape
        columns = gemm_columns(operator.batch, operator.k, shape)
        if columns is not None and first is not None:
            operator = attrs.evolve(operator, n=columns)
    fitting = [
        source
        if source is not None
        and first is not None
        and _fits(operator, position, built[source].operator.output_shape)
        else None
        for position, source in enumerate(others, start=1)
    ]
    return Node(operator, (first, *fitting))

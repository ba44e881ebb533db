"""Workloads at a precision: single operators and graphs of up to eight, always valid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from itertools import chain, combinations
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.errors import InvalidWorkload, OutsideSpace
from joulecheck.quantities import BITS_PER_BYTE
from joulecheck.space import Bounds, Gene, Trait
from joulecheck.workload import (
    MAX_NODES,
    AnyOperator,
    Conv2d,
    Elementwise,
    Gemm,
    Node,
    Precision,
    Shape,
    Subgraph,
    fitted_conv2d,
    gemm_columns,
    nodes_of,
    rewired,
)
from joulecheck.workload.columns import OPERATORS, PRECISIONS, Floats, Ints
from joulecheck_strategies.embedding import Embedded, embed
from joulecheck_strategies.layout import FUNCTIONS, Layout, Place, places
from joulecheck_strategies.networks import real_workloads
from joulecheck_strategies.operator_fields import operator_fields
from joulecheck_strategies.reading import ReadSpace, Take
from joulecheck_strategies.tables import (
    TABLE_SIZE,
    Tables,
    draw,
    draw_all,
    value_table,
)

NATURES: Final = ("gemm", "conv2d", "elementwise")
"""Kinds of operator, in the order of `OPERATORS`; the first is the plainest."""

MORE_NODES: Final = 0.55
"""Probability that a sampled graph goes on with another node."""

FURTHER: Final = 0.4
"""Probability that a later node reads not the node just passed but one before it."""

ROOT_FROM_OUTSIDE: Final = 0.12
"""Probability that a later node reads a tensor from outside instead of a node."""


REAL: Final = 0.03
"""Share of the sampled cases that are layers or blocks of real networks."""

AT_CAPACITY: Final = 0.08
"""Share of the sampled first operators whose size is made to meet a capacity."""

SOLVED_FOR: Final = {
    "m": ("batch", "k"),
    "n": ("k",),
    "k": ("n",),
    "c": ("batch", "h", "w"),
}
"""A dimension, and those with which it makes up an operand."""


def node_genes(slot: int, kinds: int, bounds: Bounds) -> tuple[Gene, ...]:
    """The genes of one node, each named by its slot."""
    ranges = {
        "more": (0, min(slot, 1)),
        "kind": (0, kinds - 1),
        "source": (0, slot),
        "batch": (1, bounds.batch),
        "m": (1, bounds.gemm),
        "k": (1, bounds.gemm),
        "c": (1, bounds.channels),
        "h": (1, bounds.image),
        "w": (1, bounds.image),
        "second": (0, 1),
        "n": (1, bounds.gemm),
        "filters": (1, bounds.channels),
        "r": (1, bounds.filter),
        "s": (1, bounds.filter),
        "stride": (1, bounds.stride),
        "padding": (0, bounds.padding),
        "dilation": (1, bounds.dilation),
        "depthwise": (0, 1),
        "groups": (1, bounds.groups),
        "function": (0, len(FUNCTIONS) - 1),
        "extra": (0, 1),
    }
    return tuple(Gene(f"{slot}.{name}", *ends) for name, ends in ranges.items())


READ_BY: Final = {
    "gemm": ("second", "n"),
    "conv2d": (
        "filters",
        "r",
        "s",
        "stride",
        "padding",
        "dilation",
        "depthwise",
        "groups",
    ),
    "elementwise": ("function", "extra", "second"),
}
"""The genes that a kind of operator reads beside those of its input."""

ROOT_OF: Final = {
    "gemm": ("batch", "m", "k"),
    "conv2d": ("batch", "c", "h", "w"),
    "elementwise": ("batch", "c", "h", "w"),
}
"""The genes of an input that comes from outside."""


@attrs.frozen(slots=False)
class WorkloadSpace(ReadSpace[Case]):
    """Graphs of 1 to `max_nodes` operators of some kinds, at one of some precisions.

    A later node reads the node before it unless its genes say otherwise, its shapes
    follow from what it reads, and filters and groups are clipped to what fits, so
    that every row of genes is a valid workload.
    """

    kinds: tuple[str, ...] = NATURES
    precisions: tuple[Precision, ...] = (Precision.FP32,)
    max_nodes: int = MAX_NODES
    bounds: Bounds = attrs.field(factory=Bounds)
    constants: tuple[int, ...] = ()
    """Capacities and unit counts of the machine, for the sampler's corners."""
    quanta: tuple[int, ...] = ()
    """Tile sizes, likewise."""

    version = "2"

    @cached_property
    def genes(self) -> tuple[Gene, ...]:
        """Those of each node, then the index of the precision."""
        slots = (
            node_genes(slot, len(self.kinds), self.bounds) for slot in range(self.max_nodes)
        )
        precision = Gene("precision", 0, len(self.precisions) - 1)
        return (*chain.from_iterable(slots), precision)

    def read(self, take: Take) -> Case:
        """Read nodes while there are more, then the precision."""
        nodes: list[Node] = []
        for slot in range(self.max_nodes):
            if slot and not take(f"{slot}.more"):
                break
            nodes.append(self._node(slot, nodes, take))
        workload = nodes[0].operator if len(nodes) == 1 else Subgraph(nodes)
        return Case(workload, self.precisions[take("precision")])

    def _node(self, slot: int, nodes: Sequence[Node], take: Take) -> Node:
        kind = self.kinds[take(f"{slot}.kind")]
        back = take(f"{slot}.source") if slot else 0
        source = slot - 1 - back if back < slot else None
        if source is None:
            names = ROOT_OF[kind]
            sizes = {name: take(f"{slot}.{name}") for name in names}
            if kind == "gemm":
                shape = Shape(sizes["batch"], sizes["k"], sizes["m"], 1)
            else:
                shape = Shape(*sizes.values())
        else:
            shape = nodes[source].operator.output_shape
        read = {"gemm": _gemm, "conv2d": _conv2d, "elementwise": _elementwise}[kind]
        return read(slot, nodes, take, source, shape)

    def encode(self, case: Case) -> dict[str, int]:
        """The genes of each node and of the precision."""
        found = {"precision": self.precisions.index(case.precision)}
        nodes = nodes_of(case.workload)
        for slot, node in enumerate(nodes):
            genes = _node_genes_of(slot, node)
            genes["kind"] = self.kinds.index(NATURES[OPERATORS.index(type(node.operator))])
            genes["more"] = min(slot, 1)
            found |= {f"{slot}.{name}": value for name, value in genes.items()}
        return found

    def layout(self, rows: Ints) -> Layout:
        """The nodes that rows of genes describe, as arrays."""
        found = places(rows, self.column, self.max_nodes)
        return Layout(len(rows), self.max_nodes, found, self._kinds)

    @cached_property
    def _kinds(self) -> Ints:
        return np.array([NATURES.index(kind) for kind in self.kinds])

    def canonical(self, rows: Ints) -> Ints:
        """Clipped genes at what they were clipped to, unread genes at their minimum."""
        return self._rows(self.layout(rows), rows[:, -1])

    def _rows(self, layout: Layout, precision: Ints) -> Ints:
        rows = self.empty(layout.size)
        layout.write_genes(rows, self.column)
        rows[:, -1] = precision
        return rows

    def batch(self, rows: Ints) -> Cases:
        """The cases of rows, with columns computed when asked for."""
        table = np.array([PRECISIONS.index(p) for p in self.precisions])
        return Cases(
            table[rows[:, -1]],
            lambda index: self.build(rows[index].tolist()),
            lambda: self.layout(rows).operator_columns(),
        )

    def operator_fields(self, rows: Ints) -> Mapping[str, Floats | Trait]:
        """What each operator is declared by."""
        return operator_fields(self.layout(rows))

    def plain_cases(self, rows: Ints) -> Cases:
        """The cases themselves."""
        return self.batch(rows)

    def embed(self, rng: np.random.Generator, rows: Ints) -> Embedded | None:
        """Graphs from the sampler with those of the rows inside."""
        if self.max_nodes == 1:
            return None
        outer = self.sample(rng, len(rows))
        nodes = self.nodes(rows), self.nodes(outer)
        return embed(rng, rows, outer, nodes, self.column, self.max_nodes)

    def nodes(self, rows: Ints) -> Ints:
        """One, and one more for each slot that goes on."""
        more = [self.column[f"{slot}.more"] for slot in range(1, self.max_nodes)]
        alive: Ints = np.cumprod(rows[:, more], axis=1).sum(axis=1)
        return 1 + alive

    def smaller_graphs(self, row: Sequence[int]) -> Ints:
        """Every proper subset of the nodes, in both rewirings."""
        case = self.build(row)
        rows = {self._row_without(case, keep, bypass=how) for keep, how in _subsets(case)}
        found = sorted(r for r in rows if r is not None and r != tuple(row))
        return np.array(found, dtype=np.int64).reshape(len(found), len(self.genes))

    def _row_without(
        self, case: Case, keep: tuple[int, ...], *, bypass: bool
    ) -> tuple[int, ...] | None:
        try:
            smaller = rewired(Subgraph(nodes_of(case.workload)), keep, bypass=bypass)
            if smaller is None:
                return None
            single = smaller.nodes[0].operator if len(smaller.nodes) == 1 else smaller
            return self.genes_of(Case(single, case.precision))
        except (InvalidWorkload, OutsideSpace):
            return None

    def sample(self, rng: np.random.Generator, size: int) -> Ints:
        """Geometric in the number of nodes, each gene from its table of corners.

        A share of first operators is made to fill a capacity of the machine, and a
        share of the cases are layers and blocks of real networks.
        """
        gene = Gene("precision", 0, len(self.precisions) - 1)
        precision = draw(rng, gene, value_table(gene, (), ()), size)
        places = self._places(rng, size, precision)
        rows = self._rows(Layout(size, self.max_nodes, places, self._kinds), precision)
        real = _real_rows(self.kinds, self.max_nodes, self.bounds)
        if len(real):
            at = np.flatnonzero(rng.random(size) < REAL)
            rows[at, :-1] = real[rng.integers(0, len(real), len(at)), :-1]
        return rows

    def _places(
        self, rng: np.random.Generator, size: int, precision: Ints
    ) -> Iterator[Place]:
        """The slots of sampled graphs."""
        alive = np.arange(size)
        for slot in range(self.max_nodes):
            if slot:
                alive = alive[rng.random(len(alive)) < MORE_NODES]
            genes, tables = self._drawn_by_slot[slot]
            drawn = draw_all(rng, tables, len(alive))
            values = dict(zip((gene.name for gene in genes), drawn, strict=True))
            if not slot:
                self._fill_capacities(rng, values, precision)
            yield alive, partial(self._drawn_or_plainest, slot, values, len(alive))

    def _fill_capacities(
        self, rng: np.random.Generator, drawn: Mapping[str, Ints], precision: Ints
    ) -> None:
        """Make an operand of some first operators as large as one of the constants.

        One dimension is solved for, and then moved by -1, 0 or 1: random dimensions
        hardly ever meet a capacity, where a model may change its behaviour.
        """
        if not self.constants:
            return
        at = np.flatnonzero(rng.random(len(precision)) < AT_CAPACITY)
        bits = np.array([p.bits for p in self.precisions])[precision[at]]
        capacity = np.array(self.constants)[rng.integers(0, len(self.constants), len(at))]
        elements = capacity * BITS_PER_BYTE // bits
        step = rng.integers(-1, 2, len(at))
        chosen = rng.integers(0, len(SOLVED_FOR), len(at))
        for index, (solved, others) in enumerate(SOLVED_FOR.items()):
            name = f"0.{solved}"
            if name not in drawn:
                continue
            where = at[chosen == index]
            rest = np.ones(len(where))  # as floats: a product may pass 2^63
            for other in drawn.keys() & {f"0.{other}" for other in others}:
                rest *= drawn[other][where]
            wanted = (elements[chosen == index] // rest).astype(np.int64)
            wanted += step[chosen == index]
            gene = self.genes[self.column[name]]
            drawn[name][where] = np.clip(wanted, gene.low, gene.high)

    def _drawn_or_plainest(
        self, slot: int, drawn: Mapping[str, Ints], size: int, name: str
    ) -> Ints:
        full = f"{slot}.{name}"
        if full in drawn:
            return drawn[full]
        return np.broadcast_to(self.plainest[self.column[full]], (size,))

    @cached_property
    def _drawn_by_slot(self) -> list[tuple[list[Gene], Tables]]:
        return [self._to_draw(slot) for slot in range(self.max_nodes)]

    def _to_draw(self, slot: int) -> tuple[list[Gene], Tables]:
        """The genes that some kind of node reads there, and their tables."""
        names = {"kind", "source", *chain(*(ROOT_OF[k] + READ_BY[k] for k in self.kinds))}
        if not slot:
            names -= {"source", "second"}  # there is no earlier node
        columns = sorted(self.column[f"{slot}.{name}"] for name in names)
        genes = [self.genes[index] for index in columns if self._is_free(index)]
        return genes, Tables.of(genes, [self._table(gene, slot) for gene in genes])

    def _table(self, gene: Gene, slot: int) -> Ints:
        if gene.name == f"{slot}.source":
            return _source_table(slot)
        if gene.name == f"{slot}.kind":
            return np.arange(len(self.kinds))  # each as often
        return value_table(gene, self.constants, self.quanta)


@lru_cache(maxsize=64)
def _real_rows(kinds: tuple[str, ...], max_nodes: int, bounds: Bounds) -> Ints:
    """Rows of the layers and blocks of real networks that fit into a space."""
    space = WorkloadSpace(kinds=kinds, max_nodes=max_nodes, bounds=bounds)
    found = []
    for workload in real_workloads():
        with suppress(OutsideSpace):
            found.append(space.genes_of(Case(workload)))
    return np.array(found, dtype=np.int64).reshape(len(found), len(space.genes))


def _source_table(slot: int) -> Ints:
    """How far back a node reads, geometrically less often; `slot` is from outside."""
    shares = (1 - ROOT_FROM_OUTSIDE) * np.diff([*(1 - FURTHER ** np.arange(slot)), 1.0])
    counts = np.ceil(TABLE_SIZE * np.append(shares, ROOT_FROM_OUTSIDE)).astype(np.int64)
    return np.repeat(np.arange(slot + 1), counts)[:TABLE_SIZE]


def _subsets(case: Case) -> list[tuple[tuple[int, ...], bool]]:
    count = len(nodes_of(case.workload))
    every = (combinations(range(count), size) for size in range(1, count))
    return [(keep, how) for keep in chain.from_iterable(every) for how in (True, False)]


def _second(nodes: Sequence[Node], source: int | None, fits: list[bool]) -> int | None:
    """The nearest earlier node beside the first source that fits as second operand."""
    if source is None:
        return None
    candidates = [i for i in range(len(nodes)) if i != source and fits[i]]
    return candidates[-1] if candidates else None


def _gemm(
    slot: int, nodes: Sequence[Node], take: Take, source: int | None, shape: Shape
) -> Node:
    columns = [gemm_columns(shape.n, shape.c, n.operator.output_shape) for n in nodes]
    second = _second(nodes, source, [c is not None for c in columns])
    if second is not None and not take(f"{slot}.second"):
        second = None
    n = take(f"{slot}.n") if second is None else columns[second]
    assert n is not None  # noqa: S101 - the second operand fits, so it has columns
    operator = Gemm(m=shape.positions, n=n, k=shape.c, batch=shape.n)
    return Node(operator, (source, second))


def _conv2d(
    slot: int, _: Sequence[Node], take: Take, source: int | None, shape: Shape
) -> Node:
    names = ("r", "s", "stride", "padding", "dilation")
    filters = take(f"{slot}.filters")
    fields = {name: take(f"{slot}.{name}") for name in names}
    groups = None if take(f"{slot}.depthwise") else take(f"{slot}.groups")
    return Node(fitted_conv2d(shape, k=filters, groups=groups, **fields), (source,))


def _elementwise(
    slot: int, nodes: Sequence[Node], take: Take, source: int | None, shape: Shape
) -> Node:
    function = FUNCTIONS[take(f"{slot}.function")]
    if function.unary:
        return Node(Elementwise(function, tuple(shape)), (source,))
    extra = take(f"{slot}.extra")
    equal = [node.operator.output_shape == shape for node in nodes]
    second = _second(nodes, source, equal)
    if second is not None and not take(f"{slot}.second"):
        second = None
    operator = Elementwise(function, tuple(shape), 2 + extra)
    return Node(operator, (source, second, *(None,) * extra))


def _node_genes_of(slot: int, node: Node) -> dict[str, int]:
    operator, sources = node.operator, node.sources
    source = sources[0]
    genes = {"source": (slot if source is None else slot - 1 - source) if slot else 0}
    second = sources[1] if len(sources) > 1 else None
    genes["second"] = int(second is not None)
    if source is None:
        genes |= _root_genes_of(operator)
    match operator:
        case Gemm():
            genes |= {} if second is not None else {"n": operator.n}
        case Conv2d():
            genes |= _conv_genes_of(operator)
        case Elementwise():
            genes["function"] = FUNCTIONS.index(operator.function)
            genes["extra"] = max(0, operator.operands - 2)
    return genes


def _root_genes_of(operator: AnyOperator) -> dict[str, int]:
    shape = operator.input_shape
    if isinstance(operator, Gemm):
        return {"batch": operator.batch, "m": operator.m, "k": operator.k}
    return {"batch": shape.n, "c": shape.c, "h": shape.h, "w": shape.w}


def _conv_genes_of(operator: Conv2d) -> dict[str, int]:
    depthwise = operator.groups == operator.c and operator.c > 1
    names = ("r", "s", "stride", "padding", "dilation")
    return {
        **{name: getattr(operator, name) for name in names},
        "filters": operator.k - operator.groups + 1,
        "depthwise": int(depthwise),
        "groups": 1 if depthwise else operator.groups,
    }

"""Large regular workloads: GEMMs, dense convolutions and heads of attention.

They are graphs of `WorkloadSpace` with few genes and bounds of their own, for laws
that hold where a machine is busy and not where edges and launches decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.space import Bounds, Gene
from joulecheck.workload import Conv2d, Function, Gemm, Precision, nodes_of
from joulecheck.workload.columns import Ints
from joulecheck_strategies.layout import FUNCTIONS
from joulecheck_strategies.reading import ReadSpace, Take
from joulecheck_strategies.tables import (
    SMALL_RANGE,
    TABLE_SIZE,
    draw,
    value_table,
)
from joulecheck_strategies.workload_space import NATURES, WorkloadSpace

FORMS: Final = ("gemm", "convolution", "attention")
"""What a regular workload may be; the first is the plainest."""

LARGEST: Final = 16384


Range = tuple[int, int]
"""The least and the greatest value of a dimension."""


@attrs.frozen(kw_only=True)
class Sizes:
    """The ranges of all dimensions."""

    m: Range = (1024, LARGEST)
    n: Range = (1024, LARGEST)
    k: Range = (1024, LARGEST)
    images: Range = (8, 64)
    channels: Range = (64, 1024)
    image: Range = (14, 112)
    """Height and width of a square image."""
    filters: Range = (64, 1024)
    taps: Range = (0, 3)
    """A filter has 2 taps + 1 rows and columns, and is padded to keep the image."""
    stride: Range = (1, 2)
    length: Range = (512, 8192)
    """Of a sequence; a head makes a score of any two places."""
    width: Range = (64, 256)
    """Of a head."""


WRITTEN: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "gemm": {"m": ("0.m",), "n": ("0.n",), "k": ("0.k",)},
    "convolution": {
        "images": ("0.batch",),
        "channels": ("0.c",),
        "image": ("0.h", "0.w"),
        "filters": ("0.filters",),
        "taps": ("0.padding",),
        "stride": ("0.stride",),
    },
    "attention": {"length": ("0.m", "0.n"), "width": ("0.k", "2.n")},
}
"""By form: the genes of the graph that each of its dimensions writes."""

FIXED: Final[Mapping[str, Mapping[str, int]]] = {
    "gemm": {},
    "convolution": {"0.kind": NATURES.index("conv2d")},
    "attention": {
        "1.more": 1,
        "1.kind": NATURES.index("elementwise"),
        "1.function": FUNCTIONS.index(Function.SIGMOID),
        "2.more": 1,
    },
}
"""By form: the genes of the graph that are the same for all of them."""

_EVERYTHING: Final = Bounds(
    batch=1 << 31, gemm=1 << 31, channels=1 << 31, image=1 << 31, filter=1 << 15
)


@attrs.frozen(slots=False)
class RegularSpace(ReadSpace[Case]):
    """GEMMs, dense square convolutions, and attention: scores, a function, their sum.

    The function stands in the place of softmax. Keys and values come from outside.
    """

    forms: tuple[str, ...] = FORMS
    precisions: tuple[Precision, ...] = (Precision.FP32,)
    sizes: Sizes = attrs.field(factory=Sizes)
    constants: tuple[int, ...] = ()
    """Capacities and unit counts of the machine, for the sampler's corners."""
    quanta: tuple[int, ...] = ()
    """Tile sizes, likewise."""

    @cached_property
    def genes(self) -> tuple[Gene, ...]:
        """The form, the dimensions of each form, then the index of the precision."""
        names = [name for form in self.forms for name in WRITTEN[form]]
        return (
            Gene("form", 0, len(self.forms) - 1),
            *(Gene(name, *getattr(self.sizes, name)) for name in names),
            Gene("precision", 0, len(self.precisions) - 1),
        )

    @cached_property
    def graphs(self) -> WorkloadSpace:
        """The space of graphs that they are part of."""
        return WorkloadSpace(precisions=self.precisions, max_nodes=3, bounds=_EVERYTHING)

    def read(self, take: Take) -> Case:
        """Read the form and its dimensions, then the precision."""
        form = self.forms[take("form")]
        sizes = {name: take(name) for name in WRITTEN[form]}
        genes = dict(zip(self.graphs.column, self.graphs.plainest.tolist(), strict=True))
        genes |= _graph_genes(form, sizes)
        genes["precision"] = take("precision")
        return self.graphs.read(genes.__getitem__)

    def encode(self, case: Case) -> dict[str, int]:
        """The form, its dimensions and the index of the precision."""
        nodes = nodes_of(case.workload)
        first = nodes[0].operator
        found = {"precision": self.precisions.index(case.precision)}
        if isinstance(first, Conv2d):
            found["form"] = self.forms.index("convolution")
            found |= {"images": first.n, "channels": first.c, "image": first.h}
            found |= {"filters": first.k, "taps": first.padding, "stride": first.stride}
        elif isinstance(first, Gemm) and len(nodes) == 1:
            found["form"] = self.forms.index("gemm")
            found |= {"m": first.m, "n": first.n, "k": first.k}
        elif isinstance(first, Gemm):
            found["form"] = self.forms.index("attention")
            found |= {"length": first.m, "width": first.k}
        return found

    def canonical(self, rows: Ints) -> Ints:
        """The same cases, with the dimensions of other forms at their minimum."""
        found = np.asfortranarray(rows).copy(order="F")
        for index, form in enumerate(self.forms):
            others = rows[:, 0] != index
            for name in WRITTEN[form]:
                column = self.column[name]
                found[others, column] = self.genes[column].low
        return found

    def batch(self, rows: Ints) -> Cases:
        """The cases of rows, with columns computed when asked for."""
        graphs = self.graphs.empty(len(rows))
        graphs[:, -1] = rows[:, -1]
        for index, form in enumerate(self.forms):
            chosen = np.flatnonzero(rows[:, 0] == index)
            sizes = {name: rows[chosen, self.column[name]] for name in WRITTEN[form]}
            for name, values in _graph_genes(form, sizes).items():
                graphs[chosen, self.graphs.column[name]] = values
        return self.graphs.batch(graphs)

    def nodes(self, rows: Ints) -> Ints:
        """Three for attention, one for all else."""
        if "attention" not in self.forms:
            return np.ones(len(rows), dtype=np.int64)
        return np.where(rows[:, 0] == self.forms.index("attention"), 3, 1)

    def smaller_graphs(self, row: Sequence[int]) -> Ints:
        """None: a part of attention is no attention."""
        return np.empty((0, len(row)), dtype=np.int64)

    def sample(self, rng: np.random.Generator, size: int) -> Ints:
        """Each form as often; dimensions half from corners, half evenly by decade."""
        rows = self.empty(size)
        for index, gene in enumerate(self.genes):
            rows[:, index] = draw(rng, gene, self._table(gene), size)
        return self.canonical(rows)

    def _table(self, gene: Gene) -> Ints:
        if gene.name == "form":
            return np.arange(len(self.forms))
        corners = value_table(gene, self.constants, self.quanta)
        if gene.high - gene.low < SMALL_RANGE:
            return corners
        smooth = np.geomspace(gene.low, gene.high, TABLE_SIZE // 2)
        return np.concatenate([corners[::2], np.rint(smooth).astype(np.int64)])


def _graph_genes(form: str, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """The genes of the graph that are off their minimum; of one row or of many."""
    written = {gene: sizes[name] for name, genes in WRITTEN[form].items() for gene in genes}
    if "taps" in sizes:
        written |= dict.fromkeys(("0.r", "0.s"), 2 * sizes["taps"] + 1)
    return {**FIXED[form], **written}

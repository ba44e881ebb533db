"""Single operators in two spellings, each declared once for scalars and for arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final

import attrs
import numpy as np

from joulecheck.case import Case, EquivalentPair, EquivalentPairs
from joulecheck.space import Bounds, Gene
from joulecheck.workload.columns import Ints
from joulecheck_strategies.reading import ReadSpace, Take
from joulecheck_strategies.tables import draw, value_table
from joulecheck_strategies.workload_space import READ_BY, ROOT_OF, WorkloadSpace

Values = dict[str, Any]
"""Genes of a node by their names: ints, or arrays of them, (n,)."""


class Spelling(ABC):
    """Two ways to write one operator, as genes of a graph of one node.

    Only arithmetic that ints and arrays share is allowed, so that one declaration
    gives the cases and the batches.
    """

    how: ClassVar[str]
    """What is exchanged, in words."""
    kinds: ClassVar[tuple[str, ...]]
    """The kinds of operators that the two spellings use."""
    drawn: ClassVar[tuple[str, ...]]
    """The genes that say all of the first spelling."""

    def within(self, drawn: Values, bounds: Bounds) -> Values:
        """The values brought to where the second spelling is within the bounds too."""
        del bounds
        return drawn

    @abstractmethod
    def one(self, drawn: Values) -> Values:
        """The genes of the first spelling; "kind" is a name."""

    @abstractmethod
    def other(self, drawn: Values) -> Values:
        """The genes of the second."""


def _at_most(value: Any, limit: Any) -> Any:  # noqa: ANN401 - an int or an array
    return np.minimum(value, np.maximum(1, limit))


class PointwiseAsGemm(Spelling):
    """A convolution of 1 x 1 filters is a GEMM over all positions of all images."""

    how = "pointwise convolution as GEMM"
    kinds = ("conv2d", "gemm")
    drawn = ("batch", "c", "h", "w", "filters")

    def within(self, drawn: Values, bounds: Bounds) -> Values:
        """Images whose positions are no more than the rows of a GEMM."""
        batch = _at_most(drawn["batch"], bounds.gemm)
        h = _at_most(drawn["h"], bounds.gemm // batch)
        w = _at_most(drawn["w"], bounds.gemm // (batch * h))
        c, filters = (_at_most(drawn[name], bounds.gemm) for name in ("c", "filters"))
        return {"batch": batch, "c": c, "h": h, "w": w, "filters": filters}

    def one(self, drawn: Values) -> Values:
        """The convolution."""
        return {"kind": "conv2d", **drawn}

    def other(self, drawn: Values) -> Values:
        """M = N H W, N = K, K = C."""
        rows = drawn["batch"] * drawn["h"] * drawn["w"]
        return {"kind": "gemm", "m": rows, "n": drawn["filters"], "k": drawn["c"]}


class DepthwiseAsGroups(Spelling):
    """A depthwise filter as large as its image is a pointwise one with as many groups.

    It meets each element of its channel once, so that H and W may count as channels.
    """

    how = "whole-image depthwise convolution as grouped pointwise one"
    kinds = ("conv2d",)
    drawn = ("batch", "c", "h", "w", "filters")

    def within(self, drawn: Values, bounds: Bounds) -> Values:
        """Images no larger than a filter, and no more values than channels may be."""
        c = _at_most(drawn["c"], bounds.groups)
        h = _at_most(drawn["h"], np.minimum(bounds.filter, bounds.channels // c))
        room = np.minimum(bounds.filter, bounds.channels // (c * h))
        return {**drawn, "c": c, "h": h, "w": _at_most(drawn["w"], room)}

    def one(self, drawn: Values) -> Values:
        """R = H, S = W, a group for each channel."""
        filters = {"depthwise": 1, "r": drawn["h"], "s": drawn["w"]}
        return {"kind": "conv2d", **drawn, **filters}

    def other(self, drawn: Values) -> Values:
        """C = C H W, in as many groups."""
        return {
            "kind": "conv2d",
            "batch": drawn["batch"],
            "c": drawn["c"] * drawn["h"] * drawn["w"],
            "filters": drawn["filters"],
            "groups": drawn["c"],
        }


class BatchAsRows(Spelling):
    """A batch of GEMMs that share their weights is one GEMM of all their rows."""

    how = "batch as rows"
    kinds = ("gemm",)
    drawn = ("batch", "m", "k", "n")

    def within(self, drawn: Values, bounds: Bounds) -> Values:
        """No more rows in all than M may be."""
        batch = _at_most(drawn["batch"], bounds.gemm)
        m = _at_most(drawn["m"], bounds.gemm // batch)
        return {**drawn, "batch": batch, "m": m}

    def one(self, drawn: Values) -> Values:
        """The batch."""
        return {"kind": "gemm", **drawn}

    def other(self, drawn: Values) -> Values:
        """M = batch x M."""
        rows = {"batch": 1, "m": drawn["batch"] * drawn["m"]}
        return {"kind": "gemm", **drawn, **rows}


class TransposedGemm(Spelling):
    """C^T = B^T A^T: A and B exchanged, and M and N with them."""

    how = "A and B exchanged"
    kinds = ("gemm",)
    drawn = ("m", "k", "n")

    def one(self, drawn: Values) -> Values:
        """A x B."""
        return {"kind": "gemm", **drawn}

    def other(self, drawn: Values) -> Values:
        """B^T x A^T."""
        return {"kind": "gemm", **drawn, "m": drawn["n"], "n": drawn["m"]}


class TransposedImage(Spelling):
    """Height and width exchanged, of the image and of the filter."""

    how = "height and width exchanged"
    kinds = ("conv2d",)
    drawn = (*ROOT_OF["conv2d"], *READ_BY["conv2d"])

    def one(self, drawn: Values) -> Values:
        """H x W and R x S."""
        return {"kind": "conv2d", **drawn}

    def other(self, drawn: Values) -> Values:
        """W x H and S x R."""
        turned = {"h": "w", "w": "h", "r": "s", "s": "r"}
        exchanged = {name: drawn[source] for name, source in turned.items()}
        return {"kind": "conv2d", **drawn, **exchanged}


TRANSPOSED: Final[Mapping[str, Spelling]] = {
    "gemm": TransposedGemm(),
    "image": TransposedImage(),
}
"""The second spelling under each symmetry that a model can declare."""


@attrs.frozen(slots=False)
class RespelledSpace(ReadSpace[EquivalentPair]):
    """Single operators, each in both spellings of one of `spellings`."""

    workloads: WorkloadSpace
    spellings: tuple[Spelling, ...]

    @cached_property
    def genes(self) -> tuple[Gene, ...]:
        """Which spelling, what any of them draws, and the precision."""
        drawn = {f"0.{name}" for spelling in self.spellings for name in spelling.drawn}
        own = [g for g in self.workloads.genes if g.name in drawn]
        which = Gene("spelling", 0, len(self.spellings) - 1)
        return (which, *own, self.workloads.genes[-1])

    def read(self, take: Take) -> EquivalentPair:
        """Read which spelling, what it draws, and the precision."""
        spelling = self.spellings[take("spelling")]
        drawn: Values = {name: take(f"0.{name}") for name in spelling.drawn}
        precision = take("precision")
        fitting = spelling.within(drawn, self.workloads.bounds)
        one, other = (
            self._case(genes, precision)
            for genes in (spelling.one(fitting), spelling.other(fitting))
        )
        return EquivalentPair(one, other, spelling.how)

    def _case(self, genes: Values, precision: int) -> Case:
        values = {gene.name: gene.low for gene in self.workloads.genes}
        values |= {name: int(v) for name, v in self._named(genes).items()}
        values["precision"] = precision
        return self.workloads.read(values.__getitem__)

    def _named(self, genes: Values) -> Values:
        """The same under their full names, and the kind as its gene."""
        kind = self.workloads.kinds.index(genes["kind"])
        return {f"0.{name}": value for name, value in {**genes, "kind": kind}.items()}

    def encode(self, case: EquivalentPair) -> dict[str, int]:
        """The genes of the first spelling that are drawn."""
        which = [spelling.how for spelling in self.spellings].index(case.how)
        names = {f"0.{name}" for name in self.spellings[which].drawn} | {"precision"}
        genes = self.workloads.encode(case.one)
        return {"spelling": which, **{n: genes[n] for n in names & genes.keys()}}

    def canonical(self, rows: Ints) -> Ints:
        """What each first spelling says in its canonical form."""
        found = self.empty(len(rows))
        found[:, 0] = rows[:, 0]
        found[:, -1] = rows[:, -1]
        for spelling, where, drawn in self._drawn_by(rows):
            first = self.workloads.canonical(self._rows(rows[where], spelling.one(drawn)))
            for name in spelling.drawn:
                gene = f"0.{name}"
                found[where, self.column[gene]] = first[:, self.workloads.column[gene]]
        return found

    def _drawn_by(self, rows: Ints) -> list[tuple[Spelling, Ints, Values]]:
        """Each spelling, the rows that have it, and what they draw, within the bounds."""
        found = []
        for index, spelling in enumerate(self.spellings):
            where = np.flatnonzero(rows[:, 0] == index)
            drawn = {n: rows[where, self.column[f"0.{n}"]] for n in spelling.drawn}
            fitting = spelling.within(drawn, self.workloads.bounds)
            found.append((spelling, where, fitting))
        return found

    def _rows(self, rows: Ints, genes: Values) -> Ints:
        """The workloads of these genes at the precisions of the rows."""
        found = self.workloads.empty(len(rows))
        for name, values in self._named(genes).items():
            found[:, self.workloads.column[name]] = values
        found[:, -1] = rows[:, -1]
        return found

    def batch(self, rows: Ints) -> EquivalentPairs:
        """Both spellings of each row."""
        one, other = (self.workloads.empty(len(rows)) for _ in range(2))
        for spelling, where, drawn in self._drawn_by(rows):
            one[where] = self._rows(rows[where], spelling.one(drawn))
            other[where] = self._rows(rows[where], spelling.other(drawn))
        again = self.workloads.canonical(other)
        return EquivalentPairs(
            self.workloads.batch(one),
            self.workloads.batch(other),
            (self.workloads.canonical(one) != again).any(axis=1),
            lambda index: self.build(rows[index].tolist()),
        )

    def sample(self, rng: np.random.Generator, size: int) -> Ints:
        """Each gene from its table of corners, then brought into form."""
        rows = self.empty(size)
        space = self.workloads
        for index, gene in enumerate(self.genes):
            table = value_table(gene, space.constants, space.quanta)
            rows[:, index] = draw(rng, gene, table, size)
        return self.canonical(rows)

    def nodes(self, rows: Ints) -> Ints:
        """One each."""
        return np.ones(len(rows), dtype=np.int64)

    def smaller_graphs(self, row: Sequence[int]) -> Ints:
        """None: there is one operator."""
        return np.empty((0, len(row)), dtype=np.int64)

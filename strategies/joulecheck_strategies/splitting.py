"""Single operators beside the parts that one of their dimensions is cut into."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cached_property
from math import ceil
from typing import Any, Final, NamedTuple

import attrs
import numpy as np

from joulecheck.case import Case, Part, PartedCase, PartedCases
from joulecheck.space import Gene
from joulecheck.workload import Elementwise, Function, Gemm, Precision, nodes_of
from joulecheck.workload.columns import PRECISIONS, Bools, Ints
from joulecheck_strategies.layout import FUNCTIONS
from joulecheck_strategies.reading import Take
from joulecheck_strategies.workload_space import WorkloadSpace
from joulecheck_strategies.wrapping import WrappingSpace

DIMENSION_OF: Final[Mapping[str, Mapping[str, str]]] = {
    "gemm": {"batch": "batch", "m": "m", "k": "k", "n": "n"},
    "conv2d": {"batch": "batch", "filters": "n"},
    "elementwise": {"batch": "m", "c": "m", "h": "m", "w": "m"},
}
"""By kind of operator: the genes that can be cut, and the dimensions that they are.

Filters only of a convolution of one group; other genes share something at the cut.
"""

GENES: Final = tuple(dict.fromkeys(g for genes in DIMENSION_OF.values() for g in genes))

LARGEST_CUT: Final = 65536

SUM_BITS: Final = 32
"""Of a partial sum, unless its format is wider."""


class Cuts(NamedTuple):
    """What is cut in each row, all (n,)."""

    place: Ints
    """Among the genes of the row that can be cut."""
    gene: Ints
    """Index into `GENES`."""
    column: Ints
    size: Ints
    """1 where nothing can be cut."""
    cut: Ints

    @property
    def able(self) -> Ints:
        """The rows that are cut."""
        return np.flatnonzero(self.size > 1)


class Way(Enum):
    """How a dimension of size D is cut."""

    IN_TWO = "into a cut and what is left of D"
    REPEATED = "into ceil(D / cut) times the cut"
    STEP = "into D - 1 and a quantum, or D - 1 again if that is less"


def additions(precision: Precision) -> int:
    """How often adding two tensors moves what a partial sum costs that leaves and returns.

    Bytes an element: 2 w_p - w_c of the partial sum, and 3 w_c of an addition.
    """
    bits = precision.bits
    return ceil((2 * max(SUM_BITS, bits) - bits) / (3 * bits))


_ADDITIONS: Final = np.array([float(additions(p)) for p in PRECISIONS])


@attrs.frozen(slots=False)
class SplitSpace(WrappingSpace[PartedCase]):
    """Operators of `workloads` with one of their dimensions above 1 cut into parts.

    The parts of K are added up by elementwise additions, which are parts as well. An
    operator that has nothing to cut is its only part.
    """

    workloads: WorkloadSpace
    """Of one node."""
    way: Way
    dimensions: frozenset[str]
    """Which of batch, m, n, k are cut."""
    quantum: int = 1
    """The second part under `Way.STEP`."""
    largest_cut: int = LARGEST_CUT

    @cached_property
    def more_genes(self) -> tuple[Gene, ...]:
        """Which of the dimensions that can be cut, and where."""
        high = 1 if self.way is Way.STEP else self.largest_cut
        return (Gene("dimension", 0, len(GENES) - 1), Gene("cut", 1, high))

    @cached_property
    def _cuttable(self) -> Mapping[str, tuple[str, ...]]:
        """By kind: the genes that are cut here, in the order of `GENES`."""
        return {
            kind: tuple(g for g in GENES if genes.get(g) in self.dimensions)
            for kind, genes in DIMENSION_OF.items()
        }

    def read(self, take: Take) -> PartedCase:
        """Read the whole, then the dimension and the cut."""
        whole = self.workloads.read(take)
        sizes = self._sizes(whole)
        chosen, cut = take("dimension"), take("cut")
        if not sizes:
            return PartedCase(whole, (Part(whole),), "")
        name = list(sizes)[chosen % len(sizes)]
        size = sizes[name]
        cut = min(cut, size - 1)
        first, second = self._ends(size, cut)
        times = -(-size // cut) if self.way is Way.REPEATED else 1
        parts = [Part(self._resized(whole, name, int(first)), times)]
        if self.way is not Way.REPEATED:
            parts.append(Part(self._resized(whole, name, int(second))))
        if self._is_added(name):
            parts.append(_added(whole, max(1, times - 1)))
        return PartedCase(whole, parts, name)

    def _ends(self, size: Any, cut: Any) -> tuple[Any, Any]:  # noqa: ANN401 - ints or arrays
        """The sizes of both parts; the second means nothing where the first repeats."""
        if self.way is Way.STEP:
            return size - 1, np.minimum(self.quantum, size - 1)
        return cut, size - cut

    def _is_added(self, name: str) -> bool:
        """Whether parts of this dimension give partial sums that must be added."""
        return name == "k" and self.way is not Way.STEP

    def _sizes(self, case: Case) -> dict[str, int]:
        """The genes that can be cut, and their sizes."""
        (node,) = nodes_of(case.workload)
        kind = type(node.operator).__name__.lower()
        genes = {n.partition(".")[2]: v for n, v in self.workloads.encode(case).items()}
        found = {name: genes[name] for name in self._cuttable[kind] if genes[name] > 1}
        if kind == "conv2d" and (genes["groups"] > 1 or genes["depthwise"]):
            found.pop("filters", None)
        return found

    def _resized(self, case: Case, name: str, size: int) -> Case:
        genes = {gene.name: gene.low for gene in self.workloads.genes}
        genes |= self.workloads.encode(case)
        genes[f"0.{name}"] = size
        return self.workloads.read(genes.__getitem__)

    def encode(self, case: PartedCase) -> dict[str, int]:
        """The genes of the whole, the place of the dimension and the cut."""
        genes = self.workloads.encode(case.whole)
        if not case.how:
            return genes
        place = list(self._sizes(case.whole)).index(case.how)
        first = self.workloads.encode(case.parts[0].case)[f"0.{case.how}"]
        cut = 1 if self.way is Way.STEP else first
        return {**genes, "dimension": place, "cut": cut}

    def canonical_more(self, rows: Ints) -> None:
        """Fold the dimension onto those that can be cut, and the cut below its size."""
        cuts = self._cuts(rows)
        rows[:, -2] = cuts.place
        rows[:, -1] = cuts.cut

    def _cuts(self, rows: Ints) -> Cuts:
        columns = np.array([self.workloads.column[f"0.{name}"] for name in GENES])
        sizes = rows[:, columns]
        can = self._can_cut(rows) & (sizes > 1)
        place = rows[:, -2] % np.maximum(can.sum(axis=1), 1)
        gene = (can.cumsum(axis=1) > place[:, None]).argmax(axis=1)
        size = np.where(can.any(axis=1), sizes[np.arange(len(rows)), gene], 1)
        cut = np.minimum(rows[:, -1], np.maximum(size - 1, 1))
        return Cuts(place, gene, columns[gene], size, cut)

    def _can_cut(self, rows: Ints) -> Bools:
        """(n, genes) which genes may be cut in each row."""
        kinds, groups, depthwise = (
            rows[:, self.workloads.column[f"0.{name}"]]
            for name in ("kind", "groups", "depthwise")
        )
        by_kind = np.array(
            [[g in self._cuttable[kind] for g in GENES] for kind in self.workloads.kinds]
        )
        can: Bools = by_kind[kinds]
        can[:, GENES.index("filters")] &= (groups == 1) & (depthwise == 0)
        return can

    def batch(self, rows: Ints) -> PartedCases:
        """The wholes, and all parts: the first ones, the second ones, the additions."""
        cuts, workloads = self._cuts(rows), rows[:, : self._split]
        able = cuts.able
        first, second = self._ends(cuts.size, cuts.cut)
        repeated = self.way is Way.REPEATED
        times = np.ceil(cuts.size / cuts.cut) if repeated else np.ones(len(rows))
        owner, parts = [np.arange(len(rows))], [_with(workloads, cuts, able, first)]
        often = [times]
        if not repeated:
            owner.append(able)
            parts.append(_with(workloads, cuts, able, second)[able])
            often.append(times[able])
        if self._is_added("k"):
            summed = able[cuts.gene[able] == GENES.index("k")]
            owner.append(summed)
            parts.append(self._additions(workloads[summed]))
            precisions = self.workloads.batch(workloads).precision[summed]
            often.append(np.maximum(1, times[summed] - 1) * _ADDITIONS[precisions])
        return PartedCases(
            self.workloads.batch(workloads),
            self.workloads.batch(np.concatenate(parts)),
            np.concatenate(owner),
            np.concatenate(often),
            lambda index: self.build(rows[index].tolist()),
        )

    def _additions(self, gemms: Ints) -> Ints:
        """The additions of two results of each GEMM."""
        column, found = self.workloads.column, self.workloads.empty(len(gemms))
        found[:, -1] = gemms[:, -1]
        if not len(gemms):
            return found
        found[:, column["0.kind"]] = self.workloads.kinds.index("elementwise")
        found[:, column["0.function"]] = FUNCTIONS.index(Function.ADD)
        for name, source in (("batch", "batch"), ("c", "n"), ("h", "m")):
            found[:, column[f"0.{name}"]] = gemms[:, column[f"0.{source}"]]
        return found


def _with(workloads: Ints, cuts: Cuts, where: Ints, sizes: Ints) -> Ints:
    """The workloads with the chosen gene of these rows at another size."""
    resized = np.array(workloads, order="F")
    resized[where, cuts.column[where]] = sizes[where]
    return resized


def _added(whole: Case, times: int) -> Part:
    """Adding two results of a GEMM, as often as its partial sums cost."""
    gemm = whole.workload
    assert isinstance(gemm, Gemm)  # noqa: S101 - nothing else has K
    addition = Elementwise(Function.ADD, (gemm.batch, gemm.n, gemm.m, 1))
    return Part(Case(addition, whole.precision), times * additions(whole.precision))

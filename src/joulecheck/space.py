"""Case spaces: where the cases of a property come from.

A space is one declaration, bounded integer genes and a pure `build`. From it come a
Hypothesis strategy and a numpy sampler that reach the same cases, and the reducer's
moves. The implementations live in `joulecheck_strategies`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import attrs
import numpy as np

from joulecheck.case import AnyCase, Batch, Cases
from joulecheck.workload.columns import Floats, Ints

if TYPE_CHECKING:  # loading Hypothesis takes longer than all the rest
    from hypothesis.strategies import SearchStrategy


@attrs.frozen
class Gene:
    """A bounded integer; `low` is its plainest value."""

    name: str
    low: int
    high: int


@attrs.frozen
class Bounds:
    """The largest value of each dimension that a space draws; a model may ask for less."""

    batch: int = 1024
    gemm: int = 65536
    """M, N and K."""
    channels: int = 4096
    """C and K of a convolution."""
    image: int = 512
    """H and W."""
    filter: int = 11
    stride: int = 4
    padding: int = 5
    dilation: int = 4
    groups: int = 64


@attrs.frozen(eq=False)
class Trait:
    """Which of some named kinds each case, or each operator, is of."""

    codes: Ints
    """Indices into `names`; -1 where the question does not arise."""
    names: tuple[str, ...]


class CaseSpace(Protocol):
    """The cases over which a property is asked of one model.

    A row is one case as an (width,) int64 vector of genes; rows are kept canonical,
    which means that a gene that the case does not use is at its minimum.
    """

    @property
    def genes(self) -> tuple[Gene, ...]:
        """The columns of a row."""

    @property
    def version(self) -> str:
        """Names the sampler; changes when the same seed gives other cases."""

    def sample(self, rng: np.random.Generator, size: int) -> Ints:
        """(size, width) canonical rows, drawn at random."""

    def canonical(self, rows: Ints) -> Ints:
        """The same cases with every gene in its canonical form."""

    def batch(self, rows: Ints) -> Batch:
        """The cases of canonical rows."""

    def build(self, row: Sequence[int]) -> AnyCase:
        """The case of one row: a pure function."""

    def genes_of(self, case: AnyCase) -> tuple[int, ...]:
        """The canonical row of a case.

        Raises:
            OutsideSpace: the case cannot be written in these genes.
        """

    def choices(self, row: Sequence[int]) -> tuple[int | bool, ...]:
        """The values that the strategy draws, in order, to produce this row's case."""

    def read_columns(self, row: Sequence[int]) -> tuple[int, ...]:
        """The columns of the genes that this row's case reads, in order."""

    def strategy(self) -> SearchStrategy[AnyCase]:
        """Draws only the genes that a case uses."""

    def nodes(self, rows: Ints) -> Ints:
        """(n,) how many operators each case has."""

    def smaller_graphs(self, row: Sequence[int]) -> Ints:
        """Canonical rows of the cases that lack some of the operators of this one."""

    def operator_fields(self, rows: Ints) -> Mapping[str, Floats | Trait]:
        """What the operators of canonical rows are declared by, in case order.

        A number is NaN for an operator that has no such field. Empty if the cases have
        no operators, or more than one graph each.
        """

    def plain_cases(self, rows: Ints) -> Cases | None:
        """The workloads that canonical rows are about, if each is about one."""

    def traits(self, rows: Ints) -> Mapping[str, Trait]:
        """(n,) what else tells the cases of canonical rows apart, by name."""

    def embedded(self, rng: np.random.Generator, rows: Ints) -> Ints:
        """(n, width) canonical rows of larger graphs, each around that of one row.

        Empty if there are no larger graphs.
        """

"""Regions: where a property fails, as a conjunction of conditions, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import cattrs
import numpy as np

from joulecheck.region.atoms import Atom, Kinds, merged
from joulecheck.region.columns import Columns, Told, is_answer
from joulecheck.region.features import How
from joulecheck.region.sampling import Sampler, moves_of
from joulecheck.region.wording import sentence
from joulecheck.space import CaseSpace
from joulecheck.structured import by_name, tagged_union
from joulecheck.workload.columns import Bools, Floats, Ints


def _as_atoms(atoms: Iterable[Atom]) -> tuple[Atom, ...]:
    return tuple(atoms)


@attrs.frozen
class SomeOperator:
    """A pattern: an operator of the case at which all atoms hold."""

    atoms: tuple[Atom, ...] = attrs.field(converter=_as_atoms)

    def holds(self, columns: Columns) -> Bools:
        """(n,) which cases have one."""
        if not self.atoms:
            return np.ones(columns.size, dtype=bool)
        held: Bools = np.logical_and.reduce(
            [atom.holds("operator", columns) for atom in self.atoms]
        )
        if len(columns.starts) == len(held):
            return held
        found: Bools = np.logical_or.reduceat(held, columns.starts)
        return found

    def score(self, columns: Columns) -> Floats:
        """(n,) the largest share of the atoms that hold at some operator."""
        if not self.atoms:
            return np.ones(columns.size)
        held = np.mean([atom.holds("operator", columns) for atom in self.atoms], axis=0)
        score: Floats = np.maximum.reduceat(held, columns.starts)
        return score


@attrs.frozen(kw_only=True)
class Measured:
    """What was counted when a region was accepted."""

    share: float
    """Of the cases that the space's sampler draws."""
    share_low: float
    share_high: float
    """The ends of the 95 % confidence interval of the share."""
    coverage: float
    """Of the failures that were seen, the share that lies inside."""
    tried: int
    """Fresh cases inside, each of which failed."""
    proven: bool
    """Whether as many were tried as the claim asks for."""


def _as_patterns(patterns: Iterable[SomeOperator]) -> tuple[SomeOperator, ...]:
    return tuple(patterns)


@attrs.frozen
class Region:
    """The cases that have operators of some patterns and meet conditions as a whole."""

    operators: tuple[SomeOperator, ...] = attrs.field(default=(), converter=_as_patterns)
    atoms: tuple[Atom, ...] = attrs.field(default=(), converter=_as_atoms)
    """What holds of the whole case."""
    graphs: bool = False
    """Whether a case may have more operators than the patterns speak of."""
    measured: Measured | None = None

    @property
    def sentence(self) -> str:
        """Such as "every INT8 GEMM with K mod 128 = 5 and M >= 1001"."""
        patterns = [pattern.atoms for pattern in self.operators]
        return sentence(patterns, self.atoms, graphs=self.graphs)

    @property
    def merged(self) -> Region:
        """The same region with both ends of each interval in one atom."""
        operators = [SomeOperator(merged(pattern.atoms)) for pattern in self.operators]
        return attrs.evolve(self, operators=operators, atoms=merged(self.atoms))

    def contains(self, space: CaseSpace, rows: Ints, told: Told | None = None) -> Bools:
        """(n,) which canonical rows of a space are inside.

        Args:
            space: of the cases.
            rows: (n, width) canonical rows.
            told: asks the model, for conditions on its answers.

        Raises:
            UnknownName: the region speaks of something that the space has not, or of
                answers of a model that is not asked.
        """
        if not len(rows):
            return np.zeros(0, dtype=bool)
        return self.holds(Columns(space, rows, told))

    def holds(self, columns: Columns) -> Bools:
        """(n,) the same of rows whose columns are known."""
        inside = np.ones(columns.size, dtype=bool)
        for pattern in self.operators:
            inside &= pattern.holds(columns)
        for atom in self.atoms:
            inside &= atom.holds("case", columns)
        return inside

    def sample(
        self,
        space: CaseSpace,
        rng: np.random.Generator,
        size: int,
        starts: Ints | None = None,
    ) -> Ints:
        """Up to `size` different canonical rows inside.

        Args:
            space: of which cases.
            rng: the random numbers.
            size: how many rows; fewer come back if no more are found.
            starts: (any, width) rows that are known to be inside.

        Raises:
            UnknownName: the region speaks of something that the space has not.
        """
        atoms = [*self.atoms, *(atom for one in self.operators for atom in one.atoms)]
        sampler = Sampler(
            space,
            lambda rows: self.contains(space, rows),
            moves_of(space.genes, atoms),
            lambda rows: self._score(Columns(space, rows)),
        )
        known = np.empty((0, len(space.genes)), dtype=np.int64)
        return sampler.draw(rng, size, known if starts is None else starts)

    def _score(self, columns: Columns) -> Floats:
        """(n,) the mean over the conditions; of a pattern, what holds at some operator."""
        parts = [atom.holds("case", columns).astype(float) for atom in self.atoms]
        parts += [pattern.score(columns) for pattern in self.operators]
        score: Floats = np.mean(parts, axis=0) if parts else np.ones(columns.size)
        return score


def _as_regions(regions: Iterable[Region]) -> tuple[Region, ...]:
    return tuple(regions)


@attrs.frozen(kw_only=True)
class Outline:
    """Where a law fails as a whole: nearly all of its failures, and hardly anything else.

    It is seen in draws of the space's sampler alone, and its conditions may be on what
    the model answers. So it says where to look; a region says what is known to fail.
    """

    regions: tuple[Region, ...] = attrs.field(converter=_as_regions)
    """One conjunction, or one for each of some kinds of case."""
    coverage: float
    """Of the fresh failures, the share inside."""
    false: float
    """Of the fresh cases inside, the share that does not fail."""
    tried: int
    """Fresh cases inside."""

    @property
    def of_answers(self) -> bool:
        """Whether it speaks of what the model answers, and not of workloads alone."""
        atoms = [atom for region in self.regions for atom in region.atoms]
        features = [atom.feature for atom in atoms if not isinstance(atom, Kinds)]
        names = [name for feature in features for name in feature.of]
        return any(is_answer(name) for name in names)

    @property
    def sentence(self) -> str:
        """All conjunctions in one sentence."""
        return "; or ".join(region.sentence for region in self.regions)

    def contains(self, space: CaseSpace, rows: Ints, told: Told | None = None) -> Bools:
        """(n,) which canonical rows are inside; see `Region.contains`.

        Raises:
            UnknownName: it speaks of something that the space has not.
        """
        return _in_any(self.regions, Columns(space, rows, told))


def _in_any(regions: Iterable[Region], columns: Columns) -> Bools:
    inside = np.zeros(columns.size, dtype=bool)
    for region in regions:
        inside |= region.holds(columns)
    return inside


@attrs.frozen(kw_only=True)
class Generalised:
    """Where a property fails: one region, or several together."""

    regions: tuple[Region, ...] = attrs.field(converter=_as_regions)
    """That of the minimal case first, if there is one."""
    coverage: float
    """Of the failures that were seen, the share that lies in one of the regions."""
    evaluations: int
    """Cases asked."""
    proven: bool
    """Whether there are regions, all are, and the search did not stop at its limit."""
    outline: Outline | None = None
    """Where the property fails as a whole, if the regions leave much of it out."""

    @property
    def around(self) -> Region | None:
        """That of the minimal case, where it was the only one looked for."""
        return self.regions[0] if self.regions else None

    def contains(self, space: CaseSpace, rows: Ints) -> Bools:
        """(n,) which canonical rows are in one of the regions."""
        return _in_any(self.regions, Columns(space, rows))


def add_hooks(made: cattrs.Converter) -> None:
    """Let a strict converter write and read regions."""
    by_name(made, How)
    tagged_union(made, Atom, "atom")

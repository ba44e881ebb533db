"""What follows a failure: its minimal case, the region around it, blame and contrast."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from typing import Final

import attrs
import hypothesis
import numpy as np

from joulecheck.campaign.beside import Apart, Beside
from joulecheck.campaign.blame import Evidence, Fix, blame, fix_of
from joulecheck.campaign.contrast import nearest_passing
from joulecheck.campaign.order import Plainness
from joulecheck.campaign.reduce import LAZY_LIMIT, Reduced, reduce
from joulecheck.campaign.regions.figures import figures_of
from joulecheck.campaign.regions.generalise import generalise
from joulecheck.campaign.regions.outline import Draws, outline
from joulecheck.campaign.shrink import shrink
from joulecheck.case import AnyCase
from joulecheck.counterexample import Blame, Contrast, Counterexample, numbers_of
from joulecheck.errors import OutsideSpace, UnknownName
from joulecheck.model import Subject
from joulecheck.property import Property
from joulecheck.region import Generalised, Region
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Bools, Floats, Ints

STARTS: Final = 3
"""Failures that are made minimal to find another cause beside a known one."""

SHRINK_LIMIT: Final = 2000
"""Cases that Hypothesis may ask of a vectorised model; others are asked fewer."""

REGION_LIMIT: Final = 40_000
"""Cases that the search for a region may ask of a vectorised model."""

LAZY_REGION_LIMIT: Final = 1500
"""The same of a model without a batch path, or of a law that asks case by case."""

SEEN: Final = 2048
"""Fresh cases of a vectorised model that blame and coverage are judged by."""

COVERED: Final = 0.99
"""Share of the failures seen from which regions say enough of them."""

LAZY_SEEN: Final = 64
"""The same of another model."""


class FollowUp:
    """Finds out what is behind the failures of one law on one model."""

    def __init__(  # noqa: PLR0913 - what is known of a pair
        self,
        law: Property,
        model: Subject,
        random: np.random.Generator,
        *,
        known: Sequence[Region] = (),
        fixes: Sequence[Fix] = (),
        alike: Sequence[Fix] = (),
        apart: Apart | None = None,
    ) -> None:
        """Prepare it.

        Args:
            law: what is violated.
            model: by which model.
            random: the random numbers; the results depend on nothing else.
            known: where failures are known: what is minimal lies outside.
            fixes: repairs of known failures: none of them mends what is minimal.
            alike: other such repairs: no region is looked for where one is best again.
            apart: which rows are looked at, if not all are.
        """
        self.law = law
        self.model = model
        self.space: CaseSpace = law.space(model)
        self.random = random
        self.known = known
        self.fixes = fixes
        self.alike = alike
        self.apart = apart
        self.in_bulk = model.vectorised and law.thinning == 1

    def counterexample(self, failing: Ints, *, explain: bool) -> Counterexample:
        """The minimal case of the first of some failing rows, and what is behind it.

        Args:
            failing: (n, width) rows; the first fails on the scalar path too.
            explain: whether to look for its region.
        """
        return self.explained(self._minimal(failing[0]), failing, region=explain)

    def _minimal(self, failing: Ints) -> Counterexample:
        """The minimal case of a row, with nothing said of it."""
        row = failing.tolist()
        reduced = self._reduced(self._shrunk(row))
        if not self._fails(self.space.build(reduced.row)):  # the paths disagree
            reduced = Reduced(tuple(row), reduced.minimality, 0)
        case = self.space.build(reduced.row)
        return Counterexample(
            model=self.model.name,
            property=self.law.id,
            case=case,
            genes=reduced.row,
            margin=self.law.margin_of(self.model, case),
            numbers=numbers_of(self.model, case),
            minimality=reduced.minimality,
            versions=versions(),
        )

    def beside(self, first: Counterexample, failing: Ints) -> Counterexample | None:
        """What fails for another reason than a counterexample that cannot be left out.

        Args:
            first: what has neither a region nor a repair of all that fails.
            failing: (n, width) rows that fail.

        Returns:
            None if nothing can be told from it.
        """
        seen = self._seen(failing)
        known = (*self.fixes, *self.alike)
        left = unrepaired(known, self.law, self.model, self.space, seen.failing)
        seen = attrs.evolve(seen, failing=seen.failing[left])
        for way in Beside(self.law, self.model, first.genes, seen).ways():
            rows = seen.failing[way.apart(seen.failing)]
            other = FollowUp(
                self.law,
                self.model,
                self.random,
                known=self.known,
                fixes=known,
                apart=way.apart,
            )
            for row in other._starts(rows):
                found = other._minimal(row)
                if way.tells(found.genes):
                    return other.explained(found, rows)
        return None

    def _starts(self, rows: Ints) -> Iterator[Ints]:
        """A few rows far apart that fail on the scalar path too."""
        order = Plainness.of(self.space, rows).order()
        ends = np.linspace(0, max(0, len(order) - 1), STARTS).astype(np.int64)
        for index in dict.fromkeys(order[ends].tolist() if len(order) else ()):
            if self._fails(self.space.build(rows[index].tolist())):
                yield rows[index]

    def explained(
        self, found: Counterexample, failing: Ints, *, region: bool = True
    ) -> Counterexample:
        """The counterexample with its blame and contrast, and its region if asked for.

        Args:
            found: its genes are a row of the space that fails.
            failing: (n, width) other rows that fail.
            region: whether to look for it.
        """
        seen = self._seen(failing)
        found = attrs.evolve(found, blame=self._blame(found.case, seen))
        if region and not self._is_alike(found):
            around = self._region(found.genes, seen.failing)
            found = attrs.evolve(found, region=self._outlined(around))
            within = self._inside(around, seen.failing)
            if not within.all():  # the others may have another cause
                some = Evidence(seen.failing[within], seen.passing)
                found = attrs.evolve(found, blame=self._blame(found.case, some))
        return attrs.evolve(found, contrast=self._contrast(found.genes))

    def _blame(self, case: AnyCase, seen: Evidence) -> Blame:
        return blame(self.law, self.model, self.space, case, seen)

    def _is_alike(self, found: Counterexample) -> bool:
        """Whether what repairs it is known to repair other failures of the model."""
        fix = fix_of(found)
        return fix is not None and any(fix.is_like(other) for other in self.alike)

    def region_around(self, case: AnyCase, failing: Ints) -> Region | None:
        """The region of a failing case, or None if none is found.

        Args:
            case: of the space.
            failing: (n, width) rows that fail.
        """
        row = self.space.genes_of(case)
        return self._region(row, self._seen(failing).failing).around

    def _seen(self, failing: Ints) -> Evidence:
        """The failing rows, and fresh ones that fail or hold; none in a known region."""
        size = SEEN if self.model.vectorised else LAZY_SEEN
        fresh = self.space.sample(self.random, max(1, size // self.law.thinning))
        fresh = fresh[~inside_any(self.known, self.space, fresh)]
        margins = self._margins(fresh)
        more = fresh[margins < 0]
        more = more[self._unrepaired(more)]
        more = more[self._apart(more)]
        return Evidence(np.concatenate([failing, more]), fresh[margins >= 0])

    def _region(self, row: Sequence[int], failing: Ints) -> Generalised:
        found = generalise(
            self.space,
            self._fail,
            row,
            failing,
            self.random,
            self.model.machine.quanta,
            vectorised=self.in_bulk,
            limit=REGION_LIMIT if self.in_bulk else LAZY_REGION_LIMIT,
            most=1,
        )
        minimal = np.array([row], dtype=np.int64)
        if found.regions and not found.contains(self.space, minimal)[0]:
            return attrs.evolve(found, regions=(), coverage=0.0)  # another failure's
        return found

    def _outlined(self, around: Generalised) -> Generalised:
        """With an outline of all failures, where the regions leave some of them out."""
        if not self.in_bulk or around.coverage >= COVERED:
            return around
        draws = Draws(
            space=self.space,
            fails=self._fail,
            known=lambda rows: inside_any(self.known, self.space, rows),
            rng=self.random,
            told=figures_of(self.model),
        )
        return attrs.evolve(around, outline=outline(draws, around.regions))

    def _inside(self, around: Generalised | None, rows: Ints) -> Bools:
        if around is None or not around.regions:
            return np.ones(len(rows), dtype=bool)
        return around.contains(self.space, rows)

    def _contrast(self, row: Sequence[int]) -> Contrast | None:
        """The nearest case that holds, on the scalar path too."""
        near = nearest_passing(
            self.space, row, self._margins, vectorised=self.model.vectorised
        )
        if near is None:
            return None
        case = self.space.build(near)
        margin = self.law.margin_of(self.model, case)
        if not margin >= 0:
            return None
        return Contrast(case=case, margin=margin, numbers=numbers_of(self.model, case))

    def _margins(self, rows: Ints) -> Floats:
        return self.law.checked_margin(self.model, self.space.batch(rows))

    def _fail(self, rows: Ints) -> Bools:
        """Which rows fail, and not for a known reason."""
        fails = self._margins(rows) < 0
        if self.fixes and fails.any():
            fails[fails] = self._unrepaired(rows[fails])
        return fails

    def _unrepaired(self, rows: Ints) -> Bools:
        return unrepaired(self.fixes, self.law, self.model, self.space, rows)

    def _fail_anew(self, rows: Ints) -> Bools:
        """Which rows fail so, and lie in no known region."""
        fails = self._fail(rows)
        if self.known and fails.any():
            fails[fails] = ~inside_any(self.known, self.space, rows[fails])
        if self.apart is not None and fails.any():
            fails[fails] = self._apart(rows[fails])
        return fails

    def _apart(self, rows: Ints) -> Bools:
        return np.ones(len(rows), dtype=bool) if self.apart is None else self.apart(rows)

    def _fails(self, case: AnyCase) -> bool:
        """Whether a case fails on the scalar path, and is not known to."""
        if not self.law.margin_of(self.model, case) < 0:
            return False
        if not self.known and not self.fixes and self.apart is None:
            return True
        try:
            row = np.array([self.space.genes_of(case)], dtype=np.int64)
        except OutsideSpace:
            return False
        outside = not inside_any(self.known, self.space, row)[0]
        return outside and bool(self._unrepaired(row)[0]) and bool(self._apart(row)[0])

    def _shrunk(self, row: Sequence[int]) -> Sequence[int]:
        limit = SHRINK_LIMIT if self.model.vectorised else LAZY_LIMIT
        shrunk = shrink(self.space, row, self._fails, limit=limit)
        try:
            return self.space.genes_of(shrunk)
        except OutsideSpace:  # Hypothesis drew a case that has no canonical genes
            return row

    def _reduced(self, row: Sequence[int]) -> Reduced:
        return reduce(
            self.space,
            row,
            self._fail_anew,
            vectorised=self.model.vectorised,
            thinning=self.law.thinning,
        )


def inside_any(regions: Iterable[Region], space: CaseSpace, rows: Ints) -> Bools:
    """(n,) which rows lie in one of some regions, as far as these speak of the space."""
    inside = np.zeros(len(rows), dtype=bool)
    for region in regions:
        try:
            inside |= region.contains(space, rows)
        except UnknownName:  # a region of another machine's space
            continue
    return inside


def unrepaired(
    fixes: Iterable[Fix], law: Property, model: Subject, space: CaseSpace, rows: Ints
) -> Bools:
    """(n,) which failing rows no fix mends."""
    left = np.ones(len(rows), dtype=bool)
    for fix in fixes:
        if left.any():
            left[left] = ~fix.repairs(law, model, space.batch(rows[left]))
    return left


def versions() -> dict[str, str]:
    """Of what a counterexample may depend on."""
    return {
        "joulecheck": version("joulecheck"),
        "python": platform.python_version(),
        "hypothesis": hypothesis.__version__,
        "numpy": np.__version__,
    }

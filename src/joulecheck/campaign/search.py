"""One unit of a campaign: one law asked of one model over some of its cases."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from typing import Final

import attrs
import hypothesis
import numpy as np

from joulecheck.campaign.blame import Evidence, blame
from joulecheck.campaign.contrast import nearest_passing
from joulecheck.campaign.memory import keep_freed_memory
from joulecheck.campaign.order import Plainness
from joulecheck.campaign.reduce import LAZY_LIMIT, Reduced, reduce
from joulecheck.campaign.regions.generalise import generalise
from joulecheck.campaign.shrink import shrink
from joulecheck.case import AnyCase
from joulecheck.counterexample import Contrast, Counterexample, numbers_of
from joulecheck.errors import OutsideSpace
from joulecheck.model import Subject
from joulecheck.property import Property
from joulecheck.region import Generalised
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Bools, Floats, Ints

BATCH: Final = 8192
"""Cases screened in one call of a vectorised model."""

SCALAR_BATCH: Final = 64
"""Cases between two looks at the clock of a model without a batch path."""

CONFIRMED: Final = 8
"""Screened failures of a batch that are tried on the scalar path, plainest first."""

REGIONS: Final = 1
"""Purpose of random numbers: to search for regions."""

FOLLOW_UP: Final = -1
"""Stands for a batch's number while a failure is confirmed and made minimal."""

SHRINK_LIMIT: Final = 2000
"""Cases that Hypothesis may ask of a vectorised model; others are asked fewer."""

REGION_LIMIT: Final = 400_000
"""Cases that the search for regions may ask of a vectorised model."""

LAZY_REGION_LIMIT: Final = 1500
"""The same of a model without a batch path, or of a law that asks case by case."""


@attrs.frozen
class Unit:
    """What to search: plain data, so that any process can do it."""

    model: str
    property: str
    seed: int
    epoch: int
    cases: int
    exempt: bool = False
    """Whether one failing case is enough, for the model says that there are some."""


@attrs.frozen(kw_only=True)
class Searched:
    """What a unit found."""

    unit: Unit
    checks: int
    """Cases asked."""
    in_domain: int
    """Those of which the law says something."""
    least_margin: float
    """NaN if none was in the domain."""
    seconds: float
    counterexample: Counterexample | None = None
    screened: AnyCase | None = None
    """The failing case as it was drawn, before it was made minimal."""
    seconds_to_minimal: float = 0.0
    """From the first failing case to the minimal one."""
    unconfirmed: AnyCase | None = None
    """A case that failed in a batch and held on the scalar path."""


def generator(unit: Unit, *purpose: int) -> np.random.Generator:
    """The random numbers of a unit: its seed, model, property and epoch, no more.

    Another purpose than to draw its cases has numbers of its own.
    """
    key = hashlib.sha256(f"{unit.model}\0{unit.property}".encode()).digest()
    words = np.frombuffer(key[:16], dtype="<u4").tolist()
    spawn_key = (*words, unit.epoch, *purpose)
    return np.random.default_rng(np.random.SeedSequence(unit.seed, spawn_key=spawn_key))


def checks_in(cases: int, law: Property) -> int:
    """How many of a unit's cases a law checks: fewer if each costs it a scalar call."""
    return max(1, cases // law.thinning) if cases else 0


def batches(unit: Unit, model: Subject, law: Property) -> Iterator[tuple[int, Ints]]:
    """The batches of a unit, numbered: the same rows whenever they are drawn.

    They do not depend on which path of the model is asked.
    """
    random, space = generator(unit), law.space(model)
    left = checks_in(unit.cases, law)
    one_call = BATCH if model.in_batches.vectorised else SCALAR_BATCH
    for number in range(-(-left // one_call)):
        yield number, space.sample(random, min(one_call, left - number * one_call))


def search(  # noqa: PLR0913 - what a search is given
    unit: Unit,
    model: Subject,
    law: Property,
    *,
    deadline: float | None = None,
    on_batch: Callable[[int], None] = lambda _: None,
    regions: bool = True,
) -> Searched:
    """Screen the unit's cases until one fails; make it minimal, and find its region.

    Args:
        unit: the cases: how many, and from which seed.
        model: the model of that name.
        law: the property of that id.
        deadline: `time.monotonic()` at which to stop; only without one is the result
            reproducible.
        on_batch: called with the number of each batch before it is asked, and with -1
            when a failure is followed up.
        regions: whether to look for the region in which the property fails.

    Raises:
        NotOffered: the law has no case for this model.
        HarnessError: the harness contradicts itself.
    """
    keep_freed_memory()
    return _Search(unit, model, law, deadline).run(on_batch, regions=regions)


class _Search:
    def __init__(
        self, unit: Unit, model: Subject, law: Property, deadline: float | None
    ) -> None:
        self.unit = unit
        self.model = model
        self.law = law
        self.deadline = deadline
        self.space: CaseSpace = law.space(model)
        self.checks = 0
        self.in_domain = 0
        self.least = np.nan
        self.unconfirmed: AnyCase | None = None
        self.seen = Evidence.none(self.space)

    def run(self, on_batch: Callable[[int], None], *, regions: bool) -> Searched:
        started = time.monotonic()
        failing: Ints | None = None
        for number, rows in batches(self.unit, self.model, self.law):
            if self._out_of_time():
                break
            on_batch(number)
            failing = self._screen(rows, on_batch)
            if failing is not None:
                break
        found_at = time.monotonic()
        found = None
        if failing is not None and not self.unit.exempt:
            found = self._counterexample(failing)
        ended = time.monotonic()
        if found is not None and regions and not self._out_of_time():
            found = attrs.evolve(found, region=self._region(found.genes))
        return Searched(
            unit=self.unit,
            checks=self.checks,
            in_domain=self.in_domain,
            least_margin=float(self.least),
            seconds=ended - started,
            counterexample=found,
            screened=None if failing is None else self.space.build(failing.tolist()),
            seconds_to_minimal=0.0 if failing is None else ended - found_at,
            unconfirmed=self.unconfirmed,
        )

    def _out_of_time(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _screen(self, rows: Ints, on_batch: Callable[[int], None]) -> Ints | None:
        """Ask a batch; the plainest of its rows that fails on the scalar path too."""
        margins = self.law.checked_margin(self.model, self.space.batch(rows))
        known = ~np.isnan(margins)
        self.checks += len(rows)
        self.in_domain += int(known.sum())
        if known.any():
            self.least = np.fmin(self.least, margins[known].min())
        failing = rows[margins < 0]
        self.seen = Evidence(failing, rows[margins >= 0])
        on_batch(FOLLOW_UP)
        if not len(failing):
            return None
        for index in Plainness.of(self.space, failing).order()[:CONFIRMED]:
            case = self.space.build(failing[index].tolist())
            if self._fails(case):
                found: Ints = failing[index]
                return found
            self.unconfirmed = case
        return None

    def _fails(self, case: AnyCase) -> bool:
        return self.law.margin_of(self.model, case) < 0

    def _fail(self, rows: Ints) -> Bools:
        return self._margins(rows) < 0

    def _counterexample(self, row: Ints) -> Counterexample:
        reduced = self._reduced(self._shrunk(row.tolist()))
        if not self._fails(self.space.build(reduced.row)):  # the paths disagree
            reduced = Reduced(tuple(row.tolist()), reduced.minimality, 0)
        case = self.space.build(reduced.row)
        return Counterexample(
            model=self.model.name,
            property=self.law.id,
            case=case,
            genes=reduced.row,
            margin=self.law.margin_of(self.model, case),
            numbers=numbers_of(self.model, case),
            seed=self.unit.seed,
            minimality=reduced.minimality,
            blame=blame(self.law, self.model, self.space, case, self.seen),
            contrast=self._contrast(reduced.row),
            versions=versions(),
        )

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
            self._fail,
            vectorised=self.model.vectorised,
            thinning=self.law.thinning,
        )

    def _region(self, row: Sequence[int]) -> Generalised:
        in_bulk = self.model.vectorised and self.law.thinning == 1
        return generalise(
            self.space,
            self._fail,
            row,
            self.seen.failing,
            generator(self.unit, REGIONS),
            self.model.machine.quanta,
            vectorised=in_bulk,
            limit=REGION_LIMIT if in_bulk else LAZY_REGION_LIMIT,
        )


def versions() -> dict[str, str]:
    """Of what a counterexample may depend on."""
    return {
        "joulecheck": version("joulecheck"),
        "python": platform.python_version(),
        "hypothesis": hypothesis.__version__,
        "numpy": np.__version__,
    }

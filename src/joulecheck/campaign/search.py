"""One unit of a campaign: one law asked of one model over some of its cases."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from typing import Any, Final

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
from joulecheck.region import Region
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Bools, Floats, Ints

BATCH: Final = 8192
"""Cases screened in one call of a vectorised model."""

SCALAR_BATCH: Final = 64
"""Cases between two looks at the clock of a model without a batch path."""

CONFIRMED: Final = 8
"""Screened failures of a batch that are tried on the scalar path, plainest first."""

FOLLOW_UP: Final = -1
"""Stands for a batch's number while a failure is confirmed and made minimal."""

KEPT: Final = 64
"""Failing rows of a batch that are kept."""

SEEN: Final = 2048
"""Fresh cases of a vectorised model that are asked for the sake of blame."""

FRESH: Final = 0x5EED
"""Tells the seed of such cases from that of the search."""

SHRINK_LIMIT: Final = 2000
"""Cases that Hypothesis may ask of a vectorised model; others are asked fewer."""


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
    known: tuple[Region, ...] = ()
    """Where failures are known: cases inside are left out."""
    first_batch: int = 0
    """Where to go on; that batch was asked before, and is not counted again."""
    follow: tuple[tuple[int, ...], ...] = ()
    """Failing rows, the first confirmed: instead of searching, make that one minimal."""


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
    masked: int = 0
    """Cases left out, for failures are known there."""
    failing: tuple[tuple[int, ...], ...] = ()
    """Rows that failed in the last batch, a confirmed one first."""
    batch: int = 0
    """The number of that batch."""
    counterexample: Counterexample | None = None
    unconfirmed: AnyCase | None = None
    """A case that failed in a batch and held on the scalar path."""


def generator(unit: Unit) -> np.random.Generator:
    """The random numbers of a unit: its seed, model, property and epoch, no more."""
    key = hashlib.sha256(f"{unit.model}\0{unit.property}".encode()).digest()
    words = np.frombuffer(key[:16], dtype="<u4").tolist()
    sequence = np.random.SeedSequence(unit.seed, spawn_key=(*words, unit.epoch))
    return np.random.default_rng(sequence)


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


def search(
    unit: Unit,
    model: Subject,
    law: Property,
    *,
    deadline: float | None = None,
    on_batch: Callable[[int], None] = lambda _: None,
) -> Searched:
    """Screen the unit's cases until one fails, or make one minimal that is known to fail.

    Args:
        unit: the cases: how many, and from which seed.
        model: the model of that name.
        law: the property of that id.
        deadline: `time.monotonic()` at which to stop; only without one is the result
            reproducible.
        on_batch: called with the number of each batch before it is asked, and with -1
            when a failure is followed up.

    Raises:
        NotOffered: the law has no case for this model.
        HarnessError: the harness contradicts itself.
    """
    keep_freed_memory()
    return _Search(unit, model, law, deadline).run(on_batch)


def search_and_minimise(
    unit: Unit,
    model: Subject,
    law: Property,
    *,
    on_batch: Callable[[int], None] = lambda _: None,
) -> Searched:
    """Screen the unit's cases until one fails, and make that one minimal as well."""
    found = search(unit, model, law, on_batch=on_batch)
    if not found.failing:
        return found
    after = attrs.evolve(unit, follow=found.failing)
    followed = search(after, model, law, on_batch=on_batch)
    return attrs.evolve(found, counterexample=followed.counterexample)


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
        self.masked = 0
        self.unconfirmed: AnyCase | None = None

    def run(self, on_batch: Callable[[int], None]) -> Searched:
        started = time.monotonic()
        if self.unit.follow:
            on_batch(FOLLOW_UP)
            found = self._counterexample(np.array(self.unit.follow, dtype=np.int64))
            return self._searched(started, counterexample=found)
        for number, rows in batches(self.unit, self.model, self.law):
            if number < self.unit.first_batch:
                continue
            if self._out_of_time():
                break
            on_batch(number)
            counted = number > self.unit.first_batch or not self.unit.first_batch
            failing = self._screen(self._unknown(rows), on_batch, counted=counted)
            if len(failing):
                kept = tuple(map(tuple, failing[:KEPT].tolist()))
                return self._searched(started, failing=kept, batch=number)
        return self._searched(started)

    def _searched(self, started: float, **found: Any) -> Searched:  # noqa: ANN401 - its other fields
        return Searched(
            unit=self.unit,
            checks=self.checks,
            in_domain=self.in_domain,
            least_margin=float(self.least),
            seconds=time.monotonic() - started,
            masked=self.masked,
            unconfirmed=self.unconfirmed,
            **found,
        )

    def _unknown(self, rows: Ints) -> Ints:
        """The rows that lie in no known region."""
        inside = np.zeros(len(rows), dtype=bool)
        for region in self.unit.known:
            inside |= region.contains(self.space, rows)
        self.masked += int(inside.sum())
        return rows[~inside] if inside.any() else rows

    def _out_of_time(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _screen(
        self, rows: Ints, on_batch: Callable[[int], None], *, counted: bool
    ) -> Ints:
        """Ask a batch: the rows that fail, first one that does on the scalar path too."""
        margins = self._margins(rows)
        known = ~np.isnan(margins)
        if counted:
            self.checks += len(rows)
            self.in_domain += int(known.sum())
        if known.any():
            self.least = np.fmin(self.least, margins[known].min())
        failing = rows[margins < 0]
        on_batch(FOLLOW_UP)
        order = Plainness.of(self.space, failing).order()
        for index in order[:CONFIRMED]:
            case = self.space.build(failing[index].tolist())
            if self._fails(case):
                others: Ints = failing[order[order != index]]
                return np.concatenate([failing[index : index + 1], spread(others)])
            self.unconfirmed = case
        return failing[:0]

    def _fails(self, case: AnyCase) -> bool:
        return self.law.margin_of(self.model, case) < 0

    def _fail(self, rows: Ints) -> Bools:
        return self._margins(rows) < 0

    def _counterexample(self, failing: Ints) -> Counterexample:
        row = failing[0]
        reduced = self._reduced(self._shrunk(row.tolist()))
        if not self._fails(self.space.build(reduced.row)):  # the paths disagree
            reduced = Reduced(tuple(row.tolist()), reduced.minimality, 0)
        case = self.space.build(reduced.row)
        seen = self._seen(failing)
        return Counterexample(
            model=self.model.name,
            property=self.law.id,
            case=case,
            genes=reduced.row,
            margin=self.law.margin_of(self.model, case),
            numbers=numbers_of(self.model, case),
            seed=self.unit.seed,
            minimality=reduced.minimality,
            blame=blame(self.law, self.model, self.space, case, seen),
            contrast=self._contrast(reduced.row),
            region=self._region(reduced.row, seen.failing),
            versions=versions(),
        )

    def _seen(self, failing: Ints) -> Evidence:
        """The failing rows, and those of a fresh batch that hold."""
        size = SEEN if self.model.vectorised else SCALAR_BATCH
        fresh = self._unknown(self.space.sample(self._fresh(), size // self.law.thinning))
        margins = self._margins(fresh)
        return Evidence(np.concatenate([failing, fresh[margins < 0]]), fresh[margins >= 0])

    def _region(self, row: Sequence[int], failing: Ints) -> Region | None:
        """Where it fails around a minimal row, if that can be told."""
        found = generalise(
            self.space,
            self._fail,
            row,
            failing,
            self._fresh(),
            self.model.machine.quanta,
            vectorised=self.model.vectorised,
        )
        minimal = np.array([row], dtype=np.int64)
        around = (r for r in found.regions if r.contains(self.space, minimal)[0])
        return next(around, None)

    def _fresh(self) -> np.random.Generator:
        """Random numbers apart from those that screening draws."""
        return generator(attrs.evolve(self.unit, seed=self.unit.seed ^ FRESH))

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
        return reduce(self.space, row, self._fail, vectorised=self.model.vectorised)


def spread(rows: Ints) -> Ints:
    """Some of many rows, evenly from first to last."""
    if len(rows) <= KEPT:
        return rows
    chosen: Ints = rows[np.linspace(0, len(rows) - 1, KEPT).astype(np.int64)]
    return chosen


def versions() -> dict[str, str]:
    """Of what a counterexample may depend on."""
    return {
        "joulecheck": version("joulecheck"),
        "python": platform.python_version(),
        "hypothesis": hypothesis.__version__,
        "numpy": np.__version__,
    }

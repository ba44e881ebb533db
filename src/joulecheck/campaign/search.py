"""One unit of a campaign: one law asked of one model over some of its cases."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from math import isnan
from typing import Any, Final

import attrs
import numpy as np

from joulecheck.campaign.blame import Evidence, Fix, blame, same_culprit, telling_fix_of
from joulecheck.campaign.follow_up import FollowUp, inside_any, unrepaired
from joulecheck.campaign.memory import keep_freed_memory
from joulecheck.campaign.order import Plainness
from joulecheck.case import AnyCase
from joulecheck.counterexample import Blame, Counterexample
from joulecheck.errors import JoulecheckError
from joulecheck.model import Subject
from joulecheck.property import Property
from joulecheck.region import Region
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Floats, Ints

BATCH: Final = 8192
"""Cases screened in one call of a vectorised model."""

SCALAR_BATCH: Final = 64
"""Cases between two looks at the clock of a model without a batch path."""

CONFIRMED: Final = 8
"""Screened failures of a batch that are tried on the scalar path, plainest first."""

KEPT: Final = 64
"""Failing rows of a batch that are kept."""

BEHIND: Final = 1
"""Purpose of random numbers: to find out what is behind a failure."""

FOLLOW_UP: Final = -1
"""Stands for a batch's number while a failure is confirmed and made minimal."""


@attrs.frozen
class Counts:
    """Cases of a batch."""

    checks: int = 0
    in_domain: int = 0
    masked: int = 0


@attrs.frozen
class Suspect:
    """A cause that is known of other models, and may be behind a failure of this one."""

    id: str
    """Of its counterexample."""
    case: AnyCase
    blame: Blame | None
    """What its violation hangs on; None where the case alone decides."""
    fix: Fix | None = None
    """What repairs all its failures, if one change does."""


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
    fixes: tuple[Fix, ...] = ()
    """Repairs of known failures: a failure that one of them mends is known as well."""
    alike: tuple[Fix, ...] = ()
    """Repairs of failures that are known by their regions."""
    suspects: tuple[Suspect, ...] = ()
    """What may be behind a failure; one that is ends the search."""
    first_batch: int = 0
    """Where to begin."""
    counted: Counts = Counts()
    """What was counted of the first batch when it was asked before."""
    follow: tuple[tuple[int, ...], ...] = ()
    """Failing rows, the first confirmed: instead of searching, make that one minimal."""
    around: AnyCase | None = None
    """With rows to follow: a failing case whose region is asked for, and no more."""
    cause: str | None = None
    """The id of the counterexample that the case is of."""
    explain: bool = True
    """Whether to look for the region of what is followed."""


@attrs.frozen(kw_only=True)
class Searched:
    """What a unit found."""

    unit: Unit
    checks: int = 0
    """Cases asked."""
    in_domain: int = 0
    """Those of which the law says something."""
    least_margin: float = float("nan")
    """NaN if none was in the domain."""
    seconds: float = 0.0
    masked: int = 0
    """Cases left out, for failures are known there."""
    failing: tuple[tuple[int, ...], ...] = ()
    """Rows that failed in the last batch, a confirmed one first."""
    batch: int = 0
    """The number of that batch."""
    counted: Counts = Counts()
    """What was counted of that batch."""
    behind: tuple[str, ...] = ()
    """The suspects that are behind failures of this model."""
    cleared: tuple[str, ...] = ()
    """Those that are not."""
    counterexample: Counterexample | None = None
    beside: Counterexample | None = None
    """What fails for another reason, where the first one may hide it."""
    region: Region | None = None
    """That of the case that was asked for."""
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


def unknown(unit: Unit, space: CaseSpace, rows: Ints) -> Ints:
    """The rows that lie in no region that a unit knows."""
    inside = inside_any(unit.known, space, rows)
    return rows[~inside] if inside.any() else rows


def search(
    unit: Unit,
    model: Subject,
    law: Property,
    *,
    deadline: float | None = None,
    on_batch: Callable[[int], None] = lambda _: None,
) -> Searched:
    """Screen the unit's cases until one fails, or find out what is behind a failure.

    Args:
        unit: the cases: how many, and from which seed; or what to follow up.
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
    return _Search(unit, model, law, deadline, on_batch).run()


def search_and_minimise(
    unit: Unit,
    model: Subject,
    law: Property,
    *,
    on_batch: Callable[[int], None] = lambda _: None,
    explain: bool = False,
) -> Searched:
    """Screen the unit's cases until one fails, and make that one minimal as well."""
    found = search(unit, model, law, on_batch=on_batch)
    if not found.failing:
        return found
    after = attrs.evolve(unit, follow=found.failing, explain=explain)
    followed = search(after, model, law, on_batch=on_batch)
    return attrs.evolve(found, counterexample=followed.counterexample)


class _Search:
    def __init__(
        self,
        unit: Unit,
        model: Subject,
        law: Property,
        deadline: float | None,
        on_batch: Callable[[int], None],
    ) -> None:
        self.unit = unit
        self.model = model
        self.law = law
        self.deadline = deadline
        self.on_batch = on_batch
        self.space: CaseSpace = law.space(model)
        again = Counts() if unit.follow else unit.counted
        self.checks = -again.checks
        self.in_domain = -again.in_domain
        self.masked = -again.masked
        self.least = np.nan
        self.unconfirmed: AnyCase | None = None

    def run(self) -> Searched:
        started = time.monotonic()
        found = self._followed() if self.unit.follow else self._screened()
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

    def _followed(self) -> dict[str, Any]:
        self.on_batch(FOLLOW_UP)
        failing = np.array(self.unit.follow, dtype=np.int64)
        random = generator(self.unit, BEHIND)
        up = FollowUp(
            self.law,
            self.model,
            random,
            known=self.unit.known,
            fixes=self.unit.fixes,
            alike=self.unit.alike,
        )
        if self.unit.around is not None:
            return {"region": up.region_around(self.unit.around, failing)}
        explain = self.unit.explain and not self._out_of_time()
        found = up.counterexample(failing, explain=explain)
        beside = up.beside(found, failing) if self._may_hide_others(found) else None
        seed = self.unit.seed
        return {
            "counterexample": attrs.evolve(found, seed=seed),
            "beside": beside if beside is None else attrs.evolve(beside, seed=seed),
        }

    def _may_hide_others(self, found: Counterexample) -> bool:
        """Whether nothing tells all of its failures, and none was like that before."""
        if self.unit.fixes or found.region is None:
            return False
        return found.region.around is None and telling_fix_of(found) is None

    def _screened(self) -> dict[str, Any]:
        for number, rows in batches(self.unit, self.model, self.law):
            if number < self.unit.first_batch:
                continue
            if self._out_of_time():
                break
            self.on_batch(number)
            asked = unknown(self.unit, self.space, rows)
            margins = self.law.checked_margin(self.model, self.space.batch(asked))
            counted = self._count(len(rows), margins)
            self.on_batch(FOLLOW_UP)
            failing = self._confirmed(self._unrepaired(asked[margins < 0]))
            if len(failing):
                seen = Evidence(failing, asked[margins >= 0])
                return {
                    "failing": tuple(map(tuple, failing.tolist())),
                    "batch": number,
                    "counted": counted,
                    **self._suspected(seen),
                }
        return {}

    def _unrepaired(self, failing: Ints) -> Ints:
        left = unrepaired(self.unit.fixes, self.law, self.model, self.space, failing)
        return failing[left]

    def _count(self, drawn: int, margins: Floats) -> Counts:
        inside = ~np.isnan(margins)
        counted = Counts(len(margins), int(inside.sum()), drawn - len(margins))
        self.checks += counted.checks
        self.in_domain += counted.in_domain
        self.masked += counted.masked
        if counted.in_domain:
            self.least = np.fmin(self.least, margins[inside].min())
        return counted

    def _out_of_time(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _confirmed(self, failing: Ints) -> Ints:
        """Some of the failing rows, first one that fails on the scalar path too."""
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

    def _suspected(self, seen: Evidence) -> dict[str, Any]:
        """Which suspects are behind failures here, and which are not."""
        guilty = {one.id: self._is_behind(one, seen) for one in self.unit.suspects}
        return {
            "behind": tuple(name for name, is_so in guilty.items() if is_so),
            "cleared": tuple(name for name, is_so in guilty.items() if not is_so),
        }

    def _is_behind(self, suspect: Suspect, seen: Evidence) -> bool:
        """Whether its case fails here as well, and hangs on the same number.

        Of a case that says nothing here, its repair must mend what does fail.
        """
        try:
            margin = self.law.margin_of(self.model, suspect.case)
        except JoulecheckError:  # a case that this model is not asked
            margin = float("nan")
        if suspect.blame is None or margin >= 0:
            return margin < 0
        if isnan(margin):
            return self._mends(suspect, seen.failing)
        here = blame(self.law, self.model, self.space, suspect.case, seen)
        return same_culprit(here, suspect.blame)

    def _mends(self, suspect: Suspect, failing: Ints) -> bool:
        """Whether what repairs the suspect repairs all failing rows of this model."""
        if suspect.fix is None:
            return False
        fix = attrs.evolve(suspect.fix, case=self.space.build(failing[0].tolist()))
        return bool(fix.repairs(self.law, self.model, self.space.batch(failing)).all())


def spread(rows: Ints) -> Ints:
    """Some of many rows, evenly from first to last."""
    if len(rows) < KEPT:
        return rows
    chosen: Ints = rows[np.linspace(0, len(rows) - 1, KEPT - 1).astype(np.int64)]
    return chosen

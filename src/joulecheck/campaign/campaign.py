"""A campaign: properties x models x cases, as a sequence of events.

It goes round by round. A round gives every active pair one epoch of cases. What fails
is followed up at the end of a pass, one failure for each property and kind of model;
then the pairs that failed go on behind it, without the cases of its region. What a
round does depends on the seed, the pairs and the rounds before it alone, so that any
number of workers finds the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeGuard

import attrs
import numpy as np

from joulecheck.campaign.events import (
    CampaignFinished,
    CampaignStarted,
    CauseShared,
    CounterexampleFound,
    EpochFinished,
    Event,
    ModelFailed,
    Pair,
    PairSkipped,
    RoundFinished,
    StaleExemption,
    Tally,
    Unconfirmed,
)
from joulecheck.campaign.search import Searched, Unit, checks_in
from joulecheck.campaign.workers import Executor, Failed
from joulecheck.counterexample import Counterexample
from joulecheck.errors import NotOffered
from joulecheck.model import Subject
from joulecheck.property import Property
from joulecheck.region import Region

EPOCH: Final = 1 << 16
"""Cases of a vectorised model in one unit."""

SCALAR_EPOCH: Final = 128
"""Cases of another model in one unit: few, for a round of slow models takes minutes."""

MOST_FINDINGS: Final = 4
"""Of one pair in one campaign; it is searched no further then."""

UNBOUNDED: Final = 1 << 62


@attrs.frozen
class Plan:
    """Which properties are asked of which models, and which are not, and why."""

    pairs: tuple[Pair, ...]
    skipped: tuple[PairSkipped, ...]
    exempt: tuple[Pair, ...] = ()
    """Pairs that are skipped by the model's word alone: searched for one failure, without
    which the exemption is stale."""


def plan(models: Sequence[Subject], laws: Sequence[Property]) -> Plan:
    """Pair every model with every property that applies to it."""
    pairs: list[Pair] = []
    skipped: list[PairSkipped] = []
    exempt: list[Pair] = []
    for model in models:
        for law in laws:
            pair = Pair(model.name, law.id)
            why = _why_not(pair, model, law)
            if law.id in model.exemptions:
                reason = model.exemptions[law.id].reason
                skipped.append(PairSkipped(pair, exempt=True, reason=reason))
                exempt += [pair] if why is None else []
            elif why is None:
                pairs.append(pair)
            else:
                skipped.append(why)
    return Plan(tuple(pairs), tuple(skipped), tuple(exempt))


def _why_not(pair: Pair, model: Subject, law: Property) -> PairSkipped | None:
    """Why a property cannot be asked of a model, whatever it declares itself exempt of."""
    if missing := law.missing(model):
        how = " and ".join(offer.value for offer in missing)
        return PairSkipped(pair, exempt=False, reason=f"to offer it, {how}")
    try:
        law.space(model)
    except NotOffered as error:
        return PairSkipped(pair, exempt=False, reason=str(error))
    return None


@attrs.frozen(kw_only=True)
class Extent:
    """How much to search: cases a pair, or seconds in all."""

    cases: int | None = None
    budget: float | None = None
    first_epoch: int = 0
    """Where a named campaign goes on; only with a budget."""

    def checks_of(self, model: Subject, law: Property) -> int | None:
        """Cases that a pair checks in all; None for a budget of time."""
        if self.cases is None:
            return None
        epochs, rest = divmod(self.cases, _epoch_of(model))
        return epochs * checks_in(_epoch_of(model), law) + checks_in(rest, law)

    def cases_of(self, model: Subject, epoch: int) -> int:
        """Cases of a pair in an epoch; 0 when it has had all."""
        size = _epoch_of(model)
        total = UNBOUNDED if self.cases is None else self.cases
        return max(0, min(size, total - (epoch - self.first_epoch) * size))


def _epoch_of(model: Subject) -> int:
    return EPOCH if model.vectorised else SCALAR_EPOCH


class Kind(NamedTuple):
    """Models of one kind that violate one property may do so for one cause."""

    property: str
    architecture: str | None
    model: str
    """The name of its class."""


@attrs.define
class Cause:
    """A counterexample, and the models that fail in its region."""

    counterexample: Counterexample

    @property
    def region(self) -> Region | None:
        """Where it fails, if that is known."""
        return self.counterexample.region

    def fails_on(self, model: str) -> bool:
        """Whether that model was seen to fail there."""
        return model in {self.counterexample.model, *self.counterexample.also}

    def share(self, model: str) -> None:
        """Note that another model fails there too."""
        also = (*self.counterexample.also, model)
        self.counterexample = attrs.evolve(self.counterexample, also=also)


class Campaign:
    """Searches the pairs of a plan and yields what happens."""

    def __init__(
        self,
        models: Sequence[Subject],
        laws: Sequence[Property],
        *,
        seed: int,
        extent: Extent,
        executor: Executor,
    ) -> None:
        """Prepare it.

        Args:
            models: the systems under test.
            laws: the properties.
            seed: of all random numbers.
            extent: how much to search.
            executor: where the units run.
        """
        self._models = {model.name: model for model in models}
        self._laws = laws
        self._seed = seed
        self._extent = extent
        self._executor = executor
        self._tallies: dict[Pair, Tally] = {}
        self._exempt: dict[Pair, Tally] = {}
        self._laws_by_id = {law.id: law for law in laws}
        self._causes: dict[Kind, list[Cause]] = {}
        self._findings: dict[Pair, int] = {}
        self._ended: set[Pair] = set()
        self._planned_checks: int | None = None
        self._done = 0

    def run(self) -> Iterator[Event]:
        """Search, yielding events in an order that the seed decides."""
        started = time.monotonic()
        planned = plan(list(self._models.values()), self._laws)
        yield CampaignStarted(
            seed=self._seed,
            models=tuple(self._models),
            properties=tuple(law.id for law in self._laws),
            pairs=planned.pairs,
            cases=self._extent.cases,
            budget=self._extent.budget,
            first_epoch=self._extent.first_epoch,
        )
        yield from planned.skipped
        self._tallies = dict.fromkeys(planned.pairs, Tally())
        self._exempt = dict.fromkeys(planned.exempt, Tally())
        yield from self._rounds((*planned.pairs, *planned.exempt), started)
        for pair, tally in self._exempt.items():
            if tally.in_domain:
                yield StaleExemption(pair, tally)
        yield CampaignFinished(
            seed=self._seed,
            seconds=time.monotonic() - started,
            checks=self._done,
            tallies=tuple(self._tallies.items()),
        )

    def _rounds(self, pairs: Sequence[Pair], started: float) -> Iterator[Event]:
        budget = self._extent.budget
        deadline = None if budget is None else started + budget
        self._planned_checks = self._planned(pairs)
        active = list(pairs)
        epoch = self._extent.first_epoch
        while active and (deadline is None or time.monotonic() < deadline):
            units = [unit for pair in active if (unit := self._unit(pair, epoch)).cases]
            if not units:
                return
            yield from self._round(units, deadline)
            active = [pair for pair in active if pair not in self._ended]
            epoch += 1
            yield RoundFinished(self._seed, epoch)

    def _round(self, units: Sequence[Unit], deadline: float | None) -> Iterator[Event]:
        """One epoch of every pair: search, follow up what fails, and go on behind it."""
        while units:
            failing: list[Searched] = []
            for outcome in self._executor.run(units, deadline):
                yield from self._told(outcome)
                if self._is_new(outcome):
                    failing.append(outcome)
            yield from self._followed_up(failing)
            units = [unit for found in failing if (unit := self._going_on(found))]

    def _is_new(self, outcome: Searched | Failed) -> TypeGuard[Searched]:
        pair = _pair_of(outcome.unit)
        return (
            isinstance(outcome, Searched)
            and bool(outcome.failing)
            and pair not in self._ended
            and not outcome.unit.exempt
        )

    def _followed_up(self, failing: Sequence[Searched]) -> Iterator[Event]:
        """Make the first failure of each kind of model minimal, and look who shares it."""
        first: dict[Kind, Searched] = {}
        for found in failing:
            first.setdefault(self._kind(found.unit), found)
        units = [attrs.evolve(f.unit, follow=f.failing) for f in first.values()]
        for outcome in self._executor.run(units, None):
            pair = _pair_of(outcome.unit)
            if isinstance(outcome, Failed):
                yield from self._told(outcome)
                continue
            assert outcome.counterexample is not None  # noqa: S101 - it was followed up
            cause = Cause(outcome.counterexample)
            self._causes.setdefault(self._kind(outcome.unit), []).append(cause)
            self._findings[pair] = self._findings.get(pair, 0) + 1
            yield CounterexampleFound(outcome.counterexample, outcome.seconds)
        for found in failing:
            yield from self._shared(found)

    def _shared(self, found: Searched) -> Iterator[Event]:
        """Note the causes of other models in whose regions this one fails."""
        pair = _pair_of(found.unit)
        for cause in self._explaining(found):
            models = {cause.counterexample.model, *cause.counterexample.also}
            if pair.model not in models:
                cause.share(pair.model)
                yield CauseShared(cause.counterexample, pair)

    def _explaining(self, found: Searched) -> list[Cause]:
        """The known causes in whose regions some of the failing rows lie."""
        rows = np.array(found.failing, dtype=np.int64)
        space = self._laws_by_id[found.unit.property].space(self._models[found.unit.model])
        causes = self._causes.get(self._kind(found.unit), [])
        return [c for c in causes if c.region and c.region.contains(space, rows).any()]

    def _going_on(self, found: Searched) -> Unit | None:
        """The rest of a unit's cases, without those that are explained; None at its end."""
        pair = _pair_of(found.unit)
        known = tuple(c.region for c in self._explaining(found) if c.region is not None)
        new = [region for region in known if region not in found.unit.known]
        leader = any(
            c.counterexample.model == pair.model
            for c in self._causes.get(self._kind(found.unit), [])
        )
        if (leader and not new) or self._findings.get(pair, 0) >= MOST_FINDINGS:
            self._ended.add(pair)  # what was found has no region that could be left out
            return None
        return attrs.evolve(
            found.unit, known=(*found.unit.known, *new), first_batch=found.batch
        )

    def _kind(self, unit: Unit) -> Kind:
        """What models must have in common to share a cause."""
        model = self._models[unit.model]
        name = type(model.model).__name__
        return Kind(unit.property, model.machine.architecture, name)

    def _planned(self, pairs: Sequence[Pair]) -> int | None:
        """Cases that all pairs check, if none has a finding."""
        laws = self._laws_by_id
        each = [
            self._extent.checks_of(self._models[pair.model], laws[pair.property])
            for pair in pairs
        ]
        return None if self._extent.cases is None else sum(filter(None, each))

    def _unit(self, pair: Pair, epoch: int) -> Unit:
        cases = self._extent.cases_of(self._models[pair.model], epoch)
        exempt = pair in self._exempt
        unit = Unit(pair.model, pair.property, self._seed, epoch, cases, exempt=exempt)
        causes = self._causes.get(self._kind(unit), [])
        mine = [c.region for c in causes if c.region and c.fails_on(pair.model)]
        return attrs.evolve(unit, known=tuple(mine))

    def _told(self, outcome: Searched | Failed) -> Iterator[Event]:
        pair = _pair_of(outcome.unit)
        if isinstance(outcome, Failed):
            self._ended.add(pair)
            self._exempt.pop(pair, None)
            yield ModelFailed(pair, outcome.reason)
            if outcome.counterexample is not None:
                yield CounterexampleFound(outcome.counterexample, 0.0)
            return
        self._done += outcome.checks
        if pair in self._exempt:
            self._exempt[pair] = self._exempt[pair].plus(outcome)
            if outcome.failing:  # it does fail, as its model says
                self._ended.add(pair)
                del self._exempt[pair]
            return
        self._tallies[pair] = self._tallies[pair].plus(outcome)
        tally, planned = self._tallies[pair], self._planned_checks
        yield EpochFinished(pair, outcome, tally, self._done, planned)
        if outcome.unconfirmed is not None:
            yield Unconfirmed(pair, outcome.unconfirmed)


def _pair_of(unit: Unit) -> Pair:
    return Pair(unit.model, unit.property)

"""A campaign: properties x models x cases, as a sequence of events.

It goes round by round. A round gives every active pair one epoch of cases, some pairs
at a time. What fails among these is followed up together, one failure for each property
and kind of model; then the pairs that failed go on behind it, without the cases of its
region. What is known changes between such steps alone, and depends on the seed and the
pairs, so that any number of workers finds the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final, TypeGuard

import attrs

from joulecheck.campaign.causes import Causes, Kind
from joulecheck.campaign.events import (
    CampaignFinished,
    CampaignStarted,
    CauseShared,
    CounterexampleFound,
    EpochFinished,
    Event,
    ModelFailed,
    Pair,
    PairEnded,
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
from joulecheck.quantities import many

EPOCH: Final = 1 << 16
"""Cases of a vectorised model in one unit."""

SCALAR_EPOCH: Final = 128
"""Cases of another model in one unit: few, for a round of slow models takes minutes."""

TOGETHER: Final = 256
"""Pairs that are searched before what fails among them is followed up."""

MOST_FINDINGS: Final = 8
"""Causes of one pair's failures in one campaign; it is searched no further then."""

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


class Campaign:
    """Searches the pairs of a plan and yields what happens."""

    def __init__(  # noqa: PLR0913 - what a campaign is given
        self,
        models: Sequence[Subject],
        laws: Sequence[Property],
        *,
        seed: int,
        extent: Extent,
        executor: Executor,
        accepted: Sequence[Counterexample] = (),
        explain: bool = True,
    ) -> None:
        """Prepare it.

        Args:
            models: the systems under test.
            laws: the properties.
            seed: of all random numbers.
            extent: how much to search.
            executor: where the units run.
            accepted: known counterexamples, which are counted and not reported again.
            explain: whether to look for the region of each failure, and for what is
                behind it.
        """
        self._models = {model.name: model for model in models}
        self._laws = laws
        self._seed = seed
        self._extent = extent
        self._executor = executor
        self._explain = explain
        self._tallies: dict[Pair, Tally] = {}
        self._exempt: dict[Pair, Tally] = {}
        self._causes = Causes(self._models, accepted)
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
            active = [pair for pair in active if self._cases_of(pair, epoch)]
            if not active:
                return
            for start in range(0, len(active), TOGETHER):
                some = active[start : start + TOGETHER]
                units = [self._unit(pair, epoch) for pair in some]
                yield from self._searched(units, deadline)
            active = [pair for pair in active if pair not in self._ended]
            epoch += 1
            yield RoundFinished(self._seed, epoch)

    def _searched(self, units: Sequence[Unit], deadline: float | None) -> Iterator[Event]:
        """One epoch of some pairs: search, follow up what fails, and go on behind it."""
        while units:
            stopped: list[Searched] = []
            for outcome in self._executor.run(units, deadline):
                yield from self._told(outcome)
                if self._is_new(outcome):
                    stopped.append(outcome)
                    yield from self._shared(outcome)
            new = [found for found in stopped if not found.behind]
            yield from self._followed_up(new, deadline)
            units = []
            for found in stopped:
                pair = _pair_of(found.unit)
                if (ended := self._ended_by(pair)) is not None:
                    self._ended.add(pair)
                    yield ended
                if pair not in self._ended:
                    units.append(self._going_on(found))

    def _is_new(self, outcome: Searched | Failed) -> TypeGuard[Searched]:
        if isinstance(outcome, Failed) or outcome.unit.exempt:
            return False
        return bool(outcome.failing) and _pair_of(outcome.unit) not in self._ended

    def _shared(self, found: Searched) -> Iterator[Event]:
        """Note the causes of other models that this one fails for too."""
        pair = _pair_of(found.unit)
        self._causes.clear(pair, found.cleared)
        for cause in self._causes.share(pair, found.behind):
            yield CauseShared(cause.counterexample, pair, accepted=cause.accepted)

    def _followed_up(
        self, failing: Sequence[Searched], deadline: float | None
    ) -> Iterator[Event]:
        """Find out what is behind the first failure of each kind of model."""
        units: list[Unit] = []
        led: set[Kind] = set()
        for found in failing:
            pair = _pair_of(found.unit)
            elsewhere = self._causes.unsearched(pair) if self._explain else None
            if elsewhere is not None:  # its region may be another one on this model
                case = elsewhere.counterexample.case
                units.append(
                    attrs.evolve(
                        found.unit, follow=found.failing, around=case, cause=elsewhere.id
                    )
                )
            elif (kind := self._causes.kind(pair)) not in led:
                led.add(kind)
                units.append(attrs.evolve(found.unit, follow=found.failing))
        for outcome in self._executor.run(units, deadline):
            yield from self._explained(outcome, deadline)

    def _explained(
        self, outcome: Searched | Failed, deadline: float | None
    ) -> Iterator[Event]:
        unit = outcome.unit
        pair = _pair_of(unit)
        if isinstance(outcome, Failed):
            if unit.explain and unit.around is None:  # it dies of a case that was tried
                plain = attrs.evolve(unit, explain=False)
                for again in self._executor.run([plain], deadline):
                    yield from self._explained(again, deadline)
            yield from self._told(outcome)
        elif unit.cause is not None:
            self._causes.search_ended(pair, unit.cause, outcome.region)
        else:
            yield from self._caused(pair, outcome)

    def _caused(self, pair: Pair, outcome: Searched) -> Iterator[Event]:
        """Report new causes; one more case of a known one is none."""
        for found in (outcome.counterexample, outcome.beside):
            if found is not None and self._causes.joined(pair, found) is None:
                self._causes.add(pair, found)
                yield CounterexampleFound(found, outcome.seconds)

    def _ended_by(self, pair: Pair) -> PairEnded | None:
        """Why a pair that fails is searched no further, if it is not."""
        if len(self._causes.behind(pair)) >= MOST_FINDINGS:
            found = many(MOST_FINDINGS, "finding")
            return PairEnded(pair, f"{found}, more are not looked for")
        hiding = self._causes.without_region(pair)
        if hiding is None and (self._explain or not self._causes.behind(pair)):
            return None
        reason = "what a finding without a region hides is unknown"
        return PairEnded(pair, reason, "" if hiding is None else hiding.id)

    def _going_on(self, found: Searched) -> Unit:
        """The rest of a unit's cases, without those that are explained."""
        pair = _pair_of(found.unit)
        return attrs.evolve(
            found.unit,
            known=self._causes.regions(pair),
            fixes=self._causes.fixes(pair),
            alike=self._causes.alike(pair),
            suspects=self._causes.suspects(pair),
            first_batch=found.batch,
            counted=found.counted,
        )

    def _planned(self, pairs: Sequence[Pair]) -> int | None:
        """Cases that all pairs check, if none has a finding."""
        laws = {law.id: law for law in self._laws}
        each = [
            self._extent.checks_of(self._models[pair.model], laws[pair.property])
            for pair in pairs
        ]
        return None if self._extent.cases is None else sum(filter(None, each))

    def _cases_of(self, pair: Pair, epoch: int) -> int:
        return self._extent.cases_of(self._models[pair.model], epoch)

    def _unit(self, pair: Pair, epoch: int) -> Unit:
        exempt = pair in self._exempt
        return Unit(
            pair.model,
            pair.property,
            self._seed,
            epoch,
            self._cases_of(pair, epoch),
            exempt=exempt,
            known=self._causes.regions(pair),
            fixes=self._causes.fixes(pair),
            alike=self._causes.alike(pair),
            suspects=() if exempt else self._causes.suspects(pair),
            explain=self._explain,
        )

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

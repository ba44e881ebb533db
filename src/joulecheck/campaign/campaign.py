"""A campaign: properties x models x cases, as a sequence of events.

It goes round by round. A round gives every active pair one epoch of cases; a pair
with a finding is active no more. What a round does depends on the seed, the pairs and
the rounds before it alone, so that any number of workers finds the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from joulecheck.campaign.events import (
    CampaignFinished,
    CampaignStarted,
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
from joulecheck.errors import NotOffered
from joulecheck.model import Subject
from joulecheck.property import Property

EPOCH: Final = 1 << 16
"""Cases of a vectorised model in one unit."""

SCALAR_EPOCH: Final = 128
"""Cases of another model in one unit: few, for a round of slow models takes minutes."""

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
        planned = self._planned(pairs)
        active = list(pairs)
        epoch = self._extent.first_epoch
        while active and (deadline is None or time.monotonic() < deadline):
            units = [unit for pair in active if (unit := self._unit(pair, epoch)).cases]
            if not units:
                return
            ended: set[Pair] = set()
            for outcome in self._executor.run(units, deadline):
                pair = Pair(outcome.unit.model, outcome.unit.property)
                yield from self._told(pair, outcome, planned, ended)
            active = [pair for pair in active if pair not in ended]
            epoch += 1
            yield RoundFinished(self._seed, epoch)

    def _planned(self, pairs: Sequence[Pair]) -> int | None:
        """Cases that all pairs check, if none has a finding."""
        laws = {law.id: law for law in self._laws}
        each = [
            self._extent.checks_of(self._models[pair.model], laws[pair.property])
            for pair in pairs
        ]
        return None if self._extent.cases is None else sum(filter(None, each))

    def _unit(self, pair: Pair, epoch: int) -> Unit:
        cases = self._extent.cases_of(self._models[pair.model], epoch)
        exempt = pair in self._exempt
        return Unit(pair.model, pair.property, self._seed, epoch, cases, exempt=exempt)

    def _told(
        self, pair: Pair, outcome: Searched | Failed, planned: int | None, ended: set[Pair]
    ) -> Iterator[Event]:
        if isinstance(outcome, Failed):
            ended.add(pair)
            self._exempt.pop(pair, None)
            yield ModelFailed(pair, outcome.reason)
            if outcome.counterexample is not None:
                yield CounterexampleFound(outcome.counterexample, 0.0)
            return
        self._done += outcome.checks
        if pair in self._exempt:
            self._exempt[pair] = self._exempt[pair].plus(outcome)
            if outcome.screened is not None:  # it does fail, as its model says
                ended.add(pair)
                del self._exempt[pair]
            return
        self._tallies[pair] = self._tallies[pair].plus(outcome)
        yield EpochFinished(pair, outcome, self._tallies[pair], self._done, planned)
        if outcome.unconfirmed is not None:
            yield Unconfirmed(pair, outcome.unconfirmed)
        if outcome.counterexample is not None:
            ended.add(pair)
            yield CounterexampleFound(outcome.counterexample, outcome.seconds_to_minimal)

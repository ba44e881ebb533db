"""One mutant against the catalogue: which laws kill it, when, and what they say of it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Final

import attrs
import numpy as np

from joulecheck.campaign.blame import STATEFUL
from joulecheck.campaign.campaign import plan
from joulecheck.campaign.order import Plainness
from joulecheck.campaign.search import Searched, Unit, search, search_and_minimise
from joulecheck.case import CoefficientCase
from joulecheck.counterexample import Counterexample
from joulecheck.errors import NotOffered
from joulecheck.model import Subject
from joulecheck.property import property_named
from joulecheck.scoring.fit import Fit, fit_of
from joulecheck.scoring.mutants import Mutant
from joulecheck.scoring.twin import Twin

STAGES: Final = (256, 4096, 65_536)
"""Cases of a pair in each stage: the next is larger, and for fewer mutants."""

MATRIX_STAGES: Final = 2
"""Stages that every pair gets; later ones are for mutants that nothing has killed."""


def _as_tuple(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(values)


@attrs.frozen(kw_only=True)
class Task:
    """What to try: plain data, so that any process can do it."""

    mutant: Mutant
    laws: tuple[str, ...] = attrs.field(converter=_as_tuple)
    """Ids, in the order in which they are asked."""
    seed: int
    stages: tuple[int, ...] = attrs.field(converter=_as_tuple)
    explained: int = 0
    """How many kills, the first ones, are made minimal and blamed."""


@attrs.frozen
class Kill:
    """A law that a mutant violates."""

    property: str
    stage: int
    checks: int
    """Of all laws, up to and with the batch in which the case was."""
    seconds: float
    """Of the processor, likewise."""


@attrs.frozen(kw_only=True)
class Explanation:
    """What a counterexample says of the fault behind it."""

    counterexample: Counterexample
    nodes: int
    off_minimum: int
    """Fields that are not at their plainest."""
    bits: float
    """Sum over the fields of log2(1 + distance from the plainest)."""
    named_first: bool | None
    """Whether the best repair, or else what moves the margin most, is a planted place;
    None where the law's family blames no number, or no place is known."""
    named: bool | None
    """Whether any repair, or any of the terms and coefficients that move the margin, is."""
    seconds: float
    fit: Fit | None
    """How well the region matches; None of families that blame no number."""


@attrs.frozen(kw_only=True)
class Trial:
    """What became of a mutant."""

    mutant: Mutant
    what: str
    places: frozenset[str]
    asked: tuple[str, ...]
    """The laws that apply to the model."""
    kills: tuple[Kill, ...]
    """In the order in which they came."""
    checks: int
    seconds: float
    """Of the processor."""
    differs: bool
    """Whether it was seen to answer otherwise than the sound model."""
    explanations: tuple[Explanation, ...] = ()

    @property
    def first(self) -> Kill | None:
        """The first kill."""
        return self.kills[0] if self.kills else None

    @property
    def killers(self) -> frozenset[str]:
        """The laws that kill it."""
        return frozenset(kill.property for kill in self.kills)


def stages_up_to(cases: int) -> tuple[int, ...]:
    """The stages whose cases are at most `cases` of a pair, the last one cut to fit."""
    return (*(size for size in STAGES if size < cases), cases)


def try_mutant(task: Task) -> Trial:
    """Ask every law that applies, stage by stage, and explain the first kills."""
    return _Trying(task).run()


class _Trying:
    def __init__(self, task: Task) -> None:
        self.task = task
        self.mutant = task.mutant
        laws = [property_named(law) for law in task.laws]
        pairs = plan([self.mutant.plant()], laws).pairs
        self.asked = tuple(pair.property for pair in pairs)
        self.kills: list[Kill] = []
        self.checks = 0
        self.seconds = 0.0

    def run(self) -> Trial:
        for stage in range(len(self.task.stages)):
            if stage >= MATRIX_STAGES and self.kills:
                break
            self._ask_all(stage)
        drawn = self.mutant.drawn
        return Trial(
            mutant=self.mutant,
            what=drawn.what,
            places=drawn.places,
            asked=self.asked,
            kills=tuple(self.kills),
            checks=self.checks,
            seconds=self.seconds,
            differs=bool(self.kills) or self._differs(),
            explanations=tuple(
                self._explained(kill) for kill in self.kills[: self.task.explained]
            ),
        )

    def _ask_all(self, stage: int) -> None:
        killed = {kill.property for kill in self.kills}
        for law in self.asked:
            if law in killed:
                continue
            started = time.process_time()
            found = self._search(law, stage, self.mutant.plant())
            self.seconds += time.process_time() - started
            self.checks += found.checks
            if found.failing:
                self.kills.append(Kill(law, stage, self.checks, self.seconds))

    def _search(
        self, law: str, stage: int, subject: Subject, *, minimise: bool = False
    ) -> Searched:
        cases = self.task.stages[stage]
        unit = Unit(self.mutant.model, law, self.task.seed, stage, cases)
        how = partial(search_and_minimise, explain=True) if minimise else search
        return how(unit, subject, property_named(law))

    def _differs(self) -> bool:
        """Whether it answers any question of the laws as the sound model does not."""
        twin, subject = Twin.beside(self.mutant.plant(), self.mutant.sound())
        for stage in range(len(self.task.stages)):
            for law in self.asked:
                with suppress(NotOffered):  # of a law that copies what it asks
                    self._search(law, stage, subject)
                if twin.differs:
                    return True
        return False

    def _explained(self, kill: Kill) -> Explanation:
        started = time.process_time()
        subject = self.mutant.plant()
        found = self._search(kill.property, kill.stage, subject, minimise=True)
        assert found.counterexample is not None  # noqa: S101 - it was found before
        counterexample = found.counterexample
        space = property_named(kill.property).space(subject)
        size = Plainness.of(space, np.array([counterexample.genes], dtype=np.int64))
        places = self.mutant.drawn.places
        named = _named(counterexample) if places else None
        seconds = time.process_time() - started
        return Explanation(
            counterexample=counterexample,
            nodes=int(size.nodes[0]),
            off_minimum=int(size.off_minimum[0]),
            bits=float(size.size[0]),
            named_first=None if named is None else any(one in places for one in named[:1]),
            named=None if named is None else not places.isdisjoint(named),
            seconds=seconds,
            fit=self._fit(counterexample),
        )

    def _fit(self, found: Counterexample) -> Fit | None:
        law = property_named(found.property)
        if found.region is None or law.family in STATEFUL:
            return None
        return fit_of(found.region, law, self.mutant.plant(), self.task.seed)


def _named(found: Counterexample) -> list[str] | None:
    """What the finding names: repairs, then what moves the margin, the likeliest first."""
    if isinstance(found.case, CoefficientCase):  # the case is about one
        return [found.case.coefficient]
    if found.blame is None or property_named(found.property).family in STATEFUL:
        return None
    repaired = [repair.target for repair in found.blame.repairs]
    return [*repaired, *found.blame.terms, *found.blame.coefficients]

"""The definition of done as one answer: is the validation of the reference complete?

A short campaign asks every law of every machine; what else is demanded is looked at
directly. Each demand is met or has gaps, and a gap says what is missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.campaign import Campaign, Extent, plan
from joulecheck.campaign.events import (
    CounterexampleFound,
    EpochFinished,
    Event,
    ModelFailed,
    Pair,
    Tally,
)
from joulecheck.campaign.workers import Executor
from joulecheck.case import Cases
from joulecheck.errors import InvalidCheck
from joulecheck.faults import fault_named, inject
from joulecheck.model import Offer, Subject
from joulecheck.property import Property, installed, property_named
from joulecheck.quantities import many
from joulecheck.reference import CLASSES, MACHINES
from joulecheck.reference.classes import class_of
from joulecheck.validation.audit_ledger import gaps_in
from joulecheck.validation.fields import STATEFUL
from joulecheck.validation.gate import run_gate, with_clusters
from joulecheck.validation.layer_checks import Status
from joulecheck.validation.ledger import Ledger
from joulecheck.validation.model_checks import cases_of
from joulecheck.validation.record import CampaignRecord
from joulecheck.workload.words import workload_text

CATEGORIES: Final[Mapping[str, str]] = {
    "layer-decomposition": "CMP",
    "monotonicity": "MON",
    "precision-scaling": "PRC",
    "coefficient-perturbation": "SEN",
    "cross-mapper-consistency": "ORD",
}
"""The kinds of consistency of a class, each with the family of laws that states it."""

MACHINES_DEMANDED: Final = 47

RANKING: Final = "RNK"

RANKED_KINDS: Final = 3
"""On how many types of workload classes are ranked at least."""

REGRESSIONS: Final = ("misplaced-layer", "dropped-term", "unlaunched-prefix")
"""Faults that the composition gate must find: in a layer, in the whole, in latency."""

SAMPLED: Final = 512
"""Random cases of each machine whose answers must not be negative."""

SAMPLED_SPACES: Final = 64
"""Cases by which the types of workload of a law are told."""


@attrs.frozen(kw_only=True)
class Requirement:
    """One demand, and whether it is met."""

    name: str
    demand: str
    found: str
    """What was looked at, in numbers."""
    gaps: tuple[str, ...]

    @property
    def is_met(self) -> bool:
        """Whether nothing is missing."""
        return not self.gaps


class Audit:
    """Asks every law of every machine, then judges what the programme demands."""

    def __init__(
        self,
        machines: Sequence[Subject],
        archetypes: Sequence[Subject],
        *,
        seed: int,
        cases: int,
        executor: Executor,
    ) -> None:
        """Prepare it.

        Args:
            machines: what is audited.
            archetypes: the classes in one technology, which are ranked beside them.
            seed: of all random numbers.
            cases: how many to ask of each machine and law.
            executor: where the campaign runs; it must know machines and archetypes.
        """
        self.machines = machines
        self._seed = seed
        known = installed().values()
        laws = [law for law in known if law.family not in STATEFUL]
        ranking = [law for law in laws if law.family == RANKING]
        self._parts = ((machines, laws), (archetypes, ranking))
        self._extent = Extent(cases=cases)
        self._executor = executor
        self._tallies: dict[Pair, Tally] = {}
        self._violated: dict[Pair, str] = {}
        self._ledger = Ledger()

    @property
    def pairs(self) -> int:
        """How many pairs of a model and a law it asks."""
        return sum(len(plan(models, laws).pairs) for models, laws in self._parts)

    def run(self) -> Iterator[Event]:
        """Search all pairs."""
        for models, laws in self._parts:
            record = CampaignRecord(self._ledger, models, laws)
            campaign = Campaign(
                models,
                laws,
                seed=self._seed,
                extent=self._extent,
                executor=self._executor,
                explain=False,
            )
            for event in campaign.run():
                record(event)
                self._take(event)
                yield event

    def _take(self, event: Event) -> None:
        match event:
            case EpochFinished(pair=pair, tally=tally):
                self._tallies[pair] = tally
                if tally.least_margin < 0:
                    self._violated.setdefault(pair, "violated")
            case CounterexampleFound(found):
                pair = Pair(found.model, found.property)
                self._violated[pair] = f"violated, {found.id}"
            case ModelFailed(pair, reason):
                self._violated[pair] = reason
            case _:
                pass

    def requirements(self, ledger: Ledger | None = None) -> Iterator[Requirement]:
        """Judge each demand, after `run`.

        Args:
            ledger: to judge in place of the one that the audit's own campaign gives.
        """
        yield self._consistency()
        yield self._coverage()
        yield self._ranking()
        yield _gate(self.machines)
        yield _nothing_negative(self.machines, self._seed)
        yield _provenance(self._ledger if ledger is None else ledger, self.machines)

    def laws_held(self) -> dict[str, dict[str, list[str]]]:
        """By class and category: the laws that held on some machine, in their domain."""
        held = [pair for pair in self._tallies if self._held(pair)]
        classes = {m.name: m.machine.architecture for m in self.machines}
        return {
            architecture: {
                category: sorted(
                    {
                        pair.property
                        for pair in held
                        if pair.property.startswith(family)
                        and classes.get(pair.model) == architecture
                    }
                )
                for category, family in CATEGORIES.items()
            }
            for architecture in CLASSES
        }

    def _held(self, pair: Pair) -> bool:
        return bool(self._tallies[pair].in_domain) and pair not in self._violated

    def _of(self, models: Sequence[Subject], families: Collection[str]) -> list[Pair]:
        names = {model.name for model in models}
        asked = {**self._tallies, **self._violated}
        return [p for p in asked if p.model in names and p.property[:3] in families]

    def _failures(self, pairs: Sequence[Pair]) -> Iterator[str]:
        """What did not hold, or said nothing."""
        for pair in pairs:
            if pair in self._violated:
                yield f"{pair.property} on {pair.model}: {self._violated[pair]}"
            elif not self._tallies[pair].in_domain:
                asked = self._tallies[pair].checks
                yield f"{pair.property} on {pair.model} says nothing of {asked} cases"

    def _consistency(self) -> Requirement:
        pairs = self._of(self.machines, CATEGORIES.values())
        held = {(pair.model, pair.property[:3]) for pair in pairs if self._held(pair)}
        missing = [
            f"no law of {category} ({family}) held on {model.name}"
            for model in self.machines
            for category, family in CATEGORIES.items()
            if (model.name, family) not in held
        ]
        missing += [
            f"no law of {category} held on any machine of class {architecture}"
            for architecture, found in self.laws_held().items()
            for category, laws in found.items()
            if not laws
        ]
        return Requirement(
            name="consistency",
            demand="every class passes all five categories of consistency",
            found=f"{len(CLASSES)} classes x {len(CATEGORIES)} categories, "
            f"{many(len(pairs), 'pair')} of machine and law",
            gaps=(*missing, *self._failures(pairs)),
        )

    def _coverage(self) -> Requirement:
        asked = {pair.model for pair in self._tallies}
        wanted = [f"reference:{name}" for name in MACHINES]
        others = [
            pair
            for pair in self._of(self.machines, {law[:3] for law in installed()})
            if pair.property[:3] not in {*CATEGORIES.values(), RANKING}
        ]
        missing = [f"{name} was not asked" for name in wanted if name not in asked]
        if len(wanted) < MACHINES_DEMANDED:
            missing.append(f"the library has {len(wanted)} machines")
        return Requirement(
            name="coverage",
            demand=f"all {MACHINES_DEMANDED} machines are covered",
            found=f"{many(len(asked & {*wanted}), 'machine')}, "
            f"{many(len(others), 'more pair')}",
            gaps=(*missing, *self._failures(others)),
        )

    def _ranking(self) -> Requirement:
        models = {m.name: m for subjects, _ in self._parts for m in subjects}
        pairs = self._of(list(models.values()), {RANKING})
        laws = [law for law in installed().values() if law.family == RANKING]
        asked = {pair.property for pair in pairs}
        kinds = {
            kind
            for pair in pairs
            for kind in _kinds(property_named(pair.property), models[pair.model])
        }
        costs = frozenset().union(*(property_named(law).needs for law in asked))
        gaps = [f"{law.id} is asked of no model" for law in laws if law.id not in asked]
        if len(kinds) < RANKED_KINDS:
            gaps.append(
                f"ranked on {many(len(kinds), 'type')} of workload: {', '.join(kinds)}"
            )
        gaps += [
            f"no law ranks by {cost.name.lower()}"
            for cost in (Offer.ENERGY, Offer.LATENCY)
            if cost not in costs
        ]
        return Requirement(
            name="ranking",
            demand=f"classes rank as they must on {RANKED_KINDS} types of workload or more",
            found=f"{many(len(asked), 'law')} on {', '.join(sorted(kinds)) or 'nothing'}",
            gaps=(*gaps, *self._failures(pairs)),
        )


def _kinds(law: Property, model: Subject) -> set[str]:
    """The types of workload that a law asks of a model."""
    space = law.space(model)
    rows = space.sample(np.random.default_rng(0), SAMPLED_SPACES).tolist()
    questions = (question for row in rows for question in space.build(row).questions)
    return {type(question.case.workload).__name__.lower() for question in questions}


def _gate(machines: Sequence[Subject]) -> Requirement:
    """The composition gate passes, and fails on a fault in a machine of each class."""
    sound = run_gate(with_clusters(machines))
    gaps = [
        f"{result.check.name} of {result.check.machine} {result.status.value}"
        for result in sound
        if result.status is not Status.PASSED
    ]
    takers = [m for m in machines if class_of(m.model) is not None]
    first = {m.machine.architecture: m for m in reversed(takers)}
    planted = [(fault, model) for model in first.values() for fault in REGRESSIONS]
    if not planted:
        gaps.append("no regression was planted: it takes a reference model")
    gaps += [
        f"{fault} in {model.name} is not found"
        for fault, model in planted
        if not _is_found(fault, model)
    ]
    return Requirement(
        name="gate",
        demand="the composition gate passes, and fails on an injected regression",
        found=f"{many(len(sound), 'check')}, {many(len(planted), 'regression')} planted",
        gaps=tuple(gaps),
    )


def _is_found(fault: str, model: Subject) -> bool:
    try:
        results = run_gate([inject(model, fault_named(fault))])
    except InvalidCheck:  # nothing was compared
        return False
    return any(result.status is Status.FAILED for result in results)


def _nothing_negative(machines: Sequence[Subject], seed: int) -> Requirement:
    gaps: list[str] = []
    asked = 0
    for model in machines:
        space = property_named("MON001").space(model)
        rows = space.sample(np.random.default_rng(seed), SAMPLED).tolist()
        drawn = [space.build(row).questions[0].case for row in rows]
        cases = Cases.of([*cases_of(model), *drawn])
        asked += len(cases)
        gaps += _negatives(model, cases)
    return Requirement(
        name="nothing-negative",
        demand="no energy, latency or utilisation is negative",
        found=many(asked, "case"),
        gaps=tuple(gaps),
    )


def _negatives(model: Subject, cases: Cases) -> Iterator[str]:
    """The first case of each quantity and term that is negative or no number."""
    with np.errstate(all="ignore"):
        answers = model.ask(cases)
    if answers.errors:
        yield f"{model.name} raised {min(answers.errors.items())[1]}"
        return
    quantities = {q: getattr(answers, q) for q in ("energy", "latency", "utilisation")}
    for field in ("energy_terms", "latency_terms"):
        kind = field.replace("_", " ").removesuffix("s")
        quantities |= {f"{kind} {n}": v for n, v in getattr(answers, field).items()}
    for quantity, values in quantities.items():
        wrong = np.flatnonzero(~answers.unsupported & ~(values >= 0))
        if len(wrong):
            row = int(wrong[0])
            workload = workload_text(cases[row].workload)
            yield f"{quantity} of {model.name} is {values[row]:g} for {workload}"


def _provenance(ledger: Ledger, machines: Sequence[Subject]) -> Requirement:
    gaps = tuple(
        f"{gap.field} of {gap.machine}: {gap.reason}" for gap in gaps_in(ledger, machines)
    )
    entries = sum(len(ledger.entries(model.name)) for model in machines)
    return Requirement(
        name="provenance",
        demand="every core field of every machine has provenance after a run",
        found=f"{many(entries, 'entry', 'entries')} of {many(len(machines), 'machine')}",
        gaps=gaps,
    )

"""From a campaign to the ledger: which figures its laws confirm, and which they blame."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version

import attrs

from joulecheck.campaign.events import (
    CampaignFinished,
    CampaignStarted,
    CounterexampleFound,
    EpochFinished,
    Event,
    ModelFailed,
    Pair,
    Tally,
)
from joulecheck.coefficient import Layer
from joulecheck.counterexample import Blame, Counterexample
from joulecheck.model import Subject
from joulecheck.property import Property
from joulecheck.quantities import many
from joulecheck.validation.fields import Field, FieldKind, concerns, fields_of
from joulecheck.validation.ledger import Consistency, Entry, Flag, Ledger


@attrs.define
class Recorded:
    """What a campaign did to a ledger."""

    models: int = 0
    confirmed: int = 0
    """Fields that some laws concern and of which all held."""
    flagged: int = 0
    """Fields on which a violation hangs."""
    undecided: int = 0
    """Fields that a violated law concerns without blaming them, or no law at all."""

    def __str__(self) -> str:
        """Say it in a line."""
        return (
            f"{many(self.confirmed, 'field')} of {many(self.models, 'model')} confirmed "
            f"consistent, {self.flagged:,} flagged for investigation, "
            f"{self.undecided:,} undecided"
        )


class CampaignRecord:
    """Listens to a campaign, and writes what it shows into a ledger."""

    def __init__(
        self, ledger: Ledger, models: Sequence[Subject], laws: Sequence[Property]
    ) -> None:
        """Listen for these models and laws."""
        self._ledger = ledger
        self._models = models
        self._laws = {law.id: law for law in laws}
        self._found: dict[Pair, Counterexample | None] = {}
        self._reasons: dict[Pair, str] = {}
        self._seed = 0
        self._tallies: dict[Pair, Tally] = {}
        self.recorded = Recorded()

    def __call__(self, event: Event) -> None:
        """Take one event; the last one writes the entries."""
        match event:
            case CounterexampleFound(counterexample):
                pair = Pair(counterexample.model, counterexample.property)
                self._found[pair] = counterexample
            case ModelFailed(pair, reason):
                self._found.setdefault(pair, None)
                self._reasons[pair] = reason
            case CampaignStarted():
                self._seed = event.seed
            case EpochFinished():
                self._tallies[event.pair] = event.tally
            case CampaignFinished():
                self._seed, self._tallies = event.seed, dict(event.tallies)
                self.write()
            case _:
                pass

    def write(self) -> None:
        """Write the entries by what was seen so far, as of a campaign broken off."""
        tallies: dict[str, dict[str, Tally]] = {}
        for pair, tally in self._tallies.items():
            tallies.setdefault(pair.model, {})[pair.property] = tally
        self.recorded = Recorded(models=len(self._models))
        for model in self._models:
            told = tallies.get(model.name, {})
            flags = {law: self._flags(model, law, tally) for law, tally in told.items()}
            for field in fields_of(model).values():
                entry = self._entry(model, field, told, flags, self._seed)
                self._ledger.put(model.name, field.name, entry)
                self._count(entry, field, told)

    def _entry(
        self,
        model: Subject,
        field: Field,
        tallies: Mapping[str, Tally],
        flags: Mapping[str, Mapping[str, Flag]],
        seed: int,
    ) -> Entry:
        laws = [law for law in tallies if concerns(self._laws[law], field)]
        failed = [law for law in laws if flags[law]]
        entry = self._ledger.current(model.name, field)
        kept = [
            one
            for one in entry.evidence
            if not (isinstance(one, Consistency) and {*one.properties} & {*failed})
        ]
        decided = {*failed, *(law for law in laws if tallies[law].in_domain)}
        others = [flag for flag in entry.flags if flag.property not in decided]
        own = (flags[law] for law in failed)
        now = [each.get(field.name, each[""]) for each in own]
        entry = attrs.evolve(entry, evidence=kept, flags=(*others, *now))
        held = {law: tallies[law] for law in laws if tallies[law].in_domain}
        if failed or not held:
            return entry
        closest = min(held, key=lambda law: (held[law].least_margin, law))
        return entry.backed_by(
            Consistency(
                properties=sorted(held),
                cases=sum(tally.in_domain for tally in held.values()),
                least_margin=min(held[closest].least_margin, sys.float_info.max),
                closest=closest,
                seed=seed,
                version=version("joulecheck"),
            )
        )

    def _flags(self, model: Subject, law: str, tally: Tally) -> dict[str, Flag]:
        """By field: what a violated law says of it, and under "" of all others."""
        pair = Pair(model.name, law)
        if pair not in self._found and not tally.least_margin < 0:
            return {}
        found = self._found.get(pair)
        reason = self._reasons.get(pair, "")
        finding = None if found is None else found.id
        flag = Flag(property=law, finding=finding, blamed=False, reason=reason)
        blame = found.blame if found is not None else None
        return {
            "": flag,
            **{
                name: attrs.evolve(flag, blamed=True, reason=why)
                for name, why in blamed_fields(model, blame or Blame()).items()
            },
        }

    def _count(self, entry: Entry, field: Field, tallies: Mapping[str, Tally]) -> None:
        asked = any(
            tally.in_domain and concerns(self._laws[law], field)
            for law, tally in tallies.items()
        )
        if entry.blamed:
            self.recorded.flagged += 1
        elif asked and not entry.flags:
            self.recorded.confirmed += 1
        else:
            self.recorded.undecided += 1


def blamed_fields(model: Subject, blame: Blame) -> dict[str, str]:
    """By field: why a violation hangs on it.

    That is what the best repair changes. Without a repair it is the coefficients that
    move the margin most.
    """
    if blame.repairs:
        best = blame.repairs[0]
        reasons = dict.fromkeys(_figures(model, best.target), best.change)
    else:
        reasons = {
            name: f"moves the margin by {slope:+.2g} of its relative change"
            for name, slope in blame.coefficients.items()
        }
    return {
        field.name: reasons[figure]
        for field in fields_of(model).values()
        for figure in (field.name, *field.of)
        if figure in reasons
    }


def _figures(model: Subject, target: str) -> Iterator[str]:
    """The coefficients and figures behind a coefficient, a term or a layer."""
    layer = Layer.__members__.get(target)
    terms = {target, *(t for t, of in model.layers.items() if of is layer)}
    for name, coefficient in model.coefficients.items():
        if name == target or terms & (coefficient.terms or frozenset()):
            yield name
    timed = {target, *(t for t, of in model.latency_layers.items() if of is layer)}
    for term in timed & model.latency_layers.keys():
        if term in model.machine.memories:
            yield f"{term}.bandwidth"
        elif model.latency_layers[term] is Layer.ALU:
            yield from (f.name for f in fields_of(model).values() if f.kind in _ARITHMETIC)


_ARITHMETIC = {FieldKind.PEAK, FieldKind.UNITS}

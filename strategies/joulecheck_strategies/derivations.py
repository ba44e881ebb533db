"""Workloads on machines derived from a model's own: one of a short list for each case.

The list is short because every derived machine of a batch costs a call of its model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Final

import attrs

from joulecheck.case import Derivation, DerivedCase, DerivedCases
from joulecheck.errors import NotOffered
from joulecheck.knob import Knob, KnobKind
from joulecheck.model import Subject
from joulecheck.space import Gene, Trait
from joulecheck.workload.columns import Ints
from joulecheck_strategies.reading import Take
from joulecheck_strategies.workload_space import WorkloadSpace
from joulecheck_strategies.wrapping import WrappingSpace

BETTER: Final = 2.0

WORSE: Final = 1 / 16
"""Far enough from 1 to make each rate the bottleneck of some workload."""

FACTORS: Final = (BETTER, WORSE, 1.1)
"""By which a figure is made better or worse, plainest first."""


@attrs.frozen(slots=False)
class DerivationSpace(WrappingSpace[DerivedCase]):
    """Each workload on one of `derivations`, the plainest first."""

    workloads: WorkloadSpace
    derivations: tuple[Derivation, ...]

    @cached_property
    def more_genes(self) -> tuple[Gene, ...]:
        """The index of the derived machine."""
        return (Gene("machine", 0, len(self.derivations) - 1),)

    def read(self, take: Take) -> DerivedCase:
        """Read the workload, then the machine."""
        case = self.workloads.read(take)
        return DerivedCase(case, self.derivations[take("machine")])

    def encode(self, case: DerivedCase) -> dict[str, int]:
        """The workload's genes and the index of the machine."""
        machine = self.derivations.index(case.derivation)
        return {**self.workloads.encode(case.case), "machine": machine}

    def canonical_more(self, rows: Ints) -> None:
        """Nothing: the machine is always read."""

    def traits(self, rows: Ints) -> Mapping[str, Trait]:
        """The derived machine, by what is turned: in few words, if these tell it apart."""
        short = [derivation.short for derivation in self.derivations]
        names = tuple(
            name if short.count(name) == 1 else str(derivation)
            for name, derivation in zip(short, self.derivations, strict=True)
        )
        return {**super().traits(rows), "machine": Trait(rows[:, -1], names)}

    def batch(self, rows: Ints) -> DerivedCases:
        """The cases, with the list of machines."""
        cases = self.workloads.batch(rows[:, : self._split])
        return DerivedCases(cases, self.derivations, rows[:, -1])


def turned(knobs: Mapping[str, Knob], factor: float) -> Derivation:
    """All of these knobs turned so that the machine is better by `factor`.

    Rates, counts and capacities are multiplied, delays divided.
    """
    return Derivation({name: knob.improved(factor) for name, knob in knobs.items()})


def one_by_one(
    knobs: Mapping[str, Knob], factors: Collection[float] = FACTORS
) -> Iterator[Derivation]:
    """Each of these knobs alone, by each factor."""
    for factor in factors:
        for name, knob in knobs.items():
            yield turned({name: knob}, factor)


def nearby_machines(
    model: Subject,
    *,
    kinds: Collection[KnobKind] = tuple(KnobKind),
    factors: Collection[float] = FACTORS,
) -> tuple[Derivation, ...]:
    """Machines near that of a model: each knob alone, then all of a kind together.

    Args:
        model: whose knobs are turned.
        kinds: of knobs.
        factors: by which a machine is better, or worse if below 1.
    """
    found = list(one_by_one(model.knobs_of(*kinds), factors))
    for kind in kinds:
        alike = model.knobs_of(kind)
        if len(alike) > 1:
            found += [turned(alike, factor) for factor in factors]
    return tuple(d for d in found if allowed(model, d))


def allowed(model: Subject, derivation: Derivation) -> bool:
    """Whether every knob may be turned so far."""
    factors = derivation.factors.items()
    return all(name in model.knobs and model.knobs[name].allows(f) for name, f in factors)


def required(model: Subject, *kinds: KnobKind) -> dict[str, Knob]:
    """The knobs of these kinds, at least one.

    Raises:
        NotOffered: the model has none.
    """
    found = model.knobs_of(*kinds)
    if not found:
        names = " or ".join(kind.name for kind in kinds)
        msg = f"it declares no knob of kind {names}"
        raise NotOffered(msg)
    return found

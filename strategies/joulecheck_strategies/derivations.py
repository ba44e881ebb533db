"""Workloads on machines derived from a model's own: one of a short list for each case.

The list is short because every derived machine of a batch costs a call of its model.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Final

import attrs
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import SearchStrategy

from joulecheck.case import Case, Derivation, DerivedCase, DerivedCases
from joulecheck.errors import NotOffered
from joulecheck.knob import Knob, KnobKind
from joulecheck.model import Subject
from joulecheck.space import Gene
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


def machine_perturbations(
    *,
    knobs: Mapping[str, Knob],
    case: SearchStrategy[Case] | None = None,
    min_factor: float = WORSE,
    max_factor: float = 1 / WORSE,
    max_size: int | None = None,
) -> SearchStrategy[DerivedCase]:
    """A case on a machine of which one figure differs, two, ... or all of them.

    Counts are multiplied by whole numbers. Shrinks towards the first knob alone.

    Args:
        knobs: those of a model.
        case: what is asked; any workload in FP32 by default.
        min_factor: the least factor, above 0; a knob's own range goes before.
        max_factor: the greatest, likewise.
        max_size: how many figures differ at most; all by default.

    Raises:
        InvalidArgument: no knob, bounds that are not positive and ordered, or a knob
            that may not be turned between them.
    """
    if not knobs:
        msg = "knobs must name at least one knob, got none"
        raise InvalidArgument(msg)
    most = len(knobs) if max_size is None else max_size
    if not 1 <= most <= len(knobs):
        msg = f"max_size must be between 1 and the {len(knobs)} knobs, got {most}"
        raise InvalidArgument(msg)
    if not 0 < min_factor <= max_factor:
        msg = f"factors must be positive and ordered, got {min_factor} to {max_factor}"
        raise InvalidArgument(msg)
    factors = {n: _factors(n, knob, min_factor, max_factor) for n, knob in knobs.items()}
    turned_by = st.lists(
        st.sampled_from(list(factors)), min_size=1, max_size=most, unique=True
    ).flatmap(lambda names: st.fixed_dictionaries({n: factors[n] for n in names}))
    return st.builds(
        DerivedCase,
        WorkloadSpace().strategy() if case is None else case,
        st.builds(Derivation, turned_by),
    )


def _factors(name: str, knob: Knob, least: float, greatest: float) -> SearchStrategy[float]:
    low, high = max(least, knob.low), min(greatest, knob.high)
    if knob.kind is KnobKind.COUNT:
        low, high = math.ceil(low), math.floor(high)
    if low > high:
        msg = f"knob {name!r} may not be turned between {least} and {greatest}: {knob}"
        raise InvalidArgument(msg)
    if knob.kind is KnobKind.COUNT:
        return st.integers(int(low), int(high)).map(float)
    return st.floats(low, high)

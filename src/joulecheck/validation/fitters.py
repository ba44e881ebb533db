"""Fitters: the coefficients of a model from its outputs, beside those that it declares.

Energy is linear in its coefficients: E(w) = sum_i v_i n_i(w), with a count n_i of events
for each workload w. The model tells neither v_i nor n_i, but answers with coefficient i
times a factor s, and

    r_i(w) = (E(w; s) - E(w)) / (s - 1) = v_i n_i(w)

is its response, the part of the energy that the coefficient accounts for. What can be
known from there:

- r_i is 0 for all workloads: the coefficient is dead. It depends on s: energy is not
  linear in it. It appears in a term that the coefficient does not declare: it leaks.
- E - sum_i r_i is energy that no coefficient accounts for: it is hidden.
- v_i itself needs a count that does not come from the coefficient. Where r_i is in
  proportion to a known one (see `counts`) of the coefficient's unit, least squares over
  the workloads give v_i. Where it is in proportion to one of another unit, or to more or
  fewer bytes, they give v_i times a constant, such as the bytes that a MAC moves.
- A model that tells its events, n_i itself, closes what is left: r_i over n_i is v_i, and
  of a coefficient with a count from outside both must give it. A price and a count that
  are both wrong and cancel are not seen.
- Where no known count is in proportion to r_i, and no events are told, only the product
  v_i n_i is known: doubling v_i and halving n_i leaves every output as it is.
- Coefficients whose responses are in proportion multiply one count. From outputs without
  scaled calls only their sum is identifiable, which is the combination that is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import chain
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Coefficient
from joulecheck.errors import InvalidModel, NotOffered
from joulecheck.estimate import Answers
from joulecheck.model import Offer, Subject
from joulecheck.validation.counts import known_counts, priced, told_events
from joulecheck.validation.workload_set import workload_source
from joulecheck.workload.columns import Bools, Floats

CASES: Final = 1024
"""Workloads of a model with a batch path."""

SCALAR_CASES: Final = 96
"""Of one that answers one by one."""

FACTORS: Final = (1e6, 2.0)
"""By which a coefficient is multiplied. The large one lifts what is little above the
rounding of the total; the small one shows whether energy is linear in between."""

ACCURACY: Final = 1e-6
"""Relative: a fitted value this near the declared one is the declared one."""

PROPORTIONAL: Final = 1e-8
"""Relative: how far a response in proportion to a count may be off it."""

ROUNDING: Final = 1e-11
"""Of the energy of a workload: what is less may be rounding."""

PARALLEL: Final = 1e-6
"""How far apart unit vectors of responses are that are one."""

POWERS: Final = np.linspace(0.01, 10, 1000)
"""Of a factor, that energy may go with where it is not linear."""

TAKES_PART: Final = 1e-6
"""Component of a unit vector from which a coefficient is part of a combination."""

HIDDEN: Final = 1e-9
"""Share of a workload's energy that may be left without a coefficient."""


class Status(Enum):
    """What is known of a coefficient. The value says it in words."""

    RECOVERED = "the fitted value is the declared one"
    UP_TO_A_CONSTANT = "in proportion to a known count, by a constant that no output tells"
    UNCOUNTED = "no output counts its events"
    ZERO = "it is declared 0, which no factor moves"
    MIS_SCALED = "the fitted value is not the declared one"
    MISCOUNTED = "its energy is not in proportion to its bytes or events"
    DEAD = "no output responds to it"
    NOT_LINEAR = "energy is not linear in it"
    LEAKING = "it moves terms that it does not declare"

    @property
    def is_fault(self) -> bool:
        """Whether the model contradicts its declaration."""
        return self in FAULTS


FAULTS: Final = frozenset(Status) - {
    Status.RECOVERED,
    Status.UP_TO_A_CONSTANT,
    Status.UNCOUNTED,
    Status.ZERO,
}


@attrs.frozen(kw_only=True)
class Fitted:
    """One coefficient, as the outputs show it."""

    name: str
    unit: str
    declared: float
    status: Status
    value: float | None = None
    """Fitted, in its unit; None if the outputs do not tell."""
    count: str = ""
    """The known count that its response is in proportion to, if any."""
    constant: float | None = None
    """Events for each of the count, if the declared value is right."""
    share: float = 0.0
    """The largest share that it has of the energy of a workload."""
    shares_count_with: tuple[str, ...] = ()
    """Coefficients whose responses are in proportion to its own."""
    also_moves: tuple[str, ...] = ()
    """Terms that it moves and does not declare."""
    order: float | None = None
    """The power of the factor with which its energy grows, if that is not 1."""

    @property
    def error(self) -> float | None:
        """How far the fitted value is from the declared one, relative."""
        if self.value is None:
            return None
        return abs(self.value / self.declared - 1) if self.declared else np.inf


@attrs.frozen(kw_only=True)
class Fit:
    """What the outputs of one model tell of its coefficients."""

    model: str
    machine: str
    workloads: int
    seed: int
    coefficients: tuple[Fitted, ...]
    condition: float
    """Of the matrix of responses, by count: how much unscaled totals magnify an error."""
    combinations: tuple[tuple[str, ...], ...]
    """Coefficients that unscaled totals tell only in combination."""
    hidden: float
    """The largest share of a workload's energy that no coefficient accounts for; below 0
    if they account for more than there is."""
    hidden_terms: tuple[str, ...]
    """Where it is."""

    @property
    def faults(self) -> tuple[Fitted, ...]:
        """The coefficients that contradict what is declared."""
        return tuple(one for one in self.coefficients if one.status.is_fault)

    @property
    def is_sound(self) -> bool:
        """Whether there is no fault, and no hidden energy."""
        return not self.faults and not self.hides

    @property
    def hides(self) -> bool:
        """Whether there is energy that no coefficient accounts for."""
        return abs(self.hidden) > HIDDEN

    @property
    def worst(self) -> float:
        """The largest relative error of those that were recovered."""
        errors = [one.error for one in self.coefficients if one.status is Status.RECOVERED]
        return max((error for error in errors if error is not None), default=0.0)


def fit(model: Subject, *, seed: int = 1, cases: int | None = None) -> Fit:
    """Fit the energy coefficients of a model to its own outputs.

    Args:
        model: which is asked, unscaled and with each coefficient scaled.
        seed: of the workloads.
        cases: how many of them; by default as many as its path allows.

    Raises:
        NotOffered: it declares no energy coefficients, or answers with no energy.
        InvalidModel: its energy is above 0 for none of the workloads.
    """
    missing = [o for o in (Offer.ENERGY, Offer.COEFFICIENTS) if o not in model.offers]
    if missing:
        ways = " and ".join(offer.value for offer in missing)
        msg = f"{model.name} cannot be fitted: to offer what that needs, {ways}"
        raise NotOffered(msg)
    if not model.energy_coefficients:
        units = ", ".join(sorted({c.unit for c in model.coefficients.values()}))
        msg = f"{model.name} cannot be fitted: no coefficient is in J or W, but in {units}"
        raise NotOffered(msg)
    size = cases or (CASES if model.vectorised else SCALAR_CASES)
    space = workload_source().space(model)
    drawn = space.batch(space.sample(np.random.default_rng(seed), size))
    assert isinstance(drawn, Cases)  # noqa: S101 - the source promises plain cases
    return _Fitting(model, drawn).run(seed)


class _Fitting:
    """The responses of a model to each of its energy coefficients."""

    def __init__(self, model: Subject, cases: Cases) -> None:
        everything = model.ask(cases)
        good = np.flatnonzero(np.isfinite(everything.energy) & (everything.energy > 0))
        if not good.size:
            told = f"; it raised {everything.errors[0]}" if 0 in everything.errors else ""
            msg = (
                f"{model.name} cannot be fitted: its energy must be a finite number above "
                f"0, and is none for all of {len(cases)} workloads{told}"
            )
            raise InvalidModel(msg)
        self.model = model
        self.cases = cases.take(good)
        self.base = model.ask(self.cases)
        self.energy = self.base.energy
        self.counts = known_counts(model, self.cases, self.base)
        self.events = told_events(model, self.base)
        self.scaled = {name: self._scaled(name) for name in model.energy_coefficients}
        self.responses = {
            name: self._response(answers.energy, FACTORS[0])
            for name, (answers, _) in self.scaled.items()
        }

    def _scaled(self, name: str) -> tuple[Answers, Answers]:
        large, small = (
            self.model.ask(self.cases, {name: np.full(len(self.cases), factor)})
            for factor in FACTORS
        )
        return large, small

    def _response(self, energy: Floats, factor: float) -> Floats:
        return np.nan_to_num((energy - self.energy) / (factor - 1))

    def run(self, seed: int) -> Fit:
        groups = self._groups()
        told = (
            self._response(small.energy, FACTORS[1]) for _, small in self.scaled.values()
        )
        hidden = 1 - sum(told) / self.energy
        worst = int(np.argmax(np.abs(hidden)))
        condition, more = self._conditioning(groups)
        return Fit(
            model=self.model.name,
            machine=self.model.machine.name,
            workloads=len(self.cases),
            seed=seed,
            coefficients=tuple(self._fitted(name, groups) for name in self.responses),
            condition=condition,
            combinations=(*(group for group in groups if len(group) > 1), *more),
            hidden=float(hidden[worst]),
            hidden_terms=self._hidden_terms() if abs(hidden[worst]) > HIDDEN else (),
        )

    def _fitted(self, name: str, groups: Sequence[tuple[str, ...]]) -> Fitted:
        declared = self.model.coefficients[name]
        response = self.responses[name]
        with_it = next((g for g in groups if name in g), (name,))
        made = Fitted(
            name=name,
            unit=declared.unit,
            declared=float(declared.value),
            status=Status.UNCOUNTED,
            share=float(np.max(np.abs(response) / self.energy)),
            shares_count_with=tuple(other for other in with_it if other != name),
        )
        if not self._is_felt(response).any():
            status = Status.DEAD if declared.value else Status.ZERO
            return attrs.evolve(made, status=status)
        order = self._order(name)
        if order is not None:
            return attrs.evolve(made, status=Status.NOT_LINEAR, order=order)
        others = self._undeclared(name, declared)
        if others:
            return attrs.evolve(made, status=Status.LEAKING, also_moves=others)
        found = self._counted(made, declared, response)
        return found if found.status.is_fault else self._closed(found, response)

    def _is_felt(self, response: Floats) -> Bools:
        felt: Bools = np.abs(response) * FACTORS[0] > ROUNDING * self.energy
        return felt

    def _order(self, name: str) -> float | None:
        """The power of the factor that energy goes with, or None if it is 1."""
        large = self.responses[name]
        small = self._response(self.scaled[name][1].energy, FACTORS[1])
        off = np.abs(large - small)
        allowed = ROUNDING * self.energy + PROPORTIONAL * np.abs(small)
        if (off <= allowed).all():
            return None
        worst = int(np.argmax(off - allowed))
        grown = [
            response[worst] * (factor - 1)
            for response, factor in zip((large, small), FACTORS, strict=True)
        ]
        if min(grown) <= 0:
            return 0.0
        ratios = np.divide(*(factor**POWERS - 1 for factor in FACTORS))
        return float(POWERS[np.argmin(np.abs(np.log(ratios * grown[1] / grown[0])))])

    def _undeclared(self, name: str, declared: Coefficient) -> tuple[str, ...]:
        """Terms that move with a coefficient and are not among those it declares."""
        if declared.terms is None:
            return ()
        large = self.scaled[name][0]
        return tuple(
            term
            for term in self.base.energy_terms
            if term not in declared.terms
            and (
                np.abs(large.energy_term(term) - self.base.energy_term(term))
                > ROUNDING * large.energy
            ).any()
        )

    def _closed(self, found: Fitted, response: Floats) -> Fitted:
        """Held against the events that the model tells of it, if it does."""
        events = self.events.get(found.name)
        if events is None:
            return found
        slope = self._slope(response, events.values)
        if slope is None:
            return attrs.evolve(found, status=Status.MISCOUNTED, count=events.name)
        constant = slope / found.declared
        right = abs(constant - 1) <= ACCURACY
        if right and found.status is Status.RECOVERED:
            return found
        return attrs.evolve(
            found,
            status=Status.RECOVERED if right else Status.MIS_SCALED,
            value=slope,
            count=events.name,
            constant=constant,
        )

    def _counted(self, made: Fitted, declared: Coefficient, response: Floats) -> Fitted:
        """With its value, if the response is in proportion to a known count."""
        found = {
            count: slope
            for count in self.counts
            if (slope := self._slope(response, count.values)) is not None
        }
        events = priced(declared.unit)
        alike = {count: s for count, s in found.items() if count.unit == events}
        if not alike and self._own_memory(declared):
            return attrs.evolve(made, status=Status.MISCOUNTED)
        if not made.declared:
            count = next(iter(alike), None)
            if count is not None:
                made = attrs.evolve(made, count=count.name, value=alike[count])
            return attrs.evolve(made, status=Status.MIS_SCALED)
        if not found:
            return made
        count = min(
            alike or found,
            key=lambda one: abs(np.log(abs(found[one] / made.declared or 1.0))),
        )
        slope = found[count]
        known = attrs.evolve(made, count=count.name, constant=slope / made.declared)
        if abs(slope / made.declared - 1) <= ACCURACY and alike:
            return attrs.evolve(known, status=Status.RECOVERED, value=slope)
        if alike and (events != "B" or count.memory in (declared.terms or ())):
            return attrs.evolve(known, status=Status.MIS_SCALED, value=slope)
        return attrs.evolve(known, status=Status.UP_TO_A_CONSTANT)

    def _own_memory(self, declared: Coefficient) -> bool:
        """Whether it alone prices the bytes of a memory that the outputs count."""
        if not declared.unit.endswith("/B") or len(declared.terms or ()) != 1:
            return False
        others = self.model.coefficients.values()
        movers = [one for one in others if one.terms == declared.terms]
        counted = {count.memory for count in self.counts}
        return len(movers) == 1 and declared.terms is not None and declared.terms <= counted

    def _slope(self, response: Floats, values: Floats) -> float | None:
        """Least squares of a response over a count; None if it is not in proportion.

        A workload weighs as its energy does, since that is what is rounded.
        """
        values = np.nan_to_num(values)
        if not values.any():
            return None
        design = (values / self.energy)[:, None]
        design_size = float(np.linalg.norm(design))
        ((slope,), *_) = np.linalg.lstsq(
            design / design_size, response / self.energy, rcond=None
        )
        slope = float(slope) / design_size
        off = np.abs(response - slope * values)
        rounding = ROUNDING * self.energy * (1 / FACTORS[0]) + 1e-14 * np.abs(response)
        if (off <= PROPORTIONAL * np.abs(response) + rounding).all():
            return slope
        return None

    def _columns(self) -> dict[str, Floats]:
        """Each response over the energy, as a unit vector; without the dead."""
        found = {}
        for name, response in self.responses.items():
            column = response / self.energy
            size = float(np.linalg.norm(column))
            if size > 0 and self._is_felt(response).any():
                found[name] = column / size
        return found

    def _groups(self) -> list[tuple[str, ...]]:
        """Coefficients by the count that they multiply, in the order of declaration."""
        columns = self._columns()
        groups: list[list[str]] = []
        for name, column in columns.items():
            for group in groups:
                if np.linalg.norm(column - columns[group[0]]) < PARALLEL:
                    group.append(name)
                    break
            else:
                groups.append([name])
        return [tuple(group) for group in groups]

    def _conditioning(
        self, groups: Sequence[tuple[str, ...]]
    ) -> tuple[float, list[tuple[str, ...]]]:
        """Of the responses, one of each group, and what they cannot tell apart."""
        columns = self._columns()
        if not groups:
            return 1.0, []
        design = np.column_stack([columns[group[0]] for group in groups])
        _, sizes, directions = np.linalg.svd(design, full_matrices=False)
        flat = sizes < ROUNDING * sizes[0]
        taking_part = (np.abs(directions[flat]) > TAKES_PART).tolist()
        more = [
            tuple(chain.from_iterable(groups[at] for at in together))
            for together in _joined(
                {i for i, p in enumerate(row) if p} for row in taking_part
            )
        ]
        return float(sizes[0] / sizes[~flat][-1]), more

    def _hidden_terms(self) -> tuple[str, ...]:
        """The terms of which a part responds to no coefficient."""
        found = []
        for term in self.base.energy_terms:
            here = self.base.energy_term(term)
            answers = (small.energy_term(term) for _, small in self.scaled.values())
            told = sum((one - here) / (FACTORS[1] - 1) for one in answers)
            if (np.abs(here - told) > HIDDEN * self.energy).any():
                found.append(term)
        return tuple(found)


def _joined(sets: Iterable[set[int]]) -> list[list[int]]:
    """Sets that have something in common as one, sorted."""
    found: list[set[int]] = []
    for one in sets:
        apart = [other for other in found if not other & one]
        found = [*apart, one.union(*(other for other in found if other & one))]
    return sorted(sorted(one) for one in found)

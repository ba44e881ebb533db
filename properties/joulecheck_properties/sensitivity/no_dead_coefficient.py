"""SEN005."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Cases, CoefficientCase, Singles
from joulecheck.estimate import Answers
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Floats
from joulecheck_properties.differences import agreement
from joulecheck_strategies import coefficients, workloads

WITNESSES: Final = 512
"""Cases after which a coefficient that moved none of them is called dead."""

FACTORS: Final = (2.0, 0.5)
"""Of a rate one way may change nothing: a memory that is not the limit."""

NOTICED: Final = 1e-12
"""Relative change of some quantity that counts as a response."""


class NoDeadCoefficient(Property):
    """Every coefficient moves something in some case.

    Statement:
        For every coefficient c there is a case w for which twice or half of c changes
        the energy, the latency, the utilisation or a term.

    Rationale:
        A coefficient that is declared, tuned and documented, and that nothing reads,
        is a promise that calibration cannot keep.

    Domain:
        Coefficients that are not 0. The law is existential, so that its case is the
        coefficient: it holds if one witness responds, and is violated if none of the
        first 512 cases does that the model's sampler draws from a fixed seed. The
        case names that effort; a coefficient that matters to rarer cases alone fails
        too, and then deserves its reason in an exemption.

    Tolerance:
        A change of 1e-12 of the quantity, which is beyond the rounding of a product.

    Source:
        The definition of a coefficient.

    Planted bug:
        dead-coefficient: the model does not read dram_energy.

    Shrinks to:
        The coefficient dram_energy, to which none of 512 cases responds.

    Stays because:
        SCL001 and SEN004 find a dead price. A coefficient that is none of an energy, such
        as a rate, is dead by this law alone.
    """

    id: ClassVar = "SEN005"
    name: ClassVar = "no-dead-coefficient"
    needs: ClassVar = frozenset({Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="dead-coefficient",
        model="reference:Intel-i7-12700K",
        shrinks_to=CoefficientCase("dram_energy", WITNESSES),
    )
    thinning: ClassVar = 16
    """There are few coefficients, and a batch asks about each once."""

    def space(self, model: Subject) -> CaseSpace:
        """All coefficients."""
        return coefficients(model, witnesses=WITNESSES)

    def margin(self, model: Subject, cases: Singles[CoefficientCase]) -> Floats:
        """The first response that was noticed, -1 where all of the effort saw none."""
        asked = list(cases)
        found = {
            effort: _responses(model, effort, {c.coefficient for c in asked})
            for effort in {c.witnesses for c in asked}
        }
        return np.array([found[case.witnesses][case.coefficient] for case in asked])


def _responses(model: Subject, effort: int, names: set[str]) -> dict[str, float]:
    """The response to each coefficient: NaN where the model answers no witness."""
    found = dict.fromkeys(sorted(names), np.nan)
    for witnesses in _witnesses(model, effort):
        waiting = [name for name, response in found.items() if not response > 0]
        if not waiting:
            break
        nominal = model.ask(witnesses)
        for name in waiting:
            change = _change(model, witnesses, nominal, name)
            if not np.isnan(change):
                found[name] = change if change > NOTICED else -1.0
    return found


def _witnesses(model: Subject, effort: int) -> Iterator[Cases]:
    """The witnesses in groups that grow: the first few settle most coefficients."""
    space = workloads(model)
    rows = space.sample(np.random.default_rng(0), effort)
    first, size = 0, 4
    while first < effort:
        batch = space.batch(rows[first : first + size])
        yield batch if model.vectorised else Cases.of([*batch])  # build each case once
        first, size = first + size, 2 * size


def _change(model: Subject, witnesses: Cases, nominal: Answers, name: str) -> float:
    """The largest relative change that a factor of `name` makes; NaN if none is known."""
    largest = np.nan
    for factor in FACTORS:
        scaled = model.ask(witnesses, {name: np.full(len(witnesses), factor)})
        changes = NOTICED - agreement(nominal, scaled, NOTICED)
        changes[[*nominal.errors, *scaled.errors]] = np.nan
        changes[nominal.unsupported | scaled.unsupported] = np.nan
        largest = np.fmax.reduce(changes, initial=largest)
    return float(largest)

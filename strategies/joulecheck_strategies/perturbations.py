"""Workloads under perturbed coefficients: one or several of them, or all alike."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from joulecheck.case import ScaledCase, ScaledCases
from joulecheck.space import Gene, Trait
from joulecheck.workload.columns import Floats, Ints
from joulecheck_strategies.reading import Take
from joulecheck_strategies.workload_space import WorkloadSpace
from joulecheck_strategies.wrapping import WrappingSpace

FACTORS: Final = (
    1.1, 0.9, 2.0, 0.5, 1 + 1e-6, 1 - 1e-6, 1.01, 0.99, 1.05, 0.95, 1.25, 0.8, 1.5, 0.75,
    10.0, 0.1,
)  # fmt: skip
"""Plainest first: +/-10 %, the ends of the range, and steps small enough to derive."""

_FACTORS: Final = np.array(FACTORS)

MAX_PERTURBED: Final = 3


@attrs.frozen(slots=False)
class PerturbationSpace(WrappingSpace[ScaledCase]):
    """From `least` to `most` of `coefficients`, each times its own factor."""

    workloads: WorkloadSpace
    coefficients: tuple[str, ...]
    least: int = 1
    most: int = MAX_PERTURBED

    @cached_property
    def more_genes(self) -> tuple[Gene, ...]:
        """A coefficient and a factor, then more of them as distances from the last."""
        genes = [
            Gene("coefficient", 0, self._highest(0)),
            Gene("factor", 0, len(FACTORS) - 1),
        ]
        for slot in self._later:
            genes += [
                Gene(f"more_{slot}", int(slot < self.least), 1),
                Gene(f"skip_{slot}", 0, len(self.coefficients) - 1),
                Gene(f"factor_{slot}", 0, len(FACTORS) - 1),
            ]
        return tuple(genes)

    @property
    def _later(self) -> range:
        """The slots after the first."""
        return range(1, min(self.most, len(self.coefficients)))

    def _highest(self, slot: int) -> int:
        """The highest coefficient of a slot: those that must follow need room."""
        return len(self.coefficients) - 1 - max(0, self.least - 1 - slot)

    def read(self, take: Take) -> ScaledCase:
        """Read the workload, then coefficients in ascending order while there are more."""
        case = self.workloads.read(take)
        last = len(self.coefficients) - 1
        index = take("coefficient")
        scale = {self.coefficients[index]: FACTORS[take("factor")]}
        for slot in self._later:
            if index == last or not take(f"more_{slot}"):
                break
            index = min(index + 1 + take(f"skip_{slot}"), self._highest(slot))
            scale[self.coefficients[index]] = FACTORS[take(f"factor_{slot}")]
        return ScaledCase(case, scale)

    def encode(self, case: ScaledCase) -> dict[str, int]:
        """The workload's genes, then distances between ascending coefficients."""
        found = self.workloads.encode(case.case)
        ordered = sorted((self.coefficients.index(n), f) for n, f in case.scale.items())
        before = -1
        for slot, (index, factor) in enumerate(ordered):
            chosen = FACTORS.index(factor)
            if slot:
                found |= {
                    f"more_{slot}": 1,
                    f"skip_{slot}": index - before - 1,
                    f"factor_{slot}": chosen,
                }
            else:
                found |= {"coefficient": index, "factor": chosen}
            before = index
        return found

    def canonical_more(self, rows: Ints) -> None:
        """Drop what lies beyond the last coefficient, in place."""
        for _ in self._chosen(rows):
            pass

    def _chosen(self, rows: Ints) -> list[tuple[Ints, Ints, Ints]]:
        """(rows, coefficients, factors) by slot; brings the genes into form."""
        last = len(self.coefficients) - 1
        column = self.column
        lows = self.plainest
        alive = np.arange(len(rows))
        index = rows[:, column["coefficient"]]
        chosen = [(alive, index, rows[:, column["factor"]])]
        for slot in self._later:
            more, skip, factor = (
                column[f"{name}_{slot}"] for name in ("more", "skip", "factor")
            )
            goes_on = (rows[alive, more] == 1) & (index < last)
            ended = np.setdiff1d(np.arange(len(rows)), alive[goes_on])
            for unread in (more, skip, factor):
                rows[ended, unread] = lows[unread]
            alive, index = alive[goes_on], index[goes_on]
            step = np.minimum(rows[alive, skip], self._highest(slot) - index - 1)
            rows[alive, skip] = step
            index = index + 1 + step
            chosen.append((alive, index, rows[alive, factor]))
        return chosen

    def traits(self, rows: Ints) -> Mapping[str, Trait]:
        """None: the factors tell which coefficients are scaled."""
        del rows
        return {}

    def batch(self, rows: Ints) -> ScaledCases:
        """The cases, with an array of factors for each coefficient that any row moves."""
        cases = self.workloads.batch(rows[:, : self._split])
        scales: dict[str, Floats] = {}
        for alive, index, factor in self._chosen(rows):
            for one in np.unique(index):
                name = self.coefficients[one]
                factors = scales.setdefault(name, np.ones(len(rows)))
                moved = index == one
                factors[alive[moved]] = _FACTORS[factor[moved]]
        return ScaledCases(cases, scales)


@attrs.frozen(slots=False)
class UniformScaleSpace(WrappingSpace[ScaledCase]):
    """All of `coefficients` times one factor."""

    workloads: WorkloadSpace
    coefficients: tuple[str, ...]

    @cached_property
    def more_genes(self) -> tuple[Gene, ...]:
        """The factor."""
        return (Gene("factor", 0, len(FACTORS) - 1),)

    def read(self, take: Take) -> ScaledCase:
        """Read the workload, then the factor."""
        case = self.workloads.read(take)
        return ScaledCase(case, dict.fromkeys(self.coefficients, FACTORS[take("factor")]))

    def encode(self, case: ScaledCase) -> dict[str, int]:
        """The workload's genes and the common factor."""
        (factor,) = set(case.scale.values())
        return {**self.workloads.encode(case.case), "factor": FACTORS.index(factor)}

    def canonical_more(self, rows: Ints) -> None:
        """Nothing: every factor is read."""

    def traits(self, rows: Ints) -> Mapping[str, Trait]:
        """None: the factors tell which coefficients are scaled."""
        del rows
        return {}

    def batch(self, rows: Ints) -> ScaledCases:
        """The cases, with one array of factors for all coefficients."""
        factors = _FACTORS[rows[:, -1]]
        cases = self.workloads.batch(rows[:, : self._split])
        return ScaledCases(cases, dict.fromkeys(self.coefficients, factors))

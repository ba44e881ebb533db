"""Faults in what a model remembers: caches, perturbations, chance and order."""

from __future__ import annotations

from typing import Any, Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.estimate import Estimate
from joulecheck.faults.mutation import Drawn, Kind
from joulecheck.faults.planted import Change, FaultyModel, LateRestoringModel, sound
from joulecheck.model import UNSCALED, Scale, Scales
from joulecheck.reference.layered import LayeredModel

Rng = np.random.Generator


class CachingModel(FaultyModel):
    """A model that keeps answers under a key that lacks something."""

    def __init__(self, model: LayeredModel, change: Change, lacks: str) -> None:
        """Keep answers without looking at `lacks`: "precision" or "scale"."""
        super().__init__(model, change)
        self._lacks = lacks
        self._kept: dict[Any, Estimate] = {}

    def planted_in(self, model: LayeredModel) -> FaultyModel:
        """Another model with a cache of its own."""
        return CachingModel(model, self.change, self._lacks)

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """The answer to the first question that looked the same."""
        self.model.require(case)
        known = (case.workload, tuple(sorted(scale.items())))
        key = known if self._lacks == "precision" else (case.workload, case.precision)
        if key not in self._kept:
            self._kept[key] = self.model.estimate(case, scale)
        return self._kept[key]

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """The same for a batch: the workloads alone, or the batch before."""
        found = sound(self.model, cases, scales)
        if self._lacks == "scale":
            return found if not scales else sound(self.model, cases, {})
        first = np.full(len(cases), cases.precision[0])
        return sound(self.model, cases.at(first), scales)


def _cache(lacks: str) -> Any:  # noqa: ANN401 - a draw
    def draw(rng: Rng, model: LayeredModel) -> Drawn | None:
        del rng
        if lacks == "precision" and len(model.precisions) == 1:
            return None
        return Drawn(
            what=f"keys without {lacks}",
            places=("energy", "latency", "alu"),
            change=sound,
            wrapper=lambda m, change: CachingModel(m, change, lacks),
        )

    return draw


def _not_restored(rng: Rng, model: LayeredModel) -> Drawn:
    del rng, model
    return Drawn(
        what="of one call",
        places=("energy",),
        change=sound,
        wrapper=LateRestoringModel,
    )


def _random(rng: Rng, model: LayeredModel) -> Drawn:
    del model
    spread = float(10.0 ** rng.uniform(-6, -2))
    chance = np.random.default_rng(rng.integers(1 << 32))

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        noise = 1 + spread * chance.standard_normal(len(cases))
        return attrs.evolve(found, energy=found.energy * noise)

    return Drawn(what=f"spread {spread:.1g}", places=("energy",), change=change)


def _order_dependent(rng: Rng, model: LayeredModel) -> Drawn:
    del rng, model
    asked = [0]

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        asked[0] += 1
        found = sound(model, cases, scales)
        return attrs.evolve(found, energy=found.energy * (1 + 1e-3 * (asked[0] % 2)))

    return Drawn(what="every other call", places=("energy",), change=change)


class BatchFaulty(FaultyModel):
    """A model whose batch path alone is faulty."""

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """The sound answer."""
        return self.model.estimate(case, scale)


def _batch_path(rng: Rng, model: LayeredModel) -> Drawn:
    del model
    factor = 1 + float(10.0 ** rng.uniform(-4, -1))

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        return attrs.evolve(found, latency=found.latency * factor)

    what = f"latency x {factor:.5g} in batches"
    return Drawn(what=what, places=("latency",), change=change, wrapper=BatchFaulty)


KINDS: Final = (
    Kind("cache-without-precision", "a cache forgets the precision",
         "memoised by shape alone", _cache("precision")),
    Kind("cache-without-scale", "a cache forgets the coefficients",
         "memoised by workload alone", _cache("scale")),
    Kind("not-restored", "a perturbation is undone one call too late",
         "coefficients set and restored around a call", _not_restored),
    Kind("random", "answers vary by chance", "sampled mappings without a seed", _random),
    Kind("order-dependent", "answers depend on how often was asked before",
         "mutable defaults", _order_dependent),
    Kind("batch-path", "the batch path differs from the scalar one",
         "two implementations of one formula", _batch_path),
)  # fmt: skip

"""Faults in what a model keeps between questions, and in where it answers them."""

from __future__ import annotations

import math
import threading
from typing import Any, Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.errors import JoulecheckError
from joulecheck.estimate import Estimate
from joulecheck.faults.planted import Arrays, Change, Fault, FaultyModel
from joulecheck.model import UNSCALED, Scale, Scales
from joulecheck.reference.layered import LayeredModel
from joulecheck.workload import Precision

HASHES: Final = 1 << 20


class UnrestoringModel(FaultyModel):
    """A model that sets its coefficients for a call and resets them if that succeeds."""

    def __init__(self, model: LayeredModel, change: Change) -> None:
        """Plant it; the coefficients are as declared."""
        super().__init__(model, change)
        self._left = 1.0

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """The sound answer, times what a failed call has left behind."""
        found = Arrays.of(self.model.estimate_batch(cases, scales))
        if scales:
            self._left = 1.0
        return attrs.evolve(found, energy=found.energy * self._left)

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """The same for one case; a refusal leaves the known factors in force."""
        try:
            return super().estimate(case, scale)
        except JoulecheckError:
            known = (f for name, f in scale.items() if name in self.model.coefficients)
            self._left = math.prod(known)
            raise


class LatePrecisionModel(FaultyModel):
    """A model that changes to a question's precision when it has answered it."""

    def __init__(self, model: LayeredModel, change: Change) -> None:
        """Plant it; nothing was asked yet."""
        super().__init__(model, change)
        self._last: Precision | None = None

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """The sound answer at the precision of the question before."""
        self.model.require(case)
        answered = attrs.evolve(case, precision=self._last or case.precision)
        self._last = case.precision
        return self.model.estimate(answered, scale)


class OneThreadModel(FaultyModel):
    """A model whose static power only the thread that built it knows."""

    def __init__(self, model: LayeredModel, change: Change) -> None:
        """Plant it in this thread."""
        super().__init__(model, change)
        self._local = threading.local()
        self._local.knows = True

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """The sound answer, without static energy in another thread."""
        found = Arrays.of(self.model.estimate_batch(cases, scales))
        if getattr(self._local, "knows", False):
            return found
        return attrs.evolve(found, energy=found.energy - found.energy_terms["static"])


class ForgetfulModel(FaultyModel):
    """A model whose copy lacks the calibration that the original was given."""

    def __init__(self, model: LayeredModel, change: Change) -> None:
        """Plant it; the original is calibrated."""
        super().__init__(model, change)
        self._correction = 1.0

    def __getstate__(self) -> dict[str, Any]:
        """All that is copied."""
        return {"model": self.model, "change": self.change, "_correction": 1.01}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what is copied."""
        self.__dict__.update(state)

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """The sound answer, 1 % dearer in a copy."""
        found = Arrays.of(self.model.estimate_batch(cases, scales))
        return attrs.evolve(found, energy=found.energy * self._correction)


def _unchanged(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    return model.estimate_batch(cases, scales)


def _hash_seeded(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = Arrays.of(model.estimate_batch(cases, scales))
    noise = hash(model.name) % HASHES / HASHES
    return attrs.evolve(found, energy=found.energy * (1 + 1e-3 * noise))


def _reseeding(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    np.random.seed(0)  # noqa: NPY002 - the fault is in the global generator
    return model.estimate_batch(cases, scales)


STATE_FAULTS: Final = (
    Fault(
        "unrestored-coefficient",
        "a perturbation stays in force if the call fails",
        _unchanged,
        UnrestoringModel,
    ),
    Fault(
        "late-precision",
        "a question is answered at the precision of the one before",
        _unchanged,
        LatePrecisionModel,
    ),
    Fault(
        "one-thread-table",
        "other threads than the one that built the model count no static power",
        _unchanged,
        OneThreadModel,
    ),
    Fault(
        "hash-seeded",
        "energy has noise that is seeded by the hash of the machine's name",
        _hash_seeded,
    ),
    Fault(
        "forgetful-copy",
        "a copy of the model loses its calibration of 1 %",
        _unchanged,
        ForgetfulModel,
    ),
    Fault("reseeding", "each answer seeds numpy's global generator", _reseeding),
)

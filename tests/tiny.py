"""Tiny models for the tests: each answers with a function, and declares what it likes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from joulecheck.case import AnyCase, Case, Cases
from joulecheck.estimate import Estimate
from joulecheck.model import UNSCALED, Scale, Scales, Subject
from joulecheck.property import property_named
from joulecheck.workload import Gemm, Precision, Workload

MAC = Case(Gemm(m=1, n=1, k=1))
"""The plainest case."""

Answer = Callable[..., Estimate]
"""Answers a case, and if it takes two arguments, its scale."""


class Tiny:
    """A model with no batch path."""

    name = "tiny"
    precisions: object = (Precision.FP32, Precision.INT8)

    def __init__(self, answer: Answer, **declared: object) -> None:
        self.answer = answer
        for name, value in declared.items():
            setattr(self, name, value)

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        takes_scale = self.answer.__code__.co_argcount > 1
        return self.answer(case, scale) if takes_scale else self.answer(case)


class TinyInBatches(Tiny):
    """A model whose batch path is a function of its own."""

    def __init__(self, answer: Answer, together: Answer, **declared: object) -> None:
        super().__init__(answer, **declared)
        self.together = together

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        del scales
        return self.together(cases)


def energy(case: Case) -> Estimate:
    """One picojoule an operation."""
    return Estimate(energy=1e-12 * case.ops)


def margin(
    law: str,
    answer: Answer,
    case: AnyCase = MAC,
    **declared: object,
) -> float:
    """The margin of one case on the tiny model with this answer."""
    subject = Subject.of(Tiny(answer, **declared))
    return property_named(law).margin_of(subject, case)


def holds(law: str, answer: Answer, case: AnyCase = MAC, **declared: object) -> bool | None:
    """Whether the law holds for a case; None if it says nothing of it."""
    found = margin(law, answer, case, **declared)
    return None if np.isnan(found) else found >= 0


def gemm(m: int = 1, n: int = 1, k: int = 1, batch: int = 1) -> Gemm:
    return Gemm(m=m, n=n, k=k, batch=batch)


def at(precision: Precision, workload: Workload | None = None) -> Case:
    return Case(workload or gemm(), precision)


def margins(
    law: str, answer: Answer, cases: Sequence[Case], **declared: object
) -> list[float]:
    """The margins of a batch of plain cases on the tiny model with this answer."""
    subject = Subject.of(Tiny(answer, **declared))
    return property_named(law).checked_margin(subject, Cases.of(cases)).tolist()

"""ROB004."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.watching import Watch
from joulecheck_strategies import workloads


class NoSideEffects(Property):
    """An answer changes nothing outside the model.

    Statement:
        While it answers, the model writes to no file, neither to the standard output
        nor to the standard error, and leaves as they were: the environment, the
        working directory, the import path, the random numbers of `random` and
        `numpy.random`, numpy's handling of floating-point errors and its print options,
        the filters of warnings, and the limit of recursion.

    Rationale:
        A model is asked a million times, from programs that have output, seeds and
        settings of their own. One that seeds the global generator repeats everybody
        else's experiment.

    Domain:
        Every case, on both paths of the model. What the model keeps within itself is
        no effect, nor are compiled files (`__pycache__`) and warnings.

    Tolerance:
        None: the margin is 1 or -1.

    Source:
        The definition of a function.

    Planted bug:
        reseeding: each answer seeds numpy's global generator.

    Shrinks to:
        The GEMM of one MAC.
    """

    id: ClassVar = "ROB004"
    name: ClassVar = "no-side-effects"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="reseeding",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )
    thinning: ClassVar = 256

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """1 where nothing was touched, -1 where something was, alone or in the batch."""
        if model.in_batches.vectorised and _touches(model.in_batches, cases):
            return np.full(len(cases), -1.0)
        touched = [_touches(_row(model, i), Cases.of([c])) for i, c in enumerate(cases)]
        return np.where(touched, -1.0, 1.0)


def _row(model: Subject, index: int) -> Subject:
    """The model, asked one by one, whose signs of life name this row of the batch."""
    return attrs.evolve(model.one_by_one, heartbeat=lambda _: model.heartbeat(index))


def _touches(model: Subject, cases: Cases) -> bool:
    with Watch() as watch:
        model.ask(cases)
    return bool(watch.touched)

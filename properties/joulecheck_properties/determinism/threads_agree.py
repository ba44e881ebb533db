"""DET004."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases, CaseSequence, Singles
from joulecheck.estimate import Answers
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.differences import agreement, reordered
from joulecheck_strategies import sequences

TOLERANCE: Final = 1e-12

THREADS: Final = 3

ROUNDS: Final = 2
"""How often each thread asks all questions."""

SWITCH_SECONDS: Final = 1e-5
"""How long a thread runs before another may; an answer takes longer."""

PATIENCE: Final = 10.0
"""Seconds that a thread waits for the others to start."""


class ThreadsAgree(Property):
    """Several threads that ask at the same time get the answers that one gets.

    Statement:
        For questions w_1, ..., w_n, every one of three threads that ask them at the
        same time, each starting with another one, gets e(w_1), ..., e(w_n) as the main
        thread does.

    Rationale:
        Services and notebooks ask from threads. A scratch buffer or an open
        perturbation that all calls share mixes answers up; a setting of the thread
        that built the model is absent from the others.

    Domain:
        Sequences of one to three questions, asked on the scalar path. A race shows by
        chance: no violation in a run is no proof that there is none.

    Tolerance:
        1e-12 of the quantity.

    Source:
        The definition of a function.

    Planted bug:
        one-thread-table: other threads than the one that built the model count no
        static power.

    Shrinks to:
        The GEMM of one MAC.
    """

    id: ClassVar = "DET004"
    name: ClassVar = "threads-agree"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="one-thread-table",
        model="reference:Intel-i7-12700K",
        shrinks_to=CaseSequence([Case(Gemm(m=1, n=1, k=1))]),
    )
    thinning: ClassVar = 1024

    def space(self, model: Subject) -> CaseSpace:
        """Sequences of one to three workloads."""
        return sequences(model)

    def margin(self, model: Subject, cases: Singles[CaseSequence]) -> Floats:
        """The least agreement of any thread with the main one."""
        with _eager_switching(), ThreadPoolExecutor(THREADS) as pool:
            return np.array([_agreement(model.one_by_one, s.cases, pool) for s in cases])


@contextmanager
def _eager_switching() -> Iterator[None]:
    """Have the interpreter change threads within an answer, not once in many."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def _agreement(model: Subject, cases: Sequence[Case], pool: ThreadPoolExecutor) -> float:
    alone = model.ask(Cases.of(cases))
    start = threading.Barrier(THREADS, timeout=PATIENCE)
    asked = [
        pool.submit(_asked_from, model, cases, first, start) for first in range(THREADS)
    ]
    answers = [one for future in asked for one in future.result()]
    margins = [agreement(alone, one, TOLERANCE) for one in answers]
    return float(np.fmin.reduce(np.concatenate(margins)))


def _asked_from(
    model: Subject, cases: Sequence[Case], first: int, start: threading.Barrier
) -> list[Answers]:
    """The answers in each round, in the order of the cases."""
    order = [(first + step) % len(cases) for step in range(len(cases))]
    turned = Cases.of([cases[index] for index in order])
    with suppress(threading.BrokenBarrierError):  # late, on a busy machine
        start.wait()
    with np.errstate(all="ignore"):  # each thread has its own
        rounds = [model.ask(turned) for _ in range(ROUNDS)]
    return [reordered(answers, np.argsort(order).tolist()) for answers in rounds]

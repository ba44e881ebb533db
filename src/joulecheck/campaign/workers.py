"""Where units run: in this process, or in supervised ones that may die or hang.

A worker notes on a board which case it is about to ask. When it stops moving for too
long it is killed; when it dies or is killed, the board names the guilty case, and
that case is a finding of the robustness family.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self

import attrs
import numpy as np
from pebble import ProcessExpired, ProcessPool

from joulecheck.campaign.follow_up import versions
from joulecheck.campaign.search import (
    FOLLOW_UP,
    Searched,
    Unit,
    batches,
    search,
    unknown,
)
from joulecheck.case import Case
from joulecheck.counterexample import Counterexample, Numbers
from joulecheck.model import Subject
from joulecheck.processes import end_with_parent
from joulecheck.property import property_named
from joulecheck.resolve import ModelRef

HANG_SECONDS: Final = 60.0
"""Without a sign of life for so long, a worker is taken for hung."""

START_SECONDS: Final = 300.0
"""The same before the first sign: a process starts, and imports and builds the model."""

POLL_SECONDS: Final = 0.1

ROBUSTNESS: Final = "ROB001"
"""The property that a case violates which kills or hangs the model."""


@attrs.frozen(kw_only=True)
class Failed:
    """A unit whose process died or hung."""

    unit: Unit
    reason: str
    counterexample: Counterexample | None = None
    """The guilty case, where the board names one."""


class Executor(Protocol):
    """Runs units; outcomes come in the order of the units."""

    def run(
        self, units: Sequence[Unit], deadline: float | None
    ) -> Iterator[Searched | Failed]:
        """Run them all, up to a deadline on `time.monotonic()`."""


class Inline:
    """Runs units in this process, one after the other: plain, and not contained."""

    def __init__(self, models: Mapping[str, Subject]) -> None:
        """Run units on these models, by name."""
        self._models = models

    def run(
        self, units: Sequence[Unit], deadline: float | None
    ) -> Iterator[Searched | Failed]:
        """Run them all, up to a deadline."""
        for unit in units:
            law = property_named(unit.property)
            yield search(unit, self._models[unit.model], law, deadline=deadline)


class Board:
    """Signs of life: a row a worker, in a file that both sides map."""

    def __init__(self, path: Path, slots: int) -> None:
        """Map the board, made when it does not exist."""
        mode: Any = "r+" if path.exists() else "w+"
        self._cells = np.memmap(path, dtype=np.int64, mode=mode, shape=(slots, 3))

    def beat(self, slot: int, row: int) -> None:
        """Note that row `row` of the current batch is about to be asked."""
        self._cells[slot, 0] += 1
        self._cells[slot, 2] = row

    def turn(self, slot: int, batch: int) -> None:
        """Note that batch number `batch` begins."""
        self._cells[slot, 0] += 1
        self._cells[slot, 1] = batch
        self._cells[slot, 2] = -1

    def beats(self, slot: int) -> int:
        """How many signs there were."""
        return int(self._cells[slot, 0])

    def last(self, slot: int) -> tuple[int, int]:
        """The batch and the row that were noted last.

        Row -1 is the batch as a whole, and batch -1 is what follows a failure.
        """
        return int(self._cells[slot, 1]), int(self._cells[slot, 2])


@attrs.frozen
class Job:
    """A unit on its way to a worker."""

    unit: Unit
    ref: ModelRef
    deadline: float | None
    died_in_a_batch: str = ""
    """Why it did not end: ask the scalar path now, so that the board names single cases."""


@attrs.define
class _Running:
    place: int
    job: Job
    future: Future[Searched]
    beats: int
    since: float
    patience: float = START_SECONDS


class Pool:
    """Runs units in supervised worker processes. Use it as a context manager."""

    def __init__(
        self,
        refs: Mapping[str, ModelRef],
        workers: int,
        *,
        hang_seconds: float = HANG_SECONDS,
    ) -> None:
        """Start `workers` processes for the models of these references, by name."""
        self._refs = refs
        self._workers = workers
        self._hang_seconds = hang_seconds
        self._folder = tempfile.TemporaryDirectory(prefix="joulecheck-")
        board = Path(self._folder.name) / "board"
        self._board = Board(board, workers)
        self._pool = ProcessPool(
            max_workers=workers,
            context=multiprocessing.get_context("spawn"),
            initializer=_start_worker,
            initargs=(board, workers, str(Path.cwd())),
        )

    def __enter__(self) -> Self:
        """Nothing more to start."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the workers, at once after an error."""
        if error is None:
            self._pool.close()  # type: ignore[no-untyped-call]  # Pebble's, which is half typed
        else:
            self._pool.stop()  # type: ignore[no-untyped-call]  # likewise
        self._pool.join()
        self._folder.cleanup()

    def run(
        self, units: Sequence[Unit], deadline: float | None
    ) -> Iterator[Searched | Failed]:
        """Run them all, up to a deadline; outcomes come in the order of the units."""
        jobs = [Job(unit, self._refs[unit.model], deadline) for unit in units]
        waiting = deque(enumerate(jobs))
        running: dict[int, _Running] = {}
        outcomes: dict[int, Searched | Failed] = {}
        following = 0
        while following < len(jobs):
            self._fill(waiting, running)
            self._collect(waiting, running, outcomes)
            while following in outcomes:
                yield outcomes.pop(following)
                following += 1

    def _fill(self, waiting: deque[tuple[int, Job]], running: dict[int, _Running]) -> None:
        for slot in range(self._workers):
            if slot not in running and waiting:
                place, job = waiting.popleft()
                self._board.turn(slot, FOLLOW_UP)  # the last unit's case is not guilty
                future = self._pool.schedule(_work, args=(job, slot))
                beats = self._board.beats(slot)
                running[slot] = _Running(place, job, future, beats, time.monotonic())

    def _collect(
        self,
        waiting: deque[tuple[int, Job]],
        running: dict[int, _Running],
        outcomes: dict[int, Searched | Failed],
    ) -> None:
        futures = [one.future for one in running.values()]
        wait(futures, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
        for slot, one in list(running.items()):
            reason = self._reason(slot, one)
            if reason is None and not one.future.done():
                continue
            del running[slot]
            if reason is None:
                outcomes[one.place] = _finished(one.job, one.future.result())
            elif self._board.last(slot)[1] < 0 and not one.job.died_in_a_batch:
                again = attrs.evolve(one.job, died_in_a_batch=reason)
                waiting.appendleft((one.place, again))
            else:
                outcomes[one.place] = self._failed(slot, one.job, reason)

    def _reason(self, slot: int, one: _Running) -> str | None:
        """Why a unit failed, or None if it runs or has ended well."""
        if one.future.done():
            error = one.future.exception()
            if error is None:
                return None
            if isinstance(error, ProcessExpired):
                return f"the process that asked the model died (exit {error.exitcode})"
            if not isinstance(error, Exception):
                return f"the model raised {type(error).__name__}"
            raise error
        beats, now = self._board.beats(slot), time.monotonic()
        if beats != one.beats:
            one.beats, one.since, one.patience = beats, now, self._hang_seconds
        elif now - one.since > one.patience:
            one.future.cancel()
            return f"the model gave no answer for {one.patience:g} s"
        return None

    def _failed(self, slot: int, job: Job, reason: str) -> Failed:
        batch, row = self._board.last(slot)
        found = _guilty(job, batch, row, reason) if row >= 0 else None
        return Failed(unit=job.unit, reason=reason, counterexample=found)


def _finished(job: Job, found: Searched) -> Searched | Failed:
    """What a unit found; a batch that died is a failure even if its cases do not."""
    if not job.died_in_a_batch or found.failing or job.unit.follow:
        return found
    reason = f"in a batch, {job.died_in_a_batch}; one by one, its cases are answered"
    return Failed(unit=job.unit, reason=reason)


def _guilty(job: Job, batch: int, row: int, reason: str) -> Counterexample | None:
    """The case that the board names, where it is a plain one."""
    if batch < 0:
        return None
    law, model = property_named(job.unit.property), job.ref.load()
    space = law.space(model)
    rows = next(r for number, r in batches(job.unit, model, law) if number == batch)
    genes = unknown(job.unit, space, rows)[row].tolist()
    case = space.build(genes)
    if not isinstance(case, Case):
        return None
    return Counterexample(
        model=job.unit.model,
        property=ROBUSTNESS,
        case=case,
        genes=genes,
        margin=-1.0,
        numbers=(_no_numbers(reason),),
        seed=job.unit.seed,
        fault=job.ref.fault,
        versions=versions(),
    )


def _no_numbers(reason: str) -> Numbers:
    return Numbers(
        role="case",
        energy=None,
        latency=None,
        utilisation=None,
        energy_terms={},
        latency_terms={},
        error=reason,
    )


_board: Board | None = None


def _start_worker(board: Path, slots: int, folder: str) -> None:
    """Prepare a worker: its board, its imports, and an end with its parent's."""
    global _board  # noqa: PLW0603 - one board a process
    _board = Board(board, slots)
    os.chdir(folder)
    os.dup2(2, 1)  # the standard output is the report's: models print to the other
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def _work(job: Job, slot: int) -> Searched:
    """Search a unit in a worker, leaving signs of life."""
    board = _board
    assert board is not None  # noqa: S101 - the initialiser made it
    model = job.ref.load()
    if job.died_in_a_batch:
        model = model.one_by_one
    beat = partial(board.beat, slot)
    model = attrs.evolve(model, heartbeat=beat)
    return search(
        job.unit,
        model,
        property_named(job.unit.property),
        deadline=job.deadline,
        on_batch=lambda batch: board.turn(slot, batch),
    )

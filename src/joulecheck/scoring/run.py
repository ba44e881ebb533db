"""Many mutants, in this process or in several; outcomes come in the order asked."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from joulecheck.errors import HarnessError

Asked = TypeVar("Asked")
Outcome = TypeVar("Outcome")


@contextmanager
def workers(number: int) -> Iterator[ProcessPoolExecutor | None]:
    """That many processes, or none for 0; those still running stop on an error."""
    if not number:
        yield None
        return
    pool = ProcessPoolExecutor(
        number, multiprocessing.get_context("spawn"), initializer=_start_worker
    )
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _start_worker() -> None:
    os.dup2(2, 1)  # the standard output is the report's
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def each(
    do: Callable[[Asked], Outcome],
    tasks: Sequence[Asked],
    pool: ProcessPoolExecutor | None,
) -> Iterator[Outcome]:
    """Do all tasks; the outcomes come in their order, each as soon as it can.

    Raises:
        HarnessError: a worker died.
    """
    if pool is None:
        yield from map(do, tasks)
        return
    try:
        futures: list[Future[Outcome]] = [pool.submit(do, task) for task in tasks]
        for future in futures:
            yield future.result()
    except BrokenProcessPool as error:
        msg = "a process that tried mutants died: is there enough memory for them all?"
        raise HarnessError(msg) from error

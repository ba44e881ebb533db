"""Progress of long work: a bar on a terminal, a line now and then in a pipe."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from joulecheck.cli.output import console

Outcome = TypeVar("Outcome")

PLAIN_PROGRESS_SECONDS: Final = 15.0
"""Between two lines in a pipe."""


def progressing(outcomes: Iterable[Outcome], total: int, what: str) -> Iterator[Outcome]:
    """The same outcomes, told of on standard error as they come."""
    out = console(stderr=True)
    if not out.is_terminal:
        yield from _plainly(outcomes, total, what)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task(what, total=total)
        for outcome in outcomes:
            bar.advance(task)
            yield outcome


def _plainly(outcomes: Iterable[Outcome], total: int, what: str) -> Iterator[Outcome]:
    out, started = console(stderr=True), time.monotonic()
    last_line = started
    for done, outcome in enumerate(outcomes, start=1):
        now = time.monotonic()
        if now - last_line >= PLAIN_PROGRESS_SECONDS:
            last_line = now
            line = f"{what}: {done} of {total} after {now - started:.0f} s"
            out.print(line, highlight=False)
        yield outcome

"""Where a command writes: consoles, and reports that go to a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Final

import click
from rich.console import Console

from joulecheck.errors import InvalidSetting
from joulecheck.files import write_whole

PIPE_WIDTH: Final = 100
"""Columns where no terminal says how many there are."""


def console(*, stderr: bool = False) -> Console:
    """A console on standard output or error. Obeys NO_COLOR."""
    made = Console(stderr=stderr)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made = Console(stderr=stderr, width=PIPE_WIDTH)
    return made


def write_text(text: str, file: Path | None) -> None:
    """Write a whole report: to a file by renaming a finished one, else to stdout.

    Raises:
        InvalidSetting: the file cannot be written.
    """
    if file is None:
        click.echo(text, nl=False)
        return
    try:
        write_whole(file, text)
    except OSError as error:
        msg = f"--output-file {file} cannot be written: {error.strerror}"
        raise InvalidSetting(msg) from error


@contextmanager
def recorded(file: Path | None) -> Iterator[Console]:
    """A console whose text goes to `file` when all is written, else to stdout."""
    if file is None:
        yield console()
        return
    made = Console(record=True, width=PIPE_WIDTH, file=StringIO())
    yield made
    write_text(made.export_text(), file)

"""Options that several commands share, each declared once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from joulecheck.corpus import DEFAULT_URL, CombinedCorpus, Directory, SqlCorpus
from joulecheck.corpus.directory import DEFAULT_DIRECTORY
from joulecheck.errors import UnknownName
from joulecheck.faults import fault_named
from joulecheck.model import Subject
from joulecheck.resolve import as_peers, models_named

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_MODELS: Final = ("reference:*",)

MAX_WORKERS: Final = 8
"""Worker processes when none are asked for, on larger machines."""


if TYPE_CHECKING:
    FloatType = click.ParamType[float]
    TextType = click.ParamType[str]
else:  # generic only for type checkers in the oldest click
    FloatType = TextType = click.ParamType


class Duration(FloatType):
    """Seconds, written as 90, 90s, 5m or 8h."""

    name = "duration"
    _units: Final = {"": 1, "s": 1, "m": 60, "h": 3600}

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Read it."""
        if isinstance(value, float | int):
            return float(value)
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", str(value))
        if match is None or float(match[1]) <= 0:
            self.fail(f"{value!r} is no time; write 90s, 5m or 8h", param, ctx)
        return float(match[1]) * self._units[match[2]]


class Finite(click.FloatRange):
    """A number in a range, and neither infinite nor NaN, which every range lets pass."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Read it."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is no finite number", param, ctx)
        return number


class FaultName(TextType):
    """The name of a fault to inject, in full."""

    name = "fault"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """Look it up."""
        try:
            return fault_named(str(value)).name
        except UnknownName as error:
            self.fail(str(error), param, ctx)


PREFIX: Final = "JOULECHECK_"
"""How the names of environment variables begin."""


def named_option(*names: str, of: str = "", **settings: Any) -> Callable[[F], F]:  # noqa: ANN401 - as click.option
    """A click option with an environment variable named after its long form.

    Args:
        names: as `click.option` takes them.
        of: what stands before that name in the variable, where an option of another
            command is called the same and means something else.
        settings: as `click.option` takes them.
    """
    long = next(name for name in names if name.startswith("--"))
    setting = "-".join(filter(None, (of, long[2:])))
    variable = f"{PREFIX}{setting.upper().replace('-', '_')}"
    return click.option(*names, envvar=variable, show_envvar=True, **settings)


def setting_of(option: click.Option) -> str:
    """What the project's settings call an option: as its environment variable."""
    variable = option.envvar
    if isinstance(variable, str):
        return variable.removeprefix(PREFIX).lower().replace("_", "-")
    return max(option.opts, key=len).removeprefix("--")


corpus_option = named_option(
    "--corpus",
    metavar="URL",
    default=DEFAULT_URL,
    show_default=True,
    help="The database of findings, as an SQLAlchemy URL.",
)
directory_option = named_option(
    "--counterexamples",
    metavar="DIR",
    default=str(DEFAULT_DIRECTORY),
    show_default=True,
    help="The folder of committed findings, read as well.",
)
format_option = named_option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people or for machines.",
)
file_option = named_option(
    "--output-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report there instead of to standard output.",
)
inject_option = named_option(
    "--inject",
    type=FaultName(),
    metavar="FAULT",
    help="Plant a fault in the reference models, to see it found: a named one, or variant "
    "N of a kind as KIND#N; ONE+OTHER plants both. `joulecheck faults` lists them.",
)
workers_option = named_option(
    "--workers",
    type=click.IntRange(min=0),
    default=lambda: min(cpu_count() or 1, MAX_WORKERS),
    show_default="one a processor, at most 8",
    help="Supervised processes that ask the models; 0 asks them in this process, where "
    "a crash or a hang is not contained. What is found does not depend on it.",
)
select_option = named_option(
    "--select",
    multiple=True,
    metavar="PREFIX",
    help="Only properties whose id starts so, such as MON or SEN001. Repeatable.",
)
ignore_option = named_option(
    "--ignore",
    multiple=True,
    metavar="PREFIX",
    help="Not the properties whose id starts so. Repeatable.",
)


def corpus_options(command: F) -> F:
    """Where findings are: the database and the committed folder."""
    return corpus_option(directory_option(command))


def report_options(command: F) -> F:
    """How a report is written, and where to."""
    return format_option(file_option(command))


def seed_option(of: str) -> Callable[[F], F]:
    """The seed of a command that is the same each time.

    Args:
        of: what is random.
    """
    return named_option(
        "--seed", type=click.IntRange(min=0), default=1, show_default=True, help=f"Of {of}."
    )


def record_option(writes: str) -> Callable[[F], F]:
    """A ledger to write into, if that is asked for.

    Args:
        writes: what is written.
    """
    return named_option(
        "--ledger",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help=f"Write into the provenance ledger FILE {writes}; "
        "see `joulecheck provenance`.",
    )


def refuse_faulty_ledger(ledger: Path | None, fault: str | None) -> None:
    """Let nothing of a model with a planted fault be recorded.

    Raises:
        UsageError: both are asked for.
    """
    if ledger is not None and fault is not None:
        msg = "--ledger records models as they are: leave out --inject"
        raise click.UsageError(msg)


def open_corpus(url: str, counterexamples: str) -> CombinedCorpus:
    """The database and the committed folder as one. Close it after use."""
    return CombinedCorpus(SqlCorpus(url), Directory(counterexamples))


def chosen_models(patterns: Sequence[str]) -> list[Subject]:
    """The models of all patterns, each once; the user's own are peers of each other.

    Raises:
        UnknownName: a pattern matches nothing.
    """
    found = {m.name: m for pattern in patterns for m in models_named(pattern)}
    return as_peers(found.values())

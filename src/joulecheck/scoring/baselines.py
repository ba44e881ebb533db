"""Other ways to find the same faults, within the same time for each mutant."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

import attrs

from joulecheck.errors import NotOffered
from joulecheck.property import Violated
from joulecheck.scoring.example_suite import failures
from joulecheck.scoring.mutants import Mutant
from joulecheck.testing import applicable, assert_holds


def _as_tuple(laws: Iterable[str]) -> tuple[str, ...]:
    return tuple(laws)


@attrs.frozen(kw_only=True)
class Attempt:
    """What a suite made of a mutant."""

    suite: str
    mutant: Mutant
    killed_by: str | None
    """The first check that failed; None if none did in time."""
    seconds: float
    """Of the processor, to the first failure or to the end."""


@attrs.frozen(kw_only=True)
class Attempting:
    """A suite to run on a mutant: plain data, so that any process can do it."""

    suite: str
    mutant: Mutant
    laws: tuple[str, ...] = attrs.field(converter=_as_tuple)
    """Ids, in the order in which they are asked; the example-based suite asks none."""
    seed: int
    budget: float
    """Seconds of the processor after which no further check begins."""


def _examples(asked: Attempting, out_of_time: Callable[[], bool]) -> str | None:
    del out_of_time  # it takes milliseconds
    subject = asked.mutant.plant()
    return next(failures(subject.model), None)  # type: ignore[arg-type]  # a planted model


def _given(examples: int, asked: Attempting, out_of_time: Callable[[], bool]) -> str | None:
    """Every law that applies, through Hypothesis, until one fails."""
    applied = applicable(asked.mutant.sound())
    for law in asked.laws:
        if out_of_time():
            return None
        if law not in applied:
            continue
        try:
            assert_holds(
                law,
                asked.mutant.plant(),
                max_examples=examples,
                seed=asked.seed,
                shrink=False,
            )
        except Violated:
            return law
        except NotOffered:  # no case of its domain was drawn
            continue
    return None


SUITES: Final[Mapping[str, Callable[[Attempting, Callable[[], bool]], str | None]]] = (
    MappingProxyType(
        {
            "example-based suite": _examples,
            "catalogue, @given 100": partial(_given, 100),
            "catalogue, @given 1,000": partial(_given, 1000),
        }
    )
)
"""By name: what runs a suite until its first failure."""


def attempt(asked: Attempting) -> Attempt:
    """Run a suite on a mutant until its first failure or the end of the budget."""
    started = time.process_time()

    def out_of_time() -> bool:
        return time.process_time() - started >= asked.budget

    killed_by = SUITES[asked.suite](asked, out_of_time)
    return Attempt(
        suite=asked.suite,
        mutant=asked.mutant,
        killed_by=killed_by,
        seconds=time.process_time() - started,
    )

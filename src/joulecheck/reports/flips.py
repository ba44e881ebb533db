"""Where two models lead to different decisions, for people and as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from joulecheck.counterexample import Minimality, unstructure_case
from joulecheck.quantities import engineering, many
from joulecheck.reports.wording import case_lines
from joulecheck.validation.flips import Flip

FORMAT: Final = 1
"""The number of the document's format."""

NAMED: Final = 6
"""Decisions that are the same and are named."""

Outcome = Flip | str | None
"""A flip, the reason why a decision cannot be compared, or None if it never flips."""


def show_flips(
    console: Console, names: tuple[str, str], found: Mapping[str, Outcome]
) -> None:
    """Each decision with the smallest workload on which it is another.

    Args:
        console: where to.
        names: of the two models or revisions.
        found: by decision.
    """
    console.print(Text(f"A: {names[0]}"))
    console.print(Text(f"B: {names[1]}"))
    for question, outcome in found.items():
        if isinstance(outcome, Flip):
            _show(console, question, outcome)
        elif outcome is not None:
            console.print(Text(f"{question}: not compared, {outcome}"))
    same = [question for question, outcome in found.items() if outcome is None]
    if same:
        told = ", ".join(same) if len(same) <= NAMED else f"{len(same)} decisions"
        console.print(Text(f"the same on all workloads that were tried: {told}"))


def _show(console: Console, question: str, flip: Flip) -> None:
    first, second = flip.options
    console.print(
        Text(
            f"{question}: A prefers {first}, B {second}; another on "
            f"{flip.share:.1%} of {many(flip.tried, 'workload')}{_pairs(flip)}",
            style="red",
        )
    )
    for label, text in case_lines(flip.case):
        named = f"{_label(flip, label)}: " if label else "  "
        console.print(Text(f"  {named}{text}"))
    for place, name in enumerate(flip.options):
        values = (engineering(side[place], flip.unit) for side in flip.numbers)
        console.print(Text(f"  {name}: A {next(values)}, B {next(values)}"))


def _pairs(flip: Flip) -> str:
    return f", between {flip.pairs} pairs of options" if flip.pairs > 1 else ""


def _label(flip: Flip, label: str) -> str:
    proven = flip.minimality is Minimality.PROVEN
    return {"minimal": "smallest" if proven else "small"}.get(label, label)


def document(names: tuple[str, str], found: Mapping[str, Outcome]) -> dict[str, Any]:
    """The same as data."""
    return {
        "format": FORMAT,
        "a": names[0],
        "b": names[1],
        "decisions": {question: _outcome(one) for question, one in found.items()},
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case None:
            return {"flips": False}
        case str():
            return {"flips": False, "not_compared": outcome}
        case Flip():
            return {
                "flips": True,
                "case": unstructure_case(outcome.case),
                "minimality": outcome.minimality.value,
                "a_takes": outcome.options[0],
                "b_takes": outcome.options[1],
                "unit": outcome.unit,
                "numbers": {
                    name: {"a": outcome.numbers[0][place], "b": outcome.numbers[1][place]}
                    for place, name in enumerate(outcome.options)
                },
                "share": outcome.share,
                "tried": outcome.tried,
                "pairs": outcome.pairs,
            }

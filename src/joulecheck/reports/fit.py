"""What outputs tell of coefficients, for people and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from joulecheck.quantities import engineering, many
from joulecheck.validation.counts import ITS_EVENTS
from joulecheck.validation.fitters import Fit, Fitted, Status

FORMAT: Final = 1
"""The number of the document's format."""


def show_fit(console: Console, found: Fit, *, table: bool) -> None:
    """The verdict on a model, its faults, and on demand a row for each coefficient."""
    style = "" if found.is_sound else "red"
    console.print(Text(f"{found.model}: {_verdict(found)}", style=style))
    for line in _faults(found):
        console.print(Text(f"  {line}", style="red"))
    if not table:
        return
    made = Table(box=None, pad_edge=False)
    for heading in ("coefficient", "declared", "fitted", "off by", "what outputs tell"):
        made.add_column(heading, overflow="fold")
    for one in found.coefficients:
        made.add_row(*map(Text, _row(one)))
    console.print(made)
    for combination in found.combinations:
        named = ", ".join(combination)
        console.print(Text(f"  unscaled totals tell only in combination: {named}"))


def _verdict(found: Fit) -> str:
    counts = Counter(one.status for one in found.coefficients)
    coefficients = many(len(found.coefficients), "coefficient")
    told = [f"{counts[Status.RECOVERED]} of {coefficients} recovered"]
    if counts[Status.RECOVERED]:
        told[0] += f" within {found.worst:.1e}"
    by_events = sum(one.count == ITS_EVENTS for one in found.coefficients)
    if by_events:
        told.append(f"{by_events} by events alone")
    for status, words in (
        (Status.UP_TO_A_CONSTANT, "up to a constant"),
        (Status.UNCOUNTED, "without a count"),
        (Status.ZERO, "declared 0"),
    ):
        if counts[status]:
            told.append(f"{counts[status]} {words}")
    if found.faults:
        told.append(f"{len(found.faults)} wrong")
    return (
        f"{', '.join(told)}; {found.workloads} workloads, condition {found.condition:.3g}"
    )


def _faults(found: Fit) -> Iterator[str]:
    for one in found.faults:
        yield f"{one.name}: {_told(one)}"
    if found.hides:
        where = f" in {', '.join(found.hidden_terms)}" if found.hidden_terms else ""
        if found.hidden > 0:
            yield (
                f"hidden: {found.hidden:.3g} of the energy of a workload responds to no "
                f"coefficient{where}"
            )
        else:
            yield (
                f"hidden: the coefficients account for {1 - found.hidden:.3g} times the "
                f"energy of a workload{where}"
            )


def _row(one: Fitted) -> tuple[str, ...]:
    fitted = "-" if one.value is None else engineering(one.value, one.unit)
    off = "-" if one.error is None else f"{one.error:.1e}"
    return one.name, engineering(one.declared, one.unit), fitted, off, _told(one)


def _told(one: Fitted) -> str:
    words = one.status.value
    match one.status:
        case Status.RECOVERED:
            words = one.count
        case Status.MIS_SCALED if one.constant is None:
            words += ": energy goes with it, and it is declared 0"
        case Status.MIS_SCALED:
            words += f": {one.constant:.6g} times it, by {one.count}"
        case Status.UP_TO_A_CONSTANT:
            words = f"times a constant: {one.constant:.6g} x {one.count}, if it is right"
        case Status.NOT_LINEAR:
            words += f", but goes with its power {one.order:.3g}"
        case Status.LEAKING:
            words += f": {', '.join(one.also_moves)}"
        case Status.UNCOUNTED if one.shares_count_with:
            words += f"; the same as of {', '.join(one.shares_count_with)}"
        case _:
            pass
    return words


def document(fits: Sequence[Fit]) -> dict[str, Any]:
    """The same as data."""
    return {"format": FORMAT, "models": [_model(found) for found in fits]}


def _model(found: Fit) -> dict[str, Any]:
    return {
        "model": found.model,
        "machine": found.machine,
        "workloads": found.workloads,
        "seed": found.seed,
        "sound": found.is_sound,
        "condition": found.condition,
        "combinations": [list(one) for one in found.combinations],
        "hidden": {"share": found.hidden, "terms": list(found.hidden_terms)},
        "coefficients": [
            {
                "name": one.name,
                "unit": one.unit,
                "declared": one.declared,
                "status": one.status.name,
                "why": one.status.value,
                "fitted": one.value,
                "error": one.error,
                "count": one.count,
                "constant": one.constant,
                "largest_share": one.share,
                "shares_count_with": list(one.shares_count_with),
                "also_moves": list(one.also_moves),
                "power": one.order,
            }
            for one in found.coefficients
        ],
    }

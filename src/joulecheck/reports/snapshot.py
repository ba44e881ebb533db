"""What moved since a snapshot, and why, for people and as data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from joulecheck.quantities import engineering, many
from joulecheck.validation.regression import Change, Comparison, Move

FORMAT: Final = 1
"""The number of the document's format."""

NAMED: Final = 3
"""Changes that are named beside a move, those that explain most of it."""

ALMOST_ALL: Final = 0.05
"""How far the shares may sum to something else than all of a move, unmentioned."""

WORDS: Final = {
    "energy_terms": "{} energy",
    "latency_terms": "{} time",
    "through": "energy through {}",
    "latency_through": "latency through {}",
}
"""What the parts of an answer are called."""


def column_text(column: str) -> str:
    """An output in words, such as "dram energy"."""
    field, _, name = column.partition(".")
    return WORDS[field].format(name) if name else field


def change_text(change: Change) -> str:
    """A change with its values before and after."""
    return (
        f"{change.name} {_value(change, change.before)} -> {_value(change, change.after)}"
    )


def _value(change: Change, value: object) -> str:
    if value is None:
        return "absent"
    if isinstance(value, float) and change.unit is not None:
        return engineering(value, change.unit)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _percent(share: float, *, signed: bool = False) -> str:
    if math.isnan(share):
        return "no number"
    return f"{100 * share:+.3g} %" if signed else f"{100 * share:.3g} %"


def show_comparison(console: Console, found: Comparison, *, every_row: bool) -> None:
    """A model beside its snapshot: what changed, what moved, and why.

    Args:
        console: where to.
        found: the comparison.
        every_row: a line for every number that moved, instead of one for each output.
    """
    style = "red" if found.unexplained else ""
    console.print(Text(f"{found.model}: {_verdict(found)}", style=style))
    for change in found.changes:
        note = " (cannot be set back)" if change.name in found.left_alone else ""
        console.print(Text(f"  changed: {change_text(change)}{note}"))
    for line, explained in _lines(found, every_row=every_row):
        console.print(Text(f"  {line}", style="" if explained else "red"))
    for what, names in (
        ("outputs", tuple(map(column_text, found.new_columns))),
        ("precisions", found.new_precisions),
    ):
        if names:
            console.print(Text(f"  not in the snapshot: {what} {', '.join(names)}"))


def _verdict(found: Comparison) -> str:
    if not found.moves:
        return f"none of {many(found.compared, 'output')} moved"
    moved = f"{len(found.moves):,} of {many(found.compared, 'output')} moved"
    if found.unexplained and not found.changes:
        return f"{moved}, and no coefficient and no figure of the machine changed"
    if found.unexplained:
        return (
            f"{len(found.unexplained):,} of {found.compared:,} outputs are not where the "
            f"changes put them"
        )
    return f"{moved}, all explained"


def _lines(found: Comparison, *, every_row: bool) -> Iterator[tuple[str, bool]]:
    if every_row:
        for move in found.moves:
            yield f"{move.row}: {_move(found, move)}", move.explained
        return
    groups: dict[tuple[bool, str], list[Move]] = {}
    for move in found.moves:
        groups.setdefault((move.explained, move.column), []).append(move)
    for (explained, _), moves in sorted(groups.items(), key=lambda one: one[0][0]):
        worst = max(moves, key=_size)
        rows = many(len(moves), "row")
        yield f"{_move(found, worst)} [{rows}, most at {worst.row}]", explained


def _size(move: Move) -> float:
    size = abs(move.relative if move.explained else move.left)
    return math.inf if math.isnan(size) else size


def _move(found: Comparison, move: Move) -> str:
    told = f"{column_text(move.column)} {_percent(move.relative, signed=True)}"
    if not move.explained:
        return f"{told}: {_unexplained(found, move)}"
    if found.left_alone:
        told = f"{told}: perhaps by what cannot be set back"
    return f"{told}: {_shares(found, move.shares)}" if move.shares else told


def _unexplained(found: Comparison, move: Move) -> str:
    if not found.changes:
        return "UNEXPLAINED"
    left = _percent(move.left, signed=True)
    return f"UNEXPLAINED, with every change set back it is off by {left}"


def _shares(found: Comparison, shares: Mapping[str, float]) -> str:
    by_name = {change.name: change for change in found.changes}
    first, *others = [*shares.items()][:NAMED]
    told = f"{change_text(by_name[first[0]])} explains {_percent(first[1])} of it"
    told += "".join(f", {name} {_percent(share)}" for name, share in others)
    if len(shares) > NAMED:
        told += f", and {len(shares) - NAMED} more"
    if abs(sum(shares.values()) - 1) > ALMOST_ALL:
        told += "; the rest only together"
    return told


def document(comparisons: Sequence[Comparison], **told: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """The same as data; `told` is what there is beside comparisons."""
    return {"format": FORMAT, "models": [_model(one) for one in comparisons], **told}


def _model(found: Comparison) -> dict[str, Any]:
    return {
        "model": found.model,
        "compared": found.compared,
        "changes": [
            {
                "name": change.name,
                "unit": change.unit,
                "before": change.before,
                "after": change.after,
                "set_back": change.name not in found.left_alone,
            }
            for change in found.changes
        ],
        "moves": [
            {
                "row": move.row,
                "output": move.column,
                "before": move.before,
                "after": move.after,
                "set_back": move.back,
                "shares": dict(move.shares),
                "explained": move.explained,
            }
            for move in found.moves
        ],
        "new_outputs": list(found.new_columns),
        "new_precisions": list(found.new_precisions),
    }

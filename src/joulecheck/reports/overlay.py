"""Predictions beside measurements, for people and for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from joulecheck.counterexample import unstructure_case
from joulecheck.quantities import engineering, many
from joulecheck.validation.overlay import (
    Calibrated,
    Comparison,
    Disagreement,
    Overlay,
    Verdict,
)
from joulecheck.workload.words import workload_text

UNITS: Final = {"latency": "s", "energy": "J"}

SHOWN_FIGURES: Final = 2
"""That a line names."""

HEADINGS: Final = (
    *("workload", "", "measured", "spread", "predicted", "ratio", "verdict", "hangs on"),
)


def show(console: Console, found: Overlay) -> None:
    """A table a machine, and what follows for its figures."""
    machines = dict.fromkeys(c.measurement.machine for c in found.comparisons)
    for machine in machines:
        console.print(Text(machine, style="bold"))
        table = Table(box=None, pad_edge=False)
        for heading in HEADINGS:
            table.add_column(heading, overflow="fold")
        for comparison in found.comparisons:
            if comparison.measurement.machine == machine:
                table.add_row(*map(Text, row(comparison)))
        console.print(table)
        console.print()
    for line in conclusions(found):
        console.print(Text(line))


def row(one: Comparison) -> tuple[str, ...]:
    """A comparison as the cells of a table."""
    case, unit = one.measurement.case, UNITS[one.quantity]
    predicted = "" if one.predicted is None else engineering(one.predicted, unit)
    return (
        workload_text(case.workload),
        case.precision.name,
        engineering(one.measured, unit),
        "" if one.spread is None else f"{one.spread:.0%}",
        predicted,
        "" if one.predicted is None else f"{one.ratio:.2f}",
        one.verdict.value,
        one.because or figures(one.figures),
    )


def figures(elasticities: Mapping[str, float]) -> str:
    """The figures that move a prediction most, with the powers at which they do."""
    shown = list(elasticities.items())[:SHOWN_FIGURES]
    return ", ".join(f"{name}^{power:.2g}" for name, power in shown)


def conclusions(found: Overlay) -> Iterator[str]:
    """How many agree, which figures that confirms and which it contradicts."""
    verdicts = Counter(c.verdict for c in found.comparisons)
    counted = ", ".join(f"{verdicts[v]} {v.value}" for v in Verdict if verdicts[v])
    numbers = many(len(found.comparisons), "number")
    yield f"{numbers}, within {found.tolerance:.0%}: {counted}"
    for one in found.calibrated:
        yield f"CALIBRATED  {one.machine} {one.figure}: {_confirmed(one, found.tolerance)}"
    for other in found.disagreements:
        yield f"DISAGREES   {other.machine} {_told(other)}"


def _confirmed(one: Calibrated, tolerance: float) -> str:
    return (
        f"{many(len(one.ratios), 'measurement agrees', 'measurements agree')} within "
        f"{tolerance:.0%}, none disagrees: predicted over measured "
        f"{min(one.ratios):.3g} to {max(one.ratios):.3g}"
    )


def _told(one: Disagreement) -> str:
    ratios = [c.ratio for c in one.comparisons]
    repaired = "" if one.repair is None else f"; x {one.repair:.3g} would meet their median"
    return (
        f"{one.quantity} of {len(ratios)} that hang on {one.figure or 'no figure'}: "
        f"predicted over measured {min(ratios):.3g} to {max(ratios):.3g}{repaired}"
    )


def document(found: Overlay) -> dict[str, Any]:
    """The same as JSON-ready data."""
    return {
        "tolerance": found.tolerance,
        "comparisons": [
            {
                "machine": c.measurement.machine,
                "case": unstructure_case(c.measurement.case),
                "use": c.measurement.use,
                "quantity": c.quantity,
                "measured": c.measured,
                "spread": c.spread,
                "predicted": c.predicted,
                "ratio": c.ratio,
                "verdict": c.verdict.name.lower(),
                "because": c.because,
                "figures": dict(c.figures),
            }
            for c in found.comparisons
        ],
        "calibrated": [
            {"machine": c.machine, "figure": c.figure, "ratios": c.ratios}
            for c in found.calibrated
        ],
        "disagreements": [
            {
                "machine": d.machine,
                "quantity": d.quantity,
                "figure": d.figure,
                "repair": d.repair,
                "ratios": [c.ratio for c in d.comparisons],
            }
            for d in found.disagreements
        ],
    }

"""What an overlay says of the figures in a provenance ledger.

A figure that measurements confirm is CALIBRATED, as is the core field that it makes; one
that they contradict is flagged. A clock or a peak is confirmed at the precisions that
were measured, for each has a peak of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Final

from joulecheck.coefficient import Provenance
from joulecheck.model import Subject
from joulecheck.validation.fields import Field, fields_of
from joulecheck.validation.ledger import SCORES, Flag, Ledger, Support
from joulecheck.validation.overlay import LAW, Calibrated, Comparison, Disagreement, Overlay

OF_PEAKS: Final = frozenset({"clock", "peak"})
"""The knobs that a machine's peaks follow."""

PEAK: Final = "peak_ops_per_sec."


def note(
    ledger: Ledger,
    found: Overlay,
    model: Subject,
    findings: Mapping[Disagreement, str],
) -> None:
    """Write what an overlay confirms and contradicts of one model.

    Args:
        ledger: to be changed.
        found: of any models.
        model: the one whose fields are written.
        findings: the ids under which disagreements are filed, where they are.
    """
    for one in found.calibrated:
        if one.machine == model.name:
            for field in _fields(model, one.figure, one.comparisons):
                ledger.unflag(model.name, field, LAW)
                ledger.promote(model.name, field, _support(one))
    for other in found.disagreements:
        if other.machine == model.name:
            for field in _fields(model, other.figure, other.comparisons):
                ledger.flag(model.name, field, _contradicted(other, findings))


def _fields(
    model: Subject, figure: str, comparisons: Sequence[Comparison]
) -> Iterator[Field]:
    """The fields of a ledger that stand for a coefficient or a knob."""
    precisions = {c.measurement.case.precision.name for c in comparisons}
    for field in fields_of(model).values():
        peak = field.name.startswith(PEAK) and figure in OF_PEAKS
        measured = field.name.removeprefix(PEAK) in precisions
        if figure in {field.name, *field.of} or (peak and measured):
            yield field


def _support(one: Calibrated) -> Support:
    conditions = dict.fromkeys(c.measurement.conditions for c in one.comparisons)
    return Support(
        level=Provenance.CALIBRATED,
        score=SCORES[Provenance.CALIBRATED],
        source="measurements on the machine",
        cases=len(one.comparisons),
        greatest_error=max(abs(ratio - 1) for ratio in one.ratios),
        note="; ".join(filter(None, conditions)),
        version=version("joulecheck"),
    )


def _contradicted(one: Disagreement, findings: Mapping[Disagreement, str]) -> Flag:
    worst = one.worst
    reason = f"{one.quantity} predicted over measured is {worst.ratio:.3g} at worst"
    return Flag(property=LAW, finding=findings.get(one), blamed=True, reason=reason)

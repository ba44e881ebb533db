"""From a ledger to the `field_provenance` of a hardware description.

The description is any object with the attributes of `graphs`' resource models; nothing
of that library is imported. Evidence is of a value, so that a field is applied only to
a description that has the same one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, Protocol

import attrs

from joulecheck.quantities import many
from joulecheck.validation.fields import CORE
from joulecheck.validation.ledger import Consistency, Entry

TOLERANCE: Final = 1e-6
"""Relative: within it two descriptions state one value."""


class Described(Protocol):
    """A hardware description that keeps a confidence for each of its fields."""

    field_provenance: dict[str, Any]


Confidence = Callable[[Any, float, str], Any]
"""Makes what `field_provenance` holds of a level, a score and a source.

The level is the name in lower case, as in `ConfidenceLevel("theoretical")`.
"""


@attrs.define
class Applied:
    """What was written, and why the rest was not."""

    fields: list[str] = attrs.field(factory=list)
    refused: dict[str, str] = attrs.field(factory=dict)


def provenance_of(entries: Mapping[str, Entry]) -> dict[str, dict[str, Any]]:
    """By core field: the value that it is about, level, score and source, as plain data."""
    return {
        name: {
            "value": entry.value,
            "unit": entry.unit,
            "level": entry.level.name.lower(),
            "score": entry.score,
            "source": told(entry),
        }
        for name, entry in sorted(entries.items())
        if name.partition(".")[0] in CORE
    }


def told(entry: Entry) -> str:
    """What an entry rests on, in a line."""
    parts = [
        f"{many(len(one.properties), 'law')} held on {many(one.cases, 'case')}, "
        f"joulecheck {one.version}"
        if isinstance(one, Consistency)
        else one.source
        for one in entry.evidence
    ]
    flagged = [f"{flag.property} failed" for flag in entry.flags]
    return "; ".join([*parts, *flagged, *filter(None, [entry.source])])


def apply_to(
    described: Described, entries: Mapping[str, Entry], confidence: Confidence
) -> Applied:
    """Write the core fields into `described.field_provenance`.

    Args:
        described: an object with `field_provenance` and the fields themselves.
        entries: of its machine.
        confidence: makes the value to write; for `graphs`, `lambda level, score, source:
            EstimationConfidence(ConfidenceLevel(level), score, source)`.
    """
    done = Applied()
    for name, data in provenance_of(entries).items():
        value = value_of(described, name)
        if value is None:
            done.refused[name] = "the description has no such field"
        elif not math.isclose(value, data["value"], rel_tol=TOLERANCE):
            done.refused[name] = (
                f"the description has {value:g}, the ledger {data['value']:g}"
            )
        else:
            made = confidence(data["level"], data["score"], data["source"])
            described.field_provenance[name] = made
            done.fields.append(name)
    return done


def value_of(described: object, name: str) -> float | None:
    """The value of a core field of a description, None where it has none."""
    stem, _, precision = name.partition(".")
    if not precision:
        return _number(getattr(described, stem, None))
    if stem == "peak_ops_per_sec":
        profile = _at(getattr(described, "precision_profiles", None), precision)
        return _number(getattr(profile, stem, None))
    return _number(_at(getattr(described, stem, None), precision))


def _at(table: object, precision: str) -> object:
    """What a table by precision holds; its keys are names, or enums of them."""
    if not isinstance(table, Mapping):
        return None
    found = {
        str(k.value if isinstance(k, Enum) else k).upper(): v for k, v in table.items()
    }
    return found.get(precision)


def _number(value: object) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known else None  # type: ignore[arg-type]

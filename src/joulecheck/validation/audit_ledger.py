"""Whether a ledger backs every core field of some machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from joulecheck.coefficient import Provenance
from joulecheck.model import Subject
from joulecheck.validation.fields import Field, fields_of, missing_core
from joulecheck.validation.ledger import Entry, Ledger


@attrs.frozen
class LedgerGap:
    """What a ledger lacks of one field of one machine."""

    machine: str
    field: str
    reason: str


def gaps_in(ledger: Ledger, subjects: Iterable[Subject]) -> Iterator[LedgerGap]:
    """The core fields that have no entry, no evidence, another value, or blame."""
    for subject in subjects:
        for name in missing_core(subject):
            yield LedgerGap(subject.name, name, "the model declares no such figure")
        for field in fields_of(subject).values():
            if field.is_core:
                entry = ledger.entry(subject.name, field.name)
                reason = _reason(field, entry)
                if reason:
                    yield LedgerGap(subject.name, field.name, reason)


def _reason(field: Field, entry: Entry | None) -> str:
    if entry is None:
        return "the ledger has no entry: joulecheck fuzz --ledger FILE writes it"
    if not entry.is_of(field.value):
        return (
            f"the entry is of {entry.value:g} {entry.unit}, the model has "
            f"{field.value:g}: run the campaign again"
        )
    if entry.blamed:
        flags = ", ".join(f"{f.property} {f.finding or ''}".strip() for f in entry.blamed)
        return f"flagged for investigation by {flags}"
    if entry.flags:
        laws = ", ".join(flag.property for flag in entry.flags)
        return f"not confirmed, for {laws} failed"
    if not entry.evidence or entry.level is Provenance.UNKNOWN:
        return "the entry has no evidence: no law that concerns it met a case"
    return ""

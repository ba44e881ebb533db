"""The provenance ledger: how far each figure of each machine can be trusted, and why.

A file has a line a field, sorted, so that a review shows what changed, and a line for
each piece of evidence, which fields of one machine share. What a line says of its level
must follow from its evidence; a file in which it does not is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import attrs
import cattrs
from cattrs.errors import BaseValidationError

from joulecheck.coefficient import Provenance
from joulecheck.errors import LedgerError
from joulecheck.files import parsed, write_whole
from joulecheck.structured import by_name, explained, strict_converter, tagged_union
from joulecheck.validation.fields import Field

DEFAULT_LEDGER: Final = Path("joulecheck-provenance.json")

FORMAT: Final = 1
"""The number of the file's format that this version writes and reads."""

SCORES: Final[Mapping[Provenance, float]] = {
    Provenance.UNKNOWN: 0.0,
    Provenance.THEORETICAL: 0.5,
    Provenance.INTERPOLATED: 0.7,
    Provenance.CALIBRATED: 0.9,
}
"""How confident each level is, from 0 to 1, where nothing else is stated."""

_LADDER: Final = tuple(Provenance)

_SAME: Final = 1e-9
"""Relative: values that differ less are one value."""


def _as_tuple(names: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(names)


@attrs.frozen(kw_only=True)
class Consistency:
    """A campaign in which every law that concerns a figure held."""

    properties: tuple[str, ...] = attrs.field(converter=_as_tuple)
    cases: int
    """Cases in the domain of those laws."""
    least_margin: float
    """At least 0, relative."""
    closest: str
    """The property that it is of."""
    seed: int
    version: str
    """Of joulecheck."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What another run of the same campaign replaces."""
        return (self.properties, self.seed, self.version)


def _from_0_to_1(_: object, __: object, score: float) -> None:
    if not 0 <= score <= 1:
        msg = f"a score must be from 0 to 1, got {score!r}"
        raise ValueError(msg)


@attrs.frozen(kw_only=True)
class Support:
    """Measurements or a fit that back the value of a figure."""

    level: Provenance
    score: float = attrs.field(validator=_from_0_to_1)
    source: str
    """What was done and where it lies; other support of this source is replaced."""
    cases: int
    """How many points it rests on."""
    greatest_error: float | None = None
    """Relative, of prediction against measurement."""
    note: str = ""
    version: str = ""
    """Of joulecheck."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What other support replaces."""
        return (self.source,)


Evidence = Consistency | Support


@attrs.frozen(kw_only=True)
class Flag:
    """A law that concerns a figure and did not hold."""

    property: str
    finding: str | None
    """The id of the counterexample; none where the model died."""
    blamed: bool
    """Whether the violation hangs on this figure, which is to be investigated."""
    reason: str = ""


@attrs.frozen(kw_only=True)
class Entry:
    """What is known of the value of one figure."""

    value: float
    """To which all else refers."""
    unit: str
    declared: Provenance
    """The level that the model states."""
    source: str
    """As the model states it."""
    evidence: tuple[Evidence, ...] = attrs.field(default=(), converter=_as_tuple)
    flags: tuple[Flag, ...] = attrs.field(default=(), converter=_as_tuple)

    @classmethod
    def of(cls, field: Field) -> Entry:
        """A figure without evidence."""
        return cls(
            value=field.value, unit=field.unit, declared=field.declared, source=field.source
        )

    @property
    def level(self) -> Provenance:
        """The highest that something backs: a campaign makes it THEORETICAL.

        A campaign does not count while a law that concerns the figure fails.
        """
        return max(
            (self.declared, *(level for level, _ in self._backed())), key=_LADDER.index
        )

    @property
    def score(self) -> float:
        """The highest score of what backs the level."""
        scores = [score for level, score in self._backed() if level is self.level]
        return max(scores, default=SCORES[self.level])

    def _backed(self) -> Iterable[tuple[Provenance, float]]:
        for one in self.evidence:
            if isinstance(one, Support):
                yield one.level, one.score
            elif not self.flags:
                yield Provenance.THEORETICAL, SCORES[Provenance.THEORETICAL]

    @property
    def blamed(self) -> tuple[Flag, ...]:
        """The flags by which the figure is to be investigated."""
        return tuple(flag for flag in self.flags if flag.blamed)

    def is_of(self, value: float) -> bool:
        """Whether it speaks of this value."""
        return math.isclose(self.value, value, rel_tol=_SAME)

    def backed_by(self, evidence: Evidence) -> Entry:
        """With evidence, which replaces older evidence of the same key."""
        kept = [one for one in self.evidence if one.key != evidence.key]
        return attrs.evolve(self, evidence=(*kept, evidence))


class Ledger:
    """Entries by machine and field."""

    def __init__(self, machines: Mapping[str, Mapping[str, Entry]] | None = None) -> None:
        """Hold these entries."""
        given = machines or {}
        self._machines = {name: dict(entries) for name, entries in given.items()}

    @property
    def machines(self) -> list[str]:
        """The machines that have entries, sorted."""
        return sorted(self._machines)

    def entries(self, machine: str) -> dict[str, Entry]:
        """The entries of a machine by field, sorted; none if it is not there."""
        return dict(sorted(self._machines.get(machine, {}).items()))

    def entry(self, machine: str, field: str) -> Entry | None:
        """One entry, or None."""
        return self._machines.get(machine, {}).get(field)

    def put(self, machine: str, field: str, entry: Entry) -> None:
        """Set an entry."""
        self._machines.setdefault(machine, {})[field] = entry

    def promote(self, machine: str, field: Field, support: Support) -> Entry:
        """Back the value that a model has of a figure; the level never falls by it.

        Evidence of another value than the model's is dropped.

        Returns:
            The new entry.
        """
        made = self.current(machine, field).backed_by(support)
        self.put(machine, field.name, made)
        return made

    def current(self, machine: str, field: Field) -> Entry:
        """The entry of a figure as the model states it now.

        Evidence and flags of another value are dropped.
        """
        fresh, known = Entry.of(field), self.entry(machine, field.name)
        if known is None or not known.is_of(field.value):
            return fresh
        return attrs.evolve(fresh, evidence=known.evidence, flags=known.flags)

    def flag(self, machine: str, field: Field, flag: Flag) -> None:
        """Flag a figure, in place of what flagged it for the same law."""
        self.unflag(machine, field, flag.property)
        entry = self.current(machine, field)
        self.put(machine, field.name, attrs.evolve(entry, flags=(*entry.flags, flag)))

    def unflag(self, machine: str, field: Field, law: str) -> None:
        """Take back what flags a figure for a law."""
        entry = self.current(machine, field)
        kept = tuple(flag for flag in entry.flags if flag.property != law)
        self.put(machine, field.name, attrs.evolve(entry, flags=kept))

    @classmethod
    def load(cls, path: Path) -> Ledger:
        """The ledger of a file.

        Raises:
            LedgerError: it cannot be read, is of another format, or breaks a rule.
        """
        try:
            data = parsed(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            msg = (
                f"ledger {path} cannot be read: there is none yet; joulecheck fuzz "
                f"--ledger {path} writes it"
            )
            raise LedgerError(msg) from error
        except (OSError, ValueError) as error:
            msg = f"ledger {path} cannot be read: {error}"
            raise LedgerError(msg) from error
        return cls(_structured(data, path))

    @classmethod
    def load_or_new(cls, path: Path) -> Ledger:
        """The ledger of a file that will be written, an empty one if there is no file.

        Raises:
            LedgerError: see `load`; or there is no such folder.
        """
        if not path.parent.is_dir():
            msg = f"ledger {path} cannot be written: there is no folder {path.parent}"
            raise LedgerError(msg)
        return cls.load(path) if path.exists() else cls()

    def text(self) -> str:
        """The file's content: a line a field."""
        machines = ",\n".join(
            f"  {json.dumps(name)}: {_machine_text(self.entries(name))}"
            for name in self.machines
        )
        return f'{{\n "format": {FORMAT},\n "machines": {{\n{machines}\n }}\n}}\n'

    def save(self, path: Path) -> None:
        """Write it whole, then rename it into place.

        Raises:
            LedgerError: the file cannot be written.
        """
        try:
            write_whole(path, self.text())
        except OSError as error:
            msg = f"ledger {path} cannot be written: {error.strerror}"
            raise LedgerError(msg) from error


def _machine_text(entries: Mapping[str, Entry]) -> str:
    """The entries of a machine, and before them their evidence, each piece once."""
    shared = dict.fromkeys(one for entry in entries.values() for one in entry.evidence)
    names = {one: f"e{number}" for number, one in enumerate(shared, 1)}
    evidence = {
        name: _converter().unstructure(one, Evidence) for one, name in names.items()
    }
    fields = {
        field: entry_data(entry) | {"evidence": [names[one] for one in entry.evidence]}
        for field, entry in entries.items()
    }
    parts = {"evidence": evidence, "fields": fields}
    lines = (f'   "{part}": {{{_lines(rows)}}}' for part, rows in parts.items())
    return "{\n" + ",\n".join(lines) + "\n  }"


def _lines(rows: Mapping[str, Any]) -> str:
    """A line a row, for diffs."""
    lines = (
        f"\n    {json.dumps(name)}: {json.dumps(row, allow_nan=False)}"
        for name, row in rows.items()
    )
    return ",".join(lines) + "\n   " if rows else ""


def entry_data(entry: Entry) -> dict[str, Any]:
    """An entry as JSON has it: its level and score first."""
    told: dict[str, Any] = _converter().unstructure(entry)
    return {"level": entry.level.name, "score": entry.score, **told}


def _structured(data: Any, path: Path) -> dict[str, dict[str, Entry]]:  # noqa: ANN401 - any JSON
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, dict) else data
        msg = (
            f"ledger {path}: format must be {FORMAT}, got {found!r}; read it with the "
            f"joulecheck that wrote it"
        )
        raise LedgerError(msg)
    machines = data.get("machines")
    if data.keys() != {"format", "machines"} or not isinstance(machines, dict):
        msg = f'ledger {path} must hold "format" and "machines", got {", ".join(data)}'
        raise LedgerError(msg)
    return {
        machine: _entries(told, f"ledger {path}: {machine}")
        for machine, told in machines.items()
    }


def _entries(told: Any, where: str) -> dict[str, Entry]:  # noqa: ANN401 - any JSON
    parts = told if isinstance(told, dict) else {}
    evidence, fields = parts.get("evidence"), parts.get("fields")
    if parts.keys() != {"evidence", "fields"} or not (
        isinstance(evidence, dict) and isinstance(fields, dict)
    ):
        msg = f'{where} must hold "evidence" and "fields" by name, got {told!r:.80}'
        raise LedgerError(msg)
    return {
        field: _entry(row, evidence, f"{where}: {field}") for field, row in fields.items()
    }


def _entry(told: Any, evidence: Mapping[str, Any], where: str) -> Entry:  # noqa: ANN401 - any JSON
    rest = dict(told) if isinstance(told, dict) else {}
    stated = rest.pop("level", None), rest.pop("score", None)
    names = rest.get("evidence")
    if not isinstance(names, list) or not all(
        isinstance(name, str) and name in evidence for name in names
    ):
        msg = f"{where}: evidence must name some of {', '.join(evidence)}, got {names!r}"
        raise LedgerError(msg)
    try:
        entry = _converter().structure(
            rest | {"evidence": [evidence[name] for name in names]}, Entry
        )
    except (BaseValidationError, ValueError) as error:
        msg = f"{where}: {explained(error)}"
        raise LedgerError(msg) from error
    if stated != (entry.level.name, entry.score):
        msg = (
            f"{where}: level and score must be what its evidence backs, "
            f"{entry.level.name} and {entry.score:g}, got {stated[0]!r} and {stated[1]!r}"
        )
        raise LedgerError(msg)
    return entry


@cache
def _converter() -> cattrs.Converter:
    made = strict_converter()
    by_name(made, Provenance)
    tagged_union(made, Evidence, "kind")
    return made

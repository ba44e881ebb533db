"""Finding files: one finding as numbered JSON, for people and for version control."""

from __future__ import annotations

import json
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import cattrs
from cattrs.errors import BaseValidationError
from cattrs.v import format_exception

from joulecheck import counterexample
from joulecheck.corpus.finding import Finding
from joulecheck.counterexample import Counterexample
from joulecheck.errors import CorpusError, JoulecheckError

FORMAT: Final = 1
"""The number of the JSON format that this version writes and reads."""


@cache
def _converter() -> cattrs.Converter:
    made = cattrs.Converter(forbid_extra_keys=True)
    for kind in (date, datetime):
        made.register_unstructure_hook(kind, lambda when: when.isoformat())
        made.register_structure_hook(kind, lambda text, kind: kind.fromisoformat(text))
    made.register_unstructure_hook(
        Counterexample, lambda found: json.loads(counterexample.to_json(found))
    )
    made.register_structure_hook(
        Counterexample, lambda data, _: counterexample.from_json(json.dumps(data))
    )
    return made


def to_json(finding: Finding) -> str:
    """The numbered JSON form, with sorted keys and a newline at the end."""
    data = {"format": FORMAT, **_converter().unstructure(finding)}
    return json.dumps(data, indent=2, sort_keys=True) + "\n"


def from_json(text: str, where: str = "finding") -> Finding:
    """A finding from its JSON form. `where` is for messages.

    Raises:
        CorpusError: it is no JSON, has another format number, or breaks a rule.
    """
    data = _numbered(text, where)
    try:
        return _converter().structure(data, Finding)
    except BaseValidationError as error:
        problems = cattrs.transform_error(error, format_exception=_explained)
        msg = f"{where}: {'; '.join(problems)}"
        raise CorpusError(msg) from error


def _numbered(text: str, where: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as error:
        msg = f"{where}: not JSON: {error}"
        raise CorpusError(msg) from error
    found = data.pop("format", None) if isinstance(data, dict) else None
    if found != FORMAT:
        msg = (
            f"{where}: a finding's format must be {FORMAT}, got {found!r}; read it with "
            f"the joulecheck that wrote it"
        )
        raise CorpusError(msg)
    return dict(data)


def _explained(error: BaseException, kind: type | None) -> str:
    if isinstance(error, JoulecheckError | ValueError):
        return str(error)
    return format_exception(error, kind)


def read(path: Path) -> Finding:
    """The finding of a file.

    Raises:
        CorpusError: it cannot be read, or is no finding.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"cannot read {path}: {error}"
        raise CorpusError(msg) from error
    return from_json(text, where=str(path))


def write(finding: Finding, folder: Path) -> Path:
    """Write a finding to the file in `folder` that its id names; the whole or nothing.

    Raises:
        CorpusError: the file cannot be written.
    """
    path = folder / f"{finding.id}.json"
    unfinished = folder / f".{finding.id}.{uuid4().hex}.tmp"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(to_json(finding), encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        msg = f"cannot write {path}: {error}"
        raise CorpusError(msg) from error
    finally:
        _discard(unfinished)
    return path


def _discard(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:  # its folder could not be made either
        return

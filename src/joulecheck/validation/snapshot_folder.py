"""A folder of snapshots: a numbered text file a model, and one of the workloads.

They are JSON with a line for each figure and for each workload at a precision, sorted, so
that a change in version control shows which answers moved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import attrs
import cattrs
from cattrs.errors import BaseValidationError

from joulecheck import counterexample
from joulecheck.errors import InvalidSnapshot
from joulecheck.files import parsed, write_whole
from joulecheck.structured import explained, strict_converter
from joulecheck.validation.figures import Figure
from joulecheck.validation.snapshot import DIGITS, Snapshot
from joulecheck.workload import Workload

FORMAT: Final = 1
"""The number of the format that this version writes and reads."""

WORKLOADS: Final = "workloads.json"


@attrs.frozen
class SnapshotFolder:
    """Where snapshots are kept."""

    path: Path

    def write(
        self, snapshots: Iterable[Snapshot], workloads: Mapping[str, Workload]
    ) -> int:
        """Write snapshots and the workloads that they all are of; how many bytes.

        The files of other models are left as they are only if the workloads are the same.

        Raises:
            InvalidSnapshot: a file cannot be written, or the folder holds other models'
                snapshots of other workloads.
        """
        snapshots = list(snapshots)
        self._check_others({s.model for s in snapshots}, workloads)
        texts = {file_name(s.model): snapshot_text(s) for s in snapshots}
        texts[WORKLOADS] = _workloads_text(workloads)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            for name, text in texts.items():
                write_whole(self.path / name, text)
        except OSError as error:
            msg = f"snapshots cannot be written to {self.path}: {error.strerror}"
            raise InvalidSnapshot(msg) from error
        return sum(len(text.encode()) for text in texts.values())

    def _check_others(self, written: set[str], workloads: Mapping[str, Workload]) -> None:
        if not (self.path / WORKLOADS).is_file() or self.workloads() == dict(workloads):
            return
        others = [s.model for s in self.read() if s.model not in written]
        if others:
            named = ", ".join(others[:3]) + (" and others" if others[3:] else "")
            msg = (
                f"{self.path} holds snapshots of other workloads, of {named}: record "
                f"those models as well, or write to another folder"
            )
            raise InvalidSnapshot(msg)

    def workloads(self) -> dict[str, Workload]:
        """The workloads that the snapshots are of, by name.

        Raises:
            InvalidSnapshot: there is no such folder, or the file breaks a rule.
        """
        path = self.path / WORKLOADS
        if not path.is_file():
            msg = (
                f"{self.path} holds no snapshots: make them with `joulecheck snapshot "
                f"record --folder {self.path}`"
            )
            raise InvalidSnapshot(msg)
        data = _numbered(path)
        found = data.get("workloads")
        if not isinstance(found, dict):
            msg = f'{path} must hold "workloads" by name, got {found!r:.80}'
            raise InvalidSnapshot(msg)
        return dict(_structured(path, found, Mapping[str, Workload]))

    def read(self) -> list[Snapshot]:
        """Every snapshot, by the name of its model.

        Raises:
            InvalidSnapshot: a file breaks a rule.
        """
        files = sorted(self.path.glob("*.json"))
        found = [_snapshot(file) for file in files if file.name != WORKLOADS]
        return sorted(found, key=lambda snapshot: snapshot.model)


def file_name(model: str) -> str:
    """Of the snapshot of a model; any file system takes it."""
    return f"{quote(model.replace(':', '.'), safe='@+ ')}.json"


def snapshot_text(snapshot: Snapshot) -> str:
    """A snapshot as text that `SnapshotFolder.read` takes."""
    coefficients = {name: attrs.asdict(c) for name, c in snapshot.coefficients.items()}
    parts = {
        "format": str(FORMAT),
        "model": json.dumps(snapshot.model),
        "coefficients": _lines(coefficients),
        "figures": _lines(snapshot.figures),
        "columns": _listed(snapshot.columns),
        "rows": _block(f"{json.dumps(n)}: {_numbers(r)}" for n, r in snapshot.rows.items()),
    }
    return _object(parts)


def _object(parts: Mapping[str, str]) -> str:
    inner = ",\n".join(f'  "{name}": {text}' for name, text in parts.items())
    return f"{{\n{inner}\n}}\n"


def _lines(values: Mapping[str, Any]) -> str:
    ordered = sorted(values.items())
    return _block(f"{json.dumps(n)}: {json.dumps(v, sort_keys=True)}" for n, v in ordered)


def _listed(names: Iterable[str]) -> str:
    return _block(map(json.dumps, names), "[]")


def _block(lines: Iterable[str], ends: str = "{}") -> str:
    inner = ",\n".join(f"    {line}" for line in lines)
    return f"{ends[0]}\n{inner}\n  {ends[1]}" if inner else ends


def _numbers(row: Iterable[float | None]) -> str:
    return f"[{','.join(map(_number, row))}]"


def _number(value: float | None) -> str:
    if value is None:
        return "null"
    return re.sub(r"e([-+])0*", lambda m: f"e{m[1].strip('+')}", f"{value:.{DIGITS}g}")


def _workloads_text(workloads: Mapping[str, Workload]) -> str:
    data = counterexample.converter().unstructure(
        dict(workloads), unstructure_as=Mapping[str, Workload]
    )
    lines = (f"{json.dumps(n)}: {json.dumps(w, sort_keys=True)}" for n, w in data.items())
    return _object({"format": str(FORMAT), "workloads": _block(lines)})


def _snapshot(path: Path) -> Snapshot:
    data = _numbered(path)
    found: Snapshot = _structured(path, data, Snapshot)
    wrong = [name for name, row in found.rows.items() if len(row) != len(found.columns)]
    if wrong:
        msg = f"{path}: row {wrong[0]!r} must have a number for each of the columns"
        raise InvalidSnapshot(msg)
    return found


def _structured(path: Path, data: Any, kind: Any) -> Any:  # noqa: ANN401 - any kind of data
    try:
        return _converter().structure(data, kind)
    except (BaseValidationError, KeyError, TypeError, ValueError) as error:
        msg = f"{path}: {explained(error)}"
        raise InvalidSnapshot(msg) from error


def _numbered(path: Path) -> dict[str, Any]:
    try:
        data = parsed(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        msg = f"{path} cannot be read as a snapshot: {error}"
        raise InvalidSnapshot(msg) from error
    found = data.pop("format", None) if isinstance(data, dict) else None
    if found != FORMAT:
        msg = (
            f"{path}: a snapshot's format must be {FORMAT}, got {found!r}; record it "
            f"again, or read it with the joulecheck that wrote it"
        )
        raise InvalidSnapshot(msg)
    return dict(data)


@cache
def _converter() -> cattrs.Converter:
    made = strict_converter()
    made.register_structure_hook(Workload, _workload)
    made.register_structure_hook(Figure, lambda data, _: _figure(data))
    return made


def _workload(data: Any, _: object) -> Workload:  # noqa: ANN401 - JSON
    found: Workload = counterexample.converter().structure(data, Workload)  # type: ignore[arg-type]  # a union
    return found


def _figure(data: Any) -> Figure:  # noqa: ANN401 - JSON
    parts: Iterator[Any] = iter(data if isinstance(data, list) else [data])
    if not all(isinstance(part, bool | int | float | str | list) for part in parts):
        msg = f"must be a number, a text or a list, got {data!r}"
        raise ValueError(msg)
    found: Figure = data
    return found

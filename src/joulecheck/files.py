"""Files that are whole or absent, and JSON that is strict."""

from __future__ import annotations

import json
from errno import EISDIR
from os import strerror
from pathlib import Path
from typing import Any


def write_whole(path: Path, text: str) -> None:
    """Write a file under another name, then rename it into place.

    Raises:
        OSError: it cannot be written.
    """
    if not path.name:
        raise IsADirectoryError(EISDIR, strerror(EISDIR), str(path))
    partial = path.with_name(f".{path.name}.part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def parsed(text: str) -> Any:  # noqa: ANN401 - any JSON
    """The data of a JSON text.

    Raises:
        ValueError: it is none, holds NaN or Infinity, or is nested too deeply.
    """
    try:
        return json.loads(text, parse_constant=_refused)
    except RecursionError as error:
        msg = "it is nested too deeply"
        raise ValueError(msg) from error


def _refused(constant: str) -> float:
    msg = f"{constant} is no number that JSON may hold"
    raise ValueError(msg)

"""Hold a campaign's report against index.toml: every finding has been judged.

    python docs/found/check.py REPORT.json

REPORT.json is what `joulecheck fuzz --output-format json` writes. Exit 1, and the list
of what is missing, if a finding has no entry or an entry breaks a rule; 2 for misuse.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
VERDICTS = ("fault", "modelling choice", "data", "bad input")
KEYS = ("title", "verdict", "reason", "where", "script", "shows", "findings")
MAX_LINES = 15


def entries(folder: Path = HERE) -> list[dict[str, Any]]:
    """The entries of index.toml, one a cause."""
    index = tomllib.loads((folder / "index.toml").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = index["entry"]
    return found


def problems(folder: Path = HERE) -> Iterator[str]:
    """What is wrong with the entries and their scripts."""
    for entry in entries(folder):
        name = entry.get("title", "an entry without a title")
        for key in KEYS:
            if not entry.get(key):
                yield f"{name}: {key} is missing"
        if entry.get("verdict") not in VERDICTS:
            yield f"{name}: verdict must be one of {', '.join(VERDICTS)}"
        yield from _script_problems(folder / entry.get("script", "none.py"))


def _script_problems(script: Path) -> Iterator[str]:
    if not script.is_file():
        yield f"{script.name} does not exist"
        return
    lines = len(script.read_text(encoding="utf-8").splitlines())
    if lines > MAX_LINES:
        yield f"{script.name} has {lines} lines, more than {MAX_LINES}"


def unjudged(report: dict[str, Any], folder: Path = HERE) -> Iterator[str]:
    """The report's findings that no entry names."""
    judged = {finding["id"] for entry in entries(folder) for finding in entry["findings"]}
    for finding in report["findings"]:
        if finding["id"] not in judged:
            found = finding["counterexample"]
            yield (
                f"{finding['id']} ({found['property']} on {found['model']}) has no entry "
                f"in docs/found/index.toml: judge it, and show it with a script"
            )


def main(arguments: list[str]) -> int:
    """Check the report that the one argument names."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    report = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    wrong = [*problems(), *unjudged(report)]
    for line in wrong:
        print(line)
    judged = len(report["findings"])
    print(f"{judged} findings, {len(entries())} entries, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

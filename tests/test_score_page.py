"""docs/score.md tells of every kind of fault, and of every law that stays for a reason."""

from __future__ import annotations

import re
from pathlib import Path

from joulecheck.faults import KINDS
from joulecheck.property import STAYS, installed

PAGE = (Path(__file__).parents[1] / "docs" / "score.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def test_has_a_row_for_every_kind() -> None:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", section("Kinds and families"), re.MULTILINE)

    assert set(rows) >= set(KINDS)


def test_a_law_that_kills_nothing_alone_says_why_it_stays() -> None:
    listed = set(re.findall(r"`([A-Z]{3}\d{3})`", section("Laws that kill nothing alone")))
    saying = {law.id for law in installed().values() if STAYS in law.documentation}

    assert listed == saying

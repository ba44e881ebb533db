"""The tables of docs/score.md, from the document that `joulecheck score` writes.

    joulecheck score --named --explain 1 --baselines \
        --output-format json --output-file score.json
    python bench/score_tables.py score.json

Prints the figures in short, the kill matrix by kind of fault and family of laws, the
comparison with other suites, what survives and why, and which law is alone with what.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from joulecheck.faults import KINDS
from joulecheck.scoring.fit import FALSE, RECALL

Mutants = Sequence[Mapping[str, Any]]

LEGEND: Final = (
    "By family, `#`: its laws kill all mutants of the kind, a digit: so many tenths of "
    "them (at least some), `.`: none."
)

PICTURE: Final = {0: ".", 10: "#"}
"""Of the tenths of a kind's mutants that a family kills, those that are no digit."""


def kind_of(mutant: Mapping[str, Any]) -> str:
    """The kind of a mutant's fault; "named" for faults that are named one by one."""
    kind, mark, _ = mutant["fault"].partition("#")
    return kind if mark else "named"


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table in Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return [f"| {' | '.join(map(str, line))} |" for line in lines]


def families_killing(mutant: Mapping[str, Any]) -> set[str]:
    """The families with a law that kills a mutant."""
    return {kill["property"][:3] for kill in mutant["kills"]}


def tenths(killed: int, whole: int) -> str:
    """`#` for all, a digit for so many tenths, `.` for none."""
    share = 10 * killed // whole if killed else 0
    return PICTURE.get(share, str(max(1, share)))


def matrix(document: Mapping[str, Any]) -> list[str]:
    """A row a kind: how many of its mutants each family kills."""
    mutants = document["mutants"]
    families = list(dict.fromkeys(law[:3] for law in document["matrix"]))
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for mutant in mutants:
        kinds.setdefault(kind_of(mutant), []).append(mutant)
    rows = []
    for kind, some in kinds.items():
        counts = Counter(family for one in some for family in families_killing(one))
        killed = sum(bool(one["kills"]) for one in some)
        cells = "   ".join(tenths(counts[family], len(some)) for family in families)
        wrong = KINDS[kind].summary if kind in KINDS else "each named for one law"
        rows.append((f"`{kind}`", wrong, f"{killed} of {len(some)}", f"`{cells}  `"))
    head = table(("kind", "what goes wrong", "killed", f"`{' '.join(families)}`"), rows)
    return [LEGEND, "", *head]


def comparison(document: Mapping[str, Any]) -> list[str]:
    """A row a suite, each within the same time for a mutant; ours also in full."""
    suites = document["baselines"]
    tried = {row["mutant"] for rows in suites.values() for row in rows}
    mutants = {
        name: one
        for one in document["mutants"]
        if (name := f"{one['fault']} in {one['model']}") in tried or not tried
    }
    budget = document["settings"]["budget"]
    firsts = [one["kills"][0]["seconds"] for one in mutants.values() if one["kills"]]
    kills = {
        name: [
            one["seconds"] for one in rows if one["killed_by"] and one["mutant"] in mutants
        ]
        for name, rows in suites.items()
    }
    kills[f"joulecheck, within {budget:g} s"] = [s for s in firsts if s <= budget]
    kills["joulecheck"] = firsts
    cells = [
        (
            name,
            f"{len(seconds)} of {len(mutants)}",
            f"{len(seconds) / len(mutants):.1%}",
            f"{statistics.median(seconds):.2g} s" if seconds else "-",
        )
        for name, seconds in kills.items()
    ]
    return table(("suite", "killed", "share", "median time to a kill"), cells)


def survivors(mutants: Mutants) -> list[str]:
    """What no law kills, with the reason for which it is accepted."""
    rows = [
        (
            f"`{one['fault']}` in {one['model'].partition(':')[2]}",
            one["what"],
            "differs" if one["differs"] else "unreached",
            " ".join((one["accepted"] or "NOT ACCEPTED").split()),
        )
        for one in mutants
        if not one["kills"]
    ]
    return table(("mutant", "change", "", "why it may survive"), rows)


def idle(document: Mapping[str, Any]) -> list[str]:
    """The laws that kill nothing alone."""
    return [f"`{law}`" for law, alone in document["alone"].items() if not alone]


def quantiles(of: Mapping[str, float], form: str, unit: str = "") -> str:
    """A median and a 95th percentile."""
    return f"median {of['median']:{form}}{unit}, 95th percentile {of['p95']:{form}}{unit}"


def numbers(document: Mapping[str, Any]) -> list[str]:
    """How many are killed and how soon, and what the findings say of them."""
    summary = document["summary"]
    seconds, checks = summary["seconds_to_first_kill"], summary["checks_to_first_kill"]
    reached = f"{summary['killed_of_reached']:.1%} of those that differ"
    rows = {
        "killed": f"{summary['killed']} of {summary['mutants']}, {reached}",
        "time to the first kill, one core": quantiles(seconds, ".2g", " s"),
        "cases to the first kill, of all laws": quantiles(checks, ",.0f"),
    }
    found = [one for mutant in document["mutants"] for one in mutant["explanations"]]
    return table(("", ""), [*rows.items(), *explained(found)])


def explained(found: Mutants) -> Iterator[tuple[str, str]]:
    """How plain the minimal cases are, and whether blame and region are right."""
    if not found:
        return
    for name, what in (("nodes", "operators"), ("off_minimum", "fields off the plainest")):
        median = statistics.median(one[name] for one in found)
        yield f"{what} of a minimal counterexample, median", f"{median:g}"
    named = [one["named"] for one in found if one["named"] is not None]
    first = [one["named_first"] for one in found if one["named"] is not None]
    place = f"{share(first)} in the first place"
    yield "blame names a planted place", f"{share(named)} of {len(named)} kills; {place}"
    fits = [one["region"] for one in found if one["region"] is not None]
    good = [one for one in fits if one["recall"] >= RECALL and one["false"] < FALSE]
    answers = sum(one["of_answers"] for one in good)
    what = f"outline or region holds >= {RECALL:.0%} of what fails, and < {FALSE:.0%} else"
    ways = f"{len(good) - answers} by the workload, {answers} by what the model answers"
    yield what, f"{share([one in good for one in fits])} of {len(fits)} kills; {ways}"


def share(flags: Sequence[bool]) -> str:
    """How many of them are set."""
    return f"{sum(flags) / max(1, len(flags)):.1%}"


def main() -> None:
    """Print all tables."""
    document = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    parts = {
        "In numbers": numbers(document),
        "Kinds and families": matrix(document),
        "Other suites": comparison(document),
        "Survivors": survivors(document["mutants"]),
        "Laws that kill nothing alone": [" ".join(idle(document))],
    }
    for title, lines in parts.items():
        print(f"## {title}\n", *lines, "", sep="\n")


if __name__ == "__main__":
    main()

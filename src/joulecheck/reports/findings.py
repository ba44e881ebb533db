"""Findings in words, for people."""

from __future__ import annotations

from joulecheck.corpus import Finding
from joulecheck.counterexample import Counterexample, Minimality
from joulecheck.errors import UnknownName
from joulecheck.property import Property, property_named
from joulecheck.reports.explanation import (
    blame_lines,
    contrast_lines,
    machine_lines,
    region_lines,
)
from joulecheck.reports.wording import Line, case_lines, number_lines


def counterexample_lines(found: Counterexample) -> list[Line]:
    """The rule, the minimal case, the numbers and how to replay it."""
    law = known_property(found.property)
    rule = [] if law is None else _rule_lines(law)
    proven = {
        Minimality.PROVEN: "no node, field or pair of fields can be plainer",
        Minimality.UNPROVEN: "minimality is unproven: the search stopped at its limit",
    }
    return [
        *rule,
        *case_lines(found.case),
        ("", proven[found.minimality]),
        *number_lines(found.numbers),
        ("margin", f"{found.margin:.4g} (below 0 violates the rule; relative)"),
        *region_lines(found.region),
        *machine_lines(found),
        *blame_lines(found.blame),
        *contrast_lines(found),
        ("replay", replay_command(found)),
    ]


def _rule_lines(law: Property) -> list[Line]:
    title, statement = (law.documentation[name] for name in ("Title", "Statement"))
    first, *others = statement.splitlines()
    return [("rule", title), ("", first), *(("", line) for line in others)]


def replay_command(found: Counterexample) -> str:
    """The command that asks the same question again."""
    fault = f" --inject {found.fault}" if found.fault else ""
    return f"joulecheck replay {found.id}{fault}"


def accept_command(found: Counterexample) -> str:
    """The command that accepts it as known."""
    return f'joulecheck findings accept {found.id} --reason "..." --until YYYY-MM-DD'


def known_property(name: str) -> Property | None:
    """The property of that id, or None if it is not installed here."""
    try:
        return property_named(name)
    except UnknownName:
        return None


def finding_title(finding: Finding, status: str) -> str:
    """The first line of a finding's page."""
    found = finding.counterexample
    law = known_property(found.property)
    name = "" if law is None else f" {law.name}"
    return f"{found.id}  {status}  {found.property}{name}  {found.model}"

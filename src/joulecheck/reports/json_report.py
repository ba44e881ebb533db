"""A campaign as one JSON document, for machines."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from joulecheck.campaign.events import (
    CampaignFinished,
    CampaignStarted,
    Event,
    ModelFailed,
    PairEnded,
    PairSkipped,
    StaleExemption,
    Tally,
    Unconfirmed,
)
from joulecheck.corpus import Finding, finding_file
from joulecheck.counterexample import unstructure_case

FORMAT: Final = 1
"""The number of the document's format."""


def dumps(data: Any) -> str:  # noqa: ANN401 - anything that JSON can say
    """JSON with sorted keys, indented, with a newline at the end.

    A number that is infinite or NaN has no place in it, and is null.
    """
    plain = _finite(data)
    return json.dumps(plain, indent=2, sort_keys=True, allow_nan=False) + "\n"


def _finite(data: Any) -> Any:  # noqa: ANN401 - as `dumps`
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, list | tuple) else data


class CampaignDocument:
    """Listens to a campaign and makes its document."""

    def __init__(self) -> None:
        """Start an empty document."""
        self._data: dict[str, Any] = {
            "format": FORMAT,
            "findings": [],
            "skipped": [],
            "stale_exemptions": [],
            "unconfirmed": [],
            "failed": [],
            "ended": [],
            "pairs": [],
        }

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case CampaignStarted():
                self._data |= {
                    "seed": event.seed,
                    "models": event.models,
                    "properties": event.properties,
                    "cases": event.cases,
                    "budget": event.budget,
                    "first_epoch": event.first_epoch,
                }
            case PairSkipped(pair, exempt, reason):
                self._data["skipped"].append(
                    {**_pair(pair), "exempt": exempt, "reason": reason}
                )
            case StaleExemption(pair, tally):
                self._data["stale_exemptions"].append({**_pair(pair), **_tally(tally)})
            case Unconfirmed(pair, case):
                self._data["unconfirmed"].append(
                    {**_pair(pair), "case": unstructure_case(case)}
                )
            case ModelFailed(pair, reason):
                self._data["failed"].append({**_pair(pair), "reason": reason})
            case PairEnded(pair, reason, finding):
                self._data["ended"].append(
                    {**_pair(pair), "reason": reason, "finding": finding or None}
                )
            case CampaignFinished():
                self._finish(event)
            case _:
                pass

    def found(self, finding: Finding, status: str) -> None:
        """Add a finding."""
        self._data["findings"].append({**_finding(finding), "reported": status})

    def changed(self, finding: Finding) -> None:
        """Take up what has become of a finding since it was added."""
        for known in self._data["findings"]:
            if known["id"] == finding.id:
                known.update(_finding(finding))

    def _finish(self, event: CampaignFinished) -> None:
        self._data |= {
            "seconds": event.seconds,
            "checks": event.checks,
            "pairs": [{**_pair(pair), **_tally(tally)} for pair, tally in event.tallies],
        }

    def text(self) -> str:
        """The document so far."""
        return dumps(self._data)


def _finding(finding: Finding) -> dict[str, Any]:
    return {**json.loads(finding_file.to_json(finding)), "id": finding.id}


def _pair(pair: Any) -> dict[str, str]:  # noqa: ANN401 - a Pair
    return {"model": pair.model, "property": pair.property}


def _tally(tally: Tally) -> dict[str, Any]:
    least = None if math.isnan(tally.least_margin) else tally.least_margin
    return {
        "checks": tally.checks,
        "in_domain": tally.in_domain,
        "least_margin": least,
        "fails_below": tally.failing_share(),
        "masked": tally.masked,
    }

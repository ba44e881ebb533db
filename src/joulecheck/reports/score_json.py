"""A score as one JSON document, for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from joulecheck.counterexample import converter, unstructure_case
from joulecheck.scoring.accepted import Accepted, reason_for, superfluous
from joulecheck.scoring.baselines import Attempt
from joulecheck.scoring.score import Score, share
from joulecheck.scoring.trial import Explanation, Trial

FORMAT: Final = 1
"""The number of the document's format."""


def score_document(
    score: Score,
    accepted: Sequence[Accepted],
    attempts: Mapping[str, Sequence[Attempt]],
    **settings: object,
) -> dict[str, Any]:
    """Everything; what depends on the clock is under keys that begin with `seconds`."""
    reached = [trial for trial in score.trials if trial.differs]
    return {
        "format": FORMAT,
        "settings": settings,
        "summary": {
            "mutants": len(score.trials),
            "killed": len(score.killed),
            "survivors": len(score.survivors),
            "unreached": len(score.unreached),
            "killed_of_reached": share(score.killed, reached),
            "seconds_to_first_kill": _quantiles(score, "seconds"),
            "checks_to_first_kill": _quantiles(score, "checks"),
        },
        "kinds": list(score.kinds),
        "matrix": {
            law: {kind: {"killed": k, "asked": a} for kind, (k, a) in row.items()}
            for law, row in score.matrix.items()
        },
        "alone": {
            law: [str(trial.mutant) for trial in trials]
            for law, trials in score.alone.items()
        },
        "needed": {
            law: [str(trial.mutant) for trial in trials]
            for law, trials in score.needed.items()
        },
        "stays": {law: reason for law, reason in score.stays.items() if reason},
        "mutants": [_trial(trial, accepted) for trial in score.trials],
        "superfluous": [attrs.asdict(one) for one in superfluous(accepted, score.trials)],
        "baselines": {
            name: [
                {
                    "mutant": str(one.mutant),
                    "killed_by": one.killed_by,
                    "seconds": one.seconds,
                }
                for one in tried
            ]
            for name, tried in attempts.items()
        },
    }


def _quantiles(score: Score, field: str) -> dict[str, float | None]:
    return {
        "median": score.quantile(field, 0.5),
        "p95": score.quantile(field, 0.95),
    }


def _trial(trial: Trial, accepted: Sequence[Accepted]) -> dict[str, Any]:
    return {
        "model": trial.mutant.model,
        "fault": trial.mutant.fault,
        "what": trial.what,
        "places": sorted(trial.places),
        "asked": list(trial.asked),
        "kills": [attrs.asdict(kill) for kill in trial.kills],
        "checks": trial.checks,
        "seconds": trial.seconds,
        "differs": trial.differs,
        "accepted": None if trial.kills else reason_for(trial, accepted),
        "explanations": [_explanation(one) for one in trial.explanations],
    }


def _explanation(one: Explanation) -> dict[str, Any]:
    found = one.counterexample
    return {
        "id": found.id,
        "property": found.property,
        "case": unstructure_case(found.case),
        "margin": found.margin,
        "minimality": found.minimality.value,
        "blame": converter().unstructure(found.blame),
        "nodes": one.nodes,
        "off_minimum": one.off_minimum,
        "bits": one.bits,
        "named": one.named,
        "named_first": one.named_first,
        "seconds": one.seconds,
        "region": None if one.fit is None else attrs.asdict(one.fit),
    }

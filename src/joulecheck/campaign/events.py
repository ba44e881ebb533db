"""What a campaign tells its listeners. Events are values; nothing here prints."""

from __future__ import annotations

import math
from typing import Final

import attrs

from joulecheck.campaign.search import Searched
from joulecheck.case import AnyCase
from joulecheck.counterexample import Counterexample

CONFIDENCE: Final = 0.95
"""Of what a campaign claims about the cases that it did not draw."""


@attrs.frozen
class Pair:
    """A property asked of a model, both by name."""

    model: str
    property: str


@attrs.frozen
class Tally:
    """What was asked of a pair so far."""

    checks: int = 0
    in_domain: int = 0
    least_margin: float = float("nan")
    """Over the cases in the domain; NaN while there is none."""
    masked: int = 0
    """Cases left out, for failures are known there."""

    def plus(self, found: Searched) -> Tally:
        """With another unit's cases."""
        margins = [m for m in (self.least_margin, found.least_margin) if m == m]  # noqa: PLR0124 - NaN
        return Tally(
            self.checks + found.checks,
            self.in_domain + found.in_domain,
            min(margins, default=float("nan")),
            self.masked + found.masked,
        )

    def failing_share(self, pairs: int = 1) -> float | None:
        """Less than this share of the sampled mass in the domain fails, at 95 %.

        n independent draws without a failure exclude a share p with confidence
        1 - (1 - p)^n, which is 95 % at p = 3/n (the rule of three: Hanley and
        Lippman-Hand, JAMA 249, 1983).

        Args:
            pairs: of how many such claims all shall hold together at 95 %, by
                Bonferroni's inequality.

        Returns:
            None where nothing was asked, or something failed.
        """
        if not self.in_domain or not self.least_margin >= 0:
            return None
        return min(1.0, math.log(pairs / (1 - CONFIDENCE)) / self.in_domain)


@attrs.frozen
class CampaignStarted:
    """The pairs are known and the search begins."""

    seed: int
    models: tuple[str, ...]
    properties: tuple[str, ...]
    pairs: tuple[Pair, ...]
    cases: int | None
    """Cases a pair, or None for a budget of time."""
    budget: float | None
    """Seconds, or None."""
    first_epoch: int = 0
    """Above 0 where a named campaign goes on."""


@attrs.frozen
class PairSkipped:
    """A property is not asked of a model."""

    pair: Pair
    exempt: bool
    """Whether the model declared it; else it does not offer what is needed."""
    reason: str


@attrs.frozen
class StaleExemption:
    """A model declares itself exempt of a property, and no case in its domain failed."""

    pair: Pair
    tally: Tally


@attrs.frozen
class EpochFinished:
    """A unit of a pair was searched."""

    pair: Pair
    searched: Searched
    tally: Tally
    done: int
    """Cases asked in the whole campaign."""
    planned: int | None
    """Cases to ask in all, or None for a budget of time."""


@attrs.frozen
class CauseShared:
    """A pair fails for the cause of a known counterexample."""

    counterexample: Counterexample
    """As before, with the pair's model in `also` unless it is its own."""
    pair: Pair
    accepted: bool
    """Whether it is a known finding, and not one of this campaign."""


@attrs.frozen
class PairEnded:
    """A pair that fails is searched no further."""

    pair: Pair
    reason: str
    finding: str = ""
    """The id of the one that has no region, if that is why."""


@attrs.frozen
class CounterexampleFound:
    """A minimal counterexample; what lies in its region is left out from now on."""

    counterexample: Counterexample
    seconds: float
    """From the first failing case to the minimal one."""


@attrs.frozen
class Unconfirmed:
    """A case failed in a batch and held on the scalar path: the two disagree."""

    pair: Pair
    case: AnyCase


@attrs.frozen
class ModelFailed:
    """The process that asked a model died or hung; its pair is searched no further."""

    pair: Pair
    reason: str


@attrs.frozen
class RoundFinished:
    """All active pairs were searched for one more epoch; a good moment to save."""

    seed: int
    epoch: int


@attrs.frozen(kw_only=True)
class CampaignFinished:
    """The end: every case was asked, every pair ended, or the time is up."""

    seed: int
    seconds: float
    checks: int
    tallies: tuple[tuple[Pair, Tally], ...]

    @property
    def vacuous(self) -> tuple[Pair, ...]:
        """Pairs that were offered and met no case in their domain."""
        return tuple(p for p, t in self.tallies if t.checks and not t.in_domain)


Event = (
    CampaignStarted
    | PairSkipped
    | StaleExemption
    | EpochFinished
    | CounterexampleFound
    | CauseShared
    | PairEnded
    | Unconfirmed
    | ModelFailed
    | RoundFinished
    | CampaignFinished
)

"""Findings: a counterexample's life, from new to accepted, fixed or regressed.

A finding is a value; what happens to it makes another one. Times and days are UTC.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Any

import attrs

from joulecheck.counterexample import Counterexample
from joulecheck.errors import CorpusError, InvalidSetting


def utc_now() -> datetime:
    """The present, in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


class Status(Enum):
    """Where a finding is in its life."""

    NEW = "new"
    """Nobody has judged it."""
    ACCEPTED = "accepted"
    """Known, with a reason; fails no gate until the acceptance expires."""
    FIXED = "fixed"
    """Its case held when it was last replayed."""
    REGRESSED = "regressed"
    """It was fixed, and fails again."""
    FLAKY = "flaky"
    """Its case failed in some of the runs of a replay, not in all."""


def _says_something(_: object, __: object, reason: str) -> None:
    if not reason.strip():
        msg = "an acceptance's reason must say something, got an empty text"
        raise ValueError(msg)


@attrs.frozen
class Acceptance:
    """Why a finding may go on failing, and the last day on which it may."""

    reason: str = attrs.field(validator=_says_something)
    until: date | None = None
    """The last day, in UTC; None accepts for good."""

    def is_expired(self, today: date) -> bool:
        """Whether its last day has passed."""
        return self.until is not None and today > self.until

    def outlasts(self, other: Acceptance) -> bool:
        """Whether it holds for longer than the other."""
        return (self.until or date.max) > (other.until or date.max)


def acceptance_of(reason: str, until: date | str | None, today: date) -> Acceptance:
    """The acceptance that somebody asks for today.

    Args:
        reason: why the finding may go on failing.
        until: the last day on which it may, as a date or in ISO format.
        today: the day of asking, in UTC.

    Raises:
        InvalidSetting: the reason is empty, or the day no date after today.
    """
    if not reason.strip():
        msg = f"reason must say why the finding is accepted, got {reason!r}"
        raise InvalidSetting(msg)
    last = _day(until, today) if isinstance(until, str) else until
    if last is not None and last <= today:
        msg = (
            f"until must be after today, {today}, got {last}; leave it out to accept "
            f"for good"
        )
        raise InvalidSetting(msg)
    return Acceptance(reason.strip(), last)


def _day(text: str, today: date) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        example = today + timedelta(days=90)
        msg = f"until must be a date such as {example}, got {text!r}"
        raise InvalidSetting(msg) from error


def _in_utc(_: object, field: attrs.Attribute[datetime], value: datetime) -> None:
    if value.utcoffset() != timedelta(0):
        msg = f"{field.name} must be a time in UTC, got {value.isoformat()}"
        raise ValueError(msg)


@attrs.frozen(kw_only=True)
class Finding:
    """A counterexample, what was decided about it, and when it was found."""

    counterexample: Counterexample
    status: Status = attrs.field(default=Status.NEW)
    acceptance: Acceptance | None = None
    """Counts only while the status is ACCEPTED: what has regressed or turned flaky
    since must be accepted anew."""
    first_seen: datetime = attrs.field(validator=_in_utc)
    last_seen: datetime = attrs.field(validator=_in_utc)
    """When a campaign last found it."""

    @status.validator
    def _has_a_reason(self, _: attrs.Attribute[Status], status: Status) -> None:
        if status is Status.ACCEPTED and self.acceptance is None:
            msg = "a finding with status accepted must have an acceptance, got none"
            raise ValueError(msg)

    @classmethod
    def new(cls, counterexample: Counterexample, when: datetime) -> Finding:
        """What a campaign has just found."""
        return cls(counterexample=counterexample, first_seen=when, last_seen=when)

    @property
    def id(self) -> str:
        """Of its counterexample: F- and eight digits."""
        return self.counterexample.id

    def is_expired(self, today: date) -> bool:
        """Whether it was accepted until a day that has passed."""
        return (
            self.status is Status.ACCEPTED
            and self.acceptance is not None
            and self.acceptance.is_expired(today)
        )

    def accepts_now(self, today: date) -> bool:
        """Whether it is accepted, and still is on this day."""
        return self.status is Status.ACCEPTED and not self.is_expired(today)

    def seen_again(self, counterexample: Counterexample, when: datetime) -> Finding:
        """Found once more: with the newest numbers, and regressed if it was fixed.

        Raises:
            CorpusError: the counterexample is another one with the same id.
        """
        if _key(counterexample) != _key(self.counterexample):
            msg = (
                f"two counterexamples are called {self.id}: {_key(self.counterexample)} "
                f"and {_key(counterexample)}; keep them in two corpora"
            )
            raise CorpusError(msg)
        status = Status.REGRESSED if self.status is Status.FIXED else self.status
        return attrs.evolve(
            self, counterexample=counterexample, status=status, last_seen=when
        )

    def accepted(self, acceptance: Acceptance) -> Finding:
        """Accepted, whatever it was."""
        return attrs.evolve(self, status=Status.ACCEPTED, acceptance=acceptance)

    def marked(self, status: Status) -> Finding:
        """With this status.

        Raises:
            CorpusError: it would be accepted without a reason.
        """
        if status is Status.ACCEPTED and self.acceptance is None:
            msg = f"{self.id} cannot be marked as accepted without a reason: accept it"
            raise CorpusError(msg)
        return attrs.evolve(self, status=status)

    def joined(self, other: Finding) -> Finding:
        """What this record and another of the same finding say together.

        The acceptance that holds for longer counts, and this record's status, unless
        it is merely new.
        """
        return attrs.evolve(
            self,
            status=other.status if self.status is Status.NEW else self.status,
            acceptance=_longer(self.acceptance, other.acceptance),
            first_seen=min(self.first_seen, other.first_seen),
            last_seen=max(self.last_seen, other.last_seen),
        )


def _key(counterexample: Counterexample) -> tuple[Any, ...]:
    return counterexample.model, counterexample.property, counterexample.case


def _longer(one: Acceptance | None, other: Acceptance | None) -> Acceptance | None:
    if one is None or other is None:
        return one or other
    return other if other.outlasts(one) else one

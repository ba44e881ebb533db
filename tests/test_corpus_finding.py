"""What a finding's life is, apart from any store."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import attrs
import pytest

from corpus_examples import DAY, MONDAY, TODAY, accepted, counterexample, finding
from joulecheck.corpus import Acceptance, Finding, Status, utc_now
from joulecheck.corpus.finding import acceptance_of
from joulecheck.errors import CorpusError, InvalidSetting


class TestAcceptance:
    def test_counts_on_its_last_day_and_not_after(self) -> None:
        known = accepted(until=TODAY)

        assert known.accepts_now(TODAY)
        assert not known.is_expired(TODAY)
        assert not known.accepts_now(TODAY + DAY)
        assert known.is_expired(TODAY + DAY)

    def test_without_a_day_never_expires(self) -> None:
        assert accepted().accepts_now(date.max)

    @pytest.mark.parametrize(
        "status", [s for s in Status if s is not Status.ACCEPTED], ids=lambda s: s.value
    )
    def test_counts_for_an_accepted_finding_alone(self, status: Status) -> None:
        known = finding(status=status, acceptance=Acceptance("once", TODAY))

        assert not known.accepts_now(TODAY)
        assert not known.is_expired(TODAY + DAY)

    @pytest.mark.parametrize("until", [date(2027, 1, 31), "2027-01-31"])
    def test_takes_a_date_or_its_iso_form(self, until: date | str) -> None:
        expected = Acceptance("upstream issue", date(2027, 1, 31))

        assert expected == acceptance_of(" upstream issue ", until, TODAY)

    @pytest.mark.parametrize("reason", ["", "  \n"])
    def test_needs_a_reason(self, reason: str) -> None:
        with pytest.raises(InvalidSetting, match="reason must say why"):
            acceptance_of(reason, None, TODAY)
        with pytest.raises(ValueError, match="reason must say something"):
            Acceptance(reason)

    @pytest.mark.parametrize("until", ["2026-03-02", "2020-01-01"])
    def test_needs_a_day_to_come(self, until: str) -> None:
        with pytest.raises(InvalidSetting, match=f"after today, 2026-03-02, got {until}"):
            acceptance_of("known", until, TODAY)

    @pytest.mark.parametrize("until", ["soon", "31.01.2027", "2027-02-30", ""])
    def test_needs_a_date_that_exists(self, until: str) -> None:
        with pytest.raises(InvalidSetting, match="must be a date such as 2026-05-31"):
            acceptance_of("known", until, TODAY)


class TestLife:
    def test_starts_new(self) -> None:
        fresh = Finding.new(counterexample(), MONDAY)

        assert Status.NEW is fresh.status
        assert fresh.acceptance is None
        assert MONDAY == fresh.first_seen == fresh.last_seen
        assert counterexample().id == fresh.id

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (Status.NEW, Status.NEW),
            (Status.ACCEPTED, Status.ACCEPTED),
            (Status.FIXED, Status.REGRESSED),
            (Status.REGRESSED, Status.REGRESSED),
            (Status.FLAKY, Status.FLAKY),
        ],
    )
    def test_seen_again(self, before: Status, after: Status) -> None:
        known = finding(status=before, acceptance=Acceptance("known"))

        again = known.seen_again(counterexample(margin=-0.9), MONDAY + DAY)

        assert after is again.status
        assert Acceptance("known") == again.acceptance
        assert again.first_seen == MONDAY
        assert again.last_seen == MONDAY + DAY
        assert again.counterexample.margin == -0.9

    def test_another_counterexample_is_not_the_same_finding(self) -> None:
        with pytest.raises(CorpusError, match="two counterexamples are called F-"):
            finding(1).seen_again(counterexample(2), MONDAY)

    def test_cannot_be_accepted_without_a_reason(self) -> None:
        with pytest.raises(CorpusError, match="without a reason"):
            finding().marked(Status.ACCEPTED)
        with pytest.raises(ValueError, match="must have an acceptance"):
            attrs.evolve(finding(), status=Status.ACCEPTED)

    @pytest.mark.parametrize(
        "when",
        [
            datetime(2026, 3, 2),  # noqa: DTZ001 - the point
            datetime(2026, 3, 2, tzinfo=timezone(timedelta(hours=1))),
        ],
        ids=["naive", "elsewhere"],
    )
    def test_times_are_in_utc(self, when: datetime) -> None:
        with pytest.raises(ValueError, match="first_seen must be a time in UTC"):
            Finding.new(counterexample(), when)

    def test_now_is_in_utc_to_the_second(self) -> None:
        now = utc_now()

        assert UTC is now.tzinfo
        assert now.microsecond == 0


class TestJoined:
    def test_spans_both_times(self) -> None:
        early, late = finding(), finding(seen=MONDAY + DAY)

        for one, other in [(early, late), (late, early)]:
            together = one.joined(other)

            assert together.first_seen == MONDAY
            assert together.last_seen == MONDAY + DAY

    def test_what_is_new_here_may_be_known_there(self) -> None:
        assert accepted() == finding().joined(accepted())

    @pytest.mark.parametrize("status", [Status.FIXED, Status.REGRESSED, Status.FLAKY])
    def test_what_happened_here_counts(self, status: Status) -> None:
        assert status is finding(status=status).joined(accepted()).status

    @pytest.mark.parametrize(
        ("one", "other", "longer"),
        [
            (TODAY, TODAY + DAY, TODAY + DAY),
            (TODAY + DAY, TODAY, TODAY + DAY),
            (None, TODAY, None),
            (TODAY, None, None),
        ],
    )
    def test_the_longer_acceptance_counts(
        self, one: date | None, other: date | None, longer: date | None
    ) -> None:
        together = accepted(until=one).joined(accepted(until=other))

        assert Acceptance("known", longer) == together.acceptance

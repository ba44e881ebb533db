"""What every store does, run over each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from corpus_examples import (
    CASES,
    DAY,
    MONDAY,
    Clock,
    accepted,
    counterexample,
    finding,
)
from joulecheck.case import AnyCase
from joulecheck.corpus import (
    Acceptance,
    CombinedCorpus,
    Corpus,
    Directory,
    Finding,
    InMemoryCorpus,
    SqlCorpus,
    Status,
)
from joulecheck.errors import CorpusError, InvalidSetting, UnknownName

OPENERS: dict[str, Callable[[Path, Clock], Corpus]] = {
    "memory": lambda _, clock: InMemoryCorpus(clock),
    "file": lambda path, clock: SqlCorpus(f"sqlite:///{path}/a/b/corpus.db", clock=clock),
    "sqlite memory": lambda _, clock: SqlCorpus("sqlite://", clock=clock),
    "sqlite shared memory": lambda _, clock: SqlCorpus(
        "sqlite:///file::memory:?cache=shared&uri=true", clock=clock
    ),
    "sqlite uri": lambda path, clock: SqlCorpus(
        f"sqlite:///file:{path}/corpus.db?uri=true", clock=clock
    ),
    "combined": lambda path, clock: CombinedCorpus(
        InMemoryCorpus(clock), Directory(path / "counterexamples")
    ),
}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=OPENERS.values(), ids=list(OPENERS))
def corpus(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Clock
) -> Iterator[Corpus]:
    with request.param(tmp_path, clock) as opened:
        yield opened


class TestSave:
    def test_keeps_a_new_finding(self, corpus: Corpus) -> None:
        saved = corpus.save(counterexample())

        assert Finding.new(counterexample(), MONDAY) == saved
        assert [saved] == corpus.all()

    @pytest.mark.parametrize("case", CASES, ids=lambda case: type(case).__name__)
    def test_gives_back_every_kind_of_case(self, corpus: Corpus, case: AnyCase) -> None:
        saved = corpus.save(counterexample(case=case))

        assert counterexample(case=case) == corpus.get(saved.id).counterexample

    def test_is_one_finding_by_model_property_and_case(self, corpus: Corpus) -> None:
        different = [
            counterexample(1),
            counterexample(2),
            counterexample(1, model="toy:other"),
            counterexample(1, law="TST002"),
        ]
        for found in [*different, *different, counterexample(1, margin=-0.1)]:
            corpus.save(found)

        assert {c.id for c in different} == {f.id for f in corpus.all()}
        assert len(different) == len(corpus.all())

    def test_again_moves_last_seen_and_keeps_the_acceptance(
        self, corpus: Corpus, clock: Clock
    ) -> None:
        known = corpus.save(counterexample())
        corpus.accept(known.id, "upstream issue", "2027-01-31")
        clock.now += DAY

        again = corpus.save(counterexample(margin=-0.7))

        assert Status.ACCEPTED is again.status
        assert Acceptance("upstream issue", date(2027, 1, 31)) == again.acceptance
        assert again.first_seen == MONDAY
        assert again.last_seen == MONDAY + DAY
        assert again.counterexample.margin == -0.7
        assert again == corpus.get(known.id)

    def test_of_a_fixed_finding_is_a_regression(self, corpus: Corpus) -> None:
        known = corpus.save(counterexample())
        corpus.mark(known.id, Status.FIXED)

        assert Status.REGRESSED is corpus.save(counterexample()).status
        assert Status.REGRESSED is corpus.get(known.id).status

    def test_lists_the_first_seen_first(self, corpus: Corpus, clock: Clock) -> None:
        for m in (5, 3, 4, 1):
            corpus.save(counterexample(m))
            clock.now += DAY

        assert [counterexample(m).id for m in (5, 3, 4, 1)] == [f.id for f in corpus.all()]


class TestGet:
    def test_takes_a_beginning_that_is_unique(self, corpus: Corpus) -> None:
        one, _ = corpus.save(counterexample(1)), corpus.save(counterexample(2))

        assert one == corpus.get(one.id)
        assert one == corpus.get(one.id[:6])

    def test_asks_for_more_of_an_ambiguous_one(self, corpus: Corpus) -> None:
        for m in (1, 2):
            corpus.save(counterexample(m))

        for name in ("F-", ""):
            with pytest.raises(UnknownName, match=r"2 findings start with .*add digits"):
                corpus.get(name)

    def test_suggests_what_was_meant(self, corpus: Corpus) -> None:
        known = corpus.save(counterexample())

        with pytest.raises(UnknownName, match=f"did you mean {known.id}"):
            corpus.get(known.id.removeprefix("F-"))

    def test_of_an_empty_corpus(self, corpus: Corpus) -> None:
        with pytest.raises(UnknownName, match="no finding is called 'F-1': none is known"):
            corpus.get("F-1")


class TestAccept:
    def test_keeps_the_reason_and_the_day(self, corpus: Corpus) -> None:
        known = corpus.save(counterexample())

        judged = corpus.accept(known.id[:8], "modelling choice", date(2027, 1, 31))

        assert accepted(until=date(2027, 1, 31), reason="modelling choice") == judged
        assert judged == corpus.get(known.id)

    def test_may_be_for_good_and_be_renewed(self, corpus: Corpus) -> None:
        known = corpus.save(counterexample())
        corpus.accept(known.id, "first", "2027-01-31")

        assert Acceptance("second") == corpus.accept(known.id, "second").acceptance
        assert Acceptance("second") == corpus.get(known.id).acceptance

    def test_covers_a_regression_if_asked_anew(self, corpus: Corpus) -> None:
        known = corpus.save(counterexample())
        corpus.mark(known.id, Status.REGRESSED)

        assert Status.ACCEPTED is corpus.accept(known.id, "given up").status

    @pytest.mark.parametrize(
        ("reason", "until"), [("", None), ("late", "2026-03-02"), ("odd", "tomorrow")]
    )
    def test_refuses_what_says_nothing(
        self, corpus: Corpus, reason: str, until: str | None
    ) -> None:
        known = corpus.save(counterexample())

        with pytest.raises(InvalidSetting):
            corpus.accept(known.id, reason, until)

        assert known == corpus.get(known.id)

    def test_needs_a_finding(self, corpus: Corpus) -> None:
        with pytest.raises(UnknownName):
            corpus.accept("F-12345678", "known")


class TestMark:
    @pytest.mark.parametrize("status", [Status.FIXED, Status.FLAKY], ids=lambda s: s.value)
    def test_sets_the_status(self, corpus: Corpus, status: Status) -> None:
        known = corpus.save(counterexample())

        assert status is corpus.mark(known.id, status).status
        assert status is corpus.get(known.id).status

    def test_accepts_nothing_without_a_reason(self, corpus: Corpus) -> None:
        known = corpus.save(counterexample())

        with pytest.raises(CorpusError, match="without a reason: accept it"):
            corpus.mark(known.id, Status.ACCEPTED)

        assert known == corpus.get(known.id)


class TestAdd:
    def test_takes_over_a_finding_as_it_is(self, corpus: Corpus) -> None:
        assert accepted() == corpus.add(accepted())
        assert [accepted()] == corpus.all()

    def test_joins_it_with_a_known_one(self, corpus: Corpus, clock: Clock) -> None:
        clock.now += DAY
        corpus.save(counterexample())

        together = corpus.add(accepted())

        assert Status.ACCEPTED is together.status
        assert (together.first_seen, together.last_seen) == (MONDAY, MONDAY + DAY)
        assert [together] == corpus.all()

    def test_changes_nothing_the_second_time(self, corpus: Corpus) -> None:
        corpus.add(accepted())

        assert accepted() == corpus.add(accepted())
        assert [accepted()] == corpus.all()


class TestChange:
    def test_that_raises_changes_nothing(self, corpus: Corpus) -> None:
        known = corpus.save(counterexample())

        def give_up(_: Finding | None) -> Finding:
            raise CorpusError

        for finding_id in (known.id, finding(2).id):
            with pytest.raises(CorpusError):
                corpus.change(finding_id, give_up)

        assert [known] == corpus.all()

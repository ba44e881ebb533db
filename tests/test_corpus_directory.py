"""Findings as files: committed, combined with a store, exported and imported."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from corpus_examples import (
    CASES,
    DAY,
    MONDAY,
    TODAY,
    Clock,
    accepted,
    counterexample,
    finding,
)
from joulecheck.case import AnyCase
from joulecheck.corpus import (
    Acceptance,
    CombinedCorpus,
    Directory,
    Finding,
    InMemoryCorpus,
    SqlCorpus,
    Status,
    export_findings,
    import_findings,
)
from joulecheck.errors import CorpusError


@pytest.fixture
def directory(tmp_path: Path) -> Directory:
    return Directory(tmp_path / "counterexamples")


class TestDirectory:
    def test_that_is_missing_is_empty(self, directory: Directory) -> None:
        assert directory.all() == []
        assert not directory.path.exists()

    @pytest.mark.parametrize("case", CASES, ids=lambda case: type(case).__name__)
    def test_gives_back_every_kind_of_case(
        self, directory: Directory, case: AnyCase
    ) -> None:
        known = Finding.new(counterexample(case=case), MONDAY)
        directory.write(known)

        assert [known] == directory.all()

    @pytest.mark.parametrize(
        "known",
        [
            finding(),
            accepted(),
            accepted(until=date(2027, 1, 31), reason="Größe über 1 %"),
            finding(status=Status.FIXED, acceptance=Acceptance("was known")),
        ],
        ids=["new", "for good", "for a time", "fixed"],
    )
    def test_gives_back_what_was_decided(
        self, directory: Directory, known: Finding
    ) -> None:
        directory.write(known)

        assert [known] == directory.all()

    def test_lists_the_first_seen_first(self, directory: Directory) -> None:
        for m in (1, 2, 3):
            directory.write(finding(m, seen=MONDAY - m * DAY))

        assert [finding(m).id for m in (3, 2, 1)] == [f.id for f in directory.all()]

    def test_has_one_file_a_finding_and_nothing_else(self, directory: Directory) -> None:
        for known in (finding(1), finding(2), accepted(1)):
            path = directory.write(known)

            assert directory.path / f"{known.id}.json" == path

        assert {f"{finding(m).id}.json" for m in (1, 2)} == {
            file.name for file in directory.path.iterdir()
        }

    def test_writes_the_same_text_for_the_same_finding(self, directory: Directory) -> None:
        first = directory.write(accepted()).read_bytes()

        assert first == directory.write(accepted()).read_bytes()
        assert first.endswith(b"}\n")

    def test_ignores_other_files(self, directory: Directory) -> None:
        directory.write(finding())
        (directory.path / "README.md").write_text("what these are")

        assert [finding()] == directory.all()

    def test_leaves_the_old_file_if_the_new_one_cannot_be_written(
        self, directory: Directory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = directory.write(finding())

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "replace", full)
        with pytest.raises(CorpusError, match=rf"cannot write .*{path.name}: .*No space"):
            directory.write(accepted())

        assert [finding()] == directory.all()
        assert [path] == list(directory.path.iterdir())

    def test_that_is_a_file(self, directory: Directory) -> None:
        directory.path.touch()

        with pytest.raises(CorpusError, match=r"cannot read .*counterexamples"):
            directory.all()
        with pytest.raises(CorpusError, match=r"cannot write .*counterexamples"):
            directory.write(finding())


def without(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda data: data.pop(name)


def having(name: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda data: data.update({name: value})


def deeper(*path: str, value: object) -> Callable[[dict[str, Any]], object]:
    def edit(data: dict[str, Any]) -> None:
        for name in path[:-1]:
            data = data[name]
        data[path[-1]] = value

    return edit


class TestBadFile:
    """A file that is no finding is an error that names it."""

    @pytest.mark.parametrize("text", ["", "{", "F-1", b"\xff\xfe"])
    def test_is_not_json(self, directory: Directory, text: str | bytes) -> None:
        path = directory.write(finding())
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

        with pytest.raises(CorpusError, match=path.name):
            directory.all()

    @pytest.mark.parametrize(
        ("edit", "message"),
        [
            (having("format", 2), "format must be 1, got 2"),
            (without("format"), "format must be 1, got None"),
            (deeper("counterexample", "format", value=9), "format must be 1, got 9"),
            (without("counterexample"), "required field missing"),
            (having("import", "os"), "extra fields"),
            (having("status", "gone"), "gone"),
            (having("status", "accepted"), "must have an acceptance, got none"),
            (having("first_seen", "yesterday"), "yesterday"),
            (having("last_seen", "2026-03-02T12:00:00"), "must be a time in UTC"),
            (having("acceptance", {"reason": " "}), "must say something"),
            (having("acceptance", {"reason": "a", "until": "soon"}), "soon"),
            (having("acceptance", "yes"), "acceptance"),
            (
                deeper("counterexample", "case", "workload", "m", value=0),
                r"\$\.case\.workload",
            ),
        ],
    )
    def test_breaks_a_rule(
        self,
        directory: Directory,
        edit: Callable[[dict[str, Any]], object],
        message: str,
    ) -> None:
        path = directory.write(finding())
        data = json.loads(path.read_text())
        edit(data)
        path.write_text(json.dumps(data))

        with pytest.raises(CorpusError, match=rf"{path.name}: .*{message}"):
            directory.all()

    def test_is_not_an_object(self, directory: Directory) -> None:
        directory.write(finding()).write_text("[1]")

        with pytest.raises(CorpusError, match="format must be 1, got None"):
            directory.all()

    def test_has_another_name(self, directory: Directory) -> None:
        path = directory.write(finding())
        path.rename(path.with_name("F-00000000.json"))

        with pytest.raises(CorpusError, match=rf"named by its id, {finding().id}\.json"):
            directory.all()


class TestCombined:
    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def store(self, clock: Clock) -> InMemoryCorpus:
        return InMemoryCorpus(clock)

    @pytest.fixture
    def corpus(self, store: InMemoryCorpus, directory: Directory) -> CombinedCorpus:
        return CombinedCorpus(store, directory)

    def test_lists_what_either_has(
        self, corpus: CombinedCorpus, store: InMemoryCorpus, directory: Directory
    ) -> None:
        store.add(finding(1))
        store.add(finding(2))
        directory.write(accepted(2))
        directory.write(accepted(3))

        expected = sorted([finding(1), accepted(2), accepted(3)], key=lambda f: f.id)
        assert expected == corpus.all()

    def test_accepts_what_the_directory_accepts(
        self, corpus: CombinedCorpus, directory: Directory, clock: Clock
    ) -> None:
        directory.write(accepted(until=TODAY))
        clock.now += DAY / 4

        found = corpus.save(counterexample())

        assert found.accepts_now(TODAY)
        assert clock.now == found.last_seen
        assert found == corpus.get(found.id)

    def test_forgets_an_acceptance_that_left_the_directory(
        self, corpus: CombinedCorpus, store: InMemoryCorpus, directory: Directory
    ) -> None:
        path = directory.write(accepted())
        corpus.save(counterexample())
        path.unlink()

        assert [finding()] == store.all() == corpus.all()

    def test_finds_a_regression_of_what_the_directory_calls_fixed(
        self, corpus: CombinedCorpus, directory: Directory
    ) -> None:
        directory.write(finding(status=Status.FIXED))

        assert Status.REGRESSED is corpus.save(counterexample()).status
        assert Status.REGRESSED is corpus.get(finding().id).status

    def test_never_writes_to_the_directory(
        self, corpus: CombinedCorpus, store: InMemoryCorpus, directory: Directory
    ) -> None:
        path = directory.write(accepted())
        before = path.read_bytes()

        corpus.mark(accepted().id, Status.FIXED)
        corpus.save(counterexample(2))

        assert [path] == list(directory.path.iterdir())
        assert before == path.read_bytes()
        assert {Status.FIXED, Status.NEW} == {known.status for known in store.all()}

    def test_a_regression_outlives_the_committed_acceptance(
        self, corpus: CombinedCorpus, directory: Directory
    ) -> None:
        directory.write(accepted())
        corpus.mark(accepted().id, Status.FIXED)

        assert Status.REGRESSED is corpus.save(counterexample()).status
        assert not corpus.get(accepted().id).accepts_now(TODAY)

    def test_a_decision_of_our_own_is_stored(
        self, corpus: CombinedCorpus, store: InMemoryCorpus, directory: Directory
    ) -> None:
        directory.write(accepted(until=TODAY))

        corpus.accept(accepted().id, "for longer", "2027-01-31")

        expected = Acceptance("for longer", date(2027, 1, 31))
        assert expected == store.get(accepted().id).acceptance
        assert expected == corpus.get(accepted().id).acceptance
        corpus.save(counterexample())
        assert expected == store.get(accepted().id).acceptance

    def test_closes_its_store(self, tmp_path: Path, directory: Directory) -> None:
        with CombinedCorpus(SqlCorpus(f"sqlite:///{tmp_path}/c.db"), directory) as corpus:
            corpus.save(counterexample())


class TestExchange:
    def test_takes_findings_from_one_corpus_to_another(self, tmp_path: Path) -> None:
        ours, theirs = InMemoryCorpus(), InMemoryCorpus()
        for known in (finding(1), accepted(2), finding(3, Status.FIXED)):
            ours.add(known)

        paths = export_findings(ours.all(), tmp_path / "out")
        imported = import_findings(paths, theirs)

        assert ours.all() == imported == theirs.all()

    def test_takes_whole_directories(self, tmp_path: Path) -> None:
        export_findings([finding(1), finding(2)], tmp_path)
        corpus = InMemoryCorpus()

        import_findings([tmp_path], corpus)

        assert Directory(tmp_path).all() == corpus.all()

    def test_changes_nothing_the_second_time(self, tmp_path: Path) -> None:
        paths = export_findings([accepted()], tmp_path)
        corpus = InMemoryCorpus()
        for _ in range(2):
            import_findings([*paths, *paths, tmp_path], corpus)

        assert [accepted()] == corpus.all()

    def test_takes_a_file_of_any_name(self, tmp_path: Path) -> None:
        (path,) = export_findings([finding()], tmp_path)
        renamed = path.rename(tmp_path / "from a mail.txt")

        assert [finding()] == import_findings([renamed], InMemoryCorpus())

    def test_adds_nothing_if_one_is_bad(self, tmp_path: Path) -> None:
        paths = export_findings([finding(1), finding(2)], tmp_path)
        paths[1].write_text("{}")
        corpus = InMemoryCorpus()

        with pytest.raises(CorpusError, match=paths[1].name):
            import_findings(paths, corpus)

        assert corpus.all() == []

    def test_of_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(CorpusError, match=r"cannot read .*nothing\.json"):
            import_findings([tmp_path / "nothing.json"], InMemoryCorpus())

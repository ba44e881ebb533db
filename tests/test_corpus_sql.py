"""What only a database can get wrong."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

import pytest

from corpus_examples import accepted, counterexample, finding
from joulecheck.corpus import DEFAULT_URL, Finding, SqlCorpus, Status
from joulecheck.errors import CorpusError


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "corpus.db"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


class TestPlace:
    def test_by_default_is_a_file_that_the_first_save_makes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with SqlCorpus() as corpus:
            assert corpus.all() == []
            assert list(tmp_path.iterdir()) == []

            corpus.save(counterexample())

        assert (tmp_path / ".joulecheck" / "corpus.db").is_file()
        assert corpus.url == DEFAULT_URL

    def test_keeps_its_findings(self, url: str) -> None:
        with SqlCorpus(url) as corpus:
            corpus.add(accepted())
        with SqlCorpus(url) as corpus:
            assert [accepted()] == corpus.all()

    def test_may_be_a_database_with_other_tables(self, url: str, path: Path) -> None:
        execute(path, "CREATE TABLE other (id INTEGER)")
        with SqlCorpus(url) as corpus:
            assert corpus.all() == []

            corpus.add(finding())

            assert [finding()] == corpus.all()

    def test_may_be_an_empty_file(self, url: str, path: Path) -> None:
        path.touch()
        with SqlCorpus(url) as corpus:
            assert corpus.all() == []

            corpus.add(finding())

            assert [finding()] == corpus.all()


class TestErrors:
    @pytest.mark.parametrize(
        "url",
        ["corpus.db", "", "nosuchdb:///x", "sqlite+nodriver:///x", "postgresql://h:port/x"],
    )
    def test_a_bad_url(self, url: str) -> None:
        with pytest.raises(CorpusError, match=r"SQLAlchemy URL .* such as sqlite:///"):
            SqlCorpus(url)

    def test_a_bad_url_keeps_its_password(self) -> None:
        with pytest.raises(CorpusError) as caught:
            SqlCorpus("nosuchdb://me:secret@host/x")

        assert "secret" not in str(caught.value)

    def test_a_place_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with (
            SqlCorpus(f"sqlite:///{tmp_path}/file/corpus.db") as corpus,
            pytest.raises(CorpusError, match=r"file/corpus\.db: cannot write it: "),
        ):
            corpus.save(counterexample())

    def test_a_database_that_may_only_be_read(self, url: str, path: Path) -> None:
        with SqlCorpus(url) as corpus:
            corpus.add(finding())
        with SqlCorpus(f"sqlite:///file:{path}?mode=ro&uri=true") as corpus:
            assert [finding()] == corpus.all()
            with pytest.raises(CorpusError, match="readonly database"):
                corpus.save(counterexample(2))

    def test_a_directory(self, tmp_path: Path) -> None:
        with SqlCorpus(f"sqlite:///{tmp_path}") as corpus:
            with pytest.raises(CorpusError, match="cannot read it: unable to open"):
                corpus.all()
            with pytest.raises(CorpusError, match="cannot write it: unable to open"):
                corpus.save(counterexample())

    def test_a_file_that_is_no_database(self, url: str, path: Path) -> None:
        path.write_text("not a database at all, but long enough to be looked at " * 9)
        with SqlCorpus(url) as corpus:
            with pytest.raises(CorpusError, match="cannot read it: file is not a database"):
                corpus.all()
            with pytest.raises(CorpusError, match="cannot write it: file is not a data"):
                corpus.save(counterexample())

    def test_a_newer_schema(self, url: str, path: Path) -> None:
        with SqlCorpus(url) as corpus:
            corpus.add(finding())
        execute(path, "UPDATE joulecheck_schema SET version = 2")
        with SqlCorpus(url) as corpus:
            with pytest.raises(CorpusError, match="schema must be 1, got 2; use the joul"):
                corpus.all()
            with pytest.raises(CorpusError, match="schema must be 1, got 2; use the joul"):
                corpus.save(counterexample())

    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("status", "gone"),
            ("status", "accepted"),
            ("first_seen", "yesterday"),
            ("last_seen", "2026-03-02"),
            ("counterexample", "{}"),
            ("counterexample", "__import__('os')"),
        ],
    )
    def test_a_row_that_is_no_finding(
        self, url: str, path: Path, column: str, value: str
    ) -> None:
        with SqlCorpus(url) as corpus:
            corpus.add(finding())
            value = value.replace("'", "''")
            execute(path, f"UPDATE joulecheck_findings SET {column} = '{value}'")  # noqa: S608

            with pytest.raises(CorpusError, match=f"corpus.db, {finding().id}: "):
                corpus.all()


def save_all(url: str, size: int) -> None:
    """What a writing process does."""
    with SqlCorpus(url) as corpus:
        for m in range(1, size + 1):
            corpus.save(counterexample(m))


class TestWriters:
    def test_two_processes_may_find_the_same(self, tmp_path: Path) -> None:
        url, size = f"sqlite:///{tmp_path}/new/corpus.db", 40
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            for writer in [pool.submit(save_all, url, size) for _ in range(2)]:
                writer.result(timeout=60)

        with SqlCorpus(url) as corpus:
            assert {counterexample(m).id for m in range(1, size + 1)} == {
                f.id for f in corpus.all()
            }

    @pytest.mark.parametrize("is_known", [False, True])
    def test_no_change_is_lost(self, url: str, *, is_known: bool) -> None:
        """Another process writes between the reading and the writing of a change."""
        with SqlCorpus(url) as ours, SqlCorpus(url) as theirs:
            theirs.add(finding(1 if is_known else 2))
            calls: list[Finding | None] = []

            def step(known: Finding | None) -> Finding:
                if not calls:
                    theirs.add(finding())
                    theirs.accept(finding().id, "theirs")
                calls.append(known)
                return (known or finding()).marked(Status.FLAKY)

            ours.change(finding().id, step)

            assert [
                f.acceptance.reason
                for f in ours.all()
                if f.acceptance is not None and f.status is Status.FLAKY
            ] == ["theirs"]
            assert len(calls) == 2

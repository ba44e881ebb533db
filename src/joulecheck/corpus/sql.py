"""Findings in a database, through SQLAlchemy.

Two processes may write to one corpus: a finding has one row, by its id, and a change
is made only to the revision that it was worked out from, else worked out again.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Final

from sqlalchemy import (
    URL,
    Date,
    Engine,
    String,
    Text,
    create_engine,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.orm.exc import StaleDataError
from sqlalchemy.pool import NullPool, StaticPool

from joulecheck.corpus.finding import Acceptance, Finding, Status, utc_now
from joulecheck.corpus.store import Clock, Corpus, Step
from joulecheck.counterexample import from_json, to_json
from joulecheck.errors import CorpusError

DEFAULT_URL: Final = "sqlite:///.joulecheck/corpus.db"
"""A file below the working directory."""

SCHEMA: Final = 1
"""The version of the tables that this version of joulecheck writes and reads."""

_ATTEMPTS: Final = 50
"""How often a change is worked out anew because somebody else was faster."""

_PATIENCE: Final = 30.0
"""Seconds to wait for another process to release an SQLite file."""


class _Table(DeclarativeBase):
    """The tables of a corpus."""


class _Schema(_Table):
    """One row: the version of the tables."""

    __tablename__ = "joulecheck_schema"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    version: Mapped[int]


class _Row(_Table):
    """One finding; times in ISO format, the counterexample as its JSON."""

    __tablename__ = "joulecheck_findings"

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    revision: Mapped[int] = mapped_column()
    model: Mapped[str] = mapped_column(Text)
    property: Mapped[str] = mapped_column(String(64))
    status: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str | None] = mapped_column(Text)
    until: Mapped[date | None] = mapped_column(Date)
    first_seen: Mapped[str] = mapped_column(String(32))
    last_seen: Mapped[str] = mapped_column(String(32))
    counterexample: Mapped[str] = mapped_column(Text)

    __mapper_args__ = {"version_id_col": revision}  # noqa: RUF012 - declared as any


class SqlCorpus(Corpus):
    """Findings in any database that SQLAlchemy reaches.

    Reading makes nothing; the first change makes the tables, and the folder of an
    SQLite file.
    """

    def __init__(self, url: str = DEFAULT_URL, *, clock: Clock = utc_now) -> None:
        """Name the database; nothing is opened yet.

        Raises:
            CorpusError: it is no SQLAlchemy URL, or its driver is not installed.
        """
        super().__init__(clock)
        self._engine = _engine(url)
        self._is_prepared = False

    @property
    def url(self) -> str:
        """Where the findings are, without a password."""
        return self._engine.url.render_as_string(hide_password=True)

    def all(self) -> list[Finding]:
        """Every finding, the first seen first; none if there is no database yet.

        Raises:
            CorpusError: the database cannot be read, or is of a newer schema.
        """
        file = _file(self._engine.url)
        if file is not None and not file.exists():
            return []
        with self._explaining("read"):
            if not inspect(self._engine).has_table(_Row.__tablename__):
                return []
            with Session(self._engine) as session:
                self._check_schema(session.get(_Schema, 1))
                rows = session.scalars(select(_Row).order_by(_Row.first_seen, _Row.id))
                return [self._finding(row) for row in rows]

    def change(self, finding_id: str, step: Step) -> Finding:
        """Replace the finding of this id by what `step` makes of it, atomically.

        Raises:
            CorpusError: the database cannot be read or written, or is of a newer schema.
        """
        with self._explaining("write"):
            self._prepare()
            for _ in range(_ATTEMPTS):
                try:
                    return self._changed(finding_id, step)
                except (IntegrityError, StaleDataError):
                    time.sleep(random.uniform(0, 0.02))  # noqa: S311 - no secret
        msg = f"corpus {self.url}: {finding_id} is changed by others all the time; retry"
        raise CorpusError(msg)

    def close(self) -> None:
        """Close its connections."""
        self._engine.dispose()

    def _changed(self, finding_id: str, step: Step) -> Finding:
        with Session(self._engine) as session, session.begin():
            row = session.get(_Row, finding_id)
            finding = step(None if row is None else self._finding(row))
            if row is None:
                row = _Row(id=finding_id)
                session.add(row)
            _fill(row, finding)
        return finding

    def _finding(self, row: _Row) -> Finding:
        where = f"corpus {self.url}, {row.id}"
        try:
            acceptance = None if row.reason is None else Acceptance(row.reason, row.until)
            return Finding(
                counterexample=from_json(row.counterexample, where=where),
                status=Status(row.status),
                acceptance=acceptance,
                first_seen=datetime.fromisoformat(row.first_seen),
                last_seen=datetime.fromisoformat(row.last_seen),
            )
        except ValueError as error:
            msg = f"{where}: {error}"
            raise CorpusError(msg) from error

    def _prepare(self) -> None:
        if self._is_prepared:
            return
        file = _file(self._engine.url)
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
        for table in _Table.metadata.sorted_tables:
            try:
                table.create(self._engine, checkfirst=True)
            except DBAPIError:  # another process was faster
                table.create(self._engine, checkfirst=True)
        self._check_schema(self._stated_schema())
        self._is_prepared = True

    def _stated_schema(self) -> _Schema | None:
        try:
            with Session(self._engine) as session, session.begin():
                if session.get(_Schema, 1) is None:
                    session.add(_Schema(id=1, version=SCHEMA))
        except IntegrityError:  # another process was faster
            pass
        with Session(self._engine) as session:
            return session.get(_Schema, 1)

    def _check_schema(self, stated: _Schema | None) -> None:
        if stated is not None and stated.version != SCHEMA:
            msg = (
                f"corpus {self.url}: its schema must be {SCHEMA}, got {stated.version}; "
                f"use the joulecheck that wrote it, or another corpus"
            )
            raise CorpusError(msg)

    @contextmanager
    def _explaining(self, verb: str) -> Iterator[None]:
        try:
            yield
        except (OSError, SQLAlchemyError) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            msg = (
                f"corpus {self.url}: cannot {verb} it: {cause}; name a database that "
                f"can be opened, such as {DEFAULT_URL}"
            )
            raise CorpusError(msg) from error


def _fill(row: _Row, finding: Finding) -> None:
    acceptance = finding.acceptance
    row.model = finding.counterexample.model
    row.property = finding.counterexample.property
    row.status = finding.status.value
    row.reason = None if acceptance is None else acceptance.reason
    row.until = None if acceptance is None else acceptance.until
    row.first_seen = finding.first_seen.isoformat()
    row.last_seen = finding.last_seen.isoformat()
    row.counterexample = to_json(finding.counterexample)


def _engine(text: str) -> Engine:
    """An engine that keeps no connection open, but the one of a database in memory."""
    try:
        url = make_url(text)
        if url.get_backend_name() != "sqlite":
            return create_engine(url, poolclass=NullPool)
        return create_engine(
            url,
            poolclass=StaticPool if _is_in_memory(url) else NullPool,
            connect_args={"timeout": _PATIENCE},
        )
    except (ImportError, SQLAlchemyError, ValueError) as error:
        shown = re.sub(r"://[^/]*@", "://***@", text)
        msg = (
            f"corpus must be the SQLAlchemy URL of a database whose driver is installed, "
            f"such as {DEFAULT_URL}, got {shown!r}: {error}"
        )
        raise CorpusError(msg) from error


def _is_in_memory(url: URL) -> bool:
    named = url.database or ":memory:"
    return ":memory:" in named or url.query.get("mode") == "memory"


def _file(url: URL) -> Path | None:
    """The file of an SQLite database, where it is a plain path."""
    if url.get_backend_name() != "sqlite" or _is_in_memory(url):
        return None
    path = str(url.database)
    return None if path.startswith("file:") else Path(path)

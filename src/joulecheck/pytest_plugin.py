"""A pytest plugin that replays stored findings as tests, one an item.

Opt in with `-p joulecheck.pytest_plugin`, and say where the findings are:

```
pytest -p joulecheck.pytest_plugin --joulecheck-counterexamples counterexamples
```

A finding that is fixed passes, one that is accepted and still fails is an expected
failure with its reason, and any other failure fails. One that cannot run fails too,
unless it is about a family of models whose package is not installed here.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from joulecheck.corpus import (
    CombinedCorpus,
    Directory,
    Finding,
    Outcome,
    Replayed,
    SqlCorpus,
    replay,
)
from joulecheck.errors import JoulecheckError, UnknownName
from joulecheck.model import Subject
from joulecheck.property import property_named
from joulecheck.resolve import as_peers, models_named, stored_model
from joulecheck.testing import explained

_FIXED: Final = pytest.StashKey[list[str]]()
"""What the summary says of findings that were accepted and are fixed."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the findings are, and which models are the user's own."""
    group = parser.getgroup("joulecheck", "replay of stored findings")
    group.addoption(
        "--joulecheck-corpus",
        metavar="URL",
        help="a database of findings to replay, as an SQLAlchemy URL",
    )
    group.addoption(
        "--joulecheck-counterexamples",
        metavar="DIR",
        type=Path,
        help="a folder of committed findings to replay",
    )
    group.addoption(
        "--joulecheck-model",
        metavar="MODULE:CLASS",
        action="append",
        default=[],
        help="a model of your own whose findings are replayed; repeatable (names in "
        "stored findings are compared with it and never imported)",
    )


@pytest.hookimpl(tryfirst=True)  # before -k and -m choose among the items
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add an item for each finding."""
    config.stash[_FIXED] = []
    try:
        findings = _findings(config)
        names = config.getoption("joulecheck_model")
        own = as_peers(model for name in names for model in models_named(name))
    except JoulecheckError as error:
        raise pytest.UsageError(str(error)) from error
    collector = Findings.from_parent(session, name="joulecheck", nodeid="joulecheck")
    items += collector.of(findings, own)


def _findings(config: pytest.Config) -> list[Finding]:
    url = config.getoption("joulecheck_corpus")
    folder = config.getoption("joulecheck_counterexamples")
    directory = None if folder is None else Directory(_existing(folder))
    if url is None:
        return [] if directory is None else directory.all()
    with SqlCorpus(url) as store:
        corpus = store if directory is None else CombinedCorpus(store, directory)
        return corpus.all()


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        msg = f"--joulecheck-counterexamples must be a folder, got {folder}"
        raise pytest.UsageError(msg)
    return folder


class Findings(pytest.Collector):
    """The findings of a corpus."""

    def of(self, findings: Iterable[Finding], own: list[Subject]) -> Iterable[FindingItem]:
        """One item each; `own` are the user's models."""
        for finding in findings:
            found = finding.counterexample
            name = f"{finding.id}[{found.model}-{found.property}]"
            item: FindingItem = FindingItem.from_parent(self, name=name)
            item.finding, item.own = finding, own
            yield item

    def collect(self) -> Iterable[pytest.Item]:
        """Nothing: the items are made from the findings at once."""
        return []


class FindingItem(pytest.Item):
    """Replays one finding."""

    finding: Finding
    own: list[Subject]

    def runtest(self) -> None:
        """Run its case through its property, and judge what that shows.

        Raises:
            ReplayFailed: it fails and nothing excuses it, or it cannot run.
        """
        found = self.finding.counterexample
        try:
            model = stored_model(found.model, self.own)
        except ImportError as error:
            family = found.model.partition(":")[0]
            pytest.skip(f"the models {family}: are not installed here: {error}")
        except JoulecheckError as error:
            msg = f"{Outcome.CANNOT_RUN.value}: {error}{_way_out(found.model, error)}"
            raise ReplayFailed(msg) from error
        self._judge(next(replay([self.finding], lambda _: model)), model)

    def _judge(self, replayed: Replayed, model: Subject) -> None:
        self.user_properties.append(("joulecheck", replayed.outcome.value))
        if replayed.outcome is Outcome.FIXED:
            self._note_fixed()
            return
        headline = f"{replayed.outcome.value}: {replayed.explanation}"
        if replayed.accepted:
            pytest.xfail(headline)
        raise ReplayFailed("\n".join(filter(None, [headline, _numbers(replayed, model)])))

    def _note_fixed(self) -> None:
        told = f"{self.finding.id} is fixed"
        if self.finding.acceptance is not None:
            told += f", and its acceptance can go: {self.finding.acceptance.reason}"
            self.config.stash[_FIXED].append(told)
        self.add_report_section("call", "joulecheck", told)

    def repr_failure(  # type: ignore[override]  # pytest's type of a result is private
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> object:
        """The rule and the numbers, without a traceback."""
        if isinstance(excinfo.value, ReplayFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Named by its finding."""
        return self.path, None, self.name


class ReplayFailed(AssertionError):
    """A stored finding fails and nothing excuses it, or cannot run."""


def _way_out(name: str, error: JoulecheckError) -> str:
    is_unknown = isinstance(error, UnknownName)
    return f"; run with --joulecheck-model {name} if it is yours" if is_unknown else ""


def _numbers(replayed: Replayed, model: Subject) -> str:
    """The rule, the case and the numbers; empty if there is no margin to explain."""
    if replayed.margin is None:
        return ""
    found = replayed.finding.counterexample
    law = property_named(found.property)
    return explained(law, model, found.case, replayed.margin)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name the acceptances that are needed no more."""
    told = config.stash.get(_FIXED, [])
    if told:
        terminalreporter.section("joulecheck: fixed")
        for line in told:
            terminalreporter.line(line)

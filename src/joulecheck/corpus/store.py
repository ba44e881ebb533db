"""Stores of findings: what each can do, and the one that lives in memory.

A store knows how to list its findings and how to change one of them atomically; all
that happens to a finding is built on these two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import date, datetime
from types import TracebackType
from typing import Self

from joulecheck.corpus.finding import Finding, Status, acceptance_of, utc_now
from joulecheck.counterexample import Counterexample
from joulecheck.errors import UnknownName, did_you_mean

Clock = Callable[[], datetime]
"""Tells the present, in UTC."""

Step = Callable[[Finding | None], Finding]
"""What becomes of a finding, or of there being none. It may be called again when two
writers meet."""


class Corpus(ABC):
    """Findings by id; one for each model, property and minimal case."""

    def __init__(self, clock: Clock = utc_now) -> None:
        """Hold findings whose times this clock tells."""
        self.clock = clock

    @abstractmethod
    def all(self) -> list[Finding]:
        """Every finding, the first seen first.

        Raises:
            CorpusError: the corpus cannot be read.
        """

    @abstractmethod
    def change(self, finding_id: str, step: Step) -> Finding:
        """Replace the finding of this id by what `step` makes of it, atomically.

        Args:
            finding_id: a whole id.
            step: gets the present finding, or None; what it raises changes nothing.

        Raises:
            CorpusError: the corpus cannot be read or written.
        """

    def close(self) -> None:  # noqa: B027 - only those who hold something let it go
        """Let go of connections."""

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def get(self, name: str) -> Finding:
        """The finding whose id is `name` or the only one whose id starts so.

        Raises:
            UnknownName: none or several are.
            CorpusError: the corpus cannot be read.
        """
        known = {finding.id: finding for finding in self.all()}
        matching = [finding_id for finding_id in known if finding_id.startswith(name)]
        if len(matching) == 1:
            return known[matching[0]]
        if matching:
            few = ", ".join(matching[:8])
            msg = f"{len(matching)} findings start with {name!r}, as {few}; add digits"
            raise UnknownName(msg)
        msg = f"no finding is called {name!r}: {did_you_mean(name, known)}"
        raise UnknownName(msg)

    def save(self, counterexample: Counterexample) -> Finding:
        """Keep what a campaign found: a new finding, or one that is seen again.

        A known finding keeps its acceptance; one that was fixed has regressed.

        Raises:
            CorpusError: the corpus cannot be written, or holds another counterexample
                by the same id.
        """
        now = self.clock()

        def seen(known: Finding | None) -> Finding:
            if known is None:
                return Finding.new(counterexample, now)
            return known.seen_again(counterexample, now)

        return self.change(counterexample.id, seen)

    def add(self, finding: Finding) -> Finding:
        """Take over a finding from elsewhere, joined with what is known of it here.

        Raises:
            CorpusError: the corpus cannot be written.
        """

        def together(known: Finding | None) -> Finding:
            return finding if known is None else known.joined(finding)

        return self.change(finding.id, together)

    def accept(self, name: str, reason: str, until: date | str | None = None) -> Finding:
        """Let a finding go on failing.

        Args:
            name: its id, or a beginning of it that no other has.
            reason: why it may.
            until: the last day on which it may, as a date or in ISO format.

        Raises:
            UnknownName: no finding is called so, or several are.
            InvalidSetting: the reason is empty, or the day no date after today.
            CorpusError: the corpus cannot be written.
        """
        acceptance = acceptance_of(reason, until, self.clock().date())
        return self._change_known(name, lambda known: known.accepted(acceptance))

    def mark(self, name: str, status: Status) -> Finding:
        """Set the status of a finding.

        Raises:
            UnknownName: no finding is called so, or several are.
            CorpusError: the corpus cannot be written, or the finding would be accepted
                without a reason.
        """
        return self._change_known(name, lambda known: known.marked(status))

    def _change_known(self, name: str, step: Callable[[Finding], Finding]) -> Finding:
        present = self.get(name)
        return self.change(present.id, lambda known: step(known or present))


class InMemoryCorpus(Corpus):
    """Findings that end with the process, for tests and dry runs."""

    def __init__(self, clock: Clock = utc_now) -> None:
        """Hold nothing yet."""
        super().__init__(clock)
        self._findings: dict[str, Finding] = {}

    def all(self) -> list[Finding]:
        """Every finding, the first seen first."""
        return sorted(
            self._findings.values(), key=lambda finding: (finding.first_seen, finding.id)
        )

    def change(self, finding_id: str, step: Step) -> Finding:
        """Replace the finding of this id by what `step` makes of it."""
        self._findings[finding_id] = step(self._findings.get(finding_id))
        return self._findings[finding_id]

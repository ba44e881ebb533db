"""A store and the committed directory, read as one."""

from __future__ import annotations

import attrs

from joulecheck.corpus.directory import Directory
from joulecheck.corpus.finding import Finding, Status
from joulecheck.corpus.store import Corpus, Step


class CombinedCorpus(Corpus):
    """The findings of a store and of a directory; changes go to the store alone.

    What the directory accepts is accepted, for as long as its file says so: its
    acceptances are not copied into the store.
    """

    def __init__(self, store: Corpus, directory: Directory) -> None:
        """Read both; write to `store`, whose clock tells the time."""
        super().__init__(store.clock)
        self.store = store
        self.directory = directory

    def all(self) -> list[Finding]:
        """Every finding of either, the first seen first.

        Raises:
            CorpusError: one of them cannot be read.
        """
        found = self._committed()
        for finding in self.store.all():
            found[finding.id] = _together(finding, found.get(finding.id))
        return sorted(found.values(), key=lambda each: (each.first_seen, each.id))

    def change(self, finding_id: str, step: Step) -> Finding:
        """Replace a finding by what `step` makes of what both say of it.

        Raises:
            CorpusError: one cannot be read, or the store cannot be written.
        """
        committed = self._committed().get(finding_id)
        if committed is None:
            return self.store.change(finding_id, step)

        def beyond_the_directory(known: Finding | None) -> Finding:
            changed = step(known.joined(committed) if known else committed)
            return _less(changed, known, committed)

        return self.store.change(finding_id, beyond_the_directory).joined(committed)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def _committed(self) -> dict[str, Finding]:
        return {finding.id: finding for finding in self.directory.all()}


def _together(stored: Finding, committed: Finding | None) -> Finding:
    return stored if committed is None else stored.joined(committed)


def _less(changed: Finding, known: Finding | None, committed: Finding) -> Finding:
    """The change without the acceptance that only the directory gives."""
    is_stored = known is not None and known.acceptance is not None
    if is_stored or changed.acceptance != committed.acceptance:
        return changed
    status = Status.NEW if changed.status is Status.ACCEPTED else changed.status
    return attrs.evolve(changed, status=status, acceptance=None)

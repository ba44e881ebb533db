"""Exchange: findings as files, from one corpus to another or into a repository."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from joulecheck.corpus import finding_file
from joulecheck.corpus.directory import Directory
from joulecheck.corpus.finding import Finding
from joulecheck.corpus.store import Corpus


def export_findings(findings: Iterable[Finding], folder: Path) -> list[Path]:
    """Write each finding to a file in `folder`, which is made if it is missing.

    Raises:
        CorpusError: a file cannot be written.
    """
    return [finding_file.write(finding, folder) for finding in findings]


def import_findings(paths: Iterable[Path], corpus: Corpus) -> list[Finding]:
    """Add the findings of files, and of all files in directories, to a corpus.

    All are read before the first is added. One that the corpus knows is joined with
    what it knows; none is added twice.

    Raises:
        CorpusError: a file is no finding, or the corpus cannot be written.
    """
    read = [finding for path in paths for finding in _read(path)]
    return [corpus.add(finding) for finding in read]


def _read(path: Path) -> list[Finding]:
    return Directory(path).all() if path.is_dir() else [finding_file.read(path)]

"""The committed findings: a directory of JSON files, one finding each, named by its id."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import attrs

from joulecheck.corpus import finding_file
from joulecheck.corpus.finding import Finding
from joulecheck.errors import CorpusError

DEFAULT_DIRECTORY: Final = Path("counterexamples")
"""Where a repository commits its findings, from its root."""


@attrs.frozen
class Directory:
    """The findings that the files of one directory hold; a missing one holds none."""

    path: Path = attrs.field(default=DEFAULT_DIRECTORY, converter=Path)

    def all(self) -> list[Finding]:
        """Every finding, the first seen first.

        Raises:
            CorpusError: a file is no finding, or is not named by its finding's id.
        """
        try:
            files = [file for file in self.path.iterdir() if file.suffix == ".json"]
        except FileNotFoundError:
            return []
        except OSError as error:
            msg = f"cannot read {self.path}: {error}"
            raise CorpusError(msg) from error
        found = [_named_by_its_id(file) for file in files]
        return sorted(found, key=lambda finding: (finding.first_seen, finding.id))

    def write(self, finding: Finding) -> Path:
        """Write one finding to its file, the whole or nothing.

        Raises:
            CorpusError: the file cannot be written.
        """
        return finding_file.write(finding, self.path)


def _named_by_its_id(file: Path) -> Finding:
    finding = finding_file.read(file)
    if file.stem != finding.id:
        msg = (
            f"{file}: a finding's file must be named by its id, {finding.id}.json; rename "
            f"it if its model, property or case was edited on purpose"
        )
        raise CorpusError(msg)
    return finding

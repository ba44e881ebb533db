"""Models as they are at another revision of a git repository.

The revision is checked out into a folder of its own, and a process there answers with the
modules of that folder. Nothing is installed, and the user's working tree stays as it is.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs

from joulecheck.case import Case, Cases
from joulecheck.elsewhere import Other
from joulecheck.errors import InvalidSetting
from joulecheck.estimate import Estimate
from joulecheck.model import UNSCALED, Offer, Scale, Scales, Subject

SOURCES: Final = (".", "src", "strategies", "properties")
"""Folders of a checkout from which modules are imported, where there are such."""

NOT_THERE: Final = frozenset({Offer.KNOBS, Offer.COEFFICIENTS})
"""What a model in another process is not asked for."""


@contextmanager
def checked_out(revision: str, repository: Path) -> Iterator[Other]:
    """A process that answers with the modules of a revision, as long as it is needed.

    Args:
        revision: a commit, branch or tag.
        repository: a folder of the repository.

    Raises:
        InvalidSetting: there is no such revision, or no repository.
    """
    with tempfile.TemporaryDirectory(prefix="joulecheck-") as temporary:
        folder = Path(temporary) / "tree"
        _git(repository, "worktree", "add", "--detach", "--", str(folder), revision)
        try:
            roots = [folder / name for name in SOURCES if (folder / name).is_dir()]
            other = Other(roots)
            try:
                yield other
            finally:
                other.close()
        finally:
            _git(repository, "worktree", "remove", "--force", str(folder))


def _git(repository: Path, *arguments: str) -> None:
    command = ["git", "-C", str(repository), *arguments]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - git, without a shell
    except FileNotFoundError as error:
        msg = "comparing revisions needs git, which is not installed"
        raise InvalidSetting(msg) from error
    except subprocess.CalledProcessError as error:
        what = " ".join(arguments[:2])
        msg = f"git {what} failed in {repository}: {error.stderr.strip()}"
        raise InvalidSetting(msg) from error


def at_revision(model: Subject, revision: str, other: Other) -> Subject:
    """The model of the same name that another process has.

    What it is asked about is what the model is asked about here.
    """
    return attrs.evolve(
        model,
        name=f"{model.name} at {revision}",
        model=RevisionModel(model.name, other),
        coefficients={},
        knobs={},
        peers={},
        offers=(model.offers | {Offer.BATCH}) - NOT_THERE,
        scalar=False,
    )


def answers(model: Subject) -> bool:
    """Whether such a model is there, and answers in a way that is understood here."""
    return not model.ask(Cases.of([])).batch_error


@attrs.define
class RevisionModel:
    """A model in another process."""

    name: str
    other: Other

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """The batch of one."""
        del scale
        found = self.other.answers(self.name, Cases.of([case]))
        return Estimate(
            energy=float(found.energy[0]),
            latency=float(found.latency[0]),
            latency_terms={n: float(v[0]) for n, v in found.latency_terms.items()},
        )

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """What it answers to each case there; NaN where it refuses."""
        del scales
        found = self.other.answers(self.name, cases)
        return Estimate(
            energy=found.energy,
            latency=found.latency,
            latency_terms={**found.latency_terms},
        )

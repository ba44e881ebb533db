"""Survivors that are accepted: which mutants no law is to kill, and why."""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

import attrs
from cattrs.errors import BaseValidationError

from joulecheck.errors import InvalidSetting
from joulecheck.scoring.trial import Trial
from joulecheck.structured import explained, strict_converter


def _as_tuple(patterns: Iterable[str]) -> tuple[str, ...]:
    return tuple(patterns)


@attrs.frozen(kw_only=True)
class Accepted:
    """Some survivors and the reason for which they are accepted.

    Patterns are those of file names: `*` stands for anything.
    """

    fault: str
    """Pattern of a fault's name, such as "launch-slip#*"."""
    reason: str = attrs.field(validator=attrs.validators.min_len(1))
    model: str = "*"
    what: tuple[str, ...] = attrs.field(default=("*",), converter=_as_tuple)
    """Patterns of what is changed, such as "launch x 1000", any of which must fit."""

    def covers(self, trial: Trial) -> bool:
        """Whether it is one of these."""
        pairs = ((trial.mutant.fault, self.fault), (trial.mutant.model, self.model))
        return all(fnmatch.fnmatchcase(text, pattern) for text, pattern in pairs) and any(
            fnmatch.fnmatchcase(trial.what, pattern) for pattern in self.what
        )


@attrs.frozen
class _Document:
    survivor: tuple[Accepted, ...] = ()


def accepted_survivors(file: Path | None = None) -> tuple[Accepted, ...]:
    """Those of a TOML file, of the one beside this module if none is given.

    Raises:
        InvalidSetting: the file cannot be read, is no TOML, or breaks a rule.
    """
    try:
        if file is None:
            text = (files(__package__) / "survivors.toml").read_text(encoding="utf-8")
        else:
            text = file.read_text(encoding="utf-8")
        return strict_converter().structure(tomllib.loads(text), _Document).survivor
    except OSError as error:
        msg = f"{file} cannot be read: {error.strerror}"
        raise InvalidSetting(msg) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, BaseValidationError) as error:
        msg = f"{file or 'survivors.toml'}: {explained(error)}"
        raise InvalidSetting(msg) from error


def reason_for(trial: Trial, accepted: Iterable[Accepted]) -> str | None:
    """Why a survivor is accepted; None if it is not."""
    return next((one.reason for one in accepted if one.covers(trial)), None)


def superfluous(accepted: Sequence[Accepted], trials: Iterable[Trial]) -> list[Accepted]:
    """Entries that cover mutants which were tried, and none that survives."""
    tried = list(trials)
    return [
        one
        for one in accepted
        if (covered := [trial for trial in tried if one.covers(trial)])
        and all(trial.kills for trial in covered)
    ]

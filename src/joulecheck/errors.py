"""Every error that joulecheck raises on purpose.

A message names the thing, the rule, the value and the way out. The command line
turns any `JoulecheckError` into that message and exit code 2, without a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final


class JoulecheckError(Exception):
    """The base of all errors of this package."""


class InvalidWorkload(JoulecheckError, ValueError):
    """A workload was given a dimension, an edge or a name that its rules forbid."""


class InvalidScale(JoulecheckError, ValueError):
    """A coefficient was given a factor that is no finite number of at least 0."""


class Unsupported(JoulecheckError):
    """A model does not answer for this precision or kind of workload.

    Models raise it; a campaign counts the case as outside the model's domain.
    """


class NotOffered(JoulecheckError):
    """A model lacks something that a property or a case space needs."""


class OutsideSpace(JoulecheckError, ValueError):
    """A case cannot be written as the genes of this case space."""


class InvalidMachine(JoulecheckError, ValueError):
    """A machine's data contradict the rules for machine files."""


class InvalidCheck(JoulecheckError, ValueError):
    """A layer check breaks the rules of checks, or there is none to run."""


class InvalidModel(JoulecheckError):
    """An object does not follow the model protocol."""


class UnknownName(JoulecheckError, LookupError):
    """A model, property, fault, finding or setting by that name does not exist."""


class InvalidSetting(JoulecheckError, ValueError):
    """A setting from the command line, the environment or pyproject.toml is wrong."""


class InvalidMeasurement(JoulecheckError, ValueError):
    """A file of measurements cannot be read, or a row of it breaks a rule."""


class CorpusError(JoulecheckError):
    """A corpus, or a counterexample in it, cannot be read or written."""


class LedgerError(JoulecheckError):
    """A provenance ledger cannot be read or written."""


class InvalidSnapshot(JoulecheckError, ValueError):
    """A snapshot cannot be read or written, or breaks a rule of its format."""


class HarnessError(JoulecheckError):
    """The harness contradicts itself: a fault of joulecheck, worth a report."""


_LISTED: Final = 8
"""How many names a message lists at most."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence that offers the nearest known names, or lists a few."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    if not names:
        return "none is known"
    shown = ", ".join(names[:_LISTED])
    return f"known: {shown}{', ...' if len(names) > _LISTED else ''}"

"""Copies of a model."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator

from joulecheck.model import Model


def copies_of(model: Model) -> Iterator[Model]:
    """The copies that can be made."""
    for copied in (copy.deepcopy, _pickled):
        try:
            found = copied(model)
        except Exception:  # noqa: BLE001, S112 - a way that raises is not supported
            continue
        yield found


def _pickled(model: Model) -> Model:
    """The model as another process would get it."""
    found: Model = pickle.loads(pickle.dumps(model))  # noqa: S301 - of a model, not of data
    return found

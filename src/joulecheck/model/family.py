"""Families of models, by the names that a user writes."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from typing import Final, cast

import attrs

from joulecheck.errors import UnknownName, did_you_mean
from joulecheck.model.protocol import Model
from joulecheck.model.subject import Subject

Factory = Callable[[], Model]

Family = Mapping[str, Factory]


@cache
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="joulecheck.models")}


def family_names() -> list[str]:
    """The prefixes of all registered families of models.

    They come from the entry point group `joulecheck.models`.
    """
    return sorted(_entries())


@cache
def family(prefix: str) -> Family:
    """One registered family of models, name -> factory; loaded when first asked for.

    Raises:
        UnknownName: there is no such family.
    """
    if prefix not in _entries():
        known = did_you_mean(prefix, family_names())
        msg = f"no family of models is called {prefix!r}: {known}"
        raise UnknownName(msg)
    return cast("Family", _entries()[prefix].load())


@cache
def _known(prefix: str, name: str) -> bool:
    """Whether a family has a model of that name; some build it to find out."""
    return name in family(prefix)


@attrs.frozen
class Peers(Mapping[str, Callable[[], Subject]]):
    """The other models of a registered family, by the names that a user writes.

    It lists those that the family lists, and knows whatever the family knows.
    """

    prefix: str
    own: str
    """The name, within the family, of the model whose peers they are."""

    def __getitem__(self, name: str) -> Callable[[], Subject]:
        """What gives the peer of that name.

        Raises:
            KeyError: there is none.
        """
        prefix, _, rest = name.partition(":")
        if prefix != self.prefix or rest == self.own or not _known(prefix, rest):
            raise KeyError(name)
        return partial(registered, prefix, rest)

    def __iter__(self) -> Iterator[str]:
        """The names of those that the family lists, in its order."""
        return (f"{self.prefix}:{n}" for n in family(self.prefix) if n != self.own)

    def __len__(self) -> int:
        """How many of them there are."""
        return sum(1 for _ in self)


_WILD: Final = frozenset("*?[")
"""What makes a name a shell pattern."""


def loadable(model: object, name: str) -> Subject:
    """A model that any process finds by `name`.

    Raises:
        InvalidModel: see `Subject.of`.
    """
    return attrs.evolve(Subject.of(model, name=name), loadable=True)


@cache
def registered(prefix: str, name: str) -> Subject:
    """One model of a registered family, built once.

    Raises:
        UnknownName: no such family or model.
    """
    models = family(prefix)
    try:
        factory = models[name]
    except KeyError:
        msg = f"{prefix} has no model {name!r}: {did_you_mean(name, models)}"
        raise UnknownName(msg) from None
    subject = loadable(factory(), f"{prefix}:{name}")
    return subject.beside(Peers(prefix, name))


def matching(prefix: str, pattern: str) -> list[Subject]:
    """The models of a family whose name matches a shell pattern, in the family's order.

    A family may offer `variants()`, further names that it lists only when a pattern
    with an "@" asks for them, and may know more of those by their exact names.

    Raises:
        UnknownName: none matches.
    """
    models = family(prefix)
    listed = list(models)
    if "@" in pattern:
        if not _WILD.intersection(pattern):
            return [registered(prefix, pattern)]
        listed += getattr(models, "variants", list)()
    names = [name for name in listed if fnmatch.fnmatchcase(name, pattern or "*")]
    if not names:
        known = did_you_mean(pattern, listed)
        msg = f"no model of {prefix} matches {pattern!r}: {known}"
        raise UnknownName(msg)
    return [registered(prefix, name) for name in names]

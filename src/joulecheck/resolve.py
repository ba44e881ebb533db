"""From a model's name, as a user writes it, to the model.

A name is `prefix:PATTERN` for a registered family, or `module:attribute` for a model
of the user's own, whose module is imported from the working directory or the
environment. A name that comes from stored data is only ever compared with these.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import attrs

from joulecheck.errors import InvalidModel, UnknownName, did_you_mean
from joulecheck.faults import fault_named, inject
from joulecheck.model import Subject, family_names, loadable, matching, registered


@attrs.frozen
class ModelRef:
    """How any process can get at a model: its exact name and an injected fault."""

    name: str
    fault: str | None = None
    peers: tuple[str, ...] = ()
    """Models of the user's own that were named together with it."""

    def load(self) -> Subject:
        """The model, with the fault in it if there is one.

        Raises:
            UnknownName: no model of that name.
            InvalidModel: it breaks the protocol.
            NotOffered: the fault cannot be injected in this model.
        """
        return _loaded(self)


@cache
def _loaded(ref: ModelRef) -> Subject:
    prefix, _, name = ref.name.partition(":")
    if prefix in family_names():
        subject = registered(prefix, name)
    else:
        (subject,) = _own_models(ref.name)
    beside = {other: ModelRef(other).load for other in ref.peers}
    if beside:
        subject = subject.beside({**subject.peers, **beside})
    return subject if ref.fault is None else inject(subject, fault_named(ref.fault))


def references(models: Iterable[Subject], fault: str | None = None) -> list[ModelRef]:
    """How to get at these models in any process.

    Those of the user's own are peers of each other.

    Args:
        models: what the user named.
        fault: to be injected in each of them, and not in its peers.
    """
    named = list(models)
    return [ModelRef(m.name, fault, tuple(_own_beside(m, named))) for m in named]


def as_peers(models: Iterable[Subject]) -> list[Subject]:
    """The same models, those of the user's own among them as peers of each other."""
    named = list(models)
    beside = [_own_beside(model, named) for model in named]
    return [
        model.beside({**model.peers, **others}) if others else model
        for model, others in zip(named, beside, strict=True)
    ]


def _own_beside(
    model: Subject, named: Iterable[Subject]
) -> dict[str, Callable[[], Subject]]:
    """The user's own models that were named together with one of them."""
    if not _is_own(model):
        return {}
    return {o.name: partial(_as_it_is, o) for o in named if _is_own(o) and o is not model}


def _is_own(model: Subject) -> bool:
    return model.name.partition(":")[0] not in family_names()


def _as_it_is(model: Subject) -> Subject:
    return model


def models_named(pattern: str) -> list[Subject]:
    """The models that a user's pattern names, at least one.

    Raises:
        UnknownName: it matches nothing.
        InvalidModel: the user's object breaks the protocol or cannot be imported.
    """
    prefix, colon, rest = pattern.partition(":")
    if prefix in family_names():
        return matching(prefix, rest)
    if not colon:
        known = did_you_mean(prefix, family_names())
        msg = (
            f"{pattern!r} names no model: write FAMILY:PATTERN ({known}) or "
            f"MODULE:CLASS for one of your own"
        )
        raise UnknownName(msg)
    return _own_models(pattern)


def stored_model(name: str, own: Iterable[Subject] = ()) -> Subject:
    """The model that stored data name: of a registered family, or one of the user's.

    Args:
        name: an exact name; no module is imported for it.
        own: the user's models, which the user has named.

    Raises:
        UnknownName: it is none of them.
    """
    known = {subject.name: subject for subject in own}
    if name in known:
        return known[name]
    prefix, _, rest = name.partition(":")
    if prefix in family_names():
        return registered(prefix, rest)
    msg = (
        f"no family of models is called {prefix!r}, and {name} is not among your own "
        f"models: {did_you_mean(name, known)}; names in stored data are compared, never "
        f"imported"
    )
    raise UnknownName(msg)


def _own_models(name: str) -> list[Subject]:
    """A class, an instance, or each of a mapping of factories (`module:ATTRIBUTE:key`)."""
    module_name, attribute, *key = name.split(":", 2)
    known = did_you_mean(module_name, family_names())
    module = imported(
        module_name, sought="family and no module", hint=f"; families: {known}"
    )
    found = _attribute(module, module_name, attribute)
    if not isinstance(found, Mapping):
        return [loadable(found, name)]
    keys = key or list(found)
    unknown = [k for k in keys if k not in found]
    if unknown:
        known = did_you_mean(unknown[0], found)
        msg = f"{module_name}:{attribute} has no {unknown[0]!r}: {known}"
        raise UnknownName(msg)
    names = {k: f"{module_name}:{attribute}:{k}" for k in found}
    loaders = {k: partial(_built, found[k], name) for k, name in names.items()}
    return [
        loaders[k]().beside({names[o]: loaders[o] for o in found if o != k}) for k in keys
    ]


def _built(factory: Callable[[], object], name: str) -> Subject:
    return loadable(factory(), name)


def imported(module_name: str, *, sought: str = "module", hint: str = "") -> Any:  # noqa: ANN401 - a module of the user's
    """A module that the user named, from the working directory or the environment.

    Args:
        module_name: as in an import statement.
        sought: what the name could have meant, for the message.
        hint: the end of that message.

    Raises:
        UnknownName: there is no such module.
        InvalidModel: importing it fails.
    """
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and module_name.partition(".")[0] == error.name.partition(".")[0]:
            msg = (
                f"no {sought} is called {module_name!r}: looked in {here} and the "
                f"environment{hint}"
            )
            raise UnknownName(msg) from error
        msg = f"importing {module_name} failed: {error}"
        raise InvalidModel(msg) from error
    except (Exception, SystemExit) as error:
        msg = f"importing {module_name} failed: {type(error).__name__}: {error}"
        raise InvalidModel(msg) from error


def _attribute(module: Any, module_name: str, attribute: str) -> object:  # noqa: ANN401 - as above
    if not attribute or not hasattr(module, attribute):
        public = [name for name in vars(module) if not name.startswith("_")]
        place = getattr(module, "__file__", None) or "which has no file"
        msg = (
            f"module {module_name} ({place}) has no {attribute!r}: "
            f"{did_you_mean(attribute, public)}"
        )
        raise UnknownName(msg)
    found: object = getattr(module, attribute)
    return found

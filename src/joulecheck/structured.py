"""Values from data: numbers as they are, enums by name, messages that say why."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from enum import Enum
from typing import Any, get_args

import cattrs
from cattrs.errors import BaseValidationError
from cattrs.strategies import configure_tagged_union
from cattrs.v import format_exception

from joulecheck.errors import did_you_mean


def strict_converter() -> cattrs.Converter:
    """A converter that refuses unknown keys, and numbers of another type than asked."""
    made = cattrs.Converter(forbid_extra_keys=True)
    made.register_structure_hook(bool, _truth)  # which is an int to Python
    made.register_structure_hook(int, _whole)
    made.register_structure_hook(float, _real)
    return made


def by_name(made: cattrs.Converter, kind: type[Enum]) -> None:
    """Write and read the members of an enum by their names."""
    made.register_unstructure_hook(kind, lambda member: member.name)
    made.register_structure_hook(kind, _member)


def tagged_union(made: cattrs.Converter, union: Any, tag: str) -> None:  # noqa: ANN401 - a union is no type
    """Tell the members of a union apart by their class names under `tag`."""
    configure_tagged_union(union, made, tag_name=tag)
    structure = made.get_structure_hook(union)
    names = [member.__name__ for member in get_args(union)]

    def checked(data: Any, kind: Any) -> Any:  # noqa: ANN401 - any data, any union
        name = data.get(tag) if isinstance(data, Mapping) else None
        if name not in names:
            msg = f"{tag} must name a known one, got {name!r}: known: {', '.join(names)}"
            raise ValueError(msg)
        return structure(data, kind)

    made.register_structure_hook(union, checked)


def explained(error: Exception) -> str:
    """What is wrong with the data, and where, in one line."""
    if isinstance(error, BaseValidationError):
        return "; ".join(cattrs.transform_error(error, format_exception=_reason))
    return str(error) if isinstance(error, ValueError) else repr(error)


def _reason(error: BaseException, kind: type | None) -> str:
    if isinstance(error, ValueError):
        return str(error)
    return format_exception(error, kind)


def _truth(value: object, _: object) -> bool:
    if type(value) is not bool:
        msg = f"must be true or false, got {value!r}"
        raise ValueError(msg)
    return value


def _whole(value: object, _: object) -> int:
    if type(value) is not int:
        msg = f"must be a whole number, got {value!r}"
        raise ValueError(msg)
    return value


def _real(value: object, _: object) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        msg = f"must be a number, got {value!r}"
        raise ValueError(msg)  # noqa: TRY004 - data that break a rule, as in `_whole`
    return float(value)


def _member(name: object, kind: type[Enum]) -> Enum:
    members = kind.__members__
    if not isinstance(name, str) or name not in members:
        known = did_you_mean(str(name), members)
        msg = f"no {kind.__name__} is called {name!r}: {known}"
        raise ValueError(msg)
    return members[name]

"""Settings of a project: `[tool.joulecheck]` in the nearest pyproject.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from joulecheck.cli.options import setting_of
from joulecheck.errors import InvalidSetting, did_you_mean

FILE: Final = "pyproject.toml"


def project_settings(group: click.Command) -> dict[str, dict[str, Any]]:
    """Defaults of every command, from the project's settings: click's default map.

    Raises:
        InvalidSetting: the file is no TOML, or a key is no setting of any command.
    """
    settings = _table()
    known = {name for command in _leaves(group) for name in _names(command)}
    for key in settings:
        if key not in known:
            msg = f"[tool.joulecheck] in {FILE}: no setting is called {key!r}: "
            raise InvalidSetting(msg + did_you_mean(key, known))
    return _defaults(group, settings)


def _table() -> dict[str, Any]:
    folder = Path.cwd()
    for place in (folder, *folder.parents):
        file = place / FILE
        if file.is_file():
            try:
                table = tomllib.loads(file.read_text(encoding="utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                msg = f"{file}: {error}"
                raise InvalidSetting(msg) from error
            found: dict[str, Any] = table.get("tool", {}).get("joulecheck", {})
            return found
    return {}


def _leaves(command: click.Command) -> Iterator[click.Command]:
    """The commands that are no groups; two of different groups may be called the same."""
    if not isinstance(command, click.Group):
        yield command
        return
    for sub in command.commands.values():
        yield from _leaves(sub)


def _names(command: click.Command) -> dict[str, str]:
    """The settings of a command as a file spells them, and click's own names."""
    found = {
        setting_of(param): param.name or ""
        for param in command.params
        if isinstance(param, click.Option) and not param.is_eager
    }
    arguments = {param.name for param in command.params} - {*found.values()}
    return found | ({"models": "models"} if "models" in arguments else {})


def _defaults(command: click.Command, settings: dict[str, Any]) -> dict[str, Any]:
    if isinstance(command, click.Group):
        return {n: _defaults(sub, settings) for n, sub in command.commands.items()}
    names = _names(command)
    return {names[key]: value for key, value in settings.items() if key in names}

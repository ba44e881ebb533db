"""The command line in the process of a test."""

from __future__ import annotations

import sys
from pathlib import Path

import attrs
import pytest

from joulecheck.cli import main


@attrs.frozen
class Done:
    """What a command printed and its exit code."""

    returncode: int
    stdout: str
    stderr: str


class Run:
    """Runs the command in this process, in a folder of its own."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str, **environment: str) -> Done:
        with self._monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["joulecheck", *arguments])
            for name, value in environment.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as stopped:
                main()
        out, err = self._capsys.readouterr()
        assert isinstance(stopped.value.code, int)
        return Done(stopped.value.code, out, err)

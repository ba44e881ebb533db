"""What a call changes outside: streams, files, and the state of this process."""

from __future__ import annotations

import io
import os
import random
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import attrs
import numpy as np

_SEED: Final = 0x10E_C4EC
"""Generators are watched from this state, in which no model is likely to put them."""

_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_AUDITED: Final = {
    "os.chdir": "working directory",
    "os.putenv": "environment",
    "os.unsetenv": "environment",
    **dict.fromkeys(("os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir"), "files"),
}
"""What the interpreter tells its audit hooks, even where it changes nothing."""


@attrs.frozen
class _Part:
    """Some state of this process: how to read it and how to put it back.

    It is watched from an unusual value, for a model that sets the same one in every
    answer has set it before.
    """

    read: Callable[[], Any]
    restore: Callable[[Any], object]
    unsettle: Callable[[], object]


def _numpy_state() -> tuple[Any, ...]:
    state: Any = np.random.get_state()  # noqa: NPY002 - the global one is watched
    kind, keys, *rest = state
    return kind, keys.tobytes(), *rest


def _restore_numpy_state(saved: tuple[Any, ...]) -> None:
    kind, keys, *rest = saved
    state = (kind, np.frombuffer(keys, dtype=np.uint32), *rest)
    np.random.set_state(state)  # noqa: NPY002 - likewise


def _restore_path(saved: list[str]) -> None:
    sys.path[:] = saved


_PARTS: Final = {
    "random": _Part(random.getstate, random.setstate, lambda: random.seed(_SEED)),
    "numpy.random": _Part(
        _numpy_state,
        _restore_numpy_state,
        lambda: np.random.seed(_SEED),  # noqa: NPY002 - likewise
    ),
    "import path": _Part(lambda: list(sys.path), _restore_path, lambda: None),
    "numpy's errors": _Part(
        np.geterr,
        lambda saved: np.seterr(**saved),
        lambda: np.seterr(divide="ignore", invalid="ignore", over="warn", under="warn"),
    ),
    "numpy's print options": _Part(
        np.get_printoptions,
        lambda saved: np.set_printoptions(**saved),
        lambda: np.set_printoptions(precision=13, linewidth=71),
    ),
    "recursion limit": _Part(
        sys.getrecursionlimit,
        sys.setrecursionlimit,
        lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 13),
    ),
}


class Watch:
    """Notes what is touched while it is open, and puts everything back at its end.

    Streams are watched as `sys.stdout` and `sys.stderr`, files in the thread that
    opened the watch.
    """

    def __init__(self) -> None:
        """Nothing was touched yet."""
        self.touched: set[str] = set()
        self._thread = threading.get_ident()
        self._streams = {"standard output": io.StringIO(), "standard error": io.StringIO()}

    def __enter__(self) -> Self:
        """Remember everything, and listen."""
        output, errors = self._streams.values()
        self._environment, self._folder = dict(os.environ), Path.cwd()
        self._saved = {name: part.read() for name, part in _PARTS.items()}
        for part in _PARTS.values():
            part.unsettle()
        self._before = {name: part.read() for name, part in _PARTS.items()}
        with ExitStack() as stack:
            stack.enter_context(redirect_stdout(output))
            stack.enter_context(redirect_stderr(errors))
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            self._filters = list(warnings.filters)
            _listen()
            _open.append(self)
            stack.callback(_open.remove, self)
            self._opened = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Compare, and put everything back."""
        if list(warnings.filters) != self._filters:
            self.touched.add("filters of warnings")
        self._opened.close()
        self.touched |= {name for name, s in self._streams.items() if s.getvalue()}
        for name, part in _PARTS.items():
            if part.read() != self._before[name]:
                self.touched.add(name)
            part.restore(self._saved[name])
        if "environment" in self.touched:
            os.environ.clear()
            os.environ.update(self._environment)
        if "working directory" in self.touched:
            os.chdir(self._folder)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note a file that is written, as the interpreter tells its audit hooks."""
        if threading.get_ident() != self._thread:
            return
        if event in _AUDITED:
            self.touched.add(_AUDITED[event])
        elif event == "open" and _is_written(*arguments):
            self.touched.add("files")


_open: Final[list[Watch]] = []
"""The watches that are open."""


def _is_written(path: object, _: object, flags: object) -> bool:
    """Whether a file is opened to be written, other than what costs nobody anything."""
    if not isinstance(flags, int) or not flags & _WRITES:
        return False
    name = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
    return name != os.devnull and "__pycache__" not in name


@cache
def _listen() -> None:
    """Hear of every file that is opened; a hook cannot be taken away again."""
    sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    for watch in _open:
        watch.hear(event, arguments)

"""The same questions in another process: what a model answers there.

A process of its own answers for models that it finds by name, JSON line by JSON line.
It hashes text from another seed than the asking process does, and it imports and
builds everything anew. `python -m joulecheck.elsewhere` is that process.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Layer
from joulecheck.counterexample import structure_case, unstructure_case
from joulecheck.errors import JoulecheckError
from joulecheck.estimate import Answers
from joulecheck.model import Subject
from joulecheck.processes import end_with_parent
from joulecheck.resolve import ModelRef
from joulecheck.workload.columns import Floats

PATIENCE: Final = 30.0
"""Seconds to wait for an answer; less than a campaign waits for a sign of life."""


class NoAnswer(JoulecheckError):
    """The other process gave no answer: it died, or the model cannot be built there."""


class Silent(NoAnswer):
    """The other process is of no more use."""


class Late(Silent):
    """The other process gave no answer yet, which says nothing of the model."""


def ask_elsewhere(model: Subject, cases: Cases) -> Answers:
    """What the model answers to `cases` in another process, one by one.

    It is the same process for all models and questions, until it dies or is late, or
    modules are to be found elsewhere.

    Args:
        model: one that another process finds by its name.
        cases: the questions.

    Raises:
        NoAnswer: there is no answer, and why.
    """
    global _other  # noqa: PLW0603 - one other process for this one
    model.heartbeat(-1)
    if _other is not None and _other.roots != _roots():
        close()
    if _other is None:
        _other = Other()
    try:
        return _other.answers(model.name, cases, fault=model.fault)
    except Silent:
        close()
        raise


_other: Other | None = None


def close() -> None:
    """End the other process, if there is one."""
    global _other  # noqa: PLW0603 - likewise
    if _other is not None:
        _other.close()
        _other = None


atexit.register(close)


def _roots() -> tuple[str, ...]:
    """Where this process finds modules."""
    return (str(Path.cwd()), *filter(None, sys.path))


class Other:
    """The other process, seen from here."""

    def __init__(self, first: Sequence[Path] = ()) -> None:
        """Start it, with the paths from which this one imports.

        Args:
            first: folders from which it imports before those, and in the first of which
                it works.
        """
        self.roots = _roots()
        environment = {
            **os.environ,
            "PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1",
            "PYTHONPATH": os.pathsep.join([*map(str, first), *self.roots]),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "joulecheck.elsewhere"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=first[0] if first else None,
        )
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Queue each line that it writes, and an empty one at its end."""
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        with contextlib.suppress(ValueError, OSError):  # closed while reading
            for line in self._process.stdout:
                self._replies.put(line)
        self._replies.put(b"")

    def answers(self, name: str, cases: Cases, *, fault: str | None = None) -> Answers:
        """What a model answers there, one by one.

        Args:
            name: by which it is found there.
            cases: the questions.
            fault: planted in it, if any.

        Raises:
            NoAnswer: there is no answer, and why.
        """
        asked = [unstructure_case(case) for case in cases]
        reply = self.ask({"model": name, "fault": fault, "cases": asked})
        if "error" in reply:
            raise NoAnswer(reply["error"])
        return _read(reply)

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Its reply to a request.

        Raises:
            Silent: it died, or is late.
        """
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            line = self._replies.get(timeout=PATIENCE)
        except queue.Empty:
            msg = f"no answer from another process within {PATIENCE:g} s"
            raise Late(msg) from None
        except OSError:
            line = b""
        if not line:
            msg = "the other process died"
            raise Silent(msg)
        reply: dict[str, Any] = json.loads(line)
        return reply

    def close(self) -> None:
        """End it, at once."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


def _written(answers: Answers) -> dict[str, Any]:
    """Answers as data."""
    return {
        "energy": answers.energy.tolist(),
        "latency": answers.latency.tolist(),
        "utilisation": answers.utilisation.tolist(),
        "energy_terms": _lists(answers.energy_terms.items()),
        "latency_terms": _lists(answers.latency_terms.items()),
        **{field: _by_layer(getattr(answers, field)) for field in BY_LAYER},
        "subtotals": _lists(answers.subtotals.items()),
        "traffic": _lists(answers.traffic.items()),
        "events": _lists(answers.events.items()),
        "unsupported": answers.unsupported.tolist(),
        "errors": [[row, error] for row, error in answers.errors.items()],
    }


BY_LAYER: Final = ("through", "latency_through")
"""The fields of answers that go by layer."""


def _by_layer(prefixes: Mapping[Layer, Floats]) -> dict[str, list[float]]:
    return _lists((layer.name, values) for layer, values in prefixes.items())


def _lists(terms: Iterable[tuple[str, Floats]]) -> dict[str, list[float]]:
    return {name: values.tolist() for name, values in terms}


def _read(data: Mapping[str, Any]) -> Answers:
    """The answers of such data."""
    through, latency_through = (
        {Layer[name]: values for name, values in _arrays(data[field]).items()}
        for field in BY_LAYER
    )
    return Answers(
        energy=np.array(data["energy"], dtype=np.float64),
        latency=np.array(data["latency"], dtype=np.float64),
        utilisation=np.array(data["utilisation"], dtype=np.float64),
        energy_terms=_arrays(data["energy_terms"]),
        latency_terms=_arrays(data["latency_terms"]),
        through=through,
        latency_through=latency_through,
        subtotals=_arrays(data["subtotals"]),
        traffic=_arrays(data["traffic"]),
        events=_arrays(data["events"]),
        scope=None,
        unsupported=np.array(data["unsupported"], dtype=bool),
        errors=dict(data["errors"]),
    )


def _arrays(terms: Mapping[str, list[float]]) -> dict[str, Floats]:
    return {name: np.array(values, dtype=np.float64) for name, values in terms.items()}


def _serve(requests: IO[str], replies: IO[str]) -> None:
    """Answer each request until there are no more."""
    for line in requests:
        try:
            reply = _reply(json.loads(line))
        except Exception as error:  # noqa: BLE001 - whatever a model raises while it is built
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def _reply(request: Mapping[str, Any]) -> dict[str, Any]:
    model = ModelRef(request["model"], request["fault"]).load()
    cases = [structure_case(data) for data in request["cases"]]
    plain = [case for case in cases if isinstance(case, Case)]
    return _written(model.one_by_one.ask(Cases.of(plain)))


def main() -> None:
    """Answer on what was the standard output; what models print goes nowhere."""
    end_with_parent()
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    _serve(sys.stdin, replies)


if __name__ == "__main__":
    main()

"""Host machines: a roofline that was fitted to measurements of a machine at hand.

A host is a file, `hosts/NAME.json`, that `joulecheck measure` writes, and a model
`host:NAME` that any command takes. It knows of a peak a precision, one bandwidth and
one overhead, so that what it predicts wrong says what a roofline leaves out.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, ClassVar, Final, get_args

import attrs
import numpy as np
from attrs.validators import and_, deep_mapping, gt, lt, min_len

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Layer, check_scale
from joulecheck.composition import Max, Sum
from joulecheck.counterexample import converter
from joulecheck.errors import InvalidMachine, InvalidSetting, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.files import parsed, write_whole
from joulecheck.knob import Knob, KnobKind
from joulecheck.machine import Machine, Memory
from joulecheck.model import UNSCALED, Scale, Scales
from joulecheck.structured import explained
from joulecheck.workload import Precision
from joulecheck.workload.columns import PRECISIONS
from joulecheck.workload.subgraph import AnyOperator

FORMAT: Final = 1
"""The number that a host file states as its `format`."""

FOLDER: Final = "JOULECHECK_HOSTS"
"""The environment variable that names the folder of host files; `hosts` without it."""

EVERYTHING: Final = frozenset({"input", "weight", "output"})


def folder() -> Path:
    """Where host files are."""
    return Path(os.environ.get(FOLDER) or "hosts")


_POSITIVE: Final = and_(gt(0.0), lt(math.inf))


@attrs.frozen(kw_only=True)
class Host:
    """What was fitted to a machine.

    Raises:
        ValueError: a figure is not above 0 and finite, or there is no peak.
    """

    name: str
    peak: Mapping[Precision, float] = attrs.field(
        validator=[min_len(1), deep_mapping(value_validator=_POSITIVE)]
    )
    """Operations a second (one MAC is two) by precision."""
    bandwidth: float = attrs.field(validator=_POSITIVE)
    """Byte a second between the cores and the memory outside the chip."""
    launch: float = attrs.field(validator=_POSITIVE)
    """Second that a call takes beside its work."""
    conditions: str = ""
    """What it was measured on, in words."""
    measurements: int = 0
    """How many it was fitted to."""

    @property
    def source(self) -> str:
        """Where its figures come from."""
        return f"fitted to {self.measurements} measurements: {self.conditions}"


class HostModel:
    """Latency of a launch and the longer of compute and memory time; no energy."""

    latency_layers: ClassVar = {
        "launch": Layer.REGISTER,
        "compute": Layer.ALU,
        "memory": Layer.DRAM,
    }
    latency_composition = Sum("launch", Max("compute", "memory"))
    operators: ClassVar = frozenset({"gemm", "conv2d", "elementwise"})
    smooth: ClassVar = frozenset({"latency"})

    def __init__(self, host: Host) -> None:
        """Answer for one host."""
        self.host = host
        self.name = host.name

    @property
    def precisions(self) -> tuple[Precision, ...]:
        """Those whose peak was fitted."""
        return tuple(self.host.peak)

    @property
    def machine(self) -> Machine:
        """What is known of it."""
        return Machine(
            name=self.name,
            peak=self.host.peak,
            memories={"memory": Memory(bandwidth=self.host.bandwidth, homes=EVERYTHING)},
            sources=dict.fromkeys(("peak", "bandwidth", "launch"), self.host.source),
        )

    @property
    def knobs(self) -> dict[str, Knob]:
        """All of its figures."""
        return {
            "peak": Knob(KnobKind.RATE),
            "memory.bandwidth": Knob(KnobKind.RATE),
            "launch": Knob(KnobKind.DELAY),
        }

    def derive(self, factors: Mapping[str, float]) -> HostModel:
        """The host with figures times their factors."""
        peak = factors.get("peak", 1.0)
        return HostModel(
            attrs.evolve(
                self.host,
                peak={p: rate * peak for p, rate in self.host.peak.items()},
                bandwidth=self.host.bandwidth * factors.get("memory.bandwidth", 1.0),
                launch=self.host.launch * factors.get("launch", 1.0),
            )
        )

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """Answer one case.

        Raises:
            Unsupported: nothing was fitted at the precision, or to such workloads.
            UnknownName: a coefficient is named, for there is none.
        """
        check_scale({}, scale)
        if case.precision not in self.host.peak:
            msg = f"{self.name} was not measured at {case.precision.name}"
            raise Unsupported(msg)
        if not isinstance(case.workload, get_args(AnyOperator)):
            msg = f"{self.name} answers for single operators only, got {case.workload}"
            raise Unsupported(msg)
        return self._estimate(case.ops, case.bytes, self.host.peak[case.precision])

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """Answer a batch with arrays, one entry a case.

        Raises:
            Unsupported: nothing was fitted at the precision of some case.
            UnknownName: a coefficient is named, for there is none.
        """
        check_scale({}, scales)
        if not np.isin(
            cases.precision, [PRECISIONS.index(p) for p in self.precisions]
        ).all():
            msg = f"{self.name} was not measured at all of these precisions"
            raise Unsupported(msg)
        peak = np.array([self.host.peak.get(precision, np.nan) for precision in PRECISIONS])
        return self._estimate(cases.ops, cases.bytes, peak[cases.precision])

    def _estimate(self, ops: Any, crossing: Any, peak: Any) -> Estimate:  # noqa: ANN401 - numbers or arrays
        compute, memory = ops / peak, crossing / self.host.bandwidth
        latency = self.host.launch + np.maximum(compute, memory)
        return Estimate(
            latency=latency,
            utilisation=compute / latency,
            latency_terms={
                "launch": self.host.launch + 0 * compute,
                "compute": compute,
                "memory": memory,
            },
        )


def to_json(host: Host) -> str:
    """The numbered JSON form of a host."""
    data = {"format": FORMAT, **converter().unstructure(host)}
    return json.dumps(data, indent=2, sort_keys=True) + "\n"


def load(file: Path) -> Host:
    """A host from its file.

    Raises:
        InvalidMachine: it cannot be read, has another format or breaks a rule.
    """
    try:
        data = parsed(file.read_text(encoding="utf-8"))
        found = data.pop("format", None) if isinstance(data, dict) else data
        if found == FORMAT:
            return converter().structure(data, Host)
    except Exception as error:
        msg = f"host file {file}: {explained(error)}"
        raise InvalidMachine(msg) from error
    msg = f"host file {file}: format must be {FORMAT}, got {found!r}; measure it anew"
    raise InvalidMachine(msg)


def save(host: Host) -> Path:
    """Write a host into the folder of host files; returns the file.

    Raises:
        InvalidSetting: the folder cannot be written.
    """
    file = make_folder() / f"{host.name}.json"
    try:
        write_whole(file, to_json(host))
    except OSError as error:
        msg = f"{file} cannot be written: {error.strerror}"
        raise InvalidSetting(msg) from error
    return file


def make_folder() -> Path:
    """The folder of host files, which is there and can be written to.

    Raises:
        InvalidSetting: it cannot be.
    """
    made = folder()
    try:
        made.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=made):
            pass
    except OSError as error:
        msg = f"host files cannot be written to {made}: {error.strerror}"
        raise InvalidSetting(msg) from error
    return made


class _Hosts(Mapping[str, Callable[[], HostModel]]):
    """The hosts that have a file, by name."""

    def __getitem__(self, name: str) -> Callable[[], HostModel]:
        """What loads one.

        Raises:
            KeyError: it has no file.
        """
        if name not in list(self):
            raise KeyError(name)
        return partial(_model, folder() / f"{name}.json")

    def __iter__(self) -> Iterator[str]:
        """The names, sorted."""
        return iter(sorted(file.stem for file in folder().glob("*.json")))

    def __len__(self) -> int:
        """How many."""
        return len(list(iter(self)))


def _model(file: Path) -> HostModel:
    return HostModel(load(file))


HOSTS: Final[Mapping[str, Callable[[], HostModel]]] = _Hosts()
"""The family `host:`."""

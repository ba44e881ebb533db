"""Taking the time, and where it can be read the energy, of work on this machine.

GEMMs go to the BLAS that numpy was built with, convolutions are a gather and a GEMM,
as numpy has no other, and elementwise functions are numpy's own loops. What is
measured is that software on this machine, not the machine alone.
"""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any, Final

import attrs
import numpy as np

from joulecheck.case import Case
from joulecheck.errors import Unsupported
from joulecheck.validation.measurement import Measurement, Use
from joulecheck.workload import Conv2d, Elementwise, Function, Gemm, Precision

TYPES: Final[Mapping[Precision, np.dtype[Any]]] = {
    Precision.FP64: np.dtype(np.float64),
    Precision.FP32: np.dtype(np.float32),
}
"""The precisions whose GEMMs have a BLAS routine."""

REPEATS: Final = 7

SHORTEST: Final = 0.02
"""Second: a repeat runs the work as often as makes it last this long."""

SHORTEST_FOR_ENERGY: Final = 0.2
"""Second, where energy is read: the counters move about once a millisecond."""

RAPL: Final = Path("/sys/class/powercap")
"""Where Linux shows the energy counters of the processor (RAPL)."""

SEED: Final = 0
"""Of the numbers that are multiplied."""


def work_of(case: Case) -> Callable[[], object]:
    """What runs the workload of a case once on this machine.

    Raises:
        Unsupported: numpy has no fast way to do it.
    """
    if case.precision not in TYPES:
        known = ", ".join(precision.name for precision in TYPES)
        msg = f"this machine is measured at {known}, not at {case.precision.name}"
        raise Unsupported(msg)
    kind = TYPES[case.precision]
    match case.workload:
        case Gemm() as gemm:
            return _gemm(gemm, kind)
        case Conv2d() as conv:
            return _convolution(conv, kind)
        case Elementwise() as elementwise:
            return _elementwise(elementwise, kind)
        case other:
            msg = f"this machine is measured one operator at a time, not with {other}"
            raise Unsupported(msg)


def _random(shape: Sequence[int], kind: np.dtype[Any]) -> Any:  # noqa: ANN401 - an array of any float
    return np.random.default_rng(SEED).random(tuple(shape), dtype=kind.type)


def _gemm(work: Gemm, kind: np.dtype[Any]) -> Callable[[], object]:
    batch = () if work.batch == 1 else (work.batch,)
    a = _random((*batch, work.m, work.k), kind)
    b = _random((*batch, work.k, work.n), kind)
    out = np.empty((*batch, work.m, work.n), kind)
    return lambda: np.matmul(a, b, out=out)


def _convolution(work: Conv2d, kind: np.dtype[Any]) -> Callable[[], object]:
    if work.groups != 1:
        msg = f"convolutions are measured with one group, not {work.groups}"
        raise Unsupported(msg)
    image = _random((work.n, work.c, work.h, work.w), kind)
    weights = _random((work.c * work.r * work.s, work.k), kind)
    around = ((0, 0), (0, 0), (work.padding,) * 2, (work.padding,) * 2)
    extent = [work.dilation * (size - 1) + 1 for size in (work.r, work.s)]

    def run() -> object:
        padded = np.pad(image, around)
        windows = np.lib.stride_tricks.sliding_window_view(padded, extent, axis=(2, 3))
        windows = windows[
            :, :, :: work.stride, :: work.stride, :: work.dilation, :: work.dilation
        ]
        n, c, p, q, r, s = windows.shape
        columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * p * q, c * r * s)
        return columns @ weights

    return run


def _elementwise(work: Elementwise, kind: np.dtype[Any]) -> Callable[[], object]:
    operands = [_random(work.shape, kind) for _ in range(work.operands)]
    out = np.empty(work.shape, kind)
    ways: dict[Function, Callable[[], object]] = {
        Function.RELU: lambda: np.maximum(operands[0], 0, out=out),
        Function.ADD: lambda: _joined(np.add, operands, out),
        Function.MULTIPLY: lambda: _joined(np.multiply, operands, out),
    }
    if work.function not in ways:
        msg = f"numpy has no single loop for {work.function.name}"
        raise Unsupported(msg)
    return ways[work.function]


def _joined(function: np.ufunc, operands: Sequence[Any], out: Any) -> object:  # noqa: ANN401 - arrays
    function(operands[0], operands[1], out=out)
    for operand in operands[2:]:
        function(out, operand, out=out)
    return out


@attrs.frozen
class Counter:
    """An energy counter of one processor package."""

    file: Path
    wraps_at: int
    """Microjoule, where it starts again from 0."""

    def read(self) -> int:
        """Microjoule since some time ago."""
        return int(self.file.read_text(encoding="ascii"))

    def since(self, start: int) -> float:
        """Joule from a reading until now, over one wrap at most."""
        passed = self.read() - start
        return (passed if passed >= 0 else passed + self.wraps_at) * 1e-6


@cache
def counters(root: Path = RAPL) -> tuple[Counter, ...]:
    """The energy counters of all processor packages that may be read; often none."""
    return tuple(_counters(root))


def _counters(root: Path) -> Iterator[Counter]:
    for domain in sorted(root.glob("intel-rapl:[0-9]*")):
        if domain.name.count(":") > 1:
            continue  # a part of a package, which is counted with it
        try:
            limit = (domain / "max_energy_range_uj").read_text(encoding="ascii")
            counter = Counter(domain / "energy_uj", int(limit))
            counter.read()
        except (OSError, ValueError):
            continue
        yield counter


def why_no_energy(root: Path = RAPL) -> str:
    """Why energy is not measured here; "" if it is."""
    if counters(root):
        return ""
    if not any(root.glob("intel-rapl:*")):
        return f"energy is not measured: no counter under {root}"
    return f"energy is not measured: the counters under {root} may not be read by you"


def measure(
    case: Case,
    machine: str,
    *,
    use: Use = "check",
    repeats: int = REPEATS,
    conditions: str = "",
) -> Measurement:
    """Run a case some times and take the time of each.

    A first run, and the repeats that find how many runs fill one, are not counted.

    Raises:
        Unsupported: it cannot be run here.
    """
    run = work_of(case)
    meters = counters()
    runs = _runs(run, SHORTEST_FOR_ENERGY if meters else SHORTEST)
    seconds, joules = zip(*(_once(run, runs, meters) for _ in range(repeats)), strict=True)
    energy = {
        "energy": median(joules),
        "energy_min": min(joules),
        "energy_max": max(joules),
    }
    return Measurement(
        machine=machine,
        case=case,
        latency=median(seconds),
        latency_min=min(seconds),
        latency_max=max(seconds),
        repeats=repeats,
        use=use,
        conditions=conditions,
        **(energy if meters and min(joules) > 0 else {}),
    )


def _runs(run: Callable[[], object], shortest: float) -> int:
    """How many runs one after the other last for `shortest` seconds."""
    runs = 1
    while (took := runs * _once(run, runs, ())[0]) < shortest:
        runs = max(2 * runs, min(int(runs * shortest / took) + 1, 100 * runs))
    return runs


def _once(
    run: Callable[[], object], runs: int, meters: Sequence[Counter]
) -> tuple[float, float]:
    """Second and joule of one of `runs` runs."""
    readings = [meter.read() for meter in meters]
    start = time.perf_counter()
    for _ in range(runs):
        run()
    seconds = time.perf_counter() - start
    joules = sum(
        meter.since(reading) for meter, reading in zip(meters, readings, strict=True)
    )
    return seconds / runs, joules / runs


def conditions() -> str:
    """This machine and its software, in words."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return (
        f"{_processor()}, {os.cpu_count()} logical processors, {platform.system()}, "
        f"Python {platform.python_version()}, numpy {np.__version__} with "
        f"{blas.get('name', 'an unnamed BLAS')} {blas.get('version', '')}{_load()}"
    )


def _load() -> str:
    """How busy the machine is before it is measured, where the system tells."""
    if not hasattr(os, "getloadavg"):
        return ""
    return f", load {os.getloadavg()[0]:.1f} before"


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", text, flags=re.MULTILINE)
    return found[1].strip() if found else platform.machine()

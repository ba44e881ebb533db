"""Fitting a roofline to measurements of a machine at hand.

Three kinds of figures are found: a peak a precision, a bandwidth and the overhead of a
call. A measurement speaks for the one that bounds it. Which one that is depends on the
figures, so the two are found in turns until they agree; a figure is the median over
those that speak for it, in which one outlier has no say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from joulecheck.case import Case
from joulecheck.errors import InvalidMeasurement
from joulecheck.validation.host import Host
from joulecheck.validation.measurement import Measurement
from joulecheck.workload import Conv2d, Elementwise, Function, Gemm, Precision
from joulecheck.workload.columns import Bools, Floats

TURNS: Final = 50
"""It settles in a few."""

LEAST: Final = 1e-3
"""Share of a latency that work is taken to have at least, beside the overhead."""


def workloads(precisions: Sequence[Precision]) -> dict[str, list[Case]]:
    """What a host is measured on: to "fit" it, and to "check" it with other sizes.

    Each list has GEMMs of several shapes and elementwise functions from a line to far
    beyond the caches; convolutions only check, for a roofline knows nothing of them.
    """
    sizes = {"fit": (64, 256, 1024), "check": (128, 512, 768)}
    lengths = {"fit": (16, 1 << 25), "check": (64, 1 << 14, 1 << 20, 1 << 24)}
    shapes = {
        "fit": [Gemm(2048, 512, 512)],
        "check": [Gemm(1, 4096, 4096), Gemm(4096, 64, 1024), Gemm(64, 64, 64, batch=32)],
    }
    images = [
        Conv2d(n=1, c=64, h=56, w=56, k=64, r=3, s=3, padding=1),
        Conv2d(n=1, c=256, h=14, w=14, k=256, r=3, s=3, padding=1),
        Conv2d(n=1, c=3, h=224, w=224, k=64, r=7, s=7, stride=2, padding=3),
        Conv2d(n=8, c=256, h=28, w=28, k=128, r=1, s=1),
    ]
    return {
        use: [
            Case(work, precision)
            for precision in precisions
            for work in (
                *(Gemm(size, size, size) for size in sizes[use]),
                *shapes[use],
                *(Elementwise(Function.ADD, (length,)) for length in lengths[use]),
                *(Elementwise(Function.RELU, (length,)) for length in lengths[use]),
                *(images if use == "check" else ()),
            )
        ]
        for use in ("fit", "check")
    }


def fit(name: str, measurements: Iterable[Measurement]) -> Host:
    """The roofline of the measurements whose use is "fit".

    Raises:
        InvalidMeasurement: no latency is there to fit, or none that memory bounds or
            that the arithmetic bounds at some precision.
    """
    used = [one for one in measurements if one.use == "fit" and one.latency is not None]
    if not used:
        msg = f"no measurement of {name} has a latency and is there to fit it"
        raise InvalidMeasurement(msg)
    latency = np.array([one.latency for one in used])
    ops = np.array([float(one.case.ops) for one in used])
    crossing = np.array([float(one.case.bytes) for one in used])
    of = {p: np.array([one.case.precision is p for one in used]) for p in Precision}
    of = {precision: rows for precision, rows in of.items() if rows.any()}

    launch = float(latency.min())
    peaks = {p: float((ops / latency)[rows].max()) for p, rows in of.items()}
    bandwidth = float((crossing / latency).max())
    for _ in range(TURNS):
        work = np.maximum(latency - launch, LEAST * latency)
        peak = sum(peaks[p] * rows for p, rows in of.items())
        compute, memory = ops / peak, crossing / bandwidth
        small = launch > np.maximum(compute, memory)
        bound = ~small & (compute >= memory)
        moved = ~small & (compute < memory)
        peaks = {
            p: _median(name, ops / work, bound & rows, f"the arithmetic at {p.name}")
            for p, rows in of.items()
        }
        bandwidth = _median(name, crossing / work, moved, "the memory")
        rest = np.maximum(latency - np.maximum(compute, memory), LEAST * latency)
        launch = _median(name, rest, small, "the overhead")
    return Host(
        name=name,
        peak=peaks,
        bandwidth=bandwidth,
        launch=launch,
        conditions=used[0].conditions,
        measurements=len(used),
    )


def _median(name: str, values: Floats, rows: Bools, what: str) -> float:
    if not rows.any():
        msg = f"no measurement of {name} is bound by {what}: measure other sizes as well"
        raise InvalidMeasurement(msg)
    return float(np.median(values[rows]))

"""The baseline: an example-based suite, as model libraries have them.

Five categories of checks on five standard workloads, with the tolerances that are
usual: sums within 0.1 %, a coefficient 10 % higher moves its compute term by 5 to 15 %,
orders of named machines. Every check holds on every sound reference model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Final

import numpy as np

from joulecheck.case import Case
from joulecheck.coefficient import Layer
from joulecheck.estimate import Estimate
from joulecheck.faults.planted import FaultyModel
from joulecheck.reference import load_model
from joulecheck.reference.layered import LayeredModel
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Precision,
    Workload,
)

GEMM: Final = Gemm(m=1024, n=1024, k=1024)

WORKLOADS: Final[Mapping[str, Workload]] = MappingProxyType(
    {
        "GEMM 64^3": Gemm(m=64, n=64, k=64),
        "GEMM 1024^3": GEMM,
        "GEMM 4096^3": Gemm(m=4096, n=4096, k=4096),
        "depthwise convolution": Conv2d(
            n=1, c=64, h=56, w=56, k=64, r=3, s=3, padding=1, groups=64
        ),
        "ReLU of 2^20": Elementwise(Function.RELU, (1, 64, 128, 128)),
    }
)
"""What everybody tries."""

SUM_TOLERANCE: Final = 1e-3
RAISED: Final = 1.1
RESPONSE: Final = (0.05, 0.15)

FASTER: Final = (
    ("Intel-Xeon-Platinum-8490H", "Intel-i7-12700K"),
    ("AMD-EPYC-Turin", "AMD-EPYC-9654"),
    ("H100-SXM5-80GB", "V100-SXM3-32GB"),
    ("H100-SXM5-80GB", "A100-SXM4-80GB"),
    ("Google-TPU-v4", "Google-TPU-v1"),
    ("Google-TPU-v5p", "Google-TPU-v4"),
    ("Stillwater-KPU-T256", "Stillwater-KPU-T64"),
    ("Stillwater-KPU-T768", "Stillwater-KPU-T256"),
    ("Hailo-10H", "Hailo-8"),
)
"""The first is faster at a GEMM of 1024^3."""

CPU: Final = "Intel-i7-12700K"
ACCELERATORS: Final = ("Google-TPU-v4", "Stillwater-KPU-T256", "H100-SXM5-80GB")
"""Each takes less energy than the CPU for an INT8 GEMM of 1024^3.

The whole order of the classes does not hold of these machines, and a suite that passes
on sound models cannot ask for it.
"""

AnyModel = LayeredModel | FaultyModel


def failures(model: AnyModel) -> Iterator[str]:
    """The checks that fail on a model, in words, as they are run."""
    for check in (_composition, _architecture, _sensitivity, _precision, _order):
        yield from check(model)


def _precisions(model: AnyModel) -> list[Precision]:
    return sorted(model.precisions, key=lambda one: one.name)


def _answers(model: AnyModel) -> Iterator[tuple[str, Estimate]]:
    for name, workload in WORKLOADS.items():
        for precision in _precisions(model):
            yield f"{name} {precision.name}", model.estimate(Case(workload, precision))


def _number(value: object) -> float:
    return float(np.asarray(value))


def _composition(model: AnyModel) -> Iterator[str]:
    """The terms sum to the total."""
    for where, answer in _answers(model):
        energy = _number(answer.energy)
        terms = sum(map(_number, answer.energy_terms.values()))
        if not abs(terms - energy) <= SUM_TOLERANCE * abs(energy):
            yield f"composition: {where}"


def _architecture(model: AnyModel) -> Iterator[str]:
    """What the architecture adds to the arithmetic is not negative, layer by layer."""
    for where, answer in _answers(model):
        base = _number(answer.energy_terms["alu"])
        through = [_number(answer.through[one]) for one in Layer if one in answer.through]
        grown = [base, *through, _number(answer.energy)]
        if any(more < less * (1 - SUM_TOLERANCE) for less, more in pairwise(grown)):
            yield f"architecture: {where}"


def _sensitivity(model: AnyModel) -> Iterator[str]:
    """Arithmetic that is 10 % dearer moves the compute term by about as much."""
    for where, workload in WORKLOADS.items():
        for precision in _precisions(model):
            case, name = Case(workload, precision), f"mac_energy.{precision.name}"
            before = _number(model.estimate(case).energy_terms["alu"])
            after = _number(model.estimate(case, {name: RAISED}).energy_terms["alu"])
            low, high = (share * before for share in RESPONSE)
            if case.macs and not (before > 0 and low <= after - before <= high):
                yield f"sensitivity: {name}, {where}"


def _precision(model: AnyModel) -> Iterator[str]:
    """INT8 takes less energy than FP32."""
    if not {Precision.INT8, Precision.FP32} <= model.precisions:
        return
    for name, workload in WORKLOADS.items():
        int8 = _number(model.estimate(Case(workload, Precision.INT8)).energy)
        fp32 = _number(model.estimate(Case(workload, Precision.FP32)).energy)
        if not int8 < fp32:
            yield f"precision: {name}"


def _order(model: AnyModel) -> Iterator[str]:
    """Named machines are faster than others, and the classes come in their order."""

    def of(name: str) -> AnyModel:
        return model if name == model.name else load_model(name)

    for faster, slower in FASTER:
        if model.name in {faster, slower} and not _time(of(faster)) < _time(of(slower)):
            yield f"order: {faster} faster than {slower}"
    for accelerator in ACCELERATORS:
        if model.name in {accelerator, CPU} and not _joule(of(accelerator)) < _joule(
            of(CPU)
        ):
            yield f"order: {accelerator} takes less energy than {CPU}"


def _time(model: AnyModel) -> float:
    return _number(model.estimate(Case(GEMM, Precision.INT8)).latency)


def _joule(model: AnyModel) -> float:
    return _number(model.estimate(Case(GEMM, Precision.INT8)).energy)

"""Faults in how a model puts work together, takes it apart, or spells it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeVar

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.estimate import Estimate
from joulecheck.faults.planted import Fault, sound, times, with_near_bytes
from joulecheck.model import Scales
from joulecheck.quantities import BITS_PER_BYTE
from joulecheck.reference.layered import LayeredModel
from joulecheck.workload import Conv2d, Gemm, nodes_of
from joulecheck.workload.columns import CONV2D, OPERATORS, Floats

Kind = TypeVar("Kind", Gemm, Conv2d)

DEEP: Final = 512
"""The K beyond which everything passes twice."""

LAUNCHES_OF_AN_EDGE: Final = 2


def _bytes(cases: Cases, elements: Floats) -> Floats:
    """(cases,) of elements that each operator counts, (ops,)."""
    return cases.operators.per_case(elements) * cases.bits / BITS_PER_BYTE


def _operators(cases: Cases, kind: type[Kind]) -> Iterator[tuple[int, list[Kind]]]:
    """The cases that have operators of a kind, by index, and those operators."""
    operators = cases.operators
    is_kind = (operators.kind == OPERATORS.index(kind)).astype(np.float64)
    for index in np.flatnonzero(operators.per_case(is_kind)).tolist():
        nodes = nodes_of(cases[index].workload)
        yield index, [n.operator for n in nodes if isinstance(n.operator, kind)]


def _launch_per_edge(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found, operators = sound(model, cases, scales), cases.operators
    edges = operators.per_case(operators.internal_inputs + operators.weight_is_internal)
    waiting = LAUNCHES_OF_AN_EDGE * model.data.launch * edges
    return attrs.evolve(found, latency=found.latency + waiting)


def _lost_outputs(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    operators = cases.operators
    lost = np.ones(len(operators), dtype=bool)
    lost[np.append(operators.starts[1:], len(operators)) - 1] = False
    kept = attrs.evolve(operators, output_is_internal=operators.output_is_internal | lost)
    asked = Cases(cases.precision, cases.__getitem__, lambda: kept)
    return model.estimate_batch(asked, scales)


def _copied_patches(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    ops = cases.operators
    patches = ops.instances * ops.m * ops.k * (ops.kind == CONV2D)
    return with_near_bytes(model, cases, scales, _bytes(cases, patches))


def _dense_groups(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    ops = cases.operators
    groups = np.where(ops.kind == CONV2D, ops.instances, 1.0)
    macs = ops.per_case(np.maximum(ops.macs, 1))
    dense = ops.per_case(np.maximum(ops.macs, 1) * groups)
    return times(sound(model, cases, scales), dense / macs)


def _depthwise_once(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    counted = np.ones(len(cases))
    for index, convs in _operators(cases, Conv2d):
        depthwise = [conv.groups for conv in convs if conv.groups == conv.c]
        counted[index] = 1 / max(depthwise, default=1)
    return times(sound(model, cases, scales), counted)


def _batched_weights(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    again = np.zeros(len(cases))
    for index, gemms in _operators(cases, Gemm):
        again[index] = sum((gemm.batch - 1) * gemm.weight_elements for gemm in gemms)
    return with_near_bytes(model, cases, scales, again * cases.bits / BITS_PER_BYTE)


def _squared_rows(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    rows = cases.operators.per_case(cases.operators.m)
    return times(sound(model, cases, scales), rows)


def _strided_weights(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    byte = _bytes(cases, cases.operators.weight_elements)
    return with_near_bytes(model, cases, scales, byte)


def _second_pass(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    deep = (cases.operators.k > DEEP).astype(np.float64)
    passes = np.where(cases.operators.per_case(deep) > 0, 2.0, 1.0)
    return times(sound(model, cases, scales), passes)


PART_FAULTS: Final = (
    Fault(
        "launch-per-edge",
        "each edge of a graph waits for two more launches",
        _launch_per_edge,
    ),
    Fault("lost-outputs", "only the last operator's result leaves the chip", _lost_outputs),
    Fault(
        "copied-patches",
        "a convolution copies its input into patches, register by register",
        _copied_patches,
    ),
    Fault(
        "dense-groups", "a convolution costs as much as if it had no groups", _dense_groups
    ),
    Fault(
        "depthwise-once", "a depthwise convolution counts for one channel", _depthwise_once
    ),
    Fault(
        "batched-weights",
        "weights pass a register again for each element of the batch",
        _batched_weights,
    ),
    Fault("squared-rows", "everything costs once more for each row of M", _squared_rows),
    Fault(
        "strided-weights", "weights pass one register more than inputs do", _strided_weights
    ),
    Fault("second-pass", "a K beyond 512 makes everything pass twice", _second_pass),
)
"""Faults that show when one piece of work is held against another."""

"""Faults in how work is counted: dimensions, sizes, tiles and overflows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.estimate import Estimate
from joulecheck.faults.mutation import (
    Drawn,
    Kind,
    moved,
    one_of,
    rescaled,
    windows_in_full,
    with_cases,
    with_operators,
)
from joulecheck.faults.planted import sound, times
from joulecheck.model import Scales
from joulecheck.reference.layered import LayeredModel
from joulecheck.workload import (
    AnyOperator,
    Conv2d,
    Gemm,
    Node,
    Subgraph,
    fitted_conv2d,
    nodes_of,
)
from joulecheck.workload.columns import CONV2D, GEMM, Bools, OperatorColumns

Rng = np.random.Generator

PLACES: Final = ("energy", "latency", "alu", "dram")
"""Work that is counted wrongly is wrong in everything."""


def _other_columns(
    what: str, change_columns: Callable[[OperatorColumns], OperatorColumns]
) -> Drawn:
    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        return sound(model, with_operators(cases, change_columns), scales)

    return Drawn(what=what, places=PLACES, change=change)


def _grouped(ops: OperatorColumns) -> Bools:
    found: Bools = (ops.kind == CONV2D) & (ops.instances > 1)
    return found


def _other_operators(
    what: str,
    of: Callable[[AnyOperator], AnyOperator],
    concerned: Callable[[OperatorColumns], Bools] = lambda ops: ops.kind == CONV2D,
) -> Drawn:
    """Each operator of a case that is concerned replaced, where the graph allows it."""

    def of_case(case: Case) -> Case:
        nodes = nodes_of(case.workload)
        if len(nodes) == 1:
            return Case(of(nodes[0].operator), case.precision)
        try:
            graph = Subgraph([Node(of(n.operator), n.sources) for n in nodes])
        except ValueError:  # the shapes inside no longer fit
            return case
        return Case(graph, case.precision)

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        return sound(model, with_cases(cases, of_case, concerned(cases.operators)), scales)

    return Drawn(what=what, places=PLACES, change=change)


def _batch_missing(rng: Rng, model: LayeredModel) -> Drawn:
    del rng, model

    def of(operator: AnyOperator) -> AnyOperator:
        if isinstance(operator, Gemm):
            return attrs.evolve(operator, batch=1)
        return attrs.evolve(operator, n=1) if isinstance(operator, Conv2d) else operator

    return _other_operators("of single operators", of, lambda ops: ops.macs > 0)


def _groups_missing(rng: Rng, model: LayeredModel) -> Drawn:
    del rng, model

    def of(operator: AnyOperator) -> AnyOperator:
        if isinstance(operator, Conv2d):
            return attrs.evolve(operator, groups=1)
        return operator

    return _other_operators("groups of convolutions", of, _grouped)


def _stride_missing(rng: Rng, model: LayeredModel) -> Drawn:
    del rng, model

    def of(operator: AnyOperator) -> AnyOperator:
        if not isinstance(operator, Conv2d):
            return operator
        return fitted_conv2d(
            operator.input_shape,
            k=operator.k - operator.groups + 1,
            r=operator.r,
            s=operator.s,
            padding=operator.padding,
            dilation=operator.dilation,
            groups=operator.groups,
        )

    return _other_operators("stride of convolutions", of)


def _dilation_missing(rng: Rng, model: LayeredModel) -> Drawn:
    del rng, model

    def of(operator: AnyOperator) -> AnyOperator:
        if not isinstance(operator, Conv2d) or operator.dilation == 1:
            return operator
        return attrs.evolve(operator, dilation=1)

    return _other_operators("dilation of convolutions", of)


def _halo_product(rng: Rng, model: LayeredModel) -> Drawn:
    del rng, model

    return _other_columns("windows of convolutions, each in full", windows_in_full)


def _rows_and_columns(rng: Rng, model: LayeredModel) -> Drawn:
    del rng, model

    def columns(ops: OperatorColumns) -> OperatorColumns:
        gemm = ops.kind == 0
        return attrs.evolve(
            ops,
            m=np.where(gemm, ops.n, ops.m),
            n=np.where(gemm, ops.m, ops.n),
            input_elements=np.where(gemm, ops.n * ops.k, ops.input_elements),
            weight_elements=np.where(gemm, ops.m * ops.k, ops.weight_elements),
        )

    return _other_columns("M and N of GEMMs", columns)


def _floor_for_ceil(rng: Rng, model: LayeredModel) -> Drawn:
    quanta = [q for q in model.machine.quanta if q > 1] or [32]
    quantum, dimension = one_of(rng, quanta), one_of(rng, ["m", "n", "k"])

    def columns(ops: OperatorColumns) -> OperatorColumns:
        size = getattr(ops, dimension)
        whole = np.maximum(1, np.floor(size / quantum)) * quantum
        shrunk = np.where(ops.macs > 0, np.minimum(size, whole), size)
        share = shrunk / np.maximum(size, 1)
        return attrs.evolve(ops, **{dimension: shrunk}, macs=ops.macs * share)

    return _other_columns(f"{dimension.upper()} in tiles of {quantum}", columns)


def _wrapped(bits: int, *, signed: bool = False) -> Callable[[Rng, LayeredModel], Drawn]:
    least = -(2.0 ** (bits - 1)) if signed else 0.0

    def draw(rng: Rng, model: LayeredModel) -> Drawn:
        del rng, model

        def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
            found = sound(model, cases, scales)
            macs = np.maximum(cases.macs, 1.0)
            kept = least + np.mod(macs - least, 2.0**bits)
            return times(found, kept / macs)

        what = f"MACs modulo 2^{bits}, {'signed' if signed else 'unsigned'}"
        return Drawn(what=what, places=PLACES, change=change)

    return draw


def _batch_amortised(rng: Rng, model: LayeredModel) -> Drawn:
    del rng, model

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        batches = np.ones(len(cases))
        for index in range(len(cases)):
            first = nodes_of(cases[index].workload)[0].operator
            batches[index] = first.input_shape.n
        return rescaled(model, found, dict.fromkeys(found.energy_terms, 1 / batches))

    return Drawn(what="energy a sample", places=PLACES, change=change)


def _spill(rng: Rng, model: LayeredModel) -> Drawn | None:
    memories = model.machine.memories
    sized = [name for name, m in memories.items() if m.capacity and not m.homes]
    priced = [name for name in memories if name in model.layers]
    if not sized or not priced:
        return None
    name, near = priced[-1], one_of(rng, sized)
    factor = float(rng.uniform(3, 10))

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        capacity = model.machine.memories[near].capacity or 0
        spilled = np.where(cases.bytes > capacity, factor, 1.0)
        return moved(model, found, name, spilled)

    places = (name, f"{name}_energy", model.layers[name].name, "energy")
    what = f"term {name} x {factor:.3g} beyond the capacity of {near}"
    return Drawn(what=what, places=places, change=change)


def _weights_free(rng: Rng, model: LayeredModel) -> Drawn:
    del rng, model

    def columns(ops: OperatorColumns) -> OperatorColumns:
        return attrs.evolve(ops, weight_elements=np.zeros(len(ops)))

    return _other_columns("weights", columns)


def _table_end(rng: Rng, model: LayeredModel) -> Drawn:
    del model
    rows = 2.0 ** rng.integers(27, 30)

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found, ops = sound(model, cases, scales), cases.operators
        beyond = ((ops.m >= rows) & (ops.kind == GEMM)).astype(np.float64)
        return attrs.evolve(
            found, energy=np.where(ops.per_case(beyond) > 0, np.nan, found.energy)
        )

    return Drawn(what=f"GEMMs of {rows:g} rows", places=("energy",), change=change)


KINDS: Final = (
    Kind("batch-missing", "the batch is not counted",
         "formulas for one sample used for a batch", _batch_missing),
    Kind("groups-missing", "grouped convolutions are counted as dense ones",
         "depthwise layers costed as full convolutions", _groups_missing),
    Kind("stride-missing", "the stride of convolutions is not counted",
         "output sizes taken from input sizes", _stride_missing),
    Kind("dilation-missing", "the dilation of convolutions is not counted",
         "output sizes from a formula without dilation", _dilation_missing),
    Kind("halo-product", "overlapping windows are counted as separate inputs",
         "im2col sizes taken for input sizes", _halo_product),
    Kind("rows-and-columns", "M and N of a GEMM are swapped",
         "row-major and column-major conventions mixed", _rows_and_columns),
    Kind("floor-for-ceil", "the last, partial tile is not counted",
         "integer division", _floor_for_ceil),
    Kind("unsigned-wrap", "MACs are counted modulo 2^32", "32-bit counters", _wrapped(32)),
    Kind("signed-overflow", "MACs above 2^31 are negative", "signed 32-bit counters",
         _wrapped(32, signed=True)),
    Kind("int16-wrap", "MACs are counted modulo 2^16", "short counters", _wrapped(16)),
    Kind("batch-amortised", "energy is that of a sample, not of the batch",
         "totals mixed with averages", _batch_amortised),
    Kind("spill-jump", "traffic jumps when the operands exceed a capacity",
         "all or nothing fits", _spill),
    Kind("table-end", "there is no energy beyond some size",
         "lookup tables without an entry for large shapes", _table_end),
    Kind("weights-free", "weights have no bytes", "tensor sizes read from activations only",
         _weights_free),
)  # fmt: skip

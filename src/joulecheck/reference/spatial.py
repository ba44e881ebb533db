"""What the spatial classes share: events with a price each, tiles, levels of memory.

A model of these classes counts events. Each event has one price, the coefficient of
the same name, and each price belongs to one energy term. Work spreads over units that
hold an engine: a tile of rows x columns results, `depth` products a step. Traffic of
the innermost level follows from such tiles with whole passes, that of the levels
outside from smooth closed forms of their capacities (`traffic`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.composition import Composition, Each, Max, Sum
from joulecheck.estimate import Estimate
from joulecheck.model import DIMENSIONS, UNSCALED, Scales
from joulecheck.quantities import OPS_PER_MAC
from joulecheck.reference.layered import (
    BY_PRECISION,
    Coefficients,
    LayeredModel,
    Prices,
    Rates,
    dearest,
    widths_of,
)
from joulecheck.reference.machine_file import Engine
from joulecheck.reference.stalls import once, stalled
from joulecheck.reference.traffic import Operands, Widths, smooth_traffic, spills
from joulecheck.workload import Precision
from joulecheck.workload.columns import (
    Floats,
    OperatorColumns,
    tensor_bytes,
)


def moved_by(owners: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """The term of each coefficient, from the coefficients of each term."""
    return {name: frozenset({term}) for term, names in owners.items() for name in names}


class Engines(NamedTuple):
    """The engine that each operator runs on, all (ops,)."""

    rows: Floats
    columns: Floats
    depth: Floats
    rate: Floats
    """MACs a clock of one unit."""
    units: Floats
    """How many units have it."""

    @property
    def macs(self) -> Floats:
        """Of one step."""
        return self.rows * self.columns * self.depth

    @property
    def step(self) -> Floats:
        """Cycles of one step of a unit."""
        return self.macs / self.rate


class Tiling(NamedTuple):
    """A GEMM cut into tiles of its engine, all (ops,) and 0 without MACs."""

    down: Floats
    """ceil(M / rows): times that the weights are read."""
    across: Floats
    """ceil(N / columns): times that the inputs are read."""
    steps: Floats
    """ceil(K / depth)."""
    grains: Floats
    """Tiles of results of all instances: what spreads over the units."""
    cycles: Floats


def cut(ops: OperatorColumns, engines: Engines) -> Tiling:
    """The tiles of each operator; every unit works on a tile of results of its own.

    Cycles: ceil(grains / units) rounds of `steps` steps, and a step takes as long as
    its rows x columns x depth MACs at the unit's rate.
    """
    is_gemm = ops.macs > 0
    down, across = np.ceil(ops.m / engines.rows), np.ceil(ops.n / engines.columns)
    steps = np.ceil(ops.k / engines.depth)
    grains = ops.instances * down * across
    cycles = np.ceil(grains / engines.units) * steps * engines.step
    return Tiling(*(x * is_gemm for x in (down, across, steps, grains, cycles)))


class Tensors(NamedTuple):
    """The operands of each operator in bytes, (ops,)."""

    near: Operands
    """Wherever they come from; all activation inputs together."""
    far: Operands
    """Of these, what crosses the edge of the chip even if everything fits."""
    each: Operands
    """One tensor of each operand, wherever it comes from."""
    widths: Widths
    expanded: Floats
    """Inputs as the arithmetic sees them: of M x K elements, overlaps repeated."""


def tensors(cases: Cases) -> Tensors:
    """Bytes of the operands of a batch."""
    ops = cases.operators
    bits = ops.per_operator(cases.bits)
    widths = widths_of(cases)
    a, b, c = each = Operands(
        tensor_bytes(ops.input_elements, bits),
        tensor_bytes(ops.weight_elements, bits),
        tensor_bytes(ops.output_elements, bits),
    )
    inputs = a * (ops.external_inputs + ops.internal_inputs)
    expanded = tensor_bytes(ops.instances * ops.m * ops.k, bits)
    return Tensors(
        near=Operands(inputs, b, c),
        far=Operands(
            a * ops.external_inputs,
            b * ~ops.weight_is_internal,
            c * ~ops.output_is_internal,
        ),
        each=each,
        widths=widths,
        expanded=np.where(ops.macs > 0, expanded, inputs),
    )


def streamed(moved: Tensors, tiling: Tiling) -> Operands:
    """Bytes between the engines and the memory next to them, by operand.

    Inputs pass once for every column of tiles, weights once for every row of them.
    """
    return Operands(
        moved.expanded * np.maximum(1, tiling.across),
        moved.near.b * np.maximum(1, tiling.down),
        moved.near.c,
    )


def levels(
    innermost: Floats, ops: OperatorColumns, moved: Tensors, capacities: Sequence[float]
) -> list[Floats]:
    """Bytes that cross each level, from the innermost to the edge of the chip.

    Args:
        innermost: bytes next to the engines.
        ops: the operators.
        moved: their operands.
        capacities: of the memories between, from near to far. An intermediate that
            exceeds the last one leaves the chip and returns.
    """
    sizes = (ops.m, ops.n, ops.k)
    *between, last = capacities
    far = smooth_traffic(last, *sizes, moved.far, moved.widths)
    found = [far + spills(moved.each, ops, last).total]
    for capacity in reversed(between):
        crossing = smooth_traffic(capacity, *sizes, moved.near, moved.widths)
        found.append(np.maximum(crossing, found[-1]))
    found.append(np.maximum(innermost, found[-1]))
    return found[::-1]


class Layout(NamedTuple):
    """Operators on the tiles of their engines."""

    engines: Engines
    moved: Tensors
    tiling: Tiling
    seconds: Floats
    """(ops,) of the tiles and, after them, of the operations that are no MACs."""
    crossing: list[Floats]
    """Bytes across each level, each (ops,), from near to far."""


class Work(NamedTuple):
    """What a batch asks of a machine, operator by operator."""

    events: dict[str, Floats]
    """Counts by the coefficient that prices them, each (ops,)."""
    busy: dict[str, Floats]
    """Seconds of each resource, (ops,); within an operator they overlap."""
    before: dict[str, Floats]
    """Seconds that pass before an operator starts, (ops,)."""


class SpatialModel(LayeredModel):
    """A model that counts events with a price each.

    Latency is the launch plus, operator by operator, what comes before it and the
    longest of its resources: all of them overlap perfectly.
    """

    @property
    def splits(self) -> frozenset[str]:
        """All dimensions: tiles are whole, and any number of them is a mapping."""
        return frozenset(DIMENSIONS)

    before: ClassVar[tuple[str, ...]] = ()
    """The latency terms that pass before an operator starts."""
    last: ClassVar[str]
    """The memory of the chip that all that comes from outside passes."""

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """Answer a batch with arrays, one entry a case."""
        e = Coefficients(self.coefficients, scales)
        latency_terms, latency_through, counts = self._counted(cases)
        found = {
            part: np.asarray(self._priced(counts, Prices(charged, e, cases)))
            for part, charged in self.charged.items()
        }
        through, subtotals = self.split(found)
        latency = counts["static_power"]
        return Estimate(
            energy=through[Layer.STATIC],
            latency=latency,
            utilisation=cases.ops / (latency * self.peak[cases.precision]),
            energy_terms=self._terms(counts, Prices(self.moves.keys(), e, cases)),
            latency_terms=latency_terms,
            through=through,
            latency_through=latency_through,
            subtotals=subtotals,
            traffic={name: counts[f"{name}_energy"] for name in self._priced_memories},
            events=self.told(lambda: counts, cases),
        )

    @property
    def resident(self) -> dict[str, float]:
        """What fits the last memory on the chip crosses the edge of each home once."""
        room = min(self._capacity(self.last))
        return {name: room for name, memory in self.data.memories.items() if memory.homes}

    @abstractmethod
    def _work(self, cases: Cases) -> Work:
        """Count the events and the time of a batch."""

    @abstractmethod
    def _priced(self, counts: Mapping[str, Floats], price: Prices) -> Floats | float:
        """Joule of all events at these prices, on a path of its own."""

    def _arithmetic(self, precision: Precision, e: Mapping[str, float]) -> Rates:
        """A unit spends a slot on a MAC or on another operation, never on both."""
        slots = self.data.peak[precision] / OPS_PER_MAC
        return dearest(e, *({f"{stem}.{precision.name}": slots} for stem in BY_PRECISION))

    @property
    def latency_composition(self) -> Composition:
        """A launch, and for each operator what comes before it and the longest resource."""
        busy = self.latency_layers.keys() - {"launch", *self.before}
        return Sum("launch", Each(Sum(*self.before, Max(*sorted(busy)))))

    @cached_property
    def _priced_memories(self) -> list[str]:
        """Memories whose bytes have a price of their own."""
        return [name for name in self.data.memories if f"{name}_energy" in self.moves]

    def _counted(
        self, cases: Cases
    ) -> tuple[dict[str, Floats], dict[Layer, Floats], dict[str, Floats]]:
        """Seconds by term and up to each layer, and counts by price, each (cases,)."""
        ops = cases.operators
        work = self._work(cases)
        longest = np.maximum.reduce(list(work.busy.values()))
        spent = sum(work.before.values(), start=longest)
        launch = np.full(len(cases), self.data.launch)
        terms = {name: ops.per_case(t) for name, t in {**work.before, **work.busy}.items()}
        through = stalled(
            ops,
            self.latency_layers,
            work.busy,
            {"launch": once(ops, self.data.launch), **work.before},
        )
        counts = {name: ops.per_case(count) for name, count in work.events.items()}
        counts["static_power"] = ops.per_case(spent) + launch
        return {**terms, "launch": launch}, through, counts

    def _terms(self, counts: Mapping[str, Floats], price: Prices) -> dict[str, Floats]:
        """Joule by term: each event times its price."""
        found: dict[str, Floats] = {}
        for name, count in counts.items():
            (term,) = self.moves[name]
            found[term] = found.get(term, np.zeros(1)) + count * price(name)
        return found

    def _engines(self, cases: Cases) -> list[Engines]:
        """The engines of each operator, by rank."""
        per_operator = cases.operators.per_operator
        return [
            Engines(*map(per_operator, table[:, cases.precision]))
            for table in self._engine_tables
        ]

    def _laid_out(self, cases: Cases, *memories: str) -> Layout:
        """Operators on the only engine of their precision, behind these memories."""
        ops = cases.operators
        (engines,), moved = self._engines(cases), tensors(cases)
        tiling = cut(ops, engines)
        innermost = sum(streamed(moved, tiling), start=np.zeros(len(ops)))
        crossing = levels(innermost, ops, moved, self._capacity(*memories))
        cycles = tiling.cycles + self._slots(ops, engines)
        return Layout(engines, moved, tiling, cycles / self.data.clock, crossing)

    def _engine(self, precision: Precision) -> Engine:
        """The only engine of a precision."""
        (engine,) = (x for x in self.data.engines if x.precision is precision)
        return engine

    def _passing(self, crossing: Mapping[str, Floats]) -> dict[str, Floats]:
        """Seconds that bytes take across each memory."""
        return {name: count / self._bandwidth(name) for name, count in crossing.items()}

    def _slots(self, ops: OperatorColumns, engines: Engines) -> Floats:
        """Cycles of the operations that are no MACs: each takes the slot of one."""
        slots: Floats = ops.other_ops / (engines.rate * engines.units)
        return slots

    def _capacity(self, *names: str) -> list[float]:
        """Bytes of each of these memories, all its parts together."""
        found = [self.data.memories[name].capacity for name in names]
        return [float(capacity) for capacity in found if capacity is not None]

    def _bandwidth(self, name: str) -> float:
        bandwidth = self.data.memories[name].bandwidth
        assert bandwidth is not None  # noqa: S101 - machine files state it
        return bandwidth


def served(crossing: Sequence[Floats], prices: Sequence[Floats | float]) -> Floats:
    """Joule of bringing each byte from the level that serves it.

    A byte that level l serves crosses all levels inside it too, so that

        sum_l Q_l e_l = sum_l (Q_l - Q_(l+1)) (e_1 + ... + e_l)

    (summation by parts), with Q_l the bytes across level l, from near to far.
    """
    energy = np.zeros(len(crossing[0]))
    price: Floats | float = 0.0
    beyond = [*crossing[1:], np.zeros(len(crossing[0]))]
    for here, further, own in zip(crossing, beyond, prices, strict=True):
        price = price + own
        energy = energy + (here - further) * price
    return energy

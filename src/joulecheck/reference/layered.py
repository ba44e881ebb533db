"""What all reference models share: coefficients under scale, and the protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Coefficient, Layer, check_scale
from joulecheck.composition import Composition
from joulecheck.errors import Unsupported
from joulecheck.estimate import Deferred, Estimate
from joulecheck.knob import Knob, KnobKind
from joulecheck.machine import Machine, Memory
from joulecheck.model import COSTS, UNSCALED, Scale, Scales
from joulecheck.quantities import BITS_PER_BYTE
from joulecheck.reference.derivation import UNITS, derived
from joulecheck.reference.machine_file import MachineFile
from joulecheck.reference.traffic import Widths
from joulecheck.workload import Precision, Totals
from joulecheck.workload.columns import PARTIAL_SUM_BYTES, PRECISIONS, Floats, Ints

OPERANDS: Final = frozenset({"input", "weight", "output"})

BY_PRECISION: Final = ("mac_energy", "op_energy")
"""The prices that a machine file states once a precision."""

Part = Layer | str
"""A layer, which stands for all up to it, or a kind of energy that is a sub-total."""

ENGINE_FIELDS: Final = 5
"""Numbers that describe an engine: its tile of three, its rate and its units."""


def widths_of(cases: Cases) -> Widths:
    """The widths of each operator of a batch, (ops,)."""
    ops = cases.operators
    seen = ops.instances * ops.m * ops.k
    return Widths(
        ops.per_operator(cases.bits) / BITS_PER_BYTE,
        ops.per_operator(PARTIAL_SUM_BYTES[cases.precision]),
        np.where(ops.macs > 0, ops.input_elements / seen, 1.0),
    )


class Coefficients:
    """The values of a model's coefficients under the scales of one batch."""

    def __init__(self, declared: Mapping[str, Coefficient], scales: Scales) -> None:
        """Hold them.

        Raises:
            UnknownName: a scale names no coefficient.
            InvalidScale: a factor is no finite number of at least 0.
        """
        check_scale(declared, scales)
        self._declared = declared
        self._scales = scales

    def __getitem__(self, name: str) -> Floats | float:
        """A value, one a case where it is scaled."""
        return self._declared[name].value * self._scales.get(name, 1.0)

    def get(self, name: str) -> Floats | float:
        """A value, or 0 for what the machine has no coefficient of."""
        return self[name] if name in self._declared else 0.0

    def by_precision(self, stem: str, precision: Ints) -> Floats:
        """The coefficient `stem.PRECISION` of each case's precision."""
        table = np.full(len(PRECISIONS), np.nan)
        for index, one in enumerate(PRECISIONS):
            name = f"{stem}.{one.name}"
            if name in self._declared:
                table[index] = self._declared[name].value
        values = table[precision]
        for name, factors in self._scales.items():
            if name.startswith(f"{stem}."):
                scaled = PRECISIONS.index(Precision[name.removeprefix(f"{stem}.")])
                values = np.where(precision == scaled, values * factors, values)
        return values


class Prices:
    """The coefficients of a batch, of which only some are charged.

    `element` and `partial` are the bytes of an element and of a partial sum, (cases,).
    """

    def __init__(self, charged: Container[str], e: Coefficients, cases: Cases) -> None:
        """Charge for some events.

        Args:
            charged: the coefficients that are not 0.
            e: the values.
            cases: whose precisions decide some of them.
        """
        self.element: Floats = cases.bits / BITS_PER_BYTE
        self.partial = PARTIAL_SUM_BYTES[cases.precision]
        self._charged = charged
        self._e = e
        self._precision = cases.precision

    def __call__(self, name: str) -> Floats | float:
        """The price `name`, or 0."""
        if name not in self._charged:
            return 0.0
        if name in BY_PRECISION:
            return self._e.by_precision(name, self._precision)
        return self._e[name]


Rates = Mapping[str, float]
"""Events a second, by the coefficient that prices them."""


def dearest(e: Mapping[str, float], *uses: Rates) -> Rates:
    """Of several uses of one resource, that which draws the most power.

    Args:
        e: the values of the coefficients.
        uses: of which one goes on at a time.
    """
    return max(uses, key=lambda use: sum(rate * e[name] for name, rate in use.items()))


class LayeredModel(ABC):
    """A reference model: energy by term and layer, latency by term, vectorised.

    Subclasses count events and time; the scalar path is a batch of one.
    """

    term_layers: ClassVar[Mapping[str, Layer]]
    """The layer of each energy term that a machine of the class may have."""
    latency_layers: ClassVar[Mapping[str, Layer]]
    """Of each latency term that a machine of the class may have."""
    subtotals: ClassVar[Mapping[str, Sequence[str]]]
    """The energy terms of computing, moving data and controlling, and all of these."""
    smooth: ClassVar[frozenset[str]] = frozenset({"dram"})
    """Memories beyond the chip whose traffic grows no faster than its room shrinks."""
    moves: ClassVar[Mapping[str, frozenset[str]]]
    """The energy terms that each coefficient moves; `mac_energy` stands for all its
    precisions."""
    saves: ClassVar[Mapping[str, frozenset[str]]]
    """By memory: the energy terms that more capacity of it never raises."""
    per_unit: ClassVar[frozenset[str]] = frozenset()
    """The memories of which each unit has its own, as large as the file states."""
    units_are_copies: ClassVar[bool] = True
    """Whether more units are more of the same, and no larger array."""

    operators = frozenset({"gemm", "conv2d", "elementwise", "subgraph"})

    def __init__(self, data: MachineFile) -> None:
        """Build the model of one machine."""
        self.name = data.name
        self.data = data
        self.precisions = frozenset(data.peak)

    @cached_property
    def machine(self) -> Machine:
        """The machine as the harness knows it, and what passes its memories."""
        machine = self.data.machine
        return attrs.evolve(
            machine,
            memories={name: self._passed(name, m) for name, m in machine.memories.items()},
        )

    def _passed(self, name: str, memory: Memory) -> Memory:
        """A memory with the operands that it carries, and how often it is there.

        A home carries what lies there, other memories every operand, unless a class
        says otherwise.
        """
        del name
        return attrs.evolve(memory, carries=memory.homes or OPERANDS)

    @property
    @abstractmethod
    def latency_composition(self) -> Composition:
        """What of the latency terms overlaps, and what waits for what."""

    @cached_property
    def layers(self) -> dict[str, Layer]:
        """The layer of each energy term that this machine has a coefficient for."""
        priced = {term for name in self.data.coefficients for term in self._moved_by(name)}
        return {term: x for term, x in self.term_layers.items() if term in priced}

    @property
    def splits(self) -> frozenset[str]:
        """The dimensions that may be cut anywhere; none unless a class says so."""
        return frozenset()

    @property
    def gradual(self) -> bool:
        """Whether one element more costs at most a quantum: without waves of tiles."""
        return bool(self.splits)

    @property
    def symmetries(self) -> dict[str, tuple[str, ...]]:
        """A convolution is its GEMMs, which do not tell height from width."""
        return {"image": COSTS}

    def _moved_by(self, coefficient: str) -> frozenset[str]:
        """The energy terms that a coefficient moves."""
        return self.moves[coefficient.partition(".")[0]]

    @cached_property
    def coefficients(self) -> dict[str, Coefficient]:
        """Every coefficient of the machine file, with the terms that it moves."""
        return {
            name: self.data.coefficient(name, self._moved_by(name))
            for name in self.data.coefficients
        }

    @property
    def resident(self) -> dict[str, float]:
        """By home: bytes up to which operands cross its edge once, if a class says so."""
        return {}

    def told(
        self, counts: Callable[[], Mapping[str, Floats]], cases: Cases
    ) -> Mapping[str, Floats]:
        """(cases,) how often each coefficient is charged.

        Worked out when asked for: few laws do, and prices that are stated once a precision
        are many.

        Args:
            counts: gives them by coefficient, those of `BY_PRECISION` without a precision.
            cases: whose precisions decide which of these are charged.
        """
        return Deferred(lambda: self._told(counts(), cases.precision))

    def _told(self, counts: Mapping[str, Floats], precision: Ints) -> dict[str, Floats]:
        rows, none = np.arange(len(precision)), np.zeros(len(precision))
        tables = {stem: np.zeros((len(PRECISIONS), len(rows))) for stem in BY_PRECISION}
        for stem, table in tables.items():
            table[precision, rows] = counts.get(stem, 0.0)
        found = {}
        for name in self.coefficients:
            stem, _, stated = name.partition(".")
            if stated:
                found[name] = tables[stem][PRECISIONS.index(Precision[stated])]
            else:
                found[name] = counts.get(name, none)
        return found

    @cached_property
    def charged(self) -> dict[Part, frozenset[str]]:
        """The coefficients up to each layer, and those of each kind that is no layer."""
        order, layers = tuple(Layer), self.term_layers
        found: dict[Part, frozenset[str]] = {}
        for layer in dict.fromkeys(layers.values()):
            inner = order[: order.index(layer) + 1]
            found[layer] = self._movers(t for t, of in layers.items() if of in inner)
        for kind in ("all_movement", "all_control"):
            found[kind] = self._movers(self.subtotals[kind])
        return found

    def _movers(self, terms: Iterable[str]) -> frozenset[str]:
        """The coefficients that move some of these terms."""
        some = frozenset(terms)
        return frozenset(name for name, moved in self.moves.items() if moved & some)

    def split(
        self, found: Mapping[Part, Floats]
    ) -> tuple[dict[Layer, Floats], dict[str, Floats]]:
        """Joule of each part of `charged`, as prefixes and as sub-totals."""
        through = {part: joule for part, joule in found.items() if isinstance(part, Layer)}
        kinds = {part: joule for part, joule in found.items() if isinstance(part, str)}
        ends = {"all_compute": through[Layer.ALU], "dynamic": through[Layer.DRAM]}
        return through, {**kinds, **ends}

    @cached_property
    def _engine_tables(self) -> list[Floats]:
        """By rank (the first engine of each precision, the second, ...): its fields.

        Each is (5, precisions): rows, columns, depth, MACs a clock of a unit, and units
        that have it. A precision with fewer engines repeats its last.
        """
        found: list[Floats] = []
        seen: Counter[Precision] = Counter()
        for engine in self.data.engines:
            rank, column = seen[engine.precision], PRECISIONS.index(engine.precision)
            if rank == len(found):
                blank = np.full((ENGINE_FIELDS, len(PRECISIONS)), np.nan)
                found.append(found[-1].copy() if found else blank)
            tile = (engine.rows, engine.columns, engine.depth)
            units = engine.units or self.data.units
            for table in found[rank:]:
                table[:, column] = (*tile, engine.macs_per_clock, units)
            seen[engine.precision] += 1
        return found

    @cached_property
    def peak(self) -> Floats:
        """(precisions,) operations a second, NaN where not supported."""
        return np.array([self.data.peak.get(p, np.nan) for p in PRECISIONS])

    @property
    def timed(self) -> tuple[str, ...]:
        """The memories whose bandwidth counts."""
        return tuple(name for name, m in self.data.memories.items() if m.bandwidth)

    @property
    def sized(self) -> tuple[str, ...]:
        """The memories whose capacity counts."""
        return tuple(self.saves)

    @cached_property
    def knobs(self) -> dict[str, Knob]:
        """Every figure that a derived machine may change; see `derivation`."""
        memories = self.data.memories
        rates = {
            f"{name}.bandwidth": Knob(KnobKind.RATE, per_unit=not memories[name].homes)
            for name in self.timed
        }
        capacities = {
            f"{name}.capacity": Knob(
                KnobKind.CAPACITY,
                per_unit=name in self.per_unit,
                terms=terms & self.layers.keys(),
            )
            for name, terms in self.saves.items()
            if name in self.sized
        }
        return {
            "clock": Knob(KnobKind.RATE, per_unit=True),
            **rates,
            **({UNITS: Knob(KnobKind.COUNT, low=1.0)} if self.units_are_copies else {}),
            **capacities,
            "launch": Knob(KnobKind.DELAY),
        }

    def derive(self, factors: Mapping[str, float]) -> LayeredModel:
        """The model of the machine with each of these figures times its factor.

        Raises:
            Unsupported: a number of units is not whole.
        """
        return type(self)(derived(self.data, factors))

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """Answer one case: the batch of one.

        Raises:
            Unsupported: the machine has no such precision, or the workload is totals.
            UnknownName: a scale names no coefficient.
            InvalidScale: a factor is no finite number of at least 0.
        """
        self.require(case)
        return batch_of_one(self.estimate_batch, case, scale)

    def require(self, case: Case) -> None:
        """Refuse what the machine cannot run.

        Raises:
            Unsupported: it has no such precision, or the workload is totals.
        """
        self.require_precision(case.precision)
        if isinstance(case.workload, Totals):
            msg = f"{self.name} needs operators, not totals: their shapes decide"
            raise Unsupported(msg)

    def require_precision(self, precision: Precision) -> None:
        """Refuse a precision that the machine does not have.

        Raises:
            Unsupported: it has no such precision.
        """
        if precision not in self.precisions:
            names = ", ".join(sorted(p.name for p in self.precisions))
            msg = f"{self.name} computes in {names}, not in {precision.name}"
            raise Unsupported(msg)

    def power(self, precision: Precision) -> dict[Layer, float]:
        """Watt of each layer if all that can go on at once goes on at its greatest rate.

        No work at this precision draws more on average.
        """
        e = {name: row.value for name, row in self.data.coefficients.items()}
        found = {Layer.STATIC: e["static_power"]}
        for rates in self._greatest_rates(precision, e):
            for name, rate in rates.items():
                (term,) = self._moved_by(name)
                layer = self.layers[term]
                found[layer] = found.get(layer, 0.0) + rate * e[name]
        return found

    @abstractmethod
    def _greatest_rates(
        self, precision: Precision, e: Mapping[str, float]
    ) -> Iterator[Rates]:
        """The greatest rates of all events; what is yielded apart goes on together.

        Args:
            precision: of the work.
            e: the values of the coefficients, to choose between uses of one resource.
        """

    @abstractmethod
    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """Answer a batch with arrays, one entry a case."""


def batch_of_one(
    estimate_batch: Callable[[Cases, Scales], Estimate], case: Case, scale: Scale
) -> Estimate:
    """The scalar answer of a vectorised model."""
    scales = {name: np.array([factor]) for name, factor in scale.items()}
    found = estimate_batch(Cases.of([case]), scales)
    return Estimate(
        energy=_only(found.energy),
        latency=_only(found.latency),
        utilisation=_only(found.utilisation),
        energy_terms={n: _only(v) for n, v in found.energy_terms.items()},
        latency_terms={n: _only(v) for n, v in found.latency_terms.items()},
        through={layer: _only(v) for layer, v in found.through.items()},
        latency_through={layer: _only(v) for layer, v in found.latency_through.items()},
        subtotals={n: _only(v) for n, v in found.subtotals.items()},
        traffic={n: _only(v) for n, v in found.traffic.items()},
        events=Deferred(lambda: {n: _only(v) for n, v in found.events.items()}),
    )


def _only(value: object) -> float:
    return float(np.asarray(value)[0])

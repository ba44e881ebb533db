"""The figures of a machine that a ledger keeps, and the laws that concern each.

They are the model's coefficients, and the core fields of a hardware description, by the
names that such descriptions use, which stand for coefficients or figures of the machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final

import attrs

from joulecheck.coefficient import Coefficient, Layer, Provenance
from joulecheck.errors import UnknownName, did_you_mean
from joulecheck.model import Offer, Subject
from joulecheck.property import Property
from joulecheck.quantities import OPS_PER_MAC
from joulecheck.workload import Precision

CORE: Final = (
    "compute_units",
    "peak_bandwidth",
    "peak_ops_per_sec",
    "energy_per_flop_fp32",
    "energy_per_byte",
    "energy_scaling",
)
"""What a ledger must have of every machine; two of them once a precision, after a dot."""


class FieldKind(Enum):
    """What a figure is, and so which answers and declarations of a model hang on it."""

    PRICE = "price"
    PEAK = "peak"
    BANDWIDTH = "bandwidth"
    UNITS = "units"


_ENERGY: Final = frozenset(
    {Offer.ENERGY, Offer.ENERGY_TERMS, Offer.LAYERS, Offer.THROUGH, Offer.SUBTOTALS}
)
_LATENCY: Final = frozenset(
    {
        Offer.LATENCY,
        Offer.LATENCY_TERMS,
        Offer.LATENCY_THROUGH,
        Offer.COMPOSITION,
        Offer.UTILISATION,
    }
)
_RATES: Final = frozenset({Offer.KNOBS, Offer.RESOURCES})

ANSWERS: Final[Mapping[FieldKind, frozenset[Offer]]] = {
    FieldKind.PRICE: _ENERGY,
    FieldKind.PEAK: _LATENCY,
    FieldKind.BANDWIDTH: _LATENCY,
    FieldKind.UNITS: _LATENCY,
}
"""The answers that a figure of each kind moves."""

FIGURES: Final[Mapping[FieldKind, frozenset[Offer]]] = {
    FieldKind.PRICE: frozenset({Offer.COEFFICIENTS}),
    FieldKind.PEAK: frozenset({Offer.PEAK}) | _RATES,
    FieldKind.BANDWIDTH: frozenset({Offer.BANDWIDTH}) | _RATES,
    FieldKind.UNITS: frozenset({Offer.PEAK}) | _RATES,
}
"""The declarations in which a figure of each kind is stated."""

_ALL_ANSWERS: Final = frozenset({Offer.TRAFFIC, Offer.EVENTS}).union(*ANSWERS.values())
"""No figure here moves traffic or other counts: shapes and capacities do."""

_ALL_FIGURES: Final = frozenset().union(*FIGURES.values())

STATEFUL: Final = frozenset({"DET", "ROB"})
"""Families about how a model answers and not about what: they concern no figure."""


@attrs.frozen(kw_only=True)
class Field:
    """One figure of one machine."""

    name: str
    kind: FieldKind
    value: float
    unit: str
    declared: Provenance = Provenance.UNKNOWN
    """As the model states it."""
    source: str = ""
    of: tuple[str, ...] = ()
    """The coefficients or figures that it stands for; its own name, if it is one."""

    @property
    def is_core(self) -> bool:
        """Whether every machine must have it in a ledger."""
        return self.name.partition(".")[0] in CORE


def concerns(law: Property, field: Field) -> bool:
    """Whether a law says something of a figure, by what the law needs of a model.

    A law that needs declared figures concerns those, if they move an answer that it
    needs; another one concerns whatever moves its answers. A law that needs no answer
    in particular takes all that there are.
    """
    if law.family in STATEFUL:
        return False
    answers, figures = law.needs & _ALL_ANSWERS, law.needs & _ALL_FIGURES
    moved = not answers or bool(answers & ANSWERS[field.kind])
    stated = not figures or bool(figures & FIGURES[field.kind])
    return moved and stated


def fields_of(subject: Subject) -> dict[str, Field]:
    """All figures of a model by name: the core fields, then its coefficients.

    What is infinite or NaN is no figure.
    """
    found = [*_rates(subject), *_prices(subject)]
    coefficients = [
        _of_coefficient(c.name, c.value, c.unit, c) for c in subject.coefficients.values()
    ]
    every = (*found, *coefficients)
    return {field.name: field for field in every if math.isfinite(field.value)}


def field_named(subject: Subject, name: str) -> Field:
    """One figure of a model.

    Raises:
        UnknownName: it has none of that name.
    """
    fields = fields_of(subject)
    if name not in fields:
        msg = f"{subject.name} has no field {name!r}: {did_you_mean(name, fields)}"
        raise UnknownName(msg)
    return fields[name]


def missing_core(subject: Subject) -> list[str]:
    """The core fields that a model declares nothing of."""
    stems = {name.partition(".")[0] for name in fields_of(subject)}
    return [name for name in CORE if name not in stems]


def _rates(subject: Subject) -> Iterator[Field]:
    machine = subject.machine
    sources = machine.sources
    if machine.units:
        yield Field(
            name="compute_units",
            kind=FieldKind.UNITS,
            value=machine.units,
            unit="",
            source=sources.get("units", ""),
            of=("units",),
        )
    home = home_of(subject)
    if home is not None and (bandwidth := machine.memories[home].bandwidth):
        yield Field(
            name="peak_bandwidth",
            kind=FieldKind.BANDWIDTH,
            value=bandwidth,
            unit="B/s",
            source=sources.get("memories", ""),
            of=(f"{home}.bandwidth",),
        )
    for precision, peak in machine.peak.items():
        yield Field(
            name=f"peak_ops_per_sec.{precision.name}",
            kind=FieldKind.PEAK,
            value=peak,
            unit="op/s",
            source=sources.get("peak", ""),
            of=(f"peak.{precision.name}",),
        )


def home_of(subject: Subject) -> str | None:
    """The memory in which weights lie, or else any external operand."""
    homes = {n: m.homes for n, m in subject.machine.memories.items() if m.homes}
    of_weights = (name for name, operands in homes.items() if "weight" in operands)
    return next(of_weights, next(iter(homes), None))


def _prices(subject: Subject) -> Iterator[Field]:
    byte = _byte_price(subject)
    if byte is not None:
        yield _of_coefficient("energy_per_byte", byte.value, "J/B", byte)
    ops = {
        precision: found
        for precision in subject.precisions
        if (found := _op_price(subject, precision)) is not None
    }
    if not ops:
        return
    base = Precision.FP32 if Precision.FP32 in ops else next(iter(ops))
    first = ops[base]
    field = _of_coefficient("energy_per_flop_fp32", _joule_an_op(first), "J/op", first)
    if base is not Precision.FP32:
        told = f"of {base.name}, for it does not compute in FP32: {field.source}"
        field = attrs.evolve(field, source=told)
    yield field
    for precision, price in ops.items():
        ratio = _joule_an_op(price) / _joule_an_op(first) if first.value else 0.0
        scaling = _of_coefficient(f"energy_scaling.{precision.name}", ratio, "", price)
        weakest = min(price.provenance, first.provenance, key=list(Provenance).index)
        of = tuple(dict.fromkeys((price.name, first.name)))
        yield attrs.evolve(scaling, declared=weakest, of=of)


def _of_coefficient(name: str, value: float, unit: str, of: Coefficient) -> Field:
    return Field(
        name=name,
        kind=FieldKind.PRICE,
        value=value,
        unit=unit,
        declared=of.provenance,
        source=of.source,
        of=(of.name,),
    )


def _byte_price(subject: Subject) -> Coefficient | None:
    """What moves the energy term of the home, or else one of the layer DRAM, by bytes."""
    home = home_of(subject)
    by_bytes = [c for c in subject.coefficients.values() if c.unit == "J/B"]
    of_home = (c for c in by_bytes if home in (c.terms or ()))
    outside = (c for c in by_bytes if _moves(subject, c, Layer.DRAM))
    return next(of_home, next(outside, None))


def _op_price(subject: Subject, precision: Precision) -> Coefficient | None:
    """What a MAC costs in the ALU at a precision, or else another operation."""
    for unit in ("J/MAC", "J/op"):
        for name, coefficient in subject.coefficients.items():
            stated = name.rpartition(".")[2]
            applies = stated == precision.name or stated not in Precision.__members__
            if (
                coefficient.unit == unit
                and applies
                and _is_arithmetic(subject, coefficient)
            ):
                return coefficient
    return None


def _is_arithmetic(subject: Subject, coefficient: Coefficient) -> bool:
    return not subject.layers or _moves(subject, coefficient, Layer.ALU)


def _moves(subject: Subject, coefficient: Coefficient, layer: Layer) -> bool:
    if coefficient.terms is None:
        return False
    return any(subject.layers.get(term) is layer for term in coefficient.terms)


def _joule_an_op(price: Coefficient) -> float:
    return price.value / OPS_PER_MAC if price.unit == "J/MAC" else price.value

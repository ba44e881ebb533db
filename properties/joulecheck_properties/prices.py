"""What a model declares of prices and sizes, as its laws need it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Coefficient, Layer
from joulecheck.estimate import Answers
from joulecheck.machine import Memory
from joulecheck.model import Subject
from joulecheck.quantities import OPS_PER_MAC
from joulecheck.workload import Precision
from joulecheck.workload.columns import PRECISIONS, Floats

Pick = Callable[[Iterable[float]], float]


def byte_prices(model: Subject) -> Mapping[str, float]:
    """Joule a byte at least, for each memory with an energy term of its name."""
    found: dict[str, float] = {}
    for coefficient in model.coefficients.values():
        for name in coefficient.terms or ():
            if coefficient.unit == "J/B" and name in model.machine.memories:
                found[name] = min(coefficient.value, found.get(name, np.inf))
    return found


def traffic_prices(model: Subject) -> Mapping[str, tuple[float, float]]:
    """The least and the greatest J/B of each memory whose energy is all for bytes.

    Those are the memories with an energy term of their name which coefficients in J/B
    move, and no others may.
    """
    found = {}
    for name in model.machine.memories:
        movers = [c for c in model.coefficients.values() if c.terms and name in c.terms]
        claimless = any(c.terms is None for c in model.coefficients.values())
        if movers and not claimless and all(c.unit == "J/B" for c in movers):
            values = [c.value for c in movers]
            found[name] = min(values), max(values)
    return found


def moved_in(model: Subject, layer: Layer, units: Collection[str]) -> bool:
    """Whether a layer has terms, and coefficients of these units alone may move them."""
    terms = {name for name, one in model.layers.items() if one is layer}
    movers = [
        c
        for c in model.coefficients.values()
        if c.terms is None or not c.terms.isdisjoint(terms)
    ]
    return bool(terms and movers) and all(c.unit in units for c in movers)


def static_power(model: Subject) -> float:
    """Watt, of the coefficients that move a term of the layer STATIC."""
    return sum(
        coefficient.value
        for coefficient in model.coefficients.values()
        if coefficient.unit == "W"
        and any(model.layers.get(t) is Layer.STATIC for t in coefficient.terms or ())
    )


def static_terms(model: Subject, answers: Answers) -> Mapping[str, Floats]:
    """(n,) joule of each term of the layer STATIC."""
    return _of_layer(model, answers, Layer.STATIC)


def alu_terms(model: Subject, answers: Answers) -> Mapping[str, Floats]:
    """(n,) joule of each term of the layer ALU."""
    return _of_layer(model, answers, Layer.ALU)


def _of_layer(model: Subject, answers: Answers, layer: Layer) -> Mapping[str, Floats]:
    return {
        name: joule
        for name, joule in answers.energy_terms.items()
        if model.layers.get(name) is layer
    }


def arithmetic_prices(model: Subject) -> tuple[Floats, Floats]:
    """(precisions,) joule at least of a MAC, and of any other operation; 0 if not stated.

    A coefficient in J/MAC or J/op counts if it may move a term of the layer ALU; where
    no layers are declared, any does. One whose name ends in a dot and a precision, such
    as `mac_energy.INT8`, is of that precision, others are of all.
    """
    mac, op = _mac_and_op(model, min)
    return np.nan_to_num(mac), np.nan_to_num(op)


def greatest_arithmetic_prices(model: Subject) -> tuple[Floats, Floats]:
    """(precisions,) joule at most of a MAC, and of any other operation; NaN if not stated.

    The coefficients are those of `arithmetic_prices`.
    """
    return _mac_and_op(model, max)


def _mac_and_op(model: Subject, pick: Pick) -> tuple[Floats, Floats]:
    mac, op = (_extreme(model, unit, pick) for unit in ("J/MAC", "J/op"))
    return np.where(np.isnan(mac), OPS_PER_MAC * op, mac), op


def _extreme(model: Subject, unit: str, pick: Pick) -> Floats:
    values: dict[int, list[float]] = {}
    for name, coefficient in model.coefficients.items():
        if coefficient.unit == unit and _is_arithmetic(model, coefficient):
            for index in _precisions(name):
                values.setdefault(index, []).append(coefficient.value)
    found = np.full(len(PRECISIONS), np.nan)
    for index, some in values.items():
        found[index] = pick(some)
    return found


def _is_arithmetic(model: Subject, coefficient: Coefficient) -> bool:
    if not model.layers or coefficient.terms is None:
        return True
    return any(model.layers.get(term) is Layer.ALU for term in coefficient.terms)


def _precisions(name: str) -> Iterable[int]:
    """Indices of the precisions that a coefficient of this name is for."""
    stated = name.rpartition(".")[2]
    if stated in Precision.__members__:
        return (PRECISIONS.index(Precision[stated]),)
    return range(len(PRECISIONS))


def arithmetic_bound(model: Subject, cases: Cases) -> Floats:
    """(n,) joule at least of all operations of each case."""
    return priced_operations(arithmetic_prices(model), cases)


def priced_operations(prices: tuple[Floats, Floats], cases: Cases) -> Floats:
    """(n,) joule of all operations of each case at these prices; NaN where one is."""
    mac, op = (price[cases.precision] for price in prices)
    others = cases.ops - OPS_PER_MAC * cases.macs
    joule: Floats = np.where(cases.macs > 0, cases.macs * mac, 0.0)
    return joule + np.where(others > 0, others * op, 0.0)


def memory_times(model: Subject, cases: Cases, answers: Answers) -> dict[str, Floats]:
    """(n,) seconds that each memory with a bandwidth takes at least.

    Its bytes are those that the model tells, as traffic or as events of the memory's own
    prices, and no fewer than those of the operands that it carries or is the home of,
    each once.
    """
    found, owners = {}, own_byte_prices(model)
    for name, memory in model.machine.memories.items():
        if memory.bandwidth:
            crossing = compulsory_bytes(cases, memory.homes | memory.carries)
            if name in answers.traffic:
                crossing = np.fmax(crossing, answers.traffic[name])
            for price in owners.get(name, ()):
                if price in answers.events:
                    crossing = np.fmax(crossing, answers.events[price])
            found[name] = crossing / memory.bandwidth
    return found


def own_byte_prices(model: Subject) -> Mapping[str, tuple[str, ...]]:
    """The coefficients in J/B that move the energy term of a memory, and no other term."""
    return {
        name: owners
        for name in model.machine.memories
        if (
            owners := tuple(
                price
                for price, coefficient in model.coefficients.items()
                if coefficient.unit == "J/B" and coefficient.terms == frozenset({name})
            )
        )
    }


def passing(model: Subject) -> Mapping[str, Memory]:
    """The memories with a bandwidth of which it is known what passes them."""
    owners = own_byte_prices(model)
    return {
        name: memory
        for name, memory in model.machine.memories.items()
        if memory.bandwidth
        and (
            memory.homes
            or memory.carries
            or name in model.traffic
            or not model.events.isdisjoint(owners.get(name, ()))
        )
    }


def compulsory_bytes(cases: Cases, operands: Iterable[str]) -> Floats:
    """(n,) bytes of the external tensors of these roles, each once."""
    roles = (getattr(cases.compulsory, role) for role in sorted(operands))
    return np.asarray(sum(roles, start=np.zeros(len(cases))))

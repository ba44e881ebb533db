"""What a model declares of prices and sizes, as its laws need it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Coefficient, Layer
from joulecheck.model import Subject
from joulecheck.quantities import OPS_PER_MAC
from joulecheck.workload import Precision
from joulecheck.workload.columns import PRECISIONS, Floats


def byte_prices(model: Subject) -> Mapping[str, float]:
    """Joule a byte at least, for each memory with an energy term of its name."""
    found: dict[str, float] = {}
    for coefficient in model.coefficients.values():
        for name in coefficient.terms or ():
            if coefficient.unit == "J/B" and name in model.machine.memories:
                found[name] = min(coefficient.value, found.get(name, np.inf))
    return found


def arithmetic_prices(model: Subject) -> tuple[Floats, Floats]:
    """(precisions,) joule at least of a MAC, and of any other operation; 0 if not stated.

    A coefficient in J/MAC or J/op counts if it may move a term of the layer ALU; where
    no layers are declared, any does. One whose name ends in a dot and a precision, such
    as `mac_energy.INT8`, is of that precision, others are of all.
    """
    mac, op = (_least(model, unit) for unit in ("J/MAC", "J/op"))
    mac = np.where(np.isinf(mac), OPS_PER_MAC * op, mac)
    return np.where(np.isinf(mac), 0.0, mac), np.where(np.isinf(op), 0.0, op)


def _least(model: Subject, unit: str) -> Floats:
    found = np.full(len(PRECISIONS), np.inf)
    for name, coefficient in model.coefficients.items():
        if coefficient.unit == unit and _is_arithmetic(model, coefficient):
            for index in _precisions(name):
                found[index] = min(found[index], coefficient.value)
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
    mac, op = (price[cases.precision] for price in arithmetic_prices(model))
    others = cases.ops - OPS_PER_MAC * cases.macs
    bound: Floats = cases.macs * mac + others * op
    return bound


def compulsory_bytes(cases: Cases, operands: Iterable[str]) -> Floats:
    """(n,) bytes of the external tensors of these roles, each once."""
    roles = (getattr(cases.compulsory, role) for role in sorted(operands))
    return np.asarray(sum(roles, start=np.zeros(len(cases))))

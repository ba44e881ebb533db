"""SCL005."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Derivation, DerivedCase, DerivedCases
from joulecheck.estimate import Answers
from joulecheck.knob import KnobKind
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import equality, least
from joulecheck_strategies import derivations
from joulecheck_strategies.derivations import required

TOLERANCE: Final = 1e-9

PICO: Final = 2.0**40
"""Units that make up a joule: about 10^12, and a power of two, which rounds nothing."""

NANO: Final = 2.0**30
"""Units that make up a second: about 10^9."""

UNITS: Final = ((1.0, NANO), (PICO, 1.0), (PICO, NANO))
"""(units a joule, units a second)."""


class ChangeOfUnits(Property):
    """Other units of energy and time change the numbers by those units and no more.

    Statement:
        Let a joule be e units of energy and a second t units of time. With all rates
        over t, delays times t, prices in joule times e and powers times e / t, energies
        are e times and times t times what they were; the utilisation stays.

    Rationale:
        Physics knows no units. A constant in joule, second or watt that no declared
        figure carries, a mix of nanoseconds and cycles, or a power that is taken for an
        energy breaks it.

    Domain:
        Models that declare all their rates, delays and energy coefficients. Coefficients
        in other units are left alone.

    Tolerance:
        1e-9: exact, up to rounding; the units are powers of two, which round nothing.

    Source:
        Dimensional analysis: Buckingham, On physically similar systems, Physical Review
        4, 1914.

    Planted bug:
        idle-tail: static power is paid for a microsecond after the end.

    Shrinks to:
        The GEMM of one MAC in units of about a nanosecond.

    Stays because:
        SCL001 and SCL002 each find one half of it, and BND015 a power that no coefficient
        declares, in a static term. Without such a term, whatever has a joule and a second
        in its unit shows by this law alone.
    """

    id: ClassVar = "SCL005"
    name: ClassVar = "change-of-units"
    needs: ClassVar = frozenset(
        {Offer.ENERGY, Offer.LATENCY, Offer.COEFFICIENTS, Offer.KNOBS}
    )
    planted: ClassVar = Planted(
        fault="idle-tail",
        model="reference:Intel-i7-12700K",
        shrinks_to=DerivedCase(
            Case(Gemm(m=1, n=1, k=1)),
            Derivation(
                {
                    "clock": 1 / NANO,
                    "l1.bandwidth": 1 / NANO,
                    "l2.bandwidth": 1 / NANO,
                    "l3.bandwidth": 1 / NANO,
                    "dram.bandwidth": 1 / NANO,
                    "launch": NANO,
                },
                {"static_power": 1 / NANO},
            ),
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads on the same machine in other units of time, energy or both."""
        required(model, KnobKind.RATE)
        return derivations(model, (_in_units(model, *units) for units in UNITS))

    def margin(self, model: Subject, cases: DerivedCases) -> Floats:
        """Tolerance less the greatest relative difference."""
        units = [_units_of(model, derivation) for derivation in cases.derivations]
        joule, second = np.array(units).reshape(-1, 2)[cases.which].T
        before, after = model.ask(cases.cases), model.ask_derived(cases)
        pairs = _pairs(before, after, joule, second)
        return least((equality(a, b, TOLERANCE) for a, b in pairs), len(cases))


def _in_units(model: Subject, joule: float, second: float) -> Derivation:
    """The machine in units of which `joule` make a joule and `second` a second."""
    factors = dict.fromkeys(model.knobs_of(KnobKind.RATE), 1 / second)
    factors |= dict.fromkeys(model.knobs_of(KnobKind.DELAY), second)
    scale = {
        name: joule / second if _is_power(model, name) else joule
        for name in model.energy_coefficients
    }
    return Derivation(_moved(factors), _moved(scale))


def _is_power(model: Subject, coefficient: str) -> bool:
    return model.coefficients[coefficient].unit.startswith("W")


def _moved(factors: dict[str, float]) -> dict[str, float]:
    return {name: factor for name, factor in factors.items() if factor != 1.0}


def _units_of(model: Subject, derivation: Derivation) -> tuple[float, float]:
    """The units in which a derivation puts all figures of a machine; NaN if in none."""
    rate = next(iter(model.knobs_of(KnobKind.RATE)))
    second = 1 / derivation.factors.get(rate, 1.0)
    price = next(iter(model.energy_coefficients))
    joule = derivation.scale.get(price, 1.0)
    joule *= second if _is_power(model, price) else 1.0
    same = _in_units(model, joule, second) == derivation
    return (joule, second) if same else (np.nan, np.nan)


def _pairs(
    before: Answers, after: Answers, joule: Floats, second: Floats
) -> Iterator[tuple[Floats, Floats]]:
    """What is and what should be."""
    yield after.energy, before.energy * joule
    yield after.latency, before.latency * second
    yield after.utilisation, before.utilisation * (joule / joule)
    for name, energy in before.energy_terms.items():
        yield after.energy_term(name), energy * joule
    for name, time in before.latency_terms.items():
        yield after.latency_terms.get(name, after.absent), time * second
    for layer, energy in before.through.items():
        if layer in after.through:
            yield after.through[layer], energy * joule

"""CMP010."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.errors import NotOffered
from joulecheck.estimate import Answers
from joulecheck.model import UNSCALED, Offer, Scales, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import equality, least
from joulecheck_strategies import workloads

TOLERANCE: Final = 1e-9

HIGHEST: Final = 2.0
"""By which the last coefficient is scaled; no two are scaled alike."""


class TermsArePricesTimesEvents(Property):
    """Each energy term is its events, each at the price that is declared for it.

    Statement:
        E_t = sum_c v_c s_c n_c for every energy term t, over the coefficients c that move
        it, with the value v_c, the factor s_c that scales it, and the events n_c that the
        model counts. Where coefficients move several terms, the sum of these terms.

    Rationale:
        Half the price of all instructions is the price of half of them: without a count,
        a price of control that is read in the wrong unit, or the larger of two prices for
        both, is one more price. With it, terms, prices and counts close like a ledger.

    Domain:
        Terms that coefficients in J or W alone may move, of each of which the model tells
        the events, unscaled and with all coefficients scaled, each by a factor of its
        own. Not where a coefficient claims no term, for it may move any. What is compared
        is of one answer, so that a mapping may depend on prices.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Action counts times energy an action: Wu, Emer and Sze, Accelergy, ICCAD 2019.

    Planted bug:
        femtojoules: a control price in picojoule is read as one in femtojoule.

    Shrinks to:
        The GEMM of one MAC.
    """

    id: ClassVar = "CMP010"
    name: ClassVar = "terms-are-prices-times-events"
    needs: ClassVar = frozenset({Offer.ENERGY_TERMS, Offer.EVENTS, Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="femtojoules",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if not _accounts(model):
            msg = (
                "it has no energy term that coefficients in J or W alone may move and of "
                "all of which it tells the events"
            )
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over the terms, unscaled and scaled."""
        accounts = _accounts(model)
        factors = np.linspace(1, HIGHEST, len(model.coefficients) + 1)[1:].tolist()
        apart = {
            name: np.full(len(cases), factor)
            for name, factor in zip(model.coefficients, factors, strict=True)
        }
        margins = []
        for scales in (UNSCALED, apart):
            answers = model.ask(cases, scales)
            margins += [
                equality(
                    sum(map(answers.energy_term, terms), start=np.zeros(len(cases))),
                    _charged(model, movers, answers, scales),
                    TOLERANCE,
                )
                for terms, movers in accounts.items()
            ]
        return least(margins, len(cases))


def _accounts(model: Subject) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """The coefficients that move each set of terms which some coefficient joins.

    Only where they all are energies, and the model tells the events of each.
    """
    if any(c.terms is None for c in model.coefficients.values()):
        return {}
    joined: dict[str, frozenset[str]] = {}
    for coefficient in model.coefficients.values():
        terms = coefficient.terms or frozenset()
        group = terms.union(*(joined.get(term, ()) for term in terms))
        joined |= dict.fromkeys(group, group)
    found = {}
    for group in dict.fromkeys(joined.values()):
        movers = [
            name
            for name, coefficient in model.coefficients.items()
            if not group.isdisjoint(coefficient.terms or ())
        ]
        if all(n in model.events and model.coefficients[n].is_energy for n in movers):
            found[tuple(sorted(group))] = tuple(movers)
    return found


def _charged(
    model: Subject, names: tuple[str, ...], answers: Answers, scales: Scales
) -> Floats:
    """(n,) joule of all events of these coefficients; NaN where a count is not told."""
    none = np.full(len(answers), np.nan)
    joule = np.zeros(len(answers))
    for name in names:
        price = model.coefficients[name].value * scales.get(name, 1.0)
        joule = joule + price * answers.events.get(name, none)
    return joule

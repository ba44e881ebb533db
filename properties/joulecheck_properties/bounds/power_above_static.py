"""BND010."""

from __future__ import annotations

from typing import ClassVar

from joulecheck.case import Case, Cases
from joulecheck.errors import NotOffered
from joulecheck.estimate import Answers, total
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most
from joulecheck_properties.prices import static_power, static_terms
from joulecheck_strategies import workloads


class PowerAboveStatic(Property):
    """Average power is at least the static power.

    Statement:
        E(w) >= P_static x T(w), with P_static the sum of the coefficients in W that move
        a term of the layer STATIC.

    Rationale:
        A machine that waits for its memory goes on leaking. Static power that is charged
        for the compute time alone, or that is left out of the total, undercuts it.

    Domain:
        Models that declare such a coefficient. Where the scope of the total leaves the
        static terms out, they are held to the bound instead. A model that gates the
        power of idle parts declares an exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Kim et al., Leakage Current: Moore's Law Meets Static Power, IEEE Computer
        36(12), 2003.

    Planted bug:
        dropped-term: the total leaves out static power.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        CMP010 finds a static power that is read too low where a model tells its events and
        terms. This law needs a total and a latency.
    """

    id: ClassVar = "BND010"
    name: ClassVar = "power-above-static"
    needs: ClassVar = frozenset(
        {Offer.ENERGY, Offer.LATENCY, Offer.LAYERS, Offer.COEFFICIENTS}
    )
    planted: ClassVar = Planted(
        fault="dropped-term",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if not static_power(model):
            msg = "it declares no coefficient in W that moves a term of the layer STATIC"
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """How far static energy stays below the total."""
        answers = model.ask(cases)
        bound = static_power(model) * answers.latency
        return at_most(bound, _charged(model, answers))


def _charged(model: Subject, answers: Answers) -> Floats:
    """Joule that include static energy."""
    static = static_terms(model, answers)
    if answers.scope is None or static.keys() <= answers.scope:
        return answers.energy
    return total(static, len(answers))

"""BND017."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.errors import NotOffered
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most, least
from joulecheck_strategies import workloads


class LaunchAsDeclared(Property):
    """What passes before work starts takes as long as the machine states.

    Statement:
        d <= t_d <= n d for every latency term t_d that is called like a delay d of the
        machine's resources, with n the operators of the workload.

    Rationale:
        A launch is a constant that no law of work sees: it is non-negative, grows with
        nothing, and scales with every rate. Read in nanoseconds for microseconds it
        decides the latency of all small work, or vanishes from it.

    Domain:
        Delays that have a latency term of their name, which are in seconds. A fused
        graph may start once, another each operator by itself.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The definition of a delay: Hockney, The Communication Challenge for MPP, Parallel
        Computing 20(3), 1994, where a time is a start-up and a volume over a rate.

    Planted bug:
        launch-in-milliseconds: a launch in microseconds is read as milliseconds.

    Shrinks to:
        The GEMM of one MAC.
    """

    id: ClassVar = "BND017"
    name: ClassVar = "launch-as-declared"
    needs: ClassVar = frozenset({Offer.LATENCY_TERMS, Offer.RESOURCES})
    planted: ClassVar = Planted(
        fault="launch-in-milliseconds",
        model="reference:H100-SXM5-80GB",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        delays = _delays(model).keys()
        if not delays & (model.latency_layers.keys() or delays):
            msg = "its machine's resources name no delay that is a latency term"
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over the delays with a term, on both sides."""
        terms = model.ask(cases).latency_terms
        margins = []
        for name, delay in _delays(model).items():
            if name in terms:
                once = np.full(len(cases), delay)
                each = delay * cases.operators.per_case(np.ones(len(cases.operators)))
                margins += [at_most(once, terms[name]), at_most(terms[name], each)]
        return least(margins, len(cases))


def _delays(model: Subject) -> Mapping[str, float]:
    resources = model.machine.resources
    return resources.delays if resources else {}

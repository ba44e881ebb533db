"""CMP008."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Layer
from joulecheck.composition import composed, goes_by_operator
from joulecheck.estimate import Answers, total
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most, equality, least
from joulecheck_strategies import workloads

TOLERANCE: Final = 1e-9
_ORDER: Final = tuple(Layer)


class LatencyPrefixesAgree(Property):
    """The latency up to a layer agrees with the terms up to it, the last with the whole.

    Statement:
        Let T_l be the model's own latency up to layer l (`latency_through`), and t_i the
        latency terms whose layer is l or further in. Then max_i t_i <= T_l <= sum_i t_i,
        T_l = f(t_i) where a composition f is declared (>= for a graph that f takes
        operator by operator), and the last T_l is the latency.

    Rationale:
        Two errors that cancel in the whole show in a prefix: a memory that is timed in
        another layer than it is paid in, or a launch that only the whole includes.

    Domain:
        Models that predict latency by layer. The terms are held to it where the model
        declares the layers of all of them.

    Tolerance:
        1e-9: exact, up to rounding, for a path of its own.

    Source:
        The execution is the same, with nothing to wait for further out.

    Planted bug:
        unlaunched-prefix: no prefix includes the launch.

    Shrinks to:
        The GEMM of one MAC.
    """

    id: ClassVar = "CMP008"
    name: ClassVar = "latency-prefixes-agree"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.LATENCY_THROUGH})
    planted: ClassVar = Planted(
        fault="unlaunched-prefix",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over the layers, and of the last against the latency."""
        answers = model.ask(cases)
        last = np.full(len(cases), np.nan)
        for layer in _ORDER:
            if layer in answers.latency_through:
                found = answers.latency_through[layer]
                last = np.where(np.isnan(found), last, found)
        margins = [equality(last, answers.latency, TOLERANCE)]
        if answers.latency_terms.keys() <= model.latency_layers.keys():
            margins += _by_layer(model, cases, answers)
        return least(margins, len(cases))


def _by_layer(model: Subject, cases: Cases, answers: Answers) -> Iterator[Floats]:
    composition, size = model.latency_composition, len(cases)
    exact = np.zeros(size, dtype=bool)
    if composition is not None:
        exact = cases.operators.single | (not goes_by_operator(composition))
    for layer, predicted in answers.latency_through.items():
        inner = _ORDER[: _ORDER.index(layer) + 1]
        terms = {
            name: time
            for name, time in answers.latency_terms.items()
            if model.latency_layers[name] in inner
        }
        longest = np.maximum.reduce([np.zeros(size), *terms.values()])
        yield at_most(longest, predicted)
        yield at_most(predicted, total(terms, size))
        if composition is not None:
            expected = composed(composition, terms, size)
            equal = equality(predicted, expected, TOLERANCE)
            yield np.where(exact, equal, at_most(expected, predicted))

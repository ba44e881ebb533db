"""BND012."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.estimate import Answers
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Elementwise, Function
from joulecheck.workload.columns import Bools, Floats
from joulecheck_properties.answered import offered_numbers
from joulecheck_strategies import work_without_macs


class ZeroWork(Property):
    """Work without MACs, operations or bytes has finite numbers that are not negative.

    Statement:
        0 <= x < infinity for the energy, the latency, the utilisation and every term of
        them, where the MACs of a workload are 0; of totals, where the operations or the
        bytes are.

    Rationale:
        An average over MACs, an intensity over bytes or a number of tiles divides by
        zero where there are none, and a network has many such layers.

    Domain:
        Graphs of elementwise functions, and totals with a 0.

    Tolerance:
        None: the margin is 1 or -1.

    Source:
        Arithmetic.

    Planted bug:
        per-mac: the model divides by the number of MACs.

    Shrinks to:
        RELU of one element.

    Stays because:
        ROB001, ROB002 and MON001 find the same among all other work. This law draws
        nothing else, and so says that it is work without MACs that fails.
    """

    id: ClassVar = "BND012"
    name: ClassVar = "zero-work"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="per-mac",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Elementwise(Function.RELU, (1, 1, 1, 1))),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Graphs of elementwise functions, or totals that may be 0."""
        return work_without_macs(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """1 where all is well, -1 where a number is not finite or negative, or missing."""
        answers = model.ask(cases)
        nothing = (cases.ops == 0) | (cases.bytes == 0)
        totals = model.operators <= {"totals", "subgraph"}
        idle = nothing if totals else cases.macs == 0
        sane = np.where(_sane(model, answers), 1.0, -1.0)
        return np.where(idle & ~answers.unsupported, sane, np.nan)


def _sane(model: Subject, answers: Answers) -> Bools:
    """(n,) whether every number is finite and not negative."""
    sane = np.ones(len(answers), dtype=bool)
    for values in offered_numbers(answers, model.offers):
        sane &= np.isfinite(values) & (values >= 0)
    sane[list(answers.errors)] = False
    return sane

"""DET003."""

from __future__ import annotations

from typing import ClassVar, Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases, CaseSequence, Singles
from joulecheck.estimate import Answers
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import Floats
from joulecheck_properties.copies import copies_of
from joulecheck_properties.differences import agreement, reordered
from joulecheck_strategies import sequences

TOLERANCE: Final = 1e-12


class OrderIrrelevant(Property):
    """The order of the questions changes no answer.

    Statement:
        For questions w_1, ..., w_n, the answers e(w_1), ..., e(w_n) are the same when
        they are asked from the last to the first, of another copy of the model.

    Rationale:
        A result that is kept under a key that leaves something out, a table that is
        switched too late, or a mapping that starts from the last one found depend on
        what came before. Reversal puts every two questions in both orders, and a copy
        that nobody has asked yet has kept nothing.

    Domain:
        Sequences of two or three questions, many of which differ in one size or in the
        precision alone. The scalar path is asked; a batch is one question of another
        kind, and DET002 compares the two. A model that cannot be copied is asked itself.

    Tolerance:
        1e-12 of the quantity.

    Source:
        The definition of a function.

    Planted bug:
        late-precision: a question is answered at the precision of the one before.

    Shrinks to:
        The GEMM of one MAC in FP32, then in INT8.
    """

    id: ClassVar = "DET003"
    name: ClassVar = "order-irrelevant"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="late-precision",
        model="reference:Intel-i7-12700K",
        shrinks_to=CaseSequence(
            [
                Case(Gemm(m=1, n=1, k=1)),
                Case(Gemm(m=1, n=1, k=1), Precision.INT8),
            ]
        ),
    )
    thinning: ClassVar = 512

    def space(self, model: Subject) -> CaseSpace:
        """Sequences of two or three workloads."""
        return sequences(model, shortest=2)

    def margin(self, model: Subject, cases: Singles[CaseSequence]) -> Floats:
        """The least agreement of any question's two answers."""
        return np.array([_agreement(model.one_by_one, s.cases) for s in cases])


def _agreement(model: Subject, cases: tuple[Case, ...]) -> float:
    there, back = (_asked(_unasked(model), some) for some in (cases, cases[::-1]))
    same = agreement(there, reordered(back, range(len(cases))[::-1]), TOLERANCE)
    return float(np.fmin.reduce(same))


def _asked(model: Subject, cases: tuple[Case, ...]) -> Answers:
    model.ask(Cases.of(cases[:1]))  # what was asked before any of them is no matter
    return model.ask(Cases.of(cases))


def _unasked(model: Subject) -> Subject:
    """A copy, so that the model itself keeps nothing; the model if there is none."""
    return attrs.evolve(model, model=next(copies_of(model.model), model.model))

"""ROB003."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases, InvalidCase, Singles, Wrong
from joulecheck.errors import JoulecheckError
from joulecheck.estimate import Estimate
from joulecheck.model import BatchModel, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_strategies import invalid_questions


class InvalidInputRaisesTypedError(Property):
    """What a model cannot answer rightly it refuses, and says what is wrong.

    Statement:
        Asked under a scale that names no coefficient, or that gives one a factor that
        is negative, infinite or NaN, the model raises a `JoulecheckError` whose
        message names the coefficient. Asked about a kind of workload that its
        `operators` leave out, it raises no other error.

    Rationale:
        A misspelt coefficient that is passed over answers another question, and the
        sensitivity study concludes that the coefficient does not matter. A negative
        price makes energy out of nothing, far from where it was typed.

    Domain:
        The plainest case of models that declare coefficients or operators, on every
        path that they have. A model may answer for more than it declares. Sizes,
        shapes, edges and types of workloads never reach a model when they are wrong:
        `Case` and the workloads refuse them. PRC006 is about precisions.

    Tolerance:
        None: the margin is 1 or -1.

    Source:
        The model protocol; `joulecheck.check_scale` does it in one line.

    Planted bug:
        unchecked-scale: a scale may name what is no coefficient.

    Shrinks to:
        The plainest case under a misspelt name of the first coefficient.
    """

    id: ClassVar = "ROB003"
    name: ClassVar = "invalid-input-raises-typed-error"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="unchecked-scale",
        model="reference:Intel-i7-12700K",
        shrinks_to=InvalidCase(
            Case(Gemm(m=1, n=1, k=1)), Wrong.UNKNOWN_COEFFICIENT, "mac_energy.FP64"
        ),
    )
    thinning: ClassVar = 8
    """There are few such questions, and a batch asks each once."""

    def space(self, model: Subject) -> CaseSpace:
        """The plainest case with each coefficient misused, and other workloads."""
        return invalid_questions(model)

    def margin(self, model: Subject, cases: Singles[InvalidCase]) -> Floats:
        """1 where every path says what is wrong, -1 where one does not."""
        asked = list(cases)
        found = {case: _refused(model, case) for case in dict.fromkeys(asked)}
        return np.array([found[case] for case in asked])


def _refused(model: Subject, invalid: InvalidCase) -> float:
    if invalid.wrong is Wrong.UNKNOWN_COEFFICIENT and invalid.named in model.coefficients:
        return np.nan  # the misspelt name is one after all
    asked: list[Callable[[], Estimate]] = [
        lambda: model.model.estimate(invalid.case, invalid.scale)
    ]
    batched = model.in_batches.vectorised and invalid.scale
    if batched:  # a batch path may leave workloads to the scalar one
        scales = {name: np.array([f]) for name, f in invalid.scale.items()}
        batch: BatchModel = model.model  # type: ignore[assignment]  # it is vectorised
        asked.append(lambda: batch.estimate_batch(Cases.of([invalid.case]), scales))
    model.heartbeat(-1)
    may_answer = invalid.wrong is Wrong.OTHER_WORKLOAD
    told = (_tells(each, invalid.named, may_answer=may_answer) for each in asked)
    return 1.0 if all(told) else -1.0


def _tells(question: Callable[[], Estimate], name: str, *, may_answer: bool) -> bool:
    """Whether a question raises an error of ours that names what is wrong, if any."""
    try:
        question()
    except JoulecheckError as error:
        return name in str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - an error, but one that says nothing
        return False
    return may_answer

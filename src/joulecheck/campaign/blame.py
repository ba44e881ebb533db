"""Blame: which term and which coefficient a violation hangs on.

Two questions are asked of a minimal case. Which numbers move the margin, and how much?
And which single change to the model's answers repairs it, and with it the other
failing cases, without breaking those that pass?
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.edits import (
    UNLIKELY,
    Edit,
    EditedSubject,
    ScaledCoefficient,
    ScaledTerm,
    edits_of,
    last_resorts,
)
from joulecheck.case import AnyCase, Batch, Cases, batch_of
from joulecheck.counterexample import Blame, Counterexample, Repair
from joulecheck.errors import JoulecheckError
from joulecheck.model import Subject
from joulecheck.property import Property, installed
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Bools, Floats, Ints

STEP: Final = 0.01
"""Relative step of a sensitivity."""

SHOWN: Final = 3
"""Repairs, terms and coefficients that are kept."""

JUDGED: Final = 8
"""Repairs that are held against all other laws."""

ROWS: Final = 32
"""Failing rows, passing rows, and rows of each other law on which a repair is tried."""

STATEFUL: Final = frozenset({"DET", "ROB"})
"""Families about how a model answers and not about what: no number is to blame."""

CONSISTENCY: Final = frozenset({"CMP", "BND"})
"""Families that a good repair does not violate."""

LEAST_REPAIRED: Final = 0.5
MOST_BROKEN: Final = 0.1
"""A change that repairs fewer failing cases, or breaks more passing ones, is none."""

SCALAR_EDITS: Final = 60
"""Changes tried on a model that is asked case by case."""

SCALAR_ROWS: Final = 4
"""As `ROWS`, for such a model."""

TOTALS: Final = frozenset({"energy", "latency", "utilisation"})
"""What any change to a part moves as well."""

NEGLIGIBLE: Final = 1e-6
"""A sensitivity below this is none."""


@attrs.frozen
class Evidence:
    """Rows of a space that are known to fail, and rows that are known to hold."""

    failing: Ints
    passing: Ints

    @classmethod
    def none(cls, space: CaseSpace) -> Evidence:
        """Nothing is known."""
        nothing = np.empty((0, len(space.genes)), dtype=np.int64)
        return cls(nothing, nothing)


@attrs.frozen
class Fix:
    """A repair of one case, to be tried on others: plain data, as in a counterexample."""

    case: AnyCase
    target: str
    change: str

    def is_like(self, other: Fix) -> bool:
        """Whether both are the same change."""
        return (self.target, self.change) == (other.target, other.change)

    def repairs(self, law: Property, model: Subject, batch: Batch) -> Bools:
        """(n,) which cases of a batch hold with it; none if the model has no such edit."""
        batched = model.in_batches
        (question, *_) = self.case.questions
        found = batched.ask(Cases.of([question.case]))
        mended = np.zeros(len(batch), dtype=bool)
        for edit in edits_of(batched, self.case, found):  # some have the same words
            if (edit.target, str(edit)) == (self.target, self.change):
                mended |= edited_margins(law, batched, edit, batch) >= 0
        return mended


def fix_of(found: Counterexample) -> Fix | None:
    """The best repair of a part of the answer, if it mends all that was seen to fail.

    A change to a total tells nothing apart: whatever is too small is mended by more.
    """
    if found.blame is None:
        return None
    for repair in found.blame.repairs:
        if repair.target not in TOTALS and repair.repaired == 1 and not repair.broken:
            return Fix(found.case, repair.target, repair.change)
    return None


def telling_fix_of(found: Counterexample) -> Fix | None:
    """The same, unless it is a factor so large that it mends whatever is too small."""
    fix = fix_of(found)
    if fix is None or fix.change.startswith(tuple(UNLIKELY.values())):
        return None
    return fix


def likely_fix_of(found: Counterexample) -> Fix | None:
    """The best repair, of a part if there is one, if most of what failed is mended."""
    if found.blame is None or not found.blame.repairs:
        return None
    best = min(found.blame.repairs, key=lambda repair: repair.target in TOTALS)
    return Fix(found.case, best.target, best.change)


def blame(
    law: Property, model: Subject, space: CaseSpace, case: AnyCase, seen: Evidence
) -> Blame:
    """What a minimal case's violation hangs on.

    Args:
        law: what is violated.
        model: by which model.
        space: of the law on that model.
        case: the minimal case.
        seen: other cases of the space.
    """
    if law.family in STATEFUL or not case.questions:  # no single answer is to blame
        return Blame()
    return _Judge(law, model, space, case, seen).judge()


def culprits(found: Blame) -> list[str]:
    """What a blame names, the likeliest first: repairs, or else what moves the margin."""
    if found.repairs:
        return list(dict.fromkeys(repair.target for repair in found.repairs))
    return [*list(found.terms)[:1], *list(found.coefficients)[:1]]


def same_culprit(one: Blame, other: Blame) -> bool:
    """Whether what either names first is named by both; also if both name nothing."""
    named, others = culprits(one), culprits(other)
    if not named or not others:
        return not named and not others
    return named[0] in others or others[0] in named


class _Judge:
    def __init__(
        self,
        law: Property,
        model: Subject,
        space: CaseSpace,
        case: AnyCase,
        seen: Evidence,
    ) -> None:
        self.law = law
        self.model = model.in_batches
        self.asked = case
        self.case = batch_of(case)
        rows = ROWS if model.vectorised else SCALAR_ROWS
        self.failing = space.batch(seen.failing[:rows])
        self.passing = space.batch(seen.passing[:rows])
        (question, *_) = case.questions
        self.found = self.model.ask(Cases.of([question.case]))

    def judge(self) -> Blame:
        limit = None if self.model.vectorised else SCALAR_EDITS
        edits = islice(edits_of(self.model, self.asked, self.found), limit)
        repairs = tuple(self._best(filter(self._repairs, edits)))
        if not repairs and len(self.asked.questions) == 1:  # two alike are equal
            repairs = tuple(self._best(filter(self._repairs, last_resorts(self.found))))
        return Blame(
            repairs=repairs,
            terms=self._sensitivities(
                {name: _Nudge(name) for name in self.found.energy_terms}
            ),
            coefficients=self._sensitivities(
                {n: ScaledCoefficient(n, 1 + STEP, "") for n in self.model.coefficients}
            ),
        )

    def _margins(self, edit: Edit | None, batch: Batch) -> Floats:
        """NaN where the edited model breaks the law's own computation."""
        return edited_margins(self.law, self.model, edit, batch)

    def _repairs(self, edit: Edit) -> bool:
        return bool(self._margins(edit, self.case)[0] >= 0)

    def _best(self, edits: Iterable[Edit]) -> Iterable[Repair]:
        """The repairs that help most cases, break fewest, and violate fewest laws."""
        rated = [
            (self._share(edit, self.failing), 1 - self._share(edit, self.passing), edit)
            for edit in edits
        ]
        rated = [r for r in rated if r[0] >= LEAST_REPAIRED and r[1] <= MOST_BROKEN]
        rated.sort(key=lambda one: (-round(one[0], 1), one[1]))  # stable: likeliest first
        judged = [
            (repaired, broken, self._violated_by(edit), edit)
            for repaired, broken, edit in rated[:JUDGED]
        ]
        judged.sort(key=lambda one: (-round(one[0], 1), one[1], one[2]))
        return [
            Repair(
                target=edit.target,
                change=str(edit),
                repaired=repaired,
                broken=broken,
                violated=violated,
            )
            for repaired, broken, violated, edit in judged[:SHOWN]
        ]

    def _share(self, edit: Edit, batch: Batch) -> float:
        """The share of a batch that holds under an edit; 1 if there is nothing."""
        if not len(batch):
            return 1.0
        return float((self._margins(edit, batch) >= 0).mean())

    def _violated_by(self, edit: Edit) -> int:
        """How many laws the edited model violates on a few cases of each."""
        if not self.model.vectorised:
            return 0
        edited = EditedSubject.of_subject(self.model, edit)
        return sum(_violates(edited, law, batch) for law, batch in self._others)

    @cached_property
    def _others(self) -> list[tuple[Property, Batch]]:
        """Laws of consistency, each with a few of its cases."""
        found = []
        for law in installed().values():
            if (
                law.family in CONSISTENCY
                and law.thinning == 1
                and not law.missing(self.model)
            ):
                with suppress(JoulecheckError):
                    space = law.space(self.model)
                    rows = space.sample(np.random.default_rng(0), ROWS)
                    found.append((law, space.batch(rows)))
        return found

    def _sensitivities(self, edits: Mapping[str, Edit]) -> dict[str, float]:
        """D margin / d ln(value) of what moves it most."""
        before = self._margins(None, self.case)[0]
        moved = {
            name: float((self._margins(edit, self.case)[0] - before) / STEP)
            for name, edit in edits.items()
        }
        some = {name: m for name, m in moved.items() if abs(m) > NEGLIGIBLE}
        most = sorted(some, key=lambda name: (-abs(some[name]), name))[:SHOWN]
        return {name: some[name] for name in most}


def edited_margins(
    law: Property, model: Subject, edit: Edit | None, batch: Batch
) -> Floats:
    """(n,) margins of a batch where the model's answers are changed by an edit.

    NaN where the edited model breaks the law's own computation.
    """
    asked = model if edit is None else EditedSubject.of_subject(model, edit)
    try:
        return law.checked_margin(asked, batch)
    except JoulecheckError:
        return np.full(len(batch), np.nan)


@attrs.frozen
class _Nudge(ScaledTerm):
    """A term a little larger."""

    factor: float = 1 + STEP


def _violates(model: Subject, law: Property, batch: Batch) -> bool:
    try:
        return bool((law.checked_margin(model, batch) < 0).any())
    except JoulecheckError:
        return False

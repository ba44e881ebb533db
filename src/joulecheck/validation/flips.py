"""Decision flips: the smallest workload on which two models choose differently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.order import Plainness
from joulecheck.campaign.reduce import reduce
from joulecheck.case import Case, Cases
from joulecheck.counterexample import Minimality
from joulecheck.errors import NotOffered
from joulecheck.model import Subject
from joulecheck.space import CaseSpace
from joulecheck.validation.decisions import Decision
from joulecheck.validation.workload_set import workload_source
from joulecheck.workload.columns import Bools, Floats, Ints

CLEARLY: Final = 0.01
"""Relative: a choice is clear if the other option is worse by more than this."""

BATCH: Final = 2048

ENOUGH: Final = 64
"""Workloads of which one at least must give a model something to choose by."""


@attrs.frozen(kw_only=True)
class Flip:
    """A workload on which two models choose differently, each clearly."""

    question: str
    case: Case
    options: tuple[str, str]
    """What the first model prefers, and what the second does."""
    unit: str
    numbers: tuple[tuple[float, float], tuple[float, float]]
    """Of both options, by model."""
    share: float
    """Of the workloads that were tried, those on which the decision is another."""
    tried: int
    pairs: int
    """Of options, between which it is another on some of them."""
    minimality: Minimality


def common_space(sides: Sequence[Subject]) -> CaseSpace:
    """The cases that both models answer for.

    Raises:
        NotOffered: there are none.
    """
    one, other = sides
    precisions = tuple(p for p in one.precisions if p in other.precisions)
    operators = one.operators & other.operators
    if not precisions or not operators - {"subgraph"}:
        missing = "kind of workload" if precisions else "precision"
        msg = f"{one.name} and {other.name} cannot be compared: no {missing} in common"
        raise NotOffered(msg)
    both = attrs.evolve(one, precisions=precisions, operators=operators)
    return workload_source().space(both)


def space_of(models: Sequence[Subject]) -> CaseSpace:
    """The cases that some of the models answer for, of operators that all do."""
    operators = frozenset.intersection(*(model.operators for model in models))
    precisions = dict.fromkeys(p for model in models for p in model.precisions)
    every = attrs.evolve(models[0], precisions=tuple(precisions), operators=operators)
    return workload_source().space(every)


def smallest_flip(
    decision: Decision,
    space: CaseSpace,
    rows: Ints,
    *,
    clearly: float = CLEARLY,
    vectorised: bool = True,
) -> Flip | None:
    """The smallest workload on which a decision is taken differently, if it ever is.

    Args:
        decision: between options, by either model.
        space: of the workloads.
        rows: (n, genes) the workloads to try.
        clearly: how much worse, relative, the option that is not chosen must be.
        vectorised: whether many cases are one call.

    Raises:
        NotOffered: a model has no numbers to choose by.
    """
    parts = np.array_split(rows, max(1, -(-len(rows) // BATCH)))
    found = [_flips(decision, _cases(space, part), clearly) for part in parts if len(part)]
    flipped = np.concatenate([flips.any(axis=(1, 2)) for flips in found])
    pairs = np.logical_or.reduce([flips.any(axis=0) for flips in found])
    if not flipped.any():
        _require_choice(decision, _cases(space, rows[:ENOUGH]))
        return None
    first = int(Plainness.of(space, rows).order(flipped)[0])
    part, at = _located(first, [len(one) for one in parts])
    pair: tuple[int, int] = tuple(np.argwhere(found[part][at])[0].tolist())

    def still(some: Ints) -> Bools:
        return _of_pair(decision, _cases(space, some), pair, clearly)

    reduced = reduce(space, rows[first].tolist(), still, vectorised=vectorised)
    case = space.build(reduced.row)
    assert isinstance(case, Case)  # noqa: S101 - the source promises plain cases
    return Flip(
        question=decision.question,
        case=case,
        options=(decision.options[pair[0]], decision.options[pair[1]]),
        unit=decision.unit,
        numbers=_numbers(decision, case, pair),
        share=float(flipped.mean()),
        tried=len(rows),
        pairs=int((pairs | pairs.T).sum()) // 2,
        minimality=reduced.minimality,
    )


def _require_choice(decision: Decision, cases: Cases) -> None:
    every = range(len(decision.options))
    for side, name in enumerate("AB"):
        known = ~np.isnan(decision.scores(side, cases, every))
        if not (known.sum(axis=1) > 1).any():
            msg = f"{name} has numbers for no two options on any of {len(cases)} workloads"
            raise NotOffered(msg)


def _cases(space: CaseSpace, rows: Ints) -> Cases:
    found = space.batch(rows)
    assert isinstance(found, Cases)  # noqa: S101 - the source promises plain cases
    return found


def _located(index: int, sizes: Sequence[int]) -> tuple[int, int]:
    """The part that an index falls in, and the place there."""
    ends = np.cumsum([0, *sizes])
    part = int(np.searchsorted(ends, index, side="right")) - 1
    return part, index - int(ends[part])


def _better(scores: Floats, clearly: float) -> Bools:
    """(cases, options, options) whether the first option is clearly the better one."""
    with np.errstate(invalid="ignore"):
        better: Bools = scores[:, :, None] * (1 + clearly) < scores[:, None, :]
    return better


def _flips(decision: Decision, cases: Cases, clearly: float) -> Bools:
    """(cases, options, options) where one model takes the first, the other the second."""
    every = range(len(decision.options))
    sides = [decision.scores(side, cases, every) for side in range(2)]
    first, second = (_better(scores, clearly) for scores in sides)
    flips = first & second.transpose(0, 2, 1)
    if decision.ranked:
        return flips
    chosen = [_chosen(scores) for scores in sides]
    picked: Bools = flips & chosen[0][:, :, None] & chosen[1][:, None, :]
    return picked


def _chosen(scores: Floats) -> Bools:
    """(cases, options) which option has the smallest score."""
    known = np.where(np.isnan(scores), np.inf, scores)
    best: Bools = known == known.min(axis=1, keepdims=True)
    return best & np.isfinite(known)


def _of_pair(
    decision: Decision, cases: Cases, pair: tuple[int, int], clearly: float
) -> Bools:
    """(cases,) where the models choose so of two options."""
    if not decision.of_two:
        found: Bools = _flips(decision, cases, clearly)[:, pair[0], pair[1]]
        return found
    sides = [decision.scores(side, cases, pair) for side in range(2)]
    first, second = (_better(scores, clearly) for scores in sides)
    both: Bools = first[:, 0, 1] & second[:, 1, 0]
    return both


def _numbers(
    decision: Decision, case: Case, pair: tuple[int, int]
) -> tuple[tuple[float, float], tuple[float, float]]:
    rows = [decision.numbers(side, Cases.of([case]), pair)[0].tolist() for side in range(2)]
    (a, b), (c, d) = rows
    return (a, b), (c, d)

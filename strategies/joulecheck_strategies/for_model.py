"""The case spaces of a model: what it answers for, at its precisions, at its corners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from joulecheck.errors import NotOffered
from joulecheck.model import Subject
from joulecheck.workload import MAX_NODES, PLAINEST_FIRST, Precision
from joulecheck_strategies.growth import GrowthSpace
from joulecheck_strategies.perturbations import PerturbationSpace, UniformScaleSpace
from joulecheck_strategies.precision_pairs import PrecisionPairSpace
from joulecheck_strategies.repetition import RepetitionSpace
from joulecheck_strategies.totals import TotalsGrowthSpace, TotalsSpace
from joulecheck_strategies.workload_space import NATURES, WorkloadSpace

ORDERED_PAIRS: Final = tuple(
    (narrower, wider)
    for wider in Precision
    for narrower in Precision
    if narrower.narrower_than(wider)
)
"""Every two precisions that the partial order relates, the narrower first."""


def workloads(model: Subject) -> WorkloadSpace | TotalsSpace:
    """Plain cases: graphs of the operators that the model answers for, or totals."""
    if not model.operators & set(NATURES):
        return _totals(model)
    return _graphs(model)


def single_operators(
    model: Subject, *, kinds: Sequence[str] = NATURES
) -> WorkloadSpace | TotalsSpace:
    """Plain cases of one operator, of these kinds; totals where a model takes no other.

    Raises:
        NotOffered: the model answers for no operator of these kinds.
    """
    if not model.operators & set(NATURES) and kinds is NATURES:
        return _totals(model)
    return attrs.evolve(_of_kinds(model, kinds), max_nodes=1)


def work_without_macs(model: Subject) -> WorkloadSpace | TotalsSpace:
    """Graphs of elementwise functions, or totals of which one number or both may be 0.

    Raises:
        NotOffered: the model answers for neither.
    """
    if not model.operators & set(NATURES):
        return attrs.evolve(_totals(model), min_total=0)
    return _of_kinds(model, ("elementwise",))


def foreign_precisions(model: Subject) -> WorkloadSpace | TotalsSpace:
    """Plain cases at the precisions that the model does not support.

    Raises:
        NotOffered: it supports all.
    """
    others = tuple(p for p in PLAINEST_FIRST if p not in model.precisions)
    if not others:
        msg = "it supports every precision"
        raise NotOffered(msg)
    return attrs.evolve(workloads(model), precisions=others)


def totals_growths(model: Subject, grown: str) -> TotalsGrowthSpace:
    """Pairs of totals, with more of `grown`: "ops" or "bytes".

    Raises:
        NotOffered: the model does not answer for totals.
    """
    if "totals" not in model.operators:
        msg = "it does not answer for totals: declare operators = {..., 'totals'}"
        raise NotOffered(msg)
    return TotalsGrowthSpace(_totals(model), grown)


def _totals(model: Subject) -> TotalsSpace:
    return TotalsSpace(model.precisions, constants=model.machine.constants)


def _of_kinds(model: Subject, kinds: Sequence[str]) -> WorkloadSpace:
    answered = tuple(kind for kind in kinds if kind in model.operators)
    if not answered:
        msg = f"it answers for {', '.join(sorted(model.operators))} only"
        raise NotOffered(msg)
    return attrs.evolve(_graphs(model), kinds=answered)


def _graphs(model: Subject) -> WorkloadSpace:
    kinds = tuple(kind for kind in NATURES if kind in model.operators)
    if not kinds:
        msg = f"it answers for {', '.join(sorted(model.operators))} only"
        raise NotOffered(msg)
    return WorkloadSpace(
        kinds=kinds,
        precisions=model.precisions,
        max_nodes=MAX_NODES if "subgraph" in model.operators else 1,
        bounds=model.bounds,
        constants=model.machine.constants,
        quanta=model.machine.quanta,
    )


def growths(model: Subject) -> GrowthSpace:
    """Ordered pairs of workloads, one dimension grown.

    Raises:
        NotOffered: the model answers for totals only.
    """
    return GrowthSpace(_graphs(model))


def repetitions(model: Subject) -> RepetitionSpace:
    """Workloads, each beside itself several times over.

    Raises:
        NotOffered: the model answers for totals only.
    """
    return RepetitionSpace(_graphs(model))


def perturbations(model: Subject) -> PerturbationSpace:
    """Workloads under one to three perturbed energy coefficients.

    Raises:
        NotOffered: the model declares no energy coefficient.
    """
    return PerturbationSpace(_graphs(model), _energy_coefficients(model))


def uniform_scales(model: Subject) -> UniformScaleSpace:
    """Workloads under all energy coefficients times one factor.

    Raises:
        NotOffered: the model declares no energy coefficient.
    """
    return UniformScaleSpace(_graphs(model), _energy_coefficients(model))


def _energy_coefficients(model: Subject) -> tuple[str, ...]:
    if not model.energy_coefficients:
        msg = "it declares no coefficient whose unit is in J or W"
        raise NotOffered(msg)
    return model.energy_coefficients


def precision_pairs(
    model: Subject, *, pairs: Sequence[tuple[Precision, Precision]] = ORDERED_PAIRS
) -> PrecisionPairSpace:
    """Workloads at each two precisions of the model, (narrower, wider), of `pairs`.

    Args:
        model: whose precisions count.
        pairs: those that physics orders, unless a law names others.

    Raises:
        NotOffered: the model does not support both precisions of any pair.
    """
    supported = tuple(pair for pair in pairs if set(pair) <= set(model.precisions))
    if not supported:
        names = ", ".join(p.name for p in model.precisions)
        msg = f"the law compares no two of its precisions, {names}"
        raise NotOffered(msg)
    return PrecisionPairSpace(_graphs(model), supported)

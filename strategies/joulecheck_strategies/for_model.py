"""The case spaces of a model: what it answers for, at its precisions, at its corners."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import attrs

from joulecheck.errors import NotOffered
from joulecheck.model import Subject
from joulecheck.workload import MAX_NODES, Precision
from joulecheck_strategies.apart import (
    MOST_NODES,
    GroupsAloneSpace,
    OperatorsAloneSpace,
    SideBySideSpace,
)
from joulecheck_strategies.batch_splitting import BatchSplitSpace
from joulecheck_strategies.growth import GrowthSpace
from joulecheck_strategies.perturbations import PerturbationSpace, UniformScaleSpace
from joulecheck_strategies.precision_pairs import PrecisionPairSpace
from joulecheck_strategies.reordering import ReorderedSpace
from joulecheck_strategies.repetition import RepetitionSpace
from joulecheck_strategies.respelling import TRANSPOSED, RespelledSpace, Spelling
from joulecheck_strategies.splitting import SplitSpace, Way
from joulecheck_strategies.totals import TotalsSpace
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
        return TotalsSpace(model.precisions, constants=model.machine.constants)
    return _graphs(model)


def _graphs(model: Subject) -> WorkloadSpace:
    kinds = tuple(kind for kind in NATURES if kind in model.operators)
    if not kinds:
        msg = f"it answers for {_answered(model)} only"
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


def respellings(model: Subject, *spellings: Spelling) -> RespelledSpace:
    """Single operators in two spellings each.

    Args:
        model: what it answers for decides which of the spellings are asked.
        spellings: which may be asked.

    Raises:
        NotOffered: the model does not answer for both operators of any spelling.
    """
    known = [x for x in spellings if set(x.kinds) <= model.operators]
    if not known:
        names = " and ".join(sorted({kind for x in spellings for kind in x.kinds}))
        msg = f"the law needs {names}, and it answers for {_answered(model)} only"
        raise NotOffered(msg)
    return RespelledSpace(_single(model), tuple(known))


def transpositions(model: Subject) -> RespelledSpace:
    """Single operators beside those that a declared symmetry exchanges them for.

    Raises:
        NotOffered: the model does not answer for the operator of any symmetry.
    """
    declared = [x for name, x in TRANSPOSED.items() if name in model.symmetries]
    return respellings(model, *declared)


def reorderings(model: Subject) -> ReorderedSpace:
    """Graphs beside themselves in another order.

    Raises:
        NotOffered: the model answers for no graphs.
    """
    return ReorderedSpace(_graphs_only(model))


def operators_alone(model: Subject) -> OperatorsAloneSpace:
    """Graphs beside their operators alone.

    Raises:
        NotOffered: the model answers for no graphs.
    """
    return OperatorsAloneSpace(_graphs_only(model))


def side_by_side(model: Subject) -> SideBySideSpace:
    """Two graphs as one, beside either alone.

    Raises:
        NotOffered: the model answers for no graphs.
    """
    return SideBySideSpace(attrs.evolve(_graphs_only(model), max_nodes=MOST_NODES))


def groups_alone(model: Subject) -> GroupsAloneSpace:
    """Convolutions beside one of their groups.

    Raises:
        NotOffered: the model answers for no convolutions.
    """
    if "conv2d" not in model.operators:
        msg = f"the law needs conv2d, and it answers for {_answered(model)} only"
        raise NotOffered(msg)
    return GroupsAloneSpace(attrs.evolve(_single(model), kinds=("conv2d",)))


def batch_splits(model: Subject) -> BatchSplitSpace:
    """Graphs beside two parts of their batch.

    Raises:
        NotOffered: the model answers for totals only.
    """
    return BatchSplitSpace(_graphs(model))


def dimension_splits(model: Subject, way: Way, dimensions: Collection[str]) -> SplitSpace:
    """Single operators beside the parts that one of their dimensions is cut into.

    K is cut only where the model answers for the additions that its parts need.

    Args:
        model: whose largest quantum is the step of `Way.STEP`.
        way: how the dimension is cut.
        dimensions: which of batch, m, n, k may be cut.

    Raises:
        NotOffered: the model answers for totals only.
    """
    without_sums = way is not Way.STEP and "elementwise" not in model.operators
    cut = frozenset(dimensions) - ({"k"} if without_sums else set())
    return SplitSpace(_single(model), way, cut, max(model.machine.quanta, default=1))


def _single(model: Subject) -> WorkloadSpace:
    return attrs.evolve(_graphs(model), max_nodes=1)


def _graphs_only(model: Subject) -> WorkloadSpace:
    if "subgraph" not in model.operators:
        msg = f"the law needs subgraph, and it answers for {_answered(model)} only"
        raise NotOffered(msg)
    return _graphs(model)


def _answered(model: Subject) -> str:
    return ", ".join(sorted(model.operators))


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

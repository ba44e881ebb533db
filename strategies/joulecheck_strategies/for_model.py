"""The case spaces of a model: what it answers for, at its precisions, at its corners."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from joulecheck.case import Derivation
from joulecheck.errors import NotOffered
from joulecheck.model import Subject
from joulecheck.workload import MAX_NODES, Precision
from joulecheck_strategies.derivations import (
    DerivationSpace,
    allowed,
    nearby_machines,
)
from joulecheck_strategies.growth import GrowthSpace
from joulecheck_strategies.peers import PeerSpace
from joulecheck_strategies.perturbations import PerturbationSpace, UniformScaleSpace
from joulecheck_strategies.precision_pairs import PrecisionPairSpace
from joulecheck_strategies.regular import FORMS, RegularSpace, Sizes
from joulecheck_strategies.repetition import RepetitionSpace
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


def derivations(
    model: Subject, choices: Iterable[Derivation] | None = None
) -> DerivationSpace:
    """Workloads on machines derived from that of a model.

    Args:
        model: whose knobs are turned.
        choices: the machines, plainest first; those that the ranges of the knobs forbid
            are left out. If None, see `nearby_machines`.

    Raises:
        NotOffered: the model declares no knobs, answers for totals only, or no machine
            is left.
    """
    if not model.knobs:
        msg = "it declares no knobs"
        raise NotOffered(msg)
    listed = nearby_machines(model) if choices is None else choices
    chosen = tuple(choice for choice in listed if allowed(model, choice))
    if not chosen:
        msg = "the ranges of its knobs allow none of the machines to compare"
        raise NotOffered(msg)
    return DerivationSpace(_graphs(model), chosen)


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


Pairs = Sequence[tuple[str, Precision]]
"""Names of peers, each with a precision that both models have."""


def peer_cases(model: Subject, pairs: Pairs) -> PeerSpace:
    """Workloads that are put to the model and to a peer.

    Raises:
        NotOffered: the model answers for totals only.
    """
    return PeerSpace(_graphs(model), tuple(pairs))


def regular_peer_cases(
    model: Subject,
    pairs: Pairs,
    *,
    forms: Sequence[str] = FORMS,
    sizes: Sizes | None = None,
) -> PeerSpace:
    """Large regular workloads that are put to the model and to a peer.

    Args:
        model: whose operators and corners count.
        pairs: the peers and precisions.
        forms: of these, those whose operators the model answers for.
        sizes: the ranges of all dimensions.

    Raises:
        NotOffered: the model answers for no workload of these forms.
    """
    answered = tuple(form for form in forms if _OPERATORS_OF[form] <= model.operators)
    if not answered:
        msg = f"it answers for {', '.join(sorted(model.operators))} only"
        raise NotOffered(msg)
    workloads = RegularSpace(
        forms=answered,
        precisions=model.precisions,
        sizes=sizes or Sizes(),
        constants=model.machine.constants,
        quanta=model.machine.quanta,
    )
    return PeerSpace(workloads, tuple(pairs))


_OPERATORS_OF: Final = {
    "gemm": {"gemm"},
    "convolution": {"conv2d"},
    "attention": {"gemm", "elementwise", "subgraph"},
}

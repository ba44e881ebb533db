"""The case spaces of a model: what it answers for, at its precisions, at its corners."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

import attrs

from joulecheck.case import Case, CoefficientCase, Derivation, InvalidCase, Wrong
from joulecheck.errors import NotOffered
from joulecheck.model import SMALLEST, Subject
from joulecheck.space import Bounds
from joulecheck.workload import (
    MAX_NODES,
    PLAINEST_FIRST,
    Precision,
    Subgraph,
    Totals,
    Workload,
)
from joulecheck_strategies.apart import (
    MOST_NODES,
    GroupsAloneSpace,
    OperatorsAloneSpace,
    SideBySideSpace,
)
from joulecheck_strategies.batch_splitting import BatchSplitSpace
from joulecheck_strategies.derivations import (
    DerivationSpace,
    allowed,
    nearby_machines,
)
from joulecheck_strategies.growth import GrowthSpace
from joulecheck_strategies.listed import ListedSpace
from joulecheck_strategies.peers import PeerSpace
from joulecheck_strategies.perturbations import (
    MAX_PERTURBED,
    PerturbationSpace,
    UniformScaleSpace,
)
from joulecheck_strategies.precision_pairs import PrecisionPairSpace
from joulecheck_strategies.regular import FORMS, RegularSpace, Sizes
from joulecheck_strategies.reordering import ReorderedSpace
from joulecheck_strategies.repetition import RepetitionSpace
from joulecheck_strategies.respelling import TRANSPOSED, RespelledSpace, Spelling
from joulecheck_strategies.sequences import SequenceSpace
from joulecheck_strategies.splitting import SplitSpace, Way
from joulecheck_strategies.totals import TotalsGrowthSpace, TotalsSpace
from joulecheck_strategies.workload_space import NATURES, WorkloadSpace

ORDERED_PAIRS: Final = tuple(
    (narrower, wider)
    for wider in Precision
    for narrower in Precision
    if narrower.narrower_than(wider)
)
"""Every two precisions that the partial order relates, the narrower first."""

HUGE: Final = 1_000_000_000

HUGE_BOUNDS: Final = Bounds(batch=HUGE, gemm=HUGE, channels=HUGE, image=HUGE)

HUGE_NODES: Final = 3
"""In three nodes at most two dimensions of 1e9 are folded into one; 1e18 fits int64."""

NODES_IN_SEQUENCE: Final = 2


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


def huge_workloads(model: Subject) -> WorkloadSpace:
    """Graphs of up to three operators with dimensions from 1 to 1e9.

    Raises:
        NotOffered: the model answers for totals only, or bounds its dimensions.
    """
    if model.bounds != Bounds():
        msg = "it bounds the dimensions that it is asked about"
        raise NotOffered(msg)
    space = _graphs(model)
    nodes = min(space.max_nodes, HUGE_NODES)
    return attrs.evolve(space, bounds=HUGE_BOUNDS, max_nodes=nodes)


def sequences(model: Subject, *, shortest: int = 1, longest: int = 3) -> SequenceSpace:
    """Small workloads that are asked one after the other."""
    space = workloads(model)
    if isinstance(space, WorkloadSpace):
        nodes = min(space.max_nodes, NODES_IN_SEQUENCE)
        space = attrs.evolve(space, max_nodes=nodes)
    return SequenceSpace(space, shortest, longest)


def coefficients(model: Subject, *, witnesses: int) -> ListedSpace[CoefficientCase]:
    """Every coefficient of the model that is not 0, one a case.

    Raises:
        NotOffered: the model declares no such coefficient.
    """
    live = [name for name, one in model.coefficients.items() if one.value]
    if not live:
        msg = "it declares no coefficient other than 0"
        raise NotOffered(msg)
    return ListedSpace(tuple(CoefficientCase(name, witnesses) for name in live))


def invalid_questions(model: Subject) -> ListedSpace[InvalidCase]:
    """The plainest case with each coefficient misused, and workloads of other kinds.

    Raises:
        NotOffered: the model declares neither coefficients nor operators.
    """
    found = (*_misuses(model), *_other_workloads(model))
    if not found:
        msg = "it declares neither coefficients nor operators"
        raise NotOffered(msg)
    return ListedSpace(found)


def _misuses(model: Subject) -> Iterator[InvalidCase]:
    smallest = next(w for kind, w in SMALLEST.items() if kind in model.operators)
    plainest = Case(smallest, model.precisions[0])
    for wrong in Wrong:
        if wrong is not Wrong.OTHER_WORKLOAD:
            for name in model.coefficients:
                yield InvalidCase(plainest, wrong, name)


def _other_workloads(model: Subject) -> Iterator[InvalidCase]:
    """Of each kind that the model leaves out of what it declares."""
    if getattr(model.model, "operators", None) is None:
        return
    for kind, workload in _smallest_of_each_kind(model):
        if kind not in model.operators:
            case = Case(workload, model.precisions[0])
            yield InvalidCase(case, Wrong.OTHER_WORKLOAD)


def _smallest_of_each_kind(model: Subject) -> Iterator[tuple[str, Workload]]:
    yield from SMALLEST.items()
    for kind, workload in SMALLEST.items():
        if kind in model.operators and not isinstance(workload, Subgraph | Totals):
            yield "subgraph", Subgraph.chain(workload, workload)
            return


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


def perturbations(
    model: Subject, *, least: int = 1, most: int = MAX_PERTURBED
) -> PerturbationSpace:
    """Workloads under one to three perturbed energy coefficients.

    Args:
        model: whose coefficients count.
        least: how many are perturbed at least.
        most: how many at most.

    Raises:
        NotOffered: the model declares fewer energy coefficients than `least`.
    """
    space, names = _graphs(model), energy_coefficients(model)
    if len(names) < least:
        msg = f"it declares only {', '.join(names)} in J or W, and the law needs {least}"
        raise NotOffered(msg)
    return PerturbationSpace(space, names, least, most)


def uniform_scales(model: Subject) -> UniformScaleSpace:
    """Workloads under all energy coefficients times one factor.

    Raises:
        NotOffered: the model declares no energy coefficient.
    """
    return UniformScaleSpace(_graphs(model), energy_coefficients(model))


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


def energy_coefficients(model: Subject) -> tuple[str, ...]:
    """The names of the model's energy coefficients, at least one.

    Raises:
        NotOffered: it declares none.
    """
    if not model.energy_coefficients:
        msg = "it declares no coefficient whose unit is in J or W"
        raise NotOffered(msg)
    return model.energy_coefficients


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
        msg = f"it answers for {_answered(model)} only"
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

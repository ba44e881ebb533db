"""What a sampler reaches: which operators, sizes and precisions, and which bottlenecks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.model import Subject
from joulecheck.property import Property
from joulecheck.workload import Conv2d, Elementwise, Gemm, Subgraph, nodes_of
from joulecheck.workload.columns import PRECISIONS

DIMENSIONS: Final = {
    Gemm: ("batch", "m", "n", "k"),
    Conv2d: ("n", "c", "h", "w", "k", "r", "s", "stride", "padding", "dilation", "groups"),
    Elementwise: ("shape",),
}

NOT_ANSWERED: Final = "(no answer)"


@attrs.frozen(kw_only=True)
class Distribution:
    """Shares of the cases that a property asks of a model, each from 0 to 1."""

    model: str
    property: str
    seed: int
    cases: int
    valid: float
    """Answered by the model, neither refused nor failed."""
    in_domain: float
    """Of which the property says something."""
    nodes: Mapping[str, float]
    """By number of operators."""
    operators: Mapping[str, float]
    """Of all operators."""
    edges: Mapping[str, float]
    """Of all operands of later nodes: where they come from."""
    precisions: Mapping[str, float]
    decades: Mapping[str, Mapping[str, float]]
    """By dimension, such as "gemm.m": the shares of 1, 2-9, 10-99, ..."""
    roofline: Mapping[str, float]
    """Compute-bound or memory-bound by the machine's own peak and bandwidths."""
    bottlenecks: Mapping[str, float]
    """By the latency term that is the longest."""


def distribution(model: Subject, law: Property, *, seed: int, cases: int) -> Distribution:
    """Draw cases as a campaign draws them, and count what they are.

    Raises:
        NotOffered: the property has no case for this model.
    """
    space = law.space(model)
    rows = space.sample(np.random.default_rng(seed), cases)
    margins = law.checked_margin(model, space.batch(rows))
    asked = [space.build(row).questions[0].case for row in rows.tolist()]
    batch = Cases.of(asked)
    answers = model.ask(batch)
    unanswered = answers.unsupported.copy()
    unanswered[list(answers.errors)] = True
    nodes = [nodes_of(case.workload) for case in asked]
    operators = [node.operator for each in nodes for node in each]
    return Distribution(
        model=model.name,
        property=law.id,
        seed=seed,
        cases=cases,
        valid=1 - float(unanswered.mean()),
        in_domain=float((~np.isnan(margins)).mean()),
        nodes=_shares(str(len(each)) for each in nodes),
        operators=_shares(type(operator).__name__.lower() for operator in operators),
        edges=_shares(edge for case in asked for edge in _edges(case)),
        precisions=_shares(PRECISIONS[index].name for index in batch.precision),
        decades=_decades(operators),
        roofline=_shares(_roofline(model, batch)),
        bottlenecks=_shares(_bottlenecks(answers.latency_terms, cases)),
    )


def _shares(values: Iterable[str]) -> dict[str, float]:
    counts = Counter(values)
    total = sum(counts.values())
    return {name: count / total for name, count in sorted(counts.items(), key=_by_count)}


def _by_count(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _edges(case: Case) -> Iterable[str]:
    if not isinstance(case.workload, Subgraph):
        return
    for index, node in enumerate(case.workload.nodes[1:], start=1):
        for source in node.sources:
            if source is None:
                yield "from outside"
            else:
                yield "from the node before" if source == index - 1 else "from further back"


def _decades(operators: Sequence[object]) -> dict[str, dict[str, float]]:
    sizes: dict[str, list[int]] = {}
    for operator in operators:
        for name in DIMENSIONS[type(operator)]:
            value = getattr(operator, name)
            values = value if isinstance(value, tuple) else (value,)
            sizes.setdefault(f"{type(operator).__name__.lower()}.{name}", []).extend(values)
    return {
        name: dict(sorted(_shares(map(_decade, values)).items()))
        for name, values in sorted(sizes.items())
    }


def _decade(value: int) -> str:
    """The decade that holds a value, by its least power of ten: 0, 1, 10, 100, ..."""
    return str(10 ** (len(str(value)) - 1)) if value else "0"


def _roofline(model: Subject, cases: Cases) -> Iterable[str]:
    """On which side of the ridge of the outermost memory each case lies."""
    rates = [m.bandwidth for m in model.machine.memories.values() if m.bandwidth]
    if not rates or not model.machine.peak:
        return []
    peak = np.array([model.machine.peak.get(p, np.nan) for p in PRECISIONS])
    compute, memory = cases.ops / peak[cases.precision], cases.bytes / rates[-1]
    sides = ("memory-bound", "compute-bound")
    return [sides[bound] for bound in (compute >= memory).astype(int)]


def _bottlenecks(terms: Mapping[str, Any], size: int) -> Iterable[str]:
    if not terms:
        return []
    names = [*terms, NOT_ANSWERED]
    times = np.stack([*terms.values(), np.full(size, -1.0)])
    return [names[index] for index in np.nan_to_num(times, nan=-2.0).argmax(axis=0)]

"""Cases and numbers in words, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from itertools import chain

from joulecheck.case import (
    AnyCase,
    Case,
    CaseSequence,
    CoefficientCase,
    DerivedCase,
    EquivalentPair,
    InvalidCase,
    MeasuredCase,
    PartedCase,
    PeerCase,
    PrecisionPair,
    ScaledCase,
    WorkloadPair,
    Wrong,
)
from joulecheck.case.kinds import factors_text
from joulecheck.counterexample import Numbers
from joulecheck.errors import HarnessError
from joulecheck.quantities import engineering, many
from joulecheck.workload import Node, Subgraph
from joulecheck.workload.words import workload_text

Line = tuple[str, str]
"""A label and a text."""


@singledispatch
def case_lines(case: AnyCase) -> list[Line]:
    """A case of any kind, a line a question or a node."""
    msg = f"a kind of case that has no words: {case!r}"
    raise HarnessError(msg)


@case_lines.register
def _(case: Case) -> list[Line]:
    return _workload_lines("minimal", case)


@case_lines.register
def _(case: ScaledCase) -> list[Line]:
    factors = ", ".join(f"{n} x {f:.9g}" for n, f in _summary(case.scale).items())
    return [*_workload_lines("minimal", case.case), ("scaled", factors)]


@case_lines.register
def _(case: WorkloadPair) -> list[Line]:
    smaller = _workload_lines("smaller", case.smaller)
    return [*smaller, *_workload_lines("larger", case.larger)]


@case_lines.register
def _(case: PrecisionPair) -> list[Line]:
    wider = f"{case.narrower.precision.name} against {case.wider.precision.name}"
    return [*_workload_lines("minimal", case.narrower), ("widths", wider)]


@case_lines.register
def _(case: DerivedCase) -> list[Line]:
    lines = _workload_lines("minimal", case.case)
    if case.derivation.factors:
        lines.append(("machine", factors_text(case.derivation.factors)))
    if case.derivation.scale:
        lines.append(("scaled", factors_text(case.derivation.scale)))
    return lines


@case_lines.register
def _(case: CoefficientCase) -> list[Line]:
    effort = f"on the first {many(case.witnesses, 'case')} of a fixed seed"
    return [("minimal", f"coefficient {case.coefficient}"), ("tried", effort)]


@case_lines.register
def _(case: CaseSequence) -> list[Line]:
    labels = ["minimal", *("then" for _ in case.cases[1:])]
    return [*chain.from_iterable(map(_workload_lines, labels, case.cases))]


@case_lines.register
def _(case: InvalidCase) -> list[Line]:
    return [*_workload_lines("minimal", case.case), ("invalid", _wrong(case))]


@case_lines.register
def _(case: MeasuredCase) -> list[Line]:
    took = [
        f"{name} {engineering(value, unit)}"
        for name, value, unit in (
            ("latency", case.latency, "s"), ("energy", case.energy, "J")
        )
        if value is not None
    ]  # fmt: skip
    within = f"{', '.join(took)}, to be met within {case.tolerance:.0%}"
    return [*_workload_lines("case", case.case), ("measured", within)]


@case_lines.register
def _(case: PeerCase) -> list[Line]:
    return [*_workload_lines("minimal", case.case), ("peer", case.peer)]


@case_lines.register
def _(case: EquivalentPair) -> list[Line]:
    other = _workload_lines("the same", case.other)
    return [*_workload_lines("minimal", case.one), *other, ("spelling", case.how)]


@case_lines.register
def _(case: PartedCase) -> list[Line]:
    lines = _workload_lines("whole", case.whole)
    for part in case.parts:
        label = "part" if part.times == 1 else f"{part.times} x"
        lines += _workload_lines(label, part.case)
    return [*lines, ("parted by", case.how)]


def _wrong(case: InvalidCase) -> str:
    """What is wrong with a question."""
    match case.wrong:
        case Wrong.OTHER_WORKLOAD:
            return "the model does not declare this kind of workload"
        case Wrong.UNKNOWN_COEFFICIENT:
            return f"no coefficient is called {case.named}"
        case _:
            return f"{case.named} x {case.wrong.value:g}"


def _summary(scale: Mapping[str, float]) -> dict[str, float]:
    """The factors by coefficient, or one for all if many are alike."""
    if len(scale) > 3 and len(set(scale.values())) == 1:  # noqa: PLR2004 - as many as fit a line
        return {f"all {len(scale)} energy coefficients": next(iter(scale.values()))}
    return dict(scale)


def _workload_lines(label: str, case: Case) -> list[Line]:
    precision = case.precision.name
    if not isinstance(case.workload, Subgraph):
        return [(label, f"{workload_text(case.workload)} {precision}")]
    nodes = [
        ("", f"{index}: {_node_text(node)}")
        for index, node in enumerate(case.workload.nodes)
    ]
    return [(label, f"subgraph of {many(len(nodes), 'node')} {precision}"), *nodes]


def _node_text(node: Node) -> str:
    sources = ["outside" if s is None else f"node {s}" for s in node.sources]
    return f"{workload_text(node.operator)} reads {', '.join(sources)}"


def number_lines(numbers: Sequence[Numbers]) -> Iterator[Line]:
    """What the model answered, a few lines a question."""
    for answer in numbers:
        if len(numbers) > 1:
            yield answer.role, _totals(answer)
        else:
            yield "answer", _totals(answer)
        if answer.energy_terms:
            yield "", _terms(answer.energy_terms, "J")
        if answer.latency_terms:
            yield "", _terms(answer.latency_terms, "s")


def _totals(answer: Numbers) -> str:
    parts = [] if answer.error is None else [answer.error]
    if answer.energy is not None:
        parts.append(f"energy {engineering(answer.energy, 'J')}")
    if answer.latency is not None:
        parts.append(f"latency {engineering(answer.latency, 's')}")
    if answer.utilisation is not None:
        parts.append(f"utilisation {answer.utilisation:.4g}")
    return ", ".join(parts) or "no number"


def _terms(terms: Mapping[str, float | None], unit: str) -> str:
    known = {name: value for name, value in terms.items() if value is not None}
    each = (f"{name} {engineering(value, unit)}" for name, value in known.items())
    total = engineering(sum(known.values()), unit)
    return f"{' | '.join(each)} = {total} in all"

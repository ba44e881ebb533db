"""Counts that are known without asking how a model works: of a workload, and of answers.

Multiply-accumulates, operations and compulsory bytes follow from the workload. Bytes of
traffic, seconds and events are outputs of the model. Nothing here reads a price.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.estimate import Answers
from joulecheck.model import Subject
from joulecheck.quantities import OPS_PER_MAC
from joulecheck.workload.columns import PRECISIONS, Floats

ITS_EVENTS: Final = "its events"
"""The name of what a model counts of a coefficient."""


@attrs.frozen(eq=False)
class Count:
    """How often something happens in each of some cases."""

    name: str
    unit: str
    """What is counted, as in the unit of a coefficient: "MAC", "op", "B" or "s"."""
    values: Floats
    """(cases,)"""
    memory: str = ""
    """The memory whose bytes they are, if any."""


def known_counts(model: Subject, cases: Cases, answers: Answers) -> list[Count]:
    """Every count that workloads and answers tell, each also of one precision alone."""
    found = [*_of_work(cases), *_of_answers(model, answers)]
    if len(model.precisions) == 1:
        return found
    for precision in model.precisions:
        here = cases.precision == PRECISIONS.index(precision)
        found += [
            attrs.evolve(
                count,
                name=f"{count.name} at {precision.name}",
                values=np.where(here, count.values, 0.0),
            )
            for count in _of_work(cases)
            if count.unit != "B"
        ]
    return found


def told_events(model: Subject, answers: Answers) -> dict[str, Count]:
    """By coefficient: how often the model says that it is charged."""
    return {
        name: Count(ITS_EVENTS, priced(model.coefficients[name].unit), events)
        for name, events in answers.events.items()
        if name in model.coefficients
    }


def priced(unit: str) -> str:
    """What a coefficient of this unit is charged for: "MAC" of J/MAC, "s" of W."""
    return unit.rpartition("/")[2].replace("W", "s")


def _of_work(cases: Cases) -> Iterator[Count]:
    operators = cases.operators
    macs = operators.per_case(operators.macs)
    others = operators.per_case(operators.other_ops)
    yield Count("MACs", "MAC", macs)
    yield Count("operations beside MACs", "op", others)
    yield Count("operations", "op", cases.ops)
    yield Count("pairs of operations", "MAC", cases.ops / OPS_PER_MAC)
    traffic = cases.traffic
    for role in ("input", "weight", "output", "external"):
        yield Count(f"compulsory {role} bytes", "B", getattr(traffic, role))


def _of_answers(model: Subject, answers: Answers) -> Iterator[Count]:
    yield Count("seconds of latency", "s", answers.latency)
    for memory, declared in model.machine.memories.items():
        if memory in answers.traffic:
            yield Count(f"bytes of {memory}", "B", answers.traffic[memory], memory)
        elif declared.bandwidth and memory in answers.latency_terms:
            moved = answers.latency_terms[memory] * declared.bandwidth
            yield Count(f"bytes of {memory} by its time and bandwidth", "B", moved, memory)

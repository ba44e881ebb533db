"""Figures of a model's answers, by name: what an architect would read off them.

Shares of the energy by term and layer and of the time by term, time over what peaks
and bandwidths allow, power, and traffic and its energy over what is compulsory. With
them one can say where a law fails in the model's own terms, such as "where dram takes
half of the time".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from joulecheck.case import Cases
from joulecheck.estimate import Answers, total
from joulecheck.machine import Memory
from joulecheck.model import Subject
from joulecheck.region.columns import Figures, Told
from joulecheck.workload.columns import PRECISIONS, Floats


def figures_of(model: Subject) -> Told:
    """The figures of a model's answers, as a region's columns take them: NaN for none."""

    def told(cases: Cases) -> Figures:
        return dict(_figures(model, cases, model.ask(cases)))

    return told


def _figures(
    model: Subject, cases: Cases, answers: Answers
) -> Iterator[tuple[str, Floats]]:
    energy, latency = answers.energy, answers.latency
    yield "energy", energy
    yield "latency", latency
    yield "power", _over(energy, latency)
    peak = np.array([model.machine.peak.get(one, np.nan) for one in PRECISIONS])
    least = cases.ops / peak[cases.precision]
    yield "least compute time", least
    yield "latency over least compute time", _over(latency, least)
    yield "times over latency", _over(total(answers.latency_terms, len(cases)), latency)
    for name, joule in answers.energy_terms.items():
        yield f"{name} share of the energy", _over(joule, energy)
    for name, joule in _by_layer(model, answers).items():
        yield f"{name} layer's share of the energy", _over(joule, energy)
    for name, seconds in answers.latency_terms.items():
        yield f"{name} time over latency", _over(seconds, latency)
    for name, memory in model.machine.memories.items():
        yield from _of_memory(name, memory, cases, answers)


def _by_layer(model: Subject, answers: Answers) -> dict[str, Floats]:
    found: dict[str, Floats] = {}
    for name, joule in answers.energy_terms.items():
        layer = model.layers.get(name)
        if layer is not None:
            found[layer.name] = found.get(layer.name, 0.0) + joule
    return found


def _of_memory(
    name: str, memory: Memory, cases: Cases, answers: Answers
) -> Iterator[tuple[str, Floats]]:
    """How busy a memory is, and what crosses its edge for each byte that must."""
    crossing = [getattr(cases.compulsory, role) for role in sorted(memory.homes)]
    compulsory: Floats = np.sum(crossing, axis=0)
    if memory.homes and name in answers.energy_terms:
        joule = answers.energy_terms[name]
        yield f"{name} energy a compulsory byte", _over(joule, compulsory)
    if memory.homes and memory.bandwidth:
        least = compulsory / memory.bandwidth
        yield f"least {name} time", least
        yield f"latency over least {name} time", _over(answers.latency, least)
    if name in answers.traffic:
        moved = answers.traffic[name]
        yield f"{name} bytes an operation", _over(moved, cases.ops)
        if memory.homes:
            yield f"{name} bytes over compulsory", _over(moved, compulsory)


def _over(above: Floats, below: Floats) -> Floats:
    """A quotient; infinite over 0, and NaN where it is no number."""
    with np.errstate(all="ignore"):
        return np.asarray(above / below)

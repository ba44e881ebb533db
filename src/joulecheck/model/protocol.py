"""The protocol that users implement: a name and `estimate`; the rest is optional."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, Never, Protocol

import attrs

from joulecheck.case import Case, Cases
from joulecheck.estimate import Estimate
from joulecheck.knob import Knob
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Totals,
    Workload,
)
from joulecheck.workload.columns import Floats

Scale = Mapping[str, float]

Scales = Mapping[str, Floats]

UNSCALED: Final[Mapping[str, Never]] = {}

NATURE: Final = ("gemm", "conv2d", "elementwise", "subgraph", "totals")
"""The kinds of workload that a model can say it answers for, in `operators`."""

DIMENSIONS: Final = ("batch", "m", "n", "k")
"""What a model can say it splits, in `splits`; images count as batch, filters as n."""

SYMMETRIES: Final = {
    "gemm": "A and B, M and N exchanged",
    "image": "H and W, R and S exchanged",
}
"""What a model can say it is blind to, in `symmetries`."""

COSTS: Final = ("energy", "latency")


class Model(Protocol):
    """An analytical model of energy, latency or both.

    Optional attributes: `coefficients` {name: Coefficient}, `layers` {energy term:
    Layer or None}, `latency_layers` {latency term: Layer}, `latency_composition` (see
    `joulecheck.composition`), `subtotals` {name: energy terms or other sub-totals},
    `smooth` (names of memories), `precisions`, `operators` (a subset of `NATURE`),
    `machine`, `bounds`, `exemptions`, `estimate_batch(cases, scales)`, which answers a
    whole batch with arrays, and `knobs` {name: Knob} with `derive(factors)`, which gives
    the model of another machine. `splits` (a subset of `DIMENSIONS`), `gradual` and
    `symmetries` {one of `SYMMETRIES`: costs} tell of the mapping, and `resident` {memory:
    bytes} of what crosses its edge once: see `Subject`.
    """

    name: str

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """Answer one case, with each named coefficient times its factor.

        Raises:
            Unsupported: the model does not answer for such a case.
        """


class BatchModel(Model, Protocol):
    """A model that answers a whole batch with arrays."""

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """Answer all cases, each field an array with one entry a case."""


class DerivableModel(Model, Protocol):
    """A model that gives models of other machines."""

    knobs: Mapping[str, Knob]

    def derive(self, factors: Mapping[str, float]) -> Model:
        """The model of the machine with each named figure times its factor.

        It is another object, and this one stays what it is.

        Raises:
            Unsupported: there can be no such machine.
        """


@attrs.frozen
class Exemption:
    """A model's word that a property does not apply to it, with the reason."""

    property: str
    reason: str
    evidence: str = ""


class Offer(Enum):
    """What a model may offer and a property may need. The value says how to offer it."""

    ENERGY = "return Estimate(energy=...)"
    LATENCY = "return Estimate(latency=...)"
    UTILISATION = "return Estimate(utilisation=...)"
    ENERGY_TERMS = "return Estimate(energy_terms={...})"
    LATENCY_TERMS = "return Estimate(latency_terms={...})"
    LAYERS = "declare layers = {term: Layer}"
    THROUGH = "return Estimate(through={Layer: joule up to that layer})"
    LATENCY_THROUGH = "return Estimate(latency_through={Layer: second up to that layer})"
    COMPOSITION = 'declare latency_composition = Sum("launch", Max(...))'
    SUBTOTALS = "return Estimate(subtotals={...}) and declare subtotals = {name: terms}"
    TRAFFIC = "return Estimate(traffic={memory: bytes})"
    EVENTS = "return Estimate(events={coefficient: how often it is charged})"
    RESIDENT = "declare resident = {memory: bytes of operands that cross its edge once}"
    COEFFICIENTS = "declare coefficients = {name: Coefficient(...)} and obey `scale`"
    PEAK = "declare machine = Machine(name=..., peak={Precision: op/s})"
    BANDWIDTH = "declare machine = Machine(name=..., memories={name: Memory(...)})"
    BATCH = "define estimate_batch(cases, scales)"
    KNOBS = "declare knobs = {name: Knob(...)} and define derive(factors)"
    RESOURCES = "declare machine = Machine(name=..., resources=Resources(...))"
    PEERS = "be one of several models, of a family or named together"
    SPLITS = "declare splits = {dimensions that the mapping may cut anywhere}"
    GRADUAL = "declare gradual = True if one element more costs at most a quantum"
    SYMMETRIES = 'declare symmetries = {"gemm" or "image": costs that it leaves}'


SMALLEST: Final[dict[str, Workload]] = {
    "gemm": Gemm(m=1, n=1, k=1),
    "conv2d": Conv2d(n=1, c=1, h=1, w=1, k=1, r=1, s=1),
    "elementwise": Elementwise(Function.RELU, (1,)),
    "totals": Totals(ops=2, bytes=3),
}
"""The plainest workload of each kind; that of a graph follows from its operators."""

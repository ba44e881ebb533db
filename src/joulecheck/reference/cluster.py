"""Clusters: equal chips in a ring that share the work of every operator.

`shards` tells what one chip does, and of which results it then lacks a part. A ring
collective brings that: in each of p - 1 steps every chip sends 1/p of the results to the
next. An all-gather is one such pass, a reduce-scatter another, and an all-reduce is both:

    t = passes ((p - 1) alpha + (p - 1)/p V / beta),   bytes over links = passes (p - 1) V

with alpha the time of a step beside its bytes, beta the rate at which a chip sends, and V
the bytes of the whole result. Latency is a sum: that of the chip with the largest share,
and of the collectives, each of which waits for the operator whose results it carries.
Energy is that of all chips, of the bytes over links, and static power while they wait.

On one chip everything is exactly that of the chip, and the term `link` is exactly 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeVar

import attrs
import numpy as np
from numpy.typing import ArrayLike

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.composition import Composition, Sum
from joulecheck.errors import UnknownName
from joulecheck.estimate import Deferred, Estimate
from joulecheck.knob import Knob, KnobKind
from joulecheck.machine import Machine, Memory
from joulecheck.model import UNSCALED, Exemption, Scales
from joulecheck.reference.layered import Coefficients, LayeredModel, Rates
from joulecheck.reference.machine_file import CoefficientRow, Link, MachineFile
from joulecheck.reference.shards import PASSES, Along, exchanged, shard
from joulecheck.workload import Precision
from joulecheck.workload.columns import Floats

PRICE: Final = "link_energy"
"""The coefficient of a byte that one chip sends to the next."""

STATIC: Final = "static_power"

WAITS: Final = ("hops", "link")
"""The latency terms of collectives."""

LINK_RATE: Final = "link.bandwidth"

LINK_DELAY: Final = "link.latency"

SUFFIX: Final = re.compile(r"(0|[1-9][0-9]{0,8})x[A-Za-z]")
"""Such as 8xN: so many chips, and the dimension along which they split the work."""

WHOLE_GROUPS: Final = Exemption(
    "SYM002",
    "groups of a convolution are dealt out whole, and chips that are left over stay idle",
    "of two groups on three chips each has one chip; one group would have three",
)

PADDED_SHARES: Final = Exemption(
    "BND013",
    "each chip computes a whole share, padding included, and its ALU is charged for it",
    "of one MAC on eight chips each computes one",
)

Figures = TypeVar("Figures", CoefficientRow, MachineFile, Memory)


class ClusterEnergyModel(LayeredModel):
    """Energy and latency of several equal chips.

    A cluster that sends nothing has the term `link`, which is 0, but no price for it.
    """

    def __init__(self, chip: LayeredModel, chips: int, along: Along, link: Link) -> None:
        """Join `chips` copies of `chip` in a ring and split operators along a dimension."""
        self.chip = chip
        self.chips = chips
        self.along = along
        self.link = link
        super().__init__(self._together(chip.data))

    def _together(self, one: MachineFile) -> MachineFile:
        """All chips as one machine: units, rates, capacities and powers add up."""
        chips, quanta = self.chips, one.quanta
        coefficients = {
            **one.coefficients,
            STATIC: _times(chips, one.coefficients[STATIC], "value"),
        }
        if self.hops:
            coefficients[PRICE] = self.link.energy
        return attrs.evolve(
            _times(chips, one, "units", "idle_power", "tdp"),
            name=f"{one.name}@{chips}x{self.along.name}",
            quanta=tuple(sorted({chips, *quanta, *(chips * q for q in quanta)})),
            peak={precision: chips * peak for precision, peak in one.peak.items()},
            memories={
                name: _times(chips, memory, "bandwidth", "capacity")
                for name, memory in one.memories.items()
            },
            coefficients=coefficients,
            operating_points={},
        )

    @cached_property
    def machine(self) -> Machine:
        """All chips as one, without resources: they do not tell what chips must send."""
        return attrs.evolve(super().machine, resources=None, successor_of=())

    @property
    def exemptions(self) -> tuple[Exemption, ...]:
        """Of padded shares, and of groups that are dealt out whole, along N and K."""
        padded = (PADDED_SHARES,) if self.chips > 1 else ()
        return (*padded, WHOLE_GROUPS) if self.hops else padded

    @cached_property
    def layers(self) -> dict[str, Layer]:
        """Those of the chip, and the link."""
        return {**self.chip.layers, "link": Layer.CLUSTER}

    @cached_property
    def latency_layers(self) -> dict[str, Layer]:  # type: ignore[override]  # as `layers`
        """Those of the chip, and of the steps and the bytes of collectives."""
        return {**self.chip.latency_layers, **dict.fromkeys(WAITS, Layer.CLUSTER)}

    @property
    def latency_composition(self) -> Composition:
        """That of the chip, and then the collectives."""
        return Sum(self.chip.latency_composition, *WAITS)

    @cached_property
    def subtotals(self) -> dict[str, Sequence[str]]:  # type: ignore[override]  # as `layers`
        """Those of the chip; the link moves data."""
        movement = (*self.chip.subtotals["all_movement"], "link")
        return {**self.chip.subtotals, "all_movement": movement}

    @property
    def smooth(self) -> frozenset[str]:  # type: ignore[override]  # as `layers`
        """Those of the chip."""
        return self.chip.smooth

    def _passed(self, name: str, memory: Memory) -> Memory:
        """The memories of all chips, which carry what that of one does."""
        del memory
        one = self.chip.machine.memories[name]
        return _times(self.chips, one, "bandwidth", "capacity")

    @property
    def resident(self) -> dict[str, float]:
        """That of the chip if it is alone: several have some operands each."""
        return self.chip.resident if self.chips == 1 else {}

    def _moved_by(self, coefficient: str) -> frozenset[str]:
        """What it moves in the chip; the price of the link moves the link."""
        if coefficient == PRICE:
            return frozenset({"link"})
        return self.chip.coefficients[coefficient].terms or frozenset()

    @cached_property
    def knobs(self) -> dict[str, Knob]:
        """Those of the chips, all turned alike, and of a link that something crosses."""
        link = {LINK_RATE: Knob(KnobKind.RATE), LINK_DELAY: Knob(KnobKind.DELAY)}
        return self.chip.knobs | (link if self.hops else {})

    def derive(self, factors: Mapping[str, float]) -> ClusterEnergyModel:
        """As many chips of the machine with each of these figures times its factor.

        Raises:
            Unsupported: a number of units is not whole.
        """
        own = {name: f for name, f in factors.items() if name in self.chip.knobs}
        link = attrs.evolve(
            self.link,
            bandwidth=self.link.bandwidth * factors.get(LINK_RATE, 1.0),
            latency=self.link.latency * factors.get(LINK_DELAY, 1.0),
        )
        return ClusterEnergyModel(self.chip.derive(own), self.chips, self.along, link)

    @property
    def hops(self) -> int:
        """Links that each byte of a result crosses to reach every chip."""
        return PASSES[self.along] * (self.chips - 1)

    def power(self, precision: Precision) -> dict[Layer, float]:
        """The larger of all chips at work and all links: they take turns."""
        one = self.chip.power(precision)
        working = {layer: self.chips * watt for layer, watt in one.items()}
        sending = super().power(precision)
        return max(working, sending, key=lambda layers: sum(layers.values()))

    def _greatest_rates(
        self, precision: Precision, e: Mapping[str, float]
    ) -> Iterator[Rates]:
        """All links at once."""
        del precision, e
        if self.hops:
            yield {PRICE: self.chips * self.link.bandwidth}

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """Answer a batch with arrays, one entry a case."""
        e = Coefficients(self.coefficients, scales)
        price = e[PRICE] if self.hops else 0.0
        own = {name: factor for name, factor in scales.items() if name != PRICE}
        one = self.chip.estimate_batch(self._share(cases), own)
        results = exchanged(cases, self.along)
        sent = results * self.hops / self.chips
        waits = self._waits(cases, sent)
        waited = waits["hops"] + waits["link"]
        latency: Floats = np.asarray(one.latency) + waited
        terms = {name: self.chips * np.asarray(v) for name, v in one.energy_terms.items()}
        terms["static"] = latency * e[STATIC]
        link_bytes = self.chips * cases.operators.per_case(sent)
        terms["link"] = link_bytes * price
        links = self.hops * (cases.operators.per_case(results) * price)
        through = self._through(one, links)
        through[Layer.STATIC] += waited * e[STATIC]
        return Estimate(
            energy=through[Layer.STATIC],
            latency=latency,
            utilisation=cases.ops / (latency * self.peak[cases.precision]),
            energy_terms=terms,
            latency_terms={**one.latency_terms, **waits},
            through=through,
            latency_through={
                **one.latency_through,
                Layer.CLUSTER: np.asarray(one.latency_through[Layer.DRAM]) + waited,
            },
            subtotals=self._subtotals(one, links),
            traffic={name: self.chips * np.asarray(q) for name, q in one.traffic.items()},
            events=Deferred(lambda: self._together_told(one.events, latency, link_bytes)),
        )

    def _together_told(
        self, one: Mapping[str, ArrayLike], latency: Floats, sent: Floats
    ) -> dict[str, Floats]:
        """How often each coefficient is charged: of all chips, and of their links.

        Args:
            one: of a chip.
            latency: (cases,) seconds, all of which draw the static power of all chips.
            sent: (cases,) bytes over all links.
        """
        chips = {name: self.chips * np.asarray(count) for name, count in one.items()}
        found = {**chips, STATIC: latency}
        return found | ({PRICE: sent} if self.hops else {})

    def _subtotals(self, one: Estimate, links: Floats) -> dict[str, Floats]:
        """Joule of all chips by kind, and of the links, which move data."""
        moved = {"all_movement": links, "dynamic": links}
        return {
            name: self.chips * np.asarray(joule) + moved.get(name, 0.0)
            for name, joule in one.subtotals.items()
        }

    def _share(self, cases: Cases) -> Cases:
        """What a chip with the largest share is asked."""
        if self.chips == 1:
            return cases
        ops = shard(cases.operators, self.chips, self.along)
        return Cases(cases.precision, cases.__getitem__, lambda: ops)

    def _waits(self, cases: Cases, sent: Floats) -> dict[str, Floats]:
        """Seconds of the steps of all collectives, and of the bytes that a chip sends.

        Args:
            cases: the batch.
            sent: (ops,) bytes that each chip sends.
        """
        sums = cases.operators.per_case
        steps = self.hops * np.sign(sent)
        return {
            "hops": sums(steps * self.link.latency),
            "link": sums(sent / self.link.bandwidth),
        }

    def _through(self, one: Estimate, links: Floats) -> dict[Layer, Floats]:
        """Joule up to and with each layer while no chip waits, by the way of each byte.

        Not a sum of the terms: each chip gives its own predictions, which include its
        own path to the total, and every byte of a result makes so many hops.

        Args:
            one: what a chip predicts of its share.
            links: (cases,) joule of moving the whole results over all of their hops.
        """
        found: dict[Layer, Floats] = {
            layer: self.chips * np.asarray(joule)
            for layer, joule in one.through.items()
            if layer is not Layer.STATIC
        }
        *_, chips = found.values()
        found[Layer.CLUSTER] = chips + links
        found[Layer.STATIC] = self.chips * np.asarray(one.energy) + links
        return found


def _times(chips: int, one: Figures, *fields: str) -> Figures:
    """The same with some of its figures, where it states them, so many times."""
    stated = {name: getattr(one, name) for name in fields}
    return attrs.evolve(
        one, **{name: chips * value for name, value in stated.items() if value is not None}
    )


def is_cluster(suffix: str) -> bool:
    """Whether what follows the last @ of a name asks for several chips."""
    return SUFFIX.fullmatch(suffix) is not None


def cluster_of(chip: LayeredModel, suffix: str) -> ClusterEnergyModel:
    """Several copies of a chip as a suffix such as 8xN asks for them.

    Raises:
        UnknownName: the machine states no link or is a cluster, its link joins fewer
            chips, or there is no such dimension.
    """
    chips, letter = suffix.split("x")
    if isinstance(chip, ClusterEnergyModel):
        msg = (
            f"{chip.name} joins no clusters of clusters, asked for {suffix}: multiply the "
            f"chips and write one @CHIPSxDIMENSION"
        )
        raise UnknownName(msg)
    link = chip.data.link
    if link is None:
        msg = (
            f"{chip.name} joins no clusters, asked for {suffix}: its machine file states "
            f"no [link]; drop the @{suffix}"
        )
        raise UnknownName(msg)
    if letter not in Along.__members__:
        msg = (
            f"{chip.name}@{suffix} must split work along M, N or K, got {letter!r}: "
            f"write @{chips}xM, @{chips}xN or @{chips}xK"
        )
        raise UnknownName(msg)
    if not 1 <= int(chips) <= link.chips:
        msg = (
            f"{chip.name}@{suffix} must have 1 to {link.chips} chips, as many as its link "
            f"joins, got {chips}"
        )
        raise UnknownName(msg)
    return ClusterEnergyModel(chip, int(chips), Along[letter], link)

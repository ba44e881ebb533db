"""Clusters: equal chips in a ring that share the work of every operator.

`shards` tells what one chip does and which bytes it lacks then. A ring collective brings
them: in each of p - 1 steps every chip sends a part of 1/p of the results to the next. An
all-gather is one such pass, a reduce-scatter is another, and an all-reduce is both:

    t = passes ((p - 1) alpha + (p - 1)/p V / beta),   bytes over links = passes (p - 1) V

with alpha the time of a step beside its bytes, beta the rate at which a chip sends, and V
the bytes of the whole result. Latency is a sum: that of the chip with the largest share,
and of the collectives, each of which waits for the operator whose results it carries.
Energy is that of all chips, of the bytes over links, and static power while they wait.

On one chip everything is exactly that of the chip, and the term `link` is exactly 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Coefficient, Layer
from joulecheck.errors import UnknownName
from joulecheck.estimate import Estimate
from joulecheck.machine import Machine, Memory
from joulecheck.model import UNSCALED, Scales
from joulecheck.reference.layered import Coefficients, LayeredModel
from joulecheck.reference.machine_file import Link
from joulecheck.reference.shards import PASSES, Along, exchanged, shard
from joulecheck.workload.columns import Floats

PRICE: Final = "link_energy"
"""The coefficient of a byte that one chip sends to the next."""

SUFFIX: Final = re.compile(r"(0|[1-9][0-9]*)x[A-Za-z]")
"""Such as 8xN: so many chips, and the dimension along which they split the work."""


class ClusterEnergyModel(LayeredModel):
    """Energy and latency of several equal chips."""

    def __init__(self, chip: LayeredModel, chips: int, along: Along, link: Link) -> None:
        """Join `chips` copies of `chip` in a ring and split operators along a dimension."""
        name = f"{chip.name}@{chips}x{along.name}"
        super().__init__(attrs.evolve(chip.data, name=name))
        self.chip = chip
        self.chips = chips
        self.along = along
        self.link = link

    @property
    def layers(self) -> Mapping[str, Layer]:
        """Those of the chip, and the link."""
        return {**self.chip.layers, "link": Layer.CLUSTER}

    @cached_property
    def coefficients(self) -> dict[str, Coefficient]:
        """Those of the chip, and the price of a byte over a link if any is sent."""
        if not self.hops:
            return self.chip.coefficients
        row = self.link.energy
        terms = frozenset({"link"})
        price = Coefficient(PRICE, row.value, row.unit, terms, row.source, row.provenance)
        return {**self.chip.coefficients, PRICE: price}

    @cached_property
    def machine(self) -> Machine:
        """All chips together: their rates and capacities add up."""
        one, chips = self.chip.machine, self.chips
        return attrs.evolve(
            one,
            name=self.name,
            units=chips * (one.units or 1),
            peak={precision: chips * peak for precision, peak in one.peak.items()},
            memories={name: _times(chips, m) for name, m in one.memories.items()},
            tdp=None if one.tdp is None else chips * one.tdp,
            idle_power=None if one.idle_power is None else chips * one.idle_power,
            quanta=tuple(sorted({chips, *one.quanta, *(chips * q for q in one.quanta)})),
        )

    @cached_property
    def peak(self) -> Floats:
        """(precisions,) operations a second of all chips, NaN where not supported."""
        return self.chips * self.chip.peak

    @property
    def hops(self) -> int:
        """Links that each byte of a result crosses to reach every chip."""
        return PASSES[self.along] * (self.chips - 1)

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """Answer a batch with arrays, one entry a case."""
        e = Coefficients(self.coefficients, scales)
        power = e["static_power"]
        price = e[PRICE] if self.hops else 0.0
        own = {name: factor for name, factor in scales.items() if name != PRICE}
        one = self.chip.estimate_batch(self._share(cases), own)
        results = exchanged(cases, self.along)
        sent = results * self.hops / self.chips
        waits = self._waits(cases, sent)
        waited = waits["hops"] + waits["link"]
        latency: Floats = np.asarray(one.latency) + waited
        terms = {name: self.chips * np.asarray(v) for name, v in one.energy_terms.items()}
        terms["static"] = self.chips * (latency * power)
        terms["link"] = self.chips * cases.operators.per_case(sent) * price
        through = self._through(one, cases.operators.per_case(results) * price)
        through[Layer.STATIC] += self.chips * (waited * power)
        return Estimate(
            energy=through[Layer.STATIC],
            latency=latency,
            utilisation=cases.ops / (latency * self.peak[cases.precision]),
            energy_terms=terms,
            latency_terms={**one.latency_terms, **waits},
            through=through,
        )

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

    def _through(self, one: Estimate, hop: Floats) -> dict[Layer, Floats]:
        """Joule up to and with each layer while no chip waits, by the way of each byte.

        Not a sum of the terms: each chip gives its own predictions, which include its
        own path to the total, and every byte of a result makes so many hops.

        Args:
            one: what a chip predicts of its share.
            hop: (cases,) joule of moving the whole results over one link.
        """
        found: dict[Layer, Floats] = {
            layer: self.chips * np.asarray(joule)
            for layer, joule in one.through.items()
            if layer is not Layer.STATIC
        }
        *_, chips = found.values()
        found[Layer.CLUSTER] = chips + self.hops * hop
        found[Layer.STATIC] = self.chips * np.asarray(one.energy) + self.hops * hop
        return found


def _times(chips: int, memory: Memory) -> Memory:
    """The memories of all chips."""
    return attrs.evolve(
        memory,
        bandwidth=None if memory.bandwidth is None else chips * memory.bandwidth,
        capacity=None if memory.capacity is None else chips * memory.capacity,
    )


def is_cluster(suffix: str) -> bool:
    """Whether what follows the last @ of a name asks for several chips."""
    return SUFFIX.fullmatch(suffix) is not None


def cluster_of(chip: LayeredModel, suffix: str) -> ClusterEnergyModel:
    """Several copies of a chip as a suffix such as 8xN asks for them.

    Raises:
        UnknownName: the machine states no link, which joins fewer chips, or there is no
            such dimension.
    """
    chips, letter = suffix.split("x")
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

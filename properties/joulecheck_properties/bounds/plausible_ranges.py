"""BND011."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.errors import NotOffered
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most, least
from joulecheck_strategies import workloads

LEAST_OP_ENERGY: Final = 1e-16
"""Joule: 0.1 fJ."""
GREATEST_POWER: Final = 1e6
"""Watt."""
GREATEST_RATE: Final = 1e19
"""Operations a second."""
GREATEST_START: Final = 1.0
"""Second before any work starts."""
GREATEST_STEP: Final = 1e-6
"""Second of an operation, or of a byte."""


class PlausibleRanges(Property):
    """Energy and latency lie within decades of what machines can do.

    Statement:
        0.1 fJ x ops <= E <= 1 MW x T, and
        ops / 10^19 op/s <= T <= 1 s + 1 us x (ops + bytes).
        Without a latency of the model the upper end of T stands for it.

    Rationale:
        Picojoule and joule, nanosecond and second, MHz and Hz are nine or twelve decades
        apart: a unit that is lost shows against any machine there is.

    Domain:
        Every case, for machines from a microcontroller to a rack.

    Tolerance:
        1e-9, for products; the ends themselves are generous by more than a decade.

    Source:
        An 8-bit addition takes 30 fJ at 45 nm (Horowitz, ISSCC 2014) and 7 fJ at 7 nm
        (Jouppi et al., ISCA 2021). 0.1 fJ is still 4,000 times kT ln 2 for each of its
        bits, 2.9e-21 J at 300 K (Landauer, IBM Journal of Research and Development 5(3),
        1961). A rack of 72 GPUs takes about 0.12 MW and reaches less than 10^18 op/s in
        FP4 (NVIDIA, GB200 NVL72). A microcontroller does some 10^7 op/s.

    Planted bug:
        picojoules: energies are in picojoule.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        BND009 and BND013 to BND015 find the same slips where a machine and its prices are
        declared. This is the one bound for a model that declares nothing.
    """

    id: ClassVar = "BND011"
    name: ClassVar = "plausible-ranges"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="picojoules",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if not model.offers & {Offer.ENERGY, Offer.LATENCY}:
            msg = "to offer it, return Estimate(energy=...) or Estimate(latency=...)"
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over the ends of both ranges."""
        answers = model.ask(cases)
        energy, latency = answers.energy, answers.latency
        longest = GREATEST_START + GREATEST_STEP * (cases.ops + cases.bytes)
        time = np.where(np.isnan(latency), longest, latency)
        margins = (
            at_most(LEAST_OP_ENERGY * cases.ops, energy),
            at_most(energy, GREATEST_POWER * time),
            at_most(cases.ops / GREATEST_RATE, latency),
            at_most(latency, longest),
        )
        return least(margins, len(cases))

"""BND007."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.errors import NotOffered
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.quantities import BITS_PER_BYTE
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most
from joulecheck_strategies import single_operators

OPERANDS: Final = frozenset({"input", "weight", "output"})


class IoLowerBound(Property):
    """No schedule of a GEMM moves fewer bytes across the edge of the chip than it must.

    Statement:
        Q >= max(compulsory bytes, 2 M N K w^1.5 / sqrt(S) - 2 S), where Q are the bytes
        that cross all memories outside the chip, S the bytes of all memories on it, and
        w the bytes of an element.

    Rationale:
        Operands that exceed the chip come back. A traffic model that lets every operand
        cross once, or that divides by the capacity where its root belongs, promises
        what no tiling can keep.

    Domain:
        GEMMs, on machines that tell the home of each operand, the capacity of every
        other memory and its copies: S must be all that can hold an operand. Elements
        wider than w, such as partial sums, only raise the need. Not convolutions, whose
        inputs overlap.

    Tolerance:
        1e-9, for products in another order.

    Source:
        Smith, Lowery, Langou and van de Geijn, A Tight I/O Lower Bound for Matrix
        Multiplication, arXiv:1702.02017: at least 2 M N K / sqrt(s) - 2 s elements cross
        for any schedule with room for s of them. With s = S / w that is the bound.

    Planted bug:
        unwritten-results: what is written is not counted.

    Shrinks to:
        The GEMM of one MAC, whose three elements all cross.

    Stays because:
        BND014 finds bytes that are missing where their energy is right. This law looks at
        the bytes by themselves, and is the one that knows of a traffic below what any
        schedule needs.
    """

    id: ClassVar = "BND007"
    name: ClassVar = "io-lower-bound"
    needs: ClassVar = frozenset({Offer.TRAFFIC})
    planted: ClassVar = Planted(
        fault="unwritten-results",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """GEMMs."""
        memories = model.machine.memories
        told = [m.homes for name, m in memories.items() if name in model.traffic]
        near = [memory for memory in memories.values() if not memory.homes]
        if frozenset().union(*told) != OPERANDS or any(m.capacity is None for m in near):
            msg = (
                "it does not declare the home of input, weight and output, with its "
                "traffic, and the capacity of every other memory"
            )
            raise NotOffered(msg)
        return single_operators(model, kinds=("gemm",))

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """How far the bound stays below what crosses the edge of the chip."""
        answers, memories = model.ask(cases), model.machine.memories
        crossing = sum(
            answers.traffic.get(name, answers.absent)
            for name, memory in memories.items()
            if memory.homes
        )
        room = sum(m.copies * (m.capacity or 0) for m in memories.values() if not m.homes)
        width = cases.bits / BITS_PER_BYTE
        again = 2 * cases.macs * width**1.5 / np.sqrt(room) - 2 * room
        bound = np.maximum(cases.compulsory.external, again)
        return at_most(bound, np.asarray(crossing))

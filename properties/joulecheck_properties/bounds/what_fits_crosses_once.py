"""BND018."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.errors import NotOffered
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.quantities import BITS_PER_BYTE
from joulecheck.space import CaseSpace
from joulecheck.workload import Conv2d
from joulecheck.workload.columns import (
    PARTIAL_SUM_BYTES,
    Floats,
    batch_traffic,
    tensor_bytes,
)
from joulecheck_properties.margins import at_most, least
from joulecheck_strategies import workloads


class WhatFitsCrossesOnce(Property):
    """What a machine says it keeps crosses the edge of its home once.

    Statement:
        Q_m <= bytes_m for every memory m with a number of bytes R_m in `resident`, where
        all operands of each operator, results at the width of a partial sum, take no more
        than R_m. Q_m is the traffic that the model tells, and bytes_m are the external
        tensors whose home is m, each once and in whole lines of m.

    Rationale:
        A tensor that fits is fetched once, whatever the order of the loops. Windows of a
        convolution that are moved each in full, or an operand that is read again for
        every tile although it stayed, cost no bound from below.

    Domain:
        Memories with homes and traffic, on machines that declare what they keep. Not all
        do: laying out the windows of a convolution before they cross is a poor design and
        a real one. A partial sum has 8 bytes in formats of 64 bits and 4 in others.

    Tolerance:
        1e-9, for products in another order.

    Source:
        Compulsory misses: Hill and Smith, IEEE Transactions on Computers 38(12), 1989.

    Planted bug:
        windows-in-full: each window of a convolution crosses in full.

    Shrinks to:
        The convolution of one element by a filter of one, with a border of padding: nine
        windows are laid out, of which one has an element.
    """

    id: ClassVar = "BND018"
    name: ClassVar = "what-fits-crosses-once"
    needs: ClassVar = frozenset({Offer.TRAFFIC, Offer.RESIDENT})
    planted: ClassVar = Planted(
        fault="windows-in-full",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Conv2d(n=1, c=1, h=1, w=1, k=1, r=1, s=1, padding=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if not _homes(model):
            msg = "it declares no memory with homes, with its traffic, and in `resident`"
            raise NotOffered(msg)
        if model.operators == {"totals"}:
            msg = "it answers for totals only, which do not tell operands"
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over the memories that keep all operands of a case."""
        answers = model.ask(cases)
        needed = _room_needed(cases)
        margins = []
        for name in _homes(model):
            if name not in answers.traffic:
                continue
            memory = model.machine.memories[name]
            once = batch_traffic(cases.operators, cases.bits, line=memory.line or 1)
            allowed = sum(getattr(once, role) for role in sorted(memory.homes))
            margin = at_most(answers.traffic[name], np.asarray(allowed))
            margins.append(np.where(needed <= model.resident[name], margin, np.nan))
        return least(margins, len(cases))


def _homes(model: Subject) -> list[str]:
    """The memories that the law is about."""
    return [
        name
        for name, memory in model.machine.memories.items()
        if memory.homes and name in model.traffic and name in model.resident
    ]


def _room_needed(cases: Cases) -> Floats:
    """(n,) bytes of the operands of the operator that needs most of each case."""
    ops = cases.operators
    bits = ops.per_operator(cases.bits)
    partial = ops.per_operator(PARTIAL_SUM_BYTES[cases.precision])
    inputs = ops.external_inputs + ops.internal_inputs
    results = ops.output_elements * np.maximum(partial, bits / BITS_PER_BYTE)
    size = (
        tensor_bytes(ops.input_elements, bits) * inputs
        + tensor_bytes(ops.weight_elements, bits)
        + results
    )
    largest: Floats = np.maximum.reduceat(size, ops.starts)
    return largest

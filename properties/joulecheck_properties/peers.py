"""What laws over two models share: which peers they take, and what is declared of both."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

import numpy as np

from joulecheck.errors import NotOffered
from joulecheck.machine import Machine
from joulecheck.model import Offer, Subject
from joulecheck.workload import Precision
from joulecheck_strategies import Sizes

OPERANDS: Final = ("input", "weight", "output")

LARGE: Final = Sizes(
    m=(4096, 32768),
    n=(4096, 32768),
    k=(1024, 32768),
    images=(32, 128),
    image=(28, 112),
    channels=(1024, 4096),
    filters=(1024, 4096),
    taps=(0, 1),
    stride=(1, 1),
    length=(4096, 16384),
    width=(64, 256),
)
"""Work of a thousand output tiles of 128 x 128 and more, and of a depth of 1024 and
more: a part of a tile, a last wave and a launch are small against it. A convolution has
as many rows as its images have pixels. Scores of attention are as large, not as deep."""


def named(model: Subject, names: Iterable[str]) -> Iterator[Subject]:
    """Those of its peers, and of its own operating points, that are called so.

    Args:
        model: whose peers.
        names: within the family; names that it does not know are passed over.
    """
    family, _, own = model.name.rpartition(":")
    for name in names:
        full = f"{family}:{name}"
        if name != own and full in model.peers:
            yield model.peer(full)


def everyone(model: Subject) -> Iterator[Subject]:
    """All its peers, and itself at each of its operating points."""
    yield from map(model.peer, model.peers)
    own = model.name.rpartition(":")[2]
    yield from named(model, (f"{own}@{p}" for p in model.machine.operating_points))


def with_precisions(
    model: Subject,
    peers: Iterable[Subject],
    reason: str,
    *,
    offering: Collection[Offer],
    among: Collection[Precision] = frozenset(Precision),
) -> tuple[tuple[str, Precision], ...]:
    """Each of the peers at each precision that both have.

    Args:
        model: the model.
        peers: those that a law is about.
        reason: why there may be none.
        offering: what a law needs of a peer, but for peers; those that do not offer it
            are left out.
        among: the precisions that a law is about.

    Raises:
        NotOffered: there is none.
    """
    needed = set(offering) - {Offer.PEERS}
    found = tuple(
        (peer.name, precision)
        for peer in peers
        if peer.offers.issuperset(needed)
        for precision in model.precisions
        if precision in peer.precisions and precision in among
    )
    if not found:
        raise NotOffered(reason)
    return found


def advantage(machine: Machine, other: Machine, precision: Precision) -> float:
    """The least of what one machine has more: peak, and bandwidth to each home.

    NaN where one of them states no such figure.
    """
    ratios = [_ratio(machine.peak.get(precision), other.peak.get(precision))]
    mine, theirs = _homes(machine), _homes(other)
    ratios += [_ratio(mine.get(o), theirs.get(o)) for o in OPERANDS]
    return float(np.min(ratios))


def _homes(machine: Machine) -> dict[str, float | None]:
    """The bandwidth of each operand's home."""
    return {
        operand: memory.bandwidth
        for memory in machine.memories.values()
        for operand in memory.homes
    }


def _ratio(one: float | None, other: float | None) -> float:
    return one / other if one and other else float("nan")

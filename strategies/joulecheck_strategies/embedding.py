"""Larger graphs around given ones: genes of whole nodes moved between rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from joulecheck.workload.columns import Ints


class Embedded(NamedTuple):
    """Rows of larger graphs, not yet canonical."""

    rows: Ints
    offsets: Ints
    """How many places later the first node of each smaller graph stands."""


def embed(  # noqa: PLR0913 - two batches of graphs and where their genes are
    rng: np.random.Generator,
    inner: Ints,
    outer: Ints,
    nodes: tuple[Ints, Ints],
    column: Mapping[str, int],
    max_nodes: int,
) -> Embedded:
    """Put each inner graph, with its own edges, between two nodes of an outer one.

    Args:
        rng: chooses the places.
        inner: (n, width) rows of graphs; all that is not a node is taken from them.
        outer: (n, width) rows of graphs, as many.
        nodes: (n,) how many nodes the inner and the outer graphs have.
        column: the index of each gene; those of a node lie together.
        max_nodes: how many nodes a row has room for.
    """
    ours, theirs = nodes
    room = np.minimum(theirs, max_nodes - ours)
    offset = rng.integers(0, room, endpoint=True)
    width = column["0.more"], column["1.more"]
    per_node = width[1] - width[0]
    slot = np.arange(max_nodes)
    within = (slot >= offset[:, None]) & (slot < (offset + ours)[:, None])
    after = slot >= (offset + ours)[:, None]
    origin = slot - np.where(within, offset[:, None], np.where(after, ours[:, None], 0))
    split = max_nodes * per_node
    both = np.concatenate(
        [rows[:, :split].reshape(-1, per_node) for rows in (inner, outer)]
    )
    first = max_nodes * np.arange(len(inner))[:, None]
    taken = np.where(within, first, max_nodes * len(inner) + first) + origin
    moved = np.take(both, taken, axis=0)
    more, source = column["0.more"], column["0.source"]
    moved[:, 1:, more] = slot[1:] < np.minimum(ours + theirs, max_nodes)[:, None]
    moved[:, 0, more] = 0
    sources = moved[:, :, source]
    outside = within & (sources >= origin)
    moved[:, :, source] = np.minimum(np.where(outside, slot, sources), slot)
    rows = np.array(inner, order="F")
    rows[:, :split] = moved.reshape(len(inner), split)
    return Embedded(rows, offset)

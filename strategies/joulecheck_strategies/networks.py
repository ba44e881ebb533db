"""Layers and blocks of real networks, from the data file beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import attrs

from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Node,
    Subgraph,
    Workload,
)
from joulecheck.workload.subgraph import AnyOperator, operand_count

OUTSIDE = -1
"""What a node of a block reads from outside, in the data file."""


@attrs.frozen
class Network:
    """Shapes that occur in one real network, and the paper that gives them."""

    name: str
    source: str
    layers: tuple[Workload, ...]
    blocks: tuple[Subgraph, ...]


@cache
def networks() -> tuple[Network, ...]:
    """All networks of the data file."""
    text = files(__package__).joinpath("networks.toml").read_text(encoding="utf-8")
    return tuple(_network(**data) for data in tomllib.loads(text)["network"])


def real_workloads() -> tuple[Workload, ...]:
    """Every layer and block of all networks, each once."""
    every = (w for network in networks() for w in (*network.layers, *network.blocks))
    return tuple(dict.fromkeys(every))


def _network(
    name: str,
    source: str,
    layers: Sequence[Mapping[str, Any]],
    block: Sequence[Mapping[str, Any]] = (),
) -> Network:
    blocks = tuple(_block(**data) for data in block)
    return Network(name, source, tuple(map(_operator, layers)), blocks)


def _operator(data: Mapping[str, Any]) -> AnyOperator:
    fields = {name: value for name, value in data.items() if name != "op"}
    match data["op"]:
        case "Gemm":
            return Gemm(**fields)
        case "Conv2d":
            return Conv2d(**fields)
        case _:
            return Elementwise(Function[fields.pop("function")], **fields)


def _block(nodes: Sequence[Mapping[str, Any]]) -> Subgraph:
    return Subgraph([_node(index, **data) for index, data in enumerate(nodes)])


def _node(index: int, reads: Sequence[int] | None = None, **operator: Any) -> Node:  # noqa: ANN401 - the fields of an operator
    found = _operator(operator)
    if reads is None:
        others = operand_count(found) - 1
        reads = (index - 1 if index else OUTSIDE, *[OUTSIDE] * others)
    return Node(found, [None if source == OUTSIDE else source for source in reads])

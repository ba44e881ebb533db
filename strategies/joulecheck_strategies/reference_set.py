"""The workloads by which whole models are compared: named, random, and a space of them.

It is what the package offers to the harness under `joulecheck.workloads`.
"""

from __future__ import annotations

import numpy as np

from joulecheck.workload import Workload
from joulecheck_strategies.for_model import workloads as space
from joulecheck_strategies.networks import networks
from joulecheck_strategies.workload_space import WorkloadSpace

__all__ = ["named", "random", "space"]

RANDOM_NODES = 3
"""Operators of a random workload at most."""


def named() -> dict[str, Workload]:
    """The standard workloads, and the layers and blocks of real networks, each once."""
    found: dict[Workload, str] = {}
    for network in networks():
        for kind, some in (("layer", network.layers), ("block", network.blocks)):
            for number, workload in enumerate(some, start=1):
                found.setdefault(workload, f"{network.name} {kind} {number}")
    return {name: workload for workload, name in found.items()}


def random(seed: int, size: int) -> list[Workload]:
    """Workloads drawn from a seed, for no machine in particular, each once."""
    drawn = WorkloadSpace(max_nodes=RANDOM_NODES)
    rng = np.random.default_rng(seed)
    found: dict[Workload, None] = {}
    while len(found) < size:
        for row in drawn.sample(rng, size).tolist():
            found.setdefault(drawn.build(row).workload)
    return list(found)[:size]

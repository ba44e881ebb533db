"""Kinds of fault, a module an area: what goes wrong in public model libraries."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from joulecheck.faults.kinds import (
    coefficients,
    counts,
    energy,
    latency,
    machine,
    state,
    workload,
)
from joulecheck.faults.mutation import Kind

KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        kind.name: kind
        for module in (energy, coefficients, latency, workload, counts, machine, state)
        for kind in module.KINDS
    }
)
"""Every kind, by name."""

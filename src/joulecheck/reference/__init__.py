"""The built-in models: one module an architecture class, machines as data files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from joulecheck.reference.adaptive_datapath import AdaptiveDatapathEnergyModel
from joulecheck.reference.data_flow_machine import DataFlowMachineEnergyModel
from joulecheck.reference.domain_flow import (
    DomainFlowEnergyModel,
    KPUTileEnergyAdapter,
    KPUTileEnergyModel,
)
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.machine_file import load_machine
from joulecheck.reference.spatial_partition import SpatialPartitionEnergyModel
from joulecheck.reference.stored_program import StoredProgramEnergyModel
from joulecheck.reference.systolic_array import (
    SystolicArrayEnergyModel,
    TPUTileEnergyModel,
)

__all__ = [
    "MACHINES",
    "MODELS",
    "AdaptiveDatapathEnergyModel",
    "DataFlowMachineEnergyModel",
    "DomainFlowEnergyModel",
    "KPUTileEnergyAdapter",
    "KPUTileEnergyModel",
    "SpatialPartitionEnergyModel",
    "StoredProgramEnergyModel",
    "SystolicArrayEnergyModel",
    "TPUTileEnergyModel",
    "load_model",
]

ENERGY_MODELS: Final[Mapping[str, Callable[..., LayeredModel]]] = MappingProxyType(
    {
        "ADAPTIVE_DATAPATH": AdaptiveDatapathEnergyModel,
        "DATA_FLOW_MACHINE": DataFlowMachineEnergyModel,
        "DOMAIN_FLOW": KPUTileEnergyAdapter,
        "SPATIAL_PARTITION": SpatialPartitionEnergyModel,
        "STORED_PROGRAM": StoredProgramEnergyModel,
        "SYSTOLIC_ARRAY": SystolicArrayEnergyModel,
    }
)
"""The energy model that the machines of each architecture class run under.

All domain-flow machines are KPUs, so theirs is the one that lays out whole tiles.
"""

MACHINES: Final = (
    "Intel-i7-12700K",
    "Intel-Xeon-Platinum-8490H",
    "Google-TPU-v1",
    "Google-TPU-v4",
    "Stillwater-KPU-T64",
    "Stillwater-KPU-T128",
    "Stillwater-KPU-T256",
    "Stillwater-KPU-T768",
    "Hailo-8",
    "Hailo-10H",
    "Xilinx-Vitis-AI-DPU",
    "Stanford-Plasticine-v2",
    "Stillwater-DFM-128",
)
"""The machines that have a data file."""


def load_model(name: str) -> LayeredModel:
    """The model of one machine.

    Raises:
        InvalidMachine: its file breaks a rule.
    """
    data = load_machine(name)
    return ENERGY_MODELS[data.architecture](data)


MODELS: Final[Mapping[str, Callable[[], LayeredModel]]] = MappingProxyType(
    {name: partial(load_model, name) for name in MACHINES}
)
"""The family `reference:` of the entry point."""

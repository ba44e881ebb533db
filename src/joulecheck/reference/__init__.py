"""The built-in models: one module an architecture class, machines as data files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from joulecheck.reference.adaptive_datapath import AdaptiveDatapathEnergyModel
from joulecheck.reference.cluster import ClusterEnergyModel, cluster_of, is_cluster
from joulecheck.reference.data_flow_machine import DataFlowMachineEnergyModel
from joulecheck.reference.data_parallel import DataParallelEnergyModel
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
    "ClusterEnergyModel",
    "DataFlowMachineEnergyModel",
    "DataParallelEnergyModel",
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
        "DATA_PARALLEL": DataParallelEnergyModel,
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
    "Intel-Xeon-Platinum-8592+",
    "Intel-Granite-Rapids",
    "AMD-EPYC-9654",
    "AMD-EPYC-9754",
    "AMD-EPYC-Turin",
    "Ampere-AmpereOne-192",
    "Ampere-AmpereOne-128",
    "Ampere-AmpereOne-1core-ref",
    "Jetson-Orin-AGX-CPU",
    "Qualcomm-QRB5165",
    "TI-TDA4VM",
    "TI-TDA4VL",
    "TI-TDA4AL",
    "TI-TDA4VH",
    "CEVA-NeuPro-NPM11",
    "Cadence-Vision-Q8",
    "Synopsys-ARC-EV7x",
    "Qualcomm-SA8775P",
    "Qualcomm-Snapdragon-Ride",
    "Google-TPU-v1",
    "Google-TPU-v3",
    "Google-TPU-v4",
    "Google-TPU-v5p",
    "Google-Coral-Edge-TPU",
    "Google-TPU-Edge-Pro",
    "B100-SXM6-192GB",
    "H100-SXM5-80GB",
    "H100-PCIe-80GB",
    "A100-SXM4-80GB",
    "V100-SXM3-32GB",
    "T4-PCIe-16GB",
    "Jetson-Orin-AGX-64GB",
    "Jetson-Orin-NX-16GB",
    "Jetson-Orin-Nano-8GB",
    "Jetson-Thor-128GB",
    "ARM-Mali-G78-MP20",
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
    """The model of one machine, or of one at an operating point, as NAME@POINT.

    NAME@8xN, or NAME@POINT@8xN, is a cluster of 8 that splits operators along N.

    Raises:
        InvalidMachine: its file breaks a rule.
        UnknownName: it has no such operating point, or joins no such clusters.
    """
    base, at, suffix = name.rpartition("@")
    if at and is_cluster(suffix):
        return cluster_of(load_model(base), suffix)
    data = load_machine(name)
    return ENERGY_MODELS[data.architecture](data)


MODELS: Final[Mapping[str, Callable[[], LayeredModel]]] = MappingProxyType(
    {name: partial(load_model, name) for name in MACHINES}
)
"""The family `reference:` of the entry point."""

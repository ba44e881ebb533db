"""The built-in models: one module an architecture class, machines as data files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from joulecheck.errors import InvalidMachine, did_you_mean
from joulecheck.reference.adaptive_datapath import AdaptiveDatapathEnergyModel
from joulecheck.reference.classes import CLASSES
from joulecheck.reference.closure import check_closure
from joulecheck.reference.cluster import ClusterEnergyModel, cluster_of, is_cluster
from joulecheck.reference.data_flow_machine import DataFlowMachineEnergyModel
from joulecheck.reference.data_parallel import DataParallelEnergyModel
from joulecheck.reference.domain_flow import (
    DomainFlowEnergyModel,
    KPUTileEnergyAdapter,
    KPUTileEnergyModel,
)
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.machine_file import MachineFile, load_machine
from joulecheck.reference.spatial_partition import SpatialPartitionEnergyModel
from joulecheck.reference.stored_program import StoredProgramEnergyModel
from joulecheck.reference.systolic_array import (
    SystolicArrayEnergyModel,
    TPUTileEnergyModel,
)

__all__ = [
    "CLASSES",
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
    "build_model",
    "load_model",
    "variant",
]

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
    """The model of one machine; NAME@SUFFIX is one of its variants.

    Raises:
        InvalidMachine: its file breaks a rule.
        UnknownName: there is no such machine, or it has no such variant.
    """
    base, at, suffix = name.rpartition("@")
    return variant(base, suffix) if at else build_model(load_machine(name))


def variant(name: str, suffix: str) -> LayeredModel:
    """A machine in another form than its file states first.

    NAME@POINT is one of its operating points, and NAME@8xN, or NAME@POINT@8xN, eight of
    it that split every operator along N.

    Raises:
        InvalidMachine: its file breaks a rule.
        UnknownName: there is no such machine, or it has no such variant.
    """
    if is_cluster(suffix):
        cluster = cluster_of(load_model(name), suffix)
        check_closure(cluster)
        return cluster
    return build_model(load_machine(f"{name}@{suffix}"))


def build_model(data: MachineFile) -> LayeredModel:
    """The model of a machine, which closes in power at each of its operating points.

    Raises:
        InvalidMachine: it can draw more than its thermal design power, or states an
            architecture class that does not exist.
    """
    if data.architecture not in CLASSES:
        known = did_you_mean(data.architecture, CLASSES)
        msg = f"machine file {data.name}: no class {data.architecture!r}: {known}"
        raise InvalidMachine(msg)
    build = CLASSES[data.architecture].runs
    for point in map(data.at, data.operating_points):
        check_closure(build(point))
    model = build(data)
    check_closure(model)
    return model


class Machines(Mapping[str, Callable[[], LayeredModel]]):
    """The family `reference:` of the entry point.

    It lists every machine once and also knows each of its variants by name.
    """

    def __getitem__(self, name: str) -> Callable[[], LayeredModel]:
        """What builds a machine, or a variant of one.

        Raises:
            KeyError: there is no such machine.
            UnknownName: it has no such variant.
        """
        base = name.partition("@")[0]
        if base not in MACHINES:
            raise KeyError(name)
        if base != name:
            load_model(name)
        return partial(load_model, name)

    def __contains__(self, name: object) -> bool:
        """Whether it is a machine or a variant of one."""
        try:
            return isinstance(name, str) and self[name] is not None
        except LookupError:
            return False

    def __iter__(self) -> Iterator[str]:
        """The machines without their variants."""
        return iter(MACHINES)

    def __len__(self) -> int:
        """How many machines there are."""
        return len(MACHINES)

    def variants(self) -> list[str]:
        """Every machine at every of its operating points, as NAME@POINT."""
        return [f"{name}@{p}" for name in self for p in load_machine(name).operating_points]


MODELS: Final = Machines()

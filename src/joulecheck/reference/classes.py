"""The architecture classes: which energy and tile models each of them has."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import attrs

from joulecheck.reference.adaptive_datapath import AdaptiveDatapathEnergyModel
from joulecheck.reference.data_flow_machine import DataFlowMachineEnergyModel
from joulecheck.reference.data_parallel import DataParallelEnergyModel
from joulecheck.reference.domain_flow import (
    DomainFlowEnergyModel,
    KPUTileEnergyAdapter,
    KPUTileEnergyModel,
)
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.spatial_partition import SpatialPartitionEnergyModel
from joulecheck.reference.stored_program import StoredProgramEnergyModel
from joulecheck.reference.systolic_array import (
    SystolicArrayEnergyModel,
    TPUTileEnergyModel,
)


@attrs.frozen
class ArchitectureClass:
    """How machines of one class are modelled."""

    name: str
    energy_model: type[LayeredModel]
    tile_model: type | None = None
    """How a GEMM maps to whole tiles, where that is a model of its own."""
    adapter: type[LayeredModel] | None = None
    """The tile model with the interface of a layered model."""

    @property
    def runs(self) -> type[LayeredModel]:
        """What the machines of the class run under: whole tiles, if it has a choice."""
        return self.adapter or self.energy_model

    @property
    def models(self) -> tuple[type, ...]:
        """All its energy and tile models."""
        found = (self.energy_model, self.tile_model, self.adapter)
        return tuple(kind for kind in found if kind is not None)


CLASSES: Final[Mapping[str, ArchitectureClass]] = MappingProxyType(
    {
        one.name: one
        for one in (
            ArchitectureClass("STORED_PROGRAM", StoredProgramEnergyModel),
            ArchitectureClass("DATA_PARALLEL", DataParallelEnergyModel),
            ArchitectureClass(
                "SYSTOLIC_ARRAY", SystolicArrayEnergyModel, TPUTileEnergyModel
            ),
            ArchitectureClass(
                "DOMAIN_FLOW",
                DomainFlowEnergyModel,
                KPUTileEnergyModel,
                KPUTileEnergyAdapter,
            ),
            ArchitectureClass("SPATIAL_PARTITION", SpatialPartitionEnergyModel),
            ArchitectureClass("ADAPTIVE_DATAPATH", AdaptiveDatapathEnergyModel),
            ArchitectureClass("DATA_FLOW_MACHINE", DataFlowMachineEnergyModel),
        )
    }
)
"""By name, as machine files state it under `architecture`."""


def class_of(model: object) -> ArchitectureClass | None:
    """The class of a reference model, none of any other."""
    if not isinstance(model, LayeredModel):
        return None
    return CLASSES.get(model.data.architecture)

"""The models of spatially partitioned machines are consistent."""

from __future__ import annotations

import pytest
from consistency import Consistency

from joulecheck.model import Subject


class TestSpatialPartition(Consistency):
    @pytest.fixture
    def machine(self, spatial_partition_machine: Subject) -> Subject:
        return spatial_partition_machine

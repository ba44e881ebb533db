"""The models of adaptive datapaths are consistent."""

from __future__ import annotations

import pytest
from consistency import Consistency

from joulecheck.model import Subject


class TestAdaptiveDatapath(Consistency):
    @pytest.fixture
    def machine(self, adaptive_datapath_machine: Subject) -> Subject:
        return adaptive_datapath_machine

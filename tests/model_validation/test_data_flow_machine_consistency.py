"""The models of data-flow machines are consistent."""

from __future__ import annotations

import pytest
from consistency import Consistency

from joulecheck.model import Subject


class TestDataFlowMachine(Consistency):
    @pytest.fixture
    def machine(self, data_flow_machine: Subject) -> Subject:
        return data_flow_machine

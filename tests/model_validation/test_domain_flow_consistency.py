"""The models of KPUs are consistent."""

from __future__ import annotations

import pytest
from consistency import Consistency

from joulecheck.model import Subject


class TestDomainFlow(Consistency):
    @pytest.fixture
    def machine(self, domain_flow_machine: Subject) -> Subject:
        return domain_flow_machine

"""The models of TPUs are consistent."""

from __future__ import annotations

import pytest
from consistency import Consistency

from joulecheck.model import Subject


class TestSystolicArray(Consistency):
    @pytest.fixture
    def machine(self, systolic_array_machine: Subject) -> Subject:
        return systolic_array_machine

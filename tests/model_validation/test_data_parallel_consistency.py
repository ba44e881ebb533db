"""The models of GPUs are consistent."""

from __future__ import annotations

import pytest
from consistency import Consistency

from joulecheck.model import Subject


class TestDataParallel(Consistency):
    @pytest.fixture
    def machine(self, data_parallel_machine: Subject) -> Subject:
        return data_parallel_machine

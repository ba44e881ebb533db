"""The models of CPUs and DSPs are consistent."""

from __future__ import annotations

import pytest
from consistency import Consistency

from joulecheck.model import Subject


class TestStoredProgram(Consistency):
    @pytest.fixture
    def machine(self, stored_program_machine: Subject) -> Subject:
        return stored_program_machine

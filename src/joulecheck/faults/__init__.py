"""Faults to inject on purpose, to prove that the properties can fail."""

from joulecheck.faults.kinds import KINDS
from joulecheck.faults.mutation import Mutation
from joulecheck.faults.named import fault_named
from joulecheck.faults.planted import FAULTS, Fault, inject

__all__ = ["FAULTS", "KINDS", "Fault", "Mutation", "fault_named", "inject"]

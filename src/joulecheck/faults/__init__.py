"""Faults to inject on purpose, to prove that the properties can fail."""

from joulecheck.faults.catalogue import FAULTS, fault_named
from joulecheck.faults.kinds import KINDS
from joulecheck.faults.mutation import Mutation
from joulecheck.faults.planted import Fault, inject

__all__ = ["FAULTS", "KINDS", "Fault", "Mutation", "fault_named", "inject"]

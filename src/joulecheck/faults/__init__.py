"""Faults to inject on purpose, to prove that the properties can fail."""

from joulecheck.faults.catalogue import FAULTS, fault_named
from joulecheck.faults.planted import Fault, inject

__all__ = ["FAULTS", "Fault", "fault_named", "inject"]

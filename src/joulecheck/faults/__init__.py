"""Faults to inject on purpose, to prove that the properties can fail."""

from joulecheck.faults.planted import FAULTS, Fault, fault_named, inject

__all__ = ["FAULTS", "Fault", "fault_named", "inject"]

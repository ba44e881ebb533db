"""All named faults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from joulecheck.errors import UnknownName, did_you_mean
from joulecheck.faults.coefficients import COEFFICIENT_FAULTS
from joulecheck.faults.machines import MACHINE_FAULTS
from joulecheck.faults.parts import PART_FAULTS
from joulecheck.faults.planted import FAULTS as PLANTED
from joulecheck.faults.planted import Fault
from joulecheck.faults.rates import RATE_FAULTS
from joulecheck.faults.state import STATE_FAULTS

FAULTS: Final[Mapping[str, Fault]] = {
    **PLANTED,
    **{
        fault.name: fault
        for fault in (
            *COEFFICIENT_FAULTS,
            *MACHINE_FAULTS,
            *PART_FAULTS,
            *RATE_FAULTS,
            *STATE_FAULTS,
        )
    },
}
"""Every named fault, by name."""


def fault_named(name: str) -> Fault:
    """One named fault.

    Raises:
        UnknownName: there is none of that name.
    """
    if name not in FAULTS:
        msg = f"no fault is called {name!r}: {did_you_mean(name, FAULTS)}"
        raise UnknownName(msg)
    return FAULTS[name]

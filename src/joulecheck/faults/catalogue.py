"""All faults that can be injected, by name: named ones, and variants of kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from joulecheck.errors import UnknownName, did_you_mean
from joulecheck.faults.bounds import BOUNDS_FAULTS
from joulecheck.faults.coefficients import COEFFICIENT_FAULTS
from joulecheck.faults.definitions import DEFINITION_FAULTS
from joulecheck.faults.kinds import KINDS
from joulecheck.faults.machines import MACHINE_FAULTS
from joulecheck.faults.mutation import MARK, Mutation
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
            *BOUNDS_FAULTS,
            *COEFFICIENT_FAULTS,
            *DEFINITION_FAULTS,
            *MACHINE_FAULTS,
            *PART_FAULTS,
            *RATE_FAULTS,
            *STATE_FAULTS,
        )
    },
}
"""Every named fault, by name."""


def fault_named(name: str) -> Fault | Mutation:
    """A named fault, or the variant N of a kind as KIND#N; a kind alone is KIND#0.

    Raises:
        UnknownName: there is none of that name.
    """
    if name in FAULTS:
        return FAULTS[name]
    kind, mark, variant = name.partition(MARK)
    if kind not in KINDS:
        msg = f"no fault is called {name!r}: {did_you_mean(name, [*FAULTS, *KINDS])}"
        raise UnknownName(msg)
    if mark and not variant.isdecimal():
        msg = f"no fault is called {name!r}: write {kind}{MARK}N, N = 0, 1, 2, ..."
        raise UnknownName(msg)
    return Mutation(KINDS[kind], int(variant or 0))

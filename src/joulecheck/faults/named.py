"""Every fault that can be injected, by name: named ones, and variants of kinds."""

from __future__ import annotations

from joulecheck.errors import UnknownName, did_you_mean
from joulecheck.faults.kinds import KINDS
from joulecheck.faults.mutation import MARK, Mutation
from joulecheck.faults.planted import FAULTS, Fault


def fault_named(name: str) -> Fault | Mutation:
    """A named fault, or the variant N of a kind as KIND#N; a kind alone is KIND#0.

    Raises:
        UnknownName: there is none of that name.
    """
    if name in FAULTS:
        return FAULTS[name]
    kind, mark, variant = name.partition(MARK)
    if kind in KINDS and (variant.isdecimal() or not mark):
        return Mutation(KINDS[kind], int(variant or 0))
    if kind in KINDS:
        msg = f"no fault is called {name!r}: write {kind}{MARK}N, N = 0, 1, 2, ..."
        raise UnknownName(msg)
    msg = f"no fault is called {name!r}: {did_you_mean(name, [*FAULTS, *KINDS])}"
    raise UnknownName(msg)

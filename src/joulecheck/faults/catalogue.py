"""All faults that can be injected, by name: named ones, and variants of kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from joulecheck.errors import UnknownName, did_you_mean
from joulecheck.faults.accounts import ACCOUNT_FAULTS
from joulecheck.faults.bounds import BOUNDS_FAULTS
from joulecheck.faults.coefficients import COEFFICIENT_FAULTS
from joulecheck.faults.definitions import DEFINITION_FAULTS
from joulecheck.faults.kinds import KINDS
from joulecheck.faults.machines import MACHINE_FAULTS
from joulecheck.faults.mutation import MARK, Mutation
from joulecheck.faults.parts import PART_FAULTS
from joulecheck.faults.planted import FAULTS as PLANTED
from joulecheck.faults.planted import Fault, FaultyModel
from joulecheck.faults.rates import RATE_FAULTS
from joulecheck.faults.state import STATE_FAULTS
from joulecheck.reference.layered import LayeredModel

FAULTS: Final[Mapping[str, Fault]] = {
    **PLANTED,
    **{
        fault.name: fault
        for fault in (
            *ACCOUNT_FAULTS,
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


AND: Final = "+"
"""Between the names of faults that are planted together."""


@attrs.frozen
class Together:
    """Several faults in one model, each on top of those before."""

    faults: tuple[Fault | Mutation, ...]

    @property
    def name(self) -> str:
        """Such as "dropped-term+wrapped-rows"."""
        return AND.join(fault.name for fault in self.faults)

    def plant(self, model: LayeredModel) -> FaultyModel:
        """The model with all of them in it.

        Raises:
            NotOffered: one does not apply to this model.
        """
        first, *others = self.faults
        planted = first.plant(model)
        for fault in others:
            planted = fault.plant(planted)  # type: ignore[arg-type]  # it is all that the model is
        return planted


def fault_named(name: str) -> Fault | Mutation | Together:
    """A named fault, or the variant N of a kind as KIND#N; a kind alone is KIND#0.

    Several, joined by a plus sign, are planted together.

    Raises:
        UnknownName: there is none of that name.
    """
    if AND in name:
        return Together(tuple(_one_named(one) for one in name.split(AND)))
    return _one_named(name)


def _one_named(name: str) -> Fault | Mutation:
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

"""Mutants: reference models with a seeded fault each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from joulecheck.errors import NotOffered, UnknownName, did_you_mean
from joulecheck.faults import FAULTS, KINDS, fault_named, inject
from joulecheck.faults.mutation import MARK, Drawn, Kind, Mutation, variants
from joulecheck.model import Subject
from joulecheck.property import installed
from joulecheck.reference.layered import LayeredModel
from joulecheck.resolve import ModelRef

REPRESENTATIVES: Final = (
    "reference:Intel-i7-12700K",
    "reference:H100-SXM5-80GB",
    "reference:Google-TPU-v4",
    "reference:Stillwater-KPU-T256",
    "reference:Hailo-8",
    "reference:Xilinx-Vitis-AI-DPU",
    "reference:Stillwater-DFM-128",
)
"""A machine of each architecture class."""

NAMED: Final = "named"
"""Stands for a kind where faults are named one by one."""


@attrs.frozen
class Mutant:
    """A model with a fault: two names, so that any process can make it."""

    model: str
    fault: str

    def __str__(self) -> str:
        """Such as "layer-dropped#0 in reference:Hailo-8"."""
        return f"{self.fault} in {self.model}"

    @property
    def kind(self) -> str:
        """The kind of its fault; `NAMED` stands for all named ones."""
        kind, mark, _ = self.fault.partition(MARK)
        return kind if mark else NAMED

    @property
    def drawn(self) -> Drawn:
        """What the fault changes in this model; of a named one no place is known."""
        fault = fault_named(self.fault)
        if isinstance(fault, Mutation):
            return fault.drawn(_reference(self.sound()))
        named = FAULTS[fault.name]
        return Drawn(what=named.summary, places=(), change=named.change)

    def sound(self) -> Subject:
        """The model without the fault."""
        return ModelRef(self.model).load()

    def plant(self) -> Subject:
        """The model with the fault, made anew, so that it remembers no question."""
        return inject(self.sound(), fault_named(self.fault))


def kinds_named(prefixes: Sequence[str]) -> list[Kind]:
    """The kinds whose name starts with one of some prefixes, all if there is none.

    Raises:
        UnknownName: a prefix matches no kind.
    """
    for prefix in prefixes:
        if not any(name.startswith(prefix) for name in KINDS):
            msg = f"no kind of fault starts with {prefix!r}: {did_you_mean(prefix, KINDS)}"
            raise UnknownName(msg)
    chosen = tuple(prefixes) or ("",)
    return [kind for name, kind in KINDS.items() if name.startswith(chosen)]


def mutants_of(models: Iterable[Subject], kinds: Iterable[Kind], most: int) -> list[Mutant]:
    """Up to `most` variants of each kind in each model, in the order of the kinds.

    Raises:
        NotOffered: one of the models is no reference model.
    """
    subjects = {subject.name: _reference(subject) for subject in models}
    return [
        Mutant(name, mutation.name)
        for kind in kinds
        for name, model in subjects.items()
        for mutation in variants(kind, model, most)
    ]


def named_mutants() -> list[Mutant]:
    """Each fault that a property must catch, in the machine where it must."""
    planted = [law.planted for law in installed().values()]
    found = dict.fromkeys(Mutant(one.model, one.fault) for one in planted)
    return [mutant for mutant in found if _is_reference(mutant)]


def _is_reference(mutant: Mutant) -> bool:
    return isinstance(mutant.sound().model, LayeredModel)


def spread(mutants: Sequence[Mutant], most: int | None) -> list[Mutant]:
    """At most so many of them, evenly spread over kinds and models."""
    if most is None or len(mutants) <= most:
        return list(mutants)
    return [mutants[index * len(mutants) // most] for index in range(most)]


def _reference(subject: Subject) -> LayeredModel:
    if not isinstance(subject.model, LayeredModel):
        msg = f"{subject.name} is no reference model: faults can be injected in those only"
        raise NotOffered(msg)
    return subject.model

"""The workloads by which whole models are compared, and where they come from.

The harness draws no workloads itself: a package offers them under the entry point
`joulecheck.workloads`, as it offers properties.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Final, Protocol, cast

from joulecheck.case import Case
from joulecheck.errors import InvalidSnapshot, NotOffered, did_you_mean
from joulecheck.model import Subject
from joulecheck.space import CaseSpace
from joulecheck.workload import Precision, Workload

GROUP: Final = "joulecheck.workloads"

STANDARD: Final = "standard"
"""How the names of the workloads begin that are asked at every precision."""

AT: Final = " @ "
"""Between a workload's name and its precision."""


class WorkloadSource(Protocol):
    """What an entry of the group names; a module will do."""

    def named(self) -> Mapping[str, Workload]:
        """The standard workloads and those of real networks."""

    def random(self, seed: int, size: int) -> list[Workload]:
        """As many workloads, for no machine in particular."""

    def space(self, model: Subject) -> CaseSpace:
        """The plain cases that a model answers for."""


@cache
def workload_source() -> WorkloadSource:
    """The first that an installed package offers.

    Raises:
        NotOffered: none does.
    """
    entries = sorted(entry_points(group=GROUP))
    if not entries:
        msg = (
            f"no installed package offers workloads under the entry point {GROUP}: "
            f"install joulecheck again, so that its own entry is registered"
        )
        raise NotOffered(msg)
    return cast("WorkloadSource", entries[0].load())


def reference_set(seed: int, random: int) -> dict[str, Workload]:
    """The named workloads, and some random ones of a seed, by name."""
    source = workload_source()
    drawn = source.random(seed, random) if random else []
    return {**source.named(), **{f"random {n}": w for n, w in enumerate(drawn, start=1)}}


def cases_of(model: Subject, workloads: Mapping[str, Workload]) -> dict[str, Case]:
    """The workloads at precisions of the model, by row name.

    The standard ones come at every precision. The others take turns: each comes at one
    precision, and each precision with as many of them.
    """
    found: dict[str, Case] = {}
    turn = 0
    for name, workload in workloads.items():
        precisions = model.precisions
        if not name.startswith(STANDARD):
            precisions = (precisions[turn % len(precisions)],)
            turn += 1
        for precision in precisions:
            found[f"{name}{AT}{precision.name}"] = Case(workload, precision)
    return found


def cases_named(names: Iterable[str], workloads: Mapping[str, Workload]) -> dict[str, Case]:
    """The cases of row names such as `cases_of` gives.

    Raises:
        InvalidSnapshot: one is of none of the workloads, or of no precision.
    """
    found: dict[str, Case] = {}
    for row in names:
        name, _, precision = row.rpartition(AT)
        if name not in workloads or precision not in Precision.__members__:
            msg = (
                f"row {row!r} of a snapshot must be NAME{AT}PRECISION: "
                f"{did_you_mean(name, workloads)}"
            )
            raise InvalidSnapshot(msg)
        found[row] = Case(workloads[name], Precision[precision])
    return found

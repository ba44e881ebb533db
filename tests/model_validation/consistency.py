"""What every class of machines is held to: five kinds of laws, on each of its machines.

Laws come from the catalogue by the prefix of their family, and machines from the
reference library by their class, so that whatever is added to either is asked here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np
import pytest

from joulecheck.campaign.campaign import plan as planned
from joulecheck.campaign.search import checks_in
from joulecheck.case import Case
from joulecheck.errors import OutsideSpace
from joulecheck.model import Subject, registered
from joulecheck.property import Property, installed
from joulecheck.reference import MACHINES
from joulecheck.reference.machine_file import load_machine
from joulecheck.testing import explained
from joulecheck.validation.audit import CATEGORIES
from joulecheck.workload import Workload
from joulecheck.workload.columns import Ints

SEED: Final = 1
CASES: Final = 256
VARIANTS: Final = 4
"""How often a known workload is asked with other factors, growths or peers."""

each_category = pytest.mark.parametrize("family", CATEGORIES.values(), ids=list(CATEGORIES))


def architectures() -> set[str]:
    """The classes of the catalogue."""
    return {load_machine(name).architecture for name in MACHINES}


def machines_of(architecture: str) -> list[str]:
    """The machines of a class, in the order of the library."""
    return [name for name in MACHINES if load_machine(name).architecture == architecture]


def each_machine_of(architecture: str) -> Callable[..., Subject]:
    """A fixture that is each machine of a class in turn."""

    @pytest.fixture(params=machines_of(architecture))
    def machine(request: pytest.FixtureRequest) -> Subject:
        return registered("reference", request.param)

    return machine


def laws_of(family: str, model: Subject) -> list[Property]:
    """The laws of a family that apply to a model.

    A test is skipped if there are none, and says why.
    """
    known = [law for law in installed().values() if law.family == family]
    plan = planned([model], known)
    if not plan.pairs:
        reasons = "; ".join(f"{s.pair.property}: {s.reason}" for s in plan.skipped)
        pytest.skip(f"no {family} law applies to {model.name}: {reasons}")
    offered = {pair.property for pair in plan.pairs}
    return [law for law in known if law.id in offered]


def hold(law: Property, model: Subject, workloads: Iterable[Workload] = ()) -> None:
    """Ask a law of random cases, and of known workloads where its cases have one.

    Some of the cases must be in its domain.
    """
    space = law.space(model)
    rows = space.sample(np.random.default_rng(SEED), checks_in(CASES, law))
    asked = with_workloads(space, rows, model, workloads)
    margins = law.checked_margin(model, space.batch(asked))

    for row in np.flatnonzero(margins < 0):
        case = space.build(asked[row].tolist())
        pytest.fail(explained(law, model, case, float(margins[row])))
    assert not np.isnan(margins).all(), f"{law.id} says nothing of {model.name}"


def with_workloads(
    space: Any,  # noqa: ANN401 - any space
    rows: Ints,
    model: Subject,
    workloads: Iterable[Workload],
) -> Ints:
    """The rows, and some more of these workloads at each precision of the model.

    Those take whatever else a case has, factors, growths or peers, from the first.
    """
    inner = getattr(space, "workloads", space)
    genes: list[Sequence[int]] = []
    for case in (Case(w, precision) for w in workloads for precision in model.precisions):
        with contextlib.suppress(OutsideSpace):  # a kind, a size or a precision
            genes += [inner.genes_of(case)] * VARIANTS
    if not genes:
        return rows
    more = np.resize(rows, (len(genes), rows.shape[1]))
    more[:, : len(genes[0])] = genes
    found: Ints = np.asfortranarray(np.concatenate([rows, space.canonical(more)]))
    return found


class Consistency:
    """The tests of a class; a module says which `machine` they take and nothing more."""

    @each_category
    def test_holds(
        self, machine: Subject, family: str, known_workloads: dict[str, Workload]
    ) -> None:
        for law in laws_of(family, machine):
            hold(law, machine, known_workloads.values())

"""The composition gate: all checks of some models, and those that others registered."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from joulecheck.errors import InvalidCheck
from joulecheck.model import Subject, registered
from joulecheck.reference import MACHINES
from joulecheck.reference.machine_file import load_machine
from joulecheck.resolve import imported
from joulecheck.validation.layer_checks import (
    REGISTERED,
    TOLERANCE,
    CheckResult,
    LayerCheck,
    Registry,
)
from joulecheck.validation.model_checks import checks_of


def with_clusters(subjects: Iterable[Subject]) -> list[Subject]:
    """These models, and two chips of each machine that states a link.

    Only there is a layer CLUSTER.
    """
    found = list(subjects)
    names = {f"reference:{name}": name for name in MACHINES}
    machines = [names[subject.name] for subject in found if subject.name in names]
    linked = [name for name in machines if load_machine(name).link is not None]
    return [*found, *(registered("reference", f"{name}@2xK") for name in linked)]


def import_checks(module_name: str) -> None:
    """Import a module that registers checks.

    Raises:
        UnknownName: there is no such module.
        InvalidModel: importing it fails.
        InvalidCheck: it registers none.
    """
    known = module_name in sys.modules
    before = len(REGISTERED.checks)
    imported(module_name)
    if not known and len(REGISTERED.checks) == before:
        msg = (
            f"module {module_name} registers no layer check: call "
            f"register_layer_check(LayerCheck(...)) in it"
        )
        raise InvalidCheck(msg)


def run_gate(
    subjects: Iterable[Subject],
    tolerance: float = TOLERANCE,
    own: Iterable[LayerCheck] = (),
) -> list[CheckResult]:
    """Run the checks of these models, and other ones.

    Raises:
        InvalidCheck: there is none, or all are skipped.
    """
    registry = Registry(own)
    for subject in subjects:
        for check in checks_of(subject, tolerance):
            registry.register(check)
    return registry.run()

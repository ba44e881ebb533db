"""The composition gate: all checks of some models, and those that others registered."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from joulecheck.errors import InvalidCheck
from joulecheck.model import Subject
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


def reference_models() -> tuple[str, ...]:
    """Every machine, and two chips of each that states a link, for the layer CLUSTER."""
    linked = [name for name in MACHINES if load_machine(name).link is not None]
    return ("reference:*", *(f"reference:{name}@2xK" for name in linked))


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

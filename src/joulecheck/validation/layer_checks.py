"""Checks of composition: whether layers, each by itself, add up to what is predicted.

A check compares the increments of some layers with a prediction of the whole up to a
layer. Models of joulecheck get theirs from `model_checks`; anyone else's are registered
with `register_layer_check`, by a module that the user names or an installed package.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any, Final

import attrs

from joulecheck.coefficient import Layer
from joulecheck.errors import InvalidCheck, did_you_mean

TOLERANCE: Final = 1e-3
"""Relative: what a report to a reader can hide, as for the laws of composition."""

GROUP: Final = "joulecheck.layer_checks"
"""The entry points of packages that register checks when they are loaded."""


class LayerTag(Enum):
    """What a check is about: one of six layers, from the core outwards, or the whole.

    Static energy is no layer of its own here; the whole includes it.
    """

    ALU = "ALU"
    REGISTER = "REGISTER"
    SCRATCHPAD = "SCRATCHPAD"
    ON_CHIP = "ON_CHIP"
    DRAM = "DRAM"
    CLUSTER = "CLUSTER"
    COMPOSITE = "COMPOSITE"

    @classmethod
    def of(cls, layer: Layer) -> LayerTag:
        """The tag of a term's layer; static energy counts in the whole alone."""
        return cls.COMPOSITE if layer is Layer.STATIC else cls[layer.name]


SPECIFICATION_TAGS: Final[Mapping[str, LayerTag]] = MappingProxyType(
    {
        "ALU": LayerTag.ALU,
        "REGISTER": LayerTag.REGISTER,
        "L1_CACHE": LayerTag.SCRATCHPAD,
        "L2_CACHE": LayerTag.SCRATCHPAD,
        "L3_CACHE": LayerTag.ON_CHIP,
        "SOC_DATA_MOVEMENT": LayerTag.ON_CHIP,
        "EXTERNAL_MEMORY": LayerTag.DRAM,
        "DISTRIBUTED_MEMORY": LayerTag.CLUSTER,
        "CLUSTER_INTERCONNECT": LayerTag.CLUSTER,
        "COMPOSITE": LayerTag.COMPOSITE,
    }
)
"""The tags of the library that the specification describes, as layers of ours."""


def tag_named(name: str) -> LayerTag:
    """A tag by its own name or by the specification's, in any case.

    Raises:
        InvalidCheck: there is no such tag.
    """
    upper = name.upper()
    known = {**SPECIFICATION_TAGS, **LayerTag.__members__}
    if upper not in known:
        msg = f"no layer is tagged {name!r}: {did_you_mean(upper, known)}"
        raise InvalidCheck(msg)
    return known[upper]


class Status(Enum):
    """How a check ended."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"


class Skipped(Exception):
    """Raised by a runner that has nothing to compare; its message says why."""


@attrs.frozen
class Comparison:
    """What a runner found.

    Raises:
        TypeError, ValueError: the error is no number.
    """

    error: float = attrs.field(converter=float)
    """The greatest relative difference between prediction and sum of increments."""
    details: str = attrs.field(default="", converter=str)
    """Where that was, in words and numbers."""


Runner = Callable[[], Comparison | float]
"""Compares. It may raise `Skipped`; whatever else it raises is a failure."""


def _as_tags(tags: LayerTag | str | Iterable[LayerTag | str]) -> tuple[LayerTag, ...]:
    several = [tags] if isinstance(tags, LayerTag | str) else tags
    return tuple(dict.fromkeys(map(_as_tag, several)))


def _as_tag(tag: LayerTag | str) -> LayerTag:
    return tag if isinstance(tag, LayerTag) else tag_named(tag)


def _some(check: LayerCheck, attribute: attrs.Attribute[Any], value: Any) -> None:  # noqa: ANN401 - what a user gave
    if not value:
        msg = f"a layer check of {check.machine!r} must state {attribute.name}, got none"
        raise InvalidCheck(msg)


def _callable(check: LayerCheck, _: attrs.Attribute[Any], value: Any) -> None:  # noqa: ANN401 - what a user gave
    if not callable(value):
        msg = (
            f"the runner of layer check {check.name!r} of {check.machine!r} must be "
            f"a function without arguments, got {value!r}"
        )
        raise InvalidCheck(msg)


def _relative(check: LayerCheck, _: attrs.Attribute[Any], value: float) -> None:
    if not (isinstance(value, numbers.Real) and 0 <= value < math.inf):
        msg = (
            f"the tolerance of layer check {check.name!r} of {check.machine!r} must be "
            f"a finite relative error of at least 0, got {value!r}"
        )
        raise InvalidCheck(msg)


@attrs.frozen(kw_only=True)
class LayerCheck:
    """One comparison of a machine's layers with a prediction.

    Tags may be given as `LayerTag`, by name, or by the specification's names.

    Raises:
        InvalidCheck: a field breaks its rule.
    """

    machine: str = attrs.field(validator=_some)
    name: str = attrs.field(validator=_some)
    """What is compared; no other check of the machine has it."""
    from_layers: tuple[LayerTag, ...] = attrs.field(converter=_as_tags, validator=_some)
    """The layers whose increments are summed."""
    predicts: LayerTag = attrs.field(converter=_as_tag)
    """The layer up to which a prediction is compared, or COMPOSITE."""
    runner: Runner = attrs.field(validator=_callable, repr=False)
    tolerance: float = attrs.field(default=TOLERANCE, validator=_relative)
    """Relative."""
    group: str = "registered"
    """Under which a report sums it up, such as the class of its machine."""


@attrs.frozen(kw_only=True)
class CheckResult:
    """How one check ended."""

    check: LayerCheck
    status: Status
    error: float | None = None
    """Relative; none where nothing was compared."""
    details: str = ""
    """Of a failure: where it was or what was raised; of a skip: the reason."""


class Registry:
    """Checks, each known by its machine and name."""

    def __init__(self, checks: Iterable[LayerCheck] = ()) -> None:
        """Start with these.

        Raises:
            InvalidCheck: two are called the same.
        """
        self._checks: dict[tuple[str, str], LayerCheck] = {}
        for check in checks:
            self.register(check)

    def register(self, check: LayerCheck) -> None:
        """Add a check.

        Raises:
            InvalidCheck: it is none, or another one of its machine has its name.
        """
        if not isinstance(check, LayerCheck):
            msg = f"a layer check must be a LayerCheck, got {check!r}"
            raise InvalidCheck(msg)
        key = (check.machine, check.name)
        if key in self._checks:
            msg = (
                f"two layer checks of {check.machine!r} are called {check.name!r}: give "
                f"one of them another name"
            )
            raise InvalidCheck(msg)
        self._checks[key] = check

    @property
    def checks(self) -> tuple[LayerCheck, ...]:
        """All checks, in the order in which they were registered."""
        return tuple(self._checks.values())

    def clear(self) -> None:
        """Forget all checks."""
        self._checks.clear()

    def run(self) -> list[CheckResult]:
        """Run all checks; what a runner raises is a failure of its check.

        Raises:
            InvalidCheck: there is none, or all are skipped: a gate that compares
                nothing must not pass.
        """
        if not self._checks:
            msg = "no layer check is registered: a gate without checks proves nothing"
            raise InvalidCheck(msg)
        results = [run_check(check) for check in self.checks]
        if all(result.status is Status.SKIPPED for result in results):
            reasons = "; ".join(dict.fromkeys(result.details for result in results))
            msg = f"all {len(results)} layer checks were skipped: {reasons}"
            raise InvalidCheck(msg)
        return results


def run_check(check: LayerCheck) -> CheckResult:
    """Run one check; nothing that its runner does passes an exception on."""
    try:
        found = check.runner()
    except Skipped as reason:
        return CheckResult(check=check, status=Status.SKIPPED, details=str(reason))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - of a user's code
        return _failed(check, f"{type(error).__name__}: {error}")
    if isinstance(found, numbers.Real) and not isinstance(found, bool):
        found = Comparison(float(found))
    if not isinstance(found, Comparison):
        return _failed(check, f"the runner gave {found!r}: return Comparison(error)")
    if not 0 <= found.error <= check.tolerance:  # NaN fails
        return attrs.evolve(_failed(check, found.details), error=found.error)
    return CheckResult(
        check=check, status=Status.PASSED, error=found.error, details=found.details
    )


def _failed(check: LayerCheck, details: str) -> CheckResult:
    return CheckResult(check=check, status=Status.FAILED, details=details)


REGISTERED: Final = Registry()
"""The checks that modules have registered so far."""


def register_layer_check(check: LayerCheck) -> None:
    """Add a check to those that `joulecheck compose` runs; call it on import.

    Raises:
        InvalidCheck: it is none, or another one of its machine has its name.
    """
    REGISTERED.register(check)


def load_installed() -> None:
    """Load the entry points of installed packages, which register on import."""
    for entry in sorted(entry_points(group=GROUP)):
        entry.load()

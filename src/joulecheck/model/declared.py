"""What a model declares and first answers, checked against the protocol."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import cast

from joulecheck.case import Case
from joulecheck.coefficient import Coefficient
from joulecheck.composition import Composition, Each, Max, Sum
from joulecheck.errors import InvalidModel, Unsupported, did_you_mean
from joulecheck.estimate import MAPPINGS, Deferred, Estimate
from joulecheck.knob import Knob
from joulecheck.machine import Machine
from joulecheck.model.protocol import (
    COSTS,
    DIMENSIONS,
    NATURE,
    SMALLEST,
    SYMMETRIES,
    DerivableModel,
    Model,
    Offer,
)
from joulecheck.workload import (
    PLAINEST_FIRST,
    Precision,
    Workload,
)


def told(error: BaseException) -> str:
    """What a model raised, in words."""
    return f"{type(error).__name__}: {error}"


def instance(model: object) -> object:
    """The object itself, or what a class makes without arguments.

    Raises:
        InvalidModel: the class raises.
    """
    if not isinstance(model, type):
        return model
    try:
        return model()
    except Exception as error:
        msg = f"{model.__name__}() cannot be built without arguments: {told(error)}"
        raise InvalidModel(msg) from error


def checked(model: object) -> Model:
    """The object as a model.

    Raises:
        InvalidModel: it has no `name` or no `estimate`.
    """
    missing = [a for a in ("name", "estimate") if not hasattr(model, a)]
    if missing:
        msg = (
            f"{model!r} is no model: it must have `name` and `estimate(case, "
            f"scale)`, and lacks {' and '.join(missing)}; see the README's example"
        )
        raise InvalidModel(msg)
    return cast("Model", model)


def _wrong(model: Model, attribute: str, rule: str, value: object) -> str:
    return f"{model.name}.{attribute} must be {rule}, got {value!r}"


def operators(model: Model) -> frozenset[str]:
    """The kinds of workload that it answers for; all but totals, where it does not say."""
    declared = getattr(model, "operators", None)
    if declared is None:
        return frozenset(NATURE) - {"totals"}
    alone = set(declared) - {"subgraph"}
    if not alone or not alone <= set(NATURE):
        rule = f"a subset of {', '.join(NATURE)} that names more than subgraph"
        raise InvalidModel(_wrong(model, "operators", rule, declared))
    return frozenset(declared)


def machine(model: Model) -> Machine:
    """The machine that it describes; one with a name alone, where it does not say."""
    machine = getattr(model, "machine", None) or Machine(name=model.name)
    if not isinstance(machine, Machine):
        raise InvalidModel(_wrong(model, "machine", "a joulecheck.Machine", machine))
    return machine


def coefficients(model: Model) -> dict[str, Coefficient]:
    """Its coefficients by name."""
    coefficients = dict(getattr(model, "coefficients", {}))
    for name, coefficient in coefficients.items():
        if not isinstance(coefficient, Coefficient):
            rule = "a mapping of names to joulecheck.Coefficient"
            raise InvalidModel(_wrong(model, f"coefficients[{name!r}]", rule, coefficient))
        value = coefficient.value
        if not isinstance(value, numbers.Real) or not math.isfinite(value):
            where = f"coefficients[{name!r}].value"
            raise InvalidModel(_wrong(model, where, "a finite number", value))
    return coefficients


def composition(model: Model) -> Composition | None:
    """How its latency is made of terms, if it says."""
    declared = getattr(model, "latency_composition", None)
    if declared is not None and not isinstance(declared, str | Sum | Max | Each):
        rule = "a joulecheck.Sum, Max or Each, or the name of a term"
        raise InvalidModel(_wrong(model, "latency_composition", rule, declared))
    return declared


def subtotals(model: Model) -> dict[str, tuple[str, ...]]:
    """Its sub-totals, each with the names of its parts."""
    declared = dict(getattr(model, "subtotals", {}))
    for name, parts in declared.items():
        if not parts or isinstance(parts, str):
            rule = "the names of the terms that it sums, as in {'on_chip': ['l1', 'l2']}"
            raise InvalidModel(_wrong(model, f"subtotals[{name!r}]", rule, parts))
    return {name: tuple(sorted(parts)) for name, parts in declared.items()}


def knobs(model: Model) -> dict[str, Knob]:
    """The figures of its machine that can be turned."""
    knobs = dict(getattr(model, "knobs", {}))
    for name, knob in knobs.items():
        if not isinstance(knob, Knob):
            rule = "a mapping of names to joulecheck.Knob"
            raise InvalidModel(_wrong(model, f"knobs[{name!r}]", rule, knob))
        if not knob.allows(1.0):
            rule = "a Knob with 1, the machine as it is, between low and high"
            raise InvalidModel(_wrong(model, f"knobs[{name!r}]", rule, knob))
    if knobs and not callable(getattr(model, "derive", None)):
        rule = "a method derive(factors), since the model declares knobs"
        raise InvalidModel(_wrong(model, "derive", rule, getattr(model, "derive", None)))
    return knobs


def derived_model(model: Model, factors: Mapping[str, float]) -> Model:
    """The model of another machine.

    Raises:
        Unsupported: there can be no such machine.
        InvalidModel: it raises anything else, or gives itself.
    """
    try:
        made = cast("DerivableModel", model).derive(factors)
    except (Unsupported, KeyboardInterrupt):
        raise
    except BaseException as error:
        msg = (
            f"{model.name}.derive({factors}) must return a model, or raise Unsupported "
            f"where there can be no such machine; it raised {told(error)}"
        )
        raise InvalidModel(msg) from error
    if made is model:
        rule = "a method that returns another model and leaves its own as it is"
        raise InvalidModel(_wrong(model, "derive", rule, "the model itself"))
    return made


def splits(model: Model) -> frozenset[str]:
    """The dimensions that its mapping may cut anywhere."""
    declared = getattr(model, "splits", ())
    if isinstance(declared, str) or not set(declared) <= set(DIMENSIONS):
        rule = f"a collection of {', '.join(DIMENSIONS)}"
        raise InvalidModel(_wrong(model, "splits", rule, declared))
    return frozenset(declared)


def symmetries(model: Model) -> dict[str, frozenset[str]]:
    """The exchanges that leave some of its costs as they are."""
    declared = dict(getattr(model, "symmetries", {}))
    for name, costs in declared.items():
        if name not in SYMMETRIES or isinstance(costs, str) or not set(costs) <= set(COSTS):
            rule = f"{' or '.join(SYMMETRIES)}: a collection of {', '.join(COSTS)}"
            found = f"{name}: {costs}"
            raise InvalidModel(_wrong(model, "symmetries", rule, found))
    return {name: frozenset(costs) for name, costs in declared.items() if costs}


def resident(model: Model, machine: Machine) -> dict[str, float]:
    """By memory: the bytes of operands up to which each crosses its edge once."""
    declared = dict(getattr(model, "resident", {}))
    for name, room in declared.items():
        where = f"resident[{name!r}]"
        if name not in machine.memories:
            rule = f"of a memory of its machine: {did_you_mean(name, machine.memories)}"
            raise InvalidModel(_wrong(model, where, rule, room))
        if not isinstance(room, numbers.Real) or not float(room) >= 0:
            raise InvalidModel(_wrong(model, where, "a number of bytes, >= 0", room))
    return declared


def smallest(operators: frozenset[str]) -> Workload:
    """The plainest workload of a kind that is answered."""
    return next(tiny for nature, tiny in SMALLEST.items() if nature in operators)


def precisions(model: Model, operators: frozenset[str]) -> tuple[Precision, ...]:
    """Those declared, or those for which a first question is not refused."""
    declared = getattr(model, "precisions", None)
    if declared is not None:
        if not declared or not all(isinstance(p, Precision) for p in declared):
            rule = "a non-empty collection of joulecheck.Precision"
            raise InvalidModel(_wrong(model, "precisions", rule, declared))
        return tuple(p for p in PLAINEST_FIRST if p in declared)
    workload = smallest(operators)
    answered = [p for p in PLAINEST_FIRST if _answers(model, Case(workload, p))]
    if not answered:
        msg = (
            f"{model.name} answers for no precision: estimate(Case({workload})) raises "
            f"Unsupported for all of them; declare `precisions` and `operators`"
        )
        raise InvalidModel(msg)
    return tuple(answered)


def _answers(model: Model, case: Case) -> bool:
    try:
        model.estimate(case)
    except Unsupported:
        return False
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - robustness is a property's business
        return True
    return True


def are_given(
    model: Model, subtotals: Mapping[str, tuple[str, ...]], first: Estimate
) -> bool:
    """Whether an answer has declared sub-totals."""
    if ambiguous := subtotals.keys() & first.energy_terms.keys():
        rule = "names that no energy term has"
        raise InvalidModel(_wrong(model, "subtotals", rule, min(ambiguous)))
    return bool(subtotals.keys() & first.subtotals.keys())


def offers(
    model: Model, first: Estimate, machine: Machine, declared: Mapping[Offer, bool]
) -> frozenset[Offer]:
    """What it offers, by its declarations and its first answer."""
    memories = machine.memories.values()
    present = {
        **declared,
        Offer.ENERGY: first.energy is not None,
        Offer.LATENCY: first.latency is not None,
        Offer.UTILISATION: first.utilisation is not None,
        Offer.ENERGY_TERMS: bool(first.energy_terms),
        Offer.LATENCY_TERMS: bool(first.latency_terms),
        Offer.THROUGH: bool(first.through),
        Offer.LATENCY_THROUGH: bool(first.latency_through),
        Offer.PEAK: bool(machine.peak),
        Offer.BANDWIDTH: any(m.bandwidth and m.homes for m in memories),
        Offer.BATCH: callable(getattr(model, "estimate_batch", None)),
        Offer.RESOURCES: machine.resources is not None,
    }
    return frozenset(offer for offer, is_there in present.items() if is_there)


def first_answer(model: Model, case: Case) -> Estimate:
    """Its answer to the plainest case.

    Raises:
        InvalidModel: it raises, or answers with no proper estimate.
    """
    try:
        answer = model.estimate(case)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        msg = (
            f"{model.name} cannot answer the smallest case, {case.workload} at "
            f"{case.precision.name}: {told(error)}"
        )
        raise InvalidModel(msg) from error
    check_estimate(model.name, answer)
    return answer


def check_estimate(name: str, estimate: object) -> None:
    """Refuse what is no estimate of real numbers.

    Raises:
        InvalidModel: it is none.
    """
    if not isinstance(estimate, Estimate):
        msg = (
            f"{name}.estimate must return a joulecheck.Estimate, got "
            f"{type(estimate).__name__}: wrap the numbers, as in Estimate(energy=...)"
        )
        raise InvalidModel(msg)
    for field in ("energy", "latency", "utilisation"):
        _check_number(name, field, getattr(estimate, field))
    for field in MAPPINGS:
        values = _mapping(name, field, getattr(estimate, field))
        if isinstance(values, Deferred):  # of a model that is checked elsewhere
            continue
        for term, value in values.items():
            _check_number(name, f"{field}[{term!r}]", value)


def _mapping(name: str, field: str, value: object) -> Mapping[object, object]:
    if not isinstance(value, Mapping):
        msg = (
            f"{name}.estimate: {field} must be a mapping of names to numbers, got "
            f"{value!r} of {type(value).__name__}"
        )
        raise InvalidModel(msg)
    return value


def _check_number(name: str, field: str, value: object) -> None:
    if value is not None and not isinstance(value, numbers.Real):
        msg = (
            f"{name}.estimate: {field} must be a real number in SI units, got "
            f"{value!r} of {type(value).__name__}"
        )
        raise InvalidModel(msg)

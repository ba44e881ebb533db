"""Counterexamples: a minimal case for which a model violates a property, as data.

The JSON form is numbered, names no import path and is never executed. It is the
truth about a finding; Hypothesis's own database is only a cache.
"""

from __future__ import annotations

import builtins
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache
from typing import Any, Final

import attrs
import cattrs
from cattrs.errors import BaseValidationError

from joulecheck.case import AnyCase, Question, Wrong
from joulecheck.errors import CorpusError, JoulecheckError
from joulecheck.model import Subject
from joulecheck.region import Generalised
from joulecheck.region.region import add_hooks
from joulecheck.structured import by_name, explained, strict_converter, tagged_union
from joulecheck.workload import Function, Precision
from joulecheck.workload.subgraph import AnyOperator, Workload

FORMAT: Final = 1
"""The number of the JSON format that this version writes and reads."""


class Minimality(Enum):
    """What was shown of a case's size."""

    PROVEN = "proven"
    """No node can go, and no field or pair of fields can be plainer."""
    UNPROVEN = "unproven"
    """The search for something plainer stopped at its limit."""


@attrs.frozen(kw_only=True)
class Numbers:
    """What the model answered to one question of a case, in SI units.

    A number that is infinite or NaN has no place in JSON: it is None here, and `error`
    says what it was.
    """

    role: str
    energy: float | None
    latency: float | None
    utilisation: float | None
    energy_terms: Mapping[str, float | None]
    latency_terms: Mapping[str, float | None]
    error: str | None = None
    """What the model raised, or which of its numbers are not finite."""


def _as_genes(genes: Iterable[int]) -> tuple[int, ...]:
    return tuple(genes)


def _as_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(names)


def _as_numbers(numbers: Iterable[Numbers]) -> tuple[Numbers, ...]:
    return tuple(numbers)


@attrs.frozen(kw_only=True)
class Repair:
    """A single change to what the model answers that repairs a counterexample."""

    target: str
    """The term, coefficient or total that is changed."""
    change: str
    """The change in words."""
    repaired: float
    """Share of the failing cases seen that hold with it."""
    broken: float
    """Share of the passing cases seen that fail with it."""
    violated: int
    """How many laws the changed model violates on a few cases of each."""


@attrs.frozen(kw_only=True)
class Blame:
    """What a violation hangs on."""

    repairs: tuple[Repair, ...] = ()
    """The best first."""
    terms: Mapping[str, float] = attrs.field(factory=dict)
    """d margin / d ln(term) of the energy terms that move the margin most."""
    coefficients: Mapping[str, float] = attrs.field(factory=dict)
    """The same of coefficients."""


@attrs.frozen(kw_only=True)
class Contrast:
    """The nearest case that holds, and what the model answers to it."""

    case: AnyCase
    margin: float
    """At least 0, relative."""
    numbers: tuple[Numbers, ...] = attrs.field(converter=_as_numbers)


@attrs.frozen(kw_only=True)
class Counterexample:
    """A violation: the model, the property, the minimal case and the numbers."""

    model: str
    property: str
    case: AnyCase
    genes: tuple[int, ...] = attrs.field(converter=_as_genes)
    margin: float
    """Below 0, relative."""
    numbers: tuple[Numbers, ...] = attrs.field(converter=_as_numbers)
    seed: int | None = None
    minimality: Minimality = Minimality.UNPROVEN
    region: Generalised | None = None
    """Where else the property fails, if that was looked for."""
    blame: Blame | None = None
    contrast: Contrast | None = None
    also: tuple[str, ...] = attrs.field(default=(), converter=_as_names)
    """Other models of its class that the same case fails on, for the same cause."""
    fault: str | None = None
    """The fault that was injected on purpose, if any."""
    versions: Mapping[str, str] = attrs.field(factory=dict)
    """Of joulecheck, Python, Hypothesis and numpy, when it was found."""

    @builtins.property  # the field `property` hides the short name
    def id(self) -> str:
        """F- and eight digits that depend on model, property and minimal case alone."""
        key = json.dumps(
            [self.model, self.property, unstructure_case(self.case)], sort_keys=True
        )
        return f"F-{hashlib.sha256(key.encode()).hexdigest()[:8]}"


def numbers_of(model: Subject, case: AnyCase) -> list[Numbers]:
    """What the model answers to each question of a case, on its scalar path."""
    return [_numbers(model, question) for question in case.questions]


def _numbers(model: Subject, question: Question) -> Numbers:
    answers = model.answer(question)
    totals = {
        "energy": float(answers.energy[0]),
        "latency": float(answers.latency[0]),
        "utilisation": float(answers.utilisation[0]),
    }
    terms: dict[str, dict[str, float]] = {
        field: {n: float(v[0]) for n, v in getattr(answers, field).items()}
        for field in ("energy_terms", "latency_terms")
    }
    return Numbers(
        role=question.role,
        energy=_finite(totals["energy"]),
        latency=_finite(totals["latency"]),
        utilisation=_finite(totals["utilisation"]),
        energy_terms=_finite_terms(terms["energy_terms"]),
        latency_terms=_finite_terms(terms["latency_terms"]),
        error=answers.errors.get(0) or _what_is_not_finite(totals, terms),
    )


def _finite_terms(terms: Mapping[str, float]) -> dict[str, float | None]:
    return {name: _finite(value) for name, value in terms.items()}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _what_is_not_finite(
    totals: Mapping[str, float], terms: Mapping[str, Mapping[str, float]]
) -> str | None:
    """Which numbers are infinite or, where a NaN is no mere absence, NaN."""
    wrong = [f"{name} is {v}" for name, v in totals.items() if math.isinf(v)]
    for field, values in terms.items():
        bad = {name: v for name, v in values.items() if not math.isfinite(v)}
        wrong += [f"{field}[{name!r}] is {v}" for name, v in bad.items()]
    return "; ".join(wrong) or None


@cache
def converter() -> cattrs.Converter:
    """Writes and reads counterexamples: enums by name, kinds of case by a tag."""
    made = strict_converter()
    for kind in (Precision, Function, Wrong):
        by_name(made, kind)
    add_hooks(made)
    tagged_union(made, AnyOperator, "op")
    tagged_union(made, Workload, "op")
    tagged_union(made, AnyCase, "kind")
    return made


def unstructure_case(case: AnyCase) -> dict[str, Any]:
    """A case as JSON-ready data, tagged with its kind."""
    data: dict[str, Any] = converter().unstructure(case, unstructure_as=AnyCase)
    return data


def structure_case(data: Mapping[str, Any]) -> AnyCase:
    """The case of such data.

    Raises:
        CorpusError: the data are not a case, or a workload in them breaks a rule.
    """
    try:
        return converter().structure(data, AnyCase)  # type: ignore[arg-type]  # a union
    except (BaseValidationError, KeyError, TypeError, ValueError) as error:
        msg = f"not a case: {explained(error)}"
        raise CorpusError(msg) from error


def to_json(counterexample: Counterexample) -> str:
    """The numbered JSON form, with sorted keys and a newline at the end."""
    data = {"format": FORMAT, **converter().unstructure(counterexample)}
    for later in ("region", "also"):  # older versions know neither
        if not data[later]:
            del data[later]
    return json.dumps(data, indent=2, sort_keys=True) + "\n"


def from_json(text: str, where: str = "counterexample") -> Counterexample:
    """A counterexample from its JSON form. `where` is for messages.

    Raises:
        CorpusError: it is no JSON, has another format number, or breaks a rule.
    """
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            found = data.get("format") if isinstance(data, dict) else data
            msg = (
                f"{where}: format must be {FORMAT}, got {found!r}; read it with the "
                f"joulecheck that wrote it"
            )
            raise CorpusError(msg)
        del data["format"]
        return converter().structure(data, Counterexample)
    except JoulecheckError:
        raise
    except (BaseValidationError, KeyError, TypeError, ValueError) as error:
        msg = f"{where}: {explained(error)}"
        raise CorpusError(msg) from error

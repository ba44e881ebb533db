"""Named columns of a batch: what can be said of its cases and of their operators.

Names of the first question of a case are bare ("macs"), those of others carry its
role ("larger macs"). Genes that belong to no node are "gene NAME", coefficients
"factor NAME" and "perturbed NAME".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, Final

import attrs
import numpy as np

from joulecheck.case import Batch, Cases
from joulecheck.errors import UnknownName, did_you_mean
from joulecheck.space import CaseSpace, Gene, Trait
from joulecheck.workload.columns import (
    OPERATORS,
    PRECISIONS,
    Floats,
    Ints,
    tensor_bytes,
    total_ops,
)

KINDS: Final = tuple(kind.__name__.lower() for kind in OPERATORS)
FACTOR: Final = "factor "
PERTURBED: Final = "perturbed "
LARGEST: Final = "largest factor"
LEAST: Final = "least factor"
GENE: Final = "gene "
TOLD: Final = "told "
LEAST_TIME: Final = (f"{TOLD}least ", " time")
"""How figures of the workload and the machine alone begin and end."""
EXTREMES: Final = {"largest ": np.fmax, "smallest ": np.fmin}
"""Of a number of the operators of each case, by the start of the column's name."""

CODES: Final = 64
"""Values from which a gene is a number rather than a code."""


Figures = Mapping[str, Floats]
"""Figures of a model's answers by name, one a case."""

Told = Callable[[Cases], Figures]
"""Asks a model."""


def _ends(cases: Cases) -> Ints:
    return np.append(cases.operators.starts, len(cases.operators))


def _count(code: int, cases: Cases) -> Floats:
    return cases.operators.per_case((cases.operators.kind == code).astype(np.float64))


def _bytes(cases: Cases, elements: str) -> Floats:
    rows = cases.operators
    return tensor_bytes(getattr(rows, elements), rows.per_operator(cases.bits))


def _footprint(cases: Cases) -> Floats:
    """Bytes of all operands of each operator together, wherever they come from."""
    rows = cases.operators
    inputs = _bytes(cases, "input_elements") * (rows.external_inputs + rows.internal_inputs)
    found: Floats = (
        inputs + _bytes(cases, "weight_elements") + _bytes(cases, "output_elements")
    )
    return found


_OF_CASES: Final[Mapping[str, Callable[[Cases], Floats]]] = {
    "nodes": lambda cases: np.diff(_ends(cases)).astype(np.float64),
    **{f"{kind} nodes": partial(_count, code) for code, kind in enumerate(KINDS)},
    "macs": lambda cases: cases.macs,
    "ops": lambda cases: cases.ops,
    "bytes": lambda cases: cases.bytes,
    "input bytes": lambda cases: cases.traffic.input,
    "weight bytes": lambda cases: cases.traffic.weight,
    "output bytes": lambda cases: cases.traffic.output,
    "internal bytes": lambda cases: cases.traffic.internal,
    "bits": lambda cases: cases.bits.astype(np.float64),
}

_OF_OPERATORS: Final[Mapping[str, Callable[[Cases], Floats]]] = {
    "loop m": lambda cases: cases.operators.m,
    "loop n": lambda cases: cases.operators.n,
    "loop k": lambda cases: cases.operators.k,
    "instances": lambda cases: cases.operators.instances,
    "operator macs": lambda cases: cases.operators.macs,
    "operator ops": lambda cases: total_ops(cases.operators),
    "input elements": lambda cases: cases.operators.input_elements,
    "weight elements": lambda cases: cases.operators.weight_elements,
    "output elements": lambda cases: cases.operators.output_elements,
    "operator input bytes": lambda cases: _bytes(cases, "input_elements"),
    "operator weight bytes": lambda cases: _bytes(cases, "weight_elements"),
    "operator output bytes": lambda cases: _bytes(cases, "output_elements"),
    "footprint": _footprint,
    "inputs from inside": lambda cases: cases.operators.internal_inputs,
    "inputs from outside": lambda cases: cases.operators.external_inputs,
    "weight from inside": lambda cases: cases.operators.weight_is_internal.astype(float),
    "output read inside": lambda cases: cases.operators.output_is_internal.astype(float),
}


class Columns:
    """The columns of some rows of a space, each computed when first asked for."""

    def __init__(self, space: CaseSpace, rows: Ints, told: Told | None = None) -> None:
        """Name the columns of canonical rows.

        Args:
            space: of the cases.
            rows: (n, width) canonical rows.
            told: asks the model; without it there are no figures of its answers.
        """
        self.size = len(rows)
        self._told = told
        self._space = space
        self._rows = rows
        self._known: dict[tuple[str, str], Floats | Trait] = {}

    @cached_property
    def _batch(self) -> Batch:
        return self._space.batch(self._rows)

    @cached_property
    def questions(self) -> dict[str, Cases]:
        """The plain cases of each question, by the start of their columns' names."""
        found = {r: c for r, c in _questions(self._batch, "") if len(c) == self.size}
        if not found:
            plain = self._space.plain_cases(self._rows)
            found = {} if plain is None else {"": plain}
        first = next(iter(found), "")
        return {("" if role == first else f"{role} "): c for role, c in found.items()}

    @cached_property
    def scales(self) -> Mapping[str, Floats]:
        """The factors by coefficient."""
        found: dict[str, Floats] = {}
        for value in _parts(self._batch).values():
            if isinstance(value, Mapping):
                found |= value
        return found

    @cached_property
    def _fields(self) -> Mapping[str, Floats | Trait]:
        """What the operators of the first question are declared by, if that is known."""
        found = self._space.operator_fields(self._rows)
        size = len(self._operators_of.operators) if found else 0
        sizes = {len(f.codes if isinstance(f, Trait) else f) for f in found.values()}
        return found if sizes <= {size} else {}

    @cached_property
    def _traits(self) -> Mapping[str, Trait]:
        return self._space.traits(self._rows)

    @cached_property
    def _genes(self) -> dict[str, int]:
        """The columns of genes that are numbers of their own.

        Where the questions are known, genes of nodes are among their columns, and genes
        of few values are codes that a trait tells.
        """
        return {
            gene.name: index
            for index, gene in enumerate(self._space.genes)
            if gene.low < gene.high and not (self.questions and self._is_told(gene))
        }

    def _is_told(self, gene: Gene) -> bool:
        """Whether other columns tell what a gene does."""
        few = gene.high - gene.low < CODES
        return few or (bool(self._fields) and _is_of_node(gene.name))

    @cached_property
    def starts(self) -> Ints:
        """The first operator of each case."""
        starts: Ints = self._operators_of.operators.starts
        return starts

    @cached_property
    def counts(self) -> Ints:
        """(n,) how many operators each case has."""
        return np.diff(_ends(self._operators_of))

    @property
    def _operators_of(self) -> Cases:
        return next(iter(self.questions.values()))

    @cached_property
    def _aligned(self) -> dict[str, Cases]:
        """The questions about graphs of the same shape as that of the first."""
        first = self._operators_of.operators
        return {
            role: cases
            for role, cases in self.questions.items()
            if not role
            or (
                cases.operators is not first
                and np.array_equal(cases.operators.starts, first.starts)
                and len(cases.operators) == len(first)
            )
        }

    @cached_property
    def case_names(self) -> tuple[str, ...]:
        """The columns of whole cases, the plainest first."""
        totals = [f"{role}{name}" for role in self.questions for name in _OF_CASES]
        kinds = [f"{role}precision" for role in self.questions]
        factors = [f"{kind}{n}" for n in self.scales for kind in (PERTURBED, FACTOR)]
        factors = [LARGEST, LEAST, *factors] if self.scales else []
        genes = [f"{GENE}{name}" for name in self._genes]
        return (*kinds, *self._traits, *factors, *totals, *genes)

    @cached_property
    def operator_names(self) -> tuple[str, ...]:
        """The columns of operators, the plainest first."""
        if not self.questions:
            return ()
        computed = [f"{role}{name}" for role in self._aligned for name in _OF_OPERATORS]
        return ("kind", *self._fields, *computed)

    @cached_property
    def figures(self) -> Figures:
        """The figures of the model's answers to each question; none if it is not asked."""
        if self._told is None:
            return {}
        return {
            f"{role}{TOLD}{name}": values
            for role, cases in self.questions.items()
            for name, values in self._told(cases).items()
        }

    @cached_property
    def owners(self) -> Ints:
        """(operators,) the case of each operator."""
        return np.repeat(np.arange(self.size), self.counts)

    def each(self, operators: Ints) -> Columns:
        """Some operators, by index, each as a case of its own."""
        return _Each(self, operators)

    def case(self, name: str) -> Floats:
        """(n,) a number of each case.

        Raises:
            UnknownName: the space has no such column, or it is no number.
        """
        return self._number("case", name)

    def operator(self, name: str) -> Floats:
        """(operators,) a number of each operator.

        Raises:
            UnknownName: the space has no such column, or it is no number.
        """
        return self._number("operator", name)

    def trait(self, level: str, name: str) -> Trait:
        """What kind each case or operator is of.

        Raises:
            UnknownName: the space has no such column, or it is a number.
        """
        found = self.column(level, name)
        if not isinstance(found, Trait):
            msg = f"{name!r} is a number, not a kind"
            raise UnknownName(msg)
        return found

    def _number(self, level: str, name: str) -> Floats:
        found = self.column(level, name)
        if isinstance(found, Trait):
            msg = f"{name!r} is a kind, not a number"
            raise UnknownName(msg)
        return found

    def column(self, level: str, name: str) -> Floats | Trait:
        """A number or a trait of each case or operator.

        Raises:
            UnknownName: the space has no such column.
        """
        key = (level, name)
        if key not in self._known:
            of = self._of_case if level == "case" else self._of_operator
            found = of(name)
            if found is None:
                names = self.case_names if level == "case" else self.operator_names
                msg = f"the space has no column {name!r}: {did_you_mean(name, names)}"
                raise UnknownName(msg)
            self._known[key] = found
        return self._known[key]

    def _of_case(self, name: str) -> Floats | Trait | None:
        if name in self._traits:
            return self._traits[name]
        for role, cases in reversed(self.questions.items()):
            short = name.removeprefix(role)
            if name.startswith(role) and short == "precision":
                return Trait(cases.precision, tuple(p.name for p in PRECISIONS))
            if name.startswith(role) and short in _OF_CASES:
                return _OF_CASES[short](cases)
        if name in {LARGEST, LEAST} or name.startswith((FACTOR, PERTURBED)):
            return self._of_scales(name)
        gene = name.removeprefix(GENE)
        if gene in self._genes:
            return self._rows[:, self._genes[gene]].astype(np.float64)
        is_extreme = name.startswith(tuple(EXTREMES))
        return self._extreme(name) if is_extreme else self._figure(name)

    def _figure(self, name: str) -> Floats | None:
        """A figure of the model's answers; NaN if those of this batch leave it out."""
        if TOLD not in name or self._told is None:
            return None
        nothing: Floats = np.full(self.size, np.nan)
        return self.figures.get(name, nothing)

    def _extreme(self, name: str) -> Floats | None:
        """The largest or the smallest number of the operators of each case."""
        which, _, short = name.partition(" ")
        if short not in self.operator_names:
            return None
        found: Floats = EXTREMES[f"{which} "].reduceat(self.operator(short), self.starts)
        return found

    def _of_scales(self, name: str) -> Floats:
        if name in {LARGEST, LEAST}:
            every = list(self.scales.values()) or [np.ones(self.size)]
            extreme: Floats = (np.max if name == LARGEST else np.min)(every, axis=0)
            return extreme
        kind, _, coefficient = name.partition(" ")
        factor = self.scales.get(coefficient, np.ones(self.size))
        return factor if f"{kind} " == FACTOR else (factor != 1.0).astype(np.float64)

    def _of_operator(self, name: str) -> Floats | Trait | None:
        if not self.questions:
            return None
        if name == "kind":
            return Trait(self._operators_of.operators.kind, KINDS)
        for role, cases in reversed(self._aligned.items()):
            short = name.removeprefix(role)
            if name.startswith(role) and short in _OF_OPERATORS:
                return _OF_OPERATORS[short](cases)
        return self._fields.get(name)


class _Each(Columns):
    """Operators as cases: with the numbers of their case, and their own."""

    def __init__(self, columns: Columns, operators: Ints) -> None:
        self.size = len(operators)
        self._columns = columns
        self._places = {"operator": operators, "case": columns.owners[operators]}
        self.starts = np.arange(self.size)
        self.counts = np.ones(self.size, dtype=np.int64)

    def column(self, level: str, name: str) -> Floats | Trait:
        """A number or a trait of each operator, or of its case."""
        found, places = self._columns.column(level, name), self._places[level]
        if isinstance(found, Trait):
            return attrs.evolve(found, codes=found.codes[places])
        values: Floats = found[places]
        return values


def _questions(batch: object, role: str) -> Iterator[tuple[str, Cases]]:
    if isinstance(batch, Cases):
        yield role, batch
        return
    for name, value in _parts(batch).items():
        yield from _questions(value, f"{role} {name}".strip())


def _parts(batch: object) -> Mapping[str, Any]:
    """What a batch that is not plain consists of."""
    kind: Any = type(batch)
    if not attrs.has(kind):
        return {}
    return {field.name: getattr(batch, field.name) for field in attrs.fields(kind)}


def is_answer(name: str) -> bool:
    """Whether a column depends on what the model answers."""
    _, told, short = name.partition(TOLD)
    start, end = LEAST_TIME
    return bool(told) and not (f"{told}{short}".startswith(start) and name.endswith(end))


def _is_of_node(gene: str) -> bool:
    return gene.partition(".")[0].isdigit()

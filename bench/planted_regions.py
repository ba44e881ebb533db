"""Regions made at random: where a planted fault would hit, on spaces of every kind.

A region is a conjunction of one to three conditions, the first of them of the kind that
is asked for. It is written in its own words, not in those of the finder: as functions
of genes and of the columns of operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import attrs
import numpy as np

from conditions import MAKERS, QUANTA, UNSAID, Array, Maker, Number, Numbers, Rng, threshold
from joulecheck.case import Cases
from joulecheck.space import CaseSpace
from joulecheck.workload import Precision
from joulecheck.workload.columns import OPERATORS, Bools, Ints, tensor_bytes
from joulecheck_strategies import PerturbationSpace, WorkloadSpace
from joulecheck_strategies.layout import FUNCTIONS

CONSTANTS: Final = (8, 128, 4096, 1 << 20, 24 << 20)
PRECISIONS: Final = (
    Precision.FP32,
    Precision.INT8,
    Precision.FP64,
    Precision.FP16,
    Precision.BF16,
    Precision.INT16,
)
COEFFICIENTS: Final = tuple(
    f"{name}_energy" for name in ("alu", "register", "sram", "noc", "dram", "leakage")
)


def _workloads(*kinds: str, nodes: int = 1) -> WorkloadSpace:
    return WorkloadSpace(
        kinds=kinds or ("gemm", "conv2d", "elementwise"),
        precisions=PRECISIONS,
        max_nodes=nodes,
        constants=CONSTANTS,
        quanta=QUANTA,
    )


SPACES: Final[Mapping[str, CaseSpace]] = {
    "GEMM": _workloads("gemm"),
    "convolution": _workloads("conv2d"),
    "elementwise": _workloads("elementwise"),
    "operators": _workloads(),
    "subgraphs": _workloads(nodes=8),
    "perturbed GEMM": PerturbationSpace(_workloads("gemm"), COEFFICIENTS),
    "perturbed subgraphs": PerturbationSpace(_workloads(nodes=8), COEFFICIENTS),
}


@attrs.frozen(eq=False)
class Asked:
    """Rows of a space, and what conditions are asked of."""

    space: CaseSpace
    rows: Ints

    @property
    def cases(self) -> Cases:
        """The workloads."""
        batch: Any = self.space.batch(self.rows)
        return batch if isinstance(batch, Cases) else batch.cases

    def gene(self, name: str) -> Ints:
        """The values of a gene."""
        names = [gene.name for gene in self.space.genes]
        return self.rows[:, names.index(name)]

    def factors(self, coefficient: str) -> Array:
        """Of a coefficient."""
        batch: Any = self.space.batch(self.rows)
        found: Array = batch.scales.get(coefficient, np.ones(len(self.rows)))
        return found


@attrs.frozen
class Condition:
    """Where something holds, and how to say it."""

    text: str
    holds: Callable[[Asked], Bools]


@attrs.frozen
class PlantedRegion:
    """A fault's region in a space."""

    kind: str
    space_name: str
    text: str
    holds: Callable[[Ints], Bools]

    @property
    def space(self) -> CaseSpace:
        """Of its cases."""
        return SPACES[self.space_name]


# Numbers that conditions compare, by space


def _genes(*names: str) -> Numbers:
    highs = {
        "batch": 1024,
        "m": 65536,
        "n": 65536,
        "k": 65536,
        "c": 4096,
        "h": 512,
        "w": 512,
    }
    return {name: (partial(Asked.gene, name=f"0.{name}"), highs[name]) for name in names}


def _loops() -> Numbers:
    highs = {"m": 65536, "n": 4096, "k": 4096}
    return {
        f"loop {name}": (partial(_loop, name=name), high) for name, high in highs.items()
    }


def _loop(cases: Cases, name: str) -> Array:
    found: Array = getattr(cases.operators, name)
    return found


def _of_filters() -> Numbers:
    return {
        "filters": (lambda a: a.cases.operators.n * a.cases.operators.instances, 4096),
        "r": (lambda a: a.gene("0.r"), 11),
        "s": (lambda a: a.gene("0.s"), 11),
    }


DIMENSIONS: Final = {
    "GEMM": _genes("batch", "m", "n", "k"),
    "perturbed GEMM": _genes("batch", "m", "n", "k"),
    "convolution": {**_genes("batch", "c", "h", "w"), **_of_filters()},
    "elementwise": _genes("batch", "c", "h", "w"),
    "operators": {n: (lambda a, f=f: f(a.cases), h) for n, (f, h) in _loops().items()},
    "subgraphs": _loops(),
    "perturbed subgraphs": _loops(),
}
"""By space: the numbers of an operator that conditions compare, and their largest."""


def _bytes(field: str) -> Number:
    def of(cases: Cases) -> Array:
        rows = cases.operators
        return tensor_bytes(getattr(rows, field), rows.per_operator(cases.bits))

    return of


OPERATOR_BYTES: Final = {
    f"{name} bytes": _bytes(f"{name}_elements") for name in ("input", "weight", "output")
}
TOTALS: Final = {
    "external bytes": lambda cases: cases.bytes,
    "weight bytes in all": lambda cases: cases.traffic.weight,
    "internal bytes": lambda cases: cases.traffic.internal,
    "MACs in all": lambda cases: cases.macs,
    "ops in all": lambda cases: cases.ops,
}


def _precisions(random: Rng, space: str) -> Condition:
    del space
    count = int(random.integers(1, len(PRECISIONS) - 1))
    some = np.sort(random.choice(len(PRECISIONS), count, replace=False))
    names = [PRECISIONS[index].name for index in some]
    return Condition(
        f"precision in {names}", lambda asked: np.isin(asked.gene("precision"), some)
    )


def _kinds(random: Rng) -> Condition:
    count = int(random.integers(1, 3))
    some = np.sort(random.choice(3, count, replace=False))
    names = [OPERATORS[index].__name__ for index in some]
    return Condition(
        f"kind in {names}", lambda asked: np.isin(asked.cases.operators.kind, some)
    )


def _functions(random: Rng) -> Condition:
    count = int(random.integers(1, len(FUNCTIONS)))
    some = np.sort(random.choice(len(FUNCTIONS), count, replace=False))
    names = [FUNCTIONS[index].name for index in some]
    return Condition(
        f"function in {names}", lambda asked: np.isin(asked.gene("0.function"), some)
    )


def _coefficient(random: Rng) -> Condition:
    name = str(random.choice(COEFFICIENTS))
    match int(random.integers(3)):
        case 0:
            return Condition(f"{name} perturbed", lambda asked: asked.factors(name) != 1)
        case 1:
            end = float(random.choice([1.005, 1.08, 1.3]))
            return Condition(
                f"{name} x {end} or more", lambda asked: asked.factors(name) >= end
            )
        case _:
            end = float(random.choice([0.999, 0.92, 0.78]))
            return Condition(
                f"{name} x {end} or less", lambda asked: asked.factors(name) <= end
            )


def _of_operator(random: Rng, kind: str, space: str) -> Condition:
    """A condition on the one operator of a case."""
    if kind == "bytes":
        made = threshold(random, OPERATOR_BYTES, 64, 1 << 26)
        return Condition(made.text, lambda asked: made.holds(asked.cases))
    made = MAKERS[kind](random, DIMENSIONS[space])
    return Condition(made.text, made.holds)


def _pattern(random: Rng, makers: Sequence[Maker], space: str) -> Condition:
    """Some operator, of a kind at times, at which all conditions hold."""
    nature = int(random.integers(-1, len(OPERATORS)))
    parts = [make(random, DIMENSIONS[space]) for make in makers]

    def holds(asked: Asked) -> Bools:
        cases = asked.cases
        rows = cases.operators
        held = np.ones(len(rows), dtype=bool) if nature < 0 else rows.kind == nature
        for part in parts:
            held = held & part.holds(cases)
        return rows.per_case(held.astype(np.float64)) > 0

    name = "operator" if nature < 0 else OPERATORS[nature].__name__
    return Condition(f"some {name} with {' and '.join(p.text for p in parts)}", holds)


def _edge(random: Rng) -> Condition:
    name = str(random.choice(["weight_is_internal", "output_is_internal"]))
    return Condition(
        f"some {name}",
        lambda asked: (
            asked.cases.operators.per_case(
                getattr(asked.cases.operators, name).astype(np.float64)
            )
            > 0
        ),
    )


def _total(random: Rng) -> Condition:
    made = threshold(random, TOTALS, 256, 1 << 30)
    return Condition(made.text, lambda asked: made.holds(asked.cases))


_MAKER_IN_GRAPHS: Final[Mapping[str, Maker]] = {
    **MAKERS,
    "bytes": lambda random, _: threshold(random, OPERATOR_BYTES, 64, 1 << 24),
}

KINDS: Final = (*MAKERS, "bytes", "enum", "coefficient")


def _in_graphs(random: Rng, kind: str, space: str) -> list[Condition]:
    if kind == "enum":
        first = _precisions(random, space)
    elif kind == "coefficient":
        first = _coefficient(random)
    elif kind == "bytes" and random.random() < 1 / 2:
        first = _total(random)
    else:
        first = _pattern(random, [_MAKER_IN_GRAPHS[kind]], space)
    found = [first]
    for _ in range(int(random.integers(3))):
        match int(random.integers(5)):
            case 0:
                found.append(_precisions(random, space))
            case 1:
                found.append(_total(random))
            case 2:
                found.append(_edge(random))
            case _:
                found.append(
                    _pattern(random, [MAKERS[str(random.choice(list(MAKERS)))]], space)
                )
    return found


def _in_operators(random: Rng, kind: str, space: str) -> list[Condition]:
    if kind == "enum":
        own = {"operators": [_kinds], "elementwise": [_functions]}.get(space, [])
        makers: list[Callable[[Rng], Condition]]
        makers = [*own, partial(_precisions, space=space)]
        first = makers[int(random.integers(len(makers)))](random)
    elif kind == "coefficient":
        first = _coefficient(random)
    else:
        first = _of_operator(random, kind, space)
    found = [first]
    for _ in range(int(random.integers(3))):
        more = [*MAKERS, "bytes", "enum"][int(random.integers(len(MAKERS) + 2))]
        made = (
            _precisions(random, space)
            if more == "enum"
            else _of_operator(random, more, space)
        )
        found.append(made)
    return found


def planted_region(random: Rng, kind: str) -> PlantedRegion:
    """A region whose first condition is of a kind."""
    perturbed = kind == "coefficient"
    names = [name for name in SPACES if name.startswith("perturbed") == perturbed]
    space = str(random.choice(names))
    make = _in_graphs if space.endswith("subgraphs") else _in_operators
    conditions = make(random, kind, space)
    return _planted(kind, space, conditions)


def _planted(kind: str, space: str, conditions: Sequence[Condition]) -> PlantedRegion:
    def holds(rows: Ints) -> Bools:
        asked = Asked(SPACES[space], rows)
        found: Bools = np.logical_and.reduce([c.holds(asked) for c in conditions])
        return found

    return PlantedRegion(kind, space, " and ".join(c.text for c in conditions), holds)


OUTSIDE: Final = tuple(UNSAID)
"""The kinds of regions that the finder has no words for."""


def region_outside(random: Rng, kind: str) -> PlantedRegion:
    """A region that the finder has no words for, at times with a condition that it has."""
    names = [name for name in SPACES if not name.startswith("perturbed")]
    space = str(random.choice(names))
    if space == "subgraphs":
        made = _pattern(random, [UNSAID[kind]], space)
    else:
        compared = UNSAID[kind](random, DIMENSIONS[space])
        made = Condition(compared.text, compared.holds)
    conditions = [made]
    if random.random() < 1 / 3:
        conditions.append(_precisions(random, space))
    return _planted(kind, space, conditions)

"""How long it takes to make a failing case minimal, and how minimal it gets.

Time: from the first failing case to the reduced counterexample, for the faults of the
package in its reference models and for patterns in subgraphs made at random, by the
clock of the process, so that others on the machine count little. Size:
against the plainest failing case of small domains, found by brute force. Exits with 1
if a target is missed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import prod
from typing import ClassVar, Final

import attrs
import numpy as np

from joulecheck.campaign.follow_up import SHRINK_LIMIT
from joulecheck.campaign.order import Plainness
from joulecheck.campaign.reduce import reduce
from joulecheck.campaign.search import (
    FOLLOW_UP,
    Searched,
    Unit,
    search_and_minimise,
)
from joulecheck.campaign.shrink import shrink
from joulecheck.case import AnyCase, Case, Cases
from joulecheck.counterexample import Minimality
from joulecheck.errors import NotOffered
from joulecheck.faults import FAULTS, inject
from joulecheck.model import Offer, Subject, registered
from joulecheck.property import Planted, Property, installed
from joulecheck.reference import MACHINES
from joulecheck.space import Bounds, CaseSpace
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import Bools, Floats, Ints
from joulecheck_strategies import WorkloadSpace, workloads
from predicates import Pattern, Predicate, pattern, some_atoms

SEED: Final = 1
CASES: Final = 16_384
"""Cases after which a search for a fault gives up."""
PATTERNS: Final = 80
SHARE: Final = (2e-4, 0.3)
"""Of the cases that a pattern may hit: rarer ones are not found, others are no fault."""

PREDICATES: Final = 60
"""For each small domain."""
DOMAINS: Final = {
    "GEMM": WorkloadSpace(
        kinds=("gemm",),
        precisions=(Precision.FP32, Precision.INT8),
        max_nodes=1,
        bounds=Bounds(batch=8, gemm=16),
    ),
    "convolution": WorkloadSpace(
        kinds=("conv2d",),
        max_nodes=1,
        bounds=Bounds(
            batch=3,
            channels=8,
            image=8,
            filter=3,
            stride=2,
            padding=1,
            dilation=1,
            groups=2,
        ),
    ),
}
FIELDS: Final = {
    "GEMM": ("batch", "m", "n", "k"),
    "convolution": ("batch", "c", "h", "w", "filters", "r", "s"),
}
"""The genes that predicates of a small domain compare."""

MEDIAN_SECONDS: Final = 1.0
EQUAL_SHARE: Final = 0.9


@attrs.frozen
class Timed:
    """What a search found, and how long making it minimal took."""

    found: Searched
    seconds: float
    """Of the process, from the first failing case to the minimal one."""


class Forbidden(Property):
    """A law that any model violates where a pattern holds."""

    id: ClassVar = "CMP000"
    name: ClassVar = "forbidden-pattern"
    needs: ClassVar[frozenset[Offer]] = frozenset()
    planted: ClassVar = Planted(fault="", model="", shrinks_to=Case(Gemm(m=1, n=1, k=1)))

    def __init__(self, forbidden: Pattern) -> None:
        """Forbid a pattern."""
        self.pattern = forbidden

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """-1 where the pattern holds, else 1."""
        del model  # whatever it answers
        return np.where(self.pattern.holds(cases), -1.0, 1.0)


def timed_search(unit: Unit, model: Subject, law: Property) -> Timed:
    """Search, and time what follows the last screened batch."""
    screened_at = time.process_time()

    def on_batch(number: int) -> None:
        nonlocal screened_at
        if number == FOLLOW_UP:
            screened_at = time.process_time()

    found = search_and_minimise(unit, model, law, on_batch=on_batch)
    return Timed(found, time.process_time() - screened_at)


def one_a_class() -> list[str]:
    """The first machine of each architecture class."""
    firsts: dict[str | None, str] = {}
    for name in MACHINES:
        firsts.setdefault(registered("reference", name).machine.architecture, name)
    return list(firsts.values())


def planted_faults() -> Iterator[Timed]:
    """Each fault on a machine a class, searched for with the laws that must catch it."""
    for machine in one_a_class():
        model = registered("reference", machine)
        print(f"faults in {machine}", file=sys.stderr, flush=True)
        for law in installed().values():
            with suppress(NotOffered):  # a precision that the machine has not
                faulty = inject(model, FAULTS[law.planted.fault])
                yield timed_search(Unit(model.name, law.id, SEED, 0, CASES), faulty, law)


def random_patterns() -> Iterator[Timed]:
    """Patterns of subgraphs that are neither too rare nor too common."""
    random = np.random.default_rng(0)
    model = registered("reference", MACHINES[0])
    space = workloads(model)
    sample = space.batch(space.sample(random, 1 << 15))
    found = 0
    while found < PATTERNS:
        made = pattern(random)
        if SHARE[0] <= made.holds(sample).mean() <= SHARE[1]:
            found += 1
            unit = Unit(model.name, made.text, 1, 0, CASES)
            yield timed_search(unit, model, Forbidden(made))


def report_times(name: str, searches: Sequence[Timed]) -> bool:
    """Print how long minimising took; whether the median reaches the target."""
    made = [(s.found.counterexample, s.seconds) for s in searches]
    found = [(case, took) for case, took in made if case is not None]
    seconds = np.array([took for _, took in found])
    proven = [case.minimality is Minimality.PROVEN for case, _ in found]
    median, p95 = np.quantile(seconds, [0.5, 0.95])
    reached = bool(median < MEDIAN_SECONDS)
    print(
        f"{name}: {len(found)} found of {len(made)}; median {median:.3f} s, "
        f"p95 {p95:.3f} s, longest {seconds.max():.2f} s; proven minimal "
        f"{np.mean(proven):.0%}; target median < {MEDIAN_SECONDS:g} s "
        f"{'reached' if reached else 'MISSED'}"
    )
    return reached


@attrs.frozen
class Domain:
    """A space that is small enough to ask every case of it."""

    name: str
    space: WorkloadSpace
    rows: Ints
    """All its canonical rows, plainest first."""

    def holds(self, predicate: Predicate, rows: Ints) -> Bools:
        """Where a predicate on the genes holds."""
        column = self.space.column
        return predicate.holds(lambda name: rows[:, column[f"0.{name}"]])

    def plainest(self, predicate: Predicate) -> Ints:
        """The brute-force minimum."""
        found: Ints = self.rows[self.holds(predicate, self.rows).argmax()]
        return found


def enumerated(name: str) -> Domain:
    """A domain with all its rows, in order."""
    space = DOMAINS[name]
    read = set(space.read_columns(space.plainest.tolist()))
    ranges = [
        gene.high - gene.low + 1 if index in read else 1
        for index, gene in enumerate(space.genes)
    ]
    flat = np.arange(prod(ranges))
    genes = np.stack(np.unravel_index(flat, ranges), axis=1) + space.plainest
    genes = np.asfortranarray(genes)
    rows = genes[(space.canonical(genes) == genes).all(axis=1)]
    return Domain(name, space, np.asfortranarray(rows[Plainness.of(space, rows).order()]))


def predicates(domain: Domain, random: np.random.Generator) -> Iterator[Predicate]:
    """Predicates on a domain that some case meets and most do not."""
    column = domain.space.column
    sizes = {n: domain.space.genes[column[f"0.{n}"]].high for n in FIELDS[domain.name]}
    while True:
        made = some_atoms(random, sizes, 4)
        if 0 < domain.holds(made, domain.rows).mean() <= 1 / 2:
            yield made


def first_failing(
    domain: Domain, predicate: Predicate, random: np.random.Generator
) -> Ints | None:
    """A sampled row at which a predicate holds."""
    for _ in range(100):
        rows = domain.space.sample(random, 1 << 12)
        failing = rows[domain.holds(predicate, rows)]
        if len(failing):
            found: Ints = failing[random.integers(len(failing))]
            return found
    return None


def minimised(domain: Domain, predicate: Predicate, row: Ints) -> tuple[Ints, Ints]:
    """What Hypothesis makes of a failing row, and the reducer of that."""

    def fails(case: AnyCase) -> bool:
        genes = np.array([domain.space.genes_of(case)])
        return bool(domain.holds(predicate, genes)[0])

    shrunk = shrink(domain.space, row.tolist(), fails, limit=SHRINK_LIMIT)
    genes = domain.space.genes_of(shrunk)
    reduced = reduce(
        domain.space, genes, lambda rows: domain.holds(predicate, rows), vectorised=True
    )
    return np.array(genes), np.array(reduced.row)


def report_sizes(name: str) -> tuple[int, int]:
    """Print how often the minimum is met; how often, and of how many."""
    domain, random = enumerated(name), np.random.default_rng(0)
    by_hypothesis = by_reducer = count = 0
    for predicate in predicates(domain, random):
        row = first_failing(domain, predicate, random)
        if row is None:
            continue
        plainest = domain.plainest(predicate)
        shrunk, reduced = minimised(domain, predicate, row)
        by_hypothesis += int((shrunk == plainest).all())
        by_reducer += int((reduced == plainest).all())
        count += 1
        if count == PREDICATES:
            break
    print(
        f"{name} domain, {len(domain.rows):,} cases: the minimum in "
        f"{by_reducer / count:.0%} of {count} predicates, with Hypothesis alone in "
        f"{by_hypothesis / count:.0%}"
    )
    return by_reducer, count


def main() -> int:
    """Measure times, then sizes."""
    started = time.perf_counter()
    reached = [
        report_times("planted faults", list(planted_faults())),
        report_times("subgraph patterns", list(random_patterns())),
    ]
    equal, count = np.sum([report_sizes(name) for name in DOMAINS], axis=0)
    reached.append(bool(equal >= EQUAL_SHARE * count))
    verdict = "reached" if reached[-1] else "MISSED"
    print(
        f"size: equal to the brute-force minimum in {equal / count:.0%} of {count}; "
        f"target >= {EQUAL_SHARE:.0%} {verdict}"
    )
    print(f"{time.perf_counter() - started:.0f} s in all")
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())

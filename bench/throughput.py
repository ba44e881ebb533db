"""Screened checks a second against a plain `@given` loop, side by side in one run.

Both ask the same model the same property over the same space, in one thread, by the
clock of the process, so that others on the machine count little. The loop gets its best
encoding: several are timed, and the fastest counts. Exits with 1 if a ratio misses its
target.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from math import prod
from statistics import median
from typing import Final

import attrs
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from joulecheck.campaign.memory import keep_freed_memory
from joulecheck.campaign.search import BATCH
from joulecheck.case import Case
from joulecheck.model import Subject, registered
from joulecheck.property import Property, property_named
from joulecheck.workload import Gemm
from joulecheck_strategies import WorkloadSpace, workloads

MODEL: Final = ("reference", "Intel-i7-12700K")
LAW: Final = "CMP001"
TOLERANCE: Final = 1e-3
"""Of that law, for its form by hand."""

REPEATS: Final = 5
EXAMPLES: Final = 1000
"""Cases of one `@given` run."""
SCREENING_SECONDS: Final = 0.6
"""Of one screening run."""
DISTINCT_OF: Final = 1 << 16
"""Cases of which the distinct ones are counted."""

Loop = SearchStrategy[Case]
Check = Callable[[Case], object]


@attrs.frozen
class Contest:
    """A space, the encodings that the loop may use in it, and the ratio to reach."""

    name: str
    space: WorkloadSpace
    encodings: Mapping[str, Loop]
    target: float


@attrs.frozen
class Rates:
    """Cases a second, each the median of the repeats."""

    screened: float
    drawn: float
    """By the sampler alone."""
    looped: Mapping[str, float]
    """By encoding."""
    generated: Mapping[str, float]
    """By encoding, with a check that does nothing."""


def packed(space: WorkloadSpace) -> Loop:
    """One integer that holds all genes: the fewest draws, though it shrinks badly."""
    sizes = [gene.high - gene.low + 1 for gene in space.genes]
    lows = [gene.low for gene in space.genes]

    def unpacked(number: int) -> Case:
        row = []
        for low, size in zip(lows, sizes, strict=True):
            number, digit = divmod(number, size)
            row.append(low + digit)
        return space.build(row)

    return st.integers(0, prod(sizes) - 1).map(unpacked)


def gemm_encodings(space: WorkloadSpace) -> dict[str, Loop]:
    """The space's own strategy, and GEMMs as one would write them by hand."""
    bounds, precisions = space.bounds, space.precisions
    size = st.integers(1, bounds.gemm)
    batch = st.integers(1, bounds.batch)

    def of_integers(values: tuple[int, int, int, int, int]) -> Case:
        m, n, k, count, index = values
        return Case(Gemm(m=m, n=n, k=k, batch=count), precisions[index])

    indices = st.integers(0, len(precisions) - 1)
    operator = st.builds(Gemm, m=size, n=size, k=size, batch=batch)
    return {
        "the space's strategy": space.strategy(),
        "builds(Gemm, ...)": st.builds(Case, operator, st.sampled_from(precisions)),
        "tuples(...).map": st.tuples(size, size, size, batch, indices).map(of_integers),
        "one packed integer": packed(space),
    }


def contests(model: Subject) -> list[Contest]:
    """The GEMM space and the subgraph space of the model."""
    graphs = workloads(model)
    if not isinstance(graphs, WorkloadSpace):
        msg = f"{model.name} answers for totals only"
        raise TypeError(msg)
    gemms = attrs.evolve(graphs, kinds=("gemm",), max_nodes=1)
    own = {"the space's strategy": graphs.strategy(), "one packed integer": packed(graphs)}
    return [
        Contest("GEMM", gemms, gemm_encodings(gemms), 1000),
        Contest("subgraph", graphs, own, 300),
    ]


def by_hand(model: Subject, case: Case) -> None:
    """CMP001 as one would write it in a test, without the harness around it."""
    answer = model.model.estimate(case)
    energy = float(answer.energy)  # type: ignore[arg-type]  # a float for one case
    terms = float(sum(answer.energy_terms.values()))  # type: ignore[arg-type]  # likewise
    assert abs(terms - energy) <= TOLERANCE * max(abs(terms), abs(energy))  # noqa: S101 - the law


def loop_rate(encoding: Loop, check: Check) -> float:
    """Cases a second of one `@given` run."""
    count = 0

    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(encoding)
    def run(case: Case) -> None:
        nonlocal count
        count += 1
        check(case)

    started = time.process_time()
    run()
    return count / (time.process_time() - started)


def screen(
    space: WorkloadSpace, check: Callable[[WorkloadSpace, np.ndarray], object]
) -> float:
    """Cases a second of sampling batches and checking each."""
    random, count = np.random.default_rng(0), 0
    started = time.process_time()
    while time.process_time() < started + SCREENING_SECONDS:
        check(space, space.sample(random, BATCH))
        count += BATCH
    return count / (time.process_time() - started)


def screened(law: Property, model: Subject, space: WorkloadSpace, rows: np.ndarray) -> None:
    """One batch of the campaign's screening."""
    margins = law.checked_margin(model, space.batch(rows))
    assert (margins >= 0).all()  # noqa: S101 - a reference model is sound


def measure(contest: Contest, law: Property, model: Subject) -> Rates:
    """All rates of a contest; what is compared takes turns in each repeat."""
    check = partial(by_hand, model)
    runs: dict[tuple[str, str], Callable[[], float]] = {
        ("screened", ""): partial(screen, contest.space, partial(screened, law, model)),
        ("drawn", ""): partial(screen, contest.space, lambda _, __: None),
    }
    for name, encoding in contest.encodings.items():
        runs["looped", name] = partial(loop_rate, encoding, check)
        runs["generated", name] = partial(loop_rate, encoding, lambda _: None)
    taken: dict[tuple[str, str], list[float]] = {key: [] for key in runs}
    for _ in range(1 + REPEATS):
        for key, run in runs.items():
            taken[key].append(run())
    rates = {key: median(found[1:]) for key, found in taken.items()}  # the first warms up
    return Rates(
        rates["screened", ""],
        rates["drawn", ""],
        {name: rates["looped", name] for name in contest.encodings},
        {name: rates["generated", name] for name in contest.encodings},
    )


def report(contest: Contest, rates: Rates) -> bool:
    """Print the rates; whether the ratio reaches the target."""
    best = max(rates.looped, key=rates.looped.__getitem__)
    ratio = rates.screened / rates.looped[best]
    rows = contest.space.sample(np.random.default_rng(0), DISTINCT_OF)
    distinct = len({row.tobytes() for row in np.ascontiguousarray(rows)})
    share = rates.screened / rates.drawn
    per_case = float(contest.space.nodes(rows).mean())
    print(f"{contest.name} space; {per_case:.2f} operators in a screened case")
    print(
        f"  screened, batches of {BATCH:<8}{rates.screened:>12,.0f} checks/s, "
        f"{share:.0%} of the time for drawing; {distinct / DISTINCT_OF:.1%} of "
        f"{DISTINCT_OF:,} distinct"
    )
    for name, rate in rates.looped.items():
        share = rate / rates.generated[name]
        print(
            f"  @given, {name:<22}{rate:>12,.0f} checks/s, {share:.0%} of the time for "
            f"generation ({rates.generated[name]:,.0f} cases/s alone)"
        )
    alone = rates.screened / max(rates.generated.values())
    print(f"  against generation alone, were the model free: {alone:,.0f}x")
    reached = ratio >= contest.target
    verdict = "reached" if reached else "MISSED"
    print(f"  ratio {ratio:,.0f}x against {best}; target {contest.target:,}x {verdict}")
    return reached


def main() -> int:
    """Run both contests."""
    keep_freed_memory()  # as a campaign does
    model, law = registered(*MODEL), property_named(LAW)
    print(f"{law.id} on {model.name}, one thread, median of {REPEATS} interleaved repeats")
    reached = [report(c, measure(c, law, model)) for c in contests(model)]
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())

"""What the reference models cost: answers a second, loading a machine, importing.

For every machine, single operators in batches of one size are answered with all terms,
on one core; that includes counting the columns of the operators, which a batch does
when first asked. Times are those of the processor, so that others on the machine count
little, and medians; the first load of a process, which builds the reader of machine
files, is shown apart. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.memory import keep_freed_memory
from joulecheck.model import Subject, registered
from joulecheck.reference import MACHINES, load_model
from joulecheck.reference.machine_file import load_machine
from joulecheck_strategies import WorkloadSpace, workloads

BATCH: Final = 4096
REPEATS: Final = 15
LOADS: Final = 9
FIRST_LOADS: Final = 3
IMPORTS: Final = 5

RATE_TARGET: Final = 200_000
"""Workloads a second."""
LOAD_TARGET: Final = 5e-3
"""Second."""
IMPORT_TARGET: Final = 0.5
"""Second."""

IMPORT: Final = (sys.executable, "-c", "import joulecheck")
FIRST_LOAD: Final = """
import sys
import time
from joulecheck.reference import load_model
started = time.process_time()
load_model(sys.argv[1])
print(time.process_time() - started)
"""


@attrs.frozen
class Row:
    """One machine's figures."""

    architecture: str
    name: str
    rate: float
    """Workloads a second."""
    load: float
    """Second."""
    first: float
    """Second, where nothing was loaded before."""

    @property
    def missed(self) -> bool:
        """Whether a target is missed."""
        return self.rate < RATE_TARGET or max(self.load, self.first) > LOAD_TARGET


def seconds(run: Callable[[], object]) -> float:
    """Processor time of one call."""
    started = time.process_time()
    run()
    return time.process_time() - started


def single_operators(model: Subject) -> WorkloadSpace:
    """The model's space without graphs."""
    graphs = workloads(model)
    if not isinstance(graphs, WorkloadSpace):
        msg = f"{model.name} answers for totals only"
        raise TypeError(msg)
    return attrs.evolve(graphs, max_nodes=1)


def rate(model: Subject) -> float:
    """Workloads a second of a batch whose genes are drawn already."""
    space = single_operators(model)
    rows = space.sample(np.random.default_rng(0), BATCH)
    times = [seconds(lambda: model.ask(space.batch(rows))) for _ in range(1 + REPEATS)]
    return BATCH / median(times[1:])  # the first warms up


def load(name: str) -> float:
    """Seconds to read, validate and wrap a machine file."""

    def anew() -> None:
        load_machine.cache_clear()
        load_model(name)

    return median(seconds(anew) for _ in range(LOADS))


def first_load(name: str) -> float:
    """Seconds that the same takes as the first load of a process."""
    command = (sys.executable, "-c", FIRST_LOAD, name)

    def once() -> float:
        done = subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - as below
        return float(done.stdout)

    return median(once() for _ in range(FIRST_LOADS))


def import_once() -> tuple[float, float]:
    """Processor and wall time of a fresh interpreter that imports the package."""
    before, started = os.times(), time.perf_counter()
    subprocess.run(IMPORT, check=True)  # noqa: S603 - a fixed command
    after = os.times()
    user = after.children_user - before.children_user
    system = after.children_system - before.children_system
    return user + system, time.perf_counter() - started


def print_table(rows: list[Row]) -> None:
    """Print a line a machine."""
    print(f"{'class':<19}{'machine':<28}{'workloads/s':>12}{'load':>10}{'first':>10}")
    for row in rows:
        verdict = "  MISSED" if row.missed else ""
        loads = f"{row.load * 1e3:>7.2f} ms{row.first * 1e3:>7.2f} ms"
        figures = f"{row.rate:>12,.0f}{loads}"
        print(f"{row.architecture:<19}{row.name:<28}{figures}{verdict}")
    slowest, longest = min(r.rate for r in rows), max(r.load for r in rows)
    first = max(row.first for row in rows)
    print(f"least rate {slowest:,.0f}/s in batches of {BATCH}; target {RATE_TARGET:,}/s")
    print(
        f"longest load {longest * 1e3:.2f} ms, as the first of a process "
        f"{first * 1e3:.2f} ms; target {LOAD_TARGET * 1e3:g} ms"
    )


def importing() -> bool:
    """Print the time of an import; whether it stays within the target."""
    taken = [import_once() for _ in range(IMPORTS)]
    processor, wall = median(p for p, _ in taken), median(w for _, w in taken)
    reached = processor <= IMPORT_TARGET
    verdict = "reached" if reached else "MISSED"
    print(
        f"import joulecheck, interpreter included: {processor:.2f} s of processor, "
        f"{wall:.2f} s of wall clock; target {IMPORT_TARGET} s of processor {verdict}"
    )
    return reached


def measured(name: str) -> Row:
    """The figures of one machine."""
    model = registered("reference", name)
    architecture = model.machine.architecture or "-"
    return Row(architecture, name, rate(model), load(name), first_load(name))


def main() -> int:
    """Measure every machine."""
    keep_freed_memory()  # as a campaign does
    rows = sorted((measured(name) for name in MACHINES), key=lambda r: r.architecture)
    print_table(rows)
    reached = importing()
    return 0 if reached and not any(row.missed for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

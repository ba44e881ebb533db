"""Two faults in one model, one hiding behind the other: does one campaign report both?

    python bench/two_faults.py --seed 2

Combinations are drawn: a machine of one of the seven architecture classes, and two
faults, named ones or variants of kinds (KIND#VARIANT). Of 1,024 drawn cases of some law,

- each fault alone fails the law in at least 1 % where the other one alone does not,
- the model with both fails in all of these, and
- the larger fault fails in at least half of those in which the smaller one fails, or
  in at least four times as many.

The smaller one hides behind the larger one: of what fails, most is the larger one's, so
that the first finding is likely to be. Faults of which a case by itself does not decide
are left out, for of these no finding tells which it is of: those in what a model
remembers (caches, perturbations that stay, chance, order) and in one of its two paths.
So are laws of which a campaign checks one case of many.

Of each combination a campaign asks all laws, as `joulecheck fuzz MODEL` does, and a
second one asks that law alone. A fault is reported if a finding's case violates its law
on the model with that fault alone and does not on the model with the other one alone; a
campaign that has reported both is stopped there, for no more is asked of it.
Exits with 1 unless the first campaign reports both faults of every combination.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.campaign import Campaign, Extent
from joulecheck.campaign.events import CounterexampleFound
from joulecheck.campaign.workers import Inline
from joulecheck.counterexample import Counterexample
from joulecheck.errors import JoulecheckError
from joulecheck.faults import FAULTS, KINDS
from joulecheck.faults.kinds.state import KINDS as STATE_KINDS
from joulecheck.faults.mutation import MARK
from joulecheck.faults.state import STATE_FAULTS
from joulecheck.property import Property, property_named, selected
from joulecheck.resolve import ModelRef
from joulecheck.scoring.mutants import REPRESENTATIVES
from joulecheck.workload.columns import Bools

COMBINATIONS: Final = 20
CASES: Final = 4000
"""Of each law where all are asked."""
ALONE: Final = 20_000
"""Of the law that is asked alone."""

VARIANTS: Final = 4
"""Of each kind of fault, as many as `joulecheck score` plants."""

TRIED: Final = 60
"""Faults of a machine that are put to a law to find two."""

DRAWN: Final = 1024
"""Cases by which it is decided whether one fault hides behind another."""

OWN: Final = 0.01
"""Least share of the drawn cases that fail for one fault alone and not for the other."""

COVERED: Final = 0.5
"""Share of the smaller fault's failures that fail for the larger one as well, or"""
TIMES: Final = 4
"""how many times as many failures the larger one has."""

UNDECIDED: Final = frozenset(
    {
        *(fault.name for fault in STATE_FAULTS),
        *(kind.name for kind in STATE_KINDS),
        "kept-perturbation",
        "drifting-batch",
    }
)
"""Faults of which a case by itself does not decide."""


@attrs.frozen
class Combination:
    """Two faults in a machine, and a law for which one hides behind the other."""

    machine: str
    law: str
    larger: str
    smaller: str

    def __str__(self) -> str:
        """Such as "BND001 in Hailo-8: uncached behind macs-as-ops"."""
        _, _, machine = self.machine.partition(":")
        return f"{self.law} in {machine}: {self.smaller} behind {self.larger}"

    @property
    def both(self) -> ModelRef:
        """The machine with both faults in it."""
        return ModelRef(self.machine, f"{self.larger}+{self.smaller}")


class Bench:
    """What a law says of the cases that were drawn for it, for one fault or two."""

    def __init__(self, machine: str, law: Property) -> None:
        """Draw the cases.

        Raises:
            NotOffered: the machine gives the law no case.
        """
        self.machine = machine
        self.law = law
        space = law.space(ModelRef(machine).load())
        rows = space.sample(np.random.default_rng(1), DRAWN)
        self.batch = space.batch(rows)

    def failing(self, fault: str) -> Bools | None:
        """(n,) which cases fail; None where the fault makes no model, or no answer."""
        try:
            model = ModelRef(self.machine, fault).load()
            fails: Bools = self.law.checked_margin(model, self.batch) < 0
        except JoulecheckError:
            return None
        return fails


def combinations(seed: int) -> Iterator[Combination]:
    """Combinations without end, each law once as long as there is another."""
    rng = np.random.default_rng(seed)
    laws = [law for law in selected((), ()) if law.thinning == 1]
    while True:
        for index in rng.permutation(len(laws)):
            machine = REPRESENTATIVES[int(rng.integers(len(REPRESENTATIVES)))]
            found = combination(machine, laws[int(index)], rng)
            if found is not None:
                yield found


def combination(
    machine: str, law: Property, rng: np.random.Generator
) -> Combination | None:
    """The first two of some faults one of which hides behind the other, if there are."""
    if law.missing(ModelRef(machine).load()):
        return None
    try:
        bench = Bench(machine, law)
    except JoulecheckError:
        return None
    seen: dict[str, Bools] = {}
    for fault in drawn_faults(rng):
        fails = bench.failing(fault)
        if fails is None or fails.mean() < OWN:
            continue
        for other, others in seen.items():
            named = (fault, other) if fails.sum() > others.sum() else (other, fault)
            if hides(fails, others) and fail_together(bench, named, fails ^ others):
                return Combination(machine, law.id, *named)
        seen[fault] = fails
    return None


def drawn_faults(rng: np.random.Generator) -> Iterator[str]:
    """Some faults, in any order."""
    names = sorted({*FAULTS, *KINDS} - UNDECIDED)
    for index in rng.permutation(len(names))[:TRIED]:
        name = names[int(index)]
        yield name if name in FAULTS else f"{name}{MARK}{rng.integers(VARIANTS)}"


def hides(one: Bools, other: Bools) -> bool:
    """Whether one of two sets of failures hides the other, and each has its own."""
    if min((one & ~other).mean(), (other & ~one).mean()) < OWN:
        return False
    small, large = sorted((int(one.sum()), int(other.sum())))
    return (one & other).sum() >= COVERED * small or large >= TIMES * small


def fail_together(bench: Bench, faults: Sequence[str], own: Bools) -> bool:
    """Whether the model with both faults fails where either alone does."""
    together = bench.failing("+".join(faults))
    return together is not None and bool(together[own].all())


@attrs.frozen
class Told:
    """What a campaign reported of a combination."""

    faults: Sequence[str]
    findings: int
    seconds: float

    @property
    def both(self) -> bool:
        """Whether it reported both."""
        return len(self.faults) == 2  # noqa: PLR2004 - both

    def __str__(self) -> str:
        """Say it."""
        named = "both" if self.both else " ".join(self.faults) or "neither"
        return f"{named} in {self.findings} findings, {self.seconds:.1f} s"


def campaign(of: Combination, laws: Sequence[Property], cases: int) -> Told:
    """Which of two faults a campaign reports; it is stopped once it reported both."""
    started = time.process_time()
    model = of.both.load()
    ran = Campaign(
        [model],
        laws,
        seed=1,
        extent=Extent(cases=cases),
        executor=Inline({model.name: model}),
    )
    findings, told = 0, Told((), 0, 0.0)
    for event in ran.run():
        if isinstance(event, CounterexampleFound):
            findings += 1
            named = {*told.faults, *tells(of, event.counterexample)}
            told = Told(sorted(named), findings, time.process_time() - started)
            if told.both:
                return told
    return attrs.evolve(told, seconds=time.process_time() - started)


def tells(of: Combination, found: Counterexample) -> list[str]:
    """The one of two faults that a finding is of, if its case fails for one alone."""
    guilty = [f for f in (of.larger, of.smaller) if fails(of.machine, f, found)]
    return guilty if len(guilty) == 1 else []


def fails(machine: str, fault: str, found: Counterexample) -> bool:
    """Whether a finding's case violates its law on the machine with one fault."""
    law = property_named(found.property)
    return law.margin_of(ModelRef(machine, fault).load(), found.case) < 0


def main() -> int:
    """Try every combination; 0 if one campaign reports both faults of each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="of the combinations")
    parser.add_argument(
        "--count", type=int, default=COMBINATIONS, help="of combinations that are tried"
    )
    parser.add_argument("--skip", type=int, default=0, help="as many before them")
    options = parser.parse_args()
    drawn = combinations(options.seed)
    all_laws = alone = 0
    for each in islice(drawn, options.skip, options.skip + options.count):
        asked = campaign(each, selected((), ()), CASES)
        single = campaign(each, [property_named(each.law)], ALONE)
        all_laws += asked.both
        alone += single.both
        print(f"{each}\n  all laws: {asked}\n  alone:    {single}", flush=True)
    tried = options.count
    print(f"all laws: both reported in {all_laws} of {tried} combinations")
    print(f"the law alone: both reported in {alone} of {tried} combinations")
    return 0 if all_laws == tried else 1


if __name__ == "__main__":
    sys.exit(main())

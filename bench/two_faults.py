"""Two faults in one model, one hiding behind the other: does one campaign report both?

Each combination plants two named faults that violate the same law, each in cases of its
own, and asks that law alone. A fault is reported if a finding's case fails with that
fault alone and holds with the other one alone.

    python bench/two_faults.py

The campaign was changed after a first run of these combinations had been looked at, so
that they are no unseen ones.
"""

from __future__ import annotations

import sys
import time
from itertools import combinations
from typing import Final

import numpy as np

from joulecheck.campaign.campaign import Campaign, Extent
from joulecheck.campaign.events import CounterexampleFound
from joulecheck.campaign.workers import Inline
from joulecheck.case import AnyCase
from joulecheck.errors import JoulecheckError
from joulecheck.faults import FAULTS
from joulecheck.property import property_named
from joulecheck.resolve import ModelRef
from joulecheck.workload.columns import Bools

MODEL: Final = "reference:Google-TPU-v4"
CASES: Final = 20_000

LAWS: Final = (
    "SEN001", "SEN003", "SEN006", "SEN008", "SEN010", "ROB001", "BND001", "BND002",
    "BND004", "BND005", "BND006", "BND010", "BND013", "BND014", "BND017", "CMP004",
    "CMP005", "SYM002", "SYM005", "SCL003",
)  # fmt: skip
"""One combination each: laws that several named faults violate in a part of the cases."""

DRAWN: Final = 1024
"""Cases by which combinations are chosen."""

LEAST: Final = 0.02
"""Share of the cases that fail for the one fault alone, and of those for the other."""


def failures(law: str, fault: str) -> Bools | None:
    """Which of some cases fail; None where the fault makes no model."""
    try:
        model = ModelRef(MODEL, fault).load()
        space = property_named(law).space(model)
        rows = space.sample(np.random.default_rng(1), DRAWN)
        margins = property_named(law).checked_margin(model, space.batch(rows))
    except JoulecheckError:
        return None
    fails: Bools = margins < 0
    return fails


def combination(law: str) -> tuple[str, str] | None:
    """Two faults that both violate a law, each in cases of its own, also together."""
    alone = {fault: failures(law, fault) for fault in FAULTS}
    failing = {f: rows for f, rows in alone.items() if rows is not None and rows.any()}
    pairs = list(combinations(failing, 2))
    for index in np.random.default_rng(1).permutation(len(pairs)):
        one, other = pairs[index]
        first, second = failing[one], failing[other]
        if min((first & ~second).mean(), (second & ~first).mean()) < LEAST:
            continue
        together = failures(law, f"{one}+{other}")
        if together is None or not together[first ^ second].all():
            continue
        return one, other
    return None


def reported(law: str, one: str, other: str) -> tuple[list[str], int]:
    """Which of two faults a campaign reports, and how many findings it makes."""
    model = ModelRef(MODEL, f"{one}+{other}").load()
    campaign = Campaign(
        [model],
        [property_named(law)],
        seed=1,
        extent=Extent(cases=CASES),
        executor=Inline({model.name: model}),
    )
    found = [e.counterexample for e in campaign.run() if isinstance(e, CounterexampleFound)]
    named = [
        fault
        for fault, beside in ((one, other), (other, one))
        if any(
            fails(law, fault, each.case) and not fails(law, beside, each.case)
            for each in found
        )
    ]
    return named, len(found)


def fails(law: str, fault: str, case: AnyCase) -> bool:
    """Whether a case violates a law on the model with one fault."""
    return property_named(law).margin_of(ModelRef(MODEL, fault).load(), case) < 0


def main() -> int:
    """Try every combination; 0 if both faults of each are reported."""
    both = tried = 0
    for law in LAWS:
        chosen = combination(law)
        if chosen is None:
            print(f"{law}: no two faults that can be told apart", flush=True)
            continue
        one, other = chosen
        tried += 1
        started = time.process_time()
        named, findings = reported(law, one, other)
        both += len(named) == 2  # noqa: PLR2004 - both
        print(
            f"{law} {one} + {other}: {', '.join(named) or 'none'} reported in "
            f"{findings} findings, {time.process_time() - started:.1f} s",
            flush=True,
        )
    print(f"both reported in {both} of {tried} combinations")
    return 0 if both == tried else 1


if __name__ == "__main__":
    sys.exit(main())

"""What is behind a finding, in words: its region, its machines, blame and contrast."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from joulecheck.counterexample import Blame, Counterexample, Numbers
from joulecheck.quantities import many
from joulecheck.region import Generalised, Measured, Outline
from joulecheck.reports.wording import Line, case_lines

MOST_NAMED: Final = 8
"""Models that a line names before it counts."""

MOST_BLAMED: Final = 3
"""Terms and coefficients that are named for all findings together."""


TOTALS: Final = frozenset({"energy", "latency", "utilisation"})
"""What any change to a part moves as well."""


def region_lines(found: Generalised | None) -> Iterator[Line]:
    """Where else the property fails: a region a line, each with what was measured."""
    if found is None:
        return
    if not found.regions:
        yield "region", "none was found in which every case fails"
    for index, region in enumerate(found.regions):
        yield ("" if index else "region"), region.sentence
        if region.measured is not None:
            yield "", _measured(region.measured)
    if found.outline is not None:
        yield "outline", found.outline.sentence
        yield "", _outlined(found.outline)


def _outlined(found: Outline) -> str:
    covers = "all" if found.coverage == 1 else f"{_floored(found.coverage):.1%} of"
    failures = f"{covers} fresh failures lie inside"
    hold = round(found.false * found.tried)
    if not hold:
        return f"{failures}; all of {found.tried:,} fresh cases inside fail"
    holding = many(hold, "holds", "hold")
    return f"{failures}; of {found.tried:,} fresh cases inside, {holding}"


def _floored(share: float) -> float:
    """A share to a tenth of a percent, so that no more is said than there is."""
    return math.floor(1000 * share) / 1000


def _measured(measured: Measured) -> str:
    low, high = (f"{share:.2%}" for share in (measured.share_low, measured.share_high))
    proven = "" if measured.proven else " (unproven: too few)"
    return (
        f"all of {measured.tried:,} fresh cases inside fail{proven}; {measured.share:.2%} "
        f"of what is drawn, {low} to {high} at 95 % confidence; explains "
        f"{measured.coverage:.0%} of the failures seen"
    )


def machine_lines(found: Counterexample) -> Iterator[Line]:
    """The other models that fail for the same cause."""
    if found.also:
        yield "machines", f"{len(found.also) + 1}: also {named(found.also)}"


def named(names: Sequence[str]) -> str:
    """Some of many names, and how many more there are."""
    more = len(names) - MOST_NAMED
    ending = f" and {more} more" if more > 0 else ""
    return ", ".join(names[:MOST_NAMED]) + ending


def culprits(found: Iterable[Counterexample]) -> Iterator[str]:
    """What repairs more than one of some findings, the most first, in sentences."""
    counted: Counter[str] = Counter()
    total = 0
    for one in found:
        total += 1
        counted.update(_repaired(one))
    for target, count in counted.most_common(MOST_BLAMED):
        if count > 1:
            yield f"{target} explains {count} of {total} findings"


def _repaired(found: Counterexample) -> set[str]:
    """What the repairs of a counterexample change, with what it is."""
    if found.blame is None:
        return set()
    best = {r.target for r in found.blame.repairs[:1]}
    perfect = {r.target for r in found.blame.repairs if r.repaired == 1 and not r.broken}
    return {f"{_sort(found, one)}{one}" for one in best | (perfect - TOTALS)}


def _sort(found: Counterexample, target: str) -> str:
    terms = {
        name
        for numbers in found.numbers
        for name in (*numbers.energy_terms, *numbers.latency_terms)
    }
    if target in terms:
        return "term "
    return "" if target in TOTALS else "coefficient "


def blame_lines(blame: Blame | None) -> Iterator[Line]:
    """The best repair, and the terms and coefficients that move the margin."""
    if blame is None:
        return
    label = "blame"
    for repair in blame.repairs[:1]:
        share = f"{repair.repaired:.0%} of the failing cases seen"
        broken = f", breaks {repair.broken:.0%} of the passing" if repair.broken else ""
        yield label, f"{repair.change}: repairs {share}{broken}"
        label = ""
    for kind, moved in (("terms", blame.terms), ("coefficients", blame.coefficients)):
        if moved:
            ordered = sorted(moved.items(), key=lambda one: (-abs(one[1]), one[0]))
            each = ", ".join(f"{name} {slope:+.2g}" for name, slope in ordered)
            yield label, f"{kind} that move the margin: {each}"
            label = ""


def contrast_lines(found: Counterexample) -> Iterator[Line]:
    """The nearest case that holds, and how each term of it differs."""
    if found.contrast is None:
        return
    label = "holds"
    for _, text in case_lines(found.contrast.case):
        yield label, text
        label = ""
    ratios = _ratios(found.numbers[-1], found.contrast.numbers[-1])
    if ratios:
        most = max(ratios, key=lambda name: abs(math.log(ratios[name])))
        each = (f"{n} {r:.3g}x{' <-' if n == most else ''}" for n, r in ratios.items())
        yield "", f"failing over holding: {' | '.join(each)}"


def _ratios(failing: Numbers, holding: Numbers) -> dict[str, float]:
    """Each number of the one answer over that of the other, where both are positive."""
    pairs = {
        "energy": (failing.energy, holding.energy),
        "latency": (failing.latency, holding.latency),
    }
    for field in ("energy_terms", "latency_terms"):
        ours, theirs = getattr(failing, field), getattr(holding, field)
        pairs |= {name: (ours[name], theirs[name]) for name in ours if name in theirs}
    return {
        name: one / other
        for name, (one, other) in pairs.items()
        if one is not None and other is not None and one > 0 and other > 0
    }

"""What a campaign supports of the cases that it did not draw, and on which numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from joulecheck.campaign.events import CONFIDENCE, CampaignFinished, Pair, Tally
from joulecheck.quantities import many


def claims(event: CampaignFinished) -> Iterator[str]:
    """What holds of the pairs without a failure, a line a claim."""
    clean = [(p, t) for p, t in event.tallies if t.failing_share() is not None]
    if not clean:
        return
    pair, tally = min(clean, key=lambda one: one[1].in_domain)
    share, jointly = tally.failing_share(), tally.failing_share(pairs=len(clean))
    yield (
        f"no failure in {len(clean):,} of {many(len(event.tallies), 'pair')}: at "
        f"{CONFIDENCE:.0%} confidence less than {share:.1g} of the sampled cases of each "
        f"fail, {jointly:.1g} of all of them jointly"
    )
    yield (
        f"fewest cases in their domain: {tally.in_domain:,} of {tally.checks:,}, "
        f"{pair.property} on {pair.model}"
    )


def table_of_pairs(tallies: Sequence[tuple[Pair, Tally]]) -> Table:
    """A row a pair: what was asked, what of it is in the domain, and what it supports."""
    table = Table(box=None, pad_edge=False)
    table.add_column("model", no_wrap=True)
    table.add_column("property")
    for heading in ("cases", "in domain", "least margin", "fails in less than"):
        table.add_column(heading, justify="right")
    for pair, tally in tallies:
        table.add_row(pair.model, pair.property, *_figures(tally))
    return table


def _figures(tally: Tally) -> tuple[str, str, str, str]:
    share = tally.failing_share()
    return (
        f"{tally.checks:,}",
        f"{tally.in_domain / tally.checks:.2%}" if tally.checks else "-",
        f"{tally.least_margin:.3g}" if tally.in_domain else "-",
        "-" if share is None else f"{share:.1g}",
    )

"""`joulecheck rank`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from joulecheck.cli.options import report_options
from joulecheck.cli.output import recorded, write_text
from joulecheck.quantities import engineering, fJ, many, pJ
from joulecheck.reports.json_report import dumps

SHOWN_EXCEPTIONS = 10
"""Pairs of machines that the text names; JSON has all comparisons."""

Data = Mapping[str, Any]


@click.command()
@report_options
def rank(output_format: str, output_file: Path | None) -> None:
    """Rank the machine classes by energy and latency, and say how firm that is.

    RNK001 compares class archetypes in one technology, RNK002 machines at 30 W, RNK003
    latencies; RNK004 lists where public data disagree. It reports and judges nothing:
    the exit code is 0 whatever holds. JSON has every figure.
    """
    from joulecheck.reference.ranking import report  # noqa: PLC0415 - only this command

    found = report()
    if output_format == "json":
        write_text(dumps(found), output_file)
        return
    with recorded(output_file) as console:
        for show, name in (
            (_iso_technology, "RNK001"),
            (_at_one_point, "RNK002"),
            (_latencies, "RNK003"),
            (_disagreements, "RNK004"),
        ):
            show(console, found[name])


def _table(*headings: str) -> Table:
    made = Table(box=None, pad_edge=False)
    for heading in headings:
        made.add_column(heading, overflow="fold")
    return made


def _say(console: Console, text: str = "", style: str = "") -> None:
    console.print(Text(text, style=style))


def _yes(holds: bool) -> str:  # noqa: FBT001 - the word for it
    return "yes" if holds else "NO"


def _iso_technology(console: Console, found: Data) -> None:
    _say(console, f"RNK001  {found['statement']}", "bold")
    shared = found["technology"]
    _say(
        console,
        f"One technology: {shared['process_nm']:g} nm, {shared['macs_per_clock']} MACs a "
        f"clock, {engineering(shared['clock'], 'Hz')}, {shared['near_bytes'] >> 20} MiB "
        f"near and {shared['far_bytes'] >> 20} MiB far. fJ a MAC:",
    )
    names = [one["name"] for one in found["archetypes"]]
    table = _table("workload", *names)
    for row in found["workloads"]:
        energies = (f"{row['energy'][name] / fJ:.0f}" for name in names)
        table.add_row(row["workload"], *energies)
    console.print(table)
    _say(console)
    _links(console, found)
    _say(console)
    order = found["order"]
    least = min(row["probability"] for row in order["workloads"])
    most = max(row["probability"] for row in order["workloads"])
    _say(
        console,
        f"The whole order holds on {order['holds']} of {order['of']} workloads; its "
        f"probability is {least:.2f} to {most:.2f} by workload "
        f"({found['draws']} draws, seed {found['seed']}: {found['distribution']}).",
    )
    _say(console)


def _links(console: Console, found: Data) -> None:
    table = _table("link", "holds on", "ratio", "probability", "on all", "rests on")
    for link in found["links"]:
        table.add_row(*_link(link))
    console.print(table)
    _say(console)
    _say(console, "Beside the order, other layouts of a class:")
    table = _table("link", "holds on", "ratio", "probability", "on all", "rests on")
    for link in found["beside"]:
        table.add_row(*_link(link))
    console.print(table)


def _link(link: Data) -> tuple[str, ...]:
    rows = link["workloads"]
    ratios = [row["ratio"] for row in rows]
    chances = [row["probability"] for row in rows]
    basis = f"assumed: {'; '.join(link['because'])}" if link["assumed"] else "sources"
    return (
        f"{link['better']} < {link['worse']}",
        f"{link['holds']} of {link['of']}",
        f"{min(ratios):.2f} to {max(ratios):.2f}",
        f"{min(chances):.2f} to {max(chances):.2f}",
        f"{link['probability_all']:.2f}",
        basis,
    )


def _at_one_point(console: Console, found: Data) -> None:
    _say(console, f"RNK002  {found['statement']}", "bold")
    for one in found["machines"]:
        remark = f" ({one['remark']})" if one["remark"] else ""
        _say(console, f"{one['role']}: {one['machine']}{remark}")
    roles = [one["role"] for one in found["machines"]]
    table = _table("workload", *roles, "inferences/s/W of the profile")
    for row in found["workloads"]:
        inferences = [row["inferences"][role] for role in roles]
        energies = (engineering(one["energy"], "J") for one in inferences)
        key = "inferences_per_second_per_watt_of_profile"
        rates = ", ".join(f"{one[key]:.3g}" for one in inferences)
        table.add_row(row["workload"], *energies, rates)
    console.print(table)
    _say(console)
    for link in found["links"]:
        pair = f"{link['better']} < {link['worse']}"
        _say(console, f"{pair} holds on {link['holds']} of {link['of']} workloads.")
    _say(console)
    table = _table("workload", "link", "holds", "ratio", "smallest change that flips it")
    for row in found["workloads"]:
        for link in row["links"]:
            pair = f"{link['better']} < {link['worse']}"
            told = (_yes(link["holds"]), f"{link['ratio']:.2f}", _change(link["flip"]))
            table.add_row(row["workload"], pair, *told)
    console.print(table)
    _say(console)


def _change(flip: Data | None) -> str:
    if flip is None:
        return "none: no single coefficient can"
    basis = ", assumed" if flip["assumed"] else ""
    factor = f"{flip['factor']:.3g}"
    return f"{flip['coefficient']} of {flip['machine']} x {factor}{basis}"


def _latencies(console: Console, found: Data) -> None:
    _say(console, "RNK003  Latency", "bold")
    for key, title in (
        ("data_centre_beats_edge", "Data-centre parts beat edge parts of their class"),
        (
            "systolic_array_beats_stored_program",
            "Systolic arrays beat stored-program machines of their tier on large GEMMs",
        ),
    ):
        part = found[key]
        _say(console, f"{title}: {part['holds']} of {part['of']} comparisons.")
        for row in part["by"]:
            name = row.get("class") or row["faster"]
            _say(console, f"  {name}: {row['holds']} of {row['of']}")
        lines = [*_exceptions(part["exceptions"])]
        for line in lines[:SHOWN_EXCEPTIONS]:
            _say(console, f"  not {line}")
        if len(lines) > SHOWN_EXCEPTIONS:
            _say(console, f"  and {many(len(lines) - SHOWN_EXCEPTIONS, 'more pair')}")
    _say(console)


def _exceptions(rows: list[Data]) -> Iterator[str]:
    """A line a pair, with how many workloads contradict and the largest ratio."""
    pairs = dict.fromkeys((row["faster"], row["slower"]) for row in rows)
    for faster, slower in pairs:
        ratios = [
            1 / row["ratio"]
            for row in rows
            if (row["faster"], row["slower"]) == (faster, slower)
        ]
        workloads = "workload" if len(ratios) == 1 else "workloads"
        yield (
            f"{faster} before {slower}: {len(ratios)} {workloads}, up to "
            f"{max(ratios):.3g} times slower"
        )


def _disagreements(console: Console, found: Data) -> None:
    _say(console, "RNK004  Where public data disagree", "bold")
    table = _table("link", "parts", "published pJ/op", "model pJ/op", "source and note")
    for one in found["known"]:
        table.add_row(
            one["link"],
            f"{one['better']} < {one['worse']} at {' x '.join(map(str, one['least']))}",
            _both(one["published"]),
            _both(one["model"]),
            f"{one['source']}. {one['note']}.",
        )
    console.print(table)
    _say(
        console,
        "Published: power limit over peak. Model: a GEMM of that size at INT8; total "
        "energy of parts, on-chip dynamic energy of archetypes.",
    )


def _both(pair: Data) -> str:
    if pair["better"] is None:
        return "-"
    return f"{pair['better'] / pJ:.2f}, {pair['worse'] / pJ:.2f}"

"""`joulecheck measure`."""

from __future__ import annotations

import re

import click
from rich.text import Text

from joulecheck.cli.options import named_option
from joulecheck.cli.output import console, write_text
from joulecheck.model import Subject
from joulecheck.quantities import engineering
from joulecheck.reports import overlay as report
from joulecheck.validation import host, host_fit, timing
from joulecheck.validation.measurement import Measurement, lines
from joulecheck.validation.overlay import overlay


def _checked_name(_: click.Context, __: click.Parameter, name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", name):
        msg = f"{name!r} must be letters, digits and ._+- alone: it names a file"
        raise click.BadParameter(msg)
    return name


@click.command()
@named_option(
    "--name",
    of="host",
    default="this",
    show_default=True,
    callback=_checked_name,
    help="What to call this machine; it becomes the model host:NAME.",
)
@named_option(
    "--repeats",
    type=click.IntRange(min=3),
    default=timing.REPEATS,
    show_default=True,
    help="How often each case is timed; the median counts, the range is recorded.",
)
@named_option(
    "--conditions", default="", help="What else matters: clocks, power limit, other load."
)
def measure(*, name: str, repeats: int, conditions: str) -> None:
    """Measure this machine, and fit a first model to it: a roofline.

    Runs GEMMs (the BLAS of numpy), convolutions and elementwise functions at several
    sizes in FP32 and FP64, for about a minute; leave the machine alone meanwhile.
    Energy is read from the processor's counters (RAPL) where you may read them.

    Writes hosts/NAME.jsonl, the measurements, and hosts/NAME.json, the fitted machine
    (JOULECHECK_HOSTS names another folder), and shows its predictions beside the
    measurements. Then:

    \b
      joulecheck overlay hosts/NAME.jsonl   the same table, and findings
      joulecheck fuzz host:NAME             does the model keep the laws?

    Exit 0 once it is measured, whatever the table says.
    """  # noqa: D301 - click reads the escape
    host.make_folder()
    out, progress = console(), console(stderr=True)
    told = "; ".join(filter(None, [timing.conditions(), conditions]))
    out.print(Text(told))
    why_not = timing.why_no_energy()
    if why_not:
        out.print(Text(why_not))
    cases = host_fit.workloads(tuple(timing.TYPES))
    every = [(use, case) for use, some in cases.items() for case in some]
    found: list[Measurement] = []
    with progress.status("measuring") as status:
        for count, (use, case) in enumerate(every, start=1):
            status.update(f"{count} of {len(every)}: {case.precision.name} {case.workload}")
            found.append(
                timing.measure(
                    case,
                    f"host:{name}",
                    use="fit" if use == "fit" else "check",
                    repeats=repeats,
                    conditions=told,
                )
            )
    rows = host.folder() / f"{name}.jsonl"
    write_text(lines(found), rows)
    fitted = host_fit.fit(name, found)
    file = host.save(fitted)
    for precision, peak in fitted.peak.items():
        out.print(Text(f"peak {precision.name}  {engineering(peak, 'op/s')}"))
    out.print(Text(f"bandwidth  {engineering(fitted.bandwidth, 'B/s')}"))
    out.print(Text(f"launch     {engineering(fitted.launch, 's')}"))
    out.print()
    model = Subject.of(host.HostModel(fitted), name=f"host:{name}")
    report.show(out, overlay(found, lambda _: model))
    out.print(Text(f"written: {rows}, {file}"))

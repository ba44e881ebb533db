"""`joulecheck compare`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import click
import numpy as np

from joulecheck.cli.options import (
    Finite,
    chosen_models,
    inject_option,
    named_option,
    report_options,
    seed_option,
)
from joulecheck.cli.output import recorded, write_text
from joulecheck.errors import InvalidSetting, NotOffered
from joulecheck.model import Subject
from joulecheck.reports.flips import Outcome, document, show_flips
from joulecheck.reports.json_report import dumps
from joulecheck.resolve import references
from joulecheck.space import CaseSpace
from joulecheck.validation.decisions import (
    METRICS,
    Decision,
    better_design,
    bottleneck,
    rank_all,
    rank_among,
)
from joulecheck.validation.flips import (
    CLEARLY,
    Flip,
    common_space,
    smallest_flip,
    space_of,
)
from joulecheck.validation.revisions import answers, at_revision, checked_out
from joulecheck.workload.columns import Ints

EXIT_FLIPS: Final = 1

LIVE_CASES: Final = 4096
"""Workloads that are tried on two models of this installation."""

REVISION_CASES: Final = 128
"""Workloads that are tried on two revisions, whose processes answer one by one."""

Point = tuple[str, dict[str, float]]


if TYPE_CHECKING:
    PointType = click.ParamType[Point]
else:  # generic only for type checkers in the oldest click
    PointType = click.ParamType


class DesignPoint(PointType):
    """Knobs with factors, such as `clock=2,dram.bandwidth=1.5`."""

    name = "design"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Point:
        """Read it."""
        try:
            pairs = [one.split("=") for one in str(value).split(",")]
            factors = {knob: float(factor) for knob, factor in pairs}
        except ValueError:
            self.fail(f"{value!r} must be KNOB=FACTOR[,KNOB=FACTOR]", param, ctx)
        if len(factors) < len(pairs):
            self.fail(f"{value!r} turns one knob twice", param, ctx)
        return str(value), factors


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@inject_option
@named_option(
    "--models",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    default=("reference:*",),
    show_default="reference:*",
    help="Of revisions: which models are compared. Repeatable.",
)
@named_option(
    "--among",
    multiple=True,
    metavar="PATTERN",
    help="Of models: the machines among which they are ranked. [default: their family]",
)
@named_option(
    "--point",
    "points",
    multiple=True,
    type=DesignPoint(),
    metavar="KNOB=FACTOR[,...]",
    help="Of models: a design point. Repeatable, at least two. [default: each knob that "
    "both have, improved twofold]",
)
@named_option(
    "--clearly",
    type=Finite(min=0),
    default=CLEARLY,
    show_default=True,
    help="How much worse, relative, the other option must be for a choice to count.",
)
@named_option(
    "--cases",
    type=click.IntRange(min=1),
    help=f"How many workloads are tried. [default: {LIVE_CASES}, or {REVISION_CASES} of "
    "revisions]",
)
@seed_option("them")
@report_options
@click.pass_context
def compare(context: click.Context, /, **given: Any) -> None:  # noqa: ANN401 - click checked and named them
    """Find where two models, or two git revisions, lead to different decisions.

    A and B are models, such as reference:Hailo-8 and mymodel:Npu, or else revisions of
    the repository here, each of which is checked out into a folder of its own. Told is
    the smallest workload on which the bottleneck (the longest latency term), the better
    of two design points, or the ranking of machines is another, each choice by a clear
    margin. With --inject, the fault is planted in B.

    \b
      joulecheck compare reference:Hailo-8 reference:Hailo-8 --inject launch-slip#0
      joulecheck compare reference:Hailo-8 mymodel:Npu --point clock=2 --point units=2
      joulecheck compare v0.1 HEAD --models "reference:Google-*"

    Exit 0 if no decision is another, 1 if one is, 2 for an error.
    """  # noqa: D301 - click reads the escape
    context.exit(_run(_Asked(**given)))


@attrs.frozen(kw_only=True)
class _Asked:
    a: str
    b: str
    inject: str | None
    patterns: Sequence[str]
    among: Sequence[str]
    points: Sequence[Point]
    clearly: float
    cases: int | None
    seed: int
    output_format: str
    output_file: Path | None

    def rows(self, space: CaseSpace, default: int) -> Ints:
        """The workloads to try: the plainest, and random ones."""
        drawn = space.sample(np.random.default_rng(self.seed), self.cases or default)
        plainest = np.array([[gene.low for gene in space.genes]])
        return np.concatenate([space.canonical(plainest), drawn])


def _run(asked: _Asked) -> int:
    are_models = [":" in name for name in (asked.a, asked.b)]
    if len(set(are_models)) > 1:
        msg = f"{asked.a} and {asked.b} must both be models, or both revisions"
        raise InvalidSetting(msg)
    if len(asked.points) == 1 or len(dict(asked.points)) < len(asked.points):
        msg = "a choice is between two --point or more that differ: give those, or none"
        raise InvalidSetting(msg)
    found = dict(_of_models(asked) if are_models[0] else _of_revisions(asked))
    names = (asked.a, asked.b + (f" with {asked.inject}" if asked.inject else ""))
    if asked.output_format == "json":
        write_text(dumps(document(names, found)), asked.output_file)
    else:
        with recorded(asked.output_file) as out:
            show_flips(out, names, found)
    if all(isinstance(one, str) for one in found.values()):
        msg = f"{asked.a} and {asked.b} could be compared in no decision"
        raise NotOffered(msg)
    return EXIT_FLIPS if any(isinstance(one, Flip) for one in found.values()) else 0


def _single(name: str) -> Subject:
    found = chosen_models([name])
    if len(found) > 1:
        msg = f"{name} names {len(found)} models: name one"
        raise InvalidSetting(msg)
    return found[0]


def _of_models(asked: _Asked) -> Iterator[tuple[str, Outcome]]:
    one, other = _single(asked.a), _single(asked.b)
    if asked.inject:
        other = references([other], asked.inject)[0].load()
    sides = (one, other)
    space = common_space(sides)
    rows = asked.rows(space, LIVE_CASES)
    points, others = dict(asked.points), _others(asked, one)
    fast = all(subject.vectorised for subject in (*sides, *others.values()))
    makers: dict[str, Callable[[], Decision]] = {"bottleneck": partial(bottleneck, sides)}
    for metric in METRICS:
        design = partial(better_design, sides, points, metric)
        ranking = partial(rank_among, sides, others, metric)
        makers |= {f"better design by {metric}": design}
        makers |= {f"ranking of machines by {metric}": ranking}
    for question, make in makers.items():
        try:
            yield (
                question,
                smallest_flip(make(), space, rows, clearly=asked.clearly, vectorised=fast),
            )
        except NotOffered as error:
            yield question, str(error)


def _others(asked: _Asked, one: Subject) -> dict[str, Subject]:
    """The machines among which the two models are ranked."""
    if asked.among:
        return {other.name: other for other in chosen_models(asked.among)}
    return {name: load() for name, load in one.peers.items()}


def _of_revisions(asked: _Asked) -> Iterator[tuple[str, Outcome]]:
    if asked.inject or asked.among or asked.points:
        msg = "--inject, --among and --point are for models; revisions take --models"
        raise InvalidSetting(msg)
    here = chosen_models(asked.patterns)
    with ExitStack() as stack:
        sides = []
        for revision in (asked.a, asked.b):
            other = stack.enter_context(checked_out(revision, Path.cwd()))
            sides.append({m.name: at_revision(m, revision, other) for m in here})
        names = [name for name in sides[0] if all(answers(side[name]) for side in sides)]
        for name in sides[0].keys() - set(names):
            yield name, "it does not answer at both revisions"
        pairs = {name: (sides[0][name], sides[1][name]) for name in names}
        for name, pair in pairs.items():
            yield f"bottleneck of {name}", _lazily(asked, bottleneck(pair), pair[0])
        if len(pairs) > 1:
            machines = [
                {name: pair[side] for name, pair in pairs.items()} for side in (0, 1)
            ]
            for metric in METRICS:
                decision = rank_all(machines, metric)
                yield decision.question, _lazily(asked, decision, *machines[0].values())


def _lazily(asked: _Asked, decision: Decision, *models: Subject) -> Outcome:
    """A decision on what any of some models answers for, asked sparingly."""
    space = space_of(models)
    rows = asked.rows(space, REVISION_CASES)
    try:
        return smallest_flip(decision, space, rows, clearly=asked.clearly, vectorised=False)
    except NotOffered as error:
        return str(error)

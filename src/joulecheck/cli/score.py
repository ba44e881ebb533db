"""`joulecheck score`."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

import attrs
import click

from joulecheck.cli.options import (
    Duration,
    chosen_models,
    ignore_option,
    named_option,
    report_options,
    seed_option,
    select_option,
    workers_option,
)
from joulecheck.cli.output import recorded, write_text
from joulecheck.cli.progress import progressing
from joulecheck.property import selected
from joulecheck.reports.json_report import dumps
from joulecheck.reports.score import show_baselines, show_score
from joulecheck.reports.score_json import score_document
from joulecheck.scoring.accepted import accepted_survivors, reason_for
from joulecheck.scoring.baselines import SUITES, Attempt, Attempting, attempt
from joulecheck.scoring.mutants import (
    REPRESENTATIVES,
    Mutant,
    kinds_named,
    mutants_of,
    named_mutants,
    spread,
)
from joulecheck.scoring.run import each, workers
from joulecheck.scoring.score import Score
from joulecheck.scoring.trial import Task, Trial, stages_up_to, try_mutant

EXIT_SURVIVORS: Final = 1


@click.command("score")
@click.argument("machines", nargs=-1, metavar="[MODEL]...", default=REPRESENTATIVES)
@select_option
@ignore_option
@named_option(
    "--kinds",
    multiple=True,
    metavar="PREFIX",
    help="Only kinds of fault whose name starts so. Repeatable.",
)
@named_option(
    "--variants",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="How many variants of each kind are planted in each machine, at most.",
)
@click.option(
    "--named",
    is_flag=True,
    help="Try each named fault as well, in the machine where some property must catch it.",
)
@named_option(
    "--mutants",
    type=click.IntRange(min=1),
    metavar="N",
    help="Try N of these mutants, evenly spread over kinds and machines. [default: all]",
)
@named_option(
    "--cases",
    type=click.IntRange(min=1),
    default=65_536,
    show_default=True,
    help="How many cases each law is asked of a mutant that nothing kills, in stages of "
    "256, 4,096, 65,536 and this many; one that is killed gets the first two.",
)
@seed_option("all random numbers but those that a kind's variants are drawn with")
@named_option(
    "--explain",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Make the first N kills of each mutant minimal, and see whether the blame names "
    "the planted place and the region holds what fails.",
)
@click.option(
    "--baselines",
    is_flag=True,
    help="Also run an example-based suite and the catalogue through plain @given.",
)
@named_option(
    "--budget",
    type=Duration(),
    default=10.0,
    show_default="10s",
    help="Time of the processor that each mutant gets of a baseline, and within which a "
    "kill of our own counts beside them.",
)
@named_option(
    "--accepted",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Survivors that are accepted, with reasons. [default: the list of the package]",
)
@workers_option
@report_options
@click.pass_context
def score_command(context: click.Context, /, **given: Any) -> None:  # noqa: ANN401 - click checked and named them
    """Plant seeded faults in reference models and see which laws find them.

    Every kind of fault that `joulecheck faults` lists goes into MODEL, by default a
    machine of each architecture class, in some variants; each such mutant is asked about
    by every law that applies. Prints which law kills which kind, what survives, and the
    time and cases to the first kill. The result depends on the seed and not on the number
    of workers, times aside.

    \b
      joulecheck score reference:Hailo-8 --kinds layer --cases 4096
      joulecheck score --explain 1 --output-format json --output-file score.json
      joulecheck fuzz reference:Hailo-8 --inject layer-twice#0    one mutant by itself

    Exit 0 if every survivor is accepted with a reason, 1 if not, 2 for an error.
    """  # noqa: D301 - click reads the escape
    context.exit(_run(Asked(**given)))


@attrs.frozen(kw_only=True)
class Asked:
    """What the command line asks for."""

    machines: Sequence[str]
    select: Sequence[str]
    ignore: Sequence[str]
    kinds: Sequence[str]
    variants: int
    named: bool
    mutants: int | None
    cases: int
    seed: int
    explain: int
    baselines: bool
    budget: float
    accepted: Path | None
    workers: int
    output_format: str
    output_file: Path | None

    @property
    def laws(self) -> list[str]:
        """Ids of the laws."""
        return [law.id for law in selected(self.select, self.ignore)]


def _run(asked: Asked) -> int:
    accepted = accepted_survivors(asked.accepted)
    planted = mutants_of(
        chosen_models(asked.machines), kinds_named(asked.kinds), asked.variants
    )
    mutants = spread(planted, asked.mutants)
    mutants += named_mutants() if asked.named else []
    with workers(asked.workers) as pool:
        score = Score(_trials(asked, mutants, pool))
        attempts = {
            suite: _attempts(asked, suite, mutants, pool)
            for suite in (SUITES if asked.baselines else ())
        }
    if asked.output_format == "json":
        settings = attrs.asdict(
            asked, filter=attrs.filters.exclude("accepted", "workers", "output_file")
        )
        write_text(
            dumps(score_document(score, accepted, attempts, **settings)), asked.output_file
        )
    else:
        with recorded(asked.output_file) as out:
            show_score(out, score, accepted)
            if attempts:
                show_baselines(out, score, attempts, asked.budget)
    unexplained = [
        trial
        for trial in (*score.survivors, *score.unreached)
        if reason_for(trial, accepted) is None
    ]
    return EXIT_SURVIVORS if unexplained else 0


def _trials(
    asked: Asked, mutants: Sequence[Mutant], pool: ProcessPoolExecutor | None
) -> list[Trial]:
    stages = stages_up_to(asked.cases)
    tasks = [
        Task(
            mutant=mutant,
            laws=asked.laws,
            seed=asked.seed,
            stages=stages,
            explained=asked.explain,
        )
        for mutant in mutants
    ]
    return list(progressing(each(try_mutant, tasks, pool), len(tasks), "mutants"))


def _attempts(
    asked: Asked, suite: str, mutants: Sequence[Mutant], pool: ProcessPoolExecutor | None
) -> list[Attempt]:
    tasks = [
        Attempting(
            suite=suite,
            mutant=mutant,
            laws=asked.laws,
            seed=asked.seed,
            budget=asked.budget,
        )
        for mutant in mutants
    ]
    return list(progressing(each(attempt, tasks, pool), len(tasks), suite))

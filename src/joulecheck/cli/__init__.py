"""The command `joulecheck`: composes the commands, and turns errors into messages."""

from __future__ import annotations

import sys
from typing import Final

import click
from rich.text import Text

from joulecheck.cli.adapter import adapter
from joulecheck.cli.audit import audit
from joulecheck.cli.compare import compare
from joulecheck.cli.compose import compose
from joulecheck.cli.distribution import distribution_command
from joulecheck.cli.explain import explain
from joulecheck.cli.faults import faults_command
from joulecheck.cli.findings import findings
from joulecheck.cli.fit import fit_command
from joulecheck.cli.fuzz import fuzz
from joulecheck.cli.measure import measure
from joulecheck.cli.models import models
from joulecheck.cli.output import console
from joulecheck.cli.overlay import overlay_command
from joulecheck.cli.properties import properties
from joulecheck.cli.provenance import provenance
from joulecheck.cli.rank import rank
from joulecheck.cli.replay import replay
from joulecheck.cli.score import score_command
from joulecheck.cli.settings import project_settings
from joulecheck.cli.snapshot import snapshot
from joulecheck.errors import JoulecheckError

EXIT_ERROR: Final = 2
EXIT_INTERRUPTED: Final = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="joulecheck")
@click.pass_context
def app(context: click.Context) -> None:
    """Falsify energy and latency models of micro-architectures without hardware.

    joulecheck draws random GEMM, convolution and elementwise subgraphs and
    perturbations of coefficients, holds a model against the laws of physics and
    bookkeeping, and makes each failure minimal.

    \b
    Start here:
      joulecheck fuzz                       the built-in reference models, 30 s
      joulecheck fuzz mymodel:Npu           class Npu in mymodel.py
      joulecheck adapter check mymodel:Npu  what it offers, what is missing
      joulecheck fuzz --inject dropped-term a fault that must be found
      joulecheck replay                     every stored counterexample again

    A setting comes from the command line, else the environment (JOULECHECK_SEED for
    --seed), else [tool.joulecheck] in pyproject.toml, else its default.
    """  # noqa: D301 - click reads the escape
    context.default_map = project_settings(context.command)


COMMANDS: Final = (
    adapter,
    audit,
    compare,
    compose,
    distribution_command,
    explain,
    faults_command,
    findings,
    fit_command,
    fuzz,
    measure,
    models,
    overlay_command,
    properties,
    provenance,
    rank,
    replay,
    score_command,
    snapshot,
)

for command in COMMANDS:
    app.add_command(command)


def main() -> None:
    """Run the command; exit 2 with a message, and no traceback, for any error."""
    try:
        code = app.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted")
        code = EXIT_INTERRUPTED
    except JoulecheckError as error:
        _complain(f"{_kind(error)}: {error}")
        code = EXIT_ERROR
    except BrokenPipeError:
        sys.stderr.close()
        code = EXIT_ERROR
    sys.exit(code or 0)


def _kind(error: JoulecheckError) -> str:
    """The error's class in words: UnknownName becomes "unknown name"."""
    name = type(error).__name__
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


def _complain(message: str) -> None:
    console(stderr=True).print(Text(message, style="red"))

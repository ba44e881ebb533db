"""The sessions of joulecheck: `nox -l` lists them, `nox -s NAME` runs one."""

from __future__ import annotations

import json
import os
import re
import shlex
import tempfile
from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "virtualenv"
nox.options.error_on_missing_interpreters = True
nox.options.sessions = ["lint", "typing", "tests", "fuzz", "record"]

PYPROJECT = nox.project.load_toml("pyproject.toml")
DEV = nox.project.dependency_groups(PYPROJECT, "dev")

GATE = (
    *("reference:*", "reference:*@30W", "archetype:*"), "--cases", "5000", "--seed", "1",
)  # fmt: skip
"""The gate: reproducible, and the same on every machine."""

JUDGED = (
    *("BND001", "BND002", "BND003", "BND004", "CMP001", "CMP002", "CMP003"),
    *("DET001", "DET002", "MON001", "MON002", "MON003", "MON004"),
    *("PRC001", "PRC002", "ROB001", "SCL001", "SEN001", "SEN002"),
)
"""Laws whose findings in foreign models are judged in docs/found; the others are to be."""

ADAPTER_GATE = (
    "nn-dataflow:*", "--cases", "192", "--seed", "2", "--no-explain",
    *(argument for law in JUDGED for argument in ("--select", law)),
)  # fmt: skip
"""Scalar models that take some 10 ms a case, so that regions of what is known would cost
minutes; of this seed come findings of six causes."""

SCORE_GATE = ("--variants", "1", "--mutants", "72", "--cases", "4096", "--seed", "1")
"""A mutant of every kind or so, in machines of all classes."""

DEEP = ("reference:*", "--cases", "45000", "--seed", "1")
"""Some 2,700 checks a case, over all machines and properties."""

DEEP_CHECKS = 10**8


@nox.session(python=["3.11", "3.13"])
def tests(session: nox.Session) -> None:
    """Test the built wheel, not the source tree."""
    session.run(
        "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", session.create_tmp(), "."
    )
    (wheel,) = Path(session.create_tmp()).glob("joulecheck-*.whl")
    session.install(str(wheel))
    wheel.unlink()
    session.run("pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format."""
    session.install(*[d for d in DEV if d.startswith("ruff")])
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")


@nox.session
def typing(session: nox.Session) -> None:
    """Check types, strictly."""
    session.install(".", *[d for d in DEV if d.startswith(("mypy", "nox"))])
    session.run("mypy")
    session.run("mypy", "noxfile.py", "bench", "docs/reference")


@nox.session
def fuzz(session: nox.Session) -> None:
    """The gate: a short, reproducible search on every reference model."""
    session.install(".")
    session.run("joulecheck", "fuzz", *GATE, *session.posargs)


@nox.session
def score(session: nox.Session) -> None:
    """The other gate: some seeded faults of every kind; an unlisted survivor fails."""
    session.install(".")
    session.run("joulecheck", "score", *(session.posargs or SCORE_GATE))


@nox.session
def record(session: nox.Session) -> None:
    """The gate of the validation record: layers add up, nothing moved, all is covered."""
    session.install(".")
    session.run("joulecheck", "compose")
    session.run("joulecheck", "snapshot", "check")
    session.run("joulecheck", "audit")


@nox.session
def deep(session: nox.Session) -> None:
    """Make 10^8 checks over all reference machines and properties, and print the count."""
    session.install(".")
    folder = Path(session.create_tmp())
    report, corpus = folder / "deep.json", folder / "deep.db"
    corpus.unlink(missing_ok=True)
    session.run(
        "joulecheck", "fuzz", *(session.posargs or DEEP), "--corpus", f"sqlite:///{corpus}",
        "--output-format", "json", "--output-file", str(report), "--exit-zero",
    )  # fmt: skip
    found = json.loads(report.read_text(encoding="utf-8"))
    told = sum(pair["in_domain"] for pair in found["pairs"])
    findings, models = len(found["findings"]), len(found["models"])
    session.log(
        f"{found['checks']:,} checks on {models} machines, {told:,} of them in the domain "
        f"of their law: {findings} findings in {found['seconds']:.0f} s"
    )
    if findings or found["failed"]:
        session.error("a reference model must violate nothing")
    if told < DEEP_CHECKS and not session.posargs:
        session.error(f"wanted {DEEP_CHECKS:,} checks")


@nox.session
def overnight(session: nox.Session) -> None:
    """A long search that goes on where it stopped: -- --budget 8h --name nightly."""
    session.install(".")
    session.run(
        "joulecheck", "fuzz", *(session.posargs or ("--budget", "8h", "--name", "nightly"))
    )


@nox.session
def replay(session: nox.Session) -> None:
    """Run every stored counterexample, also those of foreign models."""
    session.install(".[nn-dataflow]")
    session.run("joulecheck", "replay", *session.posargs)


@nox.session
def adapters(session: nox.Session) -> None:
    """Search foreign models; fail on a finding that docs/found/index.toml lacks."""
    session.install(".[nn-dataflow]")
    report = Path(session.create_tmp()) / "adapters.json"
    session.run(
        "joulecheck", "fuzz", *(session.posargs or ADAPTER_GATE),
        "--output-format", "json", "--output-file", str(report), "--exit-zero",
    )  # fmt: skip
    session.run("python", "docs/found/check.py", str(report))
    session.run("joulecheck", "replay", "--only", "nn-dataflow:*")
    session.run("pytest", "-q", "tests/test_adapter_nn_dataflow.py", "tests/test_found.py")


@nox.session
def bench(session: nox.Session) -> None:
    """Measure ratios side by side in one run, and the reference models."""
    session.install(".")
    for script in ("throughput.py", "minimise.py", "models.py", "regions.py"):
        session.run("python", f"bench/{script}", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Draw the pictures of the reference models anew, and the table of anchors."""
    session.install(".[docs]")
    session.run("python", "docs/reference/plot.py")
    session.run("python", "bench/anchors.py", "docs/reference/anchors.md")


@nox.session(venv_backend="none")
def fresh(session: nox.Session) -> None:
    """Clone HEAD into a temporary folder and run the README's two commands there."""
    with tempfile.TemporaryDirectory(prefix="joulecheck-fresh-") as folder:
        clone = Path(folder) / "joulecheck"
        session.run("git", "clone", "--quiet", "--no-local", ".", str(clone), external=True)
        commands = readme_commands(clone / "README.md")
        with session.chdir(clone):
            for command in commands:
                session.log(command)
                session.run("bash", "-euc", command, external=True, env=bare_environment())


def readme_commands(readme: Path) -> list[str]:
    """The two commands under the README's heading "Two commands"."""
    section = readme.read_text(encoding="utf-8").split("## Two commands", 1)[1]
    block = re.search(r"```(?:sh|bash)\n(.*?)```", section, flags=re.DOTALL)
    if block is None:
        msg = "README.md must have a sh block under the heading 'Two commands'"
        raise ValueError(msg)
    commands = [line for line in block[1].splitlines() if line and line[0] != "#"]
    if len(commands) != 2:  # noqa: PLR2004 - two commands
        msg = f"README.md must have two commands in that block, got {commands}"
        raise ValueError(msg)
    for command in commands:
        shlex.split(command)
    return commands


def bare_environment() -> dict[str, str | None]:
    """An environment without this virtual environment's marks."""
    hidden = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")
    return dict.fromkeys((name for name in hidden if name in os.environ), None)

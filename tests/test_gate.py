"""What is added to the catalogue enters the gate with nothing else touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

import joulecheck.reference
from joulecheck.campaign.campaign import plan
from joulecheck.property import installed
from joulecheck.reference import MACHINES
from joulecheck.reference.machine_file import MachineFile, load_machine
from joulecheck.resolve import models_named

SOURCE: Final = '''
"""A model and a law of another package."""

from joulecheck import Case, Estimate, Gemm, Planted, Precision, Property
from joulecheck.model import Offer
from joulecheck_strategies import workloads


class Free:
    name = "free"
    precisions = (Precision.FP32,)

    def estimate(self, case, scale={}):
        return Estimate(energy=1e-12 * case.ops if case.ops > 1000 else 0.0)


class NothingIsFree(Property):
    """No operation is free.

    Statement:
        E(w) > 0.
    """

    id = "ADD001"
    name = "nothing-is-free"
    needs = frozenset({Offer.ENERGY})
    planted = Planted("dear-int8", "added:free", Case(Gemm(1, 1, 1)))

    def space(self, model):
        return workloads(model)

    def margin(self, model, cases):
        return model.ask(cases).energy - 1e-15


LAWS = (NothingIsFree(),)
MODELS = {"free": Free}
'''

ENTRIES: Final = """
[joulecheck.models]
added = of_another_package:MODELS

[joulecheck.properties]
added = of_another_package:LAWS
"""

CPU: Final = "reference:Intel-i7-12700K"


@pytest.fixture
def report(tmp_path: Path) -> dict[str, Any]:
    """What a campaign tells in a process in which another package is installed."""
    (tmp_path / "of_another_package.py").write_text(SOURCE)
    info = tmp_path / "of_another_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: of-another-package\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(ENTRIES)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    subprocess.run(  # noqa: S603 - this interpreter and this package
        [
            *(sys.executable, "-m", "joulecheck", "fuzz", CPU, "added:*"),
            *("--cases", "256", "--seed", "1", "--workers", "1", "--exit-zero"),
            *("--output-format", "json", "--output-file", "report.json"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        check=True,
    )
    found: dict[str, Any] = json.loads((tmp_path / "report.json").read_text())
    return found


def test_a_law_and_a_model_of_another_package_are_asked(report: dict[str, Any]) -> None:
    asked = {(pair["model"], pair["property"]) for pair in report["pairs"]}

    assert (CPU, "ADD001") in asked
    assert ("added:free", "ADD001") in asked
    assert ("added:free", "MON001") in asked
    told = [finding["counterexample"] for finding in report["findings"]]
    found = {(one["model"], one["property"]) for one in told}
    assert ("added:free", "ADD001") in found
    assert {model for model, _ in found} == {"added:free"}


def test_a_machine_of_the_reference_library_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its file and its name in the list are all that it takes."""
    name, twin = "Newly-Added", "Google-TPU-v1"

    def load(asked: str) -> MachineFile:
        known = load_machine(twin if asked == name else asked)
        return attrs.evolve(known, name=asked)

    monkeypatch.setattr(joulecheck.reference, "load_machine", load)
    monkeypatch.setattr(joulecheck.reference, "MACHINES", (*MACHINES, name))

    models = models_named("reference:*")
    pairs = plan(models, list(installed().values())).pairs
    asked = {
        machine: {x.property for x in pairs if x.model == f"reference:{machine}"}
        for machine in (name, twin)
    }

    assert len(models) == len(MACHINES) + 1
    about_names = ("RNK",)  # these are about the machines that their data name
    assert asked[name] >= {x for x in asked[twin] if not x.startswith(about_names)}

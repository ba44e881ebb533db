"""docs/found: every finding has a verdict and a script, and the check of a report."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from joulecheck.corpus import Status, finding_file

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "found"
COMMITTED = ROOT / "counterexamples"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_found", FOLDER / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check = loaded()
ENTRIES: list[dict[str, Any]] = check.entries()
SCRIPTS = sorted({entry["script"] for entry in ENTRIES})
JUDGED = [finding for entry in ENTRIES for finding in entry["findings"]]

each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["script"])


class TestIndex:
    """index.toml."""

    def test_breaks_no_rule(self) -> None:
        assert list(check.problems()) == []

    def test_names_each_finding_once(self) -> None:
        ids = [finding["id"] for finding in JUDGED]

        assert len(ids) == len(set(ids))

    def test_names_every_script_that_there_is(self) -> None:
        files = {file.name for file in FOLDER.glob("*.py")} - {"check.py"}

        assert files == set(SCRIPTS)

    @pytest.mark.parametrize("finding", JUDGED, ids=lambda finding: finding["id"])
    def test_agrees_with_the_committed_finding(self, finding: dict[str, str]) -> None:
        stored = finding_file.read(COMMITTED / f"{finding['id']}.json")

        assert stored.id == finding["id"]
        assert stored.counterexample.model == finding["model"]
        assert stored.counterexample.property == finding["property"]
        assert stored.status is Status.ACCEPTED

    def test_has_an_entry_for_every_committed_finding(self) -> None:
        committed = [finding_file.read(file) for file in COMMITTED.glob("*.json")]
        foreign = {
            finding.id
            for finding in committed
            if finding.counterexample.model.startswith("nn-dataflow:")
        }

        assert foreign == {finding["id"] for finding in JUDGED}


class TestScripts:
    """The scripts, by the library's own calls alone."""

    @pytest.mark.parametrize("script", SCRIPTS)
    def test_import_nothing_of_ours(self, script: str) -> None:
        assert "joulecheck" not in (FOLDER / script).read_text(encoding="utf-8")

    @each_entry
    def test_show_what_the_index_says(self, entry: dict[str, Any]) -> None:
        if find_spec("nn_dataflow") is None:
            pytest.skip("an optional extra: pip install 'joulecheck[nn-dataflow]'")

        ran = subprocess.run(  # noqa: S603 - our own scripts
            [sys.executable, str(FOLDER / entry["script"])],
            capture_output=True,
            text=True,
            check=False,
        )

        assert entry["shows"] in ran.stdout + ran.stderr


class TestCheck:
    """check.py on a report."""

    def report(self, folder: Path, *ids: str) -> list[str]:
        findings = [
            {"id": name, "counterexample": {"model": "nn-dataflow:x", "property": "MON001"}}
            for name in ids
        ]
        file = folder / "report.json"
        file.write_text(json.dumps({"findings": findings}), encoding="utf-8")
        return [str(file)]

    def test_passes_findings_that_were_judged(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        known = JUDGED[0]["id"]

        assert check.main(self.report(tmp_path, known)) == 0
        assert capsys.readouterr().out.endswith(" 0 problems\n")

    def test_fails_on_one_that_was_not(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        unknown = "F-00000000"

        assert check.main(self.report(tmp_path, unknown)) == 1
        expected = f"{unknown} (MON001 on nn-dataflow:x) has no entry"
        assert expected in capsys.readouterr().out

    def test_says_how_it_is_called(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert check.main([]) == 2
        assert "check.py REPORT.json" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"verdict": "odd"}, "verdict must be one of fault"),
            ({"reason": ""}, "reason is missing"),
            ({"script": "absent.py"}, "absent.py does not exist"),
            ({"script": "long.py"}, "long.py has 16 lines, more than 15"),
        ],
        ids=["verdict", "reason", "absent", "long"],
    )
    def test_fails_on_an_entry_that_breaks_a_rule(
        self, tmp_path: Path, change: dict[str, str], problem: str
    ) -> None:
        entry = {
            "title": "t",
            "verdict": "fault",
            "reason": "r",
            "where": "w",
            "script": "short.py",
            "shows": "s",
            **change,
        }
        lines = [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
        text = "\n".join(["[[entry]]", *lines, 'findings = [{ id = "F-1" }]'])
        (tmp_path / "index.toml").write_text(text, encoding="utf-8")
        (tmp_path / "short.py").write_text("print()\n" * 15, encoding="utf-8")
        (tmp_path / "long.py").write_text("print()\n" * 16, encoding="utf-8")

        found = list(check.problems(tmp_path))

        assert len(found) == 1
        assert problem in found[0]

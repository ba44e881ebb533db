"""Files of the validation record that are damaged, or cannot be written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import Run
from joulecheck.errors import InvalidMachine, InvalidSnapshot, LedgerError
from joulecheck.files import parsed, write_whole
from joulecheck.validation import host
from joulecheck.validation.ledger import Ledger
from joulecheck.validation.snapshot_folder import SnapshotFolder

DEEP = "[" * 100_000

NAMELESS = {"evidence": {}, "fields": {"b": {"evidence": [["e1"]]}}}

HOST = {"format": 1, "name": "a", "peak": {"FP32": 1e11}, "bandwidth": 1e10, "launch": 1e-6}


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    monkeypatch.chdir(tmp_path)
    return Run(tmp_path, monkeypatch, capsys)


class TestFiles:
    @pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', DEEP, ""])
    def test_json_is_strict(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"no number|too deeply|Expecting value"):
            parsed(text)

    def test_a_file_is_written_whole_and_leaves_nothing_else(self, tmp_path: Path) -> None:
        write_whole(tmp_path / "a.txt", "ä\n")

        assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]
        assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "ä\n"

    def test_no_name_is_no_file(self) -> None:
        with pytest.raises(IsADirectoryError):
            write_whole(Path(), "")

    def test_an_output_file_without_a_name_is_refused(self, run: Run) -> None:
        done = run("compose", "reference:Hailo-8", "--output-file", "")

        assert done.returncode == 2
        assert "cannot be written" in done.stderr


class TestLedger:
    @pytest.mark.parametrize(
        "text",
        [
            DEEP,
            '{"format": 1, "machines": {"a": {"evidence": {}, "fields": {"b": 5}}}}',
            json.dumps({"format": 1, "machines": {"a": NAMELESS}}),
        ],
    )
    def test_damage_is_refused(self, tmp_path: Path, text: str) -> None:
        file = tmp_path / "ledger.json"
        file.write_text(text)

        with pytest.raises(LedgerError, match=r"ledger\.json"):
            Ledger.load(file)


class TestSnapshots:
    @pytest.mark.parametrize(
        "text", [DEEP, '{"format": 1}', '{"format": 1, "workloads": 5}']
    )
    def test_damaged_workloads_are_refused(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "workloads.json").write_text(text)

        with pytest.raises(InvalidSnapshot, match=r"workloads\.json"):
            SnapshotFolder(tmp_path).workloads()

    def test_a_row_with_nan_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_text(
            '{"format": 1, "model": "a:b", "coefficients": {}, "figures": {}, '
            '"columns": ["energy"], "rows": {"standard 1 @ FP32": [NaN]}}'
        )

        with pytest.raises(InvalidSnapshot, match="NaN is no number"):
            SnapshotFolder(tmp_path).read()


class TestHosts:
    @pytest.mark.parametrize(
        ("changed", "why"),
        [
            ({"peak": {"FP32": 0.0}}, "must be > 0"),
            ({"peak": {"FP32": -1.0}}, "must be > 0"),
            ({"peak": {}}, "peak"),
            ({"bandwidth": 1e999}, "no number"),
            ({"launch": 0.0}, "must be > 0"),
            ({"format": 2, "core": 1}, "format must be 1, got 2"),
        ],
    )
    def test_impossible_figures_are_refused(
        self, tmp_path: Path, changed: dict[str, object], why: str
    ) -> None:
        file = tmp_path / "a.json"
        file.write_text(json.dumps({**HOST, **changed}))

        with pytest.raises(InvalidMachine, match=why):
            host.load(file)

    def test_another_kind_of_json_is_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "a.json"
        file.write_text("[]")

        with pytest.raises(InvalidMachine, match=r"format must be 1, got \[\]"):
            host.load(file)

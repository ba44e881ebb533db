"""`joulecheck measure` and `joulecheck overlay`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import Run
from joulecheck.case import Case
from joulecheck.errors import InvalidMeasurement
from joulecheck.files import parsed
from joulecheck.validation import host_fit, timing
from joulecheck.validation.host import Host
from joulecheck.validation.measurement import read
from joulecheck.workload import Gemm, Precision

HEADING = "machine,op,m,n,k,precision,latency_s,latency_min_s,latency_max_s\n"

LARGE = "gemm,8192,8192,8192,FP16"


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return Run(tmp_path, monkeypatch, capsys)


class TestOverlay:
    def test_what_agrees_confirms_a_figure(self, run: Run) -> None:
        (run.folder / "v100.csv").write_text(
            HEADING + f"V100-SXM3-32GB,{LARGE},9.9e-3,9.8e-3,1.1e-2\n"
        )

        done = run("overlay", "v100.csv")

        assert "agrees" in done.stdout
        assert "CALIBRATED  reference:V100-SXM3-32GB clock" in done.stdout
        assert (done.returncode, done.stderr) == (0, "")

    def test_measurements_of_which_none_is_predicted_do_not_pass(self, run: Run) -> None:
        (run.folder / "hailo.csv").write_text(
            HEADING + "reference:Hailo-8,gemm,8,8,8,FP64,1e-6,,\n"
        )

        done = run("overlay", "hailo.csv")

        assert done.returncode == 2
        assert "the model does not support the case" in done.stdout
        assert "none of 1 measured numbers is predicted" in done.stderr

    def test_what_disagrees_is_a_finding_that_replays_and_can_be_accepted(
        self, run: Run
    ) -> None:
        (run.folder / "v100.csv").write_text(
            HEADING + f"reference:V100-SXM3-32GB,{LARGE},0.9,,\n"
        )

        done = run("overlay", "v100.csv", "--output-format", "json")

        told = json.loads(done.stdout)
        assert done.returncode == 1
        assert told["disagreements"][0]["figure"] == "clock"
        (finding,) = told["findings"]

        replayed = run("replay", finding)
        assert replayed.returncode == 1
        assert "STILL FAILS" in replayed.stdout
        shown = run("findings", "show", finding)
        assert "measured" in shown.stdout
        assert "to be met within 20%" in shown.stdout

        run("findings", "accept", finding, "--reason", "measured on a loaded machine")
        assert run("overlay", "v100.csv").returncode == 0

    def test_json_has_no_number_that_is_none(self, run: Run) -> None:
        (run.folder / "v100.csv").write_text(HEADING + f"V100-SXM3-32GB,{LARGE},5e-324,,\n")

        done = run("overlay", "v100.csv", "--output-format", "json")

        (compared,) = parsed(done.stdout)["comparisons"]
        assert compared["ratio"] is None

    def test_a_ledger_keeps_what_is_confirmed(self, run: Run) -> None:
        (run.folder / "v100.csv").write_text(HEADING + f"V100-SXM3-32GB,{LARGE},9.9e-3,,\n")

        run("overlay", "v100.csv", "--ledger", "ledger.json")

        shown = run(
            "provenance", "show", "reference:V100-SXM3-32GB", "peak_ops_per_sec.FP16",
            "--ledger", "ledger.json",
        )  # fmt: skip
        assert "CALIBRATED" in shown.stdout

    def test_the_machine_of_the_docs_is_laid_over_as_they_say(self, run: Run) -> None:
        measured = Path(__file__).parent.parent / "docs" / "measured"

        done = run(
            "overlay", str(measured / "epyc-vm.jsonl"), "--output-format", "json",
            JOULECHECK_HOSTS=str(measured),
        )  # fmt: skip

        told = json.loads(done.stdout)
        checks = [c["verdict"] for c in told["comparisons"] if c["use"] == "check"]
        assert (len(checks), checks.count("agrees")) == (36, 14)
        assert told["calibrated"] == []

    def test_exit_zero_tells_and_does_not_fail(self, run: Run) -> None:
        (run.folder / "v100.csv").write_text(HEADING + f"V100-SXM3-32GB,{LARGE},0.9,,\n")

        assert run("overlay", "v100.csv", "--exit-zero").returncode == 0

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            (f"V100-SXM3,{LARGE},1,,", "reference has no model 'V100-SXM3': did you mean"),
            (f"V100-SXM3-32GB,{LARGE},-1,,", "line 2"),
        ],
    )
    def test_a_mistake_is_told_without_a_traceback(
        self, run: Run, row: str, message: str
    ) -> None:
        (run.folder / "v100.csv").write_text(f"{HEADING}{row}\n")

        done = run("overlay", "v100.csv")

        assert done.returncode == 2
        assert message in done.stderr
        assert "Traceback" not in done.stderr


class TestMeasure:
    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """One small case of each use, and a fit that holds on any machine."""
        cases = {"fit": [Case(Gemm(8, 8, 8))], "check": [Case(Gemm(4, 4, 4))]}
        monkeypatch.setattr(host_fit, "workloads", lambda _: cases)
        monkeypatch.setattr(timing, "SHORTEST", 1e-5)
        monkeypatch.setattr(
            host_fit,
            "fit",
            lambda name, _: Host(
                name=name, peak={Precision.FP32: 1e10}, bandwidth=1e9, launch=1e-6
            ),
        )

    def test_it_leaves_measurements_and_a_model_that_other_commands_take(
        self, run: Run
    ) -> None:
        done = run("measure", "--name", "here", "--repeats", "3")

        assert done.returncode == 0
        assert "launch     1 us" in done.stdout
        taken = read(Path("hosts/here.jsonl"))
        assert [one.use for one in taken] == ["fit", "check"]
        assert all(one.machine == "host:here" and one.repeats == 3 for one in taken)
        listed = run("models", "host:here")
        assert "host:here" in listed.stdout
        laid = run("overlay", "hosts/here.jsonl", "--exit-zero")
        assert "2 numbers, within 20%" in laid.stdout

    def test_measurements_stay_where_no_roofline_fits(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def unfitted(name: str, _: object) -> Host:
            msg = f"no measurement of {name} is bound by the memory"
            raise InvalidMeasurement(msg)

        monkeypatch.setattr(host_fit, "fit", unfitted)

        done = run("measure", "--name", "here", "--repeats", "3")

        assert done.returncode == 2
        assert len(read(Path("hosts/here.jsonl"))) == 2

    def test_a_folder_that_cannot_be_written_is_told_before_anything_is_measured(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (run.folder / "hosts").write_text("a file")
        monkeypatch.setattr(timing, "measure", None)

        done = run("measure", "--name", "here")

        assert done.returncode == 2
        assert "host files cannot be written to hosts" in done.stderr

    def test_a_name_that_is_no_file_name_is_refused(self, run: Run) -> None:
        done = run("measure", "--name", "../up")

        assert done.returncode == 2
        assert "letters, digits" in done.stderr

"""The command line as its users see it: text, JSON, exit codes, messages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from command import Run
from joulecheck.reference import MACHINES

NPU = """
from joulecheck import Estimate, Exemption, Precision, Unsupported


class Npu:
    name = "npu"
    precisions = (Precision.INT8, Precision.FP32)

    def estimate(self, case, scale={}):
        if case.precision not in self.precisions:
            raise Unsupported(f"not in {case.precision.name}")
        compute = 0.1e-12 * case.ops * case.precision.bits / 8
        dram = 30e-12 * case.bytes
        seconds = max(case.ops / 4e12, case.bytes / 50e9)
        terms = {"compute": compute, "dram": dram}
        return Estimate(energy=compute + dram, latency=seconds, energy_terms=terms)


class Forgetful(Npu):
    name = "forgetful"

    def estimate(self, case, scale={}):
        found = super().estimate(case)
        return Estimate(
            energy=found.energy_terms["dram"], energy_terms=found.energy_terms
        )


class Exempt(Npu):
    name = "exempt"
    exemptions = (Exemption("MON001", "harvests energy"),)


class Stopped(Npu):
    name = "stopped"

    def estimate(self, case, scale={}):
        if case.macs > 1:
            raise KeyboardInterrupt
        return super().estimate(case, scale)


class NoEstimate:
    name = "none"
"""


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    (tmp_path / "mymodel.py").write_text(NPU)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name in [name for name in os.environ if name.startswith("JOULECHECK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "mymodel", raising=False)
    return Run(tmp_path, monkeypatch, capsys)


FAST = ("--cases", "512", "--seed", "1", "--workers", "0")


class TestFuzz:
    def test_sound_models_exit_zero_and_say_the_rate(self, run: Run) -> None:
        done = run("fuzz", "reference:Google-TPU-v1", *FAST)

        assert (done.returncode, done.stderr) == (0, "")
        assert "0 new findings" in done.stdout
        assert "checks/s" in done.stdout
        assert done.stdout.startswith("seed 1: 1 model x ")

    def test_a_planted_fault_is_reported_with_rule_case_numbers_and_replay(
        self, run: Run
    ) -> None:
        done = run(
            "fuzz", "reference:Intel-i7-12700K", "--inject", "dropped-term",
            "--select", "CMP001", *FAST,
        )  # fmt: skip

        assert done.returncode == 1
        assert "NEW  CMP001 layers-sum-to-total  reference:Intel-i7-12700K" in done.stdout
        assert "gemm M=1 N=1 K=1 FP32" in done.stdout
        assert "static 50 uJ" in done.stdout
        assert "--inject dropped-term" in done.stdout

    def test_a_model_of_ones_own_is_found_in_the_working_directory(self, run: Run) -> None:
        assert run("fuzz", "mymodel:Npu", *FAST).returncode == 0

        done = run("fuzz", "mymodel:Forgetful", *FAST)

        assert done.returncode == 1
        assert "CMP001" in done.stdout

    def test_exit_zero_reports_and_does_not_fail(self, run: Run) -> None:
        done = run("fuzz", "mymodel:Forgetful", *FAST, "--exit-zero")

        assert done.returncode == 0
        assert "NEW  CMP001" in done.stdout

    def test_an_accepted_finding_is_known_and_does_not_fail(self, run: Run) -> None:
        arguments = ("fuzz", "mymodel:Forgetful", "--select", "CMP001", *FAST)
        found = json.loads(run(*arguments, "--output-format", "json").stdout)
        (finding,) = found["findings"]
        run("findings", "accept", finding["id"], "--reason", "a sketch")

        done = run(*arguments)

        assert done.returncode == 0
        assert "KNOWN  CMP001" in done.stdout

    def test_json_names_everything_that_was_asked(self, run: Run) -> None:
        done = run("fuzz", "mymodel:Npu", *FAST, "--output-format", "json")

        document = json.loads(done.stdout)
        assert document["seed"] == 1
        assert document["checks"] == sum(p["checks"] for p in document["pairs"])
        assert {s["property"] for s in document["skipped"]} >= {"BND001", "SEN001"}

    def test_says_what_the_cases_support(self, run: Run) -> None:
        arguments = ("fuzz", "mymodel:Npu", *FAST, "--select", "MON001")

        plain, table = run(*arguments), run(*arguments, "--show-pairs")
        document = json.loads(run(*arguments, "--output-format", "json").stdout)

        claim = "at 95% confidence less than 0.006 of the sampled cases of each fail"
        assert claim in plain.stdout
        assert "in domain" not in plain.stdout
        row = next(line for line in table.stdout.splitlines() if "mymodel:Npu" in line)
        assert row.split()[1:4] == ["MON001", "512", "100.00%"]
        (pair,) = document["pairs"]
        assert pair["in_domain"] == pair["checks"] == 512
        assert pair["fails_below"] == pytest.approx(3 / 512, rel=0.01)

    def test_a_stale_exemption_is_reported(self, run: Run) -> None:
        exempt = run("fuzz", "mymodel:Exempt", *FAST, "--select", "MON001")

        assert "EXEMPT MON001 on mymodel:Exempt: harvests energy" in exempt.stdout
        assert "STALE exemption of mymodel:Exempt from MON001" in exempt.stdout

    def test_a_report_goes_to_a_file_whole(self, run: Run) -> None:
        done = run(
            "fuzz",
            "mymodel:Npu",
            *FAST,
            "--output-format",
            "json",
            "--output-file",
            "r.json",
        )

        assert json.loads((run.folder / "r.json").read_text())["findings"] == []
        assert "0 new findings" in done.stdout

    def test_without_a_seed_one_is_chosen_and_printed(self, run: Run) -> None:
        seeds = {
            run("fuzz", "mymodel:Npu", "--cases", "8", "--workers", "0").stdout.split(":")[
                0
            ]
            for _ in range(2)
        }

        assert len(seeds) == 2

    def test_a_budget_ends_the_search(self, run: Run) -> None:
        done = run("fuzz", "mymodel:Npu", "--budget", "1s", "--workers", "0")

        assert done.returncode == 0
        assert "1 s" in done.stdout

    def test_a_named_campaign_goes_on_where_it_stopped(self, run: Run) -> None:
        arguments = (
            "fuzz", "reference:Google-TPU-v1", "--select", "BND003", "--budget", "1s",
            "--name", "nightly", "--workers", "0",
        )  # fmt: skip
        first = run(*arguments)

        second = run(*arguments)

        assert "from epoch" not in first.stdout
        assert "from epoch" in second.stdout
        assert first.stdout.split(":")[0] == second.stdout.split(":")[0]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("fuzz", "refrence:*"), "did you mean"),
            (("fuzz", "reference:TPU"), "no model of reference matches 'TPU'"),
            (("fuzz", "mymodel:Nup"), "did you mean Npu"),
            (("fuzz", "nothere:Npu"), "nothere"),
            (("fuzz", "mymodel:NoEstimate"), "estimate"),
            (("fuzz", "--select", "XYZ"), "no property starts with 'XYZ'"),
            (("fuzz", "--inject", "nope"), "nope"),
            (("fuzz", "--cases", "5", "--budget", "5s"), "exclude each other"),
            (("fuzz", "--budget", "soon"), "90s, 5m or 8h"),
            (("fuzz", "--corpus", "nonsense"), "nonsense"),
            (("fuzz", "mymodel:Npu", "--inject", "dear-int8"), "no reference model"),
            (("fuzz", "--name", "a/b", "--budget", "1s"), "a/b"),
            (("explain", "CMP01"), "did you mean"),
            (("replay", "F-zzzz"), "F-zzzz"),
            (("findings", "show", "F-zzzz"), "F-zzzz"),
        ],
    )
    def test_a_users_mistake_is_a_message_and_exit_two(
        self, run: Run, arguments: tuple[str, ...], message: str
    ) -> None:
        done = run(*arguments)

        assert done.returncode == 2
        assert message in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr


class TestReplay:
    def test_with_the_fault_it_still_fails_and_without_it_is_fixed(self, run: Run) -> None:
        inject = ("--inject", "roofline-minimum")
        run("fuzz", "reference:Google-TPU-v4", "--select", "CMP003", *inject, *FAST)

        without, with_fault = run("replay"), run("replay", *inject)

        assert (without.returncode, with_fault.returncode) == (0, 1)
        assert "FIXED  CMP003" in without.stdout
        assert "STILL FAILS  CMP003" in with_fault.stdout

    def test_a_model_of_ones_own_must_be_named(self, run: Run) -> None:
        run("fuzz", "mymodel:Forgetful", "--select", "CMP001", *FAST)

        unnamed, named = run("replay"), run("replay", "--models", "mymodel:Forgetful")

        assert unnamed.returncode == 2
        assert "add --models mymodel:Forgetful" in " ".join(unnamed.stdout.split())
        assert named.returncode == 1
        assert "STILL FAILS" in named.stdout

    def test_only_restricts_it_to_some_models(self, run: Run) -> None:
        run("fuzz", "mymodel:Forgetful", "--select", "CMP001", *FAST)

        done = run("replay", "--only", "reference:*", "--output-format", "json")

        assert (done.returncode, json.loads(done.stdout)) == (0, [])


class TestOperatingPoints:
    """A machine at one of its operating points is a model in every command."""

    POINT: Final = "reference:Jetson-Orin-AGX-CPU@30W"

    def test_a_finding_at_one_is_stored_and_replayed(self, run: Run) -> None:
        fault = ("--inject", "dropped-term")
        done = run("fuzz", self.POINT, *fault, "--select", "CMP001", *FAST)

        assert done.returncode == 1
        assert f"CMP001 layers-sum-to-total  {self.POINT}" in done.stdout
        again = run("replay", *fault, "--output-format", "json")
        (replayed,) = json.loads(again.stdout)
        assert (replayed["model"], replayed["outcome"]) == (self.POINT, "STILL FAILS")

    def test_is_checked_like_any_model(self, run: Run) -> None:
        done = run("adapter", "check", self.POINT, "--output-format", "json")

        assert json.loads(done.stdout)[0]["model"] == self.POINT

    def test_an_unknown_one_ends_with_those_that_exist(self, run: Run) -> None:
        done = run("fuzz", "reference:Jetson-Orin-AGX-CPU@31W", *FAST)

        assert done.returncode == 2
        assert "no operating point '31W': it has 50W, 30W, 15W" in done.stderr


class TestFindings:
    def test_what_is_exported_is_known_on_a_fresh_checkout(self, run: Run) -> None:
        arguments = ("fuzz", "mymodel:Forgetful", "--select", "CMP001", *FAST)
        run(*arguments)
        (listed,) = json.loads(run("findings", "list", "--output-format", "json").stdout)
        run(
            "findings",
            "accept",
            listed["id"],
            "--reason",
            "a sketch",
            "--until",
            "2999-01-01",
        )
        exported = run("findings", "export")
        (run.folder / ".joulecheck" / "corpus.db").unlink()

        done = run(*arguments)

        assert exported.stdout.strip() == f"counterexamples/{listed['id']}.json"
        assert done.returncode == 0
        assert "KNOWN" in done.stdout

    def test_import_reads_what_export_wrote(self, run: Run) -> None:
        run("fuzz", "mymodel:Forgetful", "--select", "CMP001", *FAST)
        run("findings", "export", "--to", "elsewhere")

        done = run("findings", "import", "elsewhere", "--corpus", "sqlite:///other.db")

        assert done.returncode == 0
        assert (
            run("findings", "list", "--corpus", "sqlite:///other.db").stdout.count("CMP001")
            == 1
        )

    def test_show_prints_the_page_of_a_finding(self, run: Run) -> None:
        run("fuzz", "mymodel:Forgetful", "--select", "CMP001", *FAST)

        done = run("findings", "show", "F-")

        assert "layers-sum-to-total" in done.stdout
        assert "minimal" in done.stdout


class TestExplain:
    """A stored finding, explained as the model answers today."""

    MODELS: Final = ("--models", "mymodel:Forgetful")

    @pytest.fixture
    def name(self, run: Run) -> str:
        """The id of a finding that is stored without its region."""
        run("fuzz", "mymodel:Forgetful", "--select", "CMP001", "--no-explain", *FAST)
        (listed,) = json.loads(run("findings", "list", "--output-format", "json").stdout)
        return str(listed["id"])

    def test_prints_the_region_and_keeps_nothing(self, run: Run, name: str) -> None:
        done = run("explain", name, *self.MODELS)
        shown = run("findings", "show", name)

        assert done.returncode == 0
        assert "  region    every " in done.stdout
        assert "blame" in done.stdout
        assert "region" not in shown.stdout

    def test_keeps_it_if_asked_to(self, run: Run, name: str) -> None:
        run("findings", "accept", name, "--reason", "a sketch")
        done = run("explain", name, "--keep", *self.MODELS)
        shown = run("findings", "show", name)

        assert done.returncode == 0
        assert shown.stdout == done.stdout
        assert "  region    every " in shown.stdout
        assert "a sketch" in run("findings", "list").stdout

    def test_as_json_it_is_the_finding_with_its_margin(self, run: Run, name: str) -> None:
        done = run("explain", name, *self.MODELS, "--output-format", "json")

        found = json.loads(done.stdout)
        assert found["id"] == name
        assert found["margin_today"] < 0
        assert found["counterexample"]["region"]["regions"]

    def test_what_holds_today_is_said_and_not_kept(self, run: Run, name: str) -> None:
        (run.folder / "mymodel.py").write_text(
            NPU.replace(
                'found.energy_terms["dram"], energy_terms', "found.energy, energy_terms"
            )
        )
        sys.modules.pop("mymodel")
        before = run("findings", "show", name).stdout
        done = run("explain", name, "--keep", *self.MODELS)

        assert done.returncode == 0
        assert done.stdout.startswith(f"{name} no longer fails: its margin is +")
        assert run("findings", "show", name).stdout == before

    def test_a_model_of_ones_own_must_be_named(self, run: Run, name: str) -> None:
        done = run("explain", name)

        assert done.returncode == 2
        assert "add --models mymodel:Forgetful" in " ".join(done.stderr.split())


def test_what_is_interrupted_says_no_more_than_that(run: Run) -> None:
    done = run("compose", "mymodel:Stopped")

    assert (done.returncode, done.stderr.strip()) == (130, "interrupted")


class TestHelp:
    @pytest.mark.parametrize("command", [[], ["fuzz"], ["score"], ["distribution"]])
    def test_examples_keep_their_lines(self, run: Run, command: list[str]) -> None:
        lines = run(*command, "--help").stdout.splitlines()

        assert not any("\\b" in line for line in lines)
        assert any(line.startswith("    joulecheck ") for line in lines)


class TestListings:
    def test_models_lists_the_reference_models(self, run: Run) -> None:
        listed = json.loads(run("models", "--output-format", "json").stdout)

        assert [model["name"] for model in listed["models"]] == [
            f"reference:{machine}" for machine in MACHINES
        ]
        assert len(listed["models"]) == 47
        assert sorted(listed["energy_and_tile_models"]) == [
            "AdaptiveDatapathEnergyModel",
            "DataFlowMachineEnergyModel",
            "DataParallelEnergyModel",
            "DomainFlowEnergyModel",
            "KPUTileEnergyAdapter",
            "KPUTileEnergyModel",
            "SpatialPartitionEnergyModel",
            "StoredProgramEnergyModel",
            "SystolicArrayEnergyModel",
            "TPUTileEnergyModel",
        ]

    def test_models_says_how_each_class_is_modelled(self, run: Run) -> None:
        listed = json.loads(run("models", "--output-format", "json").stdout)
        models = {one["architecture"]: len(one["models"]) for one in listed["classes"]}
        kpu = next(one for one in listed["models"] if one["name"].endswith("KPU-T64"))
        tpu = next(one for one in listed["classes"] if "TPU" in one["models"][0])

        assert models == {
            "STORED_PROGRAM": 21,
            "DATA_PARALLEL": 11,
            "SYSTOLIC_ARRAY": 6,
            "DOMAIN_FLOW": 4,
            "SPATIAL_PARTITION": 2,
            "ADAPTIVE_DATAPATH": 2,
            "DATA_FLOW_MACHINE": 1,
        }
        roles = ("energy_model", "tile_model", "adapter")
        assert [kpu[role] for role in roles] == [
            "DomainFlowEnergyModel",
            "KPUTileEnergyModel",
            "KPUTileEnergyAdapter",
        ]
        assert [tpu[role] for role in roles] == [
            "SystolicArrayEnergyModel",
            "TPUTileEnergyModel",
            None,
        ]

    def test_models_counts_what_it_shows(self, run: Run) -> None:
        shown = run("models").stdout

        assert "SYSTOLIC_ARRAY: SystolicArrayEnergyModel, TPUTileEnergyModel\n" in shown
        assert shown.endswith("47 models in 7 classes, with 10 energy and tile models\n")

    def test_models_lists_one_of_ones_own(self, run: Run) -> None:
        shown = run("models", "mymodel:Npu").stdout

        assert shown.startswith("no class: Npu\nmymodel:Npu  FP32 INT8")
        assert shown.endswith("1 model in 1 class, with 1 energy and tile model\n")

    def test_models_shows_the_operating_points(self, run: Run) -> None:
        done = run("models", "reference:Jetson-Orin-AGX-CPU")

        assert "@50W @30W @15W" in done.stdout

    def test_properties_can_be_selected(self, run: Run) -> None:
        listed = json.loads(
            run("properties", "--select", "MON", "--output-format", "json").stdout
        )

        assert {law["id"][:3] for law in listed} == {"MON"}
        assert len(listed) >= 3

    def test_explain_prints_every_section(self, run: Run) -> None:
        done = run("explain", "bnd002")

        for heading in ("Statement", "Rationale", "Domain", "Tolerance", "Planted bug"):
            assert heading in done.stdout

    def test_distribution_says_what_the_sampler_reaches(self, run: Run) -> None:
        arguments = ("distribution", "reference:Google-TPU-v4", "--cases", "2000")

        text = run(*arguments).stdout
        (found,) = json.loads(run(*arguments, "--output-format", "json").stdout)

        assert "2,000 cases of seed 1, 100.00% valid" in text
        assert found["valid"] == found["in_domain"] == 1.0
        assert set(found["operators"]) == {"gemm", "conv2d", "elementwise"}
        assert set(found["nodes"]) == set("12345678")
        assert min(found["roofline"].values()) > 0.1
        assert set(found["decades"]["gemm.m"]) >= {"1", "10", "100", "1000", "10000"}
        assert sum(found["bottlenecks"].values()) == pytest.approx(1)
        for name in ("precisions", "edges", "operators", "nodes"):
            assert sum(found[name].values()) == pytest.approx(1), name

    def test_distribution_of_a_model_that_says_little(self, run: Run) -> None:
        done = run("distribution", "mymodel:Npu", "--property", "MON002", "--cases", "200")

        rows = [line.split() for line in done.stdout.splitlines()]
        assert ["bottlenecks", "-"] in rows
        assert ["roofline", "-"] in rows

    def test_adapter_check_says_what_is_missing(self, run: Run) -> None:
        (checked,) = json.loads(
            run("adapter", "check", "mymodel:Npu", "--output-format", "json").stdout
        )

        assert "CMP001" in checked["applicable"]
        assert "coefficients" in checked["missing"]["COEFFICIENTS"]
        assert "machine" in checked["not_applicable"]["BND001"]

    def test_output_in_a_pipe_has_no_escape_codes(self, run: Run) -> None:
        assert "\x1b" not in run("models").stdout


class TestSettings:
    def test_pyproject_gives_defaults(self, run: Run) -> None:
        settings = (
            '[tool.joulecheck]\nmodels = ["mymodel:Npu"]\nseed = 7\n'
            'select = ["CMP001", "MON001"]\n'
        )
        (run.folder / "pyproject.toml").write_text(settings)

        done = run("fuzz", "--cases", "64", "--workers", "0")

        assert done.stdout.startswith("seed 7: 1 model x 2 properties")

    def test_the_environment_wins_over_pyproject_and_loses_to_the_command_line(
        self, run: Run
    ) -> None:
        (run.folder / "pyproject.toml").write_text("[tool.joulecheck]\nseed = 7\n")
        arguments = ("fuzz", "mymodel:Npu", "--cases", "8", "--workers", "0")

        by_environment = run(*arguments, JOULECHECK_SEED="8")
        by_command = run(*arguments, "--seed", "9", JOULECHECK_SEED="8")

        assert by_environment.stdout.startswith("seed 8:")
        assert by_command.stdout.startswith("seed 9:")

    def test_options_that_mean_different_things_are_set_apart(self, run: Run) -> None:
        (run.folder / "pyproject.toml").write_text(
            "[tool.joulecheck]\ncompose-tolerance = 0.99\npoint = ['clock=2']\n"
        )

        done = run("compose", "reference:Hailo-8", "--inject", "misplaced-layer")
        strict = run(
            "compose", "reference:Hailo-8", "--inject", "misplaced-layer",
            JOULECHECK_COMPOSE_TOLERANCE="0.001",
        )  # fmt: skip
        other = run("compare", "reference:Hailo-8", "reference:Hailo-8")

        assert (done.returncode, strict.returncode) == (0, 1)
        assert "two --point or more" in " ".join(other.stderr.split())

    def test_no_two_commands_take_one_setting_for_tolerances(self, run: Run) -> None:
        (run.folder / "pyproject.toml").write_text("[tool.joulecheck]\ntolerance = 0.5\n")

        done = run("models")

        assert done.returncode == 2
        assert "-tolerance" in done.stderr

    def test_an_unknown_key_is_refused(self, run: Run) -> None:
        (run.folder / "pyproject.toml").write_text("[tool.joulecheck]\nsede = 7\n")

        done = run("models")

        assert done.returncode == 2
        assert "did you mean seed" in " ".join(done.stderr.split())


class TestProcess:
    """What only a process of its own shows."""

    def test_workers_in_a_pipe_print_plain_lines_and_no_traceback(self, run: Run) -> None:
        command = [sys.executable, "-m", "joulecheck", "fuzz", "mymodel:Forgetful"]

        done = subprocess.run(  # noqa: S603 - this interpreter on a file of the test
            [*command, "--select", "CMP", "--cases", "64", "--seed", "1", "--workers", "2"],
            cwd=run.folder,
            capture_output=True,
            text=True,
            check=False,
        )

        assert (done.returncode, done.stderr) == (1, "")
        assert "NEW  CMP001" in done.stdout
        assert "\x1b" not in done.stdout

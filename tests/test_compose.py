"""The composition gate: the registry of checks, the checks of models, the command."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from command import Run
from joulecheck.case import Case
from joulecheck.coefficient import Layer
from joulecheck.composition import Max, Sum
from joulecheck.errors import InvalidCheck, UnknownName, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.faults import fault_named, inject
from joulecheck.model import Subject, registered
from joulecheck.reference import CLASSES, MACHINES
from joulecheck.reference.machine_file import load_machine
from joulecheck.resolve import models_named
from joulecheck.validation import (
    Comparison,
    LayerCheck,
    LayerTag,
    Skipped,
    register_layer_check,
)
from joulecheck.validation.gate import import_checks, run_gate, with_clusters
from joulecheck.validation.layer_checks import (
    REGISTERED,
    SPECIFICATION_TAGS,
    CheckResult,
    Registry,
    Runner,
    Status,
    run_check,
    tag_named,
)
from joulecheck.validation.model_checks import checks_of
from tiny import Tiny

CHECKS = """
from joulecheck.validation import Comparison, LayerCheck, register_layer_check

register_layer_check(LayerCheck(
    machine="my board", name="DRAM energy", from_layers=["ALU", "l1_cache"],
    predicts="external_memory", tolerance=0.15, runner=lambda: Comparison(0.02),
))
"""

MODEL = """
from joulecheck import Estimate, Layer


class Npu:
    name = "npu"
    layers = {"alu": Layer.ALU, "dram": Layer.DRAM}

    def estimate(self, case, scale={}):
        alu, dram = 1e-12 * case.ops, 3e-11 * case.bytes
        return Estimate(
            energy=alu + dram,
            energy_terms={"alu": alu, "dram": dram},
            through={Layer.ALU: alu, Layer.DRAM: alu + dram},
        )


class Silent:
    name = "silent"

    def estimate(self, case, scale={}):
        return Estimate(energy=1.0)
"""


def check(runner: Runner, /, **fields: object) -> LayerCheck:
    stated: dict[str, object] = {
        "machine": "board",
        "name": "energy up to DRAM",
        "from_layers": [LayerTag.ALU, LayerTag.DRAM],
        "predicts": LayerTag.DRAM,
        "runner": runner,
    }
    return LayerCheck(**{**stated, **fields})  # type: ignore[arg-type]


def raising(error: Exception) -> Runner:
    def run() -> float:
        raise error

    return run


@pytest.fixture
def registered_checks() -> Iterator[None]:
    """Nothing is registered before and after."""
    REGISTERED.clear()
    yield
    REGISTERED.clear()


class TestTags:
    def test_the_specifications_tags_are_layers(self) -> None:
        of = {
            tag: {s for s, t in SPECIFICATION_TAGS.items() if t is tag} for tag in LayerTag
        }

        assert of[LayerTag.SCRATCHPAD] == {"L1_CACHE", "L2_CACHE"}
        assert of[LayerTag.ON_CHIP] == {"L3_CACHE", "SOC_DATA_MOVEMENT"}
        assert of[LayerTag.DRAM] == {"EXTERNAL_MEMORY"}
        assert of[LayerTag.CLUSTER] == {"DISTRIBUTED_MEMORY", "CLUSTER_INTERCONNECT"}
        assert all(of.values())

    def test_are_six_layers_and_the_whole(self) -> None:
        layers = [layer for layer in Layer if layer is not Layer.STATIC]

        assert [LayerTag.of(layer).name for layer in layers] == [t.name for t in LayerTag]
        assert LayerTag.of(Layer.STATIC) is LayerTag.COMPOSITE

    def test_either_name_is_understood_in_any_case(self) -> None:
        assert tag_named("l3_cache") is tag_named("ON_CHIP") is LayerTag.ON_CHIP

    def test_an_unknown_name_is_refused_with_the_nearest(self) -> None:
        with pytest.raises(InvalidCheck, match=r"'L4_CACHE'.*L1_CACHE"):
            tag_named("L4_CACHE")


class TestCheck:
    def test_tags_may_be_names_and_count_once(self) -> None:
        made = check(lambda: 0.0, from_layers=["l1_cache", "L2_CACHE"], predicts="dram")

        assert made.from_layers == (LayerTag.SCRATCHPAD,)
        assert made.predicts is LayerTag.DRAM

    @pytest.mark.parametrize(
        ("field", "value", "message"),
        [
            ("machine", "", "must state machine"),
            ("name", "", "must state name"),
            ("from_layers", [], "must state from_layers"),
            ("runner", 0.1, "function without arguments"),
            ("tolerance", -1.0, "at least 0, got -1.0"),
            ("tolerance", float("nan"), "at least 0, got nan"),
        ],
    )
    def test_a_broken_field_is_refused_by_name(
        self, field: str, value: object, message: str
    ) -> None:
        with pytest.raises(InvalidCheck, match=message):
            check(lambda: 0.0, **{field: value})

    @pytest.mark.parametrize(
        ("runner", "status", "error"),
        [
            (lambda: Comparison(1e-3), Status.PASSED, 1e-3),
            (lambda: 0, Status.PASSED, 0.0),
            (lambda: Comparison(1.1e-3, "at dawn"), Status.FAILED, 1.1e-3),
            (lambda: -0.5, Status.FAILED, -0.5),
            (lambda: None, Status.FAILED, None),
            (lambda: True, Status.FAILED, None),
            (raising(Skipped("no board")), Status.SKIPPED, None),
            (raising(ZeroDivisionError("x / 0")), Status.FAILED, None),
            (raising(SystemExit(0)), Status.FAILED, None),
            (lambda: Comparison("near"), Status.FAILED, None),
            (lambda: Comparison(None), Status.FAILED, None),
        ],
    )
    def test_ends_as_its_error_and_tolerance_say(
        self, runner: Runner, status: Status, error: float | None
    ) -> None:
        result = run_check(check(runner))

        assert (result.status, result.error) == (status, error)

    def test_a_number_that_is_none_fails(self) -> None:
        assert run_check(check(lambda: float("nan"))).status is Status.FAILED

    def test_an_exception_is_told(self) -> None:
        result = run_check(check(raising(ZeroDivisionError("x / 0"))))

        assert result.details == "ZeroDivisionError: x / 0"


class TestRegistry:
    def test_an_empty_one_is_an_error(self) -> None:
        with pytest.raises(InvalidCheck, match="no layer check is registered"):
            Registry().run()

    def test_one_in_which_all_is_skipped_is_an_error(self) -> None:
        with pytest.raises(
            InvalidCheck, match=r"all 1 layer checks were skipped: no board"
        ):
            Registry([check(raising(Skipped("no board")))]).run()

    def test_two_of_one_name_are_refused(self) -> None:
        registry = Registry([check(lambda: 0.0)])

        registry.register(check(lambda: 0.0, machine="other"))
        with pytest.raises(InvalidCheck, match="two layer checks of 'board'"):
            registry.register(check(lambda: 0.1))

    def test_what_is_no_check_is_refused(self) -> None:
        with pytest.raises(InvalidCheck, match="must be a LayerCheck, got 3"):
            Registry([3])  # type: ignore[list-item]

    @pytest.mark.usefixtures("registered_checks")
    def test_the_one_of_users_runs_beside_the_models(self) -> None:
        register_layer_check(check(lambda: 0.5))

        results = run_gate([registered("reference", "Hailo-8")], own=REGISTERED.checks)

        assert [r.check.machine for r in results if r.status is Status.FAILED] == ["board"]


def layered(through: Callable[[float, float], dict[Layer, float]]) -> Subject:
    """A model of two terms that predicts this of them."""

    def answer(case: Case) -> Estimate:
        alu, dram = 1e-12 * case.ops, 3e-11 * case.bytes
        fast, slow = case.ops / 1e12, case.bytes / 1e10
        return Estimate(
            energy=alu + dram,
            latency=max(fast, slow) + 1e-6,
            energy_terms={"alu": alu, "dram": dram},
            latency_terms={"compute": fast, "memory": slow, "launch": 1e-6},
            through=through(alu, dram),
            latency_through={Layer.ALU: fast, Layer.DRAM: max(fast, slow) + 1e-6},
        )

    return Subject.of(
        Tiny(
            answer,
            layers={"alu": Layer.ALU, "dram": Layer.DRAM},
            latency_layers={
                "compute": Layer.ALU, "launch": Layer.REGISTER, "memory": Layer.DRAM
            },
            latency_composition=Sum("launch", Max("compute", "memory")),
        )
    )  # fmt: skip


def by_name(subject: Subject) -> dict[str, CheckResult]:
    return {check.name: run_check(check) for check in checks_of(subject)}


class TestChecksOfAModel:
    def test_are_one_a_boundary_and_one_of_the_whole(self) -> None:
        results = by_name(
            layered(lambda alu, dram: {Layer.ALU: alu, Layer.DRAM: alu + dram})
        )

        assert {name: r.status for name, r in results.items()} == dict.fromkeys(
            (
                "energy up to ALU", "energy up to DRAM", "energy of the whole",
                "latency up to ALU", "latency up to DRAM", "latency of the whole",
            ),
            Status.PASSED,
        )  # fmt: skip
        assert results["energy up to DRAM"].check.from_layers == (
            LayerTag.ALU,
            LayerTag.DRAM,
        )

    def test_a_wrong_prediction_fails_at_its_layer_alone(self) -> None:
        results = by_name(layered(lambda alu, dram: {Layer.ALU: alu + dram}))

        failed = {name: r for name, r in results.items() if r.status is Status.FAILED}
        assert list(failed) == ["energy up to ALU"]
        assert "predicted" in failed["energy up to ALU"].details

    def test_what_is_not_offered_is_skipped_with_the_way_to_offer_it(self) -> None:
        results = by_name(Subject.of(Tiny(lambda _: Estimate(energy=1.0))))

        assert {r.status for r in results.values()} == {Status.SKIPPED}
        assert (
            "return Estimate(energy_terms={...})" in results["energy of the whole"].details
        )
        assert "through" in results["energy by layer"].details

    @pytest.mark.parametrize("size", [0, 1 << 20])
    def test_a_prediction_that_is_no_number_fails(self, size: int) -> None:
        def answer(case: Case) -> Estimate:
            energy = math.nan if case.ops > size else 1.0
            return Estimate(energy=energy, energy_terms={"all": 1.0})

        result = by_name(Subject.of(Tiny(answer)))["energy of the whole"]

        assert result.status is Status.FAILED
        assert result.details.endswith("increments sum to 1 J, but the prediction is NaN")

    def test_so_does_one_that_is_left_out_where_it_is_offered(self) -> None:
        def answer(case: Case) -> Estimate:
            energy = None if case.ops > 2 else 1.0
            return Estimate(energy=energy, energy_terms={"all": 1.0})

        result = by_name(Subject.of(Tiny(answer)))["energy of the whole"]

        assert result.status is Status.FAILED

    def test_so_does_one_up_to_a_layer(self) -> None:
        wrong = layered(lambda alu, dram: {Layer.ALU: alu, Layer.DRAM: math.nan * dram})

        failed = [n for n, r in by_name(wrong).items() if r.status is Status.FAILED]

        assert failed == ["energy up to DRAM"]

    def test_one_up_to_a_layer_may_be_left_out(self) -> None:
        def through(alu: float, dram: float) -> dict[Layer, float]:
            whole = {Layer.DRAM: alu + dram} if dram < 1e-4 else {}
            return {Layer.ALU: alu, **whole}

        assert {r.status for r in by_name(layered(through)).values()} == {Status.PASSED}

    def test_a_case_that_the_model_does_not_support_is_not_compared(self) -> None:
        def answer(case: Case) -> Estimate:
            if case.ops > 1 << 20:
                msg = "too large"
                raise Unsupported(msg)
            return Estimate(energy=1.0, energy_terms={"all": 1.0})

        result = by_name(Subject.of(Tiny(answer)))["energy of the whole"]

        assert result.status is Status.PASSED

    def test_a_model_that_raises_fails_every_check(self) -> None:
        def answer(case: Case) -> Estimate:
            if case.ops > 2:
                msg = "too much"
                raise OverflowError(msg)
            return Estimate(energy=1.0, energy_terms={"all": 1.0})

        results = by_name(Subject.of(Tiny(answer)))

        assert {r.status for r in results.values()} == {Status.FAILED}
        assert "OverflowError: too much" in results["energy of the whole"].details


class TestReference:
    def test_every_boundary_of_every_class_is_checked_and_holds(self) -> None:
        subjects = with_clusters(models_named("reference:*"))

        results = run_gate(subjects, tolerance=1e-9)

        assert {result.status for result in results} == {Status.PASSED}
        assert len({r.check.machine for r in results if "@" not in r.check.machine}) == 47
        tags = {
            group: {r.check.predicts for r in results if r.check.group == group}
            for group in CLASSES
        }
        assert all(LayerTag.COMPOSITE in found for found in tags.values())
        assert set().union(*tags.values()) == set(LayerTag)
        linked = {n for n in MACHINES if load_machine(n).link}
        assert len(linked) == len([r for r in subjects if "@" in r.name])

    @pytest.mark.parametrize(
        "fault", ["misplaced-layer", "dropped-term", "unlaunched-prefix", "layers-alone"]
    )
    def test_an_injected_regression_fails(self, fault: str) -> None:
        sound = registered("reference", "Intel-i7-12700K")

        results = run_gate([inject(sound, fault_named(fault))])

        assert Status.FAILED in {result.status for result in results}


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    (tmp_path / "mychecks.py").write_text(CHECKS)
    (tmp_path / "nochecks.py").write_text("")
    (tmp_path / "mylayers.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in [name for name in os.environ if name.startswith("JOULECHECK_")]:
        monkeypatch.delenv(name)
    for module in ("mychecks", "nochecks", "mylayers"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    REGISTERED.clear()
    yield Run(tmp_path, monkeypatch, capsys)
    REGISTERED.clear()
    for module in ("mychecks", "nochecks", "mylayers"):
        sys.modules.pop(module, None)


class TestCommand:
    def test_a_sound_machine_passes(self, run: Run) -> None:
        done = run("compose", "reference:Google-TPU-v1")

        assert (done.returncode, done.stderr) == (0, "")
        assert "SYSTOLIC_ARRAY" in done.stdout
        assert " 0 FAILED, 0 SKIPPED" in done.stdout

    def test_a_planted_fault_fails_with_error_and_tolerance(self, run: Run) -> None:
        done = run("compose", "reference:Intel-i7-12700K", "--inject", "dropped-term")

        assert done.returncode == 1
        assert "FAILED  reference:Intel-i7-12700K  energy of the whole" in done.stdout
        assert "tolerance 0.001; from ALU + REGISTER" in done.stdout
        assert "gemm M=1 N=1 K=1" in done.stdout

    def test_json_has_every_check(self, run: Run) -> None:
        done = run("compose", "mylayers:Npu", "--output-format", "json")

        found = json.loads(done.stdout)
        assert done.returncode == 0
        assert found["counts"] == {"PASSED": 3, "FAILED": 0, "SKIPPED": 2}
        (one,) = [c for c in found["checks"] if c["name"] == "energy up to DRAM"]
        assert one["from_layers"] == ["ALU", "DRAM"]
        assert (one["status"], one["predicts"], one["tolerance"]) == (
            "PASSED",
            "DRAM",
            1e-3,
        )
        assert one["error"] <= 1e-12

    def test_a_module_of_the_users_registers_checks(self, run: Run) -> None:
        done = run("compose", "reference:Hailo-8", "--checks", "mychecks", "--show-checks")

        assert done.returncode == 0
        assert "PASSED  my board  DRAM energy" in done.stdout
        assert "error 0.02, tolerance 0.15; from ALU + SCRATCHPAD" in done.stdout

    def test_a_module_that_registers_nothing_is_an_error(self, run: Run) -> None:
        done = run("compose", "reference:Hailo-8", "--checks", "nochecks")

        assert done.returncode == 2
        assert "module nochecks registers no layer check" in done.stderr

    def test_a_module_that_is_not_there_is_an_error(self, run: Run) -> None:
        done = run("compose", "--checks", "nowhere")

        assert done.returncode == 2
        assert "no module is called 'nowhere'" in done.stderr

    def test_nothing_to_compare_is_an_error(self, run: Run) -> None:
        done = run("compose", "mylayers:Silent")

        assert done.returncode == 2
        assert "layer checks were skipped" in done.stderr.replace("\n", " ")

    def test_the_file_is_written(self, run: Run) -> None:
        done = run("compose", "reference:Hailo-8", "--output-file", "gate.txt")

        assert (done.returncode, done.stdout) == (0, "")
        assert "0 FAILED" in (run.folder / "gate.txt").read_text()


@pytest.mark.usefixtures("registered_checks")
def test_a_module_that_is_missing_is_named() -> None:
    with pytest.raises(UnknownName, match=r"no module is called 'nowhere\.near'"):
        import_checks("nowhere.near")

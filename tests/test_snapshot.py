"""Snapshots: outputs that moved, the changes that explain them, and what nothing does."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import attrs
import numpy as np
import pytest
from click.testing import CliRunner, Result

from joulecheck.case import Case
from joulecheck.cli import app
from joulecheck.coefficient import Coefficient
from joulecheck.errors import InvalidMachine, InvalidSnapshot, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.faults import fault_named, inject
from joulecheck.knob import Knob, KnobKind
from joulecheck.machine import Machine
from joulecheck.model import UNSCALED, Scale, Subject, registered
from joulecheck.reference import MACHINES, load_model
from joulecheck.reference.figures import figures_of, with_figures
from joulecheck.reference.layered import LayeredModel
from joulecheck.scoring.mutants import REPRESENTATIVES
from joulecheck.validation.regression import Comparison, compare
from joulecheck.validation.snapshot import DIGITS, Outputs, Snapshot, snapshot_of
from joulecheck.validation.snapshot_folder import (
    SnapshotFolder,
    file_name,
    snapshot_text,
)
from joulecheck.validation.workload_set import cases_named, cases_of, reference_set
from joulecheck.workload import Gemm, Precision
from tiny import Tiny

WORKLOADS = reference_set(seed=1, random=8)

INTEL = "Intel-i7-12700K"
HAILO = "Hailo-8"


def reference(name: str) -> Subject:
    return registered("reference", name)


def taken(model: Subject) -> Snapshot:
    return snapshot_of(model, cases_of(model, WORKLOADS))


def layered(name: str) -> LayeredModel:
    model = load_model(name)
    assert isinstance(model, LayeredModel)
    return model


def with_values(name: str, values: Mapping[str, float]) -> Subject:
    """A machine with other values of its coefficients."""
    model = layered(name)
    rows = {
        n: attrs.evolve(row, value=values.get(n, row.value))
        for n, row in model.data.coefficients.items()
    }
    data = attrs.evolve(model.data, coefficients=rows)
    return Subject.of(type(model)(data), name=f"reference:{name}")


def with_data(name: str, **figures: object) -> Subject:
    """A machine with other data; "__" stands for a dot."""
    model = layered(name)
    named = {n.replace("__", "."): value for n, value in figures.items()}
    changed = figures_of(model.data) | named  # type: ignore[arg-type]  # a test's
    return Subject.of(
        type(model)(with_figures(model.data, changed)), name=f"reference:{name}"
    )


def held(model: Subject, name: str) -> Comparison:
    return compare(taken(reference(name)), model, WORKLOADS)


def coefficient_edits() -> list[tuple[str, str, float]]:
    """Twenty edits of a coefficient, in machines of all classes."""
    rng = np.random.default_rng(20)
    found = []
    for number in range(20):
        machine = REPRESENTATIVES[number % len(REPRESENTATIVES)].partition(":")[2]
        names = sorted(load_model(machine).coefficients)
        factor = float(rng.choice([rng.uniform(0.3, 0.85), rng.uniform(1.15, 3.0)]))
        found.append((machine, str(rng.choice(names)), factor))
    return found


class TestWorkloads:
    """What models are asked."""

    def test_are_the_standard_ones_those_of_networks_and_random_ones(self) -> None:
        firsts = {name.partition(" ")[0] for name in WORKLOADS}

        assert {"standard", "ResNet-50", "BERT-base", "random"} <= firsts

    def test_are_the_same_from_the_same_seed(self) -> None:
        assert reference_set(1, 8) == WORKLOADS
        assert reference_set(2, 8) != WORKLOADS

    def test_standard_ones_come_at_every_precision_the_others_take_turns(self) -> None:
        model = reference(INTEL)

        cases = cases_of(model, WORKLOADS)

        standard = [case for name, case in cases.items() if name.startswith("standard")]
        assert len(standard) == 5 * len(model.precisions)
        assert len(cases) == len(standard) + len(WORKLOADS) - 5
        assert {case.precision for case in cases.values()} == set(model.precisions)

    def test_are_found_again_by_the_names_of_rows(self) -> None:
        cases = cases_of(reference(INTEL), WORKLOADS)

        assert cases_named(cases, WORKLOADS) == cases

    def test_a_row_of_no_workload_is_told(self) -> None:
        with pytest.raises(InvalidSnapshot, match="did you mean standard layer 1"):
            cases_named(["standard layr 1 @ FP32"], WORKLOADS)


class TestFigures:
    """The data of machines by name."""

    @pytest.mark.parametrize("name", MACHINES)
    def test_make_the_same_machine_again(self, name: str) -> None:
        data = layered(name).data

        again = with_figures(data, figures_of(data))

        assert figures_of(again) == figures_of(data)
        assert again.coefficients == data.coefficients

    def test_that_make_no_machine_are_told(self) -> None:
        data = layered(INTEL).data

        with pytest.raises(InvalidMachine, match=r"make no machine.*units"):
            with_figures(data, figures_of(data) | {"units": "many"})


class TestFiles:
    """The form in which snapshots are kept."""

    def test_are_read_as_they_were_written(self, tmp_path: Path) -> None:
        snapshots = [taken(reference(name)) for name in (HAILO, INTEL)]
        folder = SnapshotFolder(tmp_path / "new")

        folder.write(snapshots, WORKLOADS)

        assert folder.read() == snapshots
        assert folder.workloads() == WORKLOADS

    def test_have_a_line_for_each_answer_and_figure(self) -> None:
        snapshot = taken(reference(HAILO))

        lines = snapshot_text(snapshot).splitlines()

        rows = [line for line in lines if " @ INT8" in line]
        assert len(rows) == len(snapshot.rows)
        assert rows == sorted(rows)
        assert '    "clock": 400000000.0,' in lines

    def test_keep_six_digits(self) -> None:
        snapshot = taken(reference(INTEL))

        exact = Outputs.of(
            reference(INTEL), cases_named(snapshot.rows, WORKLOADS).values()
        ).table

        np.testing.assert_allclose(snapshot.table(), exact, rtol=10.0 ** (1 - DIGITS))

    def test_all_machines_take_less_than_two_megabytes(self) -> None:
        texts = [snapshot_text(taken(reference(name))) for name in MACHINES]

        assert sum(map(len, texts)) < 2e6

    @pytest.mark.parametrize(
        ("before", "after", "told"),
        [
            ('"format": 1', '"format": 2', "format must be 1, got 2"),
            ('"clock": 400000000.0', '"clock": {}', "must be a number, a text or a list"),
            ('"model":', '"modle":', "modle"),
            (',\n    "energy_terms.alu"', "", "number for each of the columns"),
            ("{\n", "[", "cannot be read as a snapshot"),
        ],
    )
    def test_what_breaks_a_rule_is_told(
        self, before: str, after: str, told: str, tmp_path: Path
    ) -> None:
        SnapshotFolder(tmp_path).write([taken(reference(HAILO))], WORKLOADS)
        file = tmp_path / file_name("reference:Hailo-8")
        text = file.read_text()
        assert before in text
        file.write_text(text.replace(before, after, 1))

        with pytest.raises(InvalidSnapshot, match=told):
            SnapshotFolder(tmp_path).read()

    def test_of_other_workloads_do_not_mix(self, tmp_path: Path) -> None:
        folder = SnapshotFolder(tmp_path)
        folder.write([taken(reference(HAILO))], WORKLOADS)

        with pytest.raises(InvalidSnapshot, match="other workloads, of reference:Hailo-8"):
            folder.write([taken(reference(INTEL))], reference_set(2, 1))

    def test_an_empty_folder_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidSnapshot, match="joulecheck snapshot record"):
            SnapshotFolder(tmp_path).workloads()


class TestCoefficients:
    """Moves that coefficients explain."""

    @pytest.mark.parametrize("name", REPRESENTATIVES)
    def test_nothing_moves_where_nothing_changed(self, name: str) -> None:
        machine = name.partition(":")[2]

        found = held(reference(machine), machine)

        assert not found.changes
        assert not found.moves

    @pytest.mark.parametrize(("machine", "name", "factor"), coefficient_edits())
    def test_an_edit_explains_all_that_it_moves(
        self, machine: str, name: str, factor: float
    ) -> None:
        value = load_model(machine).coefficients[name].value

        found = held(with_values(machine, {name: value * factor}), machine)

        assert [change.name for change in found.changes] == [name]
        assert found.moves
        assert not found.unexplained
        for move in found.moves:
            assert [*move.shares] == [name]
            assert move.shares[name] == pytest.approx(1.0, abs=1e-3)
        moved = {move.column for move in found.moves}
        terms = load_model(machine).coefficients[name].terms or ()
        assert {f"energy_terms.{term}" for term in terms} <= moved

    def test_two_edits_share_what_they_move_together(self) -> None:
        values = {n: c.value for n, c in load_model(INTEL).coefficients.items()}
        edits = {"fetch_energy": 2.0, "decode_energy": 3.0}

        found = held(
            with_values(INTEL, {n: values[n] * f for n, f in edits.items()}), INTEL
        )

        raised = {n: values[n] * (f - 1) for n, f in edits.items()}
        move = next(m for m in found.moves if m.column == "energy_terms.pipeline")
        assert not found.unexplained
        for name, more in raised.items():
            assert move.shares[name] == pytest.approx(more / sum(raised.values()), abs=1e-3)

    def test_one_that_becomes_zero_is_set_back_too(self) -> None:
        found = held(with_values(INTEL, {"dram_energy": 0.0}), INTEL)

        assert found.moves
        assert not found.unexplained

    def test_one_that_is_gone_or_new_is_set_back(self) -> None:
        """A machine without an L3, and the same with one."""
        model = layered(INTEL)
        memories = {n: m for n, m in model.data.memories.items() if n != "l3"}
        prices = {n: c for n, c in model.data.coefficients.items() if n != "l3_energy"}
        data = attrs.evolve(model.data, memories=memories, coefficients=prices)
        without = Subject.of(type(model)(data), name=f"reference:{INTEL}")

        gone = held(without, INTEL)
        new = compare(taken(without), reference(INTEL), WORKLOADS)

        for found in (gone, new):
            assert found.moves
            assert not found.left_alone
            assert not found.unexplained

    def test_a_cluster_is_set_back_by_scales_and_knobs(self) -> None:
        two = reference("Google-TPU-v4@2xM")
        snapshot = taken(two)
        changed = attrs.evolve(snapshot.coefficients["dram_energy"], value=1e-10)
        slower = {"clock": 0.5 * two.machine.clock} if two.machine.clock else {}
        before = attrs.evolve(
            snapshot,
            coefficients=snapshot.coefficients | {"dram_energy": changed},
            figures=snapshot.figures | slower,
        )

        found = compare(before, two, WORKLOADS)

        assert {"dram_energy", "clock"} <= {change.name for change in found.changes}
        assert "dram_energy" not in found.left_alone

    def test_one_that_moves_less_than_the_tolerance_moves_nothing(self) -> None:
        value = load_model(INTEL).coefficients["dram_energy"].value

        found = held(with_values(INTEL, {"dram_energy": value * 1.009}), INTEL)

        assert found.changes
        assert not found.moves


class TestMachineData:
    """Moves that the data of a machine explain."""

    @pytest.mark.parametrize(
        ("machine", "figure", "value"),
        [
            (INTEL, "clock", 1.8e9),
            (INTEL, "memories__l3__capacity", 1 << 20),
            (INTEL, "memories__dram__bandwidth", 2e10),
            (INTEL, "geometry__simd_bytes", 64),
            ("H100-SXM5-80GB", "units", 66),
            ("H100-SXM5-80GB", "launch", 1e-3),
            ("Google-TPU-v4", "geometry__array_side", 64),
            (HAILO, "memories__local__capacity", 1 << 20),
        ],
    )
    def test_a_figure_explains_what_it_moves(
        self, machine: str, figure: str, value: float
    ) -> None:
        name = figure.replace("__", ".")

        found = held(with_data(machine, **{figure: value}), machine)

        assert [change.name for change in found.changes] == [name]
        assert found.moves
        assert not found.unexplained
        assert all(m.shares[name] == pytest.approx(1.0, abs=1e-3) for m in found.moves)

    def test_each_of_two_figures_is_given_its_share(self) -> None:
        found = held(with_data(INTEL, clock=1.8e9, memories__dram__bandwidth=2e10), INTEL)

        shares = {m.column: m.shares for m in found.moves}
        assert not found.unexplained
        assert [*shares["latency_terms.compute"]] == ["clock"]
        assert [*shares["latency_terms.dram"]] == ["memories.dram.bandwidth"]

    def test_a_precision_that_is_gone_with_its_engine_is_explained(self) -> None:
        model = layered(INTEL)
        engines = [e for e in model.data.engines if e.precision is not Precision.INT8]
        peak = {p: v for p, v in model.data.peak.items() if p is not Precision.INT8}
        data = attrs.evolve(model.data, engines=tuple(engines), peak=peak)

        found = held(Subject.of(type(model)(data), name=f"reference:{INTEL}"), INTEL)

        assert found.moves
        assert all(np.isnan(move.after) for move in found.moves)
        assert not found.unexplained


class TestFormulas:
    """Moves that nothing explains."""

    FAULTS = (
        (INTEL, "hidden-constant"),
        ("H100-SXM5-80GB", "roofline-minimum"),
        ("Google-TPU-v4", "dear-int8"),
        ("Stillwater-KPU-T256", "flipped-sign"),
        (HAILO, "wrapped-rows"),
        ("Stanford-Plasticine-v2", "compute-only-roofline"),
        ("Stillwater-DFM-128", "misplaced-layer"),
    )

    @pytest.mark.parametrize(("machine", "fault"), FAULTS)
    def test_a_formula_edit_is_flagged(self, machine: str, fault: str) -> None:
        faulty = inject(reference(machine), fault_named(fault))

        found = held(faulty, machine)

        assert found.moves
        assert found.unexplained == found.moves

    @pytest.mark.parametrize(("machine", "fault"), FAULTS)
    def test_it_is_flagged_beside_an_edit_of_a_coefficient(
        self, machine: str, fault: str
    ) -> None:
        value = load_model(machine).coefficients["static_power"].value
        faulty = inject(
            with_values(machine, {"static_power": 2 * value}), fault_named(fault)
        )
        alone = held(inject(reference(machine), fault_named(fault)), machine)

        found = held(faulty, machine)

        where = {(move.row, move.column) for move in alone.unexplained}
        assert {(move.row, move.column) for move in found.unexplained} == where

    def test_one_that_a_coefficient_hides_is_flagged(self) -> None:
        """INT8 becomes eight times as dear, and every price an eighth."""
        values = {n: c.value / 8 for n, c in load_model(HAILO).coefficients.items()}
        dear = inject(with_values(HAILO, values), fault_named("dear-int8"))

        found = held(dear, HAILO)

        energies = [m for m in found.moves if m.column == "energy"]
        assert all(move.relative == pytest.approx(0, abs=1e-5) for move in energies)
        assert energies
        assert not any(move.explained for move in energies)


class Clocked:
    """An operation takes a cycle, and the peak of the machine follows its clock."""

    name = "clocked"
    precisions = (Precision.FP32,)

    def __init__(self, clock: float, cycles: float = 1.0) -> None:
        self.clock, self.cycles = clock, cycles
        self.machine = Machine(name="clocked", clock=clock, peak={Precision.FP32: clock})
        self.knobs = {"clock": Knob(KnobKind.RATE)}

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        del scale
        return Estimate(latency=self.cycles * case.ops / self.clock)

    def derive(self, factors: Mapping[str, float]) -> Clocked:
        return Clocked(self.clock * factors["clock"], self.cycles)


class TestOwnModels:
    """Models of which no other machine can be built."""

    @staticmethod
    def model(dram: float, *, factor: float = 1.0) -> Subject:
        def answer(case: Case, scale: Mapping[str, float]) -> Estimate:
            terms = {
                "alu": 1e-12 * case.macs * scale.get("mac", 1.0),
                "dram": factor * dram * case.bytes * scale.get("dram", 1.0),
            }
            return Estimate(energy=sum(terms.values()), energy_terms=terms)

        declared = {
            "mac": Coefficient("mac", 1e-12, "J/MAC"),
            "dram": Coefficient("dram", dram, "J/B"),
        }
        return Subject.of(Tiny(answer, coefficients=declared))

    def compared(self, model: Subject) -> Comparison:
        return compare(taken(self.model(20e-12)), model, WORKLOADS)

    def test_an_edit_of_a_coefficient_is_set_back_by_its_scale(self) -> None:
        found = self.compared(self.model(17.6e-12))

        dram = [m for m in found.moves if m.column == "energy_terms.dram"]
        assert not found.unexplained
        assert all(m.relative == pytest.approx(-0.12, abs=1e-5) for m in dram)
        assert all(m.shares == {"dram": pytest.approx(1.0, abs=1e-3)} for m in dram)

    def test_a_formula_edit_is_flagged(self) -> None:
        assert self.compared(self.model(20e-12, factor=1.1)).unexplained

    def test_a_figure_that_has_a_knob_is_turned_back(self) -> None:
        found = self.compared_clocks(2e9, 1e9)

        assert [change.name for change in found.changes] == ["clock", "peak.FP32"]
        assert found.moves
        assert not found.left_alone
        assert not found.unexplained
        assert all([*move.shares] == ["clock"] for move in found.moves)

    def test_a_formula_edit_beside_it_is_flagged(self) -> None:
        assert self.compared_clocks(2e9, 1e9, cycles=1.2).unexplained

    @staticmethod
    def compared_clocks(before: float, after: float, *, cycles: float = 1.0) -> Comparison:
        snapshot = taken(Subject.of(Clocked(before)))
        return compare(snapshot, Subject.of(Clocked(after, cycles)), WORKLOADS)

    def test_a_coefficient_that_is_zero_now_cannot_be_set_back(self) -> None:
        found = self.compared(self.model(0.0))

        assert found.left_alone == ("dram",)
        assert not found.unexplained


class TestCommand:
    """The command line."""

    @staticmethod
    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["snapshot", *arguments])

    @pytest.fixture
    def folder(self, tmp_path: Path) -> str:
        models = ("reference:Hailo-8", f"reference:{INTEL}")
        done = self.run("record", *models, "--folder", str(tmp_path), "--random", "2")
        assert done.exit_code == 0, done.output
        assert "2 written" in done.output
        return str(tmp_path)

    def test_what_stays_passes(self, folder: str) -> None:
        done = self.run("check", "--folder", folder)

        assert done.exit_code == 0
        assert "as they were: 2 of the models" in done.output

    def test_a_fault_fails(self, folder: str) -> None:
        arguments = ("--folder", folder, "--inject", "hidden-constant")
        done = self.run("check", "reference:Hailo-8", *arguments)

        assert done.exit_code == 1
        assert "alu energy" in done.output
        assert "UNEXPLAINED" in done.output
        assert INTEL not in done.output

    def test_an_explained_move_is_told_and_passes(self, folder: str) -> None:
        """The snapshot is that of a machine whose DRAM takes less."""
        value = load_model(INTEL).coefficients["dram_energy"].value
        before = with_values(INTEL, {"dram_energy": value / 0.88})
        workloads = SnapshotFolder(Path(folder)).workloads()
        snapshot = snapshot_of(before, cases_of(before, workloads))
        SnapshotFolder(Path(folder)).write([snapshot], workloads)

        done = self.run("check", "--folder", folder)
        every = self.run("explain", "--folder", folder, "--output-format", "json")

        assert done.exit_code == 0
        flat = " ".join(done.output.split())
        assert "dram energy -12 %: dram_energy" in flat
        assert "explains 100 % of it" in flat
        moves = json.loads(every.output)["models"][1]["moves"]
        assert {m["output"] for m in moves} >= {"energy", "energy_terms.dram"}
        assert all(move["explained"] for move in moves)

    def test_a_model_without_a_snapshot_is_told(self, folder: str) -> None:
        both = ("reference:Google-TPU-v4", "reference:Hailo-8")
        done = self.run("check", *both, "--folder", folder)

        assert done.exit_code == 0
        assert "without a snapshot: reference:Google-TPU-v4" in done.output

    def test_a_check_of_nothing_does_not_pass(self, folder: str) -> None:
        done = self.run("check", "reference:Google-TPU-v4", "--folder", folder)

        assert isinstance(done.exception, InvalidSnapshot)
        assert "nothing to hold" in str(done.exception)

    @pytest.mark.parametrize("tolerance", ["nan", "inf", "1e-7", "0"])
    def test_a_tolerance_is_a_number_that_six_digits_can_tell(
        self, folder: str, tolerance: str
    ) -> None:
        done = self.run("check", "--folder", folder, "--tolerance", tolerance)

        assert done.exit_code == 2

    @pytest.mark.parametrize("command", ["record", "check"])
    def test_a_model_without_an_answer_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
    ) -> None:
        def chosen(_: object) -> list[Subject]:
            return [Subject.of(Tiny(lambda _: Estimate(energy=math.nan)), name="own:Tiny")]

        seen = Subject.of(Tiny(lambda _: Estimate(energy=1.0)), name="own:Tiny")
        SnapshotFolder(tmp_path).write([taken(seen)], WORKLOADS)
        monkeypatch.setattr("joulecheck.cli.options.models_named", chosen)
        options = ("--folder", str(tmp_path), *(["--random", "8"] * (command == "record")))

        done = self.run(command, "own:Tiny", *options)

        assert done.exit_code == 1
        told = str(done.exception) + done.output
        assert "answers none of" in told or "UNEXPLAINED" in told

    def test_what_a_model_leaves_out_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def answer(case: Case) -> Estimate:
            if case.ops > 1000:
                raise ArithmeticError
            return Estimate(energy=1.0)

        model = Subject.of(Tiny(answer), name="own:Tiny")
        monkeypatch.setattr("joulecheck.cli.options.models_named", lambda _: [model])

        done = self.run("record", "own:Tiny", "--folder", str(tmp_path))

        assert done.exit_code == 0
        assert "without an answer, left out" in done.output

    def test_a_model_that_is_gone_is_told(self, folder: str) -> None:
        file = Path(folder) / file_name("reference:Hailo-8")
        file.write_text(file.read_text().replace("reference:Hailo-8", "reference:Hailo-7"))

        done = self.run("check", "--folder", folder)

        assert done.exit_code == 0
        assert "no such model any more" in done.output

    def test_a_new_workload_is_told(self, folder: str) -> None:
        file = Path(folder) / "workloads.json"
        file.write_text(file.read_text().replace("standard layer 3", "standard layer 9"))
        for name in (HAILO, INTEL):
            rows = Path(folder) / file_name(f"reference:{name}")
            rows.write_text(
                rows.read_text().replace("standard layer 3", "standard layer 9")
            )

        done = self.run("check", "--folder", folder)

        assert done.exit_code == 0
        assert "new or changed workloads" in done.output
        assert "named no more: standard layer 9" in " ".join(done.output.split())


def test_a_workload_that_a_model_refuses_is_left_out() -> None:
    def answer(case: Case) -> Estimate:
        if not isinstance(case.workload, Gemm):
            msg = "GEMMs only"
            raise Unsupported(msg)
        return Estimate(energy=1e-12 * case.ops)

    found = taken(Subject.of(Tiny(answer)))

    assert found.rows
    asked = cases_named(found.rows, WORKLOADS).values()
    assert all(isinstance(case.workload, Gemm) for case in asked)


def test_the_committed_snapshots_are_those_of_the_models() -> None:
    """Where this fails, either a formula changed by mistake, or `record` is due."""
    folder = SnapshotFolder(Path(__file__).parent.parent / "snapshots")
    workloads, snapshots = folder.workloads(), folder.read()

    assert [one.model for one in snapshots] == sorted(REPRESENTATIVES)
    for snapshot in snapshots:
        found = compare(snapshot, registered(*snapshot.model.split(":")), workloads)
        assert not found.changes
        assert not found.moves

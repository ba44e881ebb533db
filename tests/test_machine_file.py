from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest

from joulecheck.coefficient import Provenance
from joulecheck.errors import InvalidMachine, UnknownName
from joulecheck.reference import CLASSES, MACHINES, MODELS, build_model, load_model
from joulecheck.reference.machine_file import MachineFile, load_machine, parse_machine
from joulecheck.reference.stored_program import LEVELS
from joulecheck.workload import Precision

I7 = "Intel-i7-12700K"


def text_of(name: str) -> str:
    source = files("joulecheck.reference").joinpath("machines", f"{name}.toml")
    return source.read_text(encoding="utf-8")


def changed(before: str, after: str) -> str:
    """The text of a machine file with one passage changed."""
    text = text_of(I7)
    assert text.count(before) == 1, before
    return text.replace(before, after)


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> MachineFile:
    return load_machine(request.param)


class TestShippedFiles:
    """What comes with the package."""

    def test_every_file_is_a_machine_and_every_machine_a_file(self) -> None:
        folder = files("joulecheck.reference").joinpath("machines")
        names = sorted(Path(entry.name).stem for entry in folder.iterdir())

        assert names == sorted(MACHINES)
        assert sorted(MODELS) == names

    def test_is_named_like_its_file(self, machine: MachineFile) -> None:
        assert machine.name in MACHINES
        assert machine.machine.name == machine.name

    def test_has_a_model_of_its_architecture(self, machine: MachineFile) -> None:
        model = load_model(machine.name)

        assert type(model) is CLASSES[machine.architecture].runs
        assert model.coefficients.keys() == machine.coefficients.keys()

    def test_has_a_source_for_every_coefficient(self, machine: MachineFile) -> None:
        bare = [
            name for name, row in machine.coefficients.items() if not row.source.strip()
        ]

        assert bare == []

    def test_has_a_source_for_every_engine(self, machine: MachineFile) -> None:
        assert all(engine.source.strip() for engine in machine.engines)

    def test_has_a_source_for_every_tile(self, machine: MachineFile) -> None:
        assert all(tile.source.strip() for tile in machine.tiles)

    def test_has_a_source_for_every_figure(self, machine: MachineFile) -> None:
        figures = {"process_nm", "units", "clock", "idle_power", "launch", "geometry"}
        figures |= {"memories", "tdp"}
        if not machine.engines:  # they have sources, and the peaks follow from them
            figures |= {"peak"}
        if machine.vector:
            figures |= {"vector"}
        missing = sorted(f for f in figures if not machine.sources.get(f, "").strip())

        assert missing == []

    def test_figures_are_positive(self, machine: MachineFile) -> None:
        figures = {
            "units": machine.units,
            "clock": machine.clock,
            "process_nm": machine.process_nm,
            "idle_power": machine.idle_power,
            "launch": machine.launch,
            **{p.name: peak for p, peak in machine.peak.items()},
            **{n: row.value for n, row in machine.coefficients.items()},
            **{f"{n} bandwidth": m.bandwidth or 1 for n, m in machine.memories.items()},
        }

        assert {name: value for name, value in figures.items() if value <= 0} == {}

    def test_energy_is_in_si_units(self, machine: MachineFile) -> None:
        units = {row.unit for row in machine.coefficients.values()}

        events = {
            "J/instruction", "J/arrival", "J/branch", "J/request", "J/sector",
            "J/barrier", "J/lookup", "J/cycle",
        }  # fmt: skip

        assert units <= {"J/MAC", "J/op", "J/B", "W"} | events

    def test_idle_is_below_thermal_design_power(self, machine: MachineFile) -> None:
        assert machine.tdp is None or machine.idle_power < machine.tdp

    def test_static_power_is_the_idle_power(self, machine: MachineFile) -> None:
        assert machine.coefficients["static_power"].value == machine.idle_power

    def test_every_operand_has_one_home(self, machine: MachineFile) -> None:
        homes = [operand for m in machine.memories.values() for operand in m.homes]

        assert sorted(homes) == ["input", "output", "weight"]

    def test_each_precision_has_energies_for_its_operations(
        self, machine: MachineFile
    ) -> None:
        names = {
            f"{stem}.{precision.name}"
            for stem in ("mac_energy", "op_energy")
            for precision in machine.peak
        }

        assert {n for n in machine.coefficients if "." in n} == names

    def test_systolic_peaks_follow_from_the_arrays(self, machine: MachineFile) -> None:
        if machine.architecture != "SYSTOLIC_ARRAY":
            return
        macs = machine.units * machine.geometry["array_side"] ** 2
        derived = 2 * macs * machine.clock
        rates = {p: peak / derived for p, peak in machine.peak.items()}
        steps = {p: 2.0 ** round(math.log2(rate)) for p, rate in rates.items()}

        assert rates == pytest.approx(steps, rel=0.02)
        assert 1.0 in steps.values()

    def test_stored_program_levels_are_nested(self, machine: MachineFile) -> None:
        if machine.architecture != "STORED_PROGRAM":
            return
        levels = [level for level in LEVELS if level in machine.memories]
        outside = [n for n, memory in machine.memories.items() if memory.homes]

        assert list(machine.memories) == levels
        assert levels[0] == "l1"
        assert outside == ["dram"]
        assert machine.peak.keys() == {e.precision for e in machine.engines}

    def test_loading_again_gives_the_same_object(self, machine: MachineFile) -> None:
        assert load_machine(machine.name) is machine


class TestParse:
    """Files that break a rule are refused by name."""

    def test_takes_what_it_ships(self) -> None:
        found = parse_machine(text_of(I7), I7)

        assert found == load_machine(I7)
        assert found.peak[Precision.FP32] == 9.216e11
        assert found.coefficients["static_power"].provenance is Provenance.UNKNOWN

    @pytest.mark.parametrize(
        ("before", "after", "named"),
        [
            ("FP32 = 9.216e11", "FP32 = 9.9e11", r"peak FP32 must be .* 9\.216e\+11 op/s"),
            ("launch = 2e-06", "lunch = 2e-06", r"extra fields found \(lunch\)"),
            ("launch = 2e-06", "", r"required field missing @ \$\.launch"),
            ("format = 1\n", "format = 2\n", "format must be 1, got 2"),
            ("format = 1\n", 'format = 2\ncolour = "red"\n', "format must be 1, got 2"),
            ("format = 1\n", "", "format must be 1, got None"),
            ("units = 8", 'units = "many"', r"must be a whole number, got 'many' .*units"),
            ("units = 8", "units = 8.5", "must be a whole number, got 8.5"),
            ("clock = 3600000000", 'clock = "fast"', "must be a number, got 'fast'"),
            ("FP32 = 9.216e11", "FP33 = 9.216e11", "no Precision is called 'FP33'"),
            ("[geometry]", "[geometry", "machine file i7"),
            ("quanta = [4,", 'quanta = ["4",', "must be a whole number, got '4'"),
        ],
        ids=[
            "peak mismatch",
            "unknown key",
            "missing key",
            "format",
            "format before its keys",
            "no format",
            "text for an int",
            "fraction for an int",
            "text for a number",
            "precision",
            "syntax",
            "within a list",
        ],
    )
    def test_says_what_is_wrong(self, before: str, after: str, named: str) -> None:
        with pytest.raises(InvalidMachine, match=named) as caught:
            parse_machine(changed(before, after), "i7")

        assert str(caught.value).startswith("machine file ")

    @pytest.mark.parametrize("name", ["Google-TPU-v2", "../ranking", ""])
    def test_an_unknown_machine_gets_a_suggestion(self, name: str) -> None:
        with pytest.raises(UnknownName, match=r"(did you mean|known: )"):
            load_machine(name)

    def test_a_coefficient_without_a_source_is_refused(self) -> None:
        text = text_of(I7)
        source = next(line for line in text.splitlines() if line.startswith("source = "))

        with pytest.raises(InvalidMachine, match=r"required field missing @ .*source"):
            parse_machine(text.replace(source + "\n", "", 1), I7)

    def test_an_unknown_provenance_is_refused(self) -> None:
        text = text_of(I7).replace('"INTERPOLATED"', '"GUESSED"', 1)

        with pytest.raises(InvalidMachine, match="GUESSED"):
            parse_machine(text, I7)

    def test_an_unknown_class_gets_a_suggestion(self) -> None:
        found = parse_machine(changed("STORED_PROGRAM", "STORED_PROGRAMME"), I7)

        with pytest.raises(InvalidMachine, match="did you mean STORED_PROGRAM"):
            build_model(found)

    def test_peaks_may_be_off_by_two_percent(self) -> None:
        found = parse_machine(changed("FP32 = 9.216e11", "FP32 = 9.3e11"), I7)

        assert found.peak[Precision.FP32] == 9.3e11

    def test_an_engine_of_some_units_counts_in_those_only(self) -> None:
        name = "Stillwater-KPU-T64"
        text = text_of(name)
        found = {engine.precision: engine.units for engine in load_machine(name).engines}

        assert found[Precision.FP32] == 13
        assert found[Precision.INT8] is None
        with pytest.raises(InvalidMachine, match="peak FP32 must be"):
            parse_machine(text.replace("units = 13\n", ""), name)


class TestOperatingPoints:
    """A machine at another clock and power."""

    ORIN: Final = "Jetson-Orin-AGX-CPU"

    def test_peaks_go_with_the_clock_and_the_units(self) -> None:
        full, low = load_machine(self.ORIN), load_machine(f"{self.ORIN}@30W")
        rate = 8 * 1.728e9 / (12 * 2.2016e9)

        assert (low.name, low.units, low.clock) == (f"{self.ORIN}@30W", 8, 1.728e9)
        assert low.peak == pytest.approx({p: x * rate for p, x in full.peak.items()})

    def test_memories_outside_the_chip_keep_their_own_rate(self) -> None:
        full, low = load_machine(self.ORIN), load_machine(f"{self.ORIN}@15W")
        rates = {
            name: (memory.bandwidth or 0) / (full.memories[name].bandwidth or 1)
            for name, memory in low.memories.items()
        }
        near = 4 * 1.1136e9 / (12 * 2.2016e9)

        assert rates == pytest.approx({"l1": near, "l2": near, "l3": near, "dram": 0.6666})

    def test_a_memory_without_a_rate_stays_without(self) -> None:
        low = load_machine("Google-TPU-Edge-Pro@15W")

        assert low.memories["staging"].bandwidth is None
        assert low.tdp == 15

    def test_every_point_is_a_model_that_meets_its_engines(
        self, machine: MachineFile
    ) -> None:
        for name, point in machine.operating_points.items():
            model = load_model(f"{machine.name}@{name}")
            rate = model.data.units * point.clock / (machine.units * machine.clock)

            assert point.source.strip()
            assert model.name == f"{machine.name}@{name}"
            assert model.data.peak == pytest.approx(
                {p: peak * rate for p, peak in machine.peak.items()}
            )

    def test_an_unknown_point_names_those_that_exist(self) -> None:
        with pytest.raises(UnknownName, match=r"no operating point '30w': it has .*30W"):
            load_machine(f"{self.ORIN}@30w")

    def test_the_family_knows_them_without_listing_them(self) -> None:
        point = f"{self.ORIN}@30W"

        assert point in MODELS
        assert point in MODELS.variants()
        assert point not in list(MODELS)
        assert MODELS[point]().name == point
        assert f"{self.ORIN}@31W" not in MODELS
        assert "Apple-M1@30W" not in MODELS


class TestMachine:
    """What the harness knows of a machine."""

    def test_constants_are_capacities_quanta_and_units(self) -> None:
        machine = load_machine("Google-TPU-v1").machine

        assert machine.constants == (
            1,
            256,
            4096,
            262_144,
            4_194_304,
            25_165_824,
            8_589_934_592,
        )

    def test_a_figure_that_is_not_known_is_absent(self) -> None:
        machine = load_machine("Google-TPU-v4").machine

        assert machine.tdp is None
        assert load_machine("Google-TPU-v1").memories["host"].capacity is None

    def test_coefficients_say_what_they_move(self, machine: MachineFile) -> None:
        model = load_model(machine.name)
        moved: Mapping[str, Any] = {n: c.terms for n, c in model.coefficients.items()}

        assert all(terms and terms <= model.layers.keys() for terms in moved.values())

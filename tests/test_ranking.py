"""The ranking: shared technology, what holds, what does not, and what would flip it."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from joulecheck.case import Case, Cases
from joulecheck.cli import main
from joulecheck.cli.rank import _change
from joulecheck.coefficient import Layer
from joulecheck.errors import UnknownName
from joulecheck.quantities import OPS_PER_MAC, KiB, MiB
from joulecheck.reference import ranking
from joulecheck.reference.archetypes import (
    ACCUMULATOR_BYTES,
    ARRAY_SIDE,
    RANKED,
    archetype,
    archetype_names,
    device_share,
    parameters_of,
    sram_read,
    technology,
)
from joulecheck.reference.ranking import (
    WORKLOADS,
    at_one_point,
    at_point,
    compared,
    contributions,
    flip,
    iso_technology,
    on_chip_energy,
    report,
)
from joulecheck.workload import Gemm, Precision

PAGE: Final = Path(__file__).parent.parent / "docs" / "reference" / "ranking.md"
LARGE: Final = Case(Gemm(4096, 4096, 4096), Precision.INT8)
BY_NAME: Final = {named.name: named for named in WORKLOADS}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return report()


def link(statement: dict[str, Any], better: str, worse: str) -> dict[str, Any]:
    links = [*statement["links"], *statement.get("beside", [])]
    return next(x for x in links if (x["better"], x["worse"]) == (better, worse))


@pytest.mark.parametrize("name", archetype_names())
class TestSharedTechnology:
    def test_node_clock_and_rate_are_common(self, name: str) -> None:
        machine = archetype(name).built.machine

        assert machine.process_nm == technology().process_nm
        assert machine.clock == technology().clock
        assert machine.peak == {Precision.INT8: technology().peak}

    def test_macs_a_clock_are_common(self, name: str) -> None:
        data = archetype(name).built.data
        array = data.units * data.geometry.get("array_side", 0) ** 2
        engines = sum(data.units * engine.macs_per_clock for engine in data.engines)

        assert array + engines == technology().macs_per_clock
        assert data.peak[Precision.INT8] == OPS_PER_MAC * (array + engines) * data.clock

    def test_capacities_are_common(self, name: str) -> None:
        chosen = archetype(name)
        near_name, near = chosen.structure.near
        private = chosen.structure.units if near_name in {"l1", "shared"} else 1
        sums = ARRAY_SIDE * ACCUMULATOR_BYTES if near_name == "buffer" else 0
        memories = chosen.built.data.memories

        assert private * near + sums == technology().near_bytes
        assert memories[chosen.structure.far].capacity == technology().far_bytes
        assert memories["dram"].capacity == technology().dram_bytes

    @pytest.mark.parametrize("price", ["mac_energy.INT8", "op_energy.INT8", "static_power"])
    def test_operation_tables_are_common(self, name: str, price: str) -> None:
        first = archetype(RANKED[0]).built.coefficients[price]

        assert archetype(name).built.coefficients[price].value == first.value

    def test_dram_is_common(self, name: str) -> None:
        chosen, nominal = archetype(name), technology().nominal
        stated = chosen.built.coefficients["dram_energy"].value

        share = float(np.asarray(device_share(chosen, nominal)))

        assert share * stated == pytest.approx(nominal["dram"])

    def test_large_gemms_keep_the_arithmetic_busy(self, name: str) -> None:
        used = float(np.asarray(archetype(name).built.estimate(LARGE).utilisation))

        assert 0.95 < used <= 1

    def test_every_price_has_a_source(self, name: str) -> None:
        rows = archetype(name).built.data.coefficients

        assert all(row.source for row in rows.values())
        assert set(archetype(name).built.coefficients) == set(archetype(name).prices)

    def test_on_chip_energy_knows_neither_dram_nor_static_power(self, name: str) -> None:
        chosen, nominal = archetype(name), technology().nominal
        cases = Cases.of([LARGE])
        plain = on_chip_energy(chosen, cases, nominal)

        dearer = on_chip_energy(chosen, cases, {**nominal, "dram": 2 * nominal["dram"]})
        whole = chosen.built.estimate(LARGE)

        assert dearer == pytest.approx(plain)
        below = float(np.asarray(whole.through[Layer.ON_CHIP]))
        assert below <= float(plain[0]) * (1 + 1e-12)
        assert float(plain[0]) < float(np.asarray(whole.through[Layer.DRAM]))

    def test_scales_reproduce_another_technology(self, name: str) -> None:
        chosen = archetype(name)
        other = technology().drawn(np.random.default_rng(7), 1)

        scales = chosen.scales(other)

        for price, factor in scales.items():
            value = chosen.built.coefficients[price].value * float(factor[0])
            assert value == pytest.approx(float(np.ravel(chosen.prices[price](other))[0]))


class TestTechnology:
    @pytest.mark.parametrize(
        ("size", "row"), [(8 * KiB, "sram_8k"), (32 * KiB, "sram_32k"), (MiB, "sram_1m")]
    )
    def test_sram_meets_its_table(self, size: int, row: str) -> None:
        nominal = technology().nominal

        assert sram_read(nominal, size) == pytest.approx(float(nominal[row]) / 8)

    def test_larger_srams_cost_more_in_every_draw(self) -> None:
        drawn = technology().drawn(np.random.default_rng(1), 500)
        prices = [sram_read(drawn, 2**power) for power in range(10, 22)]

        assert all(np.all(small < large) for small, large in pairwise(prices))

    def test_draws_stay_in_their_ranges_and_fill_them(self) -> None:
        known = technology()
        drawn = known.drawn(np.random.default_rng(1), 2000)

        for name, parameter in known.parameters.items():
            low, high = sorted(parameter.range)
            values = np.asarray(drawn[name])
            assert low * (1 - 1e-9) <= values.min() <= values.max() <= high * (1 + 1e-9)
            middle = np.sqrt(low * high)
            assert abs((values < middle).mean() - 0.5) < 0.05 or low == high

    def test_every_parameter_is_used_and_has_a_source(self) -> None:
        used = {name for one in archetype_names() for name in archetype(one).parameters}

        assert used == set(technology().parameters)
        assert all(parameter.source for parameter in technology().parameters.values())

    def test_a_price_knows_its_parameters(self) -> None:
        price = archetype("GPU").prices["shared_energy"]

        assert set(parameters_of(price)) == {"sram_8k", "sram_32k", "crossbar", "wire"}

    def test_an_unknown_archetype_is_refused(self) -> None:
        with pytest.raises(UnknownName, match="did you mean TPU"):
            archetype("TPUs")


class TestIsoTechnology:
    def test_it_covers_three_types_and_three_links(self, found: dict[str, Any]) -> None:
        statement = found["RNK001"]

        assert {row["type"] for row in statement["workloads"]} == {
            "GEMM",
            "convolution",
            "attention",
        }
        pairs = [(one["better"], one["worse"]) for one in statement["links"]]
        assert pairs == list(pairwise(RANKED))

    def test_the_terms_sum_to_the_energy(self, found: dict[str, Any]) -> None:
        for row in found["RNK001"]["workloads"]:
            for name, energy in row["energy"].items():
                assert sum(row["terms"][name].values()) == pytest.approx(energy)

    @pytest.mark.parametrize(
        "workload",
        ["GEMM 1024^3", "GEMM 4096^3", "conv 3x3 256-256 @14", "head 2048 x 128"],
    )
    def test_the_whole_order_holds_at_nominal_values(
        self, found: dict[str, Any], workload: str
    ) -> None:
        rows = found["RNK001"]["order"]["workloads"]

        assert next(row for row in rows if row["workload"] == workload)["holds"]

    def test_a_simd_core_needs_most_in_every_draw(self, found: dict[str, Any]) -> None:
        last = link(found["RNK001"], "GPU", "CPU")

        assert last["holds"] == last["of"]
        assert last["probability_all"] == 1
        assert not last["assumed"]

    def test_links_of_the_domain_flow_class_are_assumed(
        self, found: dict[str, Any]
    ) -> None:
        for pair in (("TPU", "KPU"), ("KPU", "GPU")):
            one = link(found["RNK001"], *pair)
            assert one["assumed"]
            assert "no domain-flow silicon is measured in public" in one["because"]

    def test_failures_are_reported(self, found: dict[str, Any]) -> None:
        """A few channels fill half of a fixed array, and nothing hides it."""
        rows = link(found["RNK001"], "TPU", "KPU")["workloads"]

        stem = next(row for row in rows if row["workload"] == "conv 7x7/2 3-64 @224")

        assert not stem["holds"]
        assert stem["ratio"] < 1

    def test_probabilities_are_counts_of_draws(self) -> None:
        statement = iso_technology(draws=16)

        for one in [*statement["links"], *statement["beside"]]:
            for row in one["workloads"]:
                assert (row["probability"] * 16).is_integer()
                assert row["ratio_low"] <= row["ratio_high"]
            assert one["probability_all"] <= one["probability_least"]

    def test_the_seed_decides_the_draws(self) -> None:
        first, again, other = (iso_technology(draws=16, seed=seed) for seed in (1, 1, 2))

        assert first == again
        assert first["workloads"] == other["workloads"]
        assert first["links"] != other["links"]


MODELS: Final = {one.role: at_point(one.machine)[0] for one in compared().representatives}


class TestAtOnePoint:
    @pytest.mark.parametrize("role", MODELS)
    def test_contributions_sum_to_the_energy(self, role: str) -> None:
        shares = contributions(MODELS[role], LARGE)

        energy = float(np.asarray(MODELS[role].estimate(LARGE).energy))
        assert sum(shares.values()) == pytest.approx(energy, rel=1e-9)

    @pytest.mark.parametrize("workload", BY_NAME)
    @pytest.mark.parametrize("pair", list(pairwise(MODELS)), ids=" < ".join)
    def test_the_flip_factor_flips(self, workload: str, pair: tuple[str, str]) -> None:
        sides, case = [MODELS[role] for role in pair], BY_NAME[workload].case
        change = flip(sides[0], sides[1], case)
        assert change is not None

        def gap(factor: float) -> float:
            scale = {change.coefficient: factor}
            left, right = (
                float(
                    np.asarray(
                        model.estimate(
                            case, scale if model.name == change.machine else {}
                        ).energy
                    )
                )
                for model in sides
            )
            return (right - left) / left

        assert gap(change.factor) == pytest.approx(0, abs=1e-9)
        short, past = ((change.factor - 1) * share + 1 for share in (0.99, 1.01))
        assert gap(1.0) * gap(short) > 0 > gap(1.0) * gap(past)

    def test_no_other_coefficient_flips_with_less(self) -> None:
        left, right = MODELS["TPU"], MODELS["KPU"]
        change = flip(left, right, LARGE)
        assert change is not None
        less = 1 + (change.size - 1) * 0.99
        plain = [float(np.asarray(model.estimate(LARGE).energy)) for model in (left, right)]

        for model, other in ((left, plain[1]), (right, plain[0])):
            first = plain[0] if model is left else plain[1]
            for name in model.coefficients:
                for factor in (less, 1 / less):
                    scaled = model.estimate(LARGE, {name: factor}).energy
                    moved = float(np.asarray(scaled))
                    assert (moved < other) == (first < other)

    def test_every_representative_is_at_its_point(self) -> None:
        machines = {one["role"]: one for one in at_one_point()["machines"]}

        assert all(
            machines[role]["machine"].endswith("@30W") for role in ("TPU", "GPU", "CPU")
        )
        assert machines["KPU"]["tdp"] == 30
        assert {one["remark"] for one in machines.values()} == {""}

    def test_a_missing_point_is_said(self) -> None:
        model, remark = at_point("Google-TPU-v1")

        assert model.name == "Google-TPU-v1"
        assert remark == "its file has no point of 30 W; taken as stated, 75 W"

    def test_inferences_a_joule_are_those_a_second_and_watt(self) -> None:
        for row in at_one_point()["workloads"]:
            for one in row["inferences"].values():
                assert one["inferences_per_second_per_watt"] * one["energy"] == (
                    pytest.approx(1)
                )
                assert one["mean_power"] * one["latency"] == pytest.approx(one["energy"])

    def test_a_cpu_needs_most(self, found: dict[str, Any]) -> None:
        last = link(found["RNK002"], "GPU", "CPU")

        assert last["holds"] == last["of"] == len(WORKLOADS)


class TestLatency:
    def test_counts_and_exceptions_agree(self, found: dict[str, Any]) -> None:
        for part in (
            found["RNK003"]["data_centre_beats_edge"],
            found["RNK003"]["systolic_array_beats_stored_program"],
        ):
            assert part["of"] - part["holds"] == len(part["exceptions"])
            assert sum(row["of"] for row in part["by"]) == part["of"]
            assert all(row["ratio"] <= 1 for row in part["exceptions"])

    def test_no_machine_is_in_two_tiers(self) -> None:
        members = [name for tier in compared().tiers.values() for name in tier]

        assert len(members) == len(set(members))

    def test_the_newest_systolic_array_beats_every_server(
        self, found: dict[str, Any]
    ) -> None:
        rows = found["RNK003"]["systolic_array_beats_stored_program"]["by"]

        newest = next(row for row in rows if row["faster"] == "Google-TPU-v5p")
        assert newest["holds"] == newest["of"] > 0


class TestDisagreements:
    def test_public_figures_contradict_the_link(self, found: dict[str, Any]) -> None:
        for one in found["RNK004"]["known"]:
            assert one["source"]
            published = one["published"]
            if published["better"] is not None:
                assert published["better"] > published["worse"]


class TestCommand:
    @pytest.fixture(autouse=True)
    def arguments(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
        monkeypatch.setattr(sys, "argv", ["joulecheck", "rank"])
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.chdir(tmp_path)
        return tmp_path

    def run(self, *options: str) -> None:
        sys.argv += options
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code == 0

    def test_text_has_all_statements(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.run()

        lines = capsys.readouterr().out.splitlines()
        heads = [line.split()[0] for line in lines if line.startswith("RNK")]
        assert heads == ["RNK001", "RNK002", "RNK003", "RNK004"]

    def test_json_is_the_report(self, found: dict[str, Any], arguments: Path) -> None:
        self.run("--output-format", "json", "--output-file", "rank.json")

        assert json.loads((arguments / "rank.json").read_text()) == json.loads(
            json.dumps(found)
        )

    def test_the_page_shows_what_the_command_prints(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The archetypes' part: it depends on no machine file."""
        self.run()

        shown = capsys.readouterr().out.partition("RNK002")[0]
        page = {line.rstrip() for line in PAGE.read_text(encoding="utf-8").splitlines()}
        assert [
            line for line in map(str.rstrip, shown.splitlines()) if line not in page
        ] == []

    def test_a_link_that_nothing_flips_is_said(self) -> None:
        assert _change(None) == "none: no single coefficient can"


def test_the_module_and_its_data_state_their_formats() -> None:
    assert ranking.FORMAT == compared().format == technology().format == 1

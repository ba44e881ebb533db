"""The four spatial classes: what is particular to each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import attrs
import numpy as np
import pytest

from joulecheck.campaign.search import checks_in
from joulecheck.case import Case, Cases
from joulecheck.coefficient import Provenance
from joulecheck.estimate import Answers
from joulecheck.model import Subject
from joulecheck.property import property_named
from joulecheck.reference import (
    AdaptiveDatapathEnergyModel,
    DataFlowMachineEnergyModel,
    DomainFlowEnergyModel,
    KPUTileEnergyAdapter,
    KPUTileEnergyModel,
    SpatialPartitionEnergyModel,
    load_model,
)
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.machine_file import load_machine
from joulecheck.reference.spatial import Engines, SpatialModel, cut, served
from joulecheck.testing import applicable
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Node,
    Precision,
    Subgraph,
)
from joulecheck.workload.columns import operator_columns
from joulecheck_strategies import workloads

KPUS: Final = tuple(f"Stillwater-KPU-T{tiles}" for tiles in (64, 128, 256, 768))
PARTITIONED: Final = ("Hailo-8", "Hailo-10H")
ADAPTIVE: Final = ("Xilinx-Vitis-AI-DPU", "Stanford-Plasticine-v2")
DFM: Final = "Stillwater-DFM-128"

SEAMLESS: Final = Subject.of(DomainFlowEnergyModel(load_machine(KPUS[0])))

each_kpu = pytest.mark.parametrize("name", KPUS)

Model = TypeVar("Model", bound=LayeredModel)


def loaded(kind: type[Model], name: str) -> Model:
    model = load_model(name)
    assert isinstance(model, kind)
    return model


def asked(model: LayeredModel, *cases: Case) -> Answers:
    return Subject.of(model).ask(Cases.of(cases))


def counts(model: LayeredModel, term: str, price: str, *cases: Case) -> list[float]:
    """The events of a term with one price, from its energy."""
    joule = asked(model, *cases).energy_terms[term]
    found: list[float] = (joule / model.coefficients[price].value).tolist()
    return found


def edge_bytes(model: LayeredModel, *cases: Case) -> list[float]:
    """Bytes that cross the edge of the chip."""
    homes = [name for name, memory in model.data.memories.items() if memory.homes]
    found = [counts(model, home, f"{home}_energy", *cases) for home in homes]
    return [sum(bytes_) for bytes_ in zip(*found, strict=True)]


def engines(rows: int, columns: int, depth: int, rate: int, units: int) -> Engines:
    return Engines(*(np.array([float(x)]) for x in (rows, columns, depth, rate, units)))


class TestTiling:
    """How a GEMM is cut into tiles of an engine."""

    def test_cycles_follow_the_closed_form(self) -> None:
        ops = operator_columns([Gemm(m=40, n=100, k=70)])
        found = cut(ops, engines(16, 8, 4, 64, units=3))
        grains = -(-40 // 16) * -(-100 // 8)

        assert found.grains.tolist() == [grains]
        assert found.cycles.tolist() == [-(-grains // 3) * -(-70 // 4) * 16 * 8 * 4 / 64]

    def test_elementwise_work_has_no_tiles(self) -> None:
        found = cut(
            operator_columns([Elementwise(Function.RELU, (10,))]), engines(1, 2, 1, 2, 1)
        )

        assert [values.tolist() for values in found] == [[0]] * 5

    def test_more_units_are_no_slower(self) -> None:
        ops = operator_columns([Gemm(m=40, n=100, k=70)])
        found = [float(cut(ops, engines(16, 8, 4, 64, n)).cycles[0]) for n in range(1, 50)]

        assert found == sorted(found, reverse=True)


class TestServed:
    """The price of a byte by the level that serves it."""

    def test_is_the_sum_over_the_levels(self) -> None:
        crossing = [np.array([9.0, 5.0]), np.array([4.0, 5.0]), np.array([4.0, 0.0])]
        prices = [1.0, 10.0, 100.0]
        expected = sum(q * e for q, e in zip(crossing, prices, strict=True))

        np.testing.assert_allclose(served(crossing, prices), expected)


class TestDomainFlow:
    """Planes of PEs: seamless, and cut into tiles."""

    def test_a_result_takes_its_wavefronts_and_the_skew(self) -> None:
        tiles = KPUTileEnergyModel(engines(32, 32, 1, 1024, units=64))
        found = tiles.lay_out(operator_columns([Gemm(m=1, n=1, k=100)]))

        assert found.cycles.tolist() == [100 + 2]

    def test_a_tile_beyond_the_last_starts_another_round(self) -> None:
        tiles = KPUTileEnergyModel(engines(32, 32, 1, 1024, units=4))
        sizes = [Gemm(m=32, n=32 * n, k=50) for n in (4, 5)]
        found = [float(tiles.lay_out(operator_columns([g])).cycles[0]) for g in sizes]

        assert found == [50 + 64, 2 * 50 + 64]

    @pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT4])
    def test_square_tiles_do_not_tell_inputs_from_weights(
        self, precision: Precision
    ) -> None:
        """In half bytes too: 3 x 5 of them are eight bytes for either."""
        sizes = {"m": 3, "n": 70, "k": 5}, {"m": 70, "n": 3, "k": 5}
        model = load_model("Stillwater-KPU-T64")
        found = asked(model, *(Case(Gemm(**size), precision) for size in sizes))

        assert found.energy[0] == pytest.approx(found.energy[1], rel=1e-12, abs=0)
        assert found.latency[0] == pytest.approx(found.latency[1], rel=1e-12, abs=0)

    def test_inputs_stream_once_for_each_column_of_tiles(self) -> None:
        tiles = KPUTileEnergyModel(engines(32, 16, 1, 512, units=4))
        found = tiles.lay_out(operator_columns([Gemm(m=65, n=65, k=9)]))

        assert (found.inputs.tolist(), found.weights.tolist()) == ([5], [3])

    @each_kpu
    def test_whole_tiles_are_no_cheaper_than_a_seamless_plane(self, name: str) -> None:
        plane = Subject.of(DomainFlowEnergyModel(load_machine(name)))
        tiles = Subject.of(loaded(KPUTileEnergyAdapter, name))
        space = workloads(tiles)
        cases = space.batch(space.sample(np.random.default_rng(1), 20_000))
        seamless, cut_up = plane.ask(cases), tiles.ask(cases)

        assert np.max(seamless.latency / cut_up.latency) <= 1 + 1e-12
        assert np.max(seamless.energy / cut_up.energy) <= 1 + 1e-12

    @each_kpu
    def test_they_agree_where_tiles_leave_no_rest(self, name: str) -> None:
        model = loaded(KPUTileEnergyAdapter, name)
        plane = DomainFlowEnergyModel(model.data)
        case = Case(Gemm(m=6144, n=6144, k=6144), Precision.INT8)
        ratio = asked(model, case).latency / asked(plane, case).latency

        assert 1 <= ratio[0] <= 1.01

    @each_kpu
    def test_operands_of_four_bits_may_run_on_every_tile(self, name: str) -> None:
        model = loaded(KPUTileEnergyAdapter, name)
        conv = Conv2d(n=1, c=5000, h=1, w=1, k=5000, r=1, s=1, groups=5000)
        cases = [Case(conv, p) for p in (Precision.INT4, Precision.INT8)]
        narrow, wide = asked(model, *cases).latency_terms["plane"].tolist()

        assert narrow <= wide

    @each_kpu
    def test_every_operator_loads_a_program_into_all_tiles(self, name: str) -> None:
        model = loaded(KPUTileEnergyAdapter, name)
        cases = [Case(Gemm(m=m, n=1, k=1), Precision.INT8) for m in (1, 5000)]
        found = counts(model, "program", "program_energy", *cases)

        assert found == pytest.approx([model.data.units * 256] * 2)

    @each_kpu
    def test_no_measured_silicon_is_claimed(self, name: str) -> None:
        sources = load_machine(name).sources

        assert "no silicon has been measured" in sources["process_nm"]
        assert all("assumed" in sources[key] for key in ("units", "tdp", "geometry"))

    @pytest.mark.parametrize("name", applicable(SEAMLESS))
    def test_the_seamless_plane_keeps_every_law(self, name: str) -> None:
        law = property_named(name)
        space = law.space(SEAMLESS)
        rows = space.sample(np.random.default_rng(1), checks_in(5000, law))
        batch = space.batch(rows)

        assert np.nanmin(law.checked_margin(SEAMLESS, batch)) >= 0

    def test_the_seamless_plane_grows_and_has_no_copies(self) -> None:
        """With four times the tiles, more than four times as fast at its edge."""
        model = DomainFlowEnergyModel(load_machine(KPUS[0]))
        case = Case(Gemm(m=4096, n=4096, k=64), Precision.INT8)
        small, large = (
            asked(plane, case).latency_terms["tile"][0]
            for plane in (model, model.derive({"units": 4.0}))
        )

        assert "SCL006" not in applicable(SEAMLESS)
        assert small > 4.5 * large


class TestSpatialPartition:
    """Resident weights, contexts and the mesh."""

    @pytest.mark.parametrize("name", PARTITIONED)
    def test_weights_that_fit_take_one_context(self, name: str) -> None:
        model = loaded(SpatialPartitionEnergyModel, name)
        case = Case(Gemm(m=1, n=4096, k=4096), Precision.INT8)
        found = counts(model, "barrier", "barrier_energy", case)

        assert model.data.memories["local"].capacity == 4096 * 4096
        assert found == pytest.approx([model.data.units])

    def test_inputs_return_for_each_context(self) -> None:
        model = loaded(SpatialPartitionEnergyModel, "Hailo-8")
        fits, twice = (Case(Gemm(m=100, n=n, k=4096), Precision.INT8) for n in (4096, 8192))
        found = counts(model, "ingress", "ingress_energy", fits, twice)
        inputs, weights = 100 * 4096, 4096 * 4096

        assert found == pytest.approx([inputs + weights, 2 * inputs + 2 * weights])

    def test_inputs_return_only_for_the_weights_of_their_group(self) -> None:
        model = loaded(SpatialPartitionEnergyModel, "Hailo-8")
        sizes = {"n": 1, "h": 10, "w": 10, "r": 1, "s": 1}
        one = Case(Conv2d(c=4096, k=4096, **sizes), Precision.INT8)
        both = Case(Conv2d(c=8192, k=8192, groups=2, **sizes), Precision.INT8)
        alone, together = counts(model, "ingress", "ingress_energy", one, both)

        assert together == pytest.approx(2 * alone)

    def test_results_leave_once(self) -> None:
        model = loaded(SpatialPartitionEnergyModel, "Hailo-8")
        case = Case(Gemm(m=100, n=8192, k=4096), Precision.INT8)
        found = counts(model, "egress", "egress_energy", case)

        assert found == pytest.approx([100 * 8192])

    @pytest.mark.parametrize("name", PARTITIONED)
    def test_an_input_crosses_to_each_partition_that_needs_it(self, name: str) -> None:
        model = loaded(SpatialPartitionEnergyModel, name)
        cases = [Case(Gemm(m=1, n=n, k=64), Precision.INT8) for n in (16, 32, 16 * 64)]
        found = counts(model, "crossing", "crossing_energy", *cases)
        copies = [1, 2, 64]

        assert found == pytest.approx(
            [64 * c + n for c, n in zip(copies, (16, 32, 1024), strict=True)]
        )

    def test_a_result_travels_the_mean_distance_of_the_mesh(self) -> None:
        model = loaded(SpatialPartitionEnergyModel, "Hailo-8")
        case = Case(Gemm(m=1, n=16, k=64), Precision.INT8)
        found = counts(model, "mesh", "hop_energy", case)

        assert found == pytest.approx([64 + 16 * (8 + 8) / 3])

    def test_each_machine_has_the_edges_of_its_file(self) -> None:
        case = Case(Gemm(m=1, n=1, k=1), Precision.INT8)
        edges = {
            name: {"ingress", "egress", "dram"}
            & set(asked(load_model(name), case).energy_terms)
            for name in PARTITIONED
        }

        assert edges == {"Hailo-8": {"ingress", "egress"}, "Hailo-10H": {"dram"}}


class TestAdaptiveDatapath:
    """Configurations, and what a run bears of them."""

    @pytest.mark.parametrize("name", ADAPTIVE)
    def test_a_run_bears_its_part_whatever_it_computes(self, name: str) -> None:
        model = loaded(AdaptiveDatapathEnergyModel, name)
        (precision, *_) = model.data.peak
        cases = [Case(Gemm(m=m, n=1, k=1), precision) for m in (1, 9000)]
        geometry = model.data.geometry
        part = geometry["configuration_bytes"] / geometry["runs_per_configuration"]
        found = counts(model, "configuration", "configuration_energy", *cases)

        assert found == pytest.approx([part, part])

    @pytest.mark.parametrize("name", ADAPTIVE)
    def test_twice_the_runs_halve_it(self, name: str) -> None:
        data = load_machine(name)
        runs = 2 * data.geometry["runs_per_configuration"]
        geometry: Mapping[str, int] = {**data.geometry, "runs_per_configuration": runs}
        longer = AdaptiveDatapathEnergyModel(attrs.evolve(data, geometry=geometry))
        (precision, *_) = data.peak
        case = Case(Gemm(m=64, n=64, k=64), precision)
        once, twice = asked(AdaptiveDatapathEnergyModel(data), case), asked(longer, case)

        for terms in ("energy_terms", "latency_terms"):
            name = "configuration" if terms == "energy_terms" else "loading"
            ratio = getattr(once, terms)[name] / getattr(twice, terms)[name]
            assert ratio.tolist() == pytest.approx([2])
        assert once.latency[0] > twice.latency[0]

    @pytest.mark.parametrize("name", ADAPTIVE)
    def test_a_tile_step_is_one_of_its_engine(self, name: str) -> None:
        model = loaded(AdaptiveDatapathEnergyModel, name)
        (engine, *_) = model.data.engines
        sizes = Gemm(m=3 * engine.rows, n=5 * engine.columns, k=7 * engine.depth)
        found = counts(model, "control", "tile_energy", Case(sizes, engine.precision))

        assert found == pytest.approx([3 * 5 * 7])


class TestDataFlowMachine:
    """Tokens that meet."""

    def terms(self, *cases: Case) -> dict[str, list[float]]:
        model = loaded(DataFlowMachineEnergyModel, DFM)
        return {
            "cam": counts(model, "cam", "cam_energy", *cases),
            "queue": counts(model, "queue", "queue_energy", *cases),
        }

    @pytest.mark.parametrize(
        ("precision", "lanes"),
        [
            (Precision.FP32, 2),
            (Precision.FP16, 4),
            (Precision.INT8, 8),
            (Precision.INT4, 16),
        ],
    )
    def test_a_packed_word_is_one_instruction(
        self, precision: Precision, lanes: int
    ) -> None:
        case = Case(Gemm(m=3, n=5 * lanes, k=7), precision)
        found = self.terms(case)

        assert found["cam"] == pytest.approx([2 * 3 * 5 * 7])
        assert found["queue"] == pytest.approx([3 * (8 + 4) * 3 * 5 * 7])

    def test_matching_costs_the_match_and_the_node(self) -> None:
        model = loaded(DataFlowMachineEnergyModel, DFM)
        case = Case(Gemm(m=1, n=2, k=1), Precision.FP32)
        prices = [model.coefficients[f"{x}_energy"].value for x in ("matching", "node")]

        found = asked(model, case).energy_terms["matching"]
        assert found.tolist() == pytest.approx([sum(prices)])


@pytest.mark.parametrize("name", [*KPUS, *PARTITIONED, *ADAPTIVE, DFM])
class TestAll:
    """What holds for each of them."""

    def test_peaks_follow_from_the_engines(self, name: str) -> None:
        data = load_machine(name)
        derived: dict[Precision, float] = {}
        for e in data.engines:
            rate = 2 * (e.units or data.units) * e.macs_per_clock * data.clock
            derived[e.precision] = max(rate, derived.get(e.precision, 0))

        assert derived == pytest.approx(dict(data.peak), rel=1e-12)

    def test_what_no_source_gives_is_called_estimated(self, name: str) -> None:
        rows = load_machine(name).coefficients
        silent = [
            key
            for key, row in rows.items()
            if row.provenance is Provenance.UNKNOWN and "estimated" not in row.source
        ]

        assert silent == []

    def test_the_power_bound_is_within_an_order_of_what_a_gemm_draws(
        self, name: str
    ) -> None:
        model = load_model(name)
        assert isinstance(model, SpatialModel)
        for precision in model.data.peak:
            case = Case(Gemm(m=4096, n=4096, k=4096), precision)
            found = asked(model, case)
            power = found.energy[0] / found.latency[0]

            bound = sum(model.power(precision).values())
            assert 0.1 * bound <= power <= bound

    def test_a_convolution_of_one_pixel_is_a_gemm(self, name: str) -> None:
        model = load_model(name)
        (precision, *_) = model.data.peak
        conv = Conv2d(n=2, c=48, h=7, w=5, k=64, r=1, s=1)
        found = asked(
            model, Case(conv, precision), Case(Gemm(m=2 * 7 * 5, n=64, k=48), precision)
        )

        assert found.energy[0] == pytest.approx(found.energy[1])
        assert found.latency[0] == pytest.approx(found.latency[1])

    def test_an_intermediate_that_fits_does_not_leave_the_chip(self, name: str) -> None:
        model = load_model(name)
        (precision, *_) = model.data.peak
        one, two = Gemm(m=64, n=96, k=32), Gemm(m=64, n=16, k=96)
        chain = Subgraph([Node(one), Node(two, (0, None))])
        together, *apart = (Case(w, precision) for w in (chain, one, two))
        saved = 2 * 64 * 96 * precision.bits / 8
        fused, *single = edge_bytes(model, together, *apart)

        assert fused == pytest.approx(sum(single) - saved)

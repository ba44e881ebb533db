"""Reference machines with other figures, and the models of them."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

from joulecheck.case import Case, Cases
from joulecheck.errors import Unsupported
from joulecheck.knob import KnobKind
from joulecheck.model import Subject
from joulecheck.reference import MACHINES, load_model
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.machine_file import PEAK_TOLERANCE, MachineFile
from joulecheck.workload import Gemm, Precision
from joulecheck_strategies import workloads

FACTOR = 3.0
"""Whole, so that counts can be multiplied by it."""


@pytest.fixture(params=MACHINES)
def model(request: pytest.FixtureRequest) -> LayeredModel:
    return load_model(request.param)


def figures(data: MachineFile) -> dict[str, float]:
    """What a machine is made of, by a name for each figure."""
    memories = data.memories.items()
    return {
        "units": data.units,
        "clock": data.clock,
        "launch": data.launch,
        **{f"{n}.bandwidth": m.bandwidth for n, m in memories if m.bandwidth},
        **{f"{n}.capacity": m.capacity for n, m in memories if m.capacity},
        **{f"geometry {name}": size for name, size in data.geometry.items() if size},
        **{f"peak {p.name}": peak for p, peak in data.peak.items()},
        **{f"engine {i}": e.units for i, e in enumerate(data.engines) if e.units},
        **{name: row.value for name, row in data.coefficients.items()},
    }


def moved(model: LayeredModel, knob: str) -> dict[str, float]:
    """The figures that are others after a turn, with their ratios."""
    before, after = figures(model.data), figures(model.derive({knob: FACTOR}).data)
    assert before.keys() == after.keys()
    ratios = {name: after[name] / value for name, value in before.items()}
    return {name: ratio for name, ratio in ratios.items() if ratio != 1}


class TestFigures:
    """Which figures each knob moves: its own, and what follows."""

    def test_the_clock_moves_the_peaks(self, model: LayeredModel) -> None:
        expected = {"clock", *(f"peak {p.name}" for p in model.data.peak)}

        found = moved(model, "clock")

        assert found.keys() == expected
        assert found == pytest.approx(dict.fromkeys(expected, FACTOR))

    def test_units_bring_peaks_and_the_rates_on_the_chip(self, model: LayeredModel) -> None:
        data = model.data
        near = [n for n, m in data.memories.items() if m.bandwidth and not m.homes]
        expected = {
            "units",
            *(f"peak {p.name}" for p in data.peak),
            *(f"{name}.bandwidth" for name in near),
            *(f"engine {i}" for i, e in enumerate(data.engines) if e.units),
            *(["geometry mesh_columns"] if "mesh_columns" in data.geometry else []),
        }

        found = moved(model, "units")

        assert found.keys() == expected
        assert found == pytest.approx(dict.fromkeys(expected, FACTOR))

    def test_every_other_knob_moves_its_own_figure(self, model: LayeredModel) -> None:
        geometry = {
            "activations.capacity": "geometry activation_bytes",
            "weights.capacity": "geometry weight_bytes",
            "accumulators.capacity": "geometry accumulator_rows",
        }
        alone = model.knobs.keys() - {"clock", "units"}

        for knob in alone:
            found = moved(model, knob)
            of_its_own = geometry.get(knob, knob)
            assert found[of_its_own] == pytest.approx(FACTOR)
            assert found.keys() <= {of_its_own, knob}

    def test_peaks_meet_the_engines(self, model: LayeredModel) -> None:
        """The rule of the loader for machine files."""
        for knob in model.knobs:
            data = model.derive({knob: FACTOR}).data
            for precision, stated in data.peak.items():
                rates = [
                    2 * e.macs_per_clock * (e.units or data.units) * data.clock
                    for e in data.engines
                    if e.precision is precision
                ]
                assert not rates or max(rates) == pytest.approx(stated, PEAK_TOLERANCE)

    def test_factors_go_together(self) -> None:
        model = load_model("Intel-i7-12700K")
        found = model.derive({"units": 2.0, "clock": 0.5, "l2.bandwidth": 3.0}).data

        assert found.peak == model.data.peak
        assert (found.units, found.clock) == (16, 1.8e9)
        assert found.memories["l2"].bandwidth == pytest.approx(6 * 1.843e12)

    def test_capacities_stay_whole_and_above_0(self) -> None:
        model = load_model("Intel-i7-12700K")

        assert model.derive({"l1.capacity": 1.1}).data.memories["l1"].capacity == 54067
        assert model.derive({"l1.capacity": 1e-9}).data.memories["l1"].capacity == 1


class TestDerive:
    """The model of another machine."""

    def test_leaves_the_model_as_it_is(self, model: LayeredModel) -> None:
        before = attrs.asdict(model.data, recurse=False)
        model.derive(dict.fromkeys(model.knobs, 2.0))

        assert attrs.asdict(model.data, recurse=False) == before

    def test_says_what_differs_and_drops_what_was_published(self) -> None:
        found = load_model("Google-TPU-Edge-Pro").derive({"units": 2.0, "clock": 0.5})

        assert found.name == "Google-TPU-Edge-Pro with clock x 0.5, units x 2"
        assert found.machine.tdp is None
        assert found.data.operating_points == {}

    def test_of_nothing_answers_the_same(self, model: LayeredModel) -> None:
        one, other = Subject.of(model), Subject.of(model.derive({}))
        space = workloads(one)
        batch = space.batch(space.sample(np.random.default_rng(0), 64))

        assert one.ask(batch).energy.tolist() == other.ask(batch).energy.tolist()
        assert one.ask(batch).latency.tolist() == other.ask(batch).latency.tolist()

    @pytest.mark.parametrize(
        ("name", "factor", "message"),
        [
            (
                "Intel-i7-12700K",
                1.3,
                r"12700K\.units must stay a whole number, got 8 x 1.3",
            ),
            ("Hailo-8", 1 / 16, r"Hailo-8\.mesh_columns must stay a whole"),
            ("Stillwater-KPU-T64", 0.5, r"T64, engines of FP32: units must .* 13 x 0.5"),
        ],
    )
    def test_refuses_a_part_of_a_unit(self, name: str, factor: float, message: str) -> None:
        with pytest.raises(Unsupported, match=message):
            load_model(name).derive({"units": factor})


class TestClusters:
    """Several chips of a derived machine."""

    def test_have_the_knobs_of_a_chip_and_of_the_link(self) -> None:
        chip, cluster = (load_model(f"Google-TPU-v4{at}") for at in ("", "@8xN"))
        kinds = {name: knob.kind for name, knob in cluster.knobs.items()}

        assert cluster.knobs.items() >= chip.knobs.items()
        assert kinds["link.bandwidth"] is KnobKind.RATE
        assert kinds["link.latency"] is KnobKind.DELAY
        assert load_model("Google-TPU-v4@8xM").knobs == chip.knobs

    def test_turn_all_chips_alike(self) -> None:
        one = load_model("Google-TPU-v4@8xN").derive({"clock": 2.0})
        other = load_model("Google-TPU-v4").derive({"clock": 2.0})

        assert one.data.units == 8 * other.data.units
        assert one.data.peak == {p: 8 * peak for p, peak in other.data.peak.items()}

    def test_turn_their_link(self) -> None:
        subject = Subject.of(load_model("Google-TPU-v4@8xK"))
        batch = Cases.of([Case(Gemm(m=64, n=64, k=64), Precision.INT8)])
        before, faster = (
            subject.derived(factors).ask(batch).latency_terms
            for factors in ({}, {"link.bandwidth": 4.0, "link.latency": 0.5})
        )
        busy = [name for name in before if before[name][0]]
        ratios = {name: faster[name][0] / before[name][0] for name in busy}

        assert ratios.pop("link") == pytest.approx(0.25)
        assert ratios.pop("hops") == pytest.approx(0.5)
        assert set(ratios.values()) == {1.0}


class TestKnobs:
    """The knobs that a reference model declares."""

    def test_are_a_clock_rates_units_capacities_and_a_launch(
        self, reference: Subject
    ) -> None:
        kinds = {name: knob.kind for name, knob in reference.knobs.items()}

        assert kinds["clock"] is KnobKind.RATE
        assert reference.knobs_of(KnobKind.COUNT).keys() == {"units"}
        assert reference.knobs_of(KnobKind.DELAY).keys() == {"launch"}
        assert len(reference.knobs_of(KnobKind.RATE)) > 1
        assert reference.knobs_of(KnobKind.CAPACITY)

    def test_claim_terms_that_the_model_has(self, reference: Subject) -> None:
        for name, knob in reference.knobs_of(KnobKind.CAPACITY).items():
            assert knob.terms, name
            assert knob.terms <= reference.layers.keys()

    def test_each_of_them_counts(self, reference: Subject) -> None:
        """No dead knob: each moves the time or the energy of some workload."""
        space = workloads(reference)
        batch = space.batch(space.sample(np.random.default_rng(3), 8192))
        before = reference.ask(batch)

        def counts(name: str) -> bool:
            knob = reference.knobs[name]
            factors = (2.0,) if knob.kind is KnobKind.COUNT else (2.0, 1 / 16)
            machines = [reference.derived({name: knob.improved(f)}) for f in factors]
            return any((m.ask(batch).energy != before.energy).any() for m in machines)

        assert [name for name in reference.knobs if not counts(name)] == []

"""What the reference models tell of each layer and level: time, sub-totals, bytes."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np
import pytest

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Layer
from joulecheck.composition import composed
from joulecheck.estimate import total
from joulecheck.model import Subject
from joulecheck.reference import MACHINES, build_model, load_model
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.roofline import ROOFLINES
from joulecheck.reference.stalls import once, stalled
from joulecheck.testing import applicable, assert_holds
from joulecheck.workload import Conv2d, Elementwise, Function, Gemm, Precision, Subgraph
from joulecheck.workload.columns import Floats, operator_columns
from joulecheck_strategies import single_operators, workloads

SAMPLE: Final = 2_000
ORDER: Final = tuple(Layer)
OPERANDS: Final = {"input", "weight", "output"}


def sampled(model: Subject) -> Cases:
    space = workloads(model)
    cases = space.batch(space.sample(np.random.default_rng(1), SAMPLE))
    assert isinstance(cases, Cases)
    return cases


def off(found: Floats, expected: Floats) -> float:
    return float(np.max(np.abs(found - expected) / np.where(expected, expected, 1)))


class TestLatencyByLayer:
    """Latency up to each layer, computed apart from the terms."""

    def test_ends_with_the_latency(self, reference: Subject) -> None:
        found = reference.ask(sampled(reference))
        layers = list(found.latency_through)

        assert layers == sorted(layers, key=ORDER.index)
        assert layers[:2] == [Layer.ALU, Layer.REGISTER]
        assert layers[-1] is Layer.DRAM
        assert off(found.latency_through[Layer.DRAM], found.latency) <= 1e-12

    def test_composes_the_terms_of_single_operators(self, reference: Subject) -> None:
        space = single_operators(reference)
        cases = space.batch(space.sample(np.random.default_rng(1), SAMPLE))
        found = reference.ask(cases)
        assert reference.latency_composition is not None

        for layer, time in found.latency_through.items():
            inner = ORDER[: ORDER.index(layer) + 1]
            terms = {
                name: values
                for name, values in found.latency_terms.items()
                if reference.latency_layers[name] in inner
            }
            expected = composed(reference.latency_composition, terms, SAMPLE)
            assert off(time, expected) <= 1e-12

    def test_gives_every_term_a_layer(self, reference: Subject) -> None:
        found = reference.ask(sampled(reference))

        assert found.latency_terms.keys() <= reference.latency_layers.keys()
        assert {reference.latency_layers[name] for name in found.latency_terms} == set(
            found.latency_through
        )

    def test_adds_the_stalls_of_each_operator(self) -> None:
        layers = {"alu": Layer.ALU, "launch": Layer.REGISTER, "dram": Layer.DRAM}
        chain = Subgraph.chain(Gemm(m=1, n=1, k=1), Elementwise(Function.RELU, (1,)))
        ops = operator_columns([chain, chain])
        busy = {
            "alu": np.array([3.0, 1.0, 2.0, 2.0]),
            "dram": np.array([2.0, 5.0, 4.0, 4.0]),
        }

        found = stalled(ops, layers, busy, {"launch": once(ops, 10.0)})

        assert {layer: time.tolist() for layer, time in found.items()} == {
            Layer.ALU: [4.0, 4.0],
            Layer.REGISTER: [14.0, 14.0],
            Layer.DRAM: [18.0, 18.0],
        }


class TestSubtotals:
    """Sub-totals, computed apart from their parts."""

    def test_are_the_sums_of_their_parts(self, reference: Subject) -> None:
        found = reference.ask(sampled(reference))

        assert list(reference.subtotals) == [
            "all_compute",
            "all_movement",
            "all_control",
            "dynamic",
        ]
        for name, parts in reference.subtotals.items():
            every = {**found.energy_terms, **found.subtotals}
            summed = {part: every[part] for part in parts if part in every}
            assert off(found.subtotals[name], total(summed, SAMPLE)) <= 1e-9

    def test_put_every_dynamic_term_into_one_kind(self, reference: Subject) -> None:
        found = reference.ask(sampled(reference))
        kinds = [
            reference.subtotals[f"all_{kind}"]
            for kind in ("compute", "movement", "control")
        ]
        terms = [term for kind in kinds for term in kind if term in found.energy_terms]

        assert sorted(terms) == sorted(found.energy_terms.keys() - {"static"})


class TestTraffic:
    """Bytes across the edge of each memory."""

    def test_cost_what_their_term_says(self, reference: Subject) -> None:
        """Where one coefficient in J/B alone moves the term of the memory."""
        found = reference.ask(sampled(reference))
        for name, crossing in found.traffic.items():
            movers = [c for c in reference.coefficients.values() if c.terms == {name}]
            if len(movers) == 1:
                expected = crossing * movers[0].value
                assert off(found.energy_terms[name], expected) <= 1e-12

    def test_of_every_home_is_told(self, reference: Subject) -> None:
        found = reference.ask(sampled(reference))
        homes = {n for n, m in reference.machine.memories.items() if m.homes}

        assert homes <= found.traffic.keys() <= reference.machine.memories.keys()

    def test_passes_the_memories_that_carry_it(self, reference: Subject) -> None:
        memories = reference.machine.memories

        for memory in memories.values():
            assert memory.carries <= OPERANDS
            assert memory.homes <= memory.carries
        assert frozenset().union(*(m.homes for m in memories.values())) == OPERANDS

    @pytest.mark.parametrize(
        ("machine", "copies"),
        [
            ("Intel-i7-12700K", {"l1": 8, "l2": 8, "l3": 1, "dram": 1}),
            ("H100-SXM5-80GB", {"shared": 132, "l2": 1, "dram": 1}),
        ],
    )
    def test_counts_the_memories_that_every_core_has(
        self, machine: str, copies: dict[str, int]
    ) -> None:
        memories = load_model(machine).machine.memories

        assert {name: memory.copies for name, memory in memories.items()} == copies

    def test_of_the_host_bypasses_the_weights_of_tpu_v1(self) -> None:
        memories = load_model("Google-TPU-v1").machine.memories

        assert memories["staging"].carries == {"weight"}
        assert memories["buffer"].carries == {"input", "output"}

    def test_of_a_partition_is_no_less_than_what_enters_the_chip(self) -> None:
        """Half a byte of INT4 crosses the edge as a whole one."""
        found = load_model("Hailo-10H").estimate(Case(Gemm(m=1, n=1, k=1), Precision.INT4))

        assert found.traffic["local"] == found.traffic["dram"] == 3


def smooth(name: str) -> LayeredModel | None:
    """The model of a machine whose traffic from DRAM has no rounding, else None."""
    model = load_model(name)
    rounds = model.data.architecture in {"DATA_PARALLEL", "SPATIAL_PARTITION"}
    return model if "dram" in model.smooth and not rounds else None


def with_room(model: LayeredModel, factor: float) -> LayeredModel:
    """The same with so much more of the last memory on the chip."""
    memories = dict(model.data.memories)
    last = [
        name for name, memory in memories.items() if not memory.homes and memory.capacity
    ]
    near = memories[last[-1]]
    memories[last[-1]] = attrs.evolve(near, capacity=int(near.capacity * factor))
    return build_model(attrs.evolve(model.data, memories=memories))


class TestSimilarity:
    """A GEMM lambda times as large with lambda^2 the room moves lambda^2 the bytes."""

    @pytest.mark.parametrize("name", [name for name in MACHINES if smooth(name)])
    @pytest.mark.parametrize("factor", [2, 3, 7])
    def test_holds_for_the_traffic_of_dram(self, name: str, factor: int) -> None:
        model = load_model(name)
        random = np.random.default_rng(factor)
        sizes = np.exp(random.uniform(0, np.log(9_000), (200, 3))).astype(int).tolist()
        precision = max(model.precisions, key=lambda p: p.bits)
        crossing = [
            machine.estimate_batch(
                Cases.of(
                    [
                        Case(Gemm(m=times * m, n=times * n, k=times * k), precision)
                        for m, n, k in sizes
                    ]
                )
            ).traffic["dram"]
            for machine, times in ((model, 1), (with_room(model, factor**2), factor))
        ]
        one, larger = map(np.asarray, crossing)

        assert off(larger, factor**2 * one) <= 1e-9

    def test_is_asked_of_classes_that_tile_smoothly(self) -> None:
        classes = {model.data.architecture for model in map(smooth, MACHINES) if model}

        assert classes == {
            "STORED_PROGRAM",
            "DOMAIN_FLOW",
            "ADAPTIVE_DATAPATH",
            "DATA_FLOW_MACHINE",
        }


class TestForeignPrecisions:
    """A batch has no number for a precision that a machine lacks."""

    def test_give_neither_energy_nor_latency(self, reference: Subject) -> None:
        foreign = [p for p in Precision if p not in reference.precisions]
        works = (
            Gemm(m=3, n=3, k=3),
            Elementwise(Function.ADD, (5,)),
            Conv2d(n=1, c=2, h=3, w=3, k=2, r=1, s=1),
        )
        cases = [Case(work, precision) for work in works for precision in foreign]

        found = reference.ask(Cases.of(cases))

        assert np.isnan(found.energy).all()
        assert np.isnan(found.latency).all()


class TestStaging:
    """The staging memory of TPU v4, the only one whose bandwidth is stated."""

    def test_can_hold_up_the_arrays(self) -> None:
        model = load_model("Google-TPU-v4")
        case = Case(Gemm(m=1, n=65536, k=65536), Precision.BF16)
        found = model.estimate(case)
        bandwidth = model.data.memories["staging"].bandwidth

        assert found.latency_terms["staging"] == found.traffic["staging"] / bandwidth

    def test_takes_no_time_where_its_bandwidth_is_not_known(self) -> None:
        found = load_model("Google-TPU-v1").estimate(
            Case(Gemm(m=1, n=1, k=1), Precision.INT8)
        )

        assert "staging" not in found.latency_terms


@pytest.mark.parametrize("name", [MACHINES[0], "Google-TPU-v1", "Hailo-8"])
class TestRooflines:
    """The models of totals."""

    def test_take_the_longer_of_two_times(self, name: str) -> None:
        model = ROOFLINES[name]()
        precision = Precision.INT8
        space = workloads(Subject.of(model))
        found = Subject.of(model).ask(
            space.batch(space.sample(np.random.default_rng(0), 99))
        )
        terms = found.latency_terms

        expected = terms["launch"] + np.maximum(terms["compute"], terms["memory"])
        assert precision in model.precisions
        np.testing.assert_allclose(found.latency, expected, rtol=1e-12)

    def test_keep_every_law(self, name: str) -> None:
        model = ROOFLINES[name]()
        laws = applicable(model)

        assert {"MON007", "MON008", "BND001", "BND002", "BND012", "CMP006"} <= set(laws)
        for law in laws:
            assert_holds(law, model, max_examples=50)

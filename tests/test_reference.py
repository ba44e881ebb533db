from __future__ import annotations

from itertools import pairwise, product
from typing import Final

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Layer
from joulecheck.errors import InvalidMachine, InvalidScale, UnknownName, Unsupported
from joulecheck.estimate import Answers, total
from joulecheck.model import Subject
from joulecheck.reference import (
    MACHINES,
    StoredProgramEnergyModel,
    SystolicArrayEnergyModel,
    TPUTileEnergyModel,
    build_model,
    load_model,
)
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.machine_file import MachineFile, load_machine
from joulecheck.reference.traffic import Operands, Widths, smooth_traffic, spilled
from joulecheck.workload import Elementwise, Function, Gemm, Precision, Subgraph, Totals
from joulecheck.workload.columns import PRECISIONS, Floats, operator_columns
from joulecheck_strategies import uniform_scales, workloads

SAMPLE: Final = 5_000
POINT: Final = {name: load_model(name) for name in MACHINES}
POINTS: Final = POINT | {
    f"{name}@{point}": load_model(f"{name}@{point}")
    for name, model in POINT.items()
    for point in model.data.operating_points
}
"""The machines as their files state them, and at each of their operating points."""


def sampled(model: Subject, size: int = SAMPLE) -> Cases:
    space = workloads(model)
    cases = space.batch(space.sample(np.random.default_rng(1), size))
    assert isinstance(cases, Cases)
    return cases


def model_of(subject: Subject) -> LayeredModel:
    assert isinstance(subject.model, LayeredModel)
    return subject.model


def largest(values: Floats) -> float:
    return float(np.max(values))


def far_bytes(model: LayeredModel, answers: Answers) -> Floats:
    """Bytes that cross the chip's edge, from the energies of their homes."""
    homes = [name for name, memory in model.data.memories.items() if memory.homes]
    crossing = [
        answers.energy_terms[name] / model.coefficients[f"{name}_energy"].value
        for name in homes
    ]
    return np.asarray(sum(crossing))


class TestComposition:
    """Energies add up, and latencies lie between the longest and the sum."""

    def test_terms_sum_to_the_energy(self, reference: Subject) -> None:
        found = reference.ask(sampled(reference))
        off = np.abs(total(found.energy_terms, SAMPLE) / found.energy - 1)

        assert largest(off) <= 1e-9

    def test_prefixes_are_the_terms_of_their_layers(self, reference: Subject) -> None:
        found = reference.ask(sampled(reference))
        order = list(Layer)
        off = {}
        for layer, through in found.through.items():
            inside = {
                name: values
                for name, values in found.energy_terms.items()
                if order.index(model_of(reference).layers[name]) <= order.index(layer)
            }
            expected = total(inside, SAMPLE)
            off[layer.name] = largest(np.abs(through - expected) / found.energy)

        assert max(off.values()) <= 1e-9, off

    def test_prefixes_end_with_the_energy(self, reference: Subject) -> None:
        found = reference.ask(sampled(reference))

        assert list(found.through)[-1] is Layer.STATIC
        np.testing.assert_array_equal(found.through[Layer.STATIC], found.energy)

    def test_every_term_has_a_layer(self, reference: Subject) -> None:
        found = reference.ask(sampled(reference, 8))

        assert found.energy_terms.keys() == reference.layers.keys()
        assert set(found.through) == {reference.layers[name] for name in found.energy_terms}

    def test_latency_is_between_the_longest_term_and_the_sum(
        self, reference: Subject
    ) -> None:
        found = reference.ask(sampled(reference))
        longest = np.maximum.reduce(list(found.latency_terms.values()))
        every = total(found.latency_terms, SAMPLE)

        assert largest(longest / found.latency) <= 1 + 1e-12
        assert largest(found.latency / every) <= 1 + 1e-12

    def test_all_numbers_are_finite_and_none_is_negative(self, reference: Subject) -> None:
        found = reference.ask(sampled(reference))
        numbers = [
            found.energy,
            found.latency,
            found.utilisation,
            *found.energy_terms.values(),
            *found.latency_terms.values(),
            *found.through.values(),
        ]

        assert all(np.isfinite(values).all() for values in numbers)
        assert min(values.min() for values in numbers) >= 0


class TestBounds:
    """What no machine can beat."""

    def test_utilisation_is_a_share(self, reference: Subject) -> None:
        found = reference.ask(sampled(reference)).utilisation

        assert 0 <= found.min() <= largest(found) <= 1 + 1e-12

    def test_utilisation_is_operations_over_time_and_peak(self, reference: Subject) -> None:
        cases = sampled(reference)
        found = reference.ask(cases)
        peak = model_of(reference).peak[cases.precision]

        np.testing.assert_allclose(found.utilisation * found.latency * peak, cases.ops)

    def test_no_fewer_than_the_external_bytes_cross_the_edge(
        self, reference: Subject
    ) -> None:
        cases = sampled(reference)
        crossing = far_bytes(model_of(reference), reference.ask(cases))

        assert largest(cases.bytes / crossing) <= 1 + 1e-9

    def test_energy_is_at_least_that_of_its_operations(self, reference: Subject) -> None:
        cases = sampled(reference)
        coefficients = reference.coefficients
        energies = [
            coefficients[f"mac_energy.{p.name}"].value if p in reference.precisions else 0.0
            for p in PRECISIONS
        ]
        least = cases.macs * np.array(energies)[cases.precision]

        assert largest(least / reference.ask(cases).energy) <= 1


class TestScaling:
    """Energy is homogeneous in the energy coefficients."""

    def test_all_coefficients_scale_the_energy(self, reference: Subject) -> None:
        space = uniform_scales(reference)
        batch = space.batch(space.sample(np.random.default_rng(1), SAMPLE))
        nominal = reference.ask(batch.cases)
        scaled = reference.ask(batch.cases, batch.scales)
        factor = batch.scales[reference.energy_coefficients[0]]
        off = np.abs(scaled.energy / (nominal.energy * factor) - 1)

        assert largest(off) <= 1e-12
        np.testing.assert_array_equal(scaled.latency, nominal.latency)

    def test_energy_is_the_sum_of_what_each_coefficient_contributes(
        self, reference: Subject
    ) -> None:
        """Euler's identity, E = sum of c dE/dc: no number hides beside coefficients."""
        cases = sampled(reference, 500)
        nominal = reference.ask(cases)
        shares = {end: np.zeros(500) for end in nominal.through}
        for name in reference.coefficients:
            twice, thrice = (
                reference.ask(cases, {name: np.full(500, factor)}).through
                for factor in (2.0, 3.0)
            )
            for end, through in nominal.through.items():
                share = twice[end] - through
                again = thrice[end] - twice[end]
                assert largest(np.abs(share - again) / through) <= 1e-12, (name, end)
                shares[end] += share

        for end, share in shares.items():
            np.testing.assert_allclose(share, nominal.through[end], rtol=1e-9)

    def test_every_coefficient_is_an_energy(self, reference: Subject) -> None:
        assert set(reference.energy_coefficients) == set(reference.coefficients)

    def test_each_coefficient_moves_the_terms_that_it_names(
        self, reference: Subject
    ) -> None:
        cases = sampled(reference, 2000)
        nominal = reference.ask(cases)
        wrong = {}
        for name, coefficient in reference.coefficients.items():
            scaled = reference.ask(cases, {name: np.full(2000, 2.0)})
            moved = {
                term
                for term, values in scaled.energy_terms.items()
                if (values != nominal.energy_terms[term]).any()
            }
            if frozenset(moved) != coefficient.terms:
                wrong[name] = moved

        assert wrong == {}

    def test_an_unknown_coefficient_gets_a_suggestion(self, reference: Subject) -> None:
        case = Case(Gemm(m=1, n=1, k=1), reference.precisions[0])

        with pytest.raises(UnknownName, match="'static_powr': did you mean static_power"):
            reference.model.estimate(case, {"static_powr": 2.0})

    @pytest.mark.parametrize("factor", [-1.0, float("nan"), float("inf")])
    def test_what_is_no_factor_is_refused(self, reference: Subject, factor: float) -> None:
        case = Case(Gemm(m=1, n=1, k=1), reference.precisions[0])

        with pytest.raises(InvalidScale, match="'static_power' must be a finite number"):
            reference.model.estimate(case, {"static_power": factor})


class TestBothPaths:
    """The scalar path is the batch of one."""

    def test_a_batch_answers_as_each_case(self, reference: Subject) -> None:
        cases = sampled(reference, 100)
        together, apart = reference.ask(cases), reference.one_by_one.ask(cases)
        fields = ("energy", "latency", "utilisation")
        terms = (
            "energy_terms",
            "latency_terms",
            "through",
            "latency_through",
            "subtotals",
            "traffic",
        )

        assert apart.errors == {}
        for field in fields:
            one, other = getattr(together, field), getattr(apart, field)
            np.testing.assert_allclose(one, other, rtol=1e-12, err_msg=field)
        for field in terms:
            for name, values in getattr(together, field).items():
                expected = getattr(apart, field)[name]
                np.testing.assert_allclose(values, expected, rtol=1e-12, err_msg=str(name))

    def test_a_row_does_not_depend_on_its_neighbours(self, reference: Subject) -> None:
        space = workloads(reference)
        rows = space.sample(np.random.default_rng(1), 300)
        forwards = reference.ask(space.batch(rows))
        backwards = reference.ask(space.batch(rows[::-1]))

        np.testing.assert_array_equal(forwards.energy, backwards.energy[::-1])

    def test_the_same_question_gets_the_same_answer(self, reference: Subject) -> None:
        cases = sampled(reference, 100)

        np.testing.assert_array_equal(
            reference.ask(cases).energy, reference.ask(cases).energy
        )


class TestRefusals:
    """What a machine cannot run."""

    def test_a_foreign_precision_is_unsupported(self, reference: Subject) -> None:
        foreign = [p for p in Precision if p not in reference.precisions]
        case = Gemm(m=1, n=1, k=1)

        for precision in foreign:
            with pytest.raises(Unsupported, match=f"not in {precision.name}"):
                reference.model.estimate(Case(case, precision))

    def test_totals_are_unsupported(self, reference: Subject) -> None:
        case = Case(Totals(ops=1, bytes=1), reference.precisions[0])

        with pytest.raises(Unsupported, match="needs operators, not totals"):
            reference.model.estimate(case)


LARGE: Final = Gemm(m=4096, n=4096, k=4096)


def array_rate(data: MachineFile) -> float:
    """Operations a second of systolic arrays with one MAC a clock and element."""
    return 2.0 * data.units * data.geometry["array_side"] ** 2 * data.clock


def compute_bound(data: MachineFile) -> list[Precision]:
    """The precisions at which a large GEMM takes longer than its operands to arrive.

    Those that take several passes through a systolic array are left out.
    """
    found = []
    for precision, peak in data.peak.items():
        cases = Cases.of([Case(LARGE, precision)])
        arrival = max(
            sum(getattr(cases.compulsory, role)[0] for role in memory.homes)
            / memory.bandwidth
            for memory in data.memories.values()
            if memory.homes and memory.bandwidth
        )
        passes = data.architecture == "SYSTOLIC_ARRAY" and peak < 0.98 * array_rate(data)
        if arrival < cases.ops[0] / peak and not passes:
            found.append(precision)
    return found


class TestPlausibility:
    """Large regular work runs near the peak."""

    @pytest.mark.parametrize(
        ("name", "precision"),
        [(name, p) for name, model in POINT.items() for p in compute_bound(model.data)],
    )
    def test_a_gemm_of_4096_reaches_40_percent(
        self, name: str, precision: Precision
    ) -> None:
        utilisation = POINT[name].estimate(Case(LARGE, precision)).utilisation

        assert isinstance(utilisation, float)
        assert 0.4 <= utilisation <= 1

    def test_a_single_mac_takes_little_more_than_the_launch(
        self, reference: Subject
    ) -> None:
        case = Case(Gemm(m=1, n=1, k=1), reference.precisions[0])
        launch = model_of(reference).data.launch
        latency = reference.one_by_one.ask(Cases.of([case])).latency[0]

        assert launch < latency < 2 * launch


class TestPowerClosure:
    """Static power and all maximal rates times their energies stay within the TDP."""

    @pytest.mark.parametrize("name", POINTS)
    def test_no_case_exceeds_the_bound(self, name: str) -> None:
        model = Subject.of(POINTS[name])
        cases = sampled(model)
        found = model.ask(cases)
        bounds = [
            sum(POINTS[name].power(p).values()) if p in model.precisions else 0.0
            for p in PRECISIONS
        ]

        bound = np.array(bounds)[cases.precision]
        assert largest(found.energy / found.latency / bound) <= 1

    @pytest.mark.parametrize("name", POINTS)
    def test_every_layer_has_its_part(self, name: str) -> None:
        model = POINTS[name]
        priced = {model.layers[min(c.terms or ())] for c in model.coefficients.values()}

        for precision in model.data.peak:
            power = model.power(precision)
            assert power.keys() == priced
            assert min(power.values()) > 0

    @pytest.mark.parametrize("name", POINT)
    def test_less_than_that_bound_is_refused_on_load(self, name: str) -> None:
        data = POINT[name].data
        power = max(sum(POINT[name].power(p).values()) for p in data.peak)
        small = attrs.evolve(data, tdp=power * 0.999, operating_points={})

        assert build_model(attrs.evolve(small, tdp=power * 1.001)).data.tdp
        with pytest.raises(InvalidMachine, match=r"must stay within its tdp .*got .*most"):
            build_model(small)

    def test_a_point_that_does_not_close_is_refused_with_its_machine(self) -> None:
        data = POINT["Google-TPU-Edge-Pro"].data
        point = attrs.evolve(data.operating_points["15W"], tdp=5.0)
        worse = attrs.evolve(data, operating_points={"15W": point})
        named = r"machine file Google-TPU-Edge-Pro@15W: .* its tdp of 5 W, got .* W at FP32"

        with pytest.raises(InvalidMachine, match=named):
            build_model(worse)


class TestStoredProgram:
    """One small GEMM, counted by hand."""

    MODEL: Final = POINT["Intel-i7-12700K"]
    CASE: Final = Case(Gemm(m=6, n=16, k=8), Precision.FP32)
    BYTES: Final = 4 * (6 * 8 + 8 * 16 + 6 * 16)  # all fits everywhere

    def test_energy_follows_the_events(self) -> None:
        vectors = 6 * (16 / 8) * 8
        instructions = vectors + self.BYTES / 32
        expected = {
            "alu": 6 * 16 * 8 * 1.69e-12,
            "pipeline": instructions * (3.64e-11 + 6.6e-12 + 5.02e-11),
            "register": vectors * 32 * (3 * 1.6e-13 + 2e-13),
            "l1": self.BYTES * 1.126e-12,
            "l2": self.BYTES * 3.224e-12,
            "l3": self.BYTES * 8.453e-12,
            "dram": self.BYTES * 1.692e-10,
            "static": 25 * (2e-6 + self.BYTES / 7.68e10),
        }

        assert self.MODEL.estimate(self.CASE).energy_terms == pytest.approx(
            expected, rel=1e-9, abs=0
        )

    def test_latency_follows_the_resources(self) -> None:
        rounds = 2  # of 12 strips on 8 cores, each of 8 steps and half a clock
        expected = {
            "compute": rounds * 8 / 2 / 3.6e9,
            "l1": self.BYTES / 2.765e12,
            "l2": self.BYTES / 1.843e12,
            "l3": self.BYTES / 9.216e11,
            "dram": self.BYTES / 7.68e10,
            "launch": 2e-6,
        }

        assert self.MODEL.estimate(self.CASE).latency_terms == pytest.approx(
            expected, rel=1e-9, abs=0
        )

    @pytest.mark.parametrize("name", ["Intel-i7-12700K", "Intel-Xeon-Platinum-8490H"])
    def test_near_levels_carry_at_least_what_far_ones_do(self, name: str) -> None:
        subject = Subject.of(POINT[name])
        terms = subject.ask(sampled(subject)).energy_terms
        l1, l2, l3, dram = (
            terms[level] / subject.coefficients[f"{level}_energy"].value
            for level in ("l1", "l2", "l3", "dram")
        )

        assert largest(dram / l3) <= 1 + 1e-12
        assert largest(l3 / l2) <= 1 + 1e-12
        assert largest(l2 / l1) <= 1 + 1e-12


class TestSystolicArray:
    """One GEMM of four weight tiles, counted by hand."""

    MODEL: Final = POINT["Google-TPU-v1"]
    CASE: Final = Case(Gemm(m=4, n=300, k=300), Precision.INT8)
    LATENCY: Final = 2e-6 + 90_000 / 3.4e10

    def test_energy_follows_the_events(self) -> None:
        macs, weights, tensor = 4 * 300 * 300, 300 * 300, 4 * 300
        expected = {
            "alu": macs * 1.6e-13,
            "control": 4 * 3.72e-11,
            "array": macs * (1 + 4) * 1.6e-14 + weights * 2.05e-12,
            "accumulator": tensor * 2 * 4 * (1.53e-12 + 1.92e-12),
            "buffer": tensor * 2 * 7.57e-12 + tensor * 9.52e-12,
            "staging": weights * 1.005e-11,
            "dram": weights * 1.625e-10,
            "host": 2 * tensor * 6e-11,
            "static": self.LATENCY * 28,
        }

        assert self.MODEL.estimate(self.CASE).energy_terms == pytest.approx(
            expected, rel=1e-9, abs=0
        )

    def test_latency_follows_the_resources(self) -> None:
        found = self.MODEL.estimate(self.CASE)
        expected = {
            "array": (4 * 256 + 511) / 7e8 * (9.17504e13 / 9.175e13),  # the stated peak
            "vector": 0.0,
            "dram": 90_000 / 3.4e10,
            "host": 2400 / 1.25e10,
            "launch": 2e-6,
        }

        assert found.latency_terms == pytest.approx(expected, rel=1e-9, abs=0)
        assert found.latency == pytest.approx(self.LATENCY, rel=1e-9, abs=0)


class TestLevels:
    """A stored-program machine has the memories that its file states."""

    FULL: Final = load_machine("Intel-Xeon-Platinum-8490H")

    def without(self, *levels: str) -> StoredProgramEnergyModel:
        memories = {n: m for n, m in self.FULL.memories.items() if n not in levels}
        energies = {f"{level}_energy" for level in levels}
        rows = {n: c for n, c in self.FULL.coefficients.items() if n not in energies}
        data = attrs.evolve(self.FULL, memories=memories, coefficients=rows)
        return StoredProgramEnergyModel(data)

    def bytes(self, model: StoredProgramEnergyModel, cases: Cases) -> dict[str, Floats]:
        terms = model.estimate_batch(cases).energy_terms
        return {
            level: np.asarray(terms[level]) / model.coefficients[f"{level}_energy"].value
            for level in model.levels
        }

    @pytest.mark.parametrize(
        ("gone", "levels", "layers"),
        [
            ((), ("l1", "l2", "l3", "dram"), 6),
            (("l3",), ("l1", "l2", "dram"), 5),
            (("l2", "l3"), ("l1", "dram"), 5),
        ],
    )
    def test_layers_follow_the_levels(
        self, gone: tuple[str, ...], levels: tuple[str, ...], layers: int
    ) -> None:
        model = self.without(*gone)
        found = model.estimate_batch(sampled(Subject.of(model), 500))
        order = list(Layer)

        assert model.levels == levels
        assert len(found.through) == layers
        for layer, through in found.through.items():
            inside = {
                name: np.asarray(values)
                for name, values in found.energy_terms.items()
                if order.index(model.layers[name]) <= order.index(layer)
            }
            np.testing.assert_allclose(np.asarray(through), total(inside, 500), rtol=1e-9)

    def test_near_levels_carry_at_least_what_the_far_ones_do(self) -> None:
        for gone in ((), ("l3",), ("l2",), ("l2", "l3")):
            model = self.without(*gone)
            crossing = self.bytes(model, sampled(Subject.of(model), 2000))

            for near, far in pairwise(model.levels):
                assert largest(crossing[far] / crossing[near]) <= 1 + 1e-12

    def test_a_level_less_brings_no_less_from_dram(self) -> None:
        full, less = self.without(), self.without("l3")
        cases = sampled(Subject.of(full), 2000)
        before, after = self.bytes(full, cases), self.bytes(less, cases)

        assert largest(before["dram"] / after["dram"]) <= 1 + 1e-12


ARRAYS: Final = [n for n, m in POINT.items() if m.data.architecture == "SYSTOLIC_ARRAY"]


class TestTiles:
    """How GEMMs map to weight tiles."""

    TILES: Final = TPUTileEnergyModel(side=256, arrays=1, accumulator_rows=4096)

    def cycles(self, tiles: TPUTileEnergyModel, **sizes: int) -> float:
        found = tiles.lay_out(operator_columns([Gemm(**sizes)])).cycles[0]
        return float(found)

    def test_one_tile_is_loaded_filled_and_drained(self) -> None:
        assert self.cycles(self.TILES, m=1, n=1, k=1) == 767

    def test_a_larger_array_is_slower_on_one_element(self) -> None:
        small = TPUTileEnergyModel(side=128, arrays=1, accumulator_rows=4096)

        assert self.cycles(small, m=1, n=1, k=1) == 383

    def test_cycles_follow_the_closed_form(self) -> None:
        tiles = TPUTileEnergyModel(side=16, arrays=3, accumulator_rows=64)
        rounds = -(-(-(-100 // 16) * -(-70 // 16)) // 3)

        assert self.cycles(tiles, m=40, n=100, k=70) == rounds * 40 + 31

    def test_more_arrays_are_no_slower(self) -> None:
        found = [
            self.cycles(
                TPUTileEnergyModel(side=16, arrays=n, accumulator_rows=64),
                m=40,
                n=100,
                k=70,
            )
            for n in range(1, 40)
        ]

        assert found == sorted(found, reverse=True)

    def test_rows_beyond_the_accumulators_load_the_tile_again(self) -> None:
        workloads = [Gemm(m=m, n=1, k=1) for m in (1, 4096, 4097)]
        found = self.TILES.lay_out(operator_columns(workloads)).row_blocks

        assert found.tolist() == [1, 1, 2]

    @pytest.mark.parametrize("name", ARRAYS)
    @pytest.mark.parametrize("times", [2, 3, 16])
    @pytest.mark.parametrize("field", ["m", "n"])
    def test_more_of_the_same_costs_at_most_as_often(
        self, name: str, times: int, field: str
    ) -> None:
        """Where neither operand fits its memory, above all."""
        model = POINT[name]
        precision = min(model.precisions, key=lambda p: p.bits)
        for m, n, k in product((1, 300, 4096, 20_000), repeat=3):
            once = Gemm(m=m, n=n, k=k)
            more = attrs.evolve(once, **{field: times * getattr(once, field)})
            one, all_of_it = (model.estimate(Case(w, precision)) for w in (once, more))

            assert all_of_it.energy <= times * one.energy * (1 + 1e-12)
            assert all_of_it.latency <= times * one.latency * (1 + 1e-12)

    def test_inputs_stay_by_blocks_where_neither_operand_fits(self) -> None:
        """Of four blocks of 8192 rows, each lets the weights pass, less what is staged."""
        model = POINT["Google-TPU-v3"]
        case = Case(Gemm(m=32_768, n=16_384, k=1024), Precision.BF16)
        weights, kept = 2 * 16_384 * 1024, 16 << 20
        inputs, outputs = 2 * 32_768 * 1024, 2 * 32_768 * 16_384
        crossing = inputs + outputs + weights + 3 * (weights - kept)
        found = model.estimate(case).energy_terms["dram"]

        assert found == pytest.approx(crossing * model.coefficients["dram_energy"].value)

    def test_operands_have_the_homes_of_the_file(self) -> None:
        model = load_model("Google-TPU-v1")

        assert isinstance(model, SystolicArrayEnergyModel)
        assert model.homes == {"input": "host", "weight": "dram", "output": "host"}


GPUS: Final = [n for n, m in POINT.items() if m.data.architecture == "DATA_PARALLEL"]


class TestWarps:
    """How kernels run on streaming multiprocessors."""

    def latency(self, name: str, precision: Precision, **sizes: int) -> float:
        found = POINT[name].estimate(Case(Gemm(**sizes), precision)).latency
        return float(np.asarray(found))

    @pytest.mark.parametrize("name", GPUS)
    def test_two_stages_of_a_tile_fit_shared_memory(self, name: str) -> None:
        data = POINT[name].data
        stage = data.geometry["stage_bytes"]
        needed = max(2 * stage * (tile.rows + tile.columns) for tile in data.tiles)
        capacity = data.memories["shared"].capacity

        assert capacity is not None
        assert needed <= capacity

    @pytest.mark.parametrize("name", GPUS)
    def test_parts_divide_their_tile(self, name: str) -> None:
        for tile in POINT[name].data.tiles:
            assert tile.rows % tile.group_rows == 0
            assert tile.columns % tile.group_columns == 0

    def test_time_steps_with_the_waves(self) -> None:
        sizes = {"n": 256, "k": 65536}
        full = self.latency("A100-SXM4-80GB", Precision.FP64, m=108 * 16 * 4, **sizes)
        same = self.latency("A100-SXM4-80GB", Precision.FP64, m=108 * 16 * 4 - 1, **sizes)
        more = self.latency("A100-SXM4-80GB", Precision.FP64, m=108 * 16 * 4 + 1, **sizes)

        assert same == full < more

    def test_each_operator_is_launched(self) -> None:
        model = POINT["A100-SXM4-80GB"]
        gemm = Gemm(m=1, n=1, k=1)
        case = Case(Subgraph.chain(gemm, gemm, gemm), Precision.FP16)
        launch = model.estimate(case).latency_terms["launch"]

        assert launch == pytest.approx(3 * model.data.launch)

    def test_the_smallest_access_is_a_sector(self) -> None:
        model = POINT["A100-SXM4-80GB"]
        case = Case(Gemm(m=1, n=1, k=1), Precision.FP16)
        found = model.estimate(case).energy_terms["coherence"]
        look_up = model.coefficients["coherence_energy"].value

        assert found == pytest.approx(3 * look_up)

    def test_a_warp_of_lanes_takes_any_32_results(self) -> None:
        model = POINT["V100-SXM3-32GB"]
        reads = []
        for m, n in ((32, 1), (1, 32), (4, 8), (8, 4)):
            case = Case(Gemm(m=m, n=n, k=64), Precision.FP32)
            reads.append(model.estimate(case).energy_terms["register"])

        assert reads == [pytest.approx(reads[0])] * 4

    def test_a_precision_without_lanes_of_its_own_borrows_the_wider(self) -> None:
        case = {"m": 1, "n": 1, "k": 4096}
        narrow = self.latency("H100-SXM5-80GB", Precision.FP8_E4M3, **case)

        assert narrow <= self.latency("H100-SXM5-80GB", Precision.FP16, **case)

    def test_counts_of_one_tile_follow_from_its_size(self) -> None:
        model = POINT["V100-SXM3-32GB"]
        case = Case(Gemm(m=128, n=256, k=64), Precision.FP32)
        terms = model.estimate(case).energy_terms
        groups, steps = 8, 64 * 4 // 64
        price = model.coefficients["barrier_energy"].value
        price += model.coefficients["divergence_energy"].value
        shared = 4 * (128 * 64 * 4 + 64 * 256 * 2 + 128 * 256)

        assert terms["control"] == pytest.approx(groups * steps * price)
        assert terms["clock"] == pytest.approx(
            128 * 256 * 64 / 64 * model.coefficients["clock_energy"].value
        )
        assert terms["shared"] == pytest.approx(
            shared * model.coefficients["shared_energy"].value
        )

    def test_an_sm_is_awake_no_longer_than_the_work_takes(self) -> None:
        model = POINT["A100-SXM4-80GB"]
        price = model.coefficients["clock_energy"].value
        for workload in (
            Gemm(m=1, n=1, k=1),
            Elementwise(Function.RELU, (33,)),
            Gemm(m=5, n=7, k=9),
        ):
            found = model.estimate(Case(workload, Precision.FP16))
            cycles = found.energy_terms["clock"] / price
            assert 0 < cycles <= found.latency * model.data.clock * model.data.units

    def test_a_machine_without_a_price_of_cycles_has_no_such_term(self) -> None:
        model = POINT["ARM-Mali-G78-MP20"]
        found = model.estimate(Case(Gemm(m=64, n=64, k=64), Precision.FP16))

        assert "clock" not in model.layers
        assert found.energy_terms.keys() == model.layers.keys()


def gemm_traffic(
    capacity: float, m: Floats, n: Floats, k: Floats, widths: Widths
) -> Floats:
    operands = Operands(m * k * widths.a, k * n * widths.element, m * n * widths.element)
    return smooth_traffic(capacity, m, n, k, operands, widths)


def random_gemms(
    size: int, low: int = 1, high: int = 10**9
) -> tuple[Floats, Floats, Floats]:
    """Log-uniform M, N, K."""
    rng = np.random.default_rng(1)
    m, n, k = np.rint(np.exp(rng.uniform(np.log(low), np.log(high), (3, size))))
    return m, n, k


WIDTHS: Final = {
    "FP32": Widths(np.float64(4), np.float64(4)),  # type: ignore[arg-type]  # one for all
    "INT8": Widths(np.float64(1), np.float64(4)),  # type: ignore[arg-type]  # likewise
    "INT4": Widths(np.float64(0.5), np.float64(4)),  # type: ignore[arg-type]  # likewise
    "FP64": Widths(np.float64(8), np.float64(8)),  # type: ignore[arg-type]  # likewise
}
each_width = pytest.mark.parametrize("widths", WIDTHS.values(), ids=WIDTHS)
CAPACITIES: Final = (256.0, 49_152.0, 2_097_152.0, 117_964_800.0)


class TestSmoothTraffic:
    """The closed forms of traffic through a near memory."""

    @each_width
    @pytest.mark.parametrize("capacity", CAPACITIES)
    def test_is_monotone_in_each_dimension(self, capacity: float, widths: Widths) -> None:
        m, n, k = random_gemms(20_000)
        factor = 1 + np.random.default_rng(2).exponential(1, 20_000)
        before = gemm_traffic(capacity, m, n, k, widths)
        grown = [
            gemm_traffic(capacity, m * factor, n, k, widths),
            gemm_traffic(capacity, m, n * factor, k, widths),
            gemm_traffic(capacity, m, n, k * factor, widths),
            gemm_traffic(capacity, m + 1, n, k, widths),
            gemm_traffic(capacity, m, n + 1, k, widths),
            gemm_traffic(capacity, m, n, k + 1, widths),
        ]

        assert max(largest(before / after) for after in grown) <= 1 + 1e-12

    @each_width
    def test_does_not_grow_with_the_capacity(self, widths: Widths) -> None:
        m, n, k = random_gemms(20_000)
        steps = np.geomspace(64, 2**40, 60)
        found = np.stack([gemm_traffic(s, m, n, k, widths) for s in steps])

        assert largest(found[1:] / found[:-1]) <= 1 + 1e-12

    @each_width
    def test_falls_no_faster_than_the_capacity_grows(self, widths: Widths) -> None:
        m, n, k = random_gemms(20_000)
        small = gemm_traffic(65_536, m, n, k, widths)
        for factor in (1.5, 4.0, 1000.0):
            large = gemm_traffic(65_536 * factor, m, n, k, widths)

            assert largest(small / large) <= factor * (1 + 1e-12)

    @each_width
    @pytest.mark.parametrize("capacity", CAPACITIES)
    def test_is_at_least_each_tensor_once(self, capacity: float, widths: Widths) -> None:
        m, n, k = random_gemms(20_000)
        compulsory = (m * k + k * n + m * n) * widths.element
        found = gemm_traffic(capacity, m, n, k, widths)

        assert largest(compulsory / found) <= 1 + 1e-12

    @each_width
    @pytest.mark.parametrize("capacity", CAPACITIES)
    def test_is_at_least_the_input_output_lower_bound(
        self, capacity: float, widths: Widths
    ) -> None:
        m, n, k = random_gemms(20_000)
        least = np.minimum(widths.element, widths.partial)
        bound = 2 * m * n * k * widths.element * np.sqrt(least / capacity)
        found = gemm_traffic(capacity, m, n, k, widths)

        assert largest(bound / found) <= 1 + 1e-12

    @each_width
    def test_is_compulsory_where_all_fits(self, widths: Widths) -> None:
        m, n, k = random_gemms(1000, high=1000)
        compulsory = (m * k + k * n + m * n) * widths.element

        np.testing.assert_allclose(gemm_traffic(2.0**40, m, n, k, widths), compulsory)

    @each_width
    def test_similar_problems_have_similar_traffic(self, widths: Widths) -> None:
        m, n, k = random_gemms(20_000, high=10**6)
        one = gemm_traffic(65_536, m, n, k, widths)
        three = gemm_traffic(9 * 65_536, 3 * m, 3 * n, 3 * k, widths)

        np.testing.assert_allclose(three, 9 * one, rtol=1e-12)

    @pytest.mark.parametrize(
        ("name", "factor"), [("FP64", 1.5), ("FP32", 1.5), ("INT8", 1.8), ("INT4", 1.8)]
    )
    @pytest.mark.parametrize("capacity", [4096, 65_536, 1_048_576])
    def test_is_little_below_the_best_integer_tiling(
        self, capacity: int, name: str, factor: float
    ) -> None:
        # Fractional passes cost less than whole ones, most where an operand almost
        # fits; with sums wider than elements that is the case more often.
        m, n, k = random_gemms(200, low=128, high=2048)
        sizes = zip(m.tolist(), n.tolist(), k.tolist(), strict=True)
        best = np.array([best_tiling(capacity, *size, WIDTHS[name]) for size in sizes])
        ratio = best / gemm_traffic(capacity, m, n, k, WIDTHS[name])

        assert 1 - 1e-12 <= ratio.min() <= largest(ratio) <= factor
        assert np.median(ratio) <= 1.1

    @each_width
    @pytest.mark.parametrize("overlap", [1.0, 1 / 9, 4.0])
    def test_the_whole_brings_no_more_than_its_parts(
        self, widths: Widths, overlap: float
    ) -> None:
        """Windows that overlap make inputs cheap, so that they should pass more often."""
        shared = widths._replace(overlap=overlap)
        m, n, k = random_gemms(20_000, high=10**6)
        for share in (0.5, 0.3, 0.01):
            whole = gemm_traffic(49_152, m, n, k, shared)
            by_rows = gemm_traffic(49_152, m * share, n, k, shared)
            by_rows += gemm_traffic(49_152, m * (1 - share), n, k, shared)
            by_columns = gemm_traffic(49_152, m, n * share, k, shared)
            by_columns += gemm_traffic(49_152, m, n * (1 - share), k, shared)

            assert largest(whole / by_rows) <= 1 + 1e-12
            assert largest(whole / by_columns) <= 1 + 1e-12

    def test_partial_sums_go_out_and_come_back(self) -> None:
        m, n, k = (np.array([x]) for x in (8192.0, 16.0, 4096.0))
        found = gemm_traffic(4 * 48_000, m, n, k, WIDTHS["FP32"])
        again = 2 * (4096 / 3000 - 1)  # tiles of 3000 x 16 weights stay
        expected = 4 * (8192 * 4096 + 4096 * 16 + 8192 * 16 * (1 + again))

        assert found[0] == pytest.approx(expected, rel=1e-12, abs=0)

    def test_an_operand_that_lies_near_is_not_fetched(self) -> None:
        m, n, k = (np.array([x]) for x in (512.0, 512.0, 512.0))
        widths = WIDTHS["FP32"]
        a, b, c = m * k * 4, k * n * 4, m * n * 4
        nowhere = np.zeros(1)
        every = smooth_traffic(4096, m, n, k, Operands(a, b, c), widths)
        without_a = smooth_traffic(4096, m, n, k, Operands(nowhere, b, c), widths)
        without_any = smooth_traffic(4096, m, n, k, Operands(*[nowhere] * 3), widths)

        assert without_a < every - a
        assert without_any == 0

    @given(st.integers(0, 2**50), st.integers(0, 2**50))
    def test_what_does_not_fit_is_spilled(self, size: int, capacity: int) -> None:
        found = spilled(np.array([float(size)]), capacity)

        assert found.tolist() == [max(0, size - capacity)]


def best_tiling(capacity: int, m: float, n: float, k: float, widths: Widths) -> float:
    """The least traffic of all integer tiles of the three loop orders, by enumeration."""
    w, p = float(widths.element), float(widths.partial)
    rows = np.arange(1, m + 1)
    columns = np.minimum(n, np.floor(capacity / p / rows))
    output = w * (
        m * k * np.ceil(n / np.maximum(columns, 1)) + k * n * np.ceil(m / rows) + m * n
    )
    found = [output[columns >= 1].min()]
    for streamed, kept in ((m, n), (n, m)):  # the weights stay, then the inputs
        depth = np.arange(1, k + 1)
        breadth = np.minimum(kept, np.floor(capacity / w / depth))
        sums = streamed * kept * (w + 2 * p * (np.ceil(k / depth) - 1))
        passes = np.ceil(kept / np.maximum(breadth, 1))
        stationary = w * k * kept + w * streamed * k * passes + sums
        found.append(stationary[breadth >= 1].min())
    return float(min(found))

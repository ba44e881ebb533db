"""What a machine includes of another, and which machine replaces which."""

from __future__ import annotations

from itertools import permutations
from typing import Final

import attrs
import pytest

from joulecheck.case import Case
from joulecheck.machine import Resources
from joulecheck.reference import MACHINES, MODELS
from joulecheck.reference.machine_file import MachineFile, load_machine
from joulecheck.reference.resources import (
    COMPUTE,
    DELAYS,
    PRIVATE,
    SHAPES,
    SHARED,
    VECTOR,
    resources_of,
)
from joulecheck.workload import Gemm, Precision

SMALL: Final = Resources(
    shape={"tile": 8, "INT8": (1, 2)},
    rates={"compute": {"a unit": 1.0, "in all": 4.0}, "dram": {"in all": 10.0}},
    capacities={"l2": 100.0},
    delays={"launch": 1e-6},
)
AGX, NX = (load_machine(f"Jetson-Orin-{name}") for name in ("AGX-64GB", "NX-16GB"))


def larger(**changes: object) -> Resources:
    return attrs.evolve(SMALL, **changes)


class TestIncludes:
    """Whether whatever one machine does could be done by another."""

    def test_a_machine_includes_itself(self) -> None:
        assert SMALL.includes(SMALL)

    @pytest.mark.parametrize(
        "more",
        [
            {"shape": {"tile": 8, "INT8": (1, 2), "FP8": (1, 4)}},
            {"rates": {**SMALL.rates, "dram": {"in all": 11.0}}},
            {"rates": {**SMALL.rates, "compute": {"a unit": 1.0, "in all": 8.0}}},
            {"capacities": {"l2": 200.0}},
            {"delays": {"launch": 0.0}},
            {"delays": {}},
        ],
    )
    def test_more_of_anything_includes(self, more: dict[str, object]) -> None:
        assert larger(**more).includes(SMALL)
        assert not SMALL.includes(larger(**more))

    @pytest.mark.parametrize(
        "less",
        [
            {"shape": {"tile": 16, "INT8": (1, 2)}},
            {"shape": {"tile": 8}},
            {
                "rates": {
                    "compute": {"a unit": 0.9, "in all": 8.0},
                    "dram": {"in all": 10.0},
                }
            },
            {"rates": {"compute": {"a unit": 1.0, "in all": 4.0}}},
            {"capacities": {"l2": 99.0}},
            {"capacities": {}},
            {"delays": {"launch": 2e-6}},
            {"delays": {"launch": 1e-6, "fill": 1e-9}},
        ],
    )
    def test_less_of_anything_does_not(self, less: dict[str, object]) -> None:
        assert not larger(**less).includes(SMALL)

    def test_rounding_is_no_difference(self) -> None:
        assert larger(capacities={"l2": 100.0 * (1 - 1e-12)}).includes(SMALL)


class TestHigher:
    """The terms of which one machine has higher rates alone."""

    def test_needs_every_rate_of_a_term(self) -> None:
        one = larger(rates={**SMALL.rates, "compute": {"a unit": 1.0, "in all": 8.0}})
        both = larger(rates={**SMALL.rates, "compute": {"a unit": 2.0, "in all": 8.0}})

        assert one.higher(SMALL) == frozenset()
        assert both.higher(SMALL) == {"compute"}

    def test_takes_no_notice_of_a_hair(self) -> None:
        hair = larger(rates={**SMALL.rates, "dram": {"in all": 10.0 + 1e-6}})

        assert hair.higher(SMALL) == frozenset()


class TestOfMachines:
    """The resources of the machine files."""

    def test_every_size_of_a_geometry_is_classified(self) -> None:
        known = {*SHAPES, *SHARED, *PRIVATE, *VECTOR, *DELAYS, "runs_per_configuration"}
        used = {size for name in MACHINES for size in load_machine(name).geometry}

        assert used == known

    def test_every_class_has_a_term_of_arithmetic(self) -> None:
        assert set(COMPUTE) == {load_machine(name).architecture for name in MACHINES}

    @pytest.mark.parametrize("name", MACHINES)
    def test_rates_are_those_of_latency_terms(self, name: str) -> None:
        model = MODELS[name]()
        precision = min(model.precisions, key=lambda p: p.bits)
        terms = model.estimate(Case(Gemm(m=1, n=1, k=1), precision)).latency_terms
        rates = resources_of(model.data).rates

        assert set(terms) - {"launch", "barrier"} <= set(rates)

    def test_a_cluster_includes_nothing(self) -> None:
        """More chips have more of everything, and take longer for what they send."""
        cluster = MODELS["H100-SXM5-80GB@8xN"]().machine

        assert cluster.resources is None
        assert cluster.successor_of == ()

    def test_an_amount_is_stated_for_a_unit_and_in_all(self) -> None:
        dram = resources_of(NX).rates["dram"]

        assert dram == {"bandwidth in all": 1.024e11, "bandwidth a unit": 1.024e11 / 8}

    @pytest.mark.parametrize(
        "change",
        [
            {"clock": 0.5e9},
            {"units": 4},
            {"launch": 1e-3},
            {"tiles": ()},
            {"engines": ()},
            {"memories": {}},
            {"architecture": "STORED_PROGRAM"},
            {"peak": {Precision.INT8: 1e12}},
            {"vector": {Precision.INT8: 1}},
            {"geometry": {**AGX.geometry, "warp": 64}},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_a_machine_that_lacks_something_includes_no_more(
        self, change: dict[str, object]
    ) -> None:
        assert resources_of(AGX).includes(resources_of(NX))

        assert not resources_of(attrs.evolve(AGX, **change)).includes(resources_of(NX))


class TestPairs:
    """Which machines of the catalogue include another: computed, and shown here."""

    def pairs(self, names: list[str]) -> set[tuple[str, str]]:
        found = {name: resources_of(load_machine(name)) for name in names}
        return {
            (one, other)
            for one, other in permutations(names, 2)
            if found[one].includes(found[other]) and not found[other].includes(found[one])
        }

    def test_seven_pairs_of_machines_do(self) -> None:
        assert self.pairs([*MACHINES]) == {
            ("Intel-Xeon-Platinum-8592+", "Intel-Xeon-Platinum-8490H"),
            ("Jetson-Orin-AGX-64GB", "Jetson-Orin-NX-16GB"),
            ("Jetson-Orin-AGX-64GB", "Jetson-Orin-Nano-8GB"),
            ("Jetson-Orin-NX-16GB", "Jetson-Orin-Nano-8GB"),
            ("Stillwater-KPU-T256", "Stillwater-KPU-T128"),
            ("Stillwater-KPU-T256", "Stillwater-KPU-T64"),
            ("TI-TDA4AL", "TI-TDA4VL"),
        }

    def test_so_do_four_machines_with_a_point_of_theirs(self) -> None:
        points = MODELS.variants()
        names = [*points, *{point.partition("@")[0] for point in points}]

        own = {
            (one, other)
            for one, other in self.pairs(names)
            if other.partition("@")[0] == one
        }
        assert own == {
            ("Google-TPU-Edge-Pro", "Google-TPU-Edge-Pro@15W"),
            ("Jetson-Orin-AGX-64GB", "Jetson-Orin-AGX-64GB@50W"),
            ("Jetson-Orin-AGX-CPU", "Jetson-Orin-AGX-CPU@50W"),
            ("Jetson-Orin-NX-16GB", "Jetson-Orin-NX-16GB@25W"),
        }


@pytest.fixture(params=[name for name in MACHINES if load_machine(name).successor_of])
def successor(request: pytest.FixtureRequest) -> MachineFile:
    return load_machine(request.param)


class TestGenerations:
    """What the machine files declare of each other."""

    def test_a_predecessor_is_a_machine_of_the_same_class(
        self, successor: MachineFile
    ) -> None:
        for name in successor.successor_of:
            assert load_machine(name).architecture == successor.architecture

    def test_each_has_a_source(self, successor: MachineFile) -> None:
        assert successor.sources["successor_of"].strip()

    def test_no_machine_is_its_own_predecessor(self) -> None:
        before = {name: load_machine(name).successor_of for name in MACHINES}

        for name in MACHINES:
            line, further = [], [*before[name]]
            while further:
                line.append(further.pop())
                further += before[line[-1]]
                assert name not in line

    def test_a_point_of_a_machine_succeeds_nothing(self) -> None:
        machine = attrs.evolve(load_machine("Jetson-Orin-AGX-CPU"), successor_of=("x",))

        assert machine.at("30W").successor_of == ()

    def test_the_harness_is_told(self) -> None:
        a100 = MODELS["A100-SXM4-80GB"]().machine

        assert a100.successor_of == ("V100-SXM3-32GB",)

"""The laws of ranking: on tiny models under the names that they are about, and on real."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pytest

from joulecheck.case import Case, PeerCase
from joulecheck.coefficient import Layer
from joulecheck.errors import NotOffered
from joulecheck.estimate import Estimate
from joulecheck.machine import Machine, Memory
from joulecheck.model import Subject
from joulecheck.property import property_named
from joulecheck.reference.archetypes import RANKED
from joulecheck.reference.ranking import WORKLOADS, compared
from joulecheck.resolve import ModelRef, stored_model
from joulecheck.testing import margin_of
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Precision,
    Subgraph,
    Workload,
)
from tiny import Tiny

P = Precision
HOMES: Final = frozenset({"input", "weight", "output"})


def int8(workload: Workload) -> Case:
    return Case(workload, P.INT8)


def answering(joule: float = 1.0, second: float = 1.0) -> Callable[[Case], Estimate]:
    """All of the energy on the chip, none of it in DRAM."""
    return lambda _: Estimate(
        energy=joule,
        latency=second,
        energy_terms={"alu": joule},
        through={Layer.ALU: joule, Layer.DRAM: joule},
    )


def attention(length: int) -> Workload:
    """A head of so many places."""
    return Subgraph.chain(
        Gemm(length, length, 64),
        Elementwise(Function.SIGMOID, (1, length, length, 1)),
        Gemm(length, 64, length),
    )


NONE: Final = Machine(name="none")


def facing(
    name: str,
    peer: str,
    mine: Callable[[Case], Estimate],
    theirs: Callable[[Case], Estimate],
    machines: tuple[Machine, Machine] = (NONE, NONE),
) -> Subject:
    """A tiny model of that name, and its peer of the other."""
    other = Subject.of(Tiny(theirs, machine=machines[1]), name=peer)
    model = Subject.of(Tiny(mine, machine=machines[0]), name=name)
    return model.beside({peer: lambda: other})


class TestClassesRankInOneTechnology:
    """RNK001."""

    GEMM: Final = int8(Gemm(1024, 1024, 1024))

    @pytest.mark.parametrize(
        ("mine", "expected"), [(0.9, True), (1.0, False), (1.1, False)]
    )
    def test_is_strict(self, mine: float, *, expected: bool) -> None:
        model = facing("archetype:KPU", "archetype:GPU", answering(mine), answering())

        found = margin_of("RNK001", model, PeerCase(self.GEMM, "archetype:GPU"))
        assert (found >= 0) is expected

    def test_counts_no_energy_of_the_device(self) -> None:
        def mine(_: Case) -> Estimate:
            terms = {"dram": 9.0}  # most of the price of a byte is the device
            return Estimate(energy=9.5, energy_terms=terms, through={Layer.DRAM: 9.5})

        model = facing("archetype:KPU", "archetype:GPU", mine, answering(3.0))
        assert margin_of("RNK001", model, PeerCase(self.GEMM, "archetype:GPU")) > 0

    @pytest.mark.parametrize(("better", "worse"), list(pairwise(RANKED)))
    def test_compares_each_class_with_the_next(self, better: str, worse: str) -> None:
        space = property_named("RNK001").space(stored_model(f"archetype:{better}"))

        assert space.pairs == ((f"archetype:{worse}", P.INT8),)

    @pytest.mark.parametrize(
        "name", ["archetype:CPU", "archetype:GPU-lanes", "reference:GPU"]
    )
    def test_is_about_no_other(self, name: str) -> None:
        model = facing(name, f"{name}-other", answering(), answering())

        with pytest.raises(NotOffered, match="none of the archetypes TPU, KPU, GPU"):
            property_named("RNK001").space(model)

    @pytest.mark.parametrize("named", WORKLOADS, ids=lambda named: named.name)
    @pytest.mark.parametrize("better", RANKED[:-1])
    def test_holds_for_every_workload_of_the_report(
        self, better: str, named: object
    ) -> None:
        """Or says nothing: TPU < KPU, on the one that the report names and its like."""
        worse = RANKED[RANKED.index(better) + 1]
        case = PeerCase(named.case, f"archetype:{worse}")

        found = margin_of("RNK001", f"archetype:{better}", case)
        silent = {"conv 7x7/2 3-64 @224", "conv 3x3 64-64 @56"}
        if better == "TPU" and named.name in silent:
            assert np.isnan(found)
        else:
            assert found > 0

    @pytest.mark.parametrize(
        ("workload", "inside"),
        [
            (Gemm(32768, 1024, 1024), True),
            (attention(4096), True),
            (attention(4097), False),
            (Conv2d(n=8, c=640, h=14, w=14, k=128, r=1, s=1), True),
            (Conv2d(n=8, c=639, h=14, w=14, k=128, r=1, s=1), False),
            (Conv2d(n=8, c=640, h=14, w=14, k=127, r=1, s=1), False),
        ],
    )
    def test_ends_where_the_array_is_not_full_or_scores_do_not_fit(
        self, workload: Workload, *, inside: bool
    ) -> None:
        model = facing("archetype:TPU", "archetype:KPU", answering(0.5), answering())

        found = margin_of("RNK001", model, PeerCase(int8(workload), "archetype:KPU"))
        assert np.isnan(found) is not inside


class TestClassesRankAtOnePoint:
    """RNK002."""

    CPU: Final = "reference:Jetson-Orin-AGX-CPU@30W"
    CASE: Final = PeerCase(int8(Gemm(1024, 1024, 1024)), CPU)

    def margin(
        self, joule: float, second: float, mine: float | None = None, cpu: float | None = 30
    ) -> float:
        machines = (Machine(name="kpu", tdp=mine), Machine(name="cpu", tdp=cpu))
        model = facing(
            "reference:Stillwater-KPU-T256",
            self.CPU,
            answering(joule, second),
            answering(),
            machines,
        )
        return margin_of("RNK002", model, self.CASE)

    @pytest.mark.parametrize(
        ("joule", "second", "expected"),
        [(0.5, 0.5, True), (1.5, 0.5, False), (0.5, 1.5, False), (1.0, 0.5, False)],
    )
    def test_compares_energy_and_inferences_a_watt(
        self, joule: float, second: float, *, expected: bool
    ) -> None:
        assert (self.margin(joule, second) >= 0) is expected

    def test_divides_by_the_power_of_the_profile(self) -> None:
        assert self.margin(0.5, 0.9, mine=30.0) > 0
        assert self.margin(0.5, 0.9, mine=60.0) < 0

    def test_takes_a_module_without_a_limit_at_its_thirty_watts(self) -> None:
        assert self.margin(0.5, 0.9, mine=32.0, cpu=None) > 0
        assert self.margin(0.5, 0.9, mine=34.0, cpu=None) < 0

    @pytest.mark.parametrize(
        ("name", "above"),
        [
            ("Google-TPU-Edge-Pro", ["CPU"]),
            ("Google-TPU-Edge-Pro@30W", ["CPU"]),
            ("Stillwater-KPU-T256", ["64GB", "CPU"]),
            ("Jetson-Orin-AGX-64GB@30W", ["CPU"]),
        ],
    )
    def test_is_about_the_links_that_are_claimed(self, name: str, above: list[str]) -> None:
        space = property_named("RNK002").space(stored_model(f"reference:{name}"))

        peers = [f"reference:Jetson-Orin-AGX-{part}@30W" for part in above]
        assert space.pairs == tuple((peer, P.INT8) for peer in peers)

    @pytest.mark.parametrize(
        "name",
        [
            *("Google-TPU-Edge-Pro@15W", "Google-TPU-v4", "Jetson-Orin-AGX-64GB"),
            *("Jetson-Orin-AGX-CPU", "Jetson-Orin-AGX-CPU@30W"),
        ],
    )
    def test_is_about_no_other_machine_or_power(self, name: str) -> None:
        with pytest.raises(NotOffered, match="stands for no class at 30 W"):
            property_named("RNK002").space(stored_model(f"reference:{name}"))


class TestLargerMachineIsFaster:
    """RNK003."""

    V5P, XEON = "f:Google-TPU-v5p", "f:Intel-Xeon-Platinum-8490H"
    EDGE: Final = "f:Google-Coral-Edge-TPU"

    def machine(self, architecture: str, rate: float, bandwidth: float) -> Machine:
        peak = dict.fromkeys((P.FP32, P.INT8), rate)
        return Machine(
            name="any",
            architecture=architecture,
            peak=peak,
            memories={"dram": Memory(bandwidth, homes=HOMES)},
        )

    def model(
        self, peer: str, *, seconds: float = 2.0, rate: float = 2.0, bandwidth: float = 2.0
    ) -> Subject:
        other = "STORED_PROGRAM" if peer == self.XEON else "SYSTOLIC_ARRAY"
        return facing(
            self.V5P,
            peer,
            answering(second=seconds),
            answering(),
            (
                self.machine("SYSTOLIC_ARRAY", rate, bandwidth),
                self.machine(other, 1.0, 1.0),
            ),
        )

    GEMM: Final = Case(Gemm(4096, 4096, 1024))
    CONVOLUTION: Final = Case(Conv2d(n=32, c=1024, h=28, w=28, k=1024, r=1, s=1))

    @pytest.mark.parametrize("peer", [XEON, EDGE])
    @pytest.mark.parametrize(("seconds", "expected"), [(1.0, True), (1.1, False)])
    def test_compares_latencies(self, peer: str, seconds: float, *, expected: bool) -> None:
        found = margin_of(
            "RNK003", self.model(peer, seconds=seconds), PeerCase(self.GEMM, peer)
        )

        assert (found >= 0) is expected

    @pytest.mark.parametrize("less", [{"rate": 1.9}, {"bandwidth": 1.9}])
    def test_is_about_twice_of_everything(self, less: dict[str, float]) -> None:
        with pytest.raises(NotOffered, match="twice no part"):
            property_named("RNK003").space(self.model(self.EDGE, **less))

    def test_compares_an_array_with_another_class_on_gemms_alone(self) -> None:
        beside = PeerCase(self.CONVOLUTION, self.XEON)
        edge = PeerCase(self.CONVOLUTION, self.EDGE)

        assert np.isnan(margin_of("RNK003", self.model(self.XEON), beside))
        assert margin_of("RNK003", self.model(self.EDGE), edge) < 0

    def test_compares_no_edge_part_with_a_server(self) -> None:
        model = facing(
            self.EDGE,
            self.XEON,
            answering(),
            answering(),
            (
                self.machine("SYSTOLIC_ARRAY", 9.0, 9.0),
                self.machine("STORED_PROGRAM", 1.0, 1.0),
            ),
        )

        with pytest.raises(NotOffered, match="twice no part"):
            property_named("RNK003").space(model)


class TestKnownDisagreementsPersist:
    """RNK004."""

    V4, H100 = "reference:Google-TPU-v4", "reference:H100-SXM5-80GB"
    LARGE: Final = int8(Gemm(4096, 4096, 4096))

    @pytest.mark.parametrize(
        ("mine", "persists"), [(1.1, True), (1.0, False), (0.9, False)]
    )
    def test_an_entry_that_agrees_is_stale(self, mine: float, *, persists: bool) -> None:
        model = facing(self.V4, self.H100, answering(mine), answering())

        found = margin_of("RNK004", model, PeerCase(self.LARGE, self.H100))
        assert (found >= 0) is persists

    def test_says_nothing_of_smaller_work(self) -> None:
        model = facing(self.V4, self.H100, answering(0.5), answering())
        small = PeerCase(int8(Gemm(4096, 4096, 4095)), self.H100)

        assert np.isnan(margin_of("RNK004", model, small))

    def test_says_nothing_of_a_pair_that_is_not_listed(self) -> None:
        model = stored_model(self.V4)
        case = PeerCase(self.LARGE, "reference:Jetson-Thor-128GB")

        assert np.isnan(property_named("RNK004").margin_of(model, case))

    @pytest.mark.parametrize(
        "entry",
        [one for one in compared().disagreements if not one.undecided],
        ids=lambda one: f"{one.better}-{one.worse}",
    )
    def test_every_entry_is_asked_and_persists(self, entry: Any) -> None:  # noqa: ANN401 - an entry of the list
        model = f"{entry.family}:{entry.better}"
        peer = f"{entry.family}:{entry.worse}"
        law = property_named("RNK004")

        assert (peer, P.INT8) in law.space(stored_model(model)).pairs
        case = PeerCase(int8(Gemm(*entry.least)), peer)
        assert law.margin_of(stored_model(model), case) > 0

    def test_is_about_no_other_model(self) -> None:
        with pytest.raises(NotOffered, match="no known disagreement names it first"):
            property_named("RNK004").space(stored_model(self.H100))

    def test_finds_a_model_that_was_tuned(self) -> None:
        tuned = ModelRef(self.V4, "dropped-term").load()
        case = PeerCase(self.LARGE, self.H100)

        assert property_named("RNK004").margin_of(tuned, case) < 0

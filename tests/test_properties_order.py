"""The laws of order on tiny models: each holds, is violated, and ends where it should."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs
import numpy as np
import pytest

from joulecheck.case import Case, PeerCase
from joulecheck.errors import NotOffered, UnknownName
from joulecheck.estimate import Estimate
from joulecheck.machine import Machine, Memory, Resources
from joulecheck.model import Subject
from joulecheck.property import property_named
from joulecheck.testing import Violated, assert_holds, margin_of
from joulecheck.workload import Gemm, Precision
from tiny import MAC, Tiny, energy

P = Precision
LAUNCH: Final = 1e-6
HOMES: Final = frozenset({"input", "weight", "output"})


def machine(name: str, *, rate: float = 1.0, units: int = 1, **more: object) -> Machine:
    """One whose arithmetic does `rate` operations a second in each of its units."""
    total = rate * units
    return Machine(
        name=name,
        peak=dict.fromkeys((P.FP32, P.INT8), total),
        memories={"dram": Memory(1.0 * units, homes=HOMES)},
        resources=Resources(
            shape={"FP32": (1,), "INT8": (1,)},
            rates={"compute": {"a unit": rate, "in all": total}, "dram": {"in all": 1.0}},
            capacities={},
            delays={"launch": LAUNCH},
        ),
        **more,
    )


def taking(seconds: Callable[[Case], float] | float) -> Callable[[Case], Estimate]:
    """Answers with a latency, all of it compute."""

    def answer(case: Case) -> Estimate:
        time = seconds(case) if callable(seconds) else seconds
        return Estimate(latency=time, latency_terms={"compute": time})

    return answer


def pair(
    one: Callable[[Case], Estimate],
    other: Callable[[Case], Estimate],
    mine: Machine,
    theirs: Machine,
) -> Subject:
    """A model and its peer, which is called family:small."""
    small = Subject.of(Tiny(other, machine=theirs), name="family:small")
    large = Subject.of(Tiny(one, machine=mine), name="family:large")
    return large.beside({"family:small": lambda: small})


AT_SMALL: Final = PeerCase(MAC, "family:small")


class TestResourceInclusionNeverSlower:
    """ORD001."""

    def model(self, mine: float, theirs: float, **more: object) -> Subject:
        large = machine("large", units=2, **more)
        return pair(taking(mine), taking(theirs), large, machine("small"))

    @pytest.mark.parametrize(
        ("mine", "theirs", "expected"),
        [(1.0, 2.0, 0.5), (1.0, 1.0, 0.0), (2.0, 1.0, -0.5)],
    )
    def test_compares_latencies(self, mine: float, theirs: float, expected: float) -> None:
        found = margin_of("ORD001", self.model(mine, theirs), AT_SMALL)

        assert found == pytest.approx(expected, abs=1e-8)

    def test_allows_rounding(self) -> None:
        assert margin_of("ORD001", self.model(1 + 1e-10, 1.0), AT_SMALL) >= 0
        assert margin_of("ORD001", self.model(1 + 1e-8, 1.0), AT_SMALL) < 0

    def test_finds_a_machine_that_more_units_slow_down(self) -> None:
        model = pair(
            taking(lambda case: 1.0 + 0.01 * case.ops),
            taking(lambda case: 1.0 + 0.001 * case.ops),
            machine("large", units=2),
            machine("small"),
        )

        with pytest.raises(Violated) as caught:
            assert_holds("ORD001", model, max_examples=50)

        assert caught.value.case == AT_SMALL
        assert "peer      family:small" in str(caught.value)

    def test_is_about_included_machines_alone(self) -> None:
        model = pair(taking(1), taking(2), machine("large"), machine("small", units=2))

        with pytest.raises(NotOffered, match="none of its peers is included"):
            assert_holds("ORD001", model)

    def test_an_equal_machine_is_not_compared(self) -> None:
        model = pair(taking(2), taking(1), machine("large"), machine("small"))

        with pytest.raises(NotOffered, match="none of its peers is included"):
            assert_holds("ORD001", model)

    def test_says_nothing_of_a_peer_that_is_not_included_any_more(self) -> None:
        model = pair(taking(2), taking(1), machine("large"), machine("small", rate=3.0))

        law = property_named("ORD001")
        assert np.isnan(law.margin_of(model, AT_SMALL))

    def test_needs_peers_and_resources(self) -> None:
        alone = Tiny(taking(1), machine=machine("alone"))
        unknown = pair(taking(1), taking(1), Machine(name="large"), machine("small"))

        with pytest.raises(NotOffered, match="be one of several models"):
            assert_holds("ORD001", alone)
        with pytest.raises(NotOffered, match="resources=Resources"):
            assert_holds("ORD001", unknown)

    def test_asks_at_the_precisions_of_both(self) -> None:
        small = Subject.of(
            Tiny(taking(1), machine=machine("small"), precisions=[P.INT8]), name="f:small"
        )
        large = Subject.of(Tiny(taking(1), machine=machine("large", units=2)), name="f:x")
        space = property_named("ORD001").space(large.beside({"f:small": lambda: small}))

        assert space.pairs == (("f:small", P.INT8),)

    def test_takes_the_operating_points_of_a_machine(self) -> None:
        large = machine("large", units=2, operating_points=("slow",))
        slow = Subject.of(Tiny(taking(1), machine=machine("slow")), name="f:large@slow")

        class Known(dict):  # type: ignore[type-arg]  # as the peers of a family
            """It knows more than it lists."""

            def __iter__(self) -> object:
                return iter(())

        model = Subject.of(Tiny(taking(1), machine=large), name="f:large")
        known = Known({"f:large@slow": lambda: slow})

        space = property_named("ORD001").space(model.beside(known))
        assert space.pairs[0][0] == "f:large@slow"

    def test_an_unknown_peer_is_told(self) -> None:
        with pytest.raises(UnknownName, match="no peer called 'family:other'"):
            margin_of("ORD001", self.model(1, 1), PeerCase(MAC, "family:other"))


class TestStrictlyFasterWhereBound:
    """ORD002."""

    def answering(self, latency: float, **terms: float) -> Callable[[Case], Estimate]:
        return lambda _: Estimate(latency=latency, latency_terms=terms)

    def margin(
        self,
        mine: Callable[[Case], Estimate],
        theirs: Callable[[Case], Estimate],
        *,
        rate: float = 2.0,
    ) -> float:
        model = pair(mine, theirs, machine("large", rate=rate), machine("small"))
        return margin_of("ORD002", model, AT_SMALL)

    def test_is_strict(self) -> None:
        theirs = self.answering(1.0, compute=1.0, dram=0.1)

        assert self.margin(self.answering(0.9, compute=0.9), theirs) > 0
        assert self.margin(self.answering(1.0, compute=1.0), theirs) < 0
        assert self.margin(self.answering(1.0 - 1e-10), theirs) < 0

    @pytest.mark.parametrize(
        "theirs",
        [
            {"latency": 1.0, "compute": 0.5, "dram": 1.0},
            {"latency": 1.0, "compute": 1.0, "dram": 0.995},
            {"latency": 1.0, "compute": 0.9},
            {"latency": 1.0, "compute": 0.005, "launch": 0.995},
        ],
        ids=["bound elsewhere", "nearly a tie", "neither", "launched"],
    )
    def test_says_nothing_where_the_rate_does_not_decide(
        self, theirs: dict[str, float]
    ) -> None:
        mine = self.answering(1.0)

        assert np.isnan(self.margin(mine, self.answering(**theirs)))

    def test_takes_the_launch_for_no_rate(self) -> None:
        theirs = self.answering(1.0, compute=0.6, launch=0.4)

        assert self.margin(self.answering(1.0), theirs) < 0

    def test_more_units_alone_are_no_higher_rate(self) -> None:
        model = pair(taking(1), taking(1), machine("large", units=2), machine("small"))

        with pytest.raises(NotOffered, match="with a lower rate"):
            assert_holds("ORD002", model)


class TestLaterGenerationNeverSlower:
    """ORD003."""

    LARGE: Final = PeerCase(Case(Gemm(4096, 4096, 1024)), "family:small")

    def model(self, mine: float, theirs: float, rate: float = 2.0) -> Subject:
        large = machine("large", rate=rate, successor_of=("small",))
        return pair(taking(mine), taking(theirs), large, machine("small"))

    @pytest.mark.parametrize(("mine", "expected"), [(0.9, True), (1.0, True), (1.1, False)])
    def test_compares_latencies(self, mine: float, *, expected: bool) -> None:
        assert (margin_of("ORD003", self.model(mine, 1.0), self.LARGE) >= 0) is expected

    def test_says_nothing_where_the_successor_states_less(self) -> None:
        model = self.model(2.0, 1.0, rate=0.5)

        assert np.isnan(margin_of("ORD003", model, self.LARGE))

    def test_says_nothing_where_a_bandwidth_is_not_known(self) -> None:
        unknown = attrs.evolve(machine("small"), memories={"dram": Memory(homes=HOMES)})
        large = machine("large", successor_of=("small",))

        model = pair(taking(2), taking(1), large, unknown)
        assert np.isnan(margin_of("ORD003", model, self.LARGE))

    def test_needs_a_declared_predecessor(self) -> None:
        model = pair(taking(1), taking(1), machine("large"), machine("small"))

        with pytest.raises(NotOffered, match="declares no predecessor"):
            assert_holds("ORD003", model)

    def test_a_predecessor_of_another_family_is_no_peer(self) -> None:
        large = machine("large", successor_of=("elsewhere",))

        with pytest.raises(NotOffered, match="declares no predecessor"):
            assert_holds("ORD003", pair(taking(1), taking(1), large, machine("small")))

    def test_asks_of_large_work_alone(self) -> None:
        space = property_named("ORD003").space(self.model(1, 1))
        cases = space.batch(space.sample(np.random.default_rng(0), 512))

        assert min(cases[row].case.workload.macs for row in range(512)) >= 2**34


def test_energy_alone_is_no_matter_of_order() -> None:
    model = pair(energy, energy, machine("large", units=2), machine("small"))

    with pytest.raises(NotOffered, match="latency"):
        assert_holds("ORD001", model)

"""Faults to inject: each changes what it says, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from joulecheck.case import Case, Cases
from joulecheck.errors import NotOffered, UnknownName, Unsupported
from joulecheck.faults import FAULTS, Fault, fault_named, inject
from joulecheck.model import Subject
from joulecheck.property import installed
from joulecheck.reference import load_model
from joulecheck.resolve import ModelRef
from joulecheck.workload import Precision, Totals
from tiny import MAC, Tiny, energy, gemm

CPU = "reference:Intel-i7-12700K"
MANY = Cases.of(
    [Case(gemm(m=m, n=n, k=k)) for m in (1, 300) for n in (1, 9) for k in (1, 7)]
)

each_fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda f: f.name)


@pytest.fixture
def sound() -> Subject:
    return Subject.of(load_model("Intel-i7-12700K"), name=CPU)


class TestFaults:
    """The named faults together."""

    def test_are_caught_by_some_property_each(self) -> None:
        caught = {law.planted.fault for law in installed().values()}

        assert caught == set(FAULTS)

    @each_fault
    def test_say_what_the_model_does_wrong(self, fault: Fault) -> None:
        assert fault.summary
        assert fault.summary[0].islower() or fault.summary.split()[0].isupper()
        assert not fault.summary.endswith(".")

    def test_are_found_by_name(self) -> None:
        assert fault_named("dear-int8").name == "dear-int8"

    def test_several_are_planted_together(self) -> None:
        sound = ModelRef("reference:Google-TPU-v4").load()
        both = inject(sound, fault_named("dear-int8+dropped-term"))
        case = Case(gemm(m=8, n=8, k=8), Precision.INT8)

        found = [
            float(model.ask(Cases.of([case])).energy[0])
            for model in (sound, inject(sound, fault_named("dear-int8")), both)
        ]

        assert both.fault == "dear-int8+dropped-term"
        assert found[2] < found[1]
        assert found[0] < found[1]

    def test_suggest_a_near_name(self) -> None:
        with pytest.raises(UnknownName, match="did you mean dear-int8"):
            fault_named("dear-int4")


@each_fault
class TestInject:
    """A fault in a reference model."""

    def test_keeps_the_name_and_what_is_offered(self, sound: Subject, fault: Fault) -> None:
        faulty = inject(sound, fault)

        assert faulty.name == sound.name
        assert faulty.offers == sound.offers
        assert faulty.precisions == sound.precisions
        assert faulty.coefficients == sound.coefficients

    def test_leaves_the_sound_model_alone(self, sound: Subject, fault: Fault) -> None:
        before = sound.ask(MANY)

        inject(sound, fault).ask(MANY)
        after = sound.ask(MANY)

        assert np.array_equal(before.energy, after.energy)
        assert np.array_equal(before.latency, after.latency)

    def test_still_refuses_what_the_machine_cannot_run(
        self, sound: Subject, fault: Fault
    ) -> None:
        faulty = inject(sound, fault).model

        with pytest.raises(Unsupported):
            faulty.estimate(Case(gemm(), Precision.FP4))
        with pytest.raises(Unsupported):
            faulty.estimate(Case(Totals(ops=1, bytes=1)))

    def test_is_reached_by_a_reference(self, fault: Fault) -> None:
        faulty = ModelRef(CPU, fault.name).load()

        assert faulty.name == CPU
        assert faulty is not ModelRef(CPU).load()
        assert faulty is ModelRef(CPU, fault.name).load()


class TestWhatChanges:
    """What some of the faults do."""

    def answers(self, sound: Subject, fault: str, case: Case) -> tuple[float, float]:
        faulty = inject(sound, fault_named(fault))
        batch = Cases.of([case])
        found = (float(s.ask(batch).energy[0]) for s in (sound, faulty))
        return next(found), next(found)

    def test_dear_int8_costs_eight_times(self, sound: Subject) -> None:
        before, after = self.answers(sound, "dear-int8", Case(gemm(), Precision.INT8))

        assert after == pytest.approx(8 * before)

    def test_dear_int8_leaves_fp32_alone(self, sound: Subject) -> None:
        before, after = self.answers(sound, "dear-int8", MAC)

        assert after == before

    def test_wrapped_rows_are_a_needle(self, sound: Subject) -> None:
        assert len(set(self.answers(sound, "wrapped-rows", Case(gemm(m=255))))) == 1
        assert self.answers(sound, "wrapped-rows", Case(gemm(m=256)))[1] == 0

    def test_division_by_zero_raises_on_the_scalar_path(self, sound: Subject) -> None:
        faulty = inject(sound, fault_named("division-by-zero"))

        answers = faulty.one_by_one.ask(Cases.of([Case(gemm(k=7)), Case(gemm(k=8))]))

        assert answers.errors == {0: "ZeroDivisionError: division by zero"}
        assert np.isnan(faulty.ask(Cases.of([Case(gemm(k=7))])).energy[0])

    @pytest.mark.parametrize(
        ("fault", "factors", "launch"),
        [
            ("dear-int8", {"launch": 0.5}, 1.0),
            ("clocked-launch", {"clock": 2.0}, 4.0),
            ("fixed-launch", {"launch": 0.5, "clock": 2.0}, 2.0),
            ("twice-clocked-launch", {"clock": 2.0, "launch": 3.0}, 1.5),
            ("launch-of-each-unit", {"units": 3.0}, 6.0),
            ("free-launch", {"units": 2.0}, 0.0),
        ],
    )
    def test_derived_machines_have_the_fault(
        self, sound: Subject, fault: str, factors: dict[str, float], launch: float
    ) -> None:
        """A launch of the machine takes 2 us."""
        derived = inject(sound, fault_named(fault)).derived(factors)

        found = derived.ask(Cases.of([MAC])).latency_terms["launch"][0]

        assert found == pytest.approx(launch * 1e-6, abs=1e-11)

    def test_a_capacity_divides_the_bandwidths_of_no_other_machine(
        self, sound: Subject
    ) -> None:
        faulty = inject(sound, fault_named("dividing-capacity"))
        batch = Cases.of([MAC])
        before, larger, faster = (
            faulty.derived(factors).ask(batch).latency_terms["dram"][0]
            for factors in ({}, {"l2.capacity": 4.0}, {"clock": 4.0})
        )

        assert (larger, faster) == (pytest.approx(4 * before), before)

    def test_drifting_batch_leaves_the_scalar_path_alone(self, sound: Subject) -> None:
        faulty = inject(sound, fault_named("drifting-batch"))
        batch = Cases.of([MAC])

        assert faulty.one_by_one.ask(batch).energy[0] == sound.ask(batch).energy[0]
        assert faulty.ask(batch).energy[0] == pytest.approx(
            1.01 * sound.ask(batch).energy[0]
        )


def test_a_fault_needs_a_reference_model() -> None:
    with pytest.raises(NotOffered, match="tiny is no reference model"):
        inject(Subject.of(Tiny(energy)), fault_named("dear-int8"))

"""Knobs, and what a model that declares them owes."""

from __future__ import annotations

import math
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from derivable import KNOBS, Changed, Chip, on
from joulecheck.case import Case, Cases, Derivation, DerivedCase, DerivedCases, Question
from joulecheck.counterexample import numbers_of
from joulecheck.errors import InvalidModel, UnknownName
from joulecheck.estimate import Estimate
from joulecheck.knob import Knob, KnobKind
from joulecheck.model import UNSCALED, Offer, Scale, Scales, Subject
from joulecheck.testing import applicable, assert_holds
from joulecheck.workload import Totals
from tiny import MAC, Tiny, energy, gemm

LAWS = ("SEN007", "SCL002", "SCL003", "SCL005", "SCL006", "CON003", "ORD004")


class TestKnob:
    """A figure that can be turned."""

    def test_allows_every_positive_factor_unless_told(self) -> None:
        knob = Knob(KnobKind.RATE)

        assert [knob.allows(f) for f in (1e-300, 0.5, 1e300)] == [True] * 3
        assert [knob.allows(f) for f in (0.0, -1.0, math.inf, math.nan)] == [False] * 4

    def test_allows_its_range(self) -> None:
        knob = Knob(KnobKind.CAPACITY, low=0.5, high=2.0)

        assert [knob.allows(f) for f in (0.49, 0.5, 2.0, 2.1)] == [False, True, True, False]

    def test_counts_take_whole_factors(self) -> None:
        knob = Knob(KnobKind.COUNT)

        assert [knob.allows(f) for f in (1, 2.0, 1.5, 0.5)] == [True, True, False, False]

    def test_a_shorter_delay_is_better(self) -> None:
        assert Knob(KnobKind.DELAY).improved(4.0) == 0.25
        assert Knob(KnobKind.COUNT).improved(4.0) == 4.0

    def test_terms_may_be_any_collection(self) -> None:
        assert Knob(KnobKind.CAPACITY, terms=["dram"]).terms == {"dram"}


class TestDeclarations:
    """What is wrong with knobs is said by name."""

    def test_knobs_are_an_offer(self) -> None:
        assert Offer.KNOBS in Subject.of(Chip).offers
        assert Offer.KNOBS not in Subject.of(Tiny(energy)).offers

    @pytest.mark.parametrize(
        ("declared", "rule"),
        [
            (
                {"clock": 2.0},
                r"knobs\['clock'\] must be a mapping of names to joulecheck.K",
            ),
            (
                {"clock": Knob(KnobKind.RATE, low=2.0, high=3.0)},
                r"knobs\['clock'\] must be a Knob with 1, the machine as it is, between",
            ),
            (KNOBS, r"derive must be a method derive\(factors\), since the model declares"),
        ],
    )
    def test_are_refused_by_name(self, declared: object, rule: str) -> None:
        with pytest.raises(InvalidModel, match=rf"tiny\.{rule}"):
            Subject.of(Tiny(energy, knobs=declared))

    def test_laws_say_what_is_missing(self) -> None:
        assert not set(LAWS) & set(applicable(Tiny(energy)))
        assert set(LAWS) <= set(applicable(Chip))


class TestDerived:
    """The same model of another machine."""

    def test_is_a_subject_of_its_own(self) -> None:
        subject = Subject.of(Chip, name="mine:chip")
        found = subject.derived({"clock": 2.0})

        assert found.name == "mine:chip"
        assert found.model == Chip(clock=2.0)
        assert subject.model == Chip()

    def test_is_built_once_whatever_the_order_and_the_view(self) -> None:
        subject = Subject.of(Chip)
        one = subject.derived({"clock": 2.0, "launch": 0.5})
        other = subject.one_by_one.derived({"launch": 0.5, "clock": 2.0, "units": 1.0})

        assert one.model is other.model
        assert other.scalar
        assert not one.scalar

    def test_of_nothing_is_the_model_itself(self) -> None:
        subject = Subject.of(Chip)

        assert subject.derived({}) is subject
        assert subject.derived({"clock": 1.0}) is subject

    def test_an_unknown_knob_gets_a_suggestion(self) -> None:
        with pytest.raises(UnknownName, match=r"chip has no knob 'clok': did you mean clo"):
            Subject.of(Chip).derived({"clok": 2.0})

    def test_what_derive_raises_is_named(self) -> None:
        model = Changed(mangle=lambda _: {"colour": 2.0})

        with pytest.raises(
            InvalidModel, match=r"chip\.derive\(\{'clock': 2\.0\}\) must return a model, or"
        ):
            Subject.of(model).derived({"clock": 2.0})

    def test_a_model_may_not_change_itself(self) -> None:
        class Moving(Chip):
            def derive(self, factors: Mapping[str, float]) -> Chip:
                del factors
                return self

        with pytest.raises(InvalidModel, match=r"chip\.derive must be .* another model"):
            Subject.of(Moving).derived({"clock": 2.0})

    def test_must_be_a_model(self) -> None:
        class Losing(Chip):
            def derive(self, factors: Mapping[str, float]) -> Any:  # noqa: ANN401 - wrong on purpose
                return dict(factors)

        with pytest.raises(InvalidModel, match="is no model"):
            Subject.of(Losing).derived({"clock": 2.0})

    def test_knobs_are_found_by_kind(self) -> None:
        subject = Subject.of(Chip)

        assert list(subject.knobs_of(KnobKind.RATE)) == ["clock", "bandwidth"]
        assert list(subject.knobs_of(KnobKind.COUNT, KnobKind.DELAY)) == ["units", "launch"]


class Together(Chip):
    """A chip with a batch path, which the scalar path need not agree with."""

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        prices = scales.get("mac_energy", 1.0)
        return Estimate(energy=cases.ops * prices, latency=cases.ops / self.clock)


class TestAskDerived:
    """A batch over several machines."""

    CASES = DerivedCases.of(
        [
            on(Case(gemm(m=1)), clock=2.0),
            on(Case(gemm(m=2))),
            on(Case(gemm(m=3)), {"mac_energy": 3.0}, clock=2.0),
            on(Case(gemm(m=4)), clock=2.0),
        ]
    )

    def test_asks_each_machine_for_its_rows(self) -> None:
        found = Subject.of(Together).ask_derived(self.CASES)

        assert found.latency.tolist() == [1.0, 4.0, 3.0, 4.0]
        assert found.energy.tolist() == [2.0, 4.0, 18.0, 8.0]

    def test_both_paths_agree(self) -> None:
        subject = Subject.of(Chip)
        alone = [
            float(subject.answer(self.CASES[i].questions[1]).energy[0]) for i in range(4)
        ]

        assert subject.ask_derived(self.CASES).energy.tolist() == alone

    def test_a_machine_that_cannot_be_is_unsupported(self) -> None:
        cases = DerivedCases.of([on(units=1e9), on(units=2.0)])
        found = Subject.of(Chip).ask_derived(cases)

        assert found.unsupported.tolist() == [True, False]
        assert np.isnan(found.energy).tolist() == [True, False]
        assert np.isnan(found.energy_terms["alu"]).tolist() == [True, False]

    def test_an_unknown_knob_is_an_error_of_the_row(self) -> None:
        found = Subject.of(Chip).ask_derived(DerivedCases.of([on(), on(colour=2.0)]))

        assert list(found.errors) == [1]
        assert "no knob 'colour'" in found.errors[1]

    def test_what_a_machine_raises_is_recorded_by_row(self) -> None:
        def fails(chip: Chip, case: Case, scale: Scale) -> Estimate:
            if chip.clock > 1 and case.workload == gemm(m=4):
                raise ZeroDivisionError
            return chip.estimate(case, scale)

        found = Subject.of(Changed(answer=fails)).ask_derived(self.CASES)

        assert list(found.errors) == [3]

    def test_a_term_that_one_machine_lacks_is_0(self) -> None:
        def terms(chip: Chip, case: Case, scale: Scale) -> Estimate:
            del case, scale
            name = "fast" if chip.clock > 1 else "slow"
            return Estimate(energy=1.0, energy_terms={name: 1.0}, scope=frozenset({name}))

        found = Subject.of(Changed(answer=terms)).ask_derived(self.CASES)

        assert found.energy_terms["fast"].tolist() == [1.0, 0.0, 1.0, 1.0]
        assert found.energy_terms["slow"].tolist() == [0.0, 1.0, 0.0, 0.0]
        assert found.scope == {"fast", "slow"}

    def test_each_call_is_announced_by_its_row(self) -> None:
        beats: list[int] = []
        subject = attrs.evolve(Subject.of(Chip), heartbeat=beats.append)
        subject.ask_derived(self.CASES)

        assert sorted(beats) == [0, 1, 2, 3]

    def test_totals_keep_their_bytes(self) -> None:
        totals = [Case(Totals(ops=1, bytes=size)) for size in (8, 16, 32)]
        cases = DerivedCases.of([on(totals[0]), on(totals[1], clock=2.0), on(totals[2])])
        found = Subject.of(Changed(operators=("totals",))).ask_derived(cases)

        assert found.energy_terms["dram"].tolist() == [8e-10, 20e-10, 52e-10]


class TestQuestions:
    """What a derived case asks."""

    def test_are_the_case_as_it_is_and_derived(self) -> None:
        case = on(MAC, {"mac_energy": 2.0}, clock=4.0)

        assert case.questions == (
            Question("nominal", MAC, {}, {}),
            Question("derived", MAC, {"mac_energy": 2.0}, {"clock": 4.0}),
        )

    def test_have_their_numbers(self) -> None:
        nominal, derived = numbers_of(Subject.of(Chip), on(bandwidth=2.0))

        assert nominal.latency == 12.5
        assert derived.latency == 6.5
        assert derived.role == "derived"


class TestBatch:
    """Cases on derived machines in arrays."""

    def test_holds_each_machine_once(self) -> None:
        cases = [on(clock=2.0), on(launch=0.5), on(clock=2.0)]
        batch = DerivedCases.of(cases)

        assert batch.derivations == [
            Derivation({"clock": 2.0}),
            Derivation({"launch": 0.5}),
        ]
        assert batch.which.tolist() == [0, 1, 0]
        assert [batch[i] for i in range(3)] == cases

    def test_groups_its_rows_by_machine(self) -> None:
        derivations = [Derivation({"clock": f}) for f in (2.0, 3.0, 4.0)]
        batch = DerivedCases(Cases.of([MAC] * 3), derivations, np.array([2, 0, 2]))

        assert [(d.factors["clock"], rows.tolist()) for d, rows in batch.groups()] == [
            (2.0, [1]),
            (4.0, [0, 2]),
        ]

    def test_judges_each_machine_for_its_rows(self) -> None:
        batch = DerivedCases.of([on(clock=2.0), on(clock=4.0), on(clock=2.0)])

        assert batch.per_case(lambda d: d.factors["clock"]).tolist() == [2.0, 4.0, 2.0]


class TestExample:
    """The model in docs/models.md."""

    def test_holds_every_law_that_applies(self, tmp_path: Path) -> None:
        page = Path(__file__).parent.parent / "docs" / "models.md"
        text = page.read_text(encoding="utf-8")
        code = next(x for x in text.split("```") if x.startswith("python") and "Knob" in x)
        script = tmp_path / "npu.py"
        script.write_text(code.removeprefix("python"), encoding="utf-8")
        names = runpy.run_path(str(script))
        laws = applicable(names["Npu"])

        assert set(LAWS) - {"SCL005"} <= set(laws)
        for law in laws:
            assert_holds(law, names["Npu"], max_examples=50)


class TestChip:
    """The tiny model itself is sound."""

    @pytest.mark.parametrize("law", LAWS)
    def test_holds_every_law_of_derived_machines(self, law: str) -> None:
        assert_holds(law, Chip, max_examples=100)

    def test_is_equal_to_its_changed_self(self) -> None:
        case = DerivedCase(MAC, Derivation({"units": 2.0}))
        chip, changed = Subject.of(Chip), Subject.of(Changed())
        asked = DerivedCases.of([case])

        assert chip.ask_derived(asked).energy == changed.ask_derived(asked).energy

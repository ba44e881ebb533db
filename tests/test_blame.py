"""Blame and contrast: what a violation hangs on, and the nearest case without it."""

from __future__ import annotations

import numpy as np
import pytest

from derivable import Chip, on
from joulecheck.campaign.blame import Evidence, blame
from joulecheck.campaign.contrast import nearest_passing
from joulecheck.campaign.edits import Edit, EditedSubject, ScaledTerm, ScaledTotal
from joulecheck.campaign.search import Unit, search_and_minimise
from joulecheck.case import Case, Cases, DerivedCases
from joulecheck.counterexample import Blame, Counterexample, from_json, to_json
from joulecheck.estimate import Estimate
from joulecheck.model import Subject
from joulecheck.property import Property, installed, property_named
from joulecheck.reports.findings import counterexample_lines
from joulecheck.resolve import ModelRef
from joulecheck.workload import Gemm, Precision
from tiny import Tiny, TinyInBatches

PLACES = {
    "dropped-term": ("static", "add term static to the total energy"),
    "misplaced-layer": ("dram", "take term dram out of the prediction up to SCRATCHPAD"),
    "roofline-minimum": ("latency", "compose the latency of its terms as declared"),
    "flipped-sign": ("SCRATCHPAD", "turn the sign of all of layer SCRATCHPAD"),
    "dear-int8": ("energy", "divide by 8 energy at INT8"),
    "int8-as-fp32": ("energy", "halve energy at INT8"),
    "dead-coefficient": ("dram_energy", "let term dram read coefficient dram_energy"),
    "leaking-coefficient": (
        "dram_energy",
        "keep coefficient dram_energy out of term l1",
    ),
    "hidden-constant": ("alu", "drop energy term alu"),
    "compute-only-roofline": ("latency", "compose the latency of its terms as declared"),
    "inverted-utilisation": ("utilisation", "invert the utilisation"),
}
"""Planted faults, and the target and the change that a good blame names first."""


def evidence(law: Property, model: Subject) -> Evidence:
    space = law.space(model)
    rows = space.sample(np.random.default_rng(1), 2048)
    margins = law.checked_margin(model, space.batch(rows))
    return Evidence(rows[margins < 0], rows[margins >= 0])


def blamed(law: Property) -> Blame:
    model = ModelRef(law.planted.model, law.planted.fault).load()
    case = law.planted.shrinks_to
    return blame(law, model, law.space(model), case, evidence(law, model))


def law_of(fault: str) -> Property:
    return next(law for law in installed().values() if law.planted.fault == fault)


class TestBlame:
    """The single change that repairs a violation."""

    @pytest.mark.parametrize("fault", PLACES)
    def test_names_the_planted_place(self, fault: str) -> None:
        first = blamed(law_of(fault)).repairs[0]

        assert (first.target, first.change) == PLACES[fault]
        assert first.repaired == 1.0
        assert first.broken == 0.0

    def test_names_a_layer_of_several_terms(self) -> None:
        model = ModelRef("reference:Intel-i7-12700K", "layer-dropped#0").load()
        law = property_named("CMP001")

        found = search_and_minimise(
            Unit(model.name, law.id, 1, 0, 256), model, law
        ).counterexample

        assert found is not None
        assert found.blame is not None
        first = found.blame.repairs[0]
        assert first.change == "add all of layer SCRATCHPAD to the total energy"

    def test_says_nothing_where_no_single_change_repairs(self) -> None:
        assert blamed(property_named("MON002")).repairs == ()

    def test_names_the_total_where_no_factor_repairs(self) -> None:
        model = ModelRef("reference:Google-TPU-v4", "int16-wrap#0").load()
        law = property_named("BND001")
        case = Case(Gemm(m=1, n=65536, k=1), Precision.INT8)

        found = blame(law, model, law.space(model), case, evidence(law, model))

        assert [repair.target for repair in found.repairs] == ["latency"]
        assert found.repairs[0].change == "answer a much larger latency"

    def test_names_a_term_where_all_coefficients_are_scaled_alike(self) -> None:
        model = ModelRef("reference:Google-TPU-v4", "leaking-coefficient#0").load()
        law = property_named("SCL001")

        unit = Unit(model.name, law.id, 1, 0, 2000)
        found = search_and_minimise(unit, model, law).counterexample

        assert found is not None
        assert found.blame is not None
        assert found.blame.repairs[0].target == "array"

    def test_names_a_memory_whose_bytes_are_too_many(self) -> None:
        model = ModelRef("reference:Stillwater-DFM-128", "four-bytes#0").load()
        law = property_named("BND005")

        unit = Unit(model.name, law.id, 1, 0, 4000)
        found = search_and_minimise(unit, model, law).counterexample

        assert found is not None
        assert found.blame is not None
        assert "local" in [repair.target for repair in found.blame.repairs]

    def test_blames_no_number_for_a_state_that_is_kept(self) -> None:
        assert blamed(property_named("DET001")) == Blame()

    def test_says_which_numbers_move_the_margin(self) -> None:
        found = blamed(property_named("BND004"))

        assert list(found.terms) == ["dram"]
        assert list(found.coefficients) == ["dram_energy"]
        assert found.terms["dram"] > 0

    @pytest.mark.parametrize("law", ["CMP001", "CMP002", "CMP007", "MON005"])
    @pytest.mark.parametrize(
        "edit",
        [ScaledTerm("alu", 0.0), ScaledTerm("dram", 2.0), ScaledTotal("energy", 8.0)],
    )
    def test_changes_an_energy_wherever_it_counts(self, law: str, edit: Edit) -> None:
        model = EditedSubject.of_subject(ModelRef("reference:Google-TPU-v4").load(), edit)
        cases = [Case(Gemm(m=m, n=8, k=8), Precision.BF16) for m in (1, 1000)]

        assert (property_named(law).checked_margin(model, Cases.of(cases)) >= 0).all()

    def test_asks_a_scalar_model_too(self) -> None:
        model = Subject.of(
            Tiny(
                lambda case: Estimate(
                    energy=2e-12 * case.ops,
                    energy_terms={"alu": 1e-12 * case.ops, "wire": 2e-12 * case.ops},
                )
            )
        )
        law = property_named("CMP001")
        space = law.space(model)

        found = blame(law, model, space, Case(Gemm(m=1, n=1, k=1)), Evidence.none(space))

        changes = [repair.change for repair in found.repairs]
        assert "add term alu to the total energy" in changes


class TestContrast:
    """The nearest case that holds."""

    @staticmethod
    def nearest(limit: int, *, batch: bool = True) -> Case | None:
        def wrong(case: Case) -> bool:
            gemm = case.workload
            return isinstance(gemm, Gemm) and gemm.m >= limit

        def answer(case: Case) -> Estimate:
            return Estimate(energy=-1.0 if wrong(case) else 1.0)

        def answers(cases: object) -> Estimate:
            return Estimate(energy=np.array([answer(case).energy for case in cases]))  # type: ignore[attr-defined]

        made = TinyInBatches(answer, answers) if batch else Tiny(answer)
        model = Subject.of(made)
        law = property_named("MON001")
        space = law.space(model)
        row = space.genes_of(Case(Gemm(m=limit, n=1, k=1)))
        near = nearest_passing(
            space,
            row,
            lambda rows: law.checked_margin(model, space.batch(rows)),
            vectorised=model.vectorised,
        )
        return None if near is None else space.build(near)  # type: ignore[return-value]

    @pytest.mark.parametrize("batch", [True, False], ids=["in batches", "one by one"])
    def test_is_one_step_below_a_threshold(self, *, batch: bool) -> None:
        assert self.nearest(1000, batch=batch) == Case(Gemm(m=999, n=1, k=1))

    def test_is_none_where_everything_fails(self) -> None:
        law = property_named("CMP001")
        model = ModelRef(law.planted.model, "dropped-term").load()
        space = law.space(model)
        row = space.genes_of(Case(Gemm(m=1, n=1, k=1)))

        near = nearest_passing(
            space,
            row,
            lambda rows: np.full(len(rows), -1.0),
            vectorised=True,
        )

        assert near is None


class TestInACounterexample:
    """Blame and contrast travel with the finding."""

    @staticmethod
    def found() -> Counterexample:
        ref = ModelRef("reference:Intel-i7-12700K", "misplaced-layer")
        law = property_named("CMP002")
        outcome = search_and_minimise(Unit(ref.name, law.id, 1, 0, 2000), ref.load(), law)
        assert outcome.counterexample is not None
        return outcome.counterexample

    def test_survives_json(self) -> None:
        found = self.found()

        assert found.blame is not None
        assert from_json(to_json(found)) == found

    def test_is_told_in_words(self) -> None:
        lines = dict(reversed(counterexample_lines(self.found())))

        assert lines["blame"].startswith("take term dram out of the prediction")
        assert "repairs 100% of the failing cases seen" in lines["blame"]


class TestDerived:
    """A change to the answers is one to those of derived machines too."""

    def test_goes_with_the_machine(self) -> None:
        subject, cases = Subject.of(Chip), DerivedCases.of([on(clock=2.0), on()])
        edited = EditedSubject.of_subject(subject, ScaledTotal("latency", 2.0))

        found = edited.ask_derived(cases).latency

        assert found.tolist() == (2 * subject.ask_derived(cases).latency).tolist()

    def test_names_the_term_that_a_derived_machine_gets_wrong(self) -> None:
        law = property_named("SEN007")
        model = ModelRef("reference:Intel-i7-12700K", "clocked-launch").load()

        found = search_and_minimise(
            Unit(model.name, law.id, 1, 0, 4096), model, law
        ).counterexample

        assert found is not None
        assert found.blame is not None
        assert found.blame.repairs[0].target == "launch"
        assert from_json(to_json(found)) == found

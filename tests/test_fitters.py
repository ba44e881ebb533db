"""Fitters: coefficients from outputs alone, and models whose outputs contradict them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner, Result

from joulecheck.case import Case, Cases
from joulecheck.cli import app
from joulecheck.coefficient import Coefficient, Provenance
from joulecheck.errors import InvalidModel, NotOffered
from joulecheck.estimate import Estimate
from joulecheck.faults import Fault, fault_named, inject
from joulecheck.faults.planted import Arrays, FaultyModel, dearer
from joulecheck.model import Scales, Subject, registered
from joulecheck.reference import MACHINES
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.roofline import ROOFLINES
from joulecheck.reports.fit import document
from joulecheck.scoring.mutants import REPRESENTATIVES
from joulecheck.validation.counts import ITS_EVENTS
from joulecheck.validation.fit_record import apply_to_model
from joulecheck.validation.fitters import (
    ACCURACY,
    Fit,
    Fitted,
    Status,
    fit,
)
from joulecheck.validation.ledger import Ledger, Support
from tiny import Tiny, energy

INTEL = "Intel-i7-12700K"
TPU = "Google-TPU-v1"
CASES = 400

TOLD = (Status.RECOVERED, Status.UP_TO_A_CONSTANT, Status.UNCOUNTED)


def reference(name: str) -> Subject:
    return registered("reference", name.removeprefix("reference:"))


@cache
def fully_fitted(name: str) -> Fit:
    return fit(reference(name))


def fitted(name: str, fault: str | None = None) -> Fit:
    model = reference(name)
    return fit(inject(model, fault_named(fault)) if fault else model, cases=CASES)


def fitted_without_events(name: str) -> Fit:
    """That of the same model, which does not tell its events."""

    def silent(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        return attrs.evolve(model.estimate_batch(cases, scales), events={})

    return fit(inject(reference(name), Fault("silent", "", silent)), cases=CASES)


def named(found: Fit, name: str) -> Fitted:
    return next(one for one in found.coefficients if one.name == name)


class TestReferenceModels:
    """Sound models."""

    @pytest.mark.parametrize("name", MACHINES)
    def test_every_coefficient_is_recovered(self, name: str) -> None:
        found = fully_fitted(name)

        assert found.is_sound
        assert {one.name for one in found.coefficients} == set(
            reference(name).energy_coefficients
        )
        for one in found.coefficients:
            assert one.status is Status.RECOVERED, one.name
            assert one.error is not None
            assert one.error <= ACCURACY

    @pytest.mark.parametrize("name", REPRESENTATIVES)
    def test_arithmetic_far_memory_and_static_power_need_no_events(self, name: str) -> None:
        found = fitted_without_events(name)

        assert found.is_sound
        assert {one.status for one in found.coefficients} <= set(TOLD)
        for one in found.coefficients:
            stem = one.name.partition(".")[0]
            if stem in {"mac_energy", "op_energy", "dram_energy", "static_power"}:
                assert one.status is Status.RECOVERED, one.name

    def test_prices_of_one_count_are_named_as_a_combination(self) -> None:
        found = fitted(INTEL)

        pipeline = ("fetch_energy", "decode_energy", "dispatch_energy")
        assert pipeline in found.combinations
        assert named(found, "fetch_energy").shares_count_with == pipeline[1:]

    def test_a_price_of_instructions_needs_their_count(self) -> None:
        told = named(fitted(INTEL), "fetch_energy")
        untold = named(fitted_without_events(INTEL), "fetch_energy")

        assert told.status is Status.RECOVERED
        assert told.count == ITS_EVENTS
        assert untold.status is Status.UNCOUNTED
        assert untold.value is None

    def test_a_count_from_outside_is_named_before_what_the_model_tells(self) -> None:
        assert named(fitted(INTEL), "l2_energy").count == "bytes of l2"

    def test_two_prices_of_the_same_bytes_are_told_apart_by_scaling(self) -> None:
        found = fitted("Stillwater-KPU-T256")

        assert ("dma_energy", "dram_energy") in found.combinations
        assert named(found, "dma_energy").status is Status.RECOVERED
        assert named(found, "dram_energy").status is Status.RECOVERED

    def test_a_price_of_bytes_in_proportion_to_macs_is_known_times_a_constant(self) -> None:
        one = named(fitted_without_events("Hailo-8"), "accumulation_energy")

        assert one.status is Status.UP_TO_A_CONSTANT
        assert one.count == "MACs"
        assert one.constant == pytest.approx(0.125)
        assert one.value is None

    def test_bytes_follow_from_a_time_where_traffic_is_not_told(self) -> None:
        one = named(fitted("Hailo-8"), "hop_energy")

        assert one.status is Status.RECOVERED
        assert one.count == "bytes of mesh by its time and bandwidth"

    def test_the_condition_is_that_of_distinct_counts(self) -> None:
        assert 1 < fitted(INTEL).condition < 1e4


class TestFaults:
    """Models whose outputs contradict what they declare."""

    @pytest.mark.parametrize("name", REPRESENTATIVES)
    def test_a_dead_coefficient_is_found(self, name: str) -> None:
        found = fitted(name, "dead-coefficient")

        (dead,) = found.faults
        assert dead.status is Status.DEAD
        assert found.hides
        assert found.hidden > 0

    @pytest.mark.parametrize("name", REPRESENTATIVES)
    def test_a_hidden_constant_is_found_and_its_term(self, name: str) -> None:
        found = fitted(name, "hidden-constant")

        assert found.hides
        assert found.hidden_terms == ("alu",)

    @pytest.mark.parametrize("name", REPRESENTATIVES)
    def test_a_hidden_share_of_a_term_is_found(self, name: str) -> None:
        fault = fault_named("hidden-constant#0")
        model = reference(name).model
        assert isinstance(model, LayeredModel)
        places = fault.drawn(model).places  # type: ignore[union-attr]  # it is a mutation

        found = fitted(name, "hidden-constant#0")

        assert set(found.hidden_terms) <= places
        assert found.hidden_terms

    @pytest.mark.parametrize("name", REPRESENTATIVES)
    def test_a_leaking_coefficient_is_found_and_where_it_leaks(self, name: str) -> None:
        found = fitted(name, "leaking-coefficient")

        (leaking,) = found.faults
        assert leaking.status is Status.LEAKING
        assert len(leaking.also_moves) == 1
        assert found.hidden < 0

    def test_a_squared_coefficient_is_found_with_its_power(self) -> None:
        found = fitted(TPU, "squared-coefficient#0")

        (squared,) = found.faults
        assert squared.status is Status.NOT_LINEAR
        assert squared.order == pytest.approx(2.0, abs=0.01)

    @pytest.mark.parametrize("name", [INTEL, "Google-TPU-v4", "Hailo-8"])
    def test_a_mis_scaled_price_is_found_with_its_factor(self, name: str) -> None:
        found = fitted(name, "dear-int8")

        mac = named(found, "mac_energy.INT8")
        assert mac.status is Status.MIS_SCALED
        assert mac.constant == pytest.approx(8.0)
        assert mac.error == pytest.approx(7.0)

    def test_a_price_of_control_that_is_slipped_is_found_with_its_factor(self) -> None:
        fault = fault_named("coefficient-slip#0")
        model = reference("Hailo-8").model
        assert isinstance(model, LayeredModel)
        what = fault.drawn(model).what  # type: ignore[union-attr]  # it is a mutation
        name, _, factor = what.split()

        (wrong,) = fitted("Hailo-8", "coefficient-slip#0").faults

        assert (wrong.name, wrong.status) == (name, Status.MIS_SCALED)
        assert wrong.constant == pytest.approx(float(factor))

    def test_energy_that_does_not_follow_the_events_is_found(self) -> None:
        def doubled(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
            found = model.estimate_batch(cases, scales)
            rows = cases.operators.per_case(cases.operators.m)
            events = {**found.events, "fetch_energy": rows}
            return attrs.evolve(found, events=events)

        faulty = inject(reference(INTEL), Fault("doubled", "", doubled))

        (wrong,) = fit(faulty, cases=CASES).faults

        assert (wrong.name, wrong.status) == ("fetch_energy", Status.MISCOUNTED)

    def test_a_count_that_is_charged_as_it_is_told_is_not_seen(self) -> None:
        def halved(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
            found = Arrays.of(model.estimate_batch(cases, scales))
            half = 0.5 * found.events["fetch_energy"]
            price = model.coefficients["fetch_energy"].value
            more = half * price * scales.get("fetch_energy", 1.0)
            cheaper = dearer(model, found, "pipeline", -more)
            return attrs.evolve(cheaper, events={**found.events, "fetch_energy": half})

        faulty = inject(reference(INTEL), Fault("halved", "", halved))

        assert fit(faulty, cases=CASES).is_sound

    def test_a_memory_whose_bytes_are_priced_by_width_is_found(self) -> None:
        found = fitted(TPU, "scaled-twice#0")

        (wrong,) = found.faults
        assert wrong.name == "staging_energy"
        assert wrong.status is Status.MISCOUNTED

    def test_a_write_that_is_priced_as_a_read_is_dead(self) -> None:
        found = fitted(TPU, "read-for-write#0")

        read, write = found.faults
        assert (write.name, write.status) == ("accumulator_write_energy", Status.DEAD)
        assert (read.name, read.status) == ("accumulator_read_energy", Status.MIS_SCALED)
        assert read.constant is not None
        assert read.constant > 1


class TestOwnModels:
    """Models of a user's own."""

    @staticmethod
    def model(
        mac: float = 1.0,
        floor: float = 0.0,
        memory: float = 20e-12,
        declares: float = 1e-12,
    ) -> Subject:
        """Whose MAC costs `mac` pJ and declares a price, with energy beside the terms."""

        def answer(case: Case, scale: Mapping[str, float]) -> Estimate:
            terms = {
                "alu": mac * 1e-12 * case.macs * scale.get("mac", 1.0),
                "dram": memory * case.bytes * scale.get("dram", 1.0),
            }
            return Estimate(energy=sum(terms.values()) + floor * case.ops)

        declared = {
            "mac": Coefficient("mac", declares, "J/MAC"),
            "dram": Coefficient("dram", memory, "J/B"),
        }
        return Subject.of(Tiny(answer, coefficients=declared))

    def test_one_without_terms_and_without_a_batch_path_is_recovered(self) -> None:
        found = fit(self.model())

        assert found.is_sound
        assert [one.status for one in found.coefficients] == [Status.RECOVERED] * 2
        assert named(found, "dram").count == "compulsory external bytes"

    def test_a_pair_of_operations_of_totals_counts_as_a_mac(self) -> None:
        found = fit(Subject.of(ROOFLINES["Hailo-8"]()))

        assert named(found, "mac_energy.INT8").status is Status.RECOVERED

    def test_a_price_that_is_half_the_declared_one_is_found(self) -> None:
        mac = named(fit(self.model(mac=0.5)), "mac")

        assert mac.status is Status.MIS_SCALED
        assert mac.value == pytest.approx(0.5e-12)

    def test_energy_beside_the_terms_is_hidden(self) -> None:
        found = fit(self.model(floor=1e-13))

        assert found.hides
        assert not found.faults

    def test_a_price_that_is_declared_0_is_not_dead(self) -> None:
        found = fit(self.model(memory=0.0))

        assert found.is_sound
        assert named(found, "dram").status is Status.ZERO

    def test_a_price_that_is_declared_0_and_charged_is_found(self) -> None:
        mac = named(fit(self.model(declares=0.0)), "mac")

        assert mac.status is Status.MIS_SCALED
        assert mac.value == pytest.approx(1e-12)
        assert json.loads(json.dumps(document([fit(self.model(declares=0.0))])))

    def test_one_without_coefficients_is_told_how_to_have_some(self) -> None:
        with pytest.raises(NotOffered, match=r"fitted: .* declare coefficients"):
            fit(Subject.of(Tiny(energy)))

    def test_one_whose_coefficients_are_no_prices_is_told(self) -> None:
        rate = Coefficient("rate", 1e9, "op/s")
        model = Tiny(lambda case, _: energy(case), coefficients={"rate": rate})

        with pytest.raises(NotOffered, match="no coefficient is in J or W, but in op/s"):
            fit(Subject.of(model))

    @pytest.mark.parametrize("joule", [0.0, -1.0, math.nan])
    def test_one_without_energy_above_0_is_told(self, joule: float) -> None:
        mac = Coefficient("mac", 1e-12, "J/MAC")
        model = Tiny(lambda _, __: Estimate(energy=joule), coefficients={"mac": mac})

        with pytest.raises(InvalidModel, match="must be a finite number above 0"):
            fit(Subject.of(model))


class TestApplying:
    """What a fit leaves in the record."""

    def test_what_is_recovered_is_theoretical_and_no_number_changes(self) -> None:
        model, ledger = reference(INTEL), Ledger()

        same = apply_to_model(fitted(INTEL), model, ledger)

        assert same is model
        entry = ledger.entry(model.name, "l2_energy")
        assert entry is not None
        (support,) = entry.evidence
        assert isinstance(support, Support)
        assert support.level is Provenance.THEORETICAL
        assert support.greatest_error is not None
        assert support.greatest_error <= ACCURACY
        assert "bytes of l2" in support.note

    def test_a_core_field_is_backed_by_the_coefficients_that_it_stands_for(self) -> None:
        ledger = Ledger()

        apply_to_model(fitted(INTEL), reference(INTEL), ledger)

        entry = ledger.entry(f"reference:{INTEL}", "energy_per_byte")
        assert entry is not None
        assert entry.evidence

    def test_what_outputs_do_not_tell_gets_no_evidence(self) -> None:
        ledger = Ledger()

        apply_to_model(fitted_without_events(INTEL), reference(INTEL), ledger)

        entry = ledger.entry(f"reference:{INTEL}", "fetch_energy")
        assert entry is not None
        assert not entry.evidence
        assert not entry.flags

    def test_a_coefficient_that_is_wrong_is_flagged_until_it_is_right(self) -> None:
        ledger, model = Ledger(), reference(INTEL)

        apply_to_model(fitted(INTEL, "dead-coefficient"), model, ledger)

        entry = ledger.entry(model.name, "dram_energy")
        assert entry is not None
        assert [flag.reason for flag in entry.blamed] == [
            "dram_energy: no output responds to it"
        ]

        apply_to_model(fitted(INTEL), model, ledger)

        entry = ledger.entry(model.name, "dram_energy")
        assert entry is not None
        assert not entry.flags

    def test_a_model_gets_fitted_values_where_that_is_asked_for(self) -> None:
        """What INT8 costs more becomes its price, and nothing else changes."""
        model = reference(INTEL)
        faulty = inject(model, fault_named("dear-int8"))
        found = fit(faulty, cases=CASES)

        changed = apply_to_model(found, faulty, Ledger(), values=True)

        before = model.coefficients["mac_energy.INT8"].value
        assert isinstance(changed.model, FaultyModel)
        assert changed.coefficients["mac_energy.INT8"].value == pytest.approx(8 * before)
        assert changed.coefficients["dram_energy"] == model.coefficients["dram_energy"]

    def test_a_model_that_takes_no_values_is_told(self) -> None:
        model = TestOwnModels.model(mac=0.5)

        with pytest.raises(NotOffered, match="cannot be built with other values"):
            apply_to_model(fit(model), model, Ledger(), values=True)


class TestCommand:
    """The command line."""

    @staticmethod
    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["fit", *arguments, "--cases", "200"])

    def test_a_sound_model_passes_with_a_row_a_coefficient(self) -> None:
        done = self.run("reference:Hailo-8")

        assert done.exit_code == 0
        assert "11 of 11 coefficients recovered" in done.output
        assert "4 by events alone" in done.output
        assert "bytes of local" in done.output

    def test_several_models_have_a_line_each(self) -> None:
        done = self.run("reference:Hailo-*")

        assert done.exit_code == 0
        assert "bytes of local" not in done.output

    def test_a_fault_fails(self) -> None:
        done = self.run("reference:Hailo-8", "--inject", "dead-coefficient")

        assert done.exit_code == 1
        assert "no output responds to it" in done.output

    def test_a_ledger_is_written(self, tmp_path: Path) -> None:
        file = tmp_path / "ledger.json"

        done = self.run("reference:Hailo-8", "--ledger", str(file))
        refused = self.run(
            "reference:Hailo-8", "--ledger", str(file), "--inject", "dead-coefficient"
        )

        assert done.exit_code == 0
        assert Ledger.load(file).machines == ["reference:Hailo-8"]
        assert refused.exit_code == 2

    def test_data_has_every_figure(self) -> None:
        done = self.run("reference:Hailo-8", "--output-format", "json")

        (model,) = json.loads(done.stdout)["models"]
        local = next(c for c in model["coefficients"] if c["name"] == "local_energy")
        assert model["sound"] is True
        assert local["status"] == "RECOVERED"
        assert local["fitted"] == pytest.approx(local["declared"])


def test_what_is_known_does_not_depend_on_the_seed() -> None:
    first, second = (fit(reference("Hailo-8"), seed=seed) for seed in (1, 2))

    kept = [
        attrs.evolve(one, value=None, constant=None, share=0.0)
        for one in first.coefficients
    ]
    again = [
        attrs.evolve(one, value=None, constant=None, share=0.0)
        for one in second.coefficients
    ]
    assert kept == again

"""Predictions beside measurements, and hosts that are fitted to some."""

from __future__ import annotations

import json
import math
from pathlib import Path

import attrs
import numpy as np
import pytest

from joulecheck.campaign.campaign import Campaign, Extent
from joulecheck.campaign.events import CampaignFinished, CounterexampleFound
from joulecheck.campaign.workers import Inline
from joulecheck.case import Case, MeasuredCase
from joulecheck.coefficient import Provenance
from joulecheck.counterexample import from_json, to_json
from joulecheck.errors import InvalidMachine, InvalidMeasurement, InvalidSetting
from joulecheck.faults import fault_named, inject
from joulecheck.model import Subject
from joulecheck.property import property_named, selected
from joulecheck.reference import load_model
from joulecheck.validation import host, host_fit
from joulecheck.validation.calibration import note
from joulecheck.validation.host import Host, HostModel
from joulecheck.validation.ledger import Ledger
from joulecheck.validation.measurement import Measurement
from joulecheck.validation.overlay import Verdict, counterexample, overlay
from joulecheck.workload import Elementwise, Function, Gemm, Precision

LAW = property_named("MEA001")

V100 = Subject.of(load_model("V100-SXM3-32GB"), name="reference:V100-SXM3-32GB")

LAPTOP = Host(
    name="laptop",
    peak={Precision.FP32: 2e11, Precision.FP64: 1e11},
    bandwidth=2e10,
    launch=1e-6,
    conditions="made up",
    measurements=20,
)


def taken(model: Subject, case: Case, factor: float = 1.0, **more: object) -> Measurement:
    """What a machine would take that is `factor` times as slow as the model says."""
    predicted = float(model.answer(case.questions[0]).latency[0])
    told = {"latency": predicted * factor, "machine": model.name, **more}
    return Measurement(case=case, **told)  # type: ignore[arg-type]


def held(*measurements: Measurement, model: Subject = V100, tolerance: float = 0.2):  # noqa: ANN201
    return overlay(measurements, lambda _: model, tolerance)


SMALL, LARGE = Case(Gemm(16, 16, 16)), Case(Gemm(8192, 8192, 8192), Precision.FP16)


class TestLaw:
    def test_it_catches_its_planted_bug_and_holds_without(self) -> None:
        planted = LAW.planted
        model = Subject.of(load_model(planted.model.partition(":")[2]), name=planted.model)

        assert LAW.margin_of(model, planted.shrinks_to) > 0
        faulty = inject(model, fault_named(planted.fault))
        assert LAW.margin_of(faulty, planted.shrinks_to) < 0

    def test_double_is_as_wrong_as_half(self) -> None:
        margins = [
            LAW.margin_of(
                V100,
                MeasuredCase(
                    case=LARGE, latency=taken(V100, LARGE, factor).latency, tolerance=0.2
                ),
            )
            for factor in (0.5, 2.0)
        ]

        assert margins[0] == pytest.approx(margins[1])
        assert margins[0] == pytest.approx(math.log(1.2 / 2))

    def test_it_says_nothing_where_the_model_does_not(self) -> None:
        case = MeasuredCase(case=LARGE, energy=1.0, tolerance=0.2)

        assert math.isnan(LAW.margin_of(Subject.of(HostModel(LAPTOP)), case))

    def test_no_campaign_draws_it(self) -> None:
        assert LAW not in selected((), ())


class TestVerdicts:
    @pytest.mark.parametrize(
        ("factor", "verdict"),
        [
            (1.0, Verdict.AGREES),
            (1.19, Verdict.AGREES),
            (1.21, Verdict.DISAGREES),
            (1 / 1.19, Verdict.AGREES),
            (1 / 1.21, Verdict.DISAGREES),
        ],
    )
    def test_the_tolerance_is_a_factor(self, factor: float, verdict: Verdict) -> None:
        (compared,) = held(taken(V100, LARGE, factor)).comparisons

        assert compared.verdict is verdict
        assert compared.ratio == pytest.approx(1 / factor)

    def test_repeats_on_both_sides_of_the_prediction_decide_nothing(self) -> None:
        one = taken(V100, LARGE, 1.5)
        assert one.latency
        noisy = attrs.evolve(one, latency_min=one.latency / 2, latency_max=one.latency)
        wide = attrs.evolve(one, latency_min=one.latency / 1.1, latency_max=one.latency * 3)

        verdicts = [c.verdict for c in held(noisy, wide).comparisons]

        assert verdicts == [Verdict.TOO_NOISY, Verdict.DISAGREES]

    def test_what_is_not_predicted_says_why(self) -> None:
        model = Subject.of(HostModel(LAPTOP), name="host:laptop")
        asked = [
            Measurement(machine="host:laptop", case=LARGE, latency=1.0),
            Measurement(machine="host:laptop", case=SMALL, energy=1.0),
        ]

        compared = held(*asked, model=model).comparisons

        assert {c.verdict for c in compared} == {Verdict.NOT_PREDICTED}
        assert "does not support" in compared[0].because
        assert compared[1].because == "the model predicts no energy"

    def test_a_tolerance_of_nothing_is_refused(self) -> None:
        with pytest.raises(InvalidSetting, match="tolerance must be above 0"):
            held(taken(V100, LARGE), tolerance=0.0)


class TestFigures:
    def test_a_large_gemm_hangs_on_the_clock_and_a_small_one_on_the_launch(self) -> None:
        large, small = held(taken(V100, LARGE), taken(V100, SMALL)).comparisons

        assert large.leading == "clock"
        assert large.figures["clock"] == pytest.approx(-1, abs=0.1)
        assert small.leading == "launch"

    def test_energy_hangs_on_coefficients(self) -> None:
        predicted = float(V100.answer(LARGE.questions[0]).energy[0])
        one = Measurement(machine=V100.name, case=LARGE, energy=predicted)

        (compared,) = held(one).comparisons

        assert compared.quantity == "energy"
        assert sum(compared.figures[n] for n in compared.figures if "energy" in n) > 0.5

    def test_agreement_confirms_what_decides_it(self) -> None:
        (found,) = held(taken(V100, LARGE), taken(V100, LARGE, 1.1)).calibrated

        assert found.figure == "clock"
        assert found.ratios == pytest.approx([1.0, 1 / 1.1])

    def test_one_that_disagrees_takes_the_confirmation_away(self) -> None:
        other = Case(Gemm(4096, 8192, 8192), Precision.FP16)

        assert held(taken(V100, LARGE), taken(V100, other, 2.0)).calibrated == []

    def test_what_a_model_was_fitted_to_confirms_nothing(self) -> None:
        assert held(taken(V100, LARGE, use="fit")).calibrated == []

    def test_disagreements_are_grouped_by_the_figure_and_say_what_would_repair(
        self,
    ) -> None:
        found = held(
            taken(V100, LARGE, 2.0), taken(V100, LARGE, 2.2), taken(V100, SMALL, 3.0)
        ).disagreements

        assert [d.figure for d in found] == ["clock", "launch"]
        assert found[0].repair == pytest.approx(1 / 2.1, rel=0.05)
        assert found[1].repair == pytest.approx(3.0, rel=0.1)
        assert found[0].worst.ratio == pytest.approx(1 / 2.2)

    def test_what_repairs_leaves_the_rest_of_the_prediction_as_it_is(self) -> None:
        half = Case(Gemm(1, 1, 1), Precision.FP32)
        host_model = Subject.of(HostModel(attrs.evolve(LAPTOP, launch=12 / 2e10)))
        (nominal,) = host_model.answer(half.questions[0]).latency

        (found,) = held(taken(host_model, half, 1.5), model=host_model).disagreements

        repaired = host_model.derived({found.figure: found.repair or 0.0})
        again = float(repaired.answer(half.questions[0]).latency[0])
        assert again == pytest.approx(1.5 * nominal, rel=0.01)

    def test_nothing_repairs_where_the_rest_alone_is_too_much(self) -> None:
        half = Case(Gemm(1, 1, 1), Precision.FP32)
        host_model = Subject.of(HostModel(attrs.evolve(LAPTOP, launch=12 / 2e10)))

        (found,) = held(taken(host_model, half, 0.1), model=host_model).disagreements

        assert found.repair is None

    @pytest.mark.parametrize("joule", [5e-324, 1e-300, 1e300, 1.7e308])
    def test_any_number_can_be_compared(self, joule: float) -> None:
        one = Measurement(machine=V100.name, case=SMALL, energy=joule, latency=joule)

        found = held(one)

        assert {c.verdict for c in found.comparisons} == {Verdict.DISAGREES}
        for other in found.disagreements:
            filed = counterexample(other, V100, 0.2)
            assert from_json(to_json(filed)) == filed

    def test_a_disagreement_is_a_finding_that_names_its_figures(self) -> None:
        (found,) = held(taken(V100, LARGE, 2.0)).disagreements

        filed = counterexample(found, V100, 0.2)

        assert filed.margin == pytest.approx(LAW.margin_of(V100, filed.case))
        assert filed.margin < 0
        assert filed.blame is not None
        assert filed.blame.coefficients["clock"] < 0  # a faster clock makes it worse
        assert from_json(to_json(filed)) == filed


class TestLedger:
    PEAK = "peak_ops_per_sec.FP16"

    def test_what_is_confirmed_is_calibrated_at_the_precision_that_was_measured(
        self,
    ) -> None:
        ledger = Ledger()

        note(ledger, held(taken(V100, LARGE, conditions="at 1.2 GHz")), V100, {})

        entry = ledger.entry(V100.name, self.PEAK)
        assert entry is not None
        assert entry.level is Provenance.CALIBRATED
        assert entry.evidence[0].note == "at 1.2 GHz"  # type: ignore[union-attr]
        assert ledger.entry(V100.name, "peak_ops_per_sec.FP32") is None

    def test_a_price_is_calibrated_with_the_core_field_that_it_makes(self) -> None:
        model = Subject.of(load_model("Stillwater-KPU-T256"), name="reference:KPU")
        stream = Case(Elementwise(Function.ADD, (1 << 24,)))
        predicted = float(model.answer(stream.questions[0]).energy[0])
        one = Measurement(machine=model.name, case=stream, energy=predicted)
        ledger = Ledger()

        note(ledger, held(one, model=model), model, {})

        levels = {name: e.level for name, e in ledger.entries(model.name).items()}
        assert levels == {
            "dram_energy": Provenance.CALIBRATED,
            "energy_per_byte": Provenance.CALIBRATED,
        }

    def test_what_is_contradicted_is_flagged_with_its_finding(self) -> None:
        found, ledger = held(taken(V100, LARGE, 2.0)), Ledger()
        (one,) = found.disagreements

        note(ledger, found, V100, {one: "F-12345678"})

        entry = ledger.entry(V100.name, self.PEAK)
        assert entry is not None
        assert [(f.property, f.finding) for f in entry.blamed] == [("MEA001", "F-12345678")]

    def test_a_flag_goes_when_the_measurement_agrees(self) -> None:
        ledger, wrong = Ledger(), held(taken(V100, LARGE, 2.0))
        note(ledger, wrong, V100, {})

        note(ledger, held(taken(V100, LARGE)), V100, {})

        entry = ledger.entry(V100.name, self.PEAK)
        assert entry is not None
        assert entry.flags == ()


class TestHosts:
    def test_a_roofline_is_found_again_in_its_own_latencies(self) -> None:
        model = Subject.of(HostModel(LAPTOP), name="host:laptop")
        cases = host_fit.workloads((Precision.FP64, Precision.FP32))
        rng = np.random.default_rng(1)
        measured = [
            taken(model, case, float(rng.lognormal(sigma=0.02)), use=use)
            for use, some in cases.items()
            for case in some
        ]

        fitted = host_fit.fit("laptop", measured)

        assert fitted.peak == pytest.approx(LAPTOP.peak, rel=0.05)
        assert fitted.bandwidth == pytest.approx(LAPTOP.bandwidth, rel=0.05)
        assert fitted.launch == pytest.approx(LAPTOP.launch, rel=0.05)

    def test_what_it_is_checked_with_does_not_fit_it(self) -> None:
        cases = host_fit.workloads((Precision.FP32,))

        assert not set(cases["fit"]) & set(cases["check"])

    def test_measurements_that_memory_never_bounds_are_refused(self) -> None:
        one = Measurement(machine="host:x", case=LARGE, latency=1.0, use="fit")

        with pytest.raises(InvalidMeasurement, match="bound by the memory"):
            host_fit.fit("x", [one])
        with pytest.raises(InvalidMeasurement, match="no measurement of x"):
            host_fit.fit("x", [attrs.evolve(one, use="check")])

    def test_a_host_keeps_the_laws(self) -> None:
        subject = Subject.of(HostModel(LAPTOP))
        campaign = Campaign(
            [subject],
            selected((), ()),
            seed=1,
            extent=Extent(cases=2048),
            executor=Inline({subject.name: subject}),
        )

        events = list(campaign.run())

        assert [e for e in events if isinstance(e, CounterexampleFound)] == []
        assert isinstance(events[-1], CampaignFinished)
        assert events[-1].vacuous == ()

    def test_its_file_comes_back_equal(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(host.FOLDER, str(tmp_path / "machines"))

        file = host.save(LAPTOP)

        assert host.load(file) == LAPTOP
        assert list(host.HOSTS) == ["laptop"]
        assert host.HOSTS["laptop"]().host == LAPTOP
        assert "other" not in host.HOSTS

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"format": 9}, "format must be 1, got 9"),
            ({"bandwidth": 0.0}, "bandwidth"),
            ({"peak": {"FP99": 1.0}}, "no Precision is called 'FP99'"),
            ({"colour": "red"}, "colour"),
        ],
    )
    def test_a_damaged_file_is_an_error_that_names_it(
        self, tmp_path: Path, change: dict[str, object], message: str
    ) -> None:
        file = tmp_path / "laptop.json"
        file.write_text(json.dumps(json.loads(host.to_json(LAPTOP)) | change))

        with pytest.raises(InvalidMachine, match=rf"laptop\.json.*{message}"):
            host.load(file)

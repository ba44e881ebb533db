"""The provenance ledger: fields, the file, what a campaign writes, and its commands."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from command import Run
from joulecheck.campaign.campaign import Campaign, Extent
from joulecheck.campaign.events import (
    CampaignFinished,
    CounterexampleFound,
    ModelFailed,
    Pair,
    Tally,
)
from joulecheck.campaign.workers import Inline
from joulecheck.case import Case
from joulecheck.coefficient import Coefficient, Layer, Provenance
from joulecheck.counterexample import Blame, Counterexample, Repair
from joulecheck.errors import LedgerError, UnknownName
from joulecheck.estimate import Estimate
from joulecheck.machine import Machine, Memory
from joulecheck.model import Scale, Subject, registered
from joulecheck.property import installed, property_named
from joulecheck.resolve import models_named
from joulecheck.validation.apply import apply_to, provenance_of
from joulecheck.validation.audit_ledger import gaps_in
from joulecheck.validation.fields import (
    CORE,
    Field,
    FieldKind,
    concerns,
    field_named,
    fields_of,
    missing_core,
)
from joulecheck.validation.ledger import Consistency, Entry, Flag, Ledger, Support
from joulecheck.validation.record import CampaignRecord, blamed_fields
from joulecheck.workload import Precision
from tiny import MAC, Tiny

BYTE = Field(
    name="energy_per_byte", kind=FieldKind.PRICE, value=2e-11, unit="J/B",
    declared=Provenance.UNKNOWN, source="a guess", of=("dram_energy",),
)  # fmt: skip
HELD = Consistency(
    properties=["CMP001", "MON001"], cases=100, least_margin=1e-3, closest="CMP001",
    seed=1, version="0.1.0",
)  # fmt: skip
MEASURED = Support(
    level=Provenance.CALIBRATED,
    score=0.9,
    source="board.csv",
    cases=12,
    greatest_error=0.04,
)
NPU = "board"


def npu(dram: float = 2e-11, *, forgets: bool = False) -> Subject:
    """A model with one memory and two prices; one that forgets leaves out the memory."""
    coefficients = {
        "op_energy.FP32": Coefficient(
            "op_energy.FP32", 4e-12, "J/op", ["alu"], "a paper", Provenance.INTERPOLATED
        ),
        "op_energy.INT8": Coefficient("op_energy.INT8", 1e-12, "J/op", ["alu"]),
        "dram_energy": Coefficient("dram_energy", dram, "J/B", ["dram"], "a guess"),
    }

    def answer(case: Case, scale: Scale) -> Estimate:
        def price(name: str) -> float:
            return coefficients[name].value * scale.get(name, 1.0)

        alu = case.ops * price(f"op_energy.{case.precision.name}")
        far = case.bytes * price("dram_energy")
        return Estimate(
            energy=alu if forgets else alu + far,
            latency=max(case.ops / 1e12, case.bytes / 1e11),
            energy_terms={"alu": alu, "dram": far},
            latency_terms={"compute": case.ops / 1e12, "dram": case.bytes / 1e11},
        )

    model = Tiny(
        answer,
        coefficients=coefficients,
        layers={"alu": Layer.ALU, "dram": Layer.DRAM},
        latency_layers={"compute": Layer.ALU, "dram": Layer.DRAM},
        machine=Machine(
            name=NPU,
            units=4,
            peak=dict.fromkeys((Precision.FP32, Precision.INT8), 1e12),
            memories={"dram": Memory(1e11, homes={"input", "weight", "output"})},
            sources={"memories": "data sheet"},
        ),
    )
    return Subject.of(model, name=NPU)


def campaign(model: Subject, ledger: Ledger, *laws: str, seed: int = 1) -> CampaignRecord:
    """Search, and write what it shows into the ledger."""
    asked = [property_named(law) for law in laws]
    record = CampaignRecord(ledger, [model], asked)
    search = Campaign(
        [model],
        asked,
        seed=seed,
        extent=Extent(cases=64),
        executor=Inline({model.name: model}),
    )
    for event in search.run():
        record(event)
    return record


class TestFields:
    def test_core_fields_stand_for_figures_and_coefficients(self) -> None:
        fields = fields_of(npu())

        assert {n: (f.value, f.of) for n, f in fields.items() if f.is_core} == {
            "compute_units": (4, ("units",)),
            "peak_bandwidth": (1e11, ("dram.bandwidth",)),
            "peak_ops_per_sec.FP32": (1e12, ("peak.FP32",)),
            "peak_ops_per_sec.INT8": (1e12, ("peak.INT8",)),
            "energy_per_byte": (2e-11, ("dram_energy",)),
            "energy_per_flop_fp32": (4e-12, ("op_energy.FP32",)),
            "energy_scaling.FP32": (1.0, ("op_energy.FP32",)),
            "energy_scaling.INT8": (0.25, ("op_energy.INT8", "op_energy.FP32")),
        }
        assert {n for n, f in fields.items() if not f.is_core} == set(npu().coefficients)

    def test_levels_and_sources_are_those_that_the_model_states(self) -> None:
        fields = fields_of(npu())

        assert fields["energy_per_flop_fp32"].declared is Provenance.INTERPOLATED
        assert fields["energy_scaling.INT8"].declared is Provenance.UNKNOWN
        assert fields["peak_bandwidth"].source == "data sheet"

    def test_a_mac_is_two_operations(self) -> None:
        fields = fields_of(registered("reference", "Hailo-8"))

        assert fields["energy_per_flop_fp32"].value == fields["mac_energy.INT8"].value / 2
        assert fields["energy_per_flop_fp32"].source.startswith("of INT8, for it does not")

    @pytest.mark.parametrize("model", models_named("reference:*"), ids=lambda m: m.name)
    def test_every_reference_machine_has_all_core_fields(self, model: Subject) -> None:
        fields = fields_of(model)

        assert missing_core(model) == []
        assert all(field.value > 0 for field in fields.values())
        assert set(model.coefficients) <= set(fields)

    def test_a_model_that_declares_nothing_lacks_all(self) -> None:
        bare = Subject.of(Tiny(lambda _: Estimate(energy=1.0)))

        assert missing_core(bare) == list(CORE)
        assert fields_of(bare) == {}

    def test_an_unknown_field_is_refused_with_the_nearest(self) -> None:
        with pytest.raises(
            UnknownName, match=r"no field 'energy_per_bit'.*energy_per_byte"
        ):
            field_named(npu(), "energy_per_bit")


class TestConcerns:
    @pytest.mark.parametrize(
        ("law", "kinds"),
        [
            ("CMP001", {FieldKind.PRICE}),
            ("SEN005", {FieldKind.PRICE}),
            ("BND001", {FieldKind.PEAK, FieldKind.UNITS}),
            ("BND002", {FieldKind.BANDWIDTH}),
            ("SEN007", {FieldKind.PEAK, FieldKind.UNITS, FieldKind.BANDWIDTH}),
            ("BND009", set(FieldKind)),
            ("MON001", set(FieldKind)),
            ("BND007", set()),
            ("SCL004", set()),
            ("DET001", set()),
            ("ROB001", set()),
        ],
    )
    def test_follows_from_what_a_law_needs(self, law: str, kinds: set[FieldKind]) -> None:
        fields = {kind: attrs.evolve(BYTE, kind=kind) for kind in FieldKind}

        assert {k for k, f in fields.items() if concerns(property_named(law), f)} == kinds

    @pytest.mark.parametrize("kind", FieldKind)
    def test_each_kind_is_concerned_by_many_laws(self, kind: FieldKind) -> None:
        field = attrs.evolve(BYTE, kind=kind)

        assert sum(concerns(law, field) for law in installed().values()) >= 20


class TestEntry:
    def test_nothing_but_the_declared_level_without_evidence(self) -> None:
        entry = Entry.of(attrs.evolve(BYTE, declared=Provenance.INTERPOLATED))

        assert (entry.level, entry.score) == (Provenance.INTERPOLATED, 0.7)

    def test_a_campaign_makes_it_theoretical_and_never_less(self) -> None:
        entry = Entry.of(BYTE).backed_by(HELD)
        higher = attrs.evolve(entry, declared=Provenance.INTERPOLATED)

        assert (entry.level, entry.score) == (Provenance.THEORETICAL, 0.5)
        assert higher.level is Provenance.INTERPOLATED

    def test_a_flag_takes_the_campaign_back_and_leaves_a_measurement(self) -> None:
        flag = Flag(property="SEN001", finding="F-1", blamed=True)
        entry = attrs.evolve(Entry.of(BYTE).backed_by(HELD), flags=[flag])

        assert entry.level is Provenance.UNKNOWN
        assert entry.backed_by(MEASURED).level is Provenance.CALIBRATED

    def test_support_of_one_source_replaces_the_older(self) -> None:
        worse = attrs.evolve(MEASURED, score=0.6, cases=3)
        entry = Entry.of(BYTE).backed_by(MEASURED).backed_by(HELD).backed_by(worse)

        assert entry.evidence == (HELD, worse)
        assert (entry.level, entry.score) == (Provenance.CALIBRATED, 0.6)

    @pytest.mark.parametrize("score", [-0.1, 1.1, float("nan")])
    def test_a_score_is_from_0_to_1(self, score: float) -> None:
        with pytest.raises(ValueError, match="from 0 to 1"):
            attrs.evolve(MEASURED, score=score)


@pytest.fixture
def ledger() -> Ledger:
    made = Ledger()
    made.put(NPU, BYTE.name, Entry.of(BYTE).backed_by(HELD))
    made.put(NPU, "alu", Entry.of(attrs.evolve(BYTE, name="alu")).backed_by(HELD))
    flag = Flag(property="SEN001", finding=None, blamed=False, reason="it died")
    made.put("a board", "alu", attrs.evolve(Entry.of(BYTE), flags=[flag]))
    made.promote(NPU, BYTE, MEASURED)
    return made


def edited(ledger: Ledger, path: Path, edit: Callable[[Any], object]) -> Path:
    data = json.loads(ledger.text())
    edit(data)
    path.write_text(json.dumps(data))
    return path


class TestFile:
    def test_is_read_as_it_was_written(self, ledger: Ledger, tmp_path: Path) -> None:
        ledger.save(tmp_path / "l.json")
        again = Ledger.load(tmp_path / "l.json")

        assert again.text() == ledger.text()
        assert again.entries(NPU) == ledger.entries(NPU)
        assert list(tmp_path.iterdir()) == [tmp_path / "l.json"]

    def test_has_a_line_a_field_and_shares_evidence(self, ledger: Ledger) -> None:
        lines = [line.strip() for line in ledger.text().splitlines()]

        assert len([line for line in lines if line.startswith('"energy_per_byte"')]) == 1
        assert len([line for line in lines if '"Consistency"' in line]) == 1
        assert ledger.machines == ["a board", NPU]

    def test_one_that_is_not_there_is_empty_if_it_may_be_new(self, tmp_path: Path) -> None:
        assert Ledger.load_or_new(tmp_path / "l.json").machines == []
        with pytest.raises(LedgerError, match=r"l\.json cannot be read"):
            Ledger.load(tmp_path / "l.json")

    @pytest.mark.parametrize(
        ("edit", "message"),
        [
            (lambda d: d.update(format=2), "format must be 1, got 2"),
            (lambda d: d.update(more=1), 'must hold "format" and "machines"'),
            (lambda d: d.update(machines=[]), 'must hold "format" and "machines"'),
            (lambda d: d["machines"].update(board=[]), 'must hold "evidence" and "fields"'),
            (
                lambda d: d["machines"][NPU].update(x={}),
                'must hold "evidence" and "fields"',
            ),
            (
                lambda d: d["machines"][NPU]["evidence"].clear(),
                "board: alu: evidence must name some of",
            ),
            (
                lambda d: d["machines"][NPU]["fields"]["alu"].update(level="CALIBRATED"),
                "alu: level and score must be what its evidence backs, THEORETICAL and 0.5",
            ),
            (
                lambda d: d["machines"][NPU]["fields"]["alu"].update(value="20"),
                "must be a number, got '20'",
            ),
            (
                lambda d: d["machines"][NPU]["fields"]["alu"].update(colour="red"),
                "colour",
            ),
            (
                lambda d: d["machines"]["a board"]["fields"]["alu"]["flags"][0].update(
                    blamed=0
                ),
                "must be true or false, got 0",
            ),
            (
                lambda d: d["machines"][NPU]["evidence"]["e1"].update(kind="Rumour"),
                "kind must name a known one, got 'Rumour'",
            ),
            (
                lambda d: d["machines"][NPU]["fields"].update(alu=3),
                "alu: evidence must name",
            ),
        ],
    )
    def test_a_broken_one_is_refused_with_the_place(
        self, ledger: Ledger, tmp_path: Path, edit: Callable[[Any], object], message: str
    ) -> None:
        path = edited(ledger, tmp_path / "l.json", edit)

        with pytest.raises(LedgerError) as error:
            Ledger.load(path)
        assert "l.json" in str(error.value)
        assert message in str(error.value)

    @pytest.mark.parametrize("text", ["", "[]", "null", '{"format": NaN}'])
    def test_what_is_no_ledger_is_refused(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "l.json").write_text(text)

        with pytest.raises(LedgerError, match=r"l\.json"):
            Ledger.load(tmp_path / "l.json")


class TestPromotion:
    def test_a_new_value_drops_evidence_of_the_old(self, ledger: Ledger) -> None:
        entry = ledger.promote(NPU, attrs.evolve(BYTE, value=1e-11), MEASURED)

        assert entry.evidence == (MEASURED,)
        assert entry.value == 1e-11
        assert ledger.entry(NPU, BYTE.name) == entry


class TestCampaign:
    def test_fields_whose_laws_all_held_are_confirmed(self) -> None:
        ledger = Ledger()

        record = campaign(npu(), ledger, "CMP001", "BND002", "MON001")

        byte = ledger.entry(NPU, "energy_per_byte")
        assert byte is not None
        assert byte.level is Provenance.THEORETICAL
        (held,) = byte.evidence
        assert isinstance(held, Consistency)
        assert held.properties == ("CMP001", "MON001")
        assert held.cases == 128
        assert held.least_margin >= 0
        assert held.closest in held.properties
        assert held.seed == 1
        units = ledger.entry(NPU, "compute_units")
        assert units is not None
        assert [one.properties for one in units.evidence] == [("MON001",)]  # type: ignore[union-attr]
        assert record.recorded.confirmed == len(fields_of(npu()))

    def test_a_campaign_again_replaces_itself_and_another_adds(self) -> None:
        ledger = Ledger()
        for seed in (1, 1, 2):
            campaign(npu(), ledger, "CMP001", seed=seed)

        byte = ledger.entry(NPU, "energy_per_byte")
        assert byte is not None
        assert [one.seed for one in byte.evidence] == [1, 2]  # type: ignore[union-attr]

    def test_a_field_that_no_law_concerns_stays_as_declared(self) -> None:
        ledger = Ledger()

        record = campaign(npu(), ledger, "CMP001")

        units = ledger.entry(NPU, "compute_units")
        assert units is not None
        assert (units.level, units.evidence) == (Provenance.UNKNOWN, ())
        assert record.recorded.undecided == 4

    def test_a_finding_flags_what_it_is_blamed_on_and_confirms_nothing_else(self) -> None:
        ledger = Ledger()
        campaign(npu(), ledger, "CMP001", "MON001")

        record = campaign(npu(forgets=True), ledger, "CMP001", "MON001")

        byte = ledger.entry(NPU, "energy_per_byte")
        flop = ledger.entry(NPU, "op_energy.INT8")
        assert byte is not None
        assert flop is not None
        (flag,) = byte.blamed
        assert flag.property == "CMP001"
        assert (flag.finding or "").startswith("F-")
        assert "dram" in flag.reason
        assert (byte.level, byte.evidence) == (Provenance.UNKNOWN, ())
        assert not flop.blamed
        assert [flag.property for flag in flop.flags] == ["CMP001"]
        assert flop.level is Provenance.UNKNOWN
        assert record.recorded.flagged == 2  # the coefficient, and the core field it is
        assert record.recorded.confirmed == 4  # rates, of which energy says nothing

    def test_a_repaired_model_is_confirmed_again(self) -> None:
        ledger = Ledger()
        campaign(npu(forgets=True), ledger, "CMP001")

        campaign(npu(), ledger, "CMP001")

        byte = ledger.entry(NPU, "energy_per_byte")
        assert byte is not None
        assert byte.flags == ()
        assert byte.level is Provenance.THEORETICAL

    def test_flags_of_laws_that_were_not_asked_stay(self) -> None:
        ledger = Ledger()
        campaign(npu(forgets=True), ledger, "CMP001")

        campaign(npu(), ledger, "MON001")

        byte = ledger.entry(NPU, "energy_per_byte")
        assert byte is not None
        assert [flag.property for flag in byte.flags] == ["CMP001"]
        assert byte.level is Provenance.UNKNOWN

    def test_flags_of_laws_that_met_no_case_stay(self) -> None:
        ledger, pair = Ledger(), Pair(NPU, "CMP001")
        campaign(npu(forgets=True), ledger, "CMP001")
        record = CampaignRecord(ledger, [npu()], [property_named("CMP001")])

        record(CampaignFinished(seed=1, seconds=1.0, checks=0, tallies=((pair, Tally()),)))

        byte = ledger.entry(NPU, "energy_per_byte")
        assert byte is not None
        assert [flag.property for flag in byte.flags] == ["CMP001"]

    def test_what_has_no_bounds_is_no_figure(self) -> None:
        memory = Memory(bandwidth=math.inf, homes={"weight"})
        machine = Machine(
            name="m", peak={Precision.FP32: math.inf}, memories={"dram": memory}
        )
        model = Subject.of(Tiny(lambda _: Estimate(energy=1.0), machine=machine))

        assert fields_of(model) == {}

    def test_a_model_that_died_confirms_nothing(self) -> None:
        ledger, pair = Ledger(), Pair(NPU, "CMP001")
        record = CampaignRecord(ledger, [npu()], [property_named("CMP001")])

        record(ModelFailed(pair, "killed after 60 s"))
        record(CampaignFinished(seed=1, seconds=1.0, checks=0, tallies=((pair, Tally()),)))

        byte = ledger.entry(NPU, "energy_per_byte")
        assert byte is not None
        assert byte.flags == (
            Flag(property="CMP001", finding=None, blamed=False, reason="killed after 60 s"),
        )

    def test_a_case_that_held_on_the_scalar_path_alone_confirms_nothing(self) -> None:
        ledger, pair = Ledger(), Pair(NPU, "CMP001")
        record = CampaignRecord(ledger, [npu()], [property_named("CMP001")])
        tally = Tally(checks=8, in_domain=8, least_margin=-0.5)

        record(CampaignFinished(seed=1, seconds=1.0, checks=8, tallies=((pair, tally),)))

        byte = ledger.entry(NPU, "energy_per_byte")
        assert byte is not None
        assert byte.evidence == ()
        assert byte.flags

    def test_evidence_does_not_depend_on_the_order_of_events(self) -> None:
        laws = [property_named(law) for law in ("CMP001", "MON001")]
        texts = set()
        for order in (1, -1):
            tallies = tuple((Pair(NPU, law.id), Tally(8, 8, 1e-3)) for law in laws)[::order]
            ledger = Ledger()
            record = CampaignRecord(ledger, [npu()], laws)
            record(CampaignFinished(seed=1, seconds=1.0, checks=8, tallies=tallies))
            texts.add(ledger.text())

        assert len(texts) == 1


def repair(target: str) -> Blame:
    change = f"change {target}"
    made = Repair(target=target, change=change, repaired=1.0, broken=0.0, violated=0)
    return Blame(repairs=(made,), coefficients={"op_energy.FP32": 1.0})


class TestBlame:
    @pytest.mark.parametrize(
        ("target", "fields"),
        [
            ("dram_energy", {"dram_energy", "energy_per_byte"}),
            ("dram", {"dram_energy", "energy_per_byte", "peak_bandwidth"}),
            ("DRAM", {"dram_energy", "energy_per_byte", "peak_bandwidth"}),
            (
                "compute",
                {"compute_units", "peak_ops_per_sec.FP32", "peak_ops_per_sec.INT8"},
            ),
            ("op_energy.INT8", {"op_energy.INT8", "energy_scaling.INT8"}),
            ("utilisation", set()),
        ],
    )
    def test_what_the_best_repair_changes_is_blamed(
        self, target: str, fields: set[str]
    ) -> None:
        found = blamed_fields(npu(), repair(target))

        assert set(found) == fields
        assert set(found.values()) <= {f"change {target}"}

    def test_without_a_repair_it_is_what_moves_the_margin(self) -> None:
        found = blamed_fields(npu(), Blame(coefficients={"dram_energy": -2.0}))

        assert set(found) == {"dram_energy", "energy_per_byte"}

    def test_a_counterexample_without_blame_flags_without_it(self) -> None:
        ledger, pair = Ledger(), Pair(NPU, "CMP001")
        record = CampaignRecord(ledger, [npu()], [property_named("CMP001")])
        case = Counterexample(
            model=NPU, property="CMP001", case=MAC, genes=(), margin=-1.0, numbers=()
        )

        record(CounterexampleFound(case, 0.0))
        tally = Tally(8, 8, -1.0)
        record(CampaignFinished(seed=1, seconds=1.0, checks=8, tallies=((pair, tally),)))

        byte = ledger.entry(NPU, "energy_per_byte")
        assert byte is not None
        assert [(flag.finding, flag.blamed) for flag in byte.flags] == [(case.id, False)]


class TestAudit:
    def test_a_confirmed_machine_has_no_gap(self) -> None:
        ledger = Ledger()
        campaign(npu(), ledger, "MON001")

        assert list(gaps_in(ledger, [npu()])) == []

    @pytest.mark.parametrize(
        ("laws", "model", "reason"),
        [
            ((), npu(), "no entry"),
            (("CMP001", "BND002"), npu(), "no evidence"),
            (("MON001",), npu(dram=1e-11), "the model has 1e-11"),
            (("MON001",), Subject.of(Tiny(lambda _: Estimate(energy=1.0))), "declares no"),
        ],
    )
    def test_gaps_say_why(self, laws: tuple[str, ...], model: Subject, reason: str) -> None:
        ledger = Ledger()
        if laws:
            campaign(npu(), ledger, *laws)

        gaps = list(gaps_in(ledger, [model]))

        assert any(reason in gap.reason for gap in gaps)
        assert {gap.field.partition(".")[0] for gap in gaps} <= set(CORE)

    def test_what_is_flagged_is_a_gap(self) -> None:
        ledger = Ledger()
        campaign(npu(forgets=True), ledger, "MON001", "CMP001")

        reasons = {gap.field: gap.reason for gap in gaps_in(ledger, [npu()])}

        assert reasons["energy_per_byte"].startswith(
            "flagged for investigation by CMP001 F-"
        )
        assert reasons["energy_per_flop_fp32"] == "not confirmed, for CMP001 failed"
        assert "peak_bandwidth" not in reasons


class Narrow(Enum):
    FP32 = "fp32"
    INT8 = "int8"


@attrs.define
class Profile:
    peak_ops_per_sec: float


@attrs.define
class Description:
    """What a library of hardware descriptions may look like."""

    compute_units: int = 4
    peak_bandwidth: float = 1e11
    energy_per_flop_fp32: float = 4e-12
    energy_per_byte: float = 1.5e-11
    energy_scaling: Mapping[Narrow, float] = {Narrow.FP32: 1.0, Narrow.INT8: 0.25}
    precision_profiles: Mapping[Narrow, Profile] = {Narrow.FP32: Profile(1e12)}
    field_provenance: dict[str, Any] = attrs.field(factory=dict)


class TestApplying:
    def test_writes_the_fields_that_have_the_value_of_the_evidence(self) -> None:
        ledger, description = Ledger(), Description()
        campaign(npu(), ledger, "MON001", "CMP001")

        done = apply_to(description, ledger.entries(NPU), lambda *told: told)

        assert set(done.fields) == {
            "compute_units", "peak_bandwidth", "energy_per_flop_fp32",
            "energy_scaling.FP32", "energy_scaling.INT8", "peak_ops_per_sec.FP32",
        }  # fmt: skip
        assert set(description.field_provenance) == set(done.fields)
        level, score, source = description.field_provenance["energy_per_flop_fp32"]
        assert (level, score) == ("interpolated", 0.7)
        assert "2 laws held on 128 cases" in source
        assert "a paper" in source

    def test_says_why_others_are_not_written(self) -> None:
        ledger = Ledger()
        campaign(npu(), ledger, "MON001")

        done = apply_to(Description(), ledger.entries(NPU), lambda *told: told)

        assert done.refused == {
            "energy_per_byte": "the description has 1.5e-11, the ledger 2e-11",
            "peak_ops_per_sec.INT8": "the description has no such field",
        }

    def test_plain_data_have_the_core_fields_alone(self) -> None:
        ledger = Ledger()
        campaign(npu(), ledger, "MON001")

        told = provenance_of(ledger.entries(NPU))

        assert set(told) == {n for n, f in fields_of(npu()).items() if f.is_core}
        assert told["peak_bandwidth"]["level"] == "theoretical"
        assert np.isclose(told["peak_bandwidth"]["value"], 1e11)


MODEL = """
from joulecheck import Coefficient, Estimate


class Npu:
    name = "npu"
    coefficients = {"e": Coefficient("e", 1e-12, "J/op", ["alu"])}

    def estimate(self, case, scale={}):
        alu = 1e-12 * scale.get("e", 1.0) * case.ops
        return Estimate(energy=alu, energy_terms={"alu": alu})


class Half(Npu):
    name = "half"

    def estimate(self, case, scale={}):
        found = super().estimate(case, scale)
        return Estimate(energy=found.energy / 2, energy_terms=found.energy_terms)


class Stopped(Npu):
    name = "stopped"
    asked = 0

    def estimate(self, case, scale={}):
        Stopped.asked += 1
        if Stopped.asked == 300:
            raise KeyboardInterrupt
        return super().estimate(case, scale)
"""


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    (tmp_path / "mypriced.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in [name for name in os.environ if name.startswith("JOULECHECK_")]:
        monkeypatch.delenv(name)
    monkeypatch.delitem(sys.modules, "mypriced", raising=False)
    yield Run(tmp_path, monkeypatch, capsys)
    sys.modules.pop("mypriced", None)


HAILO = "reference:Hailo-8"
FUZZ = ("--cases", "128", "--seed", "1", "--workers", "0", "--ledger", "l.json")
LAWS = ("--select", "MON", "--select", "CMP")


class TestCommands:
    def test_a_campaign_writes_what_the_audit_wants(self, run: Run) -> None:
        done = run("fuzz", HAILO, *FUZZ, *LAWS)
        audited = run("provenance", "audit", HAILO, "--ledger", "l.json")

        assert done.returncode == 0
        assert "l.json: 17 fields of 1 model confirmed consistent, 0 flagged" in done.stdout
        assert (audited.returncode, audited.stderr) == (0, "")
        assert "0 gaps in the core fields of 1 model" in audited.stdout

    def test_an_interrupted_campaign_writes_what_it_has_seen(self, run: Run) -> None:
        done = run("fuzz", "mypriced:Stopped", *FUZZ, "--select", "CMP001", *LAWS)
        shown = run("provenance", "show", "mypriced:Stopped", "e", "--ledger", "l.json")

        assert done.returncode == 130
        assert "findings so far are stored" in done.stderr
        assert "l.json: 15 fields of 1 model confirmed" in done.stderr
        assert " held on 128 cases" in shown.stdout

    def test_the_number_of_workers_changes_nothing(self, run: Run) -> None:
        for workers in ("0", "2"):
            run(
                "fuzz", HAILO, "mypriced:Half", "--cases", "64", "--seed", "1", *LAWS,
                "--workers", workers, "--ledger", f"{workers}.json",
            )  # fmt: skip

        one, two = (run.folder / f"{workers}.json" for workers in ("0", "2"))
        assert one.read_text() == two.read_text()
        assert '"blamed": true' in one.read_text()

    def test_the_audit_fails_for_a_machine_without_entries(self, run: Run) -> None:
        run("fuzz", HAILO, *FUZZ, *LAWS)
        done = run(
            "provenance", "audit", HAILO, "reference:Hailo-10H", "--ledger", "l.json",
            "--output-format", "json",
        )  # fmt: skip

        found = json.loads(done.stdout)
        assert done.returncode == 1
        assert {gap["machine"] for gap in found["gaps"]} == {"reference:Hailo-10H"}
        assert {gap["field"].partition(".")[0] for gap in found["gaps"]} == set(CORE)

    def test_a_ledger_that_is_not_there_is_an_error(self, run: Run) -> None:
        done = run("provenance", "audit", HAILO)

        assert done.returncode == 2
        flat = " ".join(done.stderr.split())
        assert "joulecheck-provenance.json cannot be read: there is none yet" in flat
        assert "fuzz --ledger joulecheck-provenance.json writes it" in flat

    def test_a_finding_is_shown_with_the_field_that_it_is_blamed_on(self, run: Run) -> None:
        done = run(
            "fuzz", "mypriced:Half", *FUZZ, "--select", "CMP001", "--select", "BND006"
        )
        shown = run("provenance", "show", "mypriced:Half", "e", "--ledger", "l.json")

        assert done.returncode == 1
        assert "flagged" in done.stdout
        assert "CMP001" in shown.stdout
        assert "joulecheck findings show F-" in shown.stdout

    def test_a_field_is_explained(self, run: Run) -> None:
        run("fuzz", HAILO, *FUZZ, *LAWS)
        show = ("provenance", "show", HAILO, "--ledger", "l.json")
        listed, one = run(*show), run(*show, "energy_per_byte")
        as_json = json.loads(
            run(*show, "energy_per_byte", "--output-format", "json").stdout
        )

        assert "peak_bandwidth" in listed.stdout
        assert "laws held on" in listed.stdout
        assert "stands for" in one.stdout
        assert "ingress_energy" in one.stdout
        assert "least margin" in one.stdout
        assert as_json["level"] == "THEORETICAL"
        assert as_json["of"] == ["ingress_energy"]
        assert "CMP001" in as_json["concerned_by"]

    def test_a_field_is_explained_without_a_ledger(self, run: Run) -> None:
        done = run("provenance", "show", HAILO, "static_power")

        assert done.returncode == 0
        assert "no entry: joulecheck fuzz --ledger FILE writes it" in done.stdout
        assert "UNKNOWN: estimated: no idle power is published" in done.stdout

    def test_an_unknown_field_and_several_machines_are_refused(self, run: Run) -> None:
        unknown = run("provenance", "show", HAILO, "colour")
        several = run("provenance", "show", "reference:Hailo*")

        assert (unknown.returncode, several.returncode) == (2, 2)
        assert "reference:Hailo-8 has no field 'colour'" in unknown.stderr
        assert "names 2 models" in several.stderr

    def test_what_can_be_applied_is_json(self, run: Run) -> None:
        run("fuzz", HAILO, *FUZZ, *LAWS)
        done = run("provenance", "apply", HAILO, "--ledger", "l.json")

        found = json.loads(done.stdout)[HAILO]
        assert found["peak_bandwidth"]["level"] == "theoretical"
        assert found["peak_bandwidth"]["value"] == 3.94e9

    def test_an_injected_fault_is_not_recorded(self, run: Run) -> None:
        done = run("fuzz", HAILO, *FUZZ, "--inject", "dropped-term")

        assert done.returncode == 2
        assert "--ledger records models as they are" in done.stderr
        assert not (run.folder / "l.json").exists()

    def test_a_ledger_that_cannot_be_written_stops_a_campaign_before_it_starts(
        self, run: Run
    ) -> None:
        done = run("fuzz", HAILO, "--cases", "64", "--ledger", "nowhere/l.json")

        assert done.returncode == 2
        assert "there is no folder nowhere" in done.stderr
        assert done.stdout == ""

    def test_a_damaged_ledger_stops_a_campaign_before_it_starts(self, run: Run) -> None:
        (run.folder / "l.json").write_text("{}")
        done = run("fuzz", HAILO, *FUZZ)

        assert done.returncode == 2
        assert "format must be 1" in done.stderr
        assert "checks" not in done.stdout

"""Properties in a test suite."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus_examples import MONDAY, counterexample
from joulecheck.case import Case
from joulecheck.corpus import Finding, export_findings
from joulecheck.errors import CorpusError, NotOffered, UnknownName, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.model import Exemption, Subject
from joulecheck.property import Property, installed, property_named
from joulecheck.resolve import ModelRef
from joulecheck.testing import (
    Violated,
    applicable,
    assert_fixed,
    assert_holds,
    assert_holds_for,
    margin_of,
    subject_of,
)
from tiny import MAC, Tiny, energy, gemm

TPU = "reference:Google-TPU-v1"
CPU = "reference:Intel-i7-12700K"


class Npu(Tiny):
    """Has a wrong sign for large workloads."""

    name = "npu"

    def __init__(self) -> None:
        super().__init__(negative_if_large)


def negative_if_large(case: Case) -> Estimate:
    alu = 1e-12 * case.ops * (-1 if case.macs >= 1000 else 1)
    return Estimate(energy=alu, energy_terms={"alu": alu})


class Recording(Tiny):
    """Remembers which cases it was asked."""

    def __init__(self) -> None:
        super().__init__(self.remember)
        self.asked: list[str] = []

    def remember(self, case: Case) -> Estimate:
        self.asked.append(repr(case))
        return energy(case)

    def estimate(self, case: Case, scale: object = None) -> Estimate:
        del scale
        return self.remember(case)


def drawn(**settings_: int) -> list[str]:
    """The cases that a law is asked about."""
    model = Recording()
    subject = Subject.of(model)
    model.asked.clear()
    assert_holds("MON001", subject, **settings_)
    return model.asked


NEEDLES = {"CON004"}
"""Laws whose planted bug lies at one size alone: the campaign's sampler looks at corners
first and finds it (`test_catalogue.py`), `@given` hardly ever does."""


class TestAssertHolds:
    """A property over cases that Hypothesis draws."""

    def test_takes_an_instance_a_class_a_subject_and_a_name(self) -> None:
        for model in (Sound(), Sound, Subject.of(Sound), TPU):
            assert_holds("MON001", model, max_examples=20)

    def test_takes_a_property_as_well_as_its_id(self) -> None:
        assert_holds(property_named("MON001"), TPU, max_examples=20)

    def test_raises_the_minimal_case(self) -> None:
        with pytest.raises(Violated) as caught:
            assert_holds("MON001", Npu)

        assert caught.value.property_id == "MON001"
        assert caught.value.model == "npu"
        assert caught.value.margin == pytest.approx(-1)
        assert isinstance(caught.value.case, Case)
        assert caught.value.case.macs == 1000

    @pytest.mark.parametrize(
        "law",
        [law for law in installed().values() if law.drawn and law.id not in NEEDLES],
        ids=lambda law: law.id,
    )
    def test_catches_every_planted_bug(self, law: Property) -> None:
        faulty = ModelRef(law.planted.model, law.planted.fault).load()

        with pytest.raises(Violated) as caught:
            assert_holds(law, faulty, max_examples=3000)

        assert law.margin_of(faulty, caught.value.case) < 0

    @pytest.mark.parametrize("law_id", ["BND001", "CMP001", "DET001", "PRC001", "ROB001"])
    def test_shrinks_a_planted_bug_to_its_case(self, law_id: str) -> None:
        law = property_named(law_id)
        faulty = ModelRef(law.planted.model, law.planted.fault).load()

        with pytest.raises(Violated) as caught:
            assert_holds(law, faulty, max_examples=300)

        assert caught.value.case == law.planted.shrinks_to

    def test_tells_the_rule_the_case_and_the_numbers(self) -> None:
        with pytest.raises(Violated) as caught:
            assert_holds("CMP001", Tiny(short_of_dram, precisions=[MAC.precision]))

        assert str(caught.value).splitlines() == [
            "CMP001 layers-sum-to-total: tiny violates it by 0.832:",
            (
                "  rule      |sum_t E_t - E| <= 0.001 max(|sum_t E_t|, |E|), over the "
                "terms t that the"
            ),
            "            total claims to include (its scope).",
            "  minimal   gemm M=1 N=1 K=1 FP32",
            "  answer    energy 2 pJ",
            "            alu 2 pJ | dram 10 pJ = 12 pJ in all",
            "  margin    -0.8323, relative; below 0 violates the rule",
        ]

    def test_travels_between_processes(self) -> None:
        with pytest.raises(Violated) as caught:
            assert_holds("MON001", Npu)

        arrived = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - its own

        assert isinstance(arrived, Violated)
        assert str(arrived) == str(caught.value)
        assert arrived.case == caught.value.case

    def test_shows_no_line_of_hypothesis_beneath_it(self) -> None:
        with pytest.raises(Violated) as caught:
            assert_holds("MON001", Npu)

        assert caught.value.__suppress_context__

    def test_asks_as_many_cases_as_the_profile_says(self) -> None:
        before = settings.get_current_profile_name()
        settings.register_profile("seven", max_examples=7)
        settings.load_profile("seven")
        try:
            asked = drawn()
        finally:
            settings.load_profile(before)

        assert len(asked) == 7

    def test_asks_as_many_cases_as_it_is_told(self) -> None:
        assert len(drawn(max_examples=9)) == 9

    def test_draws_the_same_cases_again(self) -> None:
        assert drawn(max_examples=50) == drawn(max_examples=50)

    def test_draws_other_cases_with_another_seed(self) -> None:
        assert drawn(max_examples=50) != drawn(max_examples=50, seed=1)

    def test_draws_the_same_cases_in_continuous_integration(self) -> None:
        def elsewhere(**more: str) -> str:
            script = "import test_testing; print(test_testing.drawn(max_examples=50))"
            return subprocess.run(  # noqa: S603 - this interpreter and this module
                [sys.executable, "-c", script],
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), **more},
                capture_output=True,
                text=True,
                check=True,
            ).stdout

        assert elsewhere(CI="true") == elsewhere()

    @settings(max_examples=2, suppress_health_check=[HealthCheck.nested_given])
    @given(factor=st.integers(1, 3))
    def test_runs_inside_a_test_of_hypothesis(self, factor: int) -> None:
        assert_holds("MON001", Tiny(lambda case: Estimate(energy=factor * case.ops)))

    def test_says_what_the_model_must_offer(self) -> None:
        with pytest.raises(NotOffered) as caught:
            assert_holds("CMP001", Tiny(energy))

        assert str(caught.value) == (
            "CMP001 layers-sum-to-total does not apply to tiny: to offer it, return "
            "Estimate(energy_terms={...})"
        )

    def test_says_that_the_space_has_no_case(self) -> None:
        with pytest.raises(NotOffered, match=r"PRC002 .* no two of its precisions, FP32"):
            assert_holds("PRC002", Tiny(energy, precisions=[MAC.precision]))

    def test_refuses_where_the_model_is_exempt(self) -> None:
        model = Tiny(energy, exemptions=[Exemption("MON001", "harvests energy")])

        with pytest.raises(NotOffered, match="the model is exempt, harvests energy"):
            assert_holds("MON001", model)

    def test_never_passes_without_a_case_of_the_domain(self) -> None:
        with pytest.raises(NotOffered, match=r"MON001 .* met no case in its domain"):
            assert_holds("MON001", Silent())

    def test_counts_cases_of_the_domain_only(self) -> None:
        asked = []

        def odd_only(case: Case) -> Estimate:
            if case.macs % 2 == 0:
                raise Unsupported
            asked.append(case)
            return energy(case)

        assert_holds("MON001", Tiny(odd_only), max_examples=20)

        assert len(asked) >= 20

    def test_says_that_a_failure_is_flaky(self) -> None:
        answers = iter([1.0, 1.0, 1.0, -1.0])

        def once_negative(_: Case) -> Estimate:
            return Estimate(energy=next(answers, 1.0))

        with pytest.raises(Violated, match=r"flaky +the same case held when"):
            assert_holds("MON001", Tiny(once_negative))

    def test_says_which_property_is_meant(self) -> None:
        with pytest.raises(UnknownName, match="did you mean MON00"):
            assert_holds("MON01", TPU)


class Sound(Tiny):
    """A class that is built without arguments."""

    def __init__(self) -> None:
        super().__init__(energy)


def short_of_dram(case: Case) -> Estimate:
    alu = 1e-12 * case.ops
    return Estimate(energy=alu, energy_terms={"alu": alu, "dram": 1e-11})


class Silent(Tiny):
    """Answers the first question, which probes it, and no other."""

    def __init__(self) -> None:
        super().__init__(energy)
        self.left = 1

    def estimate(self, case: Case, scale: object = None) -> Estimate:
        del scale
        self.left -= 1
        if self.left < 0:
            raise Unsupported
        return energy(case)


class TestOneCase:
    """A property for one case."""

    def test_passes_where_the_law_holds(self) -> None:
        assert_holds_for("MON001", Npu, MAC)

    def test_raises_what_is_violated(self) -> None:
        case = Case(gemm(m=1000))

        with pytest.raises(Violated, match="gemm M=1000 N=1 K=1 FP32") as caught:
            assert_holds_for("MON001", Npu, case)

        assert caught.value.case == case

    def test_never_passes_outside_the_domain(self) -> None:
        with pytest.raises(NotOffered, match="MON001 says nothing of this case"):
            assert_holds_for("MON001", Silent(), Case(gemm(m=2)))

    def test_needs_what_the_property_needs(self) -> None:
        with pytest.raises(NotOffered, match=r"CMP003 .* does not apply to npu"):
            assert_holds_for("CMP003", Npu, MAC)

    def test_gives_the_margin(self) -> None:
        assert margin_of("MON001", Npu, MAC) == pytest.approx(1)


class TestAssertFixed:
    """A stored counterexample as a regression test."""

    def stored(self, m: int = 1000) -> Finding:
        found = counterexample(model="npu:Npu", law="MON001", case=Case(gemm(m=m)))
        return Finding.new(found, MONDAY)

    def test_passes_when_fixed(self) -> None:
        assert_fixed(self.stored(m=1), Npu)

    def test_raises_while_it_fails(self) -> None:
        with pytest.raises(Violated):
            assert_fixed(self.stored().counterexample, Npu)

    def test_reads_a_file(self, tmp_path: Path) -> None:
        (path,) = export_findings([self.stored()], tmp_path)

        with pytest.raises(Violated):
            assert_fixed(path, Npu)
        with pytest.raises(Violated):
            assert_fixed(str(path), Npu)

    def test_takes_the_model_of_a_registered_family(self) -> None:
        assert_fixed(counterexample(model=CPU, law="MON001"))

    def test_imports_nothing_for_a_stored_name(self) -> None:
        with pytest.raises(UnknownName, match="names in stored data are compared, never"):
            assert_fixed(self.stored())

    def test_refuses_what_is_no_finding(self, tmp_path: Path) -> None:
        path = tmp_path / "F-1.json"
        path.write_text("{}")

        with pytest.raises(CorpusError, match="format must be 1"):
            assert_fixed(path)


class TestApplicable:
    """Which properties apply to a model."""

    def test_lists_what_is_offered(self) -> None:
        found = set(applicable(Tiny(energy)))

        assert found >= {"DET001", "MON001", "MON002", "PRC002", "ROB001"}
        assert not found & {"BND001", "CMP001", "DET002", "MON003", "PRC001", "SEN001"}

    def test_leaves_out_exemptions_and_empty_spaces(self) -> None:
        model = Tiny(
            energy,
            precisions=[MAC.precision],
            exemptions=[Exemption("MON002", "perfect factors only")],
        )

        found = set(applicable(model))

        assert found >= {"DET001", "MON001", "ROB001"}
        assert not found & {"MON002", "PRC002"}

    def test_lists_everything_for_a_reference_model(self) -> None:
        compared = ("ORD", "RNK")  # with peers: these laws are about few machines each
        of_totals = {"MON007", "MON008"}

        assert [law for law in applicable(CPU) if not law.startswith(compared)] == [
            law
            for law, found in installed().items()
            if found.drawn and not law.startswith(compared) and law not in of_totals
        ]


class TestSubjectOf:
    """Whatever names or is a model."""

    def test_is_a_subject_as_it_is(self) -> None:
        subject = Subject.of(Tiny(energy))

        assert subject_of(subject) is subject

    def test_refuses_a_name_of_several(self) -> None:
        with pytest.raises(UnknownName, match="names 6 models, reference:Google-TPU-v1, "):
            subject_of("reference:*TPU*")

    def test_imports_what_the_user_names(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "of_a_user.py").write_text(
            "from joulecheck import Estimate\n"
            "class Npu:\n"
            "    name = 'npu'\n"
            "    def estimate(self, case, scale={}):\n"
            "        return Estimate(energy=1.0 * case.ops)\n"
        )
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)

        assert subject_of("of_a_user:Npu").name == "of_a_user:Npu"

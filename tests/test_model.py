from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Coefficient, Layer
from joulecheck.errors import InvalidModel, UnknownName, Unsupported
from joulecheck.estimate import Estimate, total
from joulecheck.knob import Knob, KnobKind
from joulecheck.machine import Machine, Memory, Resources
from joulecheck.model import (
    UNSCALED,
    Exemption,
    Offer,
    Scale,
    Scales,
    Subject,
    matching,
    registered,
)
from joulecheck.space import Bounds
from joulecheck.workload import Gemm, Precision, Subgraph, Totals


class Plain:
    """The smallest model: a name, and energy by two terms."""

    name = "plain"

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        alu = 1e-12 * case.ops * scale.get("op_energy", 1.0)
        dram = 1e-10 * case.bytes
        return Estimate(energy=alu + dram, energy_terms={"alu": alu, "dram": dram})


class Batched(Plain):
    """The same, with a batch path that remembers how often it was asked."""

    name = "batched"

    def __init__(self) -> None:
        self.calls = 0

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        self.calls += 1
        alu = 1e-12 * cases.ops * scales.get("op_energy", 1.0)
        return Estimate(energy=alu + 1e-10 * cases.bytes, energy_terms={"alu": alu})


class Answering:
    """Answers with whatever it was given, or raises it."""

    name = "answering"
    precisions = (Precision.FP32,)

    def __init__(self, answer: object, after: object = None) -> None:
        self.answers = [answer]
        self.after = after

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Any:  # noqa: ANN401 - wrong on purpose
        del case, scale
        answer = self.answers.pop() if self.answers else self.after
        if isinstance(answer, BaseException):
            raise answer
        return answer


def cases(*sizes: int, precision: Precision = Precision.FP32) -> Cases:
    return Cases.of([Case(Gemm(m=m, n=1, k=1), precision) for m in sizes])


class TestSubjectOf:
    """An object as a model."""

    def test_takes_an_instance(self) -> None:
        model = Plain()
        subject = Subject.of(model)

        assert subject.model is model
        assert subject.name == "plain"

    def test_takes_a_class(self) -> None:
        assert isinstance(Subject.of(Plain).model, Plain)

    def test_may_be_called_otherwise(self) -> None:
        assert Subject.of(Plain, name="mine:plain").name == "mine:plain"

    def test_fills_in_what_is_not_declared(self) -> None:
        subject = Subject.of(Plain)

        assert subject.coefficients == {}
        assert subject.layers == {}
        assert subject.operators == {"gemm", "conv2d", "elementwise", "subgraph"}
        assert subject.machine == Machine(name="plain")
        assert subject.bounds == Bounds()
        assert subject.exemptions == {}
        assert not subject.vectorised

    def test_takes_what_is_declared(self) -> None:
        class Declaring(Plain):
            coefficients: ClassVar = {
                "op_energy": Coefficient("op_energy", 1e-12, "J/op"),
                "clock": Coefficient("clock", 1e9, "Hz"),
            }
            layers: ClassVar = {"alu": Layer.ALU, "dram": None}
            operators = ("gemm", "subgraph")
            machine = Machine(name="declaring", units=8)
            bounds = Bounds(gemm=64)
            exemptions = (Exemption("MON001", "its tiles are perfect factors"),)

        subject = Subject.of(Declaring)

        assert subject.energy_coefficients == ("op_energy",)
        assert subject.layers == {"alu": Layer.ALU, "dram": None}
        assert subject.operators == {"gemm", "subgraph"}
        assert subject.machine.units == 8
        assert subject.bounds.gemm == 64
        assert subject.exemptions["MON001"].reason == "its tiles are perfect factors"

    def test_without_an_estimate_says_what_and_the_way_out(self) -> None:
        class Nameless:
            name = "nothing else"

        with pytest.raises(InvalidModel, match=r"lacks estimate; see the README's example"):
            Subject.of(Nameless)

    def test_without_anything_says_all_that_lacks(self) -> None:
        with pytest.raises(InvalidModel) as caught:
            Subject.of(3)

        assert str(caught.value) == (
            "3 is no model: it must have `name` and `estimate(case, scale)`, and lacks "
            "name and estimate; see the README's example"
        )

    def test_a_class_that_cannot_be_built_is_named(self) -> None:
        with pytest.raises(InvalidModel, match=r"Answering\(\) cannot be built without"):
            Subject.of(Answering)


class TestDeclarations:
    """Optional attributes of a wrong type are refused by name."""

    @pytest.mark.parametrize(
        ("attribute", "value", "rule"),
        [
            ("operators", ("winograd",), "a subset of gemm, conv2d"),
            ("operators", ("subgraph",), "more than subgraph"),
            ("operators", (), "a subset of"),
            ("precisions", (), "a non-empty collection of joulecheck.Precision"),
            ("precisions", ("FP32",), "a non-empty collection of joulecheck.Precision"),
            ("machine", "H100", "a joulecheck.Machine, got 'H100'"),
            ("coefficients", {"a": 1.0}, "a mapping of names to joulecheck.Coefficient"),
            ("coefficients", {"a": Coefficient("a", math.inf, "J")}, "a finite number"),
            ("coefficients", {"a": Coefficient("a", "3", "J")}, "a finite number"),
            ("latency_composition", 3, "a joulecheck.Sum, Max or Each, or the name"),
            ("subtotals", {"all": "alu"}, "the names of the terms that it sums"),
            ("subtotals", {"all": []}, "the names of the terms that it sums"),
            ("subtotals", {"alu": ["dram"]}, "names that no energy term has, got 'alu'"),
        ],
    )
    def test_names_model_attribute_and_rule(
        self, attribute: str, value: object, rule: str
    ) -> None:
        model = Plain()
        setattr(model, attribute, value)

        with pytest.raises(InvalidModel, match=rf"plain\.{attribute}.* must be .*{rule}"):
            Subject.of(model)


class TestPrecisions:
    """Which formats a model answers for."""

    def test_are_probed_where_not_declared(self) -> None:
        class Integer(Plain):
            def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
                if not case.precision.name.startswith("INT"):
                    raise Unsupported(case.precision.name)
                return super().estimate(case, scale)

        found = {p.name for p in Subject.of(Integer).precisions}

        assert found == {"INT4", "INT8", "INT16", "INT32", "INT64"}

    def test_a_model_that_refuses_all_is_told_so(self) -> None:
        class Refusing(Plain):
            def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
                del scale
                raise Unsupported(case.precision.name)

        with pytest.raises(
            InvalidModel, match=r"plain answers for no precision: .*declare"
        ):
            Subject.of(Refusing)

    def test_one_that_fails_at_a_precision_still_answers_for_it(self) -> None:
        class Fragile(Plain):
            def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
                if case.precision is Precision.INT4:
                    raise ZeroDivisionError
                return super().estimate(case, scale)

        assert Precision.INT4 in Subject.of(Fragile).precisions

    def test_come_plainest_first(self) -> None:
        class Declaring(Plain):
            precisions = (Precision.INT4, Precision.INT8, Precision.FP64, Precision.FP32)

        found = [p.name for p in Subject.of(Declaring).precisions]

        assert found == ["FP32", "INT8", "FP64", "INT4"]


class TestOffers:
    """What a first answer and the declarations offer."""

    def test_of_the_smallest_model_are_energy_and_its_terms(self) -> None:
        assert Subject.of(Plain).offers == {Offer.ENERGY, Offer.ENERGY_TERMS}

    def test_of_a_full_model_are_all(self) -> None:
        class Full(Batched):
            coefficients: ClassVar = {"op_energy": Coefficient("op_energy", 1, "J/op")}
            layers: ClassVar = {"alu": Layer.ALU}
            splits = frozenset({"m"})
            gradual = True
            symmetries: ClassVar = {"gemm": ["energy"]}
            resident: ClassVar = {"dram": 1e6}
            latency_composition = "alu"
            subtotals: ClassVar = {"all": ["alu"]}
            machine = Machine(
                name="full",
                peak={Precision.FP32: 1e12},
                memories={"dram": Memory(1e11, homes=frozenset({"input"}))},
                resources=Resources(shape={}, rates={}, capacities={}, delays={}),
            )
            knobs: ClassVar = {"clock": Knob(KnobKind.RATE)}

            def derive(self, factors: Mapping[str, float]) -> Batched:
                del factors
                return Batched()

            def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
                del case, scale
                return Estimate(
                    energy=1.0,
                    latency=1.0,
                    utilisation=1.0,
                    energy_terms={"alu": 1.0},
                    latency_terms={"alu": 1.0},
                    through={Layer.ALU: 1.0},
                    latency_through={Layer.ALU: 1.0},
                    subtotals={"all": 1.0},
                    traffic={"dram": 1.0},
                    events={"op_energy": 1.0},
                )

        alone = Subject.of(Full)

        assert alone.offers == set(Offer) - {Offer.PEERS}
        assert alone.beside({"other": lambda: alone}).offers == set(Offer)

    def test_sub_totals_and_traffic_are_those_that_are_declared(self) -> None:
        class Loose(Plain):
            def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
                found = super().estimate(case, scale)
                return attrs.evolve(found, subtotals={"all": 1.0}, traffic={"dram": 1.0})

        assert not Subject.of(Loose).offers & {Offer.SUBTOTALS, Offer.TRAFFIC}

    def test_events_are_those_of_declared_coefficients(self) -> None:
        class Loose(Plain):
            def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
                return attrs.evolve(super().estimate(case, scale), events={"op": 1.0})

        class Priced(Loose):
            coefficients: ClassVar = {"op": Coefficient("op", 1.0, "J/op")}

        assert Offer.EVENTS not in Subject.of(Loose).offers
        assert Subject.of(Priced).events == {"op"}

    @pytest.mark.parametrize(
        ("declared", "message"),
        [
            ({"dram": "all"}, r"resident\['dram'\] must be a number of bytes, >= 0"),
            ({"dram": -1}, r"resident\['dram'\] must be a number of bytes"),
            ({"dram": math.nan}, r"resident\['dram'\] must be a number of bytes"),
            ({"dram": None}, r"resident\['dram'\] must be a number of bytes"),
            ({"drum": 1}, r"resident\['drum'\] must be of a memory .* did you mean dram"),
        ],
    )
    def test_what_is_resident_is_bytes_of_a_memory(
        self, declared: Mapping[str, Any], message: str
    ) -> None:
        class Keeping(Plain):
            machine = Machine(name="keeping", memories={"dram": Memory()})
            resident = declared

        with pytest.raises(InvalidModel, match=message):
            Subject.of(Keeping)

    def test_a_memory_that_is_no_home_offers_no_bandwidth(self) -> None:
        class Homeless(Plain):
            machine = Machine(name="homeless", memories={"l1": Memory(1e12)})

        assert Offer.BANDWIDTH not in Subject.of(Homeless).offers

    def test_the_first_question_is_the_smallest_of_the_declared_kinds(self) -> None:
        class Totalling(Plain):
            operators = ("totals",)

            def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
                assert isinstance(case.workload, Totals)
                return super().estimate(case, scale)

        assert Subject.of(Totalling).offers == {Offer.ENERGY, Offer.ENERGY_TERMS}

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            (1.0, r"must return a joulecheck.Estimate, got float: wrap the numbers"),
            (None, r"must return a joulecheck.Estimate, got NoneType"),
            (Estimate(energy="1 J"), r"energy must be a real number .* '1 J' of str"),
            (Estimate(latency=1j), r"latency must be a real number"),
            (Estimate(energy_terms={"alu": "1"}), r"energy_terms\['alu'\] must be a real"),
            (Estimate(traffic={"dram": "1"}), r"traffic\['dram'\] must be a real number"),
            (Estimate(events={"op": "1"}), r"events\['op'\] must be a real number"),
            (Estimate(energy_terms=[1.0]), r"energy_terms must be a mapping"),  # type: ignore[arg-type]  # wrong on purpose
            (KeyError("table"), r"cannot answer the smallest case, Gemm.* KeyError"),
        ],
    )
    def test_a_first_answer_that_is_wrong_is_refused(
        self, answer: object, message: str
    ) -> None:
        with pytest.raises(InvalidModel, match=rf"answering.*{message}"):
            Subject.of(Answering(answer))

    @pytest.mark.parametrize("number", [1, 1.0, np.float32(1), np.int64(1)])
    def test_any_real_number_will_do(self, number: Any) -> None:  # noqa: ANN401 - any number
        assert Subject.of(Answering(Estimate(energy=number))).offers == {Offer.ENERGY}


class TestAsk:
    """A batch of questions, one call each."""

    def test_answers_are_laid_out_by_row(self) -> None:
        found = Subject.of(Plain).ask(cases(1, 2))

        assert len(found) == 2
        assert found.energy.tolist() == [2e-12 + 12e-10, 4e-12 + 20e-10]
        assert found.energy_terms["alu"].tolist() == [2e-12, 4e-12]
        assert total(found.energy_terms, 2).tolist() == found.energy.tolist()

    def test_what_is_not_answered_is_nan(self) -> None:
        found = Subject.of(Plain).ask(cases(1, 2))

        assert np.isnan(found.latency).all()
        assert np.isnan(found.utilisation).all()

    def test_scales_are_passed_where_they_are_not_1(self) -> None:
        seen: list[Mapping[str, float]] = []

        class Noting(Plain):
            def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
                seen.append(dict(scale))
                return super().estimate(case, scale)

        subject = Subject.of(Noting)
        seen.clear()
        found = subject.ask(cases(1, 1), {"op_energy": np.array([1.0, 2.0])})

        assert seen == [{}, {"op_energy": 2.0}]
        assert found.energy_terms["alu"].tolist() == [2e-12, 4e-12]

    def test_errors_are_recorded_by_row(self) -> None:
        class Fragile(Plain):
            def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
                if case.ops == 4:
                    msg = "no tile of 2"
                    raise ValueError(msg)
                return super().estimate(case, scale)

        found = Subject.of(Fragile).ask(cases(1, 2, 3))

        assert found.errors == {1: "ValueError: no tile of 2"}
        assert np.isnan(found.energy).tolist() == [False, True, False]
        assert not found.unsupported.any()

    def test_refusals_are_recorded_by_row_and_are_no_errors(self) -> None:
        class Choosy(Plain):
            def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
                if case.ops == 4:
                    raise Unsupported
                return super().estimate(case, scale)

        found = Subject.of(Choosy).ask(cases(1, 2, 3))

        assert found.unsupported.tolist() == [False, True, False]
        assert found.errors == {}

    def test_where_there_is_no_answer_terms_are_nan_and_not_0(self) -> None:
        class Choosy(Plain):
            def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
                if case.ops > 2:
                    raise Unsupported if case.ops > 4 else ValueError
                return super().estimate(case, scale)

        found = Subject.of(Choosy).ask(cases(1, 2, 3))

        assert np.isnan(found.energy_terms["alu"]).tolist() == [False, True, True]
        assert np.isnan(found.energy_term("no such")).tolist() == [False, True, True]

    def test_an_attempt_to_exit_is_an_error_of_the_model(self) -> None:
        found = Subject.of(Answering(Estimate(energy=1.0), after=SystemExit(3))).ask(
            cases(1)
        )

        assert found.errors == {0: "SystemExit: 3"}

    def test_an_interrupt_is_the_users(self) -> None:
        subject = Subject.of(Answering(Estimate(energy=1.0), after=KeyboardInterrupt()))

        with pytest.raises(KeyboardInterrupt):
            subject.ask(cases(1))

    def test_wrong_types_are_recorded_as_errors(self) -> None:
        subject = Subject.of(Answering(Estimate(energy=1.0), after=Estimate(energy="x")))
        found = subject.ask(cases(1))

        assert list(found.errors) == [0]
        assert found.errors[0].startswith(
            "InvalidModel: answering.estimate: energy must be"
        )

    def test_a_term_that_a_case_lacks_is_0(self) -> None:
        class Sparse(Plain):
            def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
                del scale
                return Estimate(energy=1.0, energy_terms={f"of {case.ops}": 1.0})

        found = Subject.of(Sparse).ask(cases(1, 2))
        terms = {name: values.tolist() for name, values in found.energy_terms.items()}

        assert terms == {"of 2": [1.0, 0.0], "of 4": [0.0, 1.0]}

    def test_a_row_is_the_batch_of_one(self) -> None:
        class Fragile(Plain):
            def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
                if case.ops == 4:
                    raise ValueError
                return super().estimate(case, scale)

        found = Subject.of(Fragile).ask(cases(1, 2, 3))

        assert [list(found.row(i).errors) for i in range(3)] == [[], [0], []]
        assert found.row(2).energy.tolist() == [found.energy[2]]
        assert found.row(2).energy_terms["alu"].tolist() == [6e-12]

    def test_only_terms_in_scope_are_counted(self) -> None:
        class Scoped(Plain):
            def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
                del case, scale
                terms = {"alu": 1.0, "cooling": 5.0}
                return Estimate(energy=1.0, energy_terms=terms, scope=frozenset({"alu"}))

        found = Subject.of(Scoped).ask(cases(1))

        assert list(found.counted_terms()) == ["alu"]

    def test_each_call_is_announced(self) -> None:
        beats: list[int] = []
        subject = attrs.evolve(Subject.of(Plain), heartbeat=beats.append)
        subject.ask(cases(1, 2, 3))

        assert beats == [0, 1, 2]


class TestBatchPath:
    """A model that answers a batch in one call."""

    def test_is_one_call(self) -> None:
        subject = Subject.of(Batched)
        found = subject.ask(cases(1, 2, 3))

        assert subject.vectorised
        assert isinstance(subject.model, Batched)
        assert subject.model.calls == 1
        assert (
            found.energy.tolist() == Subject.of(Plain).ask(cases(1, 2, 3)).energy.tolist()
        )

    def test_one_by_one_takes_the_scalar_path(self) -> None:
        subject = Subject.of(Batched)
        found = subject.one_by_one.ask(cases(1, 2))

        assert isinstance(subject.model, Batched)
        assert subject.model.calls == 0
        assert found.energy.tolist() == subject.ask(cases(1, 2)).energy.tolist()
        assert subject.one_by_one.in_batches.vectorised

    def test_a_single_number_stands_for_all_rows(self) -> None:
        class Constant(Plain):
            def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
                del cases, scales
                return Estimate(energy=7.0)

        assert Subject.of(Constant).ask(cases(1, 2)).energy.tolist() == [7.0, 7.0]

    @pytest.mark.parametrize(
        "answer", [RuntimeError("no"), Estimate(energy=np.ones(5)), None, {"energy": 1.0}]
    )
    def test_what_fails_there_is_asked_row_by_row(self, answer: object) -> None:
        class Failing(Plain):
            def estimate_batch(self, cases: Cases, scales: Scales) -> Any:  # noqa: ANN401 - wrong on purpose
                del cases, scales
                if isinstance(answer, Exception):
                    raise answer
                return answer

        found = Subject.of(Failing).ask(cases(1, 2))

        assert found.energy.tolist() == Subject.of(Plain).ask(cases(1, 2)).energy.tolist()
        assert found.batch_error != ""

    def test_a_batch_with_a_row_that_is_refused_has_not_failed(self) -> None:
        class Choosy(Plain):
            def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
                del cases, scales
                raise Unsupported

        found = Subject.of(Choosy).ask(cases(1, 2))

        assert found.energy.tolist() == Subject.of(Plain).ask(cases(1, 2)).energy.tolist()
        assert found.batch_error == ""

    def test_perturbs_by_row(self) -> None:
        scales = {"op_energy": np.array([1.0, 0.5])}
        subject = Subject.of(Batched)

        assert (
            subject.ask(cases(1, 2), scales).energy.tolist()
            == subject.one_by_one.ask(cases(1, 2), scales).energy.tolist()
        )


class TestFamilies:
    """Models that packages register."""

    def test_a_model_is_built_once(self) -> None:
        one, again = (registered("reference", "Google-TPU-v1") for _ in range(2))

        assert one is again
        assert one.name == "reference:Google-TPU-v1"

    def test_an_unknown_model_gets_a_suggestion(self) -> None:
        with pytest.raises(UnknownName, match="did you mean Google-TPU-v"):
            registered("reference", "Google-TPU-v2")

    def test_an_unknown_family_gets_a_suggestion(self) -> None:
        with pytest.raises(UnknownName, match=r"'referense': did you mean reference\?"):
            registered("referense", "Google-TPU-v1")

    def test_patterns_select_in_the_order_of_the_family(self) -> None:
        found = [subject.name for subject in matching("reference", "Intel-Xeon-*")]

        assert found == [
            "reference:Intel-Xeon-Platinum-8490H",
            "reference:Intel-Xeon-Platinum-8592+",
        ]

    def test_a_pattern_without_a_match_is_an_error(self) -> None:
        with pytest.raises(UnknownName, match="no model of reference matches 'Cray-"):
            matching("reference", "Cray-*")


class TestSubgraphs:
    """A model is asked whole graphs as one case."""

    def test_a_graph_is_one_question(self) -> None:
        gemm = Gemm(m=2, n=2, k=2)
        found = Subject.of(Plain).ask(Cases.of([Case(Subgraph.chain(gemm, gemm))]))

        assert len(found) == 1
        assert found.energy_terms["alu"].tolist() == [32e-12]


class Delegating:
    """A model that answers for everything through another one."""

    def __init__(self, model: object) -> None:
        self._model = model

    def __getattr__(self, name: str) -> object:
        return getattr(self._model, name)


class TestDelegation:
    def test_a_model_may_get_its_attributes_from_another(self) -> None:
        inner = registered("reference", "Google-TPU-v1")

        subject = Subject.of(Delegating(inner.model))

        assert subject.offers == inner.offers - {Offer.PEERS}

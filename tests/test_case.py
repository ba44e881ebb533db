from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from joulecheck.case import (
    AnyCase,
    Case,
    Cases,
    CaseSequence,
    CoefficientCase,
    Derivation,
    DerivedCase,
    DerivedCases,
    EquivalentPair,
    EquivalentPairs,
    InvalidCase,
    MeasuredCase,
    Part,
    PartedCase,
    PartedCases,
    PeerCase,
    PeerCases,
    PrecisionPair,
    PrecisionPairs,
    ScaledCase,
    ScaledCases,
    Singles,
    WorkloadPair,
    WorkloadPairs,
    Wrong,
    batch_of,
)
from joulecheck.counterexample import structure_case, unstructure_case
from joulecheck.errors import CorpusError, InvalidScale, InvalidWorkload
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Node,
    Precision,
    Subgraph,
    Totals,
    Traffic,
)
from joulecheck.workload.columns import PRECISIONS
from joulecheck_strategies import (
    BatchSplitSpace,
    DerivationSpace,
    GrowthSpace,
    OperatorsAloneSpace,
    PeerSpace,
    PerturbationSpace,
    PrecisionPairSpace,
    RegularSpace,
    ReorderedSpace,
    TotalsSpace,
    UniformScaleSpace,
    WorkloadSpace,
)

WORKLOADS = WorkloadSpace(precisions=tuple(Precision))
COEFFICIENTS = ("mac_energy", "dram_energy", "static_power")
DERIVATIONS = (
    Derivation({"clock": 2.0}),
    Derivation({"l2.capacity": 1 / 3, "units": 2.0}, {"static_power": 0.5}),
)
PAIRS = ((Precision.INT8, Precision.INT32), (Precision.FP16, Precision.FP32))
SPACES: dict[str, st.SearchStrategy[Any]] = {
    "case": WORKLOADS.strategy(),
    "totals": TotalsSpace().strategy(),
    "growth": GrowthSpace(WORKLOADS).strategy(),
    "perturbation": PerturbationSpace(WORKLOADS, COEFFICIENTS).strategy(),
    "uniform scale": UniformScaleSpace(WORKLOADS, COEFFICIENTS).strategy(),
    "precision pair": PrecisionPairSpace(WORKLOADS, PAIRS).strategy(),
    "derivation": DerivationSpace(WORKLOADS, DERIVATIONS).strategy(),
    "regular": RegularSpace().strategy(),
    "peers": PeerSpace(WORKLOADS, (("a:b", Precision.INT8),)).strategy(),
    "reordering": ReorderedSpace(WORKLOADS).strategy(),
    "operators alone": OperatorsAloneSpace(WORKLOADS).strategy(),
    "batch split": BatchSplitSpace(WORKLOADS).strategy(),
}

SMALL = Case(Gemm(m=2, n=3, k=5), Precision.FP16)
LARGE = Case(Gemm(m=4, n=3, k=5), Precision.FP16)
EACH_KIND: dict[str, AnyCase] = {
    "gemm": SMALL,
    "convolution": Case(Conv2d(n=1, c=4, h=9, w=8, k=6, r=3, s=2, stride=2, groups=2)),
    "elementwise": Case(Elementwise(Function.MULTIPLY, (2, 3), operands=3)),
    "subgraph": Case(
        Subgraph(
            [
                Node(Gemm(m=4, n=8, k=16)),
                Node(Gemm(m=4, n=4, k=8), (0, 0)),
                Node(Elementwise(Function.GELU, (1, 4, 4, 1)), (1,)),
            ]
        ),
        Precision.FP8_E5M2,
    ),
    "totals": Case(Totals(ops=2**60, bytes=0), Precision.INT4),
    "scaled": ScaledCase(SMALL, {"mac_energy": 1 + 1e-6, "dram_energy": 0.9}),
    "growth": WorkloadPair(SMALL, LARGE, "0.m"),
    "precision": PrecisionPair(Case(SMALL.workload, Precision.FP8_E4M3), SMALL),
    "derived": DerivedCase(SMALL, DERIVATIONS[1]),
    "coefficient": CoefficientCase("dram_energy", 512),
    "sequence": CaseSequence([SMALL, LARGE, SMALL]),
    "misspelt": InvalidCase(SMALL, Wrong.UNKNOWN_COEFFICIENT, "dram_energy"),
    "no number": InvalidCase(SMALL, Wrong.NAN_FACTOR, "dram_energy"),
    "measured": MeasuredCase(case=SMALL, latency=1e-6, tolerance=0.2),
    "other workload": InvalidCase(Case(Totals(2, 3)), Wrong.OTHER_WORKLOAD),
    "peer": PeerCase(SMALL, "family:other"),
    "spelling": EquivalentPair(SMALL, Case(Gemm(m=1, n=3, k=5, batch=2)), "batch as rows"),
    "parts": PartedCase(LARGE, (Part(SMALL, 2), Part(Case(Gemm(m=1, n=3, k=5)))), "m"),
}

each_kind = pytest.mark.parametrize("case", EACH_KIND.values(), ids=EACH_KIND)
each_space = pytest.mark.parametrize("cases", SPACES.values(), ids=SPACES)


def through_json(case: AnyCase) -> AnyCase:
    """The case after it was written and read."""
    return structure_case(json.loads(json.dumps(unstructure_case(case))))


class TestPickle:
    """Cases between processes."""

    @each_kind
    def test_every_kind_comes_back_equal(self, case: AnyCase) -> None:
        assert pickle.loads(pickle.dumps(case)) == case  # noqa: S301 - our own


class TestJson:
    """Cases as data."""

    @each_kind
    def test_every_kind_comes_back_equal(self, case: AnyCase) -> None:
        assert through_json(case) == case

    @each_space
    def test_every_drawn_case_comes_back_equal(
        self, cases: st.SearchStrategy[AnyCase]
    ) -> None:
        @given(cases)
        def comes_back(case: AnyCase) -> None:
            assert through_json(case) == case

        comes_back()

    def test_big_dimensions_stay_exact(self) -> None:
        case = Case(Gemm(m=2**80 + 1, n=1, k=1))

        assert through_json(case) == case

    def test_data_name_kinds_and_formats_and_no_import_path(self) -> None:
        assert unstructure_case(SMALL) == {
            "kind": "Case",
            "workload": {"op": "Gemm", "m": 2, "n": 3, "k": 5, "batch": 1},
            "precision": "FP16",
        }

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"kind": "Nothing"}, "Nothing"),
            ({"precision": "FP33"}, "FP33"),
            ({"workload": {"op": "Gemm", "m": 0, "n": 1, "k": 1}}, "Gemm.m must be an int"),
            ({"workload": {"op": "Gemm", "m": 1, "n": 1}}, "k"),
            ({"workload": {"op": "Winograd"}}, "Winograd"),
            ({"colour": "red"}, "colour"),
            ({"workload": {"op": "Gemm", "m": 2.7, "n": 1, "k": 1}}, "2.7"),
            ({"workload": {"op": "Gemm", "m": "2", "n": 1, "k": 1}}, "'2'"),
            ({"workload": {"op": "Gemm", "m": True, "n": 1, "k": 1}}, "True"),
        ],
    )
    def test_what_is_no_case_is_refused_by_name(
        self, change: dict[str, Any], named: str
    ) -> None:
        data = {**unstructure_case(SMALL), **change}

        with pytest.raises(CorpusError, match=named):
            structure_case(data)


class TestCase:
    """One question to a model."""

    def test_counts_are_those_of_the_workload(self) -> None:
        assert (SMALL.macs, SMALL.ops) == (30, 60)
        assert SMALL.traffic == Traffic(input=20, weight=30, output=12, internal=0)
        assert SMALL.bytes == 62

    @pytest.mark.parametrize("workload", [None, "gemm", (1, 1, 1), Gemm])
    def test_refuses_what_is_no_workload(self, workload: Any) -> None:  # noqa: ANN401 - anything
        with pytest.raises(InvalidWorkload, match=r"Case\.workload must be one of Gemm"):
            Case(workload)

    @pytest.mark.parametrize("precision", [None, "FP32", 32])
    def test_refuses_what_is_no_precision(self, precision: Any) -> None:  # noqa: ANN401 - anything
        with pytest.raises(InvalidWorkload, match=r"Case\.precision must be a joulecheck"):
            Case(SMALL.workload, precision)

    @pytest.mark.parametrize("factor", [-1.0, float("nan"), float("inf")])
    def test_refuses_to_be_scaled_by_what_is_no_factor(self, factor: float) -> None:
        with pytest.raises(InvalidScale, match="factor of coefficient 'dram'"):
            ScaledCase(SMALL, {"dram": factor})

    def test_is_fp32_unless_told(self) -> None:
        assert Case(SMALL.workload).precision is Precision.FP32


class TestQuestions:
    """What a case asks of a model."""

    @pytest.mark.parametrize(
        ("kind", "roles"),
        [
            ("gemm", ["case"]),
            ("scaled", ["nominal", "scaled"]),
            ("growth", ["smaller", "larger"]),
            ("precision", ["narrower", "wider"]),
            ("derived", ["nominal", "derived"]),
            ("coefficient", []),
            ("sequence", ["case 1", "case 2", "case 3"]),
            ("misspelt", ["invalid"]),
            ("peer", ["model", "peer"]),
            ("spelling", ["one", "other"]),
            ("parts", ["whole", "part 1 x 2", "part 2"]),
        ],
    )
    def test_each_kind_names_their_roles(self, kind: str, roles: list[str]) -> None:
        assert [question.role for question in EACH_KIND[kind].questions] == roles

    def test_only_the_scaled_one_is_scaled(self) -> None:
        nominal, scaled = EACH_KIND["scaled"].questions

        assert nominal.case == scaled.case == SMALL
        assert nominal.scale == {}
        assert scaled.scale == {"mac_energy": 1 + 1e-6, "dram_energy": 0.9}

    def test_an_invalid_one_is_asked_under_its_scale(self) -> None:
        misspelt, no_number = (EACH_KIND[kind] for kind in ("misspelt", "no number"))

        assert misspelt.questions[0].scale == {"dram_energy_": 1.1}
        assert np.isnan(no_number.questions[0].scale["dram_energy"])
        assert EACH_KIND["other workload"].questions[0].scale == {}

    def test_only_the_peers_is_put_to_a_peer(self) -> None:
        asked = {kind: [q.peer for q in case.questions] for kind, case in EACH_KIND.items()}

        assert asked.pop("peer") == ["", "family:other"]
        assert {name for names in asked.values() for name in names} == {""}


class TestBatchOfOne:
    """A single case is a batch of one."""

    @each_kind
    def test_holds_the_case(self, case: AnyCase) -> None:
        batch = batch_of(case)

        assert len(batch) == 1
        assert batch[0] == case

    def test_has_the_kind_of_the_case(self) -> None:
        assert type(batch_of(EACH_KIND["derived"])) is DerivedCases
        kinds = ("gemm", "scaled", "growth", "precision", "coefficient", "sequence")
        found = [type(batch_of(EACH_KIND[kind])) for kind in kinds]

        expected = [Cases, ScaledCases, WorkloadPairs, PrecisionPairs, Singles, Singles]
        assert found == expected
        assert type(batch_of(EACH_KIND["misspelt"])) is Singles
        assert type(batch_of(EACH_KIND["peer"])) is PeerCases
        kinds = ("gemm", "scaled", "growth", "precision", "spelling", "parts")
        found = [type(batch_of(EACH_KIND[kind])) for kind in kinds]

        assert found == [
            Cases,
            ScaledCases,
            WorkloadPairs,
            PrecisionPairs,
            EquivalentPairs,
            PartedCases,
        ]


class TestCases:
    """A batch of plain cases."""

    def test_gives_the_cases_back_in_order(self) -> None:
        cases = [c for c in EACH_KIND.values() if isinstance(c, Case)]
        batch = Cases.of(cases)

        assert list(batch) == cases
        assert [batch[index] for index in range(len(batch))] == cases

    def test_at_asks_the_same_workloads_at_other_precisions(self) -> None:
        batch = Cases.of([SMALL, LARGE])
        moved = batch.at(np.array([PRECISIONS.index(Precision.INT4)] * 2))

        assert list(moved) == [Case(c.workload, Precision.INT4) for c in (SMALL, LARGE)]
        assert moved.bits.tolist() == [4, 4]
        assert moved.bytes.tolist() == [5 + 8 + 3, 10 + 8 + 6]
        assert moved.operators is batch.operators

    def test_at_leaves_the_batch_and_stated_bytes_alone(self) -> None:
        batch = Cases.of([EACH_KIND["totals"], SMALL])  # type: ignore[list-item]  # a plain case
        moved = batch.at(np.zeros(2, dtype=np.int64))

        assert list(batch) == [EACH_KIND["totals"], SMALL]
        assert moved.bytes.tolist() == [0, 8 * 31]

    def test_take_asks_some_of_them_in_another_order(self) -> None:
        cases = [c for c in EACH_KIND.values() if isinstance(c, Case)]
        batch = Cases.of(cases)
        rows = np.array([4, 3, 0, 3])
        taken, expected = batch.take(rows), Cases.of([cases[row] for row in rows])

        assert list(taken) == list(expected)
        assert taken.bytes.tolist() == expected.bytes.tolist()
        assert taken.ops.tolist() == expected.ops.tolist()

    def test_totals_state_their_bytes_among_others(self) -> None:
        batch = Cases.of([Case(Totals(ops=3, bytes=7)), SMALL])

        assert batch.bytes.tolist() == [7, 62]
        assert batch.ops.tolist() == [3, 60]


class TestScaledCases:
    """A batch under perturbed coefficients."""

    def test_what_a_case_leaves_alone_has_factor_1(self) -> None:
        cases = [ScaledCase(SMALL, {"a": 2.0}), ScaledCase(LARGE, {"b": 0.5})]
        batch = ScaledCases.of(cases)
        found = {name: factors.tolist() for name, factors in batch.scales.items()}

        assert found == {"a": [2.0, 1.0], "b": [1.0, 0.5]}
        assert [batch[0], batch[1]] == cases


class TestPeerCases:
    """A batch that is put to several peers."""

    CASES = (PeerCase(SMALL, "a"), PeerCase(LARGE, "b"), PeerCase(LARGE, "a"))

    def test_groups_the_cases_by_peer(self) -> None:
        batch = PeerCases.of(self.CASES)
        found = {peer: (rows.tolist(), list(cases)) for peer, rows, cases in batch.groups}

        assert found == {"a": ([0, 2], [SMALL, LARGE]), "b": ([1], [LARGE])}

    def test_keeps_their_order(self) -> None:
        batch = PeerCases.of(self.CASES)

        assert len(batch) == 3
        assert [batch[index] for index in range(3)] == list(self.CASES)

    def test_puts_judgements_back_in_order(self) -> None:
        batch = PeerCases.of(self.CASES)

        found = batch.judged(lambda peer, cases: cases.ops + (0 if peer == "a" else 0.5))

        assert found.tolist() == [SMALL.ops, LARGE.ops + 0.5, LARGE.ops]


class TestPartedCases:
    """A batch of wholes and their parts."""

    ALONE = PartedCase(SMALL, (Part(SMALL),), "")
    PARTS = EACH_KIND["parts"]

    def batch(self) -> PartedCases:
        assert isinstance(self.PARTS, PartedCase)
        return PartedCases.of([self.PARTS, self.ALONE])

    def test_totals_count_each_run(self) -> None:
        batch = self.batch()

        assert batch.total(batch.parts.macs).tolist() == [2 * 30 + 15, 30]

    def test_the_greatest_is_that_of_one_run(self) -> None:
        batch = self.batch()

        assert batch.greatest(batch.parts.macs).tolist() == [30, 30]

    def test_a_part_without_a_number_leaves_none(self) -> None:
        batch = self.batch()
        unknown = np.array([1.0, np.nan, 1.0])

        np.testing.assert_array_equal(batch.total(unknown), [np.nan, 1])
        np.testing.assert_array_equal(batch.greatest(unknown), [np.nan, 1])

    def test_a_single_part_is_not_parted(self) -> None:
        assert self.batch().parted.tolist() == [True, False]

    @pytest.mark.parametrize("times", [0, -1, 1.0, True])
    def test_a_part_runs_a_whole_number_of_times(self, times: Any) -> None:  # noqa: ANN401 - what is wrong
        with pytest.raises(InvalidWorkload, match=r"Part\.times must be an int >= 1"):
            Part(SMALL, times)

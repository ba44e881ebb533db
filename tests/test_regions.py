from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs
import numpy as np
import pytest

from corpus_examples import counterexample
from joulecheck.campaign.order import Plainness
from joulecheck.campaign.reduce import reduce
from joulecheck.campaign.regions import oracle
from joulecheck.campaign.regions.ends import plainest
from joulecheck.campaign.regions.generalise import generalise, interval_of_share
from joulecheck.counterexample import Counterexample, from_json, to_json
from joulecheck.errors import CorpusError, UnknownName
from joulecheck.region import (
    Columns,
    Feature,
    Generalised,
    How,
    Interval,
    Kinds,
    Measured,
    Region,
    Residues,
    SomeOperator,
    Values,
)
from joulecheck.region.atoms import merged
from joulecheck.region.sampling import Sampler
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import CONV2D, ELEMENTWISE, GEMM, Bools, Ints
from joulecheck_strategies import (
    GrowthSpace,
    PerturbationSpace,
    PrecisionPairSpace,
    SequenceSpace,
    TotalsSpace,
    UniformScaleSpace,
    WorkloadSpace,
)

Space = Any
AnyBatch = Any
Holds = Callable[[AnyBatch], Bools]
"""Whether each case of a batch fails."""

PRECISIONS: Final = (Precision.FP32, Precision.INT8, Precision.FP16)
QUANTA: Final = (8, 128)
GEMMS: Final = WorkloadSpace(
    kinds=("gemm",), max_nodes=1, precisions=PRECISIONS, quanta=QUANTA
)
CONVOLUTIONS: Final = WorkloadSpace(kinds=("conv2d",), max_nodes=1)
ELEMENTWISES: Final = WorkloadSpace(kinds=("elementwise",), max_nodes=1)
OPERATORS: Final = WorkloadSpace(max_nodes=1, precisions=PRECISIONS)
GRAPHS: Final = WorkloadSpace(precisions=PRECISIONS)
PERTURBED: Final = PerturbationSpace(GEMMS, ("alu", "dram", "noc"))


def found(  # noqa: PLR0913 - options of a search
    space: Space,
    holds: Holds,
    *,
    seed: int = 0,
    cases: int = 8192,
    vectorised: bool = True,
    limit: int | None = None,
) -> Generalised:
    """What is found of the failures of a screening."""
    rng = np.random.default_rng(seed)
    rows = space.sample(rng, cases)

    def fails(some: Ints) -> Bools:
        return holds(space.batch(some))

    failing = rows[fails(rows)]
    assert len(failing), "no sampled case fails"
    plain = failing[Plainness.of(space, failing).order()[0]]
    row = reduce(space, plain.tolist(), fails, vectorised=True).row
    return generalise(
        space, fails, row, failing, rng, QUANTA, vectorised=vectorised, limit=limit
    )


def assert_exact(space: Space, regions: Generalised, holds: Holds) -> None:
    """No drawn case, case inside of either or neighbour of one tells them apart."""
    rng = np.random.default_rng(99)
    drawn = space.sample(rng, 4096)
    inside = Sampler(space, lambda rows: holds(space.batch(rows))).draw(
        rng, 1000, drawn[holds(space.batch(drawn))]
    )
    claimed = [
        region.sample(space, rng, 1000, inside[region.contains(space, inside)])
        for region in regions.regions
    ]
    some = np.concatenate([inside, *claimed])
    near = np.array(some, order="F")
    near[np.arange(len(near)), rng.integers(0, near.shape[1], len(near))] += 1
    lows, highs = np.array([(gene.low, gene.high) for gene in space.genes]).T
    near = space.canonical(np.asfortranarray(np.clip(near, lows, highs)))
    for rows in (drawn, some, near):
        np.testing.assert_array_equal(
            regions.contains(space, rows), holds(space.batch(rows))
        )


def somewhere(cases: AnyBatch, which: Bools) -> Bools:
    """Whether some operator of each case is marked."""
    some: Bools = cases.operators.per_case(which.astype(np.float64)) > 0
    return some


def precise(cases: AnyBatch, *precisions: Precision) -> Bools:
    return np.isin(cases.precision, [list(Precision).index(p) for p in precisions])


def readme(cases: AnyBatch) -> Bools:
    rows = cases.operators
    return precise(cases, Precision.INT8) & (rows.k % 128 == 5) & (rows.m >= 1001)


SINGLE: Final[dict[str, tuple[Space, Holds, str]]] = {
    "residue, end and precision": (
        GEMMS,
        readme,
        "every INT8 GEMM with K mod 128 = 5 and loop M >= 1001",
    ),
    "interval": (
        GEMMS,
        lambda c: (c.operators.n >= 300) & (c.operators.n <= 5000),
        "every GEMM with 300 <= N <= 5000",
    ),
    "all residues but one": (
        GEMMS,
        lambda c: c.operators.k % 128 != 0,
        "every GEMM with K mod 128 != 0",
    ),
    "some residues": (
        GEMMS,
        lambda c: np.isin(c.operators.n % 6, [1, 2]),
        "every GEMM with N mod 6 in {1, 2}",
    ),
    "two periods of one number": (
        GEMMS,
        lambda c: (c.operators.n % 3 != 2) & np.isin(c.operators.n % 128, range(40)),
        "",
    ),
    "relation": (
        GEMMS,
        lambda c: c.operators.n >= c.operators.k + 3,
        "every GEMM with N >= K + 3",
    ),
    "product": (
        GEMMS,
        lambda c: c.operators.n * c.operators.k >= 4097,
        "every case with weight elements >= 4097",
    ),
    "bytes and residue": (
        GEMMS,
        lambda c: (c.traffic.weight >= 1 << 20) & (c.operators.n % 8 != 0),
        "every GEMM with N mod 8 != 0 and weight bytes >= 2^20",
    ),
    "tiles": (
        GEMMS,
        lambda c: np.ceil(c.operators.m / 128) * np.ceil(c.operators.n / 128) >= 9,
        "every operator with ceil(loop M / 128) x ceil(loop N / 128) >= 9",
    ),
    "kinds": (
        OPERATORS,
        lambda c: np.isin(c.operators.kind, [GEMM, CONV2D]) & (c.macs >= 12345),
        "every case with MACs >= 12345",
    ),
    "one kind": (
        OPERATORS,
        lambda c: (c.operators.kind == ELEMENTWISE) & (c.operators.m % 3 == 1),
        "every elementwise operator with loop M mod 3 = 1",
    ),
}


class TestSingleOperators:
    """Small planted regions of each kind are found exactly."""

    @pytest.mark.parametrize("name", SINGLE)
    def test_it_is_exact(self, name: str) -> None:
        space, holds, _ = SINGLE[name]
        regions = found(space, holds, cases=1 << 16)

        assert len(regions.regions) == 1
        assert regions.proven
        assert regions.coverage == 1
        assert_exact(space, regions, holds)

    @pytest.mark.parametrize(
        "name", ["interval", "all residues but one", "some residues", "relation"]
    )
    def test_it_is_said_in_one_sentence(self, name: str) -> None:
        space, holds, sentence = SINGLE[name]

        assert found(space, holds).regions[0].sentence == sentence

    def test_fields_of_a_convolution(self) -> None:
        column = CONVOLUTIONS.column

        def fails(rows: Ints) -> Bools:
            stride, taps = rows[:, column["0.stride"]], rows[:, column["0.r"]]
            return (stride == 2) & (taps >= 3)

        rng = np.random.default_rng(0)
        rows = CONVOLUTIONS.sample(rng, 8192)
        failing = rows[fails(rows)]
        regions = generalise(CONVOLUTIONS, fails, failing[0].tolist(), failing, rng)

        assert [region.sentence for region in regions.regions] == [
            "every convolution with R >= 3 and stride = 2"
        ]

    def test_functions(self) -> None:
        column = ELEMENTWISES.column["0.function"]

        def fails(rows: Ints) -> Bools:
            return np.isin(rows[:, column], [0, 2])

        rng = np.random.default_rng(0)
        rows = ELEMENTWISES.sample(rng, 4096)
        failing = rows[fails(rows)]
        (region,) = generalise(
            ELEMENTWISES, fails, failing[0].tolist(), failing, rng
        ).regions

        assert region.operators[0].atoms == (Kinds("function", ("ADD", "SIGMOID")),) or (
            region.sentence.startswith("every elementwise operator with function")
        )

    def test_everything(self) -> None:
        regions = found(GEMMS, lambda c: np.ones(len(c), dtype=bool), cases=64)

        assert [region.sentence for region in regions.regions] == ["every case"]
        assert regions.regions[0].measured is not None
        assert regions.regions[0].measured.share == 1


class TestOtherSpaces:
    """Every case space has words of its own."""

    def test_a_perturbed_coefficient(self) -> None:
        def holds(batch: AnyBatch) -> Bools:
            factor = batch.scales.get("dram", np.ones(len(batch)))
            failing: Bools = factor < 1
            return failing

        regions = found(PERTURBED, holds)

        assert [r.sentence for r in regions.regions] == [
            "every case with the factor of dram <= 0.999999"
        ]
        assert_exact(PERTURBED, regions, holds)

    def test_a_perturbed_coefficient_in_large_gemms(self) -> None:
        def holds(batch: AnyBatch) -> Bools:
            factor = batch.scales.get("noc", np.ones(len(batch)))
            failing: Bools = (factor != 1) & (batch.cases.operators.n >= 77)
            return failing

        regions = found(PERTURBED, holds)

        assert regions.regions[0].sentence.endswith("N >= 77 and noc perturbed")
        assert_exact(PERTURBED, regions, holds)

    def test_a_common_factor(self) -> None:
        space = UniformScaleSpace(GEMMS, ("alu", "dram"))
        regions = found(space, lambda batch: batch.scales["alu"] > 1.2)

        assert [r.sentence for r in regions.regions] == [
            "every case with the largest factor >= 1.25"
        ]

    def test_the_dimension_that_grows(self) -> None:
        space = GrowthSpace(GEMMS)

        def holds(pairs: AnyBatch) -> Bools:
            failing: Bools = pairs.larger.operators.k > pairs.smaller.operators.k
            return failing & (pairs.smaller.operators.n % 2 == 1)

        regions = found(space, holds)

        assert regions.coverage == 1
        assert_exact(space, regions, holds)

    def test_how_much_more_there_is(self) -> None:
        space = GrowthSpace(GEMMS)

        def holds(pairs: AnyBatch) -> Bools:
            failing: Bools = pairs.larger.macs >= pairs.smaller.macs + 1000
            return failing

        regions = found(space, holds)

        assert "larger MACs >= MACs + 1000" in regions.regions[0].sentence
        assert_exact(space, regions, holds)

    def test_the_wider_precision(self) -> None:
        pairs = (
            (Precision.INT8, Precision.INT16),
            (Precision.FP16, Precision.FP32),
            (Precision.BF16, Precision.FP32),
        )
        space = PrecisionPairSpace(GEMMS, pairs)
        wide = list(Precision).index(Precision.FP32)

        def holds(batch: AnyBatch) -> Bools:
            failing: Bools = batch.wider.precision == wide
            return failing

        regions = found(space, holds)

        assert len(regions.regions) == 1
        assert_exact(space, regions, holds)

    def test_totals(self) -> None:
        space = TotalsSpace(PRECISIONS, max_total=1 << 20)

        def holds(cases: AnyBatch) -> Bools:
            failing: Bools = cases.ops >= 4 * cases.bytes
            return failing

        regions = found(space, holds, cases=1024)

        assert [r.sentence for r in regions.regions] == ["every case with ops / bytes >= 4"]

    def test_sequences_of_cases_of_which_only_genes_are_known(self) -> None:
        space = SequenceSpace(GEMMS, shortest=2, longest=2)
        first, second = space.column["0:0.n"], space.column["1:0.n"]

        def fails(rows: Ints) -> Bools:
            odd: Bools = (rows[:, first] + rows[:, second]) % 5 == 2
            return odd & (rows[:, first] * rows[:, second] >= 3_000_000)

        rng = np.random.default_rng(0)
        rows = space.sample(rng, 1 << 14)
        failing = rows[fails(rows)]
        regions = generalise(space, fails, failing[0].tolist(), failing, rng, QUANTA)

        for region in regions.regions:
            assert fails(region.sample(space, rng, 1000)).mean() > 0.99


GRAPH: Final[dict[str, Holds]] = {
    "any graph with an operator": lambda c: somewhere(
        c, (c.operators.kind == GEMM) & (c.operators.k % 8 == 7)
    ),
    "a total": lambda c: c.ops >= 100_000,
    "an edge": lambda c: somewhere(c, c.operators.weight_is_internal),
    "two operators": lambda c: (
        somewhere(c, (c.operators.kind == CONV2D) & (c.operators.n >= 20))
        & somewhere(c, c.operators.kind == ELEMENTWISE)
    ),
    "an operator and a total": lambda c: (
        somewhere(c, (c.operators.kind == ELEMENTWISE) & (c.operators.m >= 500))
        & (c.traffic.internal >= 8192)
    ),
    "two precisions": lambda c: (
        precise(c, Precision.INT8, Precision.FP16)
        & somewhere(c, c.operators.output_is_internal)
    ),
}


class TestGraphs:
    """A pattern is found in graphs of any size."""

    @pytest.mark.parametrize("name", GRAPH)
    def test_it_is_exact(self, name: str) -> None:
        regions = found(GRAPHS, GRAPH[name])

        assert len(regions.regions) == 1
        assert regions.coverage == 1
        assert_exact(GRAPHS, regions, GRAPH[name])

    def test_it_is_said_of_any_graph(self) -> None:
        (region,) = found(GRAPHS, GRAPH["any graph with an operator"]).regions

        assert region.graphs
        assert region.sentence == "every graph that has a GEMM with K mod 8 = 7"


def either(cases: AnyBatch) -> Bools:
    failing: Bools = (cases.operators.k % 7 == 3) | (cases.operators.n >= 9000)
    return failing


class TestUnions:
    """Failures of several causes are several regions."""

    def test_each_is_a_region(self) -> None:
        regions = found(GEMMS, either)

        assert {region.sentence for region in regions.regions} == {
            "every GEMM with K mod 7 = 3",
            "every GEMM with N >= 9000",
        }
        assert regions.coverage == 1
        assert_exact(GEMMS, regions, either)

    def test_each_has_its_own_coverage(self) -> None:
        measured = [region.measured for region in found(GEMMS, either).regions]

        for one in measured:
            assert one is not None
            assert 0 < one.coverage < 1
            assert one.share_low < one.share < one.share_high


OUTSIDE: Final[dict[str, Holds]] = {
    "sum": lambda c: c.operators.n + c.operators.k >= 3000,
    "power of two": lambda c: np.log2(c.operators.n) % 1 == 0,
    "residue of a sum": lambda c: (c.operators.n + c.operators.k) % 11 == 2,
}


class TestOutsideTheLanguage:
    """What cannot be said is said in part, or not: never falsely."""

    @pytest.mark.parametrize("name", OUTSIDE)
    def test_nothing_false_is_claimed(self, name: str) -> None:
        holds = OUTSIDE[name]
        regions = found(GEMMS, holds)
        rng = np.random.default_rng(5)

        assert regions.coverage < 1
        for region in regions.regions:
            inside = region.sample(GEMMS, rng, 2000)
            assert len(inside)
            assert holds(GEMMS.batch(inside)).mean() > 0.99


class TestUnproven:
    """A slow model is asked little, and what is found says so."""

    def test_few_cases_prove_nothing(self) -> None:
        regions = found(GEMMS, lambda c: c.operators.n >= 300, vectorised=False)

        assert not regions.proven
        assert regions.evaluations < 2500
        assert [region.sentence for region in regions.regions] == [
            "every GEMM with N >= 300"
        ]
        assert regions.regions[0].measured is not None
        assert not regions.regions[0].measured.proven

    @pytest.mark.parametrize("limit", [0, 10, 100, 500, 1000])
    def test_a_limit_holds(self, limit: int) -> None:
        regions = found(GEMMS, readme, cases=1 << 16, vectorised=False, limit=limit)

        assert regions.evaluations <= limit
        assert not regions.proven

    def test_what_was_found_by_then_is_tried_on_the_rest(self) -> None:
        def holds(cases: AnyBatch) -> Bools:
            failing: Bools = cases.operators.n >= 300
            return failing

        regions = found(GEMMS, holds, vectorised=False, limit=600)

        for region in regions.regions:
            assert region.measured is not None
            assert 0 < region.measured.tried < 300


class TestWork:
    """What is looked at is bounded, even where nothing limits what is asked."""

    @pytest.mark.parametrize("work", [0, 2_000, 40_000])
    def test_a_search_ends_with_what_it_has(
        self, monkeypatch: pytest.MonkeyPatch, work: int
    ) -> None:
        monkeypatch.setattr(oracle, "WORK", work)

        def holds(cases: AnyBatch) -> Bools:
            is_square = np.sqrt(cases.operators.n) % 1 == 0
            return somewhere(cases, is_square & (cases.operators.kind == CONV2D))

        regions = found(GRAPHS, holds)
        rng = np.random.default_rng(5)

        assert regions.coverage < 1
        for region in regions.regions:
            inside = region.sample(GRAPHS, rng, 1000)
            assert holds(GRAPHS.batch(inside)).mean() > 0.99


class TestDeterminism:
    """The same random numbers give the same."""

    @pytest.mark.parametrize("vectorised", [True, False])
    def test_a_seed_gives_one_result(self, *, vectorised: bool) -> None:
        once, again = (
            found(OPERATORS, SINGLE["one kind"][1], seed=3, vectorised=vectorised)
            for _ in range(2)
        )

        assert once == again

    def test_in_graphs(self) -> None:
        once, again = (found(GRAPHS, GRAPH["two operators"], seed=4) for _ in range(2))

        assert once == again


ATOMS: Final = (
    Interval(Feature(("m",)), 1001.0, None),
    Interval(Feature(("ops", "bytes"), How.RATIO), 0.5, 2.5),
    Residues(Feature(("k",)), 128, (5,)),
    Values(Feature(("stride",)), (1, 3)),
    Kinds("precision", ("INT8", "FP16")),
    Interval(Feature(("loop m", "loop n"), How.TILES, (8, 128)), None, 9.0),
)
REGION: Final = Region(
    [SomeOperator([ATOMS[0], ATOMS[2], ATOMS[3], ATOMS[5]])],
    [ATOMS[1], ATOMS[4]],
    graphs=True,
    measured=Measured(
        share=0.25,
        share_low=0.2,
        share_high=0.3,
        coverage=0.89,
        tried=3000,
        proven=True,
    ),
)
STORED: Final = Generalised(
    regions=[REGION, Region()], coverage=0.9, evaluations=12345, proven=False
)


def stored(region: Generalised | None) -> Counterexample:
    return attrs.evolve(counterexample(), region=region)


class TestJson:
    """A region is data, held to a form."""

    def test_it_comes_back_equal(self) -> None:
        assert from_json(to_json(stored(STORED))) == stored(STORED)

    def test_a_file_without_a_region_loads(self) -> None:
        text = to_json(stored(None))

        assert "region" not in json.loads(text)
        assert from_json(text).region is None

    @pytest.mark.parametrize(
        ("path", "value", "message"),
        [
            (("atoms", 0, "atom"), "Lambda", "atom must name a known one"),
            (("atoms", 0, "feature", "how"), "EVAL", "no How is called 'EVAL'"),
            (("atoms", 0, "feature", "of"), ["ops"], "a ratio takes 2 columns"),
            (("atoms", 0, "low"), "much", "must be a number"),
            (("atoms", 0, "more"), 1, "extra fields"),
            (("operators", 0, "atoms", 1, "period"), 1, "'period' must be >= 2"),
        ],
    )
    def test_what_breaks_the_form_is_refused(
        self, path: Sequence[str | int], value: object, message: str
    ) -> None:
        data = json.loads(to_json(stored(STORED)))
        place = data["region"]["regions"][0]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

        with pytest.raises(CorpusError, match=message):
            from_json(json.dumps(data))


class TestContains:
    """Membership is computed from the batch."""

    def test_it_agrees_with_the_same_condition_in_arrays(self) -> None:
        rows = GRAPHS.sample(np.random.default_rng(0), 4096)
        cases = GRAPHS.batch(rows)
        region = Region(
            [SomeOperator([Kinds("kind", ("gemm",)), Interval(Feature(("loop k",)), 7)])],
            [Interval(Feature(("nodes",)), 2), Kinds("precision", ("INT8",))],
        )
        expected = (
            somewhere(cases, (cases.operators.kind == GEMM) & (cases.operators.k >= 7))
            & (GRAPHS.nodes(rows) >= 2)
            & precise(cases, Precision.INT8)
        )

        np.testing.assert_array_equal(region.contains(GRAPHS, rows), expected)

    def test_no_rows(self) -> None:
        assert REGION.contains(GEMMS, GEMMS.empty(0)).tolist() == []

    def test_a_column_that_the_space_has_not(self) -> None:
        region = Region([SomeOperator([Interval(Feature(("wheels",)), 4)])])

        with pytest.raises(UnknownName, match="no column 'wheels'"):
            region.contains(GEMMS, GEMMS.empty(1))

    def test_a_trait_is_no_number(self) -> None:
        region = Region([], [Interval(Feature(("precision",)), 4)])

        with pytest.raises(UnknownName, match="a kind, not a number"):
            region.contains(GEMMS, GEMMS.empty(1))

    def test_fields_that_only_another_kind_has_do_not_hold(self) -> None:
        region = Region([SomeOperator([Interval(Feature(("m",)), 1)])])
        rows = OPERATORS.sample(np.random.default_rng(0), 512)
        is_gemm = OPERATORS.batch(rows).operators.kind == GEMM

        np.testing.assert_array_equal(region.contains(OPERATORS, rows), is_gemm)


class TestSample:
    """Cases inside, different ones, as many as there are."""

    def test_a_rare_region_without_a_start(self) -> None:
        region = Region(
            [SomeOperator([ATOMS[2], Interval(Feature(("m",)), 1001, 1010)])], [ATOMS[4]]
        )
        rows = region.sample(GEMMS, np.random.default_rng(0), 500)

        assert len(np.unique(rows, axis=0)) == len(rows) == 500
        assert region.contains(GEMMS, rows).all()
        np.testing.assert_array_equal(GEMMS.canonical(rows), rows)

    def test_a_graph_pattern(self) -> None:
        region = Region([SomeOperator([Interval(Feature(("weight from inside",)), 1)])])
        rows = region.sample(GRAPHS, np.random.default_rng(0), 300)

        assert len(rows) == 300
        assert region.contains(GRAPHS, rows).all()
        assert GRAPHS.nodes(rows).max() > 3

    def test_fewer_if_there_are_no_more(self) -> None:
        names = ("batch", "m", "n", "k")
        one = [Interval(Feature((name,)), 3, 3) for name in names]
        rows = Region([SomeOperator(one)]).sample(GEMMS, np.random.default_rng(0), 100)

        assert 0 < len(rows) <= len(PRECISIONS)

    def test_none_if_there_is_none(self) -> None:
        none = Region([SomeOperator([Interval(Feature(("m",)), 5, 4)])])

        assert len(none.sample(GEMMS, np.random.default_rng(0), 10)) == 0


class TestWording:
    """A region is one sentence."""

    @pytest.mark.parametrize(
        ("region", "sentence"),
        [
            (Region(), "every case"),
            (Region([], [ATOMS[4]]), "every INT8 or FP16 case"),
            (
                Region(
                    [SomeOperator([ATOMS[2], ATOMS[0]])], [Kinds("precision", ("INT8",))]
                ),
                "every INT8 GEMM with K mod 128 = 5 and M >= 1001",
            ),
            (
                Region(
                    [
                        SomeOperator([Kinds("kind", ("conv2d",)), ATOMS[3]]),
                        SomeOperator([Interval(Feature(("weight from inside",)), 1)]),
                    ],
                    [Interval(Feature(("macs",)), 1 << 20)],
                    graphs=True,
                ),
                (
                    "every graph that has a convolution with stride in {1, 3} and an "
                    "operator with a B operand from inside, in all with MACs >= 2^20"
                ),
            ),
        ],
    )
    def test_sentences(self, region: Region, sentence: str) -> None:
        assert region.sentence == sentence

    def test_no_more_than_nothing(self) -> None:
        none = Interval(Feature(("macs",)), None, 0)

        assert Region([], [none]).sentence == "every case with MACs = 0"

    @pytest.mark.parametrize(
        ("low", "high", "text"),
        [
            (1, None, "M > N"),
            (0, None, "M >= N"),
            (3, None, "M >= N + 3"),
            (None, -1, "M < N"),
            (None, -4, "M <= N - 4"),
            (0, 0, "M = N"),
            (2, 5, "2 <= (M - N) <= 5"),
        ],
    )
    def test_differences(self, low: float | None, high: float | None, text: str) -> None:
        atom = Interval(Feature(("m", "n"), How.DIFFERENCE), low, high)

        assert Region([SomeOperator([atom])]).sentence == f"every GEMM with {text}"


class TestParts:
    """Small functions that the search rests on."""

    @pytest.mark.parametrize(
        ("inside", "outside", "end"),
        [
            (1048580, 1048570, 1048576),
            (1001, 1000, 1001),
            (1003, 998, 1000),
            (1003, 1001, 1003),
            (62, 300, 62),
            (255, 260, 256),
            (4096, 4200, 4096),
            (0.5001, 0.4999, 0.5),
        ],
    )
    def test_an_end_is_a_round_number_if_one_is_unlikely_by_chance(
        self, inside: float, outside: float, end: float
    ) -> None:
        assert plainest(float(inside), float(outside)) == end

    def test_both_ends_of_an_interval_become_one_atom(self) -> None:
        m = Feature(("m",))

        assert merged([Interval(m, 3, None), ATOMS[2], Interval(m, None, 9)]) == [
            Interval(m, 3, 9),
            ATOMS[2],
        ]

    @pytest.mark.parametrize(
        ("hits", "drawn", "low", "high"),
        [(0, 100, 0, 0.037), (50, 100, 0.404, 0.596), (100, 100, 0.963, 1)],
    )
    def test_wilson(self, hits: int, drawn: int, low: float, high: float) -> None:
        assert interval_of_share(hits, drawn) == pytest.approx((low, high), abs=5e-4)

    @pytest.mark.parametrize(
        ("of", "how", "tiles"),
        [
            ((), How.VALUE, ()),
            (("m",), How.DIFFERENCE, ()),
            (("m", "n"), How.TILES, (8,)),
            (("m",), How.TILES, (0,)),
            (("m",), How.VALUE, (8,)),
        ],
    )
    def test_a_feature_that_cannot_be_computed(
        self, of: tuple[str, ...], how: How, tiles: tuple[int, ...]
    ) -> None:
        with pytest.raises(ValueError, match=r"takes|tile sizes"):
            Feature(of, how, tiles)

    def test_columns_of_each_operator(self) -> None:
        rows = GRAPHS.sample(np.random.default_rng(0), 64)
        columns = Columns(GRAPHS, rows)
        some = np.array([0, 5, 9])
        each = columns.each(some)

        np.testing.assert_array_equal(
            each.operator("loop k"), columns.operator("loop k")[some]
        )
        np.testing.assert_array_equal(
            each.case("macs"), columns.case("macs")[columns.owners[some]]
        )


def test_the_plainest_gemm_is_inside_its_region() -> None:
    row = np.array([GEMMS.genes_of(GEMMS.build(GEMMS.plainest.tolist()))])
    region = Region([SomeOperator([Interval(Feature(("m",)), None, 1)])])

    assert GEMMS.build(row[0]).workload == Gemm(m=1, n=1, k=1)
    assert region.contains(GEMMS, row).all()

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, product
from typing import Any, Final

import attrs
import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes

from joulecheck.case import (
    Case,
    Cases,
    CaseSequence,
    CoefficientCase,
    Derivation,
    Part,
    PartedCase,
    WorkloadPair,
)
from joulecheck.errors import NotOffered, OutsideSpace
from joulecheck.estimate import Estimate
from joulecheck.knob import KnobKind
from joulecheck.model import DIMENSIONS, Subject
from joulecheck.reference import load_model
from joulecheck.reference.ranking import WORKLOADS as RANKED_WORKLOADS
from joulecheck.space import Bounds, Gene
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Node,
    Precision,
    Subgraph,
    Totals,
    nodes_of,
)
from joulecheck.workload.columns import Ints, OperatorColumns
from joulecheck_properties.ranking.classes_rank_in_one_technology import DENSE
from joulecheck_strategies import (
    BatchAsRows,
    BatchSplitSpace,
    DepthwiseAsGroups,
    DerivationSpace,
    GroupsAloneSpace,
    GrowthSpace,
    ListedSpace,
    OperatorsAloneSpace,
    PeerSpace,
    PerturbationSpace,
    PointwiseAsGemm,
    PrecisionPairSpace,
    RegularSpace,
    ReorderedSpace,
    RepetitionSpace,
    RespelledSpace,
    SequenceSpace,
    SideBySideSpace,
    Sizes,
    SplitSpace,
    TotalsGrowthSpace,
    TotalsSpace,
    TransposedGemm,
    TransposedImage,
    UniformScaleSpace,
    Way,
    WorkloadSpace,
    batch_splits,
    coefficients,
    derivations,
    dimension_splits,
    foreign_precisions,
    groups_alone,
    growths,
    huge_workloads,
    invalid_questions,
    nearby_machines,
    operators_alone,
    peer_cases,
    perturbations,
    precision_pairs,
    regular_peer_cases,
    reorderings,
    repetitions,
    respellings,
    sequences,
    side_by_side,
    single_operators,
    totals_growths,
    uniform_scales,
    work_without_macs,
    workloads,
)
from joulecheck_strategies.derivations import allowed
from joulecheck_strategies.networks import real_workloads
from joulecheck_strategies.reading import ReadSpace
from joulecheck_strategies.splitting import additions
from joulecheck_strategies.tables import UNIFORM_SHARE, draw, value_table
from tiny import Tiny

Row = tuple[int, ...]
Space = ReadSpace[Any]

CHUNK: Final = 1 << 16

NOTHING: Final = Bounds(
    batch=1,
    gemm=1,
    channels=1,
    image=1,
    filter=1,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
)
"""Every dimension is 1; what is left are kinds, edges and functions."""

ONE: Final = WorkloadSpace(kinds=("gemm",), max_nodes=1, bounds=NOTHING)
PAIRS: Final = (
    (Precision.INT8, Precision.INT16),
    (Precision.FP16, Precision.FP32),
)

PEERS: Final = (("a", Precision.INT8), ("a", Precision.FP16), ("b", Precision.INT8))
SMALL: Final = Sizes(
    m=(1, 2),
    n=(1, 2),
    k=(1, 2),
    images=(1, 2),
    channels=(1, 2),
    image=(1, 2),
    filters=(1, 2),
    taps=(0, 1),
    length=(1, 2),
    width=(1, 2),
)

TINY: Final[dict[str, Space]] = {
    "gemms": WorkloadSpace(
        kinds=("gemm",), max_nodes=2, bounds=attrs.evolve(NOTHING, gemm=2)
    ),
    "convolutions": WorkloadSpace(
        kinds=("conv2d",),
        max_nodes=1,
        bounds=attrs.evolve(
            NOTHING, channels=2, image=2, filter=2, stride=2, padding=1, groups=2
        ),
    ),
    "edges": WorkloadSpace(
        kinds=("gemm", "elementwise"), precisions=PAIRS[0], max_nodes=2, bounds=NOTHING
    ),
    "growths": GrowthSpace(
        WorkloadSpace(kinds=("gemm",), max_nodes=1, bounds=attrs.evolve(NOTHING, gemm=2)),
        max_growth=2,
    ),
    "repetitions": RepetitionSpace(
        WorkloadSpace(kinds=("gemm",), max_nodes=2, bounds=attrs.evolve(NOTHING, batch=2)),
        max_times=3,
    ),
    "perturbations": PerturbationSpace(ONE, ("a", "b")),
    "uniform scales": UniformScaleSpace(ONE, ("a", "b")),
    "two perturbed": PerturbationSpace(ONE, ("a", "b", "c"), least=2, most=2),
    "precision pairs": PrecisionPairSpace(ONE, PAIRS),
    "derivations": DerivationSpace(
        ONE, tuple(Derivation({"a": factor}) for factor in (2.0, 0.5, 3.0))
    ),
    "totals": TotalsSpace(precisions=PAIRS[1], max_total=5),
    "idle totals": TotalsSpace(max_total=2, min_total=0),
    "totals, more of them": TotalsGrowthSpace(TotalsSpace(max_total=3), "bytes"),
    "sequences": SequenceSpace(attrs.evolve(ONE, precisions=PAIRS[0]), longest=2),
    "coefficients": ListedSpace(tuple(CoefficientCase(name, 9) for name in "abc")),
    "peers": PeerSpace(ONE, PEERS),
    "regular": RegularSpace(precisions=PAIRS[0], sizes=SMALL),
    "regular convolutions": RegularSpace(("convolution",), sizes=SMALL),
    "respellings": RespelledSpace(
        WorkloadSpace(
            kinds=("conv2d", "gemm"),
            precisions=PAIRS[0],
            max_nodes=1,
            bounds=attrs.evolve(NOTHING, batch=3, gemm=4, channels=2, image=2),
        ),
        (PointwiseAsGemm(), BatchAsRows()),
    ),
    "depthwise": RespelledSpace(
        WorkloadSpace(
            kinds=("conv2d",),
            max_nodes=1,
            bounds=attrs.evolve(NOTHING, channels=6, image=3, filter=2, groups=3),
        ),
        (DepthwiseAsGroups(),),
    ),
    "transpositions": RespelledSpace(
        WorkloadSpace(
            kinds=("gemm", "conv2d"),
            max_nodes=1,
            bounds=attrs.evolve(NOTHING, gemm=2, channels=2, image=2, filter=2, padding=1),
        ),
        (TransposedGemm(), TransposedImage()),
    ),
    "reorderings": ReorderedSpace(
        WorkloadSpace(kinds=("gemm", "elementwise"), max_nodes=2, bounds=NOTHING)
    ),
    **{
        f"splits {way.value}": SplitSpace(
            WorkloadSpace(
                kinds=("gemm", "elementwise"),
                max_nodes=1,
                bounds=attrs.evolve(NOTHING, batch=2, gemm=3, channels=2),
            ),
            way,
            frozenset({"batch", "m", "k"}),
            quantum=2,
            largest_cut=3,
        )
        for way in Way
    },
    "splits of filters": SplitSpace(
        WorkloadSpace(
            kinds=("conv2d",),
            max_nodes=1,
            bounds=attrs.evolve(NOTHING, batch=2, channels=3, groups=2),
        ),
        Way.IN_TWO,
        frozenset({"batch", "n"}),
        largest_cut=3,
    ),
    "batch splits": BatchSplitSpace(
        WorkloadSpace(kinds=("gemm",), max_nodes=2, bounds=attrs.evolve(NOTHING, batch=2))
    ),
    "operators alone": OperatorsAloneSpace(
        WorkloadSpace(kinds=("gemm",), max_nodes=2, bounds=attrs.evolve(NOTHING, batch=2))
    ),
    "side by side": SideBySideSpace(
        WorkloadSpace(
            kinds=("gemm",),
            precisions=PAIRS[0],
            max_nodes=1,
            bounds=attrs.evolve(NOTHING, gemm=2),
        )
    ),
    "groups alone": GroupsAloneSpace(
        WorkloadSpace(
            kinds=("conv2d",),
            max_nodes=1,
            bounds=attrs.evolve(NOTHING, channels=4, image=2, groups=2),
        )
    ),
}

each_tiny = pytest.mark.parametrize("space", TINY.values(), ids=TINY)

MODEL: Final = Subject.of(load_model("Google-TPU-v1"))
REAL: Final[dict[str, Space]] = {
    "workloads": workloads(MODEL),
    "growths": growths(MODEL),
    "repetitions": repetitions(MODEL),
    "perturbations": perturbations(MODEL),
    "uniform scales": uniform_scales(MODEL),
    "pairs of coefficients": perturbations(MODEL, least=2, most=2),
    "precision pairs": precision_pairs(MODEL),
    "derivations": derivations(MODEL),
    "sequences": sequences(MODEL, shortest=2),
    "coefficients": coefficients(MODEL, witnesses=9),
    "invalid questions": invalid_questions(MODEL),
    "huge": huge_workloads(MODEL),
    "totals": TotalsSpace(MODEL.precisions, constants=MODEL.machine.constants),
    "respellings": respellings(
        MODEL, PointwiseAsGemm(), DepthwiseAsGroups(), BatchAsRows()
    ),
    "transpositions": respellings(MODEL, TransposedGemm(), TransposedImage()),
    "reorderings": reorderings(MODEL),
    **{f"splits {way.value}": dimension_splits(MODEL, way, DIMENSIONS) for way in Way},
    "batch splits": batch_splits(MODEL),
    "operators alone": operators_alone(MODEL),
    "side by side": side_by_side(MODEL),
    "groups alone": groups_alone(MODEL),
    "totals, more of them": TotalsGrowthSpace(TotalsSpace(MODEL.precisions), "ops"),
    "single operators": single_operators(MODEL),
    "without MACs": work_without_macs(MODEL),
    "foreign precisions": foreign_precisions(MODEL),
    "every precision": WorkloadSpace(precisions=tuple(Precision)),
    "gemms only": WorkloadSpace(kinds=("gemm",), max_nodes=3),
    "elementwise, then conv": WorkloadSpace(kinds=("elementwise", "conv2d")),
    "peers": peer_cases(MODEL, PEERS),
    "regular": RegularSpace(precisions=MODEL.precisions, quanta=MODEL.machine.quanta),
    "regular peers": regular_peer_cases(MODEL, PEERS),
}

PARTED: Final = ("splits", "batch splits", "operators", "side by side", "groups")
"""What the names of spaces of wholes and parts start with."""

each_real = pytest.mark.parametrize("space", REAL.values(), ids=REAL)
each_plain = pytest.mark.parametrize(
    "name", ["workloads", "every precision", "gemms only", "regular"]
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def all_rows(space: Space) -> Iterator[Ints]:
    """Every row of genes within the bounds, canonical or not, in chunks."""
    sizes = [gene.high - gene.low + 1 for gene in space.genes]
    total = int(np.prod(sizes))
    for start in range(0, total, CHUNK):
        flat = np.arange(start, min(start + CHUNK, total))
        values = np.unravel_index(flat, sizes)
        yield np.asfortranarray(np.stack(values, axis=1) + space.plainest)


def raw_rows(space: Space, size: int, seed: int = 0) -> Ints:
    """Rows drawn evenly within the bounds, most of them not canonical."""
    random = rng(seed)
    columns = [random.integers(gene.low, gene.high + 1, size) for gene in space.genes]
    return np.asfortranarray(np.stack(columns, axis=1))


def small_rows(space: Space, size: int, seed: int = 0) -> Ints:
    """The same with small dimensions, so that later nodes often fit earlier ones."""
    random = rng(seed)
    columns = [
        random.integers(gene.low, min(gene.high, gene.low + 2) + 1, size)
        for gene in space.genes
    ]
    return np.asfortranarray(np.stack(columns, axis=1))


def as_set(rows: Ints) -> set[Row]:
    return {tuple(row) for row in rows.tolist()}


def reachable(space: Space) -> set[Row]:
    """What the strategy can draw: `read` with every sequence of values it may take."""
    found = set()
    path: list[list[int]] = []  # of each gene taken: its value and its highest
    while True:
        found.add(space.genes_of(space.read(_following(space, path))))
        while path and path[-1][0] == path[-1][1]:
            path.pop()
        if not path:
            return found
        path[-1][0] += 1


def _following(space: Space, path: list[list[int]]) -> Callable[[str], int]:
    places = count()

    def take(name: str) -> int:
        place, gene = next(places), space.genes[space.column[name]]
        if place == len(path):
            path.append([gene.low, gene.high])
        return path[place][0]

    return take


class TestOneSetOfCases:
    """Both front doors of a space reach the same cases, shown by enumeration."""

    @each_tiny
    def test_all_rows_are_the_cases_that_the_strategy_reaches(self, space: Space) -> None:
        found: set[Row] = set().union(
            *(as_set(space.canonical(rows)) for rows in all_rows(space))
        )

        assert found == reachable(space)

    @each_tiny
    def test_the_sampler_reaches_all_of_them_and_no_others(self, space: Space) -> None:
        expected = reachable(space)
        random, found = rng(), set[Row]()
        for _ in range(256):
            found |= as_set(space.sample(random, 1 << 12))
            if found >= expected:
                break

        assert found == expected

    @pytest.mark.parametrize(
        "name", ["edges", "growths", "precision pairs", "totals", "peers"]
    )
    def test_hypothesis_draws_all_of_them_until_it_is_exhausted(self, name: str) -> None:
        space, found = TINY[name], set[Row]()

        @settings(max_examples=20_000, phases=[Phase.generate])
        @given(space.strategy())
        def collect(case: Any) -> None:  # noqa: ANN401 - any kind of case
            found.add(space.genes_of(case))

        collect()

        assert found == reachable(space)

    @each_tiny
    def test_no_two_canonical_rows_are_one_case(self, space: Space) -> None:
        rows = sorted(reachable(space))
        cases = [space.build(row) for row in rows]

        assert [space.genes_of(case) for case in cases] == rows
        assert all(a != b for a, b in zip(cases[1:], cases, strict=False))


class TestCanonicalRows:
    """A row and its case determine each other."""

    @each_real
    def test_sampled_rows_are_canonical(self, space: Space) -> None:
        rows = space.sample(rng(), 4096)

        np.testing.assert_array_equal(space.canonical(rows), rows)

    @each_real
    def test_sampled_genes_are_in_range(self, space: Space) -> None:
        rows = space.sample(rng(), 4096)
        low = [gene.low for gene in space.genes]
        high = [gene.high for gene in space.genes]

        assert (rows >= low).all()
        assert (rows <= high).all()

    @each_real
    def test_sampled_cases_come_back_to_their_rows(self, space: Space) -> None:
        rows = space.sample(rng(), 256)
        found = [space.genes_of(space.build(row)) for row in rows]

        assert found == [tuple(row) for row in rows.tolist()]

    @each_real
    @pytest.mark.parametrize("of", [raw_rows, small_rows])
    def test_any_row_has_the_canonical_form_of_its_case(
        self, space: Space, of: Callable[[Space, int], Ints]
    ) -> None:
        rows = of(space, 256)
        canonical = space.canonical(rows)
        found = [space.genes_of(space.build(row)) for row in rows]

        assert found == [tuple(row) for row in canonical.tolist()]

    @each_real
    def test_canonical_leaves_its_argument_alone(self, space: Space) -> None:
        rows = raw_rows(space, 64)
        before = rows.copy()
        space.canonical(rows)

        np.testing.assert_array_equal(rows, before)


class TestOutsideSpace:
    """Cases that a space cannot write are refused."""

    SPACE: Final = WorkloadSpace(kinds=("gemm",), max_nodes=2, bounds=Bounds(gemm=8))

    @pytest.mark.parametrize(
        "case",
        [
            Case(Gemm(m=9, n=1, k=1)),
            Case(Gemm(m=1, n=1, k=1), Precision.INT8),
            Case(Elementwise(Function.RELU, (1,))),
            Case(Totals(ops=1, bytes=1)),
            Case(Subgraph.chain(*[Gemm(m=1, n=1, k=1)] * 3)),
            Case(
                Subgraph([Node(Gemm(m=1, n=1, k=1)), Node(Gemm(m=1, n=1, k=1), (None, 0))])
            ),
        ],
        ids=["bound", "precision", "kind", "totals", "nodes", "edge"],
    )
    def test_names_the_case_and_the_space(self, case: Case) -> None:
        with pytest.raises(OutsideSpace, match="is outside WorkloadSpace"):
            self.SPACE.genes_of(case)


class TestArrays:
    """A batch of rows says the same as the cases that are built one by one."""

    @each_real
    @pytest.mark.parametrize("of", [raw_rows, small_rows])
    def test_batch_holds_the_cases_of_its_rows(
        self, space: Space, of: Callable[[Space, int], Ints]
    ) -> None:
        rows = space.canonical(of(space, 64))
        batch = space.batch(rows)

        assert len(batch) == 64
        assert [batch[i] for i in range(64)] == [space.build(row) for row in rows]

    @pytest.mark.parametrize(
        "name",
        ["workloads", "every precision", "gemms only", "totals", "without MACs", "regular"],
    )
    def test_columns_of_small_rows_are_exact(self, name: str) -> None:
        space = REAL[name]
        rows = small_rows(space, 512)
        built = Cases.of([space.build(row) for row in rows])
        batch = space.batch(rows)

        assert isinstance(batch, Cases)
        assert same_columns(batch.operators, built.operators, rtol=0)
        np.testing.assert_array_equal(batch.bytes, built.bytes)

    @pytest.mark.parametrize(
        "name", ["workloads", "every precision", "gemms only", "huge", "regular"]
    )
    @pytest.mark.parametrize("canonical", [False, True])
    def test_columns_of_any_rows_are_right_to_the_last_bits(
        self,
        name: str,
        canonical: bool,  # noqa: FBT001 - a parameter
    ) -> None:
        space = REAL[name]
        rows = space.sample(rng(), 512) if canonical else raw_rows(space, 512)
        built = Cases.of([space.build(row) for row in rows])
        batch = space.batch(rows)

        assert isinstance(batch, Cases)
        assert same_columns(batch.operators, built.operators, rtol=4 * 2**-52)
        assert batch.precision.tolist() == built.precision.tolist()

    def test_growths_of_any_rows_have_the_columns_of_both_workloads(self) -> None:
        space = growths(MODEL)
        rows = space.canonical(small_rows(space, 512))
        batch, built = space.batch(rows), [space.build(row) for row in rows]
        smaller = Cases.of([pair.smaller for pair in built])
        larger = Cases.of([pair.larger for pair in built])

        assert same_columns(batch.smaller.operators, smaller.operators, rtol=0)
        assert same_columns(batch.larger.operators, larger.operators, rtol=0)

    @pytest.mark.parametrize("name", ["respellings", "transpositions", "reorderings"])
    def test_both_spellings_have_their_columns(self, name: str) -> None:
        space = REAL[name]
        rows = space.canonical(small_rows(space, 512))
        batch, built = space.batch(rows), [space.build(row) for row in rows]
        one = Cases.of([pair.one for pair in built])
        other = Cases.of([pair.other for pair in built])

        assert same_columns(batch.one.operators, one.operators, rtol=0)
        assert same_columns(batch.other.operators, other.operators, rtol=0)
        assert list(batch.other) == list(other)

    @pytest.mark.parametrize("name", ["respellings", "transpositions"])
    def test_spellings_differ_where_their_cases_do(self, name: str) -> None:
        space = REAL[name]
        rows = space.canonical(small_rows(space, 512))
        built = [space.build(row) for row in rows]
        found = space.batch(rows).differ.tolist()

        assert found == [pair.one != pair.other for pair in built]
        assert {True, False} <= set(found)

    @pytest.mark.parametrize("name", [n for n in REAL if n.startswith(PARTED)])
    @pytest.mark.parametrize("of", [small_rows, raw_rows])
    def test_parts_have_their_columns_and_owners(
        self, name: str, of: Callable[[Space, int], Ints]
    ) -> None:
        space = REAL[name]
        rows = space.canonical(of(space, 256))
        batch, built = space.batch(rows), [space.build(row) for row in rows]
        owned = [np.flatnonzero(batch.owner == row) for row in range(len(rows))]
        exact = of is small_rows
        found = [
            [Part(batch.parts[int(i)], int(batch.times[i])) for i in owned[row]]
            for row in range(len(rows))
        ]
        whole = Cases.of([case.whole for case in built])
        parts = Cases.of(list(batch.parts))

        assert found == [list(case.parts) for case in built]
        assert same_columns(
            batch.whole.operators, whole.operators, rtol=0 if exact else 4 * 2**-52
        )
        assert same_columns(
            batch.parts.operators, parts.operators, rtol=0 if exact else 4 * 2**-52
        )
        assert batch.parts.precision.tolist() == parts.precision.tolist()

    def test_perturbations_have_the_factors_of_their_cases(self) -> None:
        space = perturbations(MODEL)
        rows = space.sample(rng(), 512)
        batch, built = space.batch(rows), [space.build(row) for row in rows]
        found = [
            {name: f[index] for name, f in batch.scales.items() if f[index] != 1}
            for index in range(512)
        ]

        assert found == [case.scale for case in built]

    @each_real
    def test_nodes_are_counted(self, space: Space) -> None:
        rows = space.sample(rng(), 256)
        cases = [space.build(row) for row in rows]

        assert space.nodes(rows).tolist() == [nodes_in(case) for case in cases]


def nodes_in(case: Any) -> int:  # noqa: ANN401 - any kind of case
    """The operators of a sequence, or of the first question of another case."""
    asked = [question.case for question in case.questions]
    counted = asked if isinstance(case, CaseSequence) else asked[:1]
    return max(1, sum(max(1, len(nodes_of(one.workload))) for one in counted))


def same_columns(found: OperatorColumns, expected: OperatorColumns, rtol: float) -> bool:
    """Whether all fields agree, flags and indices exactly."""
    for field in attrs.fields(OperatorColumns):
        a, b = getattr(found, field.name), getattr(expected, field.name)
        tolerance = rtol if a.dtype == np.float64 else 0
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=0, err_msg=field.name)
    return True


class TestChoices:
    """A row as the choice sequence of its case."""

    @each_real
    def test_hypothesis_replays_them_to_the_same_case(self, space: Space) -> None:
        rows = space.sample(rng(), 24)
        found = [replayed(space, row) for row in rows.tolist()]

        assert found == [space.build(row) for row in rows]

    @each_tiny
    def test_hypothesis_replays_every_tiny_row(self, space: Space) -> None:
        rows = sorted(reachable(space))[::17]

        assert [replayed(space, row) for row in rows] == [space.build(r) for r in rows]


def replayed(space: Space, row: Any) -> Any:  # noqa: ANN401 - any kind of case
    """The first case that Hypothesis tries when it is handed this row."""
    database = InMemoryExampleDatabase()
    database.save(b"row.secondary", choices_to_bytes(space.choices(row)))
    tried: list[Any] = []

    def note(case: Any) -> bool:  # noqa: ANN401 - any kind of case
        tried.append(case)
        return True

    find(
        space.strategy(),
        note,
        database_key=b"row",
        settings=settings(
            settings(derandomize=True), database=database, phases=[Phase.reuse]
        ),
    )
    return tried[0]


class TestSampler:
    """The numpy sampler."""

    @each_real
    def test_a_seed_gives_the_same_rows(self, space: Space) -> None:
        once, again = (space.sample(rng(7), 512) for _ in range(2))

        np.testing.assert_array_equal(once, again)

    @each_real
    def test_another_seed_gives_other_rows(self, space: Space) -> None:
        assert not np.array_equal(space.sample(rng(7), 64), space.sample(rng(8), 64))

    def test_every_value_of_a_gene_that_has_few_comes_up(self) -> None:
        space = WorkloadSpace(precisions=tuple(Precision))
        rows = space.sample(rng(), 1 << 16)
        few = {
            gene.name: set(range(gene.low, gene.high + 1))
            for gene in space.genes
            if gene.name.startswith(("2.", "3.", "precision")) and gene.high < 16
        }
        found = {name: set(rows[:, space.column[name]].tolist()) for name in few}

        assert len(few) == 1 + 2 * 12
        assert found == few

    def test_all_kinds_and_many_sizes_of_graphs_occur(self) -> None:
        space = WorkloadSpace()
        rows = space.sample(rng(), 1 << 14)
        sizes = set(space.nodes(rows).tolist())

        assert sizes == set(range(1, 9))

    def test_second_operands_inside_occur(self) -> None:
        space = WorkloadSpace()
        batch = space.batch(space.sample(rng(), 1 << 14))

        assert batch.operators.weight_is_internal.sum() > 100


class TestDraw:
    """Values of one gene."""

    GENE: Final = Gene("size", 1, 700)

    def test_every_value_of_a_gene_comes_up(self) -> None:
        table = value_table(self.GENE, (), ())
        values = draw(rng(), self.GENE, table, 1 << 18)

        assert set(values.tolist()) == set(range(1, 701))

    def test_even_a_table_of_one_value_leaves_the_others_their_share(self) -> None:
        values = draw(rng(), self.GENE, np.ones(8, dtype=np.int64), 1 << 18)

        assert set(values.tolist()) == set(range(1, 701))
        assert abs(np.mean(values != 1) / UNIFORM_SHARE - 1) < 0.05

    @pytest.mark.parametrize(
        "gene", [Gene("a", 0, 0), Gene("b", 0, 31), Gene("c", 5, 90), Gene("d", 1, 1 << 48)]
    )
    def test_tables_and_draws_stay_within_the_gene(self, gene: Gene) -> None:
        table = value_table(gene, (3, 77, 1 << 50), (4, 16))
        values = draw(rng(), gene, table, 4096)

        assert gene.low <= table.min() <= table.max() <= gene.high
        assert gene.low <= values.min() <= values.max() <= gene.high

    def test_no_table_is_changed_by_drawing(self) -> None:
        table = value_table(self.GENE, (), ())
        before = table.copy()
        draw(rng(), self.GENE, table, 4096)

        np.testing.assert_array_equal(table, before)


class TestCorners:
    """Where models break is where the sampler looks first."""

    PRIMES: Final = (2, 3, 5, 7, 11, 13, 17, 31, 61, 127, 251, 509, 1021, 2039, 4093)

    @staticmethod
    def sampled(space: WorkloadSpace, name: str) -> set[int]:
        return set(space.sample(rng(), 1 << 17)[:, space.column[name]].tolist())

    def test_one_powers_of_two_and_primes_are_drawn(self) -> None:
        powers = {(1 << p) + step for p in range(1, 17) for step in (-1, 0, 1)}
        expected = {1, *powers, *self.PRIMES, 8191, 65521} - {65537}

        assert expected - self.sampled(WorkloadSpace(), "0.m") == set()

    def test_quanta_of_the_machine_and_their_neighbours_are_drawn(self) -> None:
        quanta = (12, 192, 4096)
        expected = {
            q * times + step
            for q, times in product(quanta, (1, 2, 3, 5))
            for step in (-1, 0, 1)
        }

        assert expected - self.sampled(WorkloadSpace(quanta=quanta), "0.k") == set()

    def test_constants_of_the_machine_and_their_neighbours_are_drawn(self) -> None:
        constants = (60, 1280, 49_152, 1 << 40)
        expected = {c + step for c in constants[:3] for step in (-1, 0, 1)}

        assert expected - self.sampled(WorkloadSpace(constants=constants), "0.n") == set()

    def test_those_of_the_model_are_handed_on(self, reference: Subject) -> None:
        space = workloads(reference)

        assert isinstance(space, WorkloadSpace)
        assert space.constants == reference.machine.constants
        assert space.quanta == reference.machine.quanta

    def test_those_of_a_model_are_drawn(self) -> None:
        space = workloads(MODEL)

        assert isinstance(space, WorkloadSpace)
        assert set(MODEL.machine.quanta) - self.sampled(space, "0.m") == set()

    def test_operands_that_fill_a_memory_are_drawn(self) -> None:
        capacity = 3 << 20
        space = WorkloadSpace(constants=(capacity,), kinds=("gemm",), max_nodes=1)

        cases = [space.build(row) for row in space.sample(rng(), 4096)]

        for role in ("input", "weight"):
            off = [abs(getattr(case.traffic, role) - capacity) for case in cases]
            assert sum(o < capacity // 1000 for o in off) > len(cases) // 200, role

    def test_sizes_whose_product_passes_int64_fill_no_memory_quietly(self) -> None:
        huge = Bounds(*[1 << 32] * len(attrs.fields(Bounds)))
        space = WorkloadSpace(
            constants=(3 << 20,), kinds=("conv2d",), max_nodes=1, bounds=huge
        )

        for seed in range(12):  # a warning is an error here
            space.sample(np.random.default_rng(seed), 1 << 15)

    def test_layers_and_blocks_of_real_networks_are_drawn(self) -> None:
        space = WorkloadSpace()
        drawn = {space.build(row).workload for row in space.sample(rng(), 1 << 15)}

        assert set(real_workloads()) <= drawn

    def test_a_space_has_the_layers_that_fit_it_alone(self) -> None:
        space = WorkloadSpace(kinds=("gemm",), max_nodes=1, bounds=Bounds(gemm=1024))
        drawn = [space.build(row).workload for row in space.sample(rng(), 1 << 14)]

        known = [workload for workload in real_workloads() if workload in set(drawn)]
        assert Gemm(m=196, n=768, k=768) in known
        assert Gemm(m=4096, n=4096, k=4096) not in drawn


class TestGrowth:
    """Ordered pairs of workloads."""

    SIZES: Final = ("macs", "ops", "bytes")
    ROLES: Final = ("input", "weight", "output", "internal")

    @pytest.mark.parametrize("of", [GrowthSpace.sample, "small"])
    def test_nothing_shrinks(self, of: Any) -> None:  # noqa: ANN401 - a parameter
        space = growths(MODEL)
        if of == "small":
            rows = space.canonical(small_rows(space, 1 << 15))
        else:
            rows = space.sample(rng(), 1 << 15)
        batch = space.batch(rows)
        shrunk = {
            name: int((getattr(batch.smaller, name) > getattr(batch.larger, name)).sum())
            for name in self.SIZES
        } | {
            role: int(
                (
                    getattr(batch.smaller.traffic, role)
                    > getattr(batch.larger.traffic, role)
                ).sum()
            )
            for role in self.ROLES
        }

        assert shrunk == dict.fromkeys((*self.SIZES, *self.ROLES), 0)

    def test_most_pairs_grow(self) -> None:
        space = growths(MODEL)
        rows = space.sample(rng(), 4096)
        grown = [space.build(row).grown for row in rows]

        assert sum(name != "" for name in grown) > 2048

    def test_a_pair_that_does_not_grow_is_one_case_twice(self) -> None:
        space = growths(MODEL)
        pairs = [space.build(row) for row in small_rows(space, 2048)]
        still = [pair for pair in pairs if pair.grown == ""]

        assert still
        assert all(pair.smaller == pair.larger for pair in still)

    def test_only_the_named_dimension_grows(self) -> None:
        space = growths(MODEL)
        rows = space.sample(rng(), 512)
        for pair in (space.build(row) for row in rows):
            before = space.workloads.genes_of(pair.smaller)
            after = space.workloads.encode(pair.larger)
            names = [gene.name for gene in space.workloads.genes]
            moved = [
                name
                for name, value in zip(names, before, strict=True)
                if after.get(name, space.workloads.genes[space.column[name]].low) != value
            ]

            assert moved == ([pair.grown] if pair.grown else [])

    def test_the_shapes_of_every_node_only_grow(self) -> None:
        space = growths(MODEL)
        for pair in (space.build(row) for row in small_rows(space, 1024)):
            nodes = zip(
                nodes_of(pair.smaller.workload), nodes_of(pair.larger.workload), strict=True
            )
            for old, new in nodes:
                assert old.sources == new.sources
                assert all(
                    map(int.__le__, old.operator.output_shape, new.operator.output_shape)
                )


class TestDerivations:
    """Machines near that of a model."""

    def test_are_each_knob_alone_and_then_all_of_a_kind(self) -> None:
        kinds = (KnobKind.RATE, KnobKind.DELAY)
        found = nearby_machines(MODEL, kinds=kinds, factors=(2.0, 0.5))
        turned = [set(derivation.factors) for derivation in found]

        assert turned == [
            *([{"clock"}, {"dram.bandwidth"}, {"host.bandwidth"}, {"launch"}] * 2),
            *([{"clock", "dram.bandwidth", "host.bandwidth"}] * 2),
        ]
        assert found[3] == Derivation({"launch": 0.5})

    def test_are_called_by_what_is_turned(self) -> None:
        turned = {"clock": 2.0, "launch": 0.5, "units": 2.0, "dram.bandwidth": 2.0}
        other = {"clock": 2.0, "link": 2.0, "units": 2.0}
        machines = (
            Derivation(turned, {"static_power": 1 / 3}),
            Derivation({"clock": 1.5, "units": 1.5}),
            Derivation({"clock": 2.0, "dram.bandwidth": 2.0, "units": 2.0}),
            Derivation(other),
        )
        space = DerivationSpace(ONE, machines)

        (trait,) = space.traits(space.sample(np.random.default_rng(1), 4)).values()

        assert trait.names == (
            "clock and 2 more x 2; launch x 0.5; static_power x 0.333",
            "clock, units x 1.5",
            "clock, dram.bandwidth, units x 2",
            "clock, link, units x 2",
        )

    def test_stay_within_the_ranges_of_the_knobs(self, reference: Subject) -> None:
        space = derivations(reference)

        assert all(allowed(reference, derivation) for derivation in space.derivations)
        assert Derivation({"units": 2.0}) in space.derivations
        assert Derivation({"units": 1 / 16}) not in space.derivations

    def test_are_few_and_distinct(self, reference: Subject) -> None:
        found = derivations(reference).derivations

        assert len({frozenset(d.factors.items()) for d in found}) == len(found) < 40


class TestParts:
    """Wholes and the parts that do their work."""

    @staticmethod
    def built(space: Space, size: int = 512) -> list[PartedCase]:
        return [space.build(row) for row in space.sample(rng(), size)]

    @pytest.mark.parametrize("way", [Way.IN_TWO, Way.REPEATED])
    def test_cuts_do_all_of_the_macs(self, way: Way) -> None:
        for case in self.built(dimension_splits(MODEL, way, DIMENSIONS)):
            macs = sum(part.times * part.case.macs for part in case.parts)
            more = way is Way.REPEATED and macs > case.whole.macs

            assert more or macs == case.whole.macs

    def test_a_step_is_one_less_and_a_quantum(self) -> None:
        space = dimension_splits(MODEL, Way.STEP, {"m"})
        sizes = {
            tuple(part.case.workload.m for part in case.parts)
            for case in self.built(space, 4096)
            if case.how and isinstance(case.whole.workload, Gemm)
        }

        assert all(q == min(p, max(MODEL.machine.quanta)) for p, q in sizes)

    def test_parts_of_k_are_added_up(self) -> None:
        space = dimension_splits(MODEL, Way.REPEATED, {"k"})
        whole = Case(Gemm(m=3, n=5, k=10, batch=2), Precision.INT8)
        part = Case(Gemm(m=3, n=5, k=4, batch=2), Precision.INT8)
        addition = Case(Elementwise(Function.ADD, (2, 5, 3, 1)), Precision.INT8)
        parts = (Part(part, 3), Part(addition, 2 * 3))

        case = PartedCase(whole, parts, "k")

        assert space.build(space.genes_of(case)) == case

    def test_adding_moves_what_a_partial_sum_does(self) -> None:
        for precision in Precision:
            width, times = precision.bits / 8, additions(precision)
            partial = 2 * max(4, width) - width

            assert 3 * width * (times - 1) < partial <= 3 * width * times

    def test_filters_of_groups_are_not_cut(self) -> None:
        space = dimension_splits(MODEL, Way.IN_TWO, {"n"})
        groups = {
            case.whole.workload.groups
            for case in self.built(space, 4096)
            if case.how == "filters"
        }

        assert groups == {1}

    def test_operators_alone_share_the_work(self) -> None:
        for case in self.built(operators_alone(MODEL)):
            assert sum(p.times * p.case.ops for p in case.parts) == case.whole.ops
            assert all(p.case.traffic.internal == 0 for p in case.parts)

    def test_an_intermediate_b_is_one_for_each_of_the_batch(self) -> None:
        scores = Gemm(m=4, n=4, k=8, batch=3)
        queries, keys = (Gemm(m=4, n=8, k=k, batch=3) for k in (16, 2))
        heads = Subgraph([Node(queries), Node(keys), Node(scores, (1, 0))])
        space = operators_alone(MODEL)
        case = space.build(space.workloads.genes_of(Case(heads, Precision.INT8)))

        assert case.parts == (
            Part(Case(queries, Precision.INT8)),
            Part(Case(keys, Precision.INT8)),
            Part(Case(Gemm(m=4, n=4, k=8), Precision.INT8), 3),
        )

    def test_graphs_side_by_side_share_no_edge(self) -> None:
        for case in self.built(side_by_side(MODEL)):
            first, second = (part.case for part in case.parts)

            assert case.whole.ops == first.ops + second.ops
            assert case.whole.bytes == first.bytes + second.bytes

    def test_groups_do_all_of_the_macs(self) -> None:
        for case in self.built(groups_alone(MODEL)):
            (part,) = case.parts

            assert part.times * part.case.macs == case.whole.macs
            assert part.times * part.case.bytes == case.whole.bytes

    def test_a_batch_is_split_in_all_inputs(self) -> None:
        for case in self.built(batch_splits(MODEL)):
            assert sum(part.case.ops for part in case.parts) == case.whole.ops


class TestSmallerGraphs:
    """Moves of the reducer that leave nodes out."""

    @pytest.mark.parametrize(
        "name", ["workloads", "growths", "perturbations", "derivations", "gemms only"]
    )
    def test_are_canonical_and_have_fewer_nodes(self, name: str) -> None:
        space = REAL[name]
        rows = space.sample(rng(), 512)
        large = rows[space.nodes(rows) > 2][:16]
        for row in large:
            smaller = space.smaller_graphs(row)

            assert len(smaller)
            assert (space.nodes(smaller) < space.nodes(row[None])).all()
            np.testing.assert_array_equal(space.canonical(smaller), smaller)

    def test_a_single_operator_has_none(self) -> None:
        space = WorkloadSpace()

        assert space.smaller_graphs(space.plainest.tolist()).shape == (0, len(space.genes))

    def test_a_chain_loses_each_of_its_parts(self) -> None:
        space = WorkloadSpace()
        first, second = Gemm(m=2, n=3, k=5), Gemm(m=2, n=7, k=3)
        row = space.genes_of(Case(Subgraph.chain(first, second)))
        smaller = [space.build(r) for r in space.smaller_graphs(row)]

        assert set(smaller) == {Case(first), Case(second)}


class TestForModel:
    """The spaces that a model asks for."""

    class Totals:
        """Answers for totals, without coefficients."""

        name = "totals only"
        operators = ("totals",)
        precisions = (Precision.FP32, Precision.FP16)

        def estimate(self, case: Case, scale: object = None) -> Estimate:
            del scale
            return Estimate(energy=float(case.ops))

    class Gemms:
        """Answers for single GEMMs of up to 64."""

        name = "small gemms"
        operators = ("gemm",)
        precisions = (Precision.INT8,)
        bounds = Bounds(gemm=64)

        def estimate(self, case: Case, scale: object = None) -> Estimate:
            del scale
            return Estimate(energy=float(case.macs))

    def test_totals_are_drawn_for_a_model_of_totals(self) -> None:
        space = workloads(Subject.of(self.Totals))

        assert isinstance(space, TotalsSpace)

    @pytest.mark.parametrize(
        "space", [growths, perturbations, uniform_scales, precision_pairs]
    )
    def test_totals_offer_no_other_space(self, space: Callable[[Subject], Any]) -> None:
        with pytest.raises(NotOffered, match="totals only"):
            space(Subject.of(self.Totals))

    @pytest.mark.parametrize("space", [perturbations, uniform_scales])
    def test_no_coefficients_offer_no_perturbation(
        self, space: Callable[[Subject], Any]
    ) -> None:
        with pytest.raises(NotOffered, match="declares no coefficient"):
            space(Subject.of(self.Gemms))

    def test_no_knobs_offer_no_derived_machine(self) -> None:
        with pytest.raises(NotOffered, match="declares no knobs"):
            derivations(Subject.of(self.Gemms))

    def test_one_precision_offers_no_pairs(self) -> None:
        with pytest.raises(NotOffered, match="no two of its precisions, INT8"):
            precision_pairs(Subject.of(self.Gemms))

    def test_declarations_bound_what_is_drawn(self) -> None:
        space = workloads(Subject.of(self.Gemms))
        cases = [space.build(row) for row in space.sample(rng(), 256)]

        assert {type(case.workload) for case in cases} == {Gemm}
        assert {case.precision for case in cases} == {Precision.INT8}
        assert (
            max(case.workload.m for case in cases if isinstance(case.workload, Gemm)) <= 64
        )

    def test_single_operators_are_of_the_kinds_that_are_asked_for(self) -> None:
        space = single_operators(MODEL, kinds=("gemm", "conv2d"))
        cases = [space.build(row) for row in space.sample(rng(), 256)]

        assert {type(case.workload) for case in cases} == {Gemm, Conv2d}

    def test_single_operators_of_totals_are_totals(self) -> None:
        model = Subject.of(self.Totals)

        assert isinstance(single_operators(model), TotalsSpace)
        with pytest.raises(NotOffered, match="answers for totals only"):
            single_operators(model, kinds=("gemm",))

    def test_work_without_macs_is_elementwise_or_may_be_nothing(self) -> None:
        space = work_without_macs(MODEL)
        cases = [space.build(row) for row in space.sample(rng(), 256)]
        totals = work_without_macs(Subject.of(self.Totals))

        assert not any(case.macs for case in cases)
        assert any(isinstance(case.workload, Subgraph) for case in cases)
        assert totals.build([0, 0, 0]) == Case(Totals(ops=0, bytes=0))
        with pytest.raises(NotOffered, match="answers for gemm only"):
            work_without_macs(Subject.of(self.Gemms))

    def test_foreign_precisions_are_those_that_a_model_lacks(self) -> None:
        space = foreign_precisions(Subject.of(self.Gemms))

        assert set(space.precisions) == set(Precision) - {Precision.INT8}

    def test_a_model_of_every_precision_has_no_foreign_one(self) -> None:
        class Universal(self.Gemms):
            precisions = tuple(Precision)

        with pytest.raises(NotOffered, match="supports every precision"):
            foreign_precisions(Subject.of(Universal))

    def test_growths_of_totals_need_totals(self) -> None:
        space = totals_growths(Subject.of(self.Totals), "bytes")

        assert space.build([2, 3, 0, 4]) == WorkloadPair(
            Case(Totals(ops=2, bytes=3)), Case(Totals(ops=2, bytes=7)), "bytes"
        )
        with pytest.raises(NotOffered, match="does not answer for totals"):
            totals_growths(Subject.of(self.Gemms), "bytes")


class TestRegular:
    """Large regular workloads."""

    def test_the_forms_are_those_of_the_ranking(self) -> None:
        space = RegularSpace(precisions=(Precision.INT8,), sizes=DENSE)
        written = {named.kind: space.genes_of(named.case) for named in RANKED_WORKLOADS}

        assert set(written) == {"GEMM", "convolution", "attention"}

    def test_a_form_that_a_model_cannot_answer_is_left_out(self) -> None:
        model = Subject.of(
            Tiny(lambda _: Estimate(energy=1.0), operators={"gemm", "elementwise"})
        )
        space = regular_peer_cases(model, (("peer", Precision.FP32),))

        assert space.workloads.forms == ("gemm",)

    def test_a_model_of_elementwise_functions_has_none(self) -> None:
        model = Subject.of(Tiny(lambda _: Estimate(energy=1.0), operators={"elementwise"}))

        with pytest.raises(NotOffered, match="it answers for elementwise only"):
            regular_peer_cases(model, (("peer", Precision.FP32),))

    def test_each_pair_of_peer_and_precision_comes_up_as_often(self) -> None:
        space = REAL["regular peers"]
        pairs = space.sample(rng(), 1 << 14)[:, -1]

        shares = np.bincount(pairs) / len(pairs)
        assert np.abs(shares * len(PEERS) - 1).max() < 0.1

    def test_dimensions_are_spread_over_their_decades(self) -> None:
        rows = RegularSpace(forms=("gemm",)).sample(rng(), 1 << 14)

        upper = rows[:, 1] >= 4096  # the upper half of 1024 to 16384, by logarithm
        assert 0.2 < upper.mean() < 0.6

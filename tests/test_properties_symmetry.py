"""The laws of two spellings of one work, on tiny models, at the edges of their domains."""

from __future__ import annotations

import math

import pytest

from joulecheck.case import Case, EquivalentPair, Part, PartedCase
from joulecheck.coefficient import Layer
from joulecheck.errors import InvalidModel, NotOffered, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.model import Offer, Subject
from joulecheck.property import property_named
from joulecheck.testing import Violated, assert_holds
from joulecheck.workload import Conv2d, Gemm, Node, Subgraph, nodes_of
from joulecheck_strategies import TransposedGemm, TransposedImage
from tiny import MAC, Answer, Tiny, gemm, holds, margin

SPELLINGS = ("SYM001", "SYM003", "SYM004", "SYM007")


def traffic(case: Case) -> Estimate:
    """Compulsory bytes and operations: blind to every spelling."""
    return Estimate(energy=1e-12 * case.ops + 1e-11 * case.bytes, latency=1e-9 * case.ops)


def conv(c: int = 1, k: int = 1, groups: int = 1, **sizes: int) -> Conv2d:
    return Conv2d(
        **{"n": 1, "h": 1, "w": 1, "r": 1, "s": 1, **sizes}, c=c, k=k, groups=groups
    )


class TestSpellings:
    """SYM001, SYM003, SYM004 and SYM007."""

    PAIR = EquivalentPair(Case(gemm(m=3, batch=2)), Case(gemm(m=6)), "batch as rows")

    @pytest.mark.parametrize("law", SPELLINGS)
    def test_hold_for_a_model_of_counts(self, law: str) -> None:
        assert_holds(law, Tiny(traffic), max_examples=200)

    def test_are_violated_by_another_energy(self) -> None:
        def per_element_of_the_batch(case: Case) -> Estimate:
            (node,) = nodes_of(case.workload)
            return Estimate(energy=float(getattr(node.operator, "batch", 1)))

        assert margin("SYM004", per_element_of_the_batch, self.PAIR) == pytest.approx(-0.5)

    def test_look_at_every_quantity(self) -> None:
        def answer(case: Case) -> Estimate:
            batch = getattr(case.workload, "batch", 1)
            return Estimate(energy=1.0, latency_terms={"compute": 1.0 + (batch > 1)})

        assert holds("SYM004", answer, self.PAIR) is False

    def test_say_nothing_of_one_spelling(self) -> None:
        same = EquivalentPair(MAC, MAC, "batch as rows")

        assert holds("SYM004", lambda _: Estimate(energy=1.0), same) is None

    def test_say_nothing_where_both_are_refused(self) -> None:
        def answer(case: Case) -> Estimate:
            if case != MAC:
                raise Unsupported
            return Estimate(energy=1.0)

        assert holds("SYM004", answer, self.PAIR) is None

    def test_a_refusal_of_one_spelling_is_a_difference(self) -> None:
        def answer(case: Case) -> Estimate:
            if getattr(case.workload, "batch", 1) > 1:
                raise Unsupported
            return Estimate(energy=1.0)

        assert holds("SYM004", answer, self.PAIR) is False

    @pytest.mark.parametrize(
        ("law", "operators"),
        [
            ("SYM001", {"gemm", "subgraph"}),
            ("SYM001", {"conv2d"}),
            ("SYM003", {"gemm"}),
            ("SYM004", {"elementwise"}),
            ("SYM007", {"gemm", "conv2d"}),
            ("SYM007", {"totals"}),
        ],
    )
    def test_need_both_operators(self, law: str, operators: set[str]) -> None:
        with pytest.raises(NotOffered, match="the law needs"):
            assert_holds(law, Tiny(traffic, operators=operators))


class TestPointwiseConvolutionIsGemm:
    """SYM001."""

    def test_catches_images_that_are_forgotten(self) -> None:
        def one_image(case: Case) -> Estimate:
            workload = case.workload
            if isinstance(workload, Conv2d):
                return Estimate(energy=float(workload.macs // workload.n))
            return Estimate(energy=float(case.macs))

        with pytest.raises(Violated) as caught:
            assert_holds("SYM001", Tiny(one_image, operators={"gemm", "conv2d"}))

        assert caught.value.case == EquivalentPair(
            Case(conv(n=2)), Case(gemm(m=2)), "pointwise convolution as GEMM"
        )


class TestGroupsEqualChannelsIsDepthwise:
    """SYM003."""

    def test_catches_a_multiplier_that_is_forgotten(self) -> None:
        def one_filter_a_channel(case: Case) -> Estimate:
            workload = case.workload
            macs = case.macs
            if isinstance(workload, Conv2d) and workload.groups == workload.c > 1:
                macs = macs * workload.c // workload.k
            return Estimate(energy=float(macs))

        with pytest.raises(Violated) as caught:
            assert_holds("SYM003", Tiny(one_filter_a_channel, operators={"conv2d"}))

        assert isinstance(caught.value.case, EquivalentPair)
        one, other = caught.value.case.one.workload, caught.value.case.other.workload
        assert one == conv(c=2, k=4, groups=2, w=2, s=2)
        assert other == conv(c=4, k=4, groups=2)


class TestOneGroupIsPlain:
    """SYM002."""

    WHOLE = PartedCase(
        Case(conv(c=4, k=4, groups=2)), (Part(Case(conv(c=2, k=2)), 2),), "groups"
    )
    ONE = PartedCase(Case(conv(c=4, k=4)), (Part(Case(conv(c=4, k=4))),), "")

    @pytest.mark.parametrize(
        ("energy", "expected"),
        [(1.0, True), (2.0, True), (0.9, False), (2.1, False)],
    )
    def test_a_whole_lies_between_one_and_all_groups(
        self, energy: float, *, expected: bool
    ) -> None:
        def answer(case: Case) -> Estimate:
            return Estimate(energy=energy if case == self.WHOLE.whole else 1.0)

        assert holds("SYM002", answer, self.WHOLE) is expected

    def test_says_nothing_of_one_group(self) -> None:
        assert (
            holds("SYM002", lambda case: Estimate(energy=float(id(case))), self.ONE) is None
        )

    def test_latency_counts_as_well(self) -> None:
        def answer(case: Case) -> Estimate:
            return Estimate(latency=3.0 if case == self.WHOLE.whole else 1.0)

        assert holds("SYM002", answer, self.WHOLE) is False

    def test_is_not_offered_by_a_model_without_costs(self) -> None:
        subject = Subject.of(Tiny(lambda _: Estimate(utilisation=0.5)))

        assert property_named("SYM002").missing(subject) == [Offer.ENERGY]

    def test_needs_convolutions(self) -> None:
        with pytest.raises(NotOffered, match="needs conv2d, and it answers for gemm only"):
            assert_holds("SYM002", Tiny(traffic, operators={"gemm"}))


class TestBatchSplitWithinBounds:
    """SYM005."""

    PARTS = (Part(Case(gemm(batch=2))), Part(Case(gemm(batch=3))))
    SPLIT = PartedCase(Case(gemm(batch=5)), PARTS, "batch")

    def answer(self, whole: float) -> Answer:
        costs = {5: whole, 3: 3.0, 2: 2.0, 1: 1.0}

        def of_batch(case: Case) -> Estimate:
            return Estimate(energy=costs[nodes_of(case.workload)[0].operator.input_shape.n])

        return of_batch

    @pytest.mark.parametrize(
        ("whole", "splits", "expected"),
        [
            (3.0, ("batch",), True),
            (5.0, ("batch",), True),
            (5.1, ("batch",), False),
            (2.9, ("batch",), False),
            (6.0, (), True),
            (6.0, ("m",), True),
            (6.1, (), False),
            (2.9, (), False),
        ],
    )
    def test_bounds_the_whole(
        self, whole: float, splits: tuple[str, ...], *, expected: bool
    ) -> None:
        answer = self.answer(whole)

        assert holds("SYM005", answer, self.SPLIT, splits=splits) is expected

    def test_lets_intermediates_spill(self) -> None:
        def chain(batch: int) -> Case:
            one = Gemm(m=1, n=1, k=1, batch=batch)
            return Case(Subgraph.chain(one, one))

        split = PartedCase(chain(5), (Part(chain(2)), Part(chain(3))), "batch")

        assert holds("SYM005", self.answer(9.0), split, splits=("batch",))
        assert holds("SYM005", self.answer(2.9), split, splits=("batch",)) is False


class TestTranspositionWhereDeclared:
    """SYM006."""

    GEMM = EquivalentPair(Case(gemm(m=2, n=3)), Case(gemm(m=3, n=2)), TransposedGemm.how)
    IMAGE = EquivalentPair(Case(conv(h=2, w=3)), Case(conv(h=3, w=2)), TransposedImage.how)

    @staticmethod
    def tall_is_slow(case: Case) -> Estimate:
        workload = case.workload
        tall = workload.m if isinstance(workload, Gemm) else getattr(workload, "h", 1)
        return Estimate(energy=1.0, latency=float(tall))

    @pytest.mark.parametrize(
        ("symmetries", "gemms", "images"),
        [
            ({"gemm": ["energy"], "image": ["energy"]}, True, True),
            ({"gemm": ["energy", "latency"]}, False, None),
            ({"gemm": ["energy"], "image": ["latency"]}, True, False),
            ({"image": ["energy"]}, None, True),
        ],
    )
    def test_compares_what_is_declared(
        self, symmetries: dict[str, list[str]], *, gemms: bool | None, images: bool | None
    ) -> None:
        found = [
            holds("SYM006", self.tall_is_slow, pair, symmetries=symmetries)
            for pair in (self.GEMM, self.IMAGE)
        ]

        assert found == [gemms, images]

    def test_is_asked_of_what_is_declared_alone(self) -> None:
        model = Tiny(self.tall_is_slow, symmetries={"image": ["energy"]})

        assert_holds("SYM006", model, max_examples=100)

    def test_shrinks_to_the_least_difference(self) -> None:
        model = Tiny(self.tall_is_slow, symmetries={"gemm": ["latency"]})

        with pytest.raises(Violated) as caught:
            assert_holds("SYM006", model)

        assert caught.value.case == EquivalentPair(
            Case(gemm(n=2)), Case(gemm(m=2)), TransposedGemm.how
        )

    def test_says_nothing_of_a_square(self) -> None:
        square = EquivalentPair(Case(gemm(m=2, n=2)), Case(gemm(m=2, n=2)), "")

        found = margin(
            "SYM006", self.tall_is_slow, square, symmetries={"gemm": ["latency"]}
        )
        assert math.isnan(found)

    @pytest.mark.parametrize(
        "wrong", [{"gemm": "energy"}, {"gemm": ["power"]}, {"convolution": ["energy"]}]
    )
    def test_declarations_are_checked(self, wrong: object) -> None:
        with pytest.raises(InvalidModel, match="symmetries must be gemm or image"):
            Subject.of(Tiny(traffic, symmetries=wrong))

    def test_none_declared_is_none_offered(self) -> None:
        offered = Subject.of(Tiny(traffic, symmetries={"gemm": []})).offers

        assert Offer.SYMMETRIES not in offered


class TestReorderingIndependentNodes:
    """SYM007."""

    def test_catches_a_list_that_is_taken_for_a_schedule(self) -> None:
        def first_is_cold(case: Case) -> Estimate:
            return Estimate(latency=float(nodes_of(case.workload)[0].operator.ops))

        small, large = Node(gemm()), Node(gemm(n=2))
        pair = EquivalentPair(
            Case(Subgraph([small, large])),
            Case(Subgraph([large, small])),
            "nodes 0 and 1 exchanged",
        )

        assert margin("SYM007", first_is_cold, pair) == pytest.approx(-0.5)

        with pytest.raises(Violated) as caught:
            assert_holds("SYM007", Tiny(first_is_cold, operators={"gemm", "subgraph"}))
        assert caught.value.case == pair


class TestIndependentOperatorsAdd:
    """CMP005, which is about graphs side by side."""

    PAIR = PartedCase(
        Case(Subgraph([Node(gemm()), Node(gemm(m=2))])),
        (Part(MAC), Part(Case(gemm(m=2)))),
        "graphs",
    )

    def holds(self, alu: float, static: float = 1.0) -> bool | None:
        def answer(case: Case) -> Estimate:
            alone = not isinstance(case.workload, Subgraph)
            terms = {"alu": float(case.ops) if alone else alu, "static": static}
            return Estimate(energy_terms=terms)

        layers = {"alu": Layer.ALU, "static": Layer.STATIC}
        return holds("CMP005", answer, self.PAIR, layers=layers)

    def test_holds_for_the_sum(self) -> None:
        assert self.holds(6.0)

    def test_leaves_out_static_energy(self) -> None:
        assert self.holds(6.0, static=100.0)

    @pytest.mark.parametrize("alu", [5.9, 6.1])
    def test_is_violated_by_more_or_less(self, alu: float) -> None:
        assert self.holds(alu) is False

    def test_a_term_that_only_the_parts_have_counts(self) -> None:
        def answer(case: Case) -> Estimate:
            alone = not isinstance(case.workload, Subgraph)
            return Estimate(energy_terms={"alu": 1.0} if alone else {"other": 2.0})

        assert holds("CMP005", answer, self.PAIR, layers={"alu": Layer.ALU}) is False

    def test_needs_graphs(self) -> None:
        with pytest.raises(NotOffered, match="needs subgraph"):
            assert_holds(
                "CMP005",
                Tiny(
                    lambda _: Estimate(energy_terms={"alu": 1.0}),
                    layers={"alu": Layer.ALU},
                    operators={"gemm"},
                ),
            )


class TestFusedAtMostUnfused:
    """CMP004."""

    CHAIN = PartedCase(
        Case(Subgraph.chain(gemm(), gemm())), (Part(MAC), Part(MAC)), "operators"
    )

    @pytest.mark.parametrize(
        ("fused", "expected"),
        [
            (Estimate(energy=2.0), True),
            (Estimate(energy=2.1), False),
            (Estimate(energy=0.0, latency=2.0), True),
            (Estimate(energy=0.0, latency=2.1), False),
        ],
    )
    def test_a_graph_costs_at_most_its_operators(
        self, fused: Estimate, *, expected: bool
    ) -> None:
        def answer(case: Case) -> Estimate:
            graph = isinstance(case.workload, Subgraph)
            return fused if graph else Estimate(energy=1.0, latency=1.0)

        assert holds("CMP004", answer, self.CHAIN) is expected

    def test_says_nothing_of_one_operator(self) -> None:
        alone = PartedCase(MAC, (Part(MAC),), "")

        assert holds("CMP004", lambda _: Estimate(energy=1.0), alone) is None

    def test_holds_for_traffic_with_intermediates_inside(self) -> None:
        assert_holds("CMP004", Tiny(traffic), max_examples=200)

    def test_is_violated_by_forced_fusion(self) -> None:
        def pinned(case: Case) -> Estimate:
            return Estimate(energy=float(case.bytes + 9 * case.traffic.internal))

        with pytest.raises(Violated):
            assert_holds("CMP004", Tiny(pinned))

"""The laws of composition on tiny models, at the edges of their domains."""

from __future__ import annotations

import pytest

from joulecheck.case import Case
from joulecheck.coefficient import Layer
from joulecheck.composition import Composition, Each, Max, Sum
from joulecheck.errors import NotOffered, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.testing import assert_holds
from joulecheck.workload import Gemm, Subgraph, Totals
from tiny import MAC, Tiny, gemm, holds, margin, margins

OTHER = Case(gemm(m=2))


def energies(total: float, scope: frozenset[str] | None = None, **terms: float) -> Estimate:
    return Estimate(energy=total, energy_terms=terms, scope=scope)


class TestLayersSumToTotal:
    """CMP001."""

    @pytest.mark.parametrize(
        ("total", "expected"),
        [(3.0, True), (3.0029, True), (3.0031, False), (2.9971, True), (2.9969, False)],
    )
    def test_allows_a_tenth_of_a_percent(self, total: float, *, expected: bool) -> None:
        assert holds("CMP001", lambda _: energies(total, alu=1.0, dram=2.0)) is expected

    def test_counts_only_the_terms_in_scope(self) -> None:
        scope = frozenset({"alu"})

        assert holds("CMP001", lambda _: energies(1.0, scope, alu=1.0, cluster=9.0))
        assert (
            holds("CMP001", lambda _: energies(10.0, scope, alu=1.0, cluster=9.0)) is False
        )

    def test_holds_for_exactly_nothing(self) -> None:
        assert holds("CMP001", lambda _: energies(0.0, alu=0.0, dram=0.0))

    def test_is_violated_by_a_total_of_nothing(self) -> None:
        assert margin("CMP001", lambda _: energies(0.0, alu=1e-30)) == pytest.approx(-0.999)

    def test_shows_how_close_it_is(self) -> None:
        found = margin("CMP001", lambda _: energies(1.0, alu=1.0 + 1e-9))

        assert 1e-3 - found == pytest.approx(1e-9)

    def test_says_nothing_without_a_total(self) -> None:
        def now_and_then(case: Case) -> Estimate:
            return energies(1.0, alu=1.0) if case == MAC else Estimate()

        assert holds("CMP001", now_and_then, OTHER) is None

    def test_lets_a_term_be_left_out_where_it_is_nothing(self) -> None:
        def answer(case: Case) -> Estimate:
            return energies(1.0, alu=1.0) if case == MAC else energies(2.0, dram=2.0)

        assert holds("CMP001", answer, OTHER)

    def test_applies_to_models_of_totals(self) -> None:
        def answer(case: Case) -> Estimate:
            return energies(1e-12 * case.ops + 1e-10 * case.bytes, alu=1e-12 * case.ops)

        totals = Case(Totals(ops=100, bytes=1))

        assert holds("CMP001", answer, totals, operators={"totals"}) is False


class TestPrefixesAgree:
    """CMP002."""

    LAYERS = {"alu": Layer.ALU, "l1": Layer.SCRATCHPAD, "l2": Layer.SCRATCHPAD}  # noqa: RUF012 - never changed

    def answer(self, **through: float) -> Estimate:
        return Estimate(
            energy_terms={"alu": 1.0, "l1": 2.0, "l2": 3.0, "other": 50.0},
            through={Layer[name]: value for name, value in through.items()},
        )

    @pytest.mark.parametrize(
        ("through", "expected"),
        [
            ({"ALU": 1.0}, True),
            ({"ALU": 1.0, "SCRATCHPAD": 6.0}, True),
            ({"SCRATCHPAD": 3.0}, False),
            ({"ALU": 6.0}, False),
            ({"REGISTER": 1.0}, True),
            ({"DRAM": 6.0, "STATIC": 6.0}, True),
            ({"DRAM": 6.0, "STATIC": 56.0}, False),
        ],
    )
    def test_sums_the_layers_up_to_each(
        self, through: dict[str, float], *, expected: bool
    ) -> None:
        found = holds("CMP002", lambda _: self.answer(**through), layers=self.LAYERS)

        assert found is expected

    def test_asks_only_about_the_layers_that_a_case_predicts(self) -> None:
        def answer(case: Case) -> Estimate:
            return self.answer(ALU=1.0) if case == MAC else self.answer(SCRATCHPAD=6.0)

        found = margins("CMP002", answer, [MAC, OTHER], layers=self.LAYERS)

        assert found == pytest.approx([1e-3, 1e-3])

    def test_says_nothing_where_no_layer_is_predicted(self) -> None:
        def answer(case: Case) -> Estimate:
            return self.answer(ALU=1.0) if case == MAC else self.answer()

        assert holds("CMP002", answer, OTHER, layers=self.LAYERS) is None


def latencies(total: float | None, **terms: float) -> Estimate:
    return Estimate(latency=total, latency_terms=terms)


class TestLatencyWithinTerms:
    """CMP003."""

    @pytest.mark.parametrize(
        ("total", "expected"),
        [
            (1.999, False),
            (2.0, True),
            (2.5, True),
            (3.0, True),
            (3.0 * (1 + 1e-10), True),
            (3.0 * (1 + 1e-8), False),
        ],
    )
    def test_lies_between_the_longest_and_the_sum(
        self, total: float, *, expected: bool
    ) -> None:
        found = holds("CMP003", lambda _: latencies(total, compute=1.0, dram=2.0))

        assert found is expected

    def test_holds_for_no_time_at_all(self) -> None:
        assert holds("CMP003", lambda _: latencies(0.0, compute=0.0))

    def test_says_nothing_of_a_case_that_is_refused(self) -> None:
        def answer(case: Case) -> Estimate:
            if case != MAC:
                raise Unsupported
            return latencies(1.0, compute=1.0)

        assert holds("CMP003", answer, OTHER) is None


CHAIN = Case(Subgraph.chain(Gemm(m=1, n=1, k=1), Gemm(m=1, n=1, k=1)))


class TestLatencyCompositionAsDeclared:
    """CMP006."""

    SERIAL = Sum("launch", Max("compute", "dram"))
    BY_OPERATOR = Sum("launch", Each(Max("compute", "dram")))

    def holds(
        self, total: float, case: Case = MAC, composition: Composition = SERIAL
    ) -> bool | None:
        answer = latencies(total, launch=1.0, compute=2.0, dram=3.0)
        return holds("CMP006", lambda _: answer, case, latency_composition=composition)

    @pytest.mark.parametrize(
        ("total", "expected"),
        [(4.0, True), (4.0 + 1e-8, False), (4.0 + 1e-10, True), (3.0, False), (6.0, False)],
    )
    def test_is_exact(self, total: float, *, expected: bool) -> None:
        assert self.holds(total) is expected
        assert self.holds(total, composition=self.BY_OPERATOR) is expected

    @pytest.mark.parametrize(
        ("total", "expected"), [(3.9, False), (4.0, True), (5.0, True)]
    )
    def test_bounds_a_graph_that_goes_operator_by_operator(
        self, total: float, *, expected: bool
    ) -> None:
        assert self.holds(total, CHAIN, self.BY_OPERATOR) is expected

    def test_is_exact_for_a_graph_that_does_not(self) -> None:
        assert self.holds(4.0, CHAIN)
        assert self.holds(5.0, CHAIN) is False

    def test_needs_a_composition(self) -> None:
        with pytest.raises(NotOffered, match="declare latency_composition"):
            assert_holds("CMP006", Tiny(lambda _: latencies(1.0, compute=1.0)))


class TestSubtotals:
    """CMP007."""

    def holds(
        self, case: Case = MAC, /, declared: object = None, **subtotals: float
    ) -> bool | None:
        answer = Estimate(
            energy_terms={"alu": 1.0, "l1": 2.0, "dram": 4.0}, subtotals=subtotals
        )
        parts = {"on_chip": ["alu", "l1"], "all": ["on_chip", "dram", "link"]}
        return holds("CMP007", lambda _: answer, case, subtotals=declared or parts)

    @pytest.mark.parametrize(
        ("subtotals", "expected"),
        [
            ({"on_chip": 3.0}, True),
            ({"on_chip": 3.0 + 1e-10}, True),
            ({"on_chip": 3.0 + 1e-8}, False),
            ({"on_chip": 3.0, "all": 7.0}, True),
            ({"on_chip": 3.0, "all": 6.0}, False),
            ({"on_chip": 2.0, "all": 6.0}, False),
        ],
    )
    def test_sums_terms_and_other_sub_totals(
        self, subtotals: dict[str, float], *, expected: bool
    ) -> None:
        """A term that a case does not have, such as the link, is 0."""
        assert self.holds(**subtotals) is expected

    def test_leaves_out_what_is_not_declared(self) -> None:
        assert self.holds(on_chip=3.0, other=50.0)

    def test_asks_only_about_those_that_a_case_has(self) -> None:
        def answer(case: Case) -> Estimate:
            given = {"all": 1.0} if case == MAC else {}
            return Estimate(energy_terms={"alu": 1.0}, subtotals=given)

        declared = {"subtotals": {"all": ["alu"]}}

        assert holds("CMP007", answer, **declared)
        assert holds("CMP007", answer, OTHER, **declared) is None

    def test_needs_sub_totals(self) -> None:
        with pytest.raises(NotOffered, match=r"Estimate\(subtotals="):
            assert_holds("CMP007", Tiny(lambda _: energies(1.0, alu=1.0)))


class TestLatencyPrefixesAgree:
    """CMP008."""

    LAYERS = {  # noqa: RUF012 - never changed
        "compute": Layer.ALU,
        "launch": Layer.REGISTER,
        "l1": Layer.SCRATCHPAD,
        "dram": Layer.DRAM,
    }
    COMPOSITION = Sum("launch", Each(Max("compute", "l1", "dram")))

    def holds(
        self, case: Case = MAC, /, *, declared: object = None, **through: float
    ) -> bool | None:
        answer = Estimate(
            latency=5.0,
            latency_terms={"compute": 2.0, "launch": 1.0, "l1": 3.0, "dram": 4.0},
            latency_through={Layer[name]: value for name, value in through.items()},
        )
        return holds("CMP008", lambda _: answer, case, **(declared or {}))

    def layered(self, composition: Composition | None = None) -> dict[str, object]:
        return {"latency_layers": self.LAYERS, "latency_composition": composition}

    @pytest.mark.parametrize(
        ("through", "expected"),
        [
            ({"DRAM": 5.0}, True),
            ({"ALU": 2.0, "DRAM": 5.0}, True),
            ({"ALU": 2.0}, False),
            ({"ALU": 99.0, "CLUSTER": 5.0}, True),
            ({"DRAM": 5.0, "CLUSTER": 6.0}, False),
        ],
    )
    def test_ends_with_the_latency(
        self, through: dict[str, float], *, expected: bool
    ) -> None:
        assert self.holds(**through) is expected

    @pytest.mark.parametrize(
        ("scratchpad", "expected"),
        [(2.9, False), (3.0, True), (4.0, True), (6.0, True), (6.1, False)],
    )
    def test_lies_between_the_longest_and_the_sum_of_the_layers(
        self, scratchpad: float, *, expected: bool
    ) -> None:
        found = self.holds(declared=self.layered(), SCRATCHPAD=scratchpad, DRAM=5.0)

        assert found is expected

    @pytest.mark.parametrize(
        ("scratchpad", "case", "expected"),
        [
            (4.0, MAC, True),
            (4.0 + 1e-8, MAC, False),
            (3.9, MAC, False),
            (5.0, CHAIN, True),
            (3.9, CHAIN, False),
        ],
    )
    def test_is_the_composition_of_the_layers(
        self, scratchpad: float, case: Case, *, expected: bool
    ) -> None:
        declared = self.layered(self.COMPOSITION)

        found = self.holds(case, declared=declared, SCRATCHPAD=scratchpad, DRAM=5.0)

        assert found is expected

    def test_leaves_terms_alone_some_of_which_have_no_layer(self) -> None:
        declared = {"latency_layers": {"compute": Layer.ALU}}

        assert self.holds(declared=declared, ALU=99.0, DRAM=5.0)

    def test_says_nothing_where_no_layer_is_predicted(self) -> None:
        assert holds("CMP008", lambda _: Estimate(latency=1.0)) is None

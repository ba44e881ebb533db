from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from joulecheck.case import Case, Cases
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Node,
    Precision,
    Shape,
    Subgraph,
    Totals,
    fitted_conv2d,
    loop_nest,
    nodes_of,
)
from joulecheck.workload.columns import (
    CONV2D,
    ELEMENTWISE,
    GEMM,
    PRECISION_BITS,
    PRECISIONS,
    Floats,
    operator_columns,
)
from joulecheck_strategies import WorkloadSpace

BILLION: Final = 10**9
HALF_BYTES: Final = (Precision.FP4, Precision.INT4)
ULP: Final = Fraction(1, 2**52)

sizes = st.one_of(st.integers(1, 9), st.integers(1, BILLION), st.just(BILLION))
precisions = st.sampled_from(Precision)
gemms = st.builds(Gemm, m=sizes, n=sizes, k=sizes, batch=sizes)
convolutions = st.builds(
    fitted_conv2d,
    st.builds(Shape, sizes, sizes, sizes, sizes),
    k=sizes,
    r=sizes,
    s=sizes,
    stride=st.integers(1, 4),
    padding=st.integers(0, 5),
    dilation=st.integers(1, 4),
    groups=st.one_of(st.none(), sizes),
)
elementwise = st.builds(
    lambda shape, operands: Elementwise(Function.ADD, shape, operands),
    st.tuples(sizes, sizes, sizes),
    st.integers(2, 4),
)
huge = st.builds(Case, st.one_of(gemms, convolutions, elementwise), precisions)


def off(found: Floats, exact: Sequence[int]) -> float:
    """The largest relative error, in units of 2^-52."""
    pairs = zip(found.tolist(), exact, strict=True)
    errors = [abs(Fraction(a) - b) / max(b, 1) for a, b in pairs]
    return float(max(errors, default=Fraction(0)) / ULP)


def counted(cases: Sequence[Case]) -> dict[str, list[int]]:
    """What the batch must say of each case, in exact ints."""
    roles = ("input", "weight", "output", "internal")
    return {
        "macs": [case.macs for case in cases],
        "ops": [case.ops for case in cases],
        "bytes": [case.bytes for case in cases],
        **{role: [getattr(case.traffic, role) for case in cases] for role in roles},
    }


def columns(cases: Cases) -> dict[str, Floats]:
    """The same of a batch."""
    roles = ("input", "weight", "output", "internal")
    return {
        "macs": cases.macs,
        "ops": cases.ops,
        "bytes": cases.bytes,
        **{role: getattr(cases.traffic, role) for role in roles},
    }


class TestAgainstExactInts:
    """Columns of a batch against the Python ints of each case."""

    @given(st.lists(huge, min_size=1, max_size=8))
    def test_counts_are_right_to_four_ulps_at_a_billion(self, cases: list[Case]) -> None:
        exact, found = counted(cases), columns(Cases.of(cases))
        errors = {name: off(found[name], exact[name]) for name in exact}

        assert max(errors.values()) <= 4, errors

    def test_a_billion_cubed_does_not_wrap(self) -> None:
        case = Case(Gemm(m=BILLION, n=BILLION, k=BILLION), Precision.INT4)
        batch = Cases.of([case])

        assert batch.macs.tolist() == [1e27]
        assert batch.ops.tolist() == [2e27]
        assert batch.bytes.tolist() == [1.5e18]

    @pytest.mark.parametrize("precision", HALF_BYTES)
    @pytest.mark.parametrize("elements", [1, 2, 3, 7, BILLION - 1])
    def test_half_bytes_round_up_tensor_by_tensor(
        self, precision: Precision, elements: int
    ) -> None:
        case = Case(Elementwise(Function.ADD, (elements,), operands=3), precision)
        found = Cases.of([case]).traffic

        assert found.input.tolist() == [3 * (-(-elements // 2))]
        assert found.output.tolist() == [-(-elements // 2)]
        assert found.external.tolist() == [case.bytes]

    @given(st.data())
    def test_subgraphs_below_2_to_53_are_exact(self, data: st.DataObject) -> None:
        space = WorkloadSpace(precisions=HALF_BYTES)
        drawn = data.draw(st.lists(space.strategy(), min_size=1, max_size=4))
        cases = [case for case in drawn if case.ops < 2**53]
        exact, found = counted(cases), columns(Cases.of(cases))

        assert {name: values.tolist() for name, values in found.items()} == exact

    def test_bits_are_those_of_the_precision(self) -> None:
        cases = [Case(Gemm(m=1, n=1, k=1), precision) for precision in Precision]

        assert Cases.of(cases).bits.tolist() == [p.bits for p in Precision]
        assert PRECISION_BITS.tolist() == [p.bits for p in PRECISIONS]


class TestOperatorColumns:
    """One row an operator, in case order."""

    WORKLOADS: Final = (
        Subgraph.chain(
            Gemm(m=2, n=3, k=5, batch=7), Elementwise(Function.RELU, (7, 3, 2, 1))
        ),
        Conv2d(n=2, c=4, h=5, w=6, k=8, r=3, s=2, groups=2),
        Totals(ops=11, bytes=13),
        Subgraph(
            [
                Node(Gemm(m=4, n=8, k=16)),
                Node(Gemm(m=4, n=4, k=8), (0, None)),
                Node(Gemm(m=4, n=4, k=8), (0, 0)),
            ]
        ),
    )

    def test_rows_are_grouped_by_case(self) -> None:
        found = operator_columns(self.WORKLOADS)

        assert len(found) == 7
        assert found.starts.tolist() == [0, 2, 3, 4]
        assert found.owner.tolist() == [0, 0, 1, 2, 3, 3, 3]
        assert found.kind.tolist() == [GEMM, ELEMENTWISE, CONV2D, ELEMENTWISE, *[GEMM] * 3]

    def test_rows_hold_the_loop_nests(self) -> None:
        found = operator_columns(self.WORKLOADS)
        nests = np.stack([found.instances, found.m, found.n, found.k], axis=1)
        expected = [tuple(loop_nest(node)) for w in self.WORKLOADS for node in nodes_of(w)]

        assert [tuple(nest) for nest in nests.tolist() if nest[1]] == expected

    def test_rows_say_what_stays_inside(self) -> None:
        found = operator_columns(self.WORKLOADS)

        assert found.output_is_internal.tolist() == [True, *[False] * 3, True, False, False]
        assert found.weight_is_internal.tolist() == [*[False] * 6, True]
        assert found.external_inputs.tolist() == [1, 0, 1, 0, 1, 0, 0]
        assert found.internal_inputs.tolist() == [0, 1, 0, 0, 0, 1, 1]

    def test_totals_are_one_row_of_operations(self) -> None:
        batch = Cases.of([Case(w) for w in self.WORKLOADS])

        assert batch.ops.tolist() == [w.ops for w in self.WORKLOADS]
        assert batch.bytes[2] == 13

    def test_sums_and_repeats_are_by_case(self) -> None:
        found = operator_columns(self.WORKLOADS)
        ones = np.ones(len(found))

        assert found.per_case(ones).tolist() == [2, 1, 1, 3]
        assert found.per_operator(np.array([5, 6, 7, 8])).tolist() == [5, 5, 6, 7, 8, 8, 8]

    def test_single_operators_are_passed_through(self) -> None:
        found = operator_columns([Gemm(m=1, n=1, k=1)] * 3)
        ones = np.ones(3)

        assert found.one_each
        assert found.per_case(ones) is ones
        assert found.per_operator(ones) is ones

    @pytest.mark.parametrize("cases", [[3, 0], [1, 1, 2], [0, 1, 2, 3], []])
    def test_some_cases_are_taken_with_all_their_rows(self, cases: list[int]) -> None:
        found = operator_columns(self.WORKLOADS).take(np.array(cases, dtype=np.int64))
        expected = operator_columns([self.WORKLOADS[index] for index in cases])

        for field in attrs.fields(type(found)):
            taken, wanted = getattr(found, field.name), getattr(expected, field.name)
            assert taken.dtype == wanted.dtype
            assert taken.tolist() == wanted.tolist()

    def test_every_field_has_one_entry_an_operator(self) -> None:
        found = operator_columns(self.WORKLOADS)
        lengths = {
            field.name: len(getattr(found, field.name))
            for field in attrs.fields(type(found))
            if field.name != "starts"
        }

        assert set(lengths.values()) == {7}

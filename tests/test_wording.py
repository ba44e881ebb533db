"""Cases in words."""

from __future__ import annotations

import pytest

from joulecheck.case import (
    AnyCase,
    Case,
    CaseSequence,
    CoefficientCase,
    EquivalentPair,
    InvalidCase,
    Part,
    PartedCase,
    Wrong,
)
from joulecheck.quantities import many
from joulecheck.reports.wording import Line, case_lines
from joulecheck.workload import Precision, Totals
from tiny import MAC, at, gemm

PLAINEST = "gemm M=1 N=1 K=1 FP32"


@pytest.mark.parametrize(
    ("case", "lines"),
    [
        (
            CoefficientCase("dram_energy", 1024),
            [
                ("minimal", "coefficient dram_energy"),
                ("tried", "on the first 1,024 cases of a fixed seed"),
            ],
        ),
        (
            CaseSequence([MAC, at(Precision.INT8)]),
            [("minimal", PLAINEST), ("then", "gemm M=1 N=1 K=1 INT8")],
        ),
        (
            InvalidCase(MAC, Wrong.UNKNOWN_COEFFICIENT, "dram"),
            [("minimal", PLAINEST), ("invalid", "no coefficient is called dram_")],
        ),
        (
            InvalidCase(MAC, Wrong.NEGATIVE_FACTOR, "dram"),
            [("minimal", PLAINEST), ("invalid", "dram x -1")],
        ),
        (
            InvalidCase(Case(Totals(2, 3)), Wrong.OTHER_WORKLOAD),
            [
                ("minimal", "totals ops=2 bytes=3 FP32"),
                ("invalid", "the model does not declare this kind of workload"),
            ],
        ),
        (
            EquivalentPair(Case(gemm(batch=2)), Case(gemm(m=2)), "batch as rows"),
            [
                ("minimal", "gemm M=1 N=1 K=1 batch=2 FP32"),
                ("the same", "gemm M=2 N=1 K=1 FP32"),
                ("spelling", "batch as rows"),
            ],
        ),
        (
            PartedCase(Case(gemm(m=3)), [Part(MAC, 2), Part(Case(gemm(m=1)))], "m"),
            [
                ("whole", "gemm M=3 N=1 K=1 FP32"),
                ("2 x", PLAINEST),
                ("part", PLAINEST),
                ("parted by", "m"),
            ],
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_says_what_the_case_is(case: AnyCase, lines: list[Line]) -> None:
    assert case_lines(case) == lines


@pytest.mark.parametrize(
    ("count", "words", "expected"),
    [
        (0, ("finding",), "0 findings"),
        (1, ("finding",), "1 finding"),
        (1200, ("finding",), "1,200 findings"),
        (1, ("property", "properties"), "1 property"),
        (2, ("property", "properties"), "2 properties"),
    ],
)
def test_a_count_goes_with_its_noun(
    count: int, words: tuple[str, ...], expected: str
) -> None:
    assert many(count, *words) == expected

"""Findings and a clock for the tests of the corpus."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from joulecheck.case import (
    AnyCase,
    Case,
    Derivation,
    DerivedCase,
    EquivalentPair,
    Part,
    PartedCase,
    PrecisionPair,
    ScaledCase,
    WorkloadPair,
)
from joulecheck.corpus import Acceptance, Finding, Status
from joulecheck.counterexample import Counterexample, Numbers
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Node,
    Precision,
    Subgraph,
    Totals,
)

MONDAY = datetime(2026, 3, 2, 12, tzinfo=UTC)
TODAY = date(2026, 3, 2)
DAY = timedelta(days=1)

GEMM = Gemm(m=2, n=3, k=5)
RELU = Elementwise(Function.RELU, (1, 3, 2, 1))

CASES: list[AnyCase] = [
    Case(GEMM, Precision.INT8),
    Case(Conv2d(n=1, c=2, h=3, w=4, k=5, r=1, s=2), Precision.FP16),
    Case(RELU),
    Case(Totals(ops=2**80, bytes=3)),
    Case(Subgraph((Node(GEMM), Node(RELU, (0,))))),
    ScaledCase(Case(GEMM), {"mac_energy.FP32": 1.1}),
    WorkloadPair(Case(GEMM), Case(Gemm(m=4, n=3, k=5)), "m"),
    PrecisionPair(Case(GEMM, Precision.INT8), Case(GEMM, Precision.FP32)),
    DerivedCase(Case(GEMM), Derivation({"clock": 2.0}, {"static_power": 0.5})),
    EquivalentPair(Case(Gemm(m=1, n=3, k=5, batch=2)), Case(GEMM), "batch as rows"),
    PartedCase(Case(GEMM), (Part(Case(Gemm(m=1, n=3, k=5)), 2),), "m"),
]
"""One of every kind of case."""


class Clock:
    """Tells the time that it is set to."""

    def __init__(self) -> None:
        self.now = MONDAY

    def __call__(self) -> datetime:
        return self.now


def counterexample(
    m: int = 1,
    *,
    model: str = "toy:npu",
    law: str = "TST001",
    case: AnyCase | None = None,
    margin: float = -0.5,
) -> Counterexample:
    return Counterexample(
        model=model,
        property=law,
        case=case or Case(Gemm(m=m, n=1, k=1)),
        genes=(m, 1, 1),
        margin=margin,
        numbers=(
            Numbers(
                role="case",
                energy=1.5e-12,
                latency=None,
                utilisation=None,
                energy_terms={"mac": 1.5e-12},
                latency_terms={},
            ),
        ),
        seed=7,
        versions={"joulecheck": "0.1.0"},
    )


def finding(
    m: int = 1,
    status: Status = Status.NEW,
    acceptance: Acceptance | None = None,
    seen: datetime = MONDAY,
) -> Finding:
    return Finding(
        counterexample=counterexample(m),
        status=status,
        acceptance=acceptance,
        first_seen=seen,
        last_seen=seen,
    )


def accepted(m: int = 1, until: date | None = None, reason: str = "known") -> Finding:
    return finding(m, Status.ACCEPTED, Acceptance(reason, until))

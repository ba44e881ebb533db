"""Mutations: every kind can be planted in most classes, and changes what is answered."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from joulecheck.case import Case, Cases
from joulecheck.estimate import Estimate
from joulecheck.faults.kinds import KINDS
from joulecheck.faults.mutation import Kind, Mutation, variants
from joulecheck.model import Subject, registered
from joulecheck.reference.layered import LayeredModel
from joulecheck.workload import Conv2d, Elementwise, Function, Gemm, Node, Subgraph

ONE_OF_EACH_CLASS = (
    "Intel-i7-12700K",
    "H100-SXM5-80GB",
    "Google-TPU-v4",
    "Stillwater-KPU-T256",
    "Hailo-8",
    "Xilinx-Vitis-AI-DPU",
    "Stillwater-DFM-128",
)

STATEFUL = {"cache-without-scale", "not-restored", "read-for-write", "squared-coefficient",
            "dead-coefficient", "leaking-coefficient"}  # fmt: skip
"""Kinds that show under scaled coefficients alone."""

DERIVED = {"larger-moves-more"}
"""Kinds that show in derived machines alone."""

each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)


def model_of(name: str) -> LayeredModel:
    model = registered("reference", name).model
    assert isinstance(model, LayeredModel)
    return model


def planted(kind: Kind) -> list[tuple[LayeredModel, Mutation]]:
    """The first variants of a kind, in one machine of each class."""
    models = map(model_of, ONE_OF_EACH_CLASS)
    return [(model, one) for model in models for one in variants(kind, model, 2)]


def questions(model: LayeredModel) -> Cases:
    """A few cases of every sort at every precision of a model."""
    small = Gemm(m=2, n=3, k=5)
    chain = Subgraph(
        [
            Node(Gemm(m=64, n=32, k=48)),
            Node(Elementwise(Function.RELU, (1, 32, 64, 1)), (0,)),
        ]
    )
    workloads = [
        small,
        Gemm(m=4096, n=4096, k=4096),
        Gemm(m=100, n=33, k=65, batch=7),
        Conv2d(n=2, c=64, h=28, w=28, k=64, r=3, s=3, stride=2, padding=1, groups=32),
        Conv2d(n=1, c=8, h=28, w=28, k=8, r=3, s=3, dilation=2),
        Elementwise(Function.ADD, (4, 8, 16, 16)),
        chain,
        Subgraph([Node(small), Node(small)]),
        Gemm(m=1 << 30, n=1, k=1),
    ]
    precisions = sorted(model.precisions, key=lambda p: p.name)
    return Cases.of([Case(w, p) for w, p in product(workloads, precisions)])


def numbers(answer: Estimate) -> np.ndarray:
    """Everything that an answer says, as one array."""
    mappings = (answer.energy_terms, answer.latency_terms, answer.through)
    values = [answer.energy, answer.latency, answer.utilisation]
    values += [value for mapping in mappings for value in mapping.values()]
    return np.array([np.asarray(value, dtype=np.float64) for value in values])


def derives_otherwise(model: LayeredModel, mutation: Mutation, knob: str) -> bool:
    """Whether the machine of twice this figure answers otherwise."""
    cases, faulty = questions(model), mutation.plant(model)
    if not model.knobs[knob].allows(2.0):
        return False
    found, sound = (
        one.derive({knob: 2.0}).estimate_batch(cases) for one in (faulty, model)
    )
    return not np.array_equal(numbers(found), numbers(sound), equal_nan=True)


class TestKinds:
    """What the kinds have in common."""

    def test_there_are_more_than_thirty(self) -> None:
        assert len(KINDS) > 30

    @each_kind
    def test_says_what_it_is(self, kind: Kind) -> None:
        assert kind.summary
        assert kind.history

    @each_kind
    def test_is_planted_in_some_class(self, kind: Kind) -> None:
        assert planted(kind)

    @each_kind
    def test_draws_the_same_for_the_same_variant(self, kind: Kind) -> None:
        for model, mutation in planted(kind):
            first, again = mutation.drawn(model), mutation.drawn(model)
            assert (first.what, first.places) == (again.what, again.places)

    @each_kind
    def test_names_places_that_the_model_has(self, kind: Kind) -> None:
        totals = {"energy", "latency", "utilisation", "launch", "compute", "dram"}
        for model, mutation in planted(kind):
            layers = {layer.name for layer in model.layers.values()}
            known = {*model.layers, *model.coefficients, *layers, *totals}
            assert mutation.drawn(model).places & known

    @each_kind
    def test_changes_an_answer(self, kind: Kind) -> None:
        changed = []
        for model, mutation in planted(kind):
            faulty, cases = mutation.plant(model), questions(model)
            scales = {name: np.full(len(cases), 1.5) for name in model.coefficients}
            one_scaled = [{}, {}, scales, {}]
            if kind.name in STATEFUL:
                one_scaled += [{n: np.full(len(cases), 1.5)} for n in model.coefficients]
            changed += [
                not np.array_equal(
                    numbers(faulty.estimate_batch(cases, given)),
                    numbers(model.estimate_batch(cases, given)),
                    equal_nan=True,
                )
                for given in one_scaled
            ]
            if kind.name in DERIVED:
                changed += [derives_otherwise(model, mutation, n) for n in model.knobs]
        assert any(changed)

    @each_kind
    def test_is_a_model_as_before(self, kind: Kind) -> None:
        model, mutation = planted(kind)[0]

        subject = Subject.of(mutation.plant(model))

        assert subject.precisions == Subject.of(model).precisions


def test_more_than_two_hundred_mutants_over_seven_classes() -> None:
    found = [pair for kind in KINDS.values() for pair in planted(kind)]

    assert len(found) > 200
    assert {model.name for model, _ in found} == set(ONE_OF_EACH_CLASS)

"""Outlines: where a law fails as a whole, read off drawn cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import attrs
import numpy as np
import pytest

from corpus_examples import counterexample
from joulecheck.campaign.regions.conjunction import Ends, plain
from joulecheck.campaign.regions.figures import figures_of
from joulecheck.campaign.regions.outline import Draws, outline
from joulecheck.campaign.search import Unit, search_and_minimise
from joulecheck.counterexample import Counterexample, from_json, to_json
from joulecheck.errors import UnknownName
from joulecheck.model import Subject
from joulecheck.property import property_named
from joulecheck.region import Feature, Generalised, Interval, Outline, Region, SomeOperator
from joulecheck.region.atoms import Kinds, Residues
from joulecheck.region.features import How
from joulecheck.region.wording import condition
from joulecheck.reports.explanation import region_lines
from joulecheck.resolve import ModelRef
from joulecheck.workload import Precision
from joulecheck.workload.columns import PRECISIONS, Bools, Ints
from joulecheck_strategies import WorkloadSpace

Space = Any
AnyBatch = Any
Holds = Callable[[AnyBatch], Bools]

GRAPHS: Final = WorkloadSpace(precisions=(Precision.FP32, Precision.INT8))


def nothing(rows: Ints) -> Bools:
    return np.zeros(len(rows), dtype=bool)


def draws(
    holds: Holds, model: Subject | None = None, space: Space = GRAPHS, seed: int = 0
) -> Draws:
    """Cases of which those fail that are given."""
    return Draws(
        space=space,
        fails=lambda rows: holds(space.batch(rows)),
        known=nothing,
        rng=np.random.default_rng(seed),
        told=None if model is None else figures_of(model),
    )


def found(holds: Holds, regions: tuple[Region, ...] = ()) -> Outline:
    """The outline of these failures."""
    made = outline(draws(holds), regions)
    assert made is not None
    return made


class TestWorkloads:
    """Failures that the workload alone tells."""

    def test_the_largest_of_the_operators(self) -> None:
        def holds(cases: AnyBatch) -> Bools:
            which: Bools = cases.operators.per_case(1.0 * (cases.operators.k >= 500)) > 0
            return which

        made = found(holds)
        assert made.sentence == "every case with the largest loop K >= 500"
        assert (made.coverage, made.false) == (1.0, 0.0)

    def test_a_conjunction(self) -> None:
        made = found(lambda cases: (cases.macs >= 1 << 20) & (cases.bytes <= 1 << 24))
        assert {a.feature.of for a in made.regions[0].atoms if isinstance(a, Interval)} == {
            ("macs",),
            ("bytes",),
        }

    def test_another_end_for_each_precision(self) -> None:
        int8 = PRECISIONS.index(Precision.INT8)

        def holds(cases: AnyBatch) -> Bools:
            end = np.where(cases.precision == int8, 1 << 22, 1 << 16)
            return np.asarray(cases.macs >= end)

        made = found(holds)
        assert len(made.regions) == 2
        assert made.coverage > 0.999

    def test_a_precision_is_named_rather_than_its_width(self) -> None:
        int8 = PRECISIONS.index(Precision.INT8)
        made = found(lambda cases: cases.precision == int8)
        assert made.sentence == "every INT8 case"

    def test_what_holds_of_few_operators_is_tried_on_all_graphs(self) -> None:
        odd = Residues(Feature(("loop m",)), 2, [1])
        many = Interval(Feature(("loop m",)), low=33)
        single = Interval(Feature(("nodes",)), high=1)
        region = Region(operators=[SomeOperator([odd, many])], atoms=[single])

        def holds(cases: AnyBatch) -> Bools:
            rows = cases.operators
            which: Bools = rows.per_case(1.0 * ((rows.m % 2 == 1) & (rows.m >= 33))) > 0
            return which

        made = found(holds, (region,))
        assert made.regions[0].graphs
        assert made.regions[0].operators == region.operators

    def test_failures_at_random_have_none(self) -> None:
        def holds(cases: AnyBatch) -> Bools:
            return np.random.default_rng(len(cases)).random(len(cases)) < 0.3

        assert outline(draws(holds)) is None

    def test_few_failures_have_none(self) -> None:
        assert outline(draws(lambda cases: np.arange(len(cases)) == 0)) is None

    def test_known_failures_count_for_nothing(self) -> None:
        both = draws(lambda cases: cases.macs >= 1 << 20)
        small = attrs.evolve(both, known=lambda rows: GRAPHS.batch(rows).macs < 1 << 20)
        assert outline(both) is not None
        assert outline(small) is None  # all that is left fails

    def test_a_seed_gives_one_outline(self) -> None:
        def holds(cases: AnyBatch) -> Bools:
            return np.asarray(cases.ops / cases.bytes >= 7.3)

        assert found(holds) == found(holds)


LATE: Final = ModelRef("reference:Intel-i7-12700K", "latency-halved#0")
"""A model that is too fast by a factor."""


class TestAnswers:
    """Failures that no plain condition on the workload tells."""

    def of(self, told: bool) -> Outline | None:  # noqa: FBT001 - a parameter of the tests
        model, law = LATE.load(), property_named("BND001")
        space = law.space(model)
        some = draws(lambda batch: law.checked_margin(model, batch) < 0, model, space)
        return outline(some if told else attrs.evolve(some, told=None))

    def test_they_are_said_of_the_answers(self) -> None:
        made = self.of(told=True)
        assert made is not None
        assert made.of_answers
        assert made.sentence == "every case with latency over least compute time <= 1"

    def test_there_is_none_if_the_model_is_not_asked(self) -> None:
        assert self.of(told=False) is None

    def test_rows_are_told_apart_only_by_asking(self) -> None:
        made, model = self.of(told=True), LATE.load()
        assert made is not None
        space = property_named("BND001").space(model)
        rows = space.sample(np.random.default_rng(3), 64)
        with pytest.raises(UnknownName, match="told latency"):
            made.contains(space, rows)
        margins = property_named("BND001").checked_margin(model, space.batch(rows))
        inside = made.contains(space, rows, figures_of(model))
        np.testing.assert_array_equal(inside, margins < 0)

    def test_a_figure_that_no_answer_of_a_batch_has_is_none(self) -> None:
        spilt = Interval(Feature(("told spill share of the energy",)), high=0.5)
        made = attrs.evolve(STORED, regions=[Region(atoms=[spilt])])
        rows = GRAPHS.sample(np.random.default_rng(3), 64)
        assert not made.contains(GRAPHS, rows, lambda _: {}).any()

    def test_what_the_workload_and_the_machine_say_is_no_answer(self) -> None:
        for name, of_answers in (
            ("told least dram time", False),
            ("larger told least compute time", False),
            ("told least dram time over latency", True),
            ("told least dram share of the energy", True),
            ("told latency over least dram time", True),
        ):
            atom = Interval(Feature((name,)), high=1.0)
            made = attrs.evolve(STORED, regions=[Region(atoms=[atom])])
            assert made.of_answers is of_answers, name

    def test_a_share_of_a_layer(self) -> None:
        model = ModelRef("reference:Intel-i7-12700K", "layer-dropped#0").load()
        law = property_named("CMP001")
        space = law.space(model)
        made = outline(
            draws(lambda batch: law.checked_margin(model, batch) < 0, model, space)
        )
        assert made is not None
        assert "SCRATCHPAD layer's share of the energy" in made.sentence


def test_a_finding_has_an_outline_where_its_region_leaves_much_out() -> None:
    model = LATE.load()
    unit = Unit(LATE.name, "BND001", 1, 0, 4096)
    law = property_named("BND001")
    counterexample = search_and_minimise(unit, model, law, explain=True).counterexample
    assert counterexample is not None
    assert counterexample.region is not None
    assert counterexample.region.outline is not None
    assert counterexample.region.outline.coverage > 0.99


STORED: Final = Outline(
    regions=[
        Region(
            atoms=[
                Kinds("precision", ["INT8"]),
                Interval(Feature(("told dram time over latency",)), low=0.5),
            ]
        )
    ],
    coverage=0.996,
    false=0.0004,
    tried=5000,
)


class TestStored:
    """An outline in the JSON of a finding and in words."""

    def with_outline(self) -> Counterexample:
        region = Generalised(
            regions=(), coverage=0.0, evaluations=7, proven=False, outline=STORED
        )
        return attrs.evolve(counterexample(), region=region)

    def test_it_comes_back(self) -> None:
        stored = self.with_outline()
        assert from_json(to_json(stored), "here") == stored

    def test_files_from_before_have_none(self) -> None:
        data = json.loads(to_json(self.with_outline()))
        del data["region"]["outline"]
        loaded = from_json(json.dumps(data), "here")
        assert loaded.region is not None
        assert loaded.region.outline is None

    def test_it_is_told(self) -> None:
        lines = list(region_lines(self.with_outline().region))
        assert ("outline", "every INT8 case with dram time over latency >= 0.5") in lines
        assert lines[-1][1] == (
            "99.6% of fresh failures lie inside; of 5,000 fresh cases inside, 2 hold"
        )

    @pytest.mark.parametrize(
        ("coverage", "false", "told"),
        [
            (
                1.0,
                0.0,
                "all fresh failures lie inside; all of 5,000 fresh cases inside fail",
            ),
            (
                0.99996,
                0.0002,
                "99.9% of fresh failures lie inside; of 5,000 fresh cases inside, 1 holds",
            ),
        ],
    )
    def test_nothing_is_rounded_to_all_or_none(
        self, coverage: float, false: float, told: str
    ) -> None:
        made = attrs.evolve(STORED, coverage=coverage, false=false)
        around = self.with_outline().region
        assert around is not None
        assert list(region_lines(attrs.evolve(around, outline=made)))[-1][1] == told


@pytest.mark.parametrize(
    ("inside", "outside", "expected"),
    [
        (10, 9, 10),
        (9, 10, 9),
        (1037.0, 961.0, 1024.0),
        (0.2503, 0.2496, 0.25),
        (1.0007, 0.9991, 1.0),
        (11.0, 17.0, 14.0),
        (5.0, np.inf, 5.0),
        (-0.3, -0.1, -0.2),
        (8.0, 16.0, 8.0),
        (128.0, 100.0, 128.0),
        (7.036126672936659e-08, np.inf, 7.1e-08),
        (0.342532238124, -np.inf, 0.34),
        (0.342532238124, np.nan, 0.342532238124),
        (-0.342532238124, -np.inf, -0.35),
    ],
)
def test_an_end_is_a_plain_number(inside: float, outside: float, expected: float) -> None:
    assert plain(float(inside), float(outside)) == expected


@pytest.mark.parametrize(
    ("atom", "expected"),
    [
        (
            Interval(Feature(("larger told energy", "told energy"), How.RATIO), high=0.5),
            "energy (larger / smaller) <= 0.5",
        ),
        (
            Interval(
                Feature(("parts told alu layer's share of the energy",)), low=0.25, high=0.5
            ),
            "0.25 <= alu layer's share of the energy of the parts <= 0.5",
        ),
        (
            Interval(Feature(("wider loop m", "loop m"), How.RATIO), low=2),
            "loop M (wider / narrower) >= 2",
        ),
        (
            Interval(Feature(("told energy", "told latency"), How.RATIO), low=2),
            "energy / latency >= 2",
        ),
        (
            Interval(Feature(("largest larger operator macs",)), low=2),
            "the largest MACs of the larger >= 2",
        ),
        (Interval(Feature(("smallest loop k",)), low=2), "the smallest loop K >= 2"),
        (Interval(Feature(("largest factor",)), low=2), "the largest factor >= 2"),
        (Interval(Feature(("told latency",)), high=0.99999999), "latency <= 1 - 1e-08"),
        (Interval(Feature(("told latency",)), low=1.00000002), "latency >= 1 + 2e-08"),
        (Interval(Feature(("told latency",)), low=0.999999), "latency >= 0.999999"),
    ],
)
def test_a_condition_in_words(atom: Interval, expected: str) -> None:
    assert condition(atom) == [expected]


@pytest.mark.parametrize(
    ("of", "name", "expected"),
    [
        ("peer", "reference:Hailo-8", "peer reference:Hailo-8"),
        ("machine", "clock x 2", "clock x 2"),
        ("wider precision", "FP32", "wider precision FP32"),
        ("function", "RELU", "function relu"),
        ("grown", "m", "growing m"),
    ],
)
def test_a_kind_in_words(of: str, name: str, expected: str) -> None:
    assert condition(Kinds(of, [name])) == [expected]


def test_numbers_that_failures_lack_are_not_spoken_of() -> None:
    table = np.array([[np.nan, 3.0, 1.0, 2.0], [5.0, 6.0, 1.0, 2.0]])
    failing = np.array([True, True, False, False])
    ends = Ends([Feature(("a",)), Feature(("b",))], table, failing).conjunction(2)
    assert ends is not None
    assert [end.feature.of for end in ends] == [("b",)]


def ends_of(table: list[list[float]], failing: list[bool]) -> list[str]:
    """The ends that tell some cases apart, in words."""
    features = [Feature((name,)) for name in "defg"[: len(table)]]
    found = Ends(features, np.array(table), np.array(failing)).conjunction(len(table))
    assert found is not None
    return [text for end in found for text in condition(end.atom)]


def test_an_end_is_a_finite_number() -> None:
    infinite = [[np.inf, np.inf, 5.0, 6.0], [1.0, 2.0, 3.0, 4.0]]
    assert ends_of(infinite, [True, True, False, False]) == ["e <= 2"]


def test_an_end_that_the_others_make_up_for_is_left_out() -> None:
    table = [
        [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
        [1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0],
        [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0],
    ]
    assert ends_of(table, [True, True, *[False] * 6]) == ["e >= 1", "f >= 1"]


def test_where_nothing_passes_nothing_need_be_said() -> None:
    ends = Ends([Feature(("a",))], np.ones((1, 3)), np.ones(3, dtype=bool))
    assert ends.conjunction(1) == ()

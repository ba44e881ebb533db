"""The laws of huge dimensions, invalid questions and side effects on tiny models."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from joulecheck import check_scale
from joulecheck.case import Case, Cases, InvalidCase, Wrong
from joulecheck.coefficient import Coefficient
from joulecheck.errors import InvalidScale, NotOffered, UnknownName, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.model import Scale, Subject
from joulecheck.property import property_named
from joulecheck.space import Bounds
from joulecheck.testing import Violated, applicable, assert_holds
from joulecheck.workload import Gemm, Subgraph, Totals
from joulecheck_properties.watching import Watch
from joulecheck_strategies import huge_workloads, invalid_questions
from tiny import MAC, Answer, Tiny, TinyInBatches, energy, gemm, holds

HUGE = 10**9
PRICES = {name: Coefficient(name, 1.0, "J/op") for name in ("mac", "dram")}
MISUSES = [wrong for wrong in Wrong if wrong is not Wrong.OTHER_WORKLOAD]


class TestHugeAndTinyDimensions:
    """ROB002."""

    @pytest.mark.parametrize(
        "case", [MAC, Case(gemm(m=HUGE)), Case(gemm(m=HUGE, n=HUGE, k=HUGE, batch=HUGE))]
    )
    def test_holds_for_exact_counts(self, case: Case) -> None:
        assert holds("ROB002", energy, case)

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda case: np.array([case.macs], dtype=np.int64)[0] * 1e-12,
            lambda case: [1e-12] * min(case.macs, 1) + [][case.workload.m >> 17 :][:0],
            lambda case: 1e-12 if case.workload.m < 1 << 17 else float("inf"),
        ],
        ids=["integer of 64 bits", "no number", "end of a table"],
    )
    def test_is_violated_by_what_ends_before(self, wrong: Answer) -> None:
        large = Case(gemm(m=HUGE, n=HUGE, k=HUGE))

        def answer(case: Case) -> Estimate:
            return energy(case) if case == MAC else Estimate(energy=wrong(case))

        assert holds("ROB002", answer, large) is False

    def test_draws_dimensions_of_every_decade(self) -> None:
        space = huge_workloads(Subject.of(Tiny(energy)))
        rows = space.sample(np.random.default_rng(0), 1 << 14)

        for name in ("0.batch", "0.m", "0.k", "0.n", "0.h", "0.w", "0.c", "0.filters"):
            drawn = rows[:, space.column[name]]
            decades = np.unique(np.log10(drawn).astype(int))
            assert set(range(9)) <= set(decades.tolist()), name

    def test_is_not_offered_where_dimensions_are_bounded(self) -> None:
        with pytest.raises(NotOffered, match="bounds the dimensions"):
            assert_holds("ROB002", Tiny(energy, bounds=Bounds(gemm=64)))

    def test_an_endless_sum_of_two_huge_images_stays_exact(self) -> None:
        space = huge_workloads(Subject.of(Tiny(energy)))
        columns = {"0.kind": 2, "0.h": HUGE, "0.w": HUGE, "1.more": 1, "1.n": HUGE}
        genes = {**{g.name: g.low for g in space.genes}, **columns}
        row = np.array([list(genes.values())])

        assert space.batch(row).macs.tolist() == [float(HUGE) ** 3]
        assert space.build(row[0].tolist()).macs == HUGE**3


def strict(case: Case, scale: Scale) -> Estimate:
    """Refuses what the house's own check refuses."""
    check_scale(PRICES, scale)
    if isinstance(case.workload, Totals):
        raise Unsupported
    return energy(case)


def invalid(wrong: Wrong, coefficient: str = "mac") -> InvalidCase:
    return InvalidCase(MAC, wrong, coefficient)


class TestInvalidInputRaisesTypedError:
    """ROB003."""

    @pytest.mark.parametrize("wrong", MISUSES)
    def test_holds_where_the_scale_is_checked(self, wrong: Wrong) -> None:
        assert holds("ROB003", strict, invalid(wrong), coefficients=PRICES)

    @pytest.mark.parametrize("wrong", MISUSES)
    def test_is_violated_where_it_is_not(self, wrong: Wrong) -> None:
        def careless(case: Case, scale: Scale) -> Estimate:
            return Estimate(energy=case.ops * scale.get("mac", 1.0))

        assert holds("ROB003", careless, invalid(wrong), coefficients=PRICES) is False

    @pytest.mark.parametrize(
        ("error", "expected"),
        [
            (UnknownName("no coefficient is called 'mac_'"), True),
            (InvalidScale("mac_ must be a number"), True),
            (UnknownName("no such coefficient"), False),
            (KeyError("mac_"), False),
            (AssertionError("mac_"), False),
            (SystemExit("mac_"), False),
        ],
        ids=repr,
    )
    def test_asks_for_a_typed_error_that_names_it(
        self, error: BaseException, *, expected: bool
    ) -> None:
        def raises(case: Case, scale: Scale) -> Estimate:
            if scale:
                raise error
            return energy(case)

        case = invalid(Wrong.UNKNOWN_COEFFICIENT)

        assert holds("ROB003", raises, case, coefficients=PRICES) is expected

    def test_asks_the_batch_path_too(self) -> None:
        class Careless(TinyInBatches):
            def estimate_batch(self, cases: Cases, scales: object = None) -> Estimate:
                del scales
                return Estimate(energy=cases.ops)

        model = Careless(strict, energy, coefficients=PRICES)
        law = property_named("ROB003")

        assert law.margin_of(Subject.of(model), invalid(Wrong.NAN_FACTOR)) == -1

    def test_says_nothing_of_a_misspelt_name_that_is_one(self) -> None:
        declared = {**PRICES, "mac_": Coefficient("mac_", 1.0, "J/op")}
        case = invalid(Wrong.UNKNOWN_COEFFICIENT)

        assert holds("ROB003", strict, case, coefficients=declared) is None

    def test_asks_about_workloads_that_are_not_declared(self) -> None:
        totals = InvalidCase(Case(Totals(2, 3)), Wrong.OTHER_WORKLOAD)

        def of_tiles(case: Case) -> Estimate:
            return Estimate(energy=float(case.workload.m))

        assert holds("ROB003", strict, totals, operators={"gemm"})
        assert holds("ROB003", energy, totals, operators={"gemm"}), "it may answer"
        assert holds("ROB003", of_tiles, totals, operators={"gemm"}) is False

    def test_draws_every_misuse_and_every_other_workload(self) -> None:
        model = Subject.of(Tiny(strict, coefficients=PRICES, operators={"gemm"}))
        cases = invalid_questions(model).cases
        others = [c.case.workload for c in cases if c.wrong is Wrong.OTHER_WORKLOAD]

        misused = {(c.wrong, c.coefficient) for c in cases if c.coefficient}
        assert misused == {(wrong, name) for wrong in MISUSES for name in PRICES}
        assert [type(w).__name__ for w in others] == [
            "Conv2d",
            "Elementwise",
            "Totals",
            "Subgraph",
        ]
        assert others[-1] == Subgraph.chain(gemm(), gemm())

    def test_is_not_offered_without_a_declaration(self) -> None:
        assert "ROB003" not in applicable(Tiny(energy))
        with pytest.raises(NotOffered, match="neither coefficients nor operators"):
            assert_holds("ROB003", Tiny(energy))

    def test_shrinks_to_the_plainest_misuse(self) -> None:
        def careless(case: Case, scale: Scale) -> Estimate:
            if not all(np.isfinite(f) for f in scale.values()):
                check_scale(PRICES, scale)
            return energy(case)

        with pytest.raises(Violated) as caught:
            assert_holds("ROB003", Tiny(careless, coefficients=PRICES))

        assert caught.value.case == invalid(Wrong.UNKNOWN_COEFFICIENT)


EFFECTS: dict[str, tuple[Callable[[], Any], str]] = {
    "print": (lambda: print("hello"), "standard output"),  # noqa: T201 - watched
    "stderr": (lambda: sys.stderr.write("hello"), "standard error"),
    "environment": (lambda: os.environ.update(JOULE="1"), "environment"),
    "directory": (lambda: os.chdir("/"), "working directory"),
    "path": (lambda: sys.path.append("/nowhere"), "import path"),
    "random": (random.random, "random"),
    "seed": (lambda: random.seed(1), "random"),
    "numpy random": (lambda: np.random.random(), "numpy.random"),  # noqa: NPY002, PLW0108 - watched
    "numpy seed": (lambda: np.random.seed(1), "numpy.random"),  # noqa: NPY002 - watched
    "errors": (lambda: np.seterr(over="raise", divide="raise"), "numpy's errors"),
    "printing": (lambda: np.set_printoptions(precision=3), "numpy's print options"),
    "filters": (lambda: warnings.simplefilter("always"), "filters of warnings"),
    "recursion": (
        lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 7),
        "recursion limit",
    ),
}


def state() -> tuple[Any, ...]:
    """What the effects touch, but for the streams."""
    return (
        dict(os.environ),
        Path.cwd(),
        list(sys.path),
        random.getstate(),
        np.random.get_state()[1].tolist(),  # type: ignore[index,union-attr]  # noqa: NPY002 - a tuple
        np.geterr(),
        np.get_printoptions()["precision"],
        list(warnings.filters),
        sys.getrecursionlimit(),
    )


@pytest.fixture
def unchanged() -> Iterator[None]:
    """Undoes what a test leaves behind."""
    environment, folder, path, limit = (
        dict(os.environ),
        Path.cwd(),
        list(sys.path),
        sys.getrecursionlimit(),
    )
    with np.errstate(), np.printoptions(), warnings.catch_warnings():
        yield
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[:] = path
    sys.setrecursionlimit(limit)


each_effect = pytest.mark.parametrize(
    ("effect", "name"), EFFECTS.values(), ids=list(EFFECTS)
)


class TestWatch:
    """What is touched is noted and put back."""

    @each_effect
    def test_notes_each_effect_and_undoes_it(
        self, effect: Callable[[], Any], name: str
    ) -> None:
        before = state()

        for _ in range(2):  # also where it was there already
            with Watch() as watch:
                effect()

            assert watch.touched == {name}
            assert state() == before

    def test_notes_nothing_where_nothing_is_touched(self) -> None:
        before = state()

        with Watch() as watch:
            Path(__file__).read_text()
            warnings.warn("of the language's own", stacklevel=1)
            Path(os.devnull).write_text("")

        assert watch.touched == set()
        assert state() == before

    @pytest.mark.parametrize(
        "write",
        [
            lambda path: (path / "new").write_text("x"),
            lambda path: (path / "old").open("r+").close(),
            lambda path: (path / "old").open("a").close(),
            lambda path: (path / "old").unlink(),
            lambda path: (path / "old").rename(path / "renamed"),
            lambda path: (path / "folder").mkdir(),
        ],
        ids=["new", "update", "append", "remove", "rename", "folder"],
    )
    def test_notes_files(self, tmp_path: Path, write: Callable[[Path], Any]) -> None:
        (tmp_path / "old").write_text("x")

        with Watch() as watch:
            write(tmp_path)

        assert watch.touched == {"files"}

    def test_ends_also_after_an_error(self) -> None:
        before = state()

        def fails() -> None:
            with Watch():
                np.seterr(all="raise")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fails()

        assert state() == before


class TestNoSideEffects:
    """ROB004."""

    def test_holds_for_a_function(self) -> None:
        assert_holds("ROB004", Tiny(energy), max_examples=20)

    @each_effect
    def test_is_violated_by_each_effect(
        self, effect: Callable[[], Any], name: str, unchanged: None
    ) -> None:
        del unchanged

        def touching(case: Case) -> Estimate:
            effect()
            return energy(case)

        subject = Subject.of(Tiny(touching))  # which asks it a first question
        before = state()

        assert property_named("ROB004").margin_of(subject, MAC) == -1, name
        assert state() == before

    def test_tells_cases_apart(self) -> None:
        def chatty(case: Case) -> Estimate:
            if case.macs > 99:
                sys.stdout.write("large")
            return energy(case)

        assert holds("ROB004", chatty, Case(gemm(m=99)))
        assert holds("ROB004", chatty, Case(gemm(m=100))) is False

    def test_watches_the_batch_path_too(self) -> None:
        def touching(cases: Cases) -> Estimate:
            random.seed(0)
            return Estimate(energy=1e-12 * cases.ops)

        law = property_named("ROB004")

        assert law.margin_of(Subject.of(TinyInBatches(energy, touching)), MAC) == -1

    def test_signs_of_life_name_the_row(self) -> None:
        rows: list[int] = []
        subject = attrs.evolve(Subject.of(Tiny(energy)), heartbeat=rows.append)

        property_named("ROB004").checked_margin(subject, Cases.of([MAC, MAC, MAC]))

        assert rows == [0, 1, 2]

    def test_watches_raising_too(self) -> None:
        def raises(case: Case) -> Estimate:
            if case != MAC:
                sys.stderr.write("oh")
                raise ZeroDivisionError
            return energy(case)

        assert holds("ROB004", raises, Case(Gemm(m=2, n=1, k=1))) is False


def test_a_hook_of_ours_says_nothing_when_no_watch_is_open(tmp_path: Path) -> None:
    script = (
        "from joulecheck_properties.watching import Watch\n"
        "import sys\n"
        "with Watch() as watch: pass\n"
        "open(sys.argv[1], 'w').close()\n"
        "assert not watch.touched"
    )

    subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-c", script, str(tmp_path / "x")], check=True
    )

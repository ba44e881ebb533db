"""The laws of order, threads, processes and copies on tiny models."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from joulecheck import elsewhere
from joulecheck.campaign.search import Unit, search_and_minimise
from joulecheck.case import Case, Cases, CaseSequence
from joulecheck.errors import NotOffered, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.model import Subject
from joulecheck.property import property_named
from joulecheck.resolve import ModelRef, models_named
from joulecheck.testing import applicable, assert_holds, margin_of
from joulecheck.workload import Precision, Totals
from joulecheck_strategies import workloads
from tiny import MAC, Tiny, at, energy, gemm, holds

INT8 = at(Precision.INT8)
WIDE = Case(gemm(n=2))


def asked(*cases: Case) -> CaseSequence:
    return CaseSequence(cases)


class Remembering:
    """A model that keeps its last answer, by what a key takes from a question."""

    name = "remembering"
    precisions = (Precision.FP32, Precision.INT8)

    def __init__(self, key: Any) -> None:  # noqa: ANN401 - any function
        self.key = key
        self.kept: dict[Any, Estimate] = {}

    def estimate(self, case: Case, scale: object = None) -> Estimate:
        del scale
        if self.key(case) not in self.kept:
            self.kept = {self.key(case): Estimate(energy=case.ops * case.precision.bits)}
        return self.kept[self.key(case)]


class TestOrderIrrelevant:
    """DET003."""

    def test_holds_for_a_function(self) -> None:
        assert holds("DET003", energy, asked(MAC, INT8, WIDE))

    @pytest.mark.parametrize("shared", [True, False])
    def test_is_violated_by_a_key_that_leaves_the_precision_out(
        self, *, shared: bool
    ) -> None:
        model = Remembering(lambda c: c.workload if shared else (c.workload, c.precision))
        law = property_named("DET003")
        sequence = asked(MAC, INT8, WIDE)

        assert (law.margin_of(Subject.of(model), sequence) >= 0) is not shared

    def test_is_violated_by_a_setting_that_is_changed_too_late(self) -> None:
        last = [Precision.FP32]

        def late(case: Case) -> Estimate:
            bits = last[0].bits
            last[0] = case.precision
            return Estimate(energy=case.ops * bits)

        assert holds("DET003", late, asked(MAC, INT8)) is False
        assert holds("DET003", late, asked(MAC, WIDE)), "what came before is no matter"
        assert holds("DET003", late, asked(INT8, INT8))

    def test_looks_at_every_question(self) -> None:
        def drifts_at(hit: Case) -> Any:  # noqa: ANN401 - an answer
            count = iter(range(1, 100))
            return lambda c: Estimate(energy=float(next(count)) if c == hit else 1.0)

        for hit in (INT8, WIDE):
            assert holds("DET003", drifts_at(hit), asked(MAC, INT8, WIDE)) is False

    def test_says_nothing_where_every_question_is_refused(self) -> None:
        def refuses(case: Case) -> Estimate:
            if case != MAC:
                raise Unsupported
            return energy(case)

        assert holds("DET003", refuses, asked(INT8, WIDE)) is None

    def test_raising_after_something_else_is_a_difference(self) -> None:
        last = [MAC]

        def raises(case: Case) -> Estimate:
            before, last[0] = last[0], case
            if before == INT8 and case == WIDE:
                raise ZeroDivisionError
            return energy(case)

        assert holds("DET003", raises, asked(INT8, WIDE)) is False

    def test_finds_such_a_key_among_random_sequences(self) -> None:
        model = Subject.of(Remembering(lambda case: case.workload))
        law = property_named("DET003")

        found = search_and_minimise(
            Unit(model.name, law.id, 0, 0, 1 << 16), model, law
        ).counterexample

        assert found is not None
        assert isinstance(found.case, CaseSequence)
        assert len(found.case.cases) == 2


class TestThreadsAgree:
    """DET004."""

    def test_holds_for_a_function(self) -> None:
        assert_holds("DET004", Tiny(energy), max_examples=20)

    def test_is_violated_by_a_buffer_that_all_calls_share(self) -> None:
        buffer = [0.0]

        def shared(case: Case) -> Estimate:
            buffer[0] = 1e-12 * case.ops
            time.sleep(0.002)
            return Estimate(energy=buffer[0])

        assert holds("DET004", shared, asked(MAC, WIDE)) is False

    def test_holds_where_a_lock_guards_the_buffer(self) -> None:
        buffer, lock = [0.0], threading.Lock()

        def guarded(case: Case) -> Estimate:
            with lock:
                buffer[0] = 1e-12 * case.ops
                time.sleep(0.001)
                return Estimate(energy=buffer[0])

        assert holds("DET004", guarded, asked(MAC, WIDE))

    def test_is_violated_by_a_setting_of_one_thread(self) -> None:
        own = threading.local()
        own.price = 1e-12

        def priced(case: Case) -> Estimate:
            return Estimate(energy=own.price * case.ops)

        assert holds("DET004", priced, asked(MAC)) is False

    def test_says_nothing_where_the_question_is_refused(self) -> None:
        def refuses(case: Case) -> Estimate:
            if case != MAC:
                raise Unsupported
            return energy(case)

        assert holds("DET004", refuses, asked(WIDE)) is None


FOREIGN = """
import os
import time

from joulecheck import Estimate, Precision

ELSEWHERE = os.environ.get("HERE") != str(os.getpid())


class Plain:
    name = "plain"
    precisions = (Precision.FP32,)

    def estimate(self, case, scale={}):
        print("a model may print")
        return Estimate(energy=self.price() * case.ops, latency_terms={"all": 1.0})

    def price(self):
        return 1e-12


class Hashing(Plain):
    def price(self):
        return 1 + hash("price") % 1_000_003


class Dying(Plain):
    def price(self):
        if ELSEWHERE:
            os._exit(3)
        return 1e-12


class Slow(Plain):
    def price(self):
        if ELSEWHERE:
            time.sleep(60)
        return 1e-12


class Unbuildable(Plain):
    def __init__(self):
        if ELSEWHERE:
            raise RuntimeError("not here")
"""


@pytest.fixture
def foreign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Subject]]:
    """Finds the models of a module in the working directory, as the command line does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HERE", str(os.getpid()))
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "foreign.py").write_text(FOREIGN)
    elsewhere.close()
    yield lambda name: models_named(f"foreign:{name}")[0]
    elsewhere.close()
    sys.modules.pop("foreign", None)


class TestProcessesAgree:
    """DET005."""

    LAW = property_named("DET005")

    def test_holds_for_a_function(self, foreign: Callable[[str], Subject]) -> None:
        assert_holds("DET005", foreign("Plain"), max_examples=20)

    def test_is_violated_by_the_hash_of_a_text(
        self, foreign: Callable[[str], Subject]
    ) -> None:
        assert self.LAW.margin_of(foreign("Hashing"), MAC) < 0

    @pytest.mark.parametrize("name", ["Dying", "Unbuildable"])
    def test_is_violated_where_no_other_process_answers(
        self, foreign: Callable[[str], Subject], name: str
    ) -> None:
        assert self.LAW.margin_of(foreign(name), MAC) == -1
        assert self.LAW.margin_of(foreign("Plain"), MAC) > 0, "it starts another one"

    def test_says_nothing_of_an_answer_that_is_late(
        self, foreign: Callable[[str], Subject], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert self.LAW.margin_of(foreign("Plain"), MAC) > 0
        monkeypatch.setattr(elsewhere, "PATIENCE", 0.2)

        assert math.isnan(self.LAW.margin_of(foreign("Slow"), MAC))

    def test_is_not_offered_for_an_object_of_this_process(self) -> None:
        assert "DET005" not in applicable(Tiny(energy))
        with pytest.raises(NotOffered, match="no other process finds it"):
            assert_holds("DET005", Tiny(energy))

    def test_asks_for_the_planted_fault(self) -> None:
        sound, faulty = (
            ModelRef("reference:Google-TPU-v1", fault).load()
            for fault in (None, "dear-int8")
        )
        case = Cases.of([Case(gemm(), Precision.INT8)])

        answers = [elsewhere.ask_elsewhere(model, case).energy for model in (sound, faulty)]

        assert answers[1] == pytest.approx(8 * answers[0])


class TestElsewhere:
    """The other process."""

    def test_follows_to_where_modules_are_found(
        self, foreign: Callable[[str], Subject], tmp_path: Path
    ) -> None:
        law, sound = property_named("DET005"), ModelRef("reference:Google-TPU-v1").load()
        os.chdir(tmp_path.parent)
        assert law.margin_of(sound, INT8) > 0
        os.chdir(tmp_path)

        assert law.margin_of(foreign("Plain"), MAC) > 0

    def test_gives_the_same_answers_in_full(self) -> None:
        model = ModelRef("reference:H100-SXM5-80GB").load()
        space = workloads(model)
        cases = space.batch(space.sample(np.random.default_rng(0), 16))

        here, there = model.one_by_one.ask(cases), elsewhere.ask_elsewhere(model, cases)

        for field in ("energy", "latency", "utilisation"):
            np.testing.assert_array_equal(getattr(here, field), getattr(there, field))
        for field in ("energy_terms", "latency_terms", "through"):
            found = {k: v.tolist() for k, v in getattr(there, field).items()}
            assert found == {k: v.tolist() for k, v in getattr(here, field).items()}

    def test_tells_what_is_refused_and_what_is_raised(self) -> None:
        model = ModelRef("reference:Google-TPU-v1").load()

        answers = elsewhere.ask_elsewhere(model, Cases.of([MAC, Case(Totals(1, 1))]))

        assert answers.unsupported.tolist() == [True, True]
        faulty = ModelRef("reference:Intel-i7-12700K", "division-by-zero").load()
        answers = elsewhere.ask_elsewhere(faulty, Cases.of([MAC, Case(gemm(k=7))]))
        assert answers.errors == {1: "ZeroDivisionError: division by zero"}


class TestCopiesAgree:
    """DET006."""

    def test_holds_for_a_model_that_copies(self) -> None:
        assert holds("DET006", energy)

    class Forgetful:
        """A model whose copy lacks what was found out after it was built."""

        name = "forgetful"
        precisions = (Precision.FP32,)

        def __init__(self) -> None:
            self.price = 1.0

        def estimate(self, case: Case, scale: object = None) -> Estimate:
            del scale
            return Estimate(energy=self.price * case.ops)

        def __getstate__(self) -> dict[str, float]:
            return {"price": 2.0}

    def test_is_violated_by_state_that_is_left_behind(self) -> None:
        assert margin_of("DET006", self.Forgetful(), MAC) < 0

    class Locked:
        """A model that holds a lock: it can be neither copied nor pickled."""

        name = "locked"
        precisions = (Precision.FP32,)

        def __init__(self) -> None:
            self.lock = threading.Lock()

        def estimate(self, case: Case, scale: object = None) -> Estimate:
            del scale
            return energy(case)

    def test_is_not_offered_where_neither_way_is_supported(self) -> None:
        with pytest.raises(NotOffered, match="neither copied nor pickled"):
            assert_holds("DET006", self.Locked())

    class Copied(Locked):
        """A model that says how it is copied, and not how it is pickled."""

        def __deepcopy__(self, memo: object) -> TestCopiesAgree.Copied:
            del memo
            return TestCopiesAgree.Copied()

    def test_one_way_is_enough(self) -> None:
        assert margin_of("DET006", self.Copied(), MAC) > 0

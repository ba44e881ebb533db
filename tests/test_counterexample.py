"""Counterexamples as JSON: strict, numbered, and finite."""

from __future__ import annotations

import json
import math

import pytest

from corpus_examples import counterexample
from joulecheck import Case, Estimate, Gemm
from joulecheck.counterexample import from_json, numbers_of, to_json
from joulecheck.errors import CorpusError
from joulecheck.model import Subject


class Infinite:
    name = "infinite"

    def estimate(self, case, scale={}):  # noqa: ANN001, ANN201, ARG002, B006 - as a user writes it
        return Estimate(energy=math.inf, energy_terms={"alu": math.nan, "dram": 1.0})


class TestNumbers:
    def test_what_is_not_finite_is_said_and_left_out(self) -> None:
        (numbers,) = numbers_of(Subject.of(Infinite()), Case(Gemm(m=1, n=1, k=1)))

        assert numbers.energy is None
        assert numbers.energy_terms == {"alu": None, "dram": 1.0}
        assert numbers.error == "energy is inf; energy_terms['alu'] is nan"


class TestJson:
    def test_it_comes_back_equal(self) -> None:
        found = counterexample()

        assert from_json(to_json(found)) == found

    def test_it_is_strict_json(self) -> None:
        def refuse(constant: str) -> None:
            raise AssertionError(constant)

        json.loads(to_json(counterexample()), parse_constant=refuse)

    def test_another_format_is_refused(self) -> None:
        data = json.loads(to_json(counterexample())) | {"format": 99}

        with pytest.raises(CorpusError, match="format must be 1, got 99"):
            from_json(json.dumps(data), "F-1.json")

    @pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1}', "null"])
    def test_damage_is_an_error_that_names_the_file(self, text: str) -> None:
        with pytest.raises(CorpusError, match=r"F-1\.json"):
            from_json(text, "F-1.json")

    def test_the_id_depends_on_model_property_and_case_alone(self) -> None:
        one, other = counterexample(m=3), counterexample(m=4)

        assert one.id == counterexample(m=3).id
        assert one.id != other.id

"""The check of scales that models may call."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from joulecheck import Coefficient, InvalidScale, check_scale
from joulecheck.errors import UnknownName

DECLARED = {name: Coefficient(name, 1.0, "J/B") for name in ("dram", "sram")}


class TestCheckScale:
    """What a scale may be."""

    @pytest.mark.parametrize(
        "scale",
        [
            {},
            {"dram": 1},
            {"dram": 0.0, "sram": 1e300},
            {"dram": np.array([1.0, 0.0])},
            {"dram": np.float32(1.1)},
        ],
        ids=str,
    )
    def test_takes_factors_of_coefficients(self, scale: dict[str, Any]) -> None:
        check_scale(DECLARED, scale)

    def test_refuses_an_unknown_name_and_suggests_a_near_one(self) -> None:
        with pytest.raises(UnknownName, match="'dran': did you mean dram"):
            check_scale(DECLARED, {"sram": 1.0, "dran": 1.0})

    @pytest.mark.parametrize(
        "factor",
        [
            -1.0,
            -1e-300,
            math.nan,
            math.inf,
            "much",
            None,
            [1.0, -1.0],
            np.array([math.nan]),
        ],
        ids=repr,
    )
    def test_refuses_what_is_no_factor_and_names_it(self, factor: Any) -> None:  # noqa: ANN401 - anything
        with pytest.raises(InvalidScale, match="'sram' must be a finite number >= 0"):
            check_scale(DECLARED, {"dram": 1.0, "sram": factor})

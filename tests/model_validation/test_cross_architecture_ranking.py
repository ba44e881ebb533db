"""The classes rank as the laws of ranking say, and every class has its module."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pytest
from consistency import architectures, hold

from joulecheck.model import Offer, Subject
from joulecheck.property import Property, installed
from joulecheck.resolve import models_named
from joulecheck.testing import applicable
from joulecheck.workload import Conv2d, Gemm, Subgraph, Workload

HERE: Final = Path(__file__).parent
MODELS: Final = [*models_named("reference:*"), *models_named("archetype:*")]
RANKING: Final = [law for law in installed().values() if law.family == "RNK"]
RANKED: Final = [
    pytest.param(law, model, id=f"{law.id}-{model.name}")
    for model in MODELS
    for law in RANKING
    if law.id in applicable(model)
]


@pytest.mark.parametrize(("law", "model"), RANKED)
def test_ranking_holds(law: Property, model: Subject) -> None:
    hold(law, model)


@pytest.mark.parametrize("law", RANKING, ids=lambda law: law.id)
def test_every_law_of_ranking_is_asked(law: Property) -> None:
    assert any(param.values[0] is law for param in RANKED)


def workloads(law: Property, model: Subject) -> list[Workload]:
    space = law.space(model)
    rows = space.sample(np.random.default_rng(0), 64)
    return [space.build(row).case.workload for row in rows.tolist()]


def test_ranking_is_about_three_kinds_of_work_energy_and_latency() -> None:
    asked = [param.values for param in RANKED]
    kinds = {type(w) for law, model in asked for w in workloads(law, model)}
    needed = frozenset().union(*(law.needs for law in RANKING))

    assert kinds == {Gemm, Conv2d, Subgraph}
    assert {Offer.ENERGY, Offer.LATENCY} <= needed


def test_every_class_of_the_catalogue_has_a_module() -> None:
    modules = {file.stem.upper() for file in HERE.glob("test_*_consistency.py")}

    assert modules == {f"TEST_{name}_CONSISTENCY" for name in architectures()}

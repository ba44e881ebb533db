"""From a name to a model."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from joulecheck.errors import InvalidModel, NotOffered, UnknownName
from joulecheck.model import Subject
from joulecheck.reference import MACHINES
from joulecheck.resolve import ModelRef, models_named, stored_model
from tiny import Tiny, energy

Write = Callable[..., None]

SOURCE = """
from joulecheck import Estimate

class Npu:
    name = "npu"
    def estimate(self, case, scale={}):
        return Estimate(energy=1.0 * case.ops)

class Picky(Npu):
    def __init__(self, banks):
        self.banks = banks

one = Npu()
FAMILY = {"small": Npu, "large": lambda: Npu()}
number = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a module into an empty working directory, and forgets it afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p != str(tmp_path)])
    before = set(sys.modules)

    def write(name: str, source: str = SOURCE) -> None:
        file = tmp_path / f"{name.replace('.', '/')}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(source)

    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


def names(pattern: str) -> list[str]:
    return [model.name for model in models_named(pattern)]


class TestFamilies:
    """Names of registered families."""

    def test_an_exact_name_is_one_model(self) -> None:
        assert names("reference:Google-TPU-v1") == ["reference:Google-TPU-v1"]

    def test_a_pattern_is_all_that_match(self) -> None:
        assert names("reference:*TPU*") == [
            f"reference:{machine}" for machine in MACHINES if "TPU" in machine
        ]

    @pytest.mark.parametrize("pattern", ["reference:*", "reference:", "reference"])
    def test_a_family_is_all_its_models(self, pattern: str) -> None:
        assert names(pattern) == [f"reference:{machine}" for machine in MACHINES]

    def test_a_near_miss_gets_a_suggestion(self) -> None:
        with pytest.raises(UnknownName, match="did you mean Google-TPU-v1"):
            models_named("reference:Google-TPU-v11")

    def test_an_operating_point_is_a_model_that_no_pattern_without_it_lists(self) -> None:
        point = "reference:Jetson-Orin-AGX-CPU@30W"

        assert names(point) == [point]
        assert point not in names("reference:*")
        assert ModelRef(point).load() is stored_model(point)
        assert ModelRef(point).load().machine.units == 8

    def test_a_pattern_with_a_point_is_every_machine_that_has_it(self) -> None:
        found = names("reference:*CPU@*")

        assert found == [
            f"reference:Jetson-Orin-AGX-CPU@{p}" for p in ("50W", "30W", "15W")
        ]
        assert set(found) & {*names("reference:*@30W")} == {found[1]}

    @pytest.mark.parametrize("load", [models_named, stored_model])
    def test_an_unknown_point_names_those_that_exist(
        self, load: Callable[[str], object]
    ) -> None:
        with pytest.raises(UnknownName, match="no operating point '31W': it has 50W, 30W"):
            load("reference:Jetson-Orin-AGX-CPU@31W")
        with pytest.raises(UnknownName, match="'31W': its file states one point only"):
            load("reference:Google-TPU-v1@31W")
        with pytest.raises(UnknownName, match="did you mean Jetson-Orin-AGX-CPU"):
            load("reference:Jetson-Orin-AGX-CP@30W")

    def test_a_point_that_no_machine_has_gets_a_suggestion(self) -> None:
        with pytest.raises(UnknownName, match=r"no model of reference matches '\*@31W'"):
            models_named("reference:*@31W")

    def test_patterns_tell_upper_from_lower_case(self) -> None:
        with pytest.raises(UnknownName, match=r"no model of reference matches '\*tpu\*'"):
            models_named("reference:*tpu*")

    def test_a_family_wins_over_a_module_of_its_name(self, module: Write) -> None:
        module("reference")

        assert len(names("reference:*")) == len(MACHINES)
        assert "reference" not in sys.modules

    def test_a_family_without_a_colon_gets_a_suggestion(self) -> None:
        with pytest.raises(UnknownName, match=r"FAMILY:PATTERN \(did you mean reference"):
            models_named("referense")


class TestOwnModels:
    """Classes, instances and mappings in a module of the user's."""

    def test_a_class_is_built(self, module: Write) -> None:
        module("mine")

        (model,) = models_named("mine:Npu")

        assert model.name == "mine:Npu"
        assert model.model.name == "npu"

    def test_an_instance_is_taken(self, module: Write) -> None:
        module("mine")

        assert names("mine:one") == ["mine:one"]

    def test_a_mapping_is_a_family(self, module: Write) -> None:
        module("mine")

        assert names("mine:FAMILY") == ["mine:FAMILY:small", "mine:FAMILY:large"]

    def test_one_of_a_mapping_is_one(self, module: Write) -> None:
        module("mine")

        assert names("mine:FAMILY:large") == ["mine:FAMILY:large"]

    def test_a_module_may_lie_in_a_package(self, module: Write) -> None:
        module("package.mine")

        assert names("package.mine:Npu") == ["package.mine:Npu"]

    @pytest.mark.parametrize(
        ("pattern", "told"),
        [
            ("mine:Nqu", r"module mine \(.*mine.py\) has no 'Nqu': did you mean Npu"),
            ("mine:", r"mine.py\) has no ''"),
            ("mine:FAMILY:lage", "mine:FAMILY has no 'lage': did you mean large"),
            ("mines:Npu", "no family and no module is called 'mines': looked in /"),
            ("refrence:x", "families: did you mean reference"),
        ],
    )
    def test_an_unknown_name_is_told(self, module: Write, pattern: str, told: str) -> None:
        module("mine")

        with pytest.raises(UnknownName, match=told):
            models_named(pattern)

    @pytest.mark.parametrize(
        ("pattern", "told"),
        [
            ("mine:number", "3 is no model: it must have `name` and `estimate"),
            ("mine:Picky", r"Picky\(\) cannot be built without arguments: TypeError"),
            ("broken:Npu", "importing broken failed: ZeroDivisionError: division by zero"),
            ("syntax:Npu", "importing syntax failed: SyntaxError"),
            ("needy:Npu", "importing needy failed: No module named 'a_missing_package'"),
            ("leaving:Npu", "importing leaving failed: SystemExit: 3"),
        ],
    )
    def test_what_is_no_model_is_told(self, module: Write, pattern: str, told: str) -> None:
        module("mine")
        module("broken", "1 / 0")
        module("syntax", "def (")
        module("needy", "import a_missing_package")
        module("leaving", "raise SystemExit(3)")

        with pytest.raises(InvalidModel, match=told):
            models_named(pattern)

    @pytest.mark.parametrize("pattern", ["", ":", ":Npu", ".mine:Npu", "mine..x:Npu"])
    def test_nonsense_is_told(self, module: Write, pattern: str) -> None:
        module("mine")

        with pytest.raises((UnknownName, InvalidModel)):
            models_named(pattern)


class TestStoredModel:
    """Names that come from data."""

    def test_is_of_a_registered_family(self) -> None:
        model = stored_model("reference:Google-TPU-v1")

        assert model is stored_model("reference:Google-TPU-v1")

    def test_is_one_that_the_user_named(self) -> None:
        own = Subject.of(Tiny(energy), name="mine:Npu")

        assert stored_model("mine:Npu", [own]) is own

    def test_is_never_imported(self, module: Write) -> None:
        module("trap", "open('sprung', 'w').close()")

        with pytest.raises(UnknownName, match="no family of models is called 'trap'"):
            stored_model("trap:Npu")

        assert not Path("sprung").exists()
        assert "trap" not in sys.modules

    def test_is_no_pattern(self) -> None:
        with pytest.raises(UnknownName, match="reference has no model 'Google"):
            stored_model("reference:Google*")

    def test_a_near_miss_gets_a_suggestion(self) -> None:
        own = Subject.of(Tiny(energy), name="mine:Npu")

        with pytest.raises(UnknownName, match="did you mean mine:Npu"):
            stored_model("mine:Nqu", [own])


class TestModelRef:
    """How a process gets at a model."""

    def test_loads_a_model_of_a_family(self) -> None:
        assert ModelRef("reference:Google-TPU-v1").load().name == "reference:Google-TPU-v1"

    def test_loads_a_model_of_the_users(self, module: Write) -> None:
        module("loaded")

        assert ModelRef("loaded:Npu").load().name == "loaded:Npu"

    def test_builds_it_once(self) -> None:
        first = ModelRef("reference:Google-TPU-v1", "dear-int8").load()

        assert ModelRef("reference:Google-TPU-v1", "dear-int8").load() is first

    def test_survives_a_pickle(self) -> None:
        ref = ModelRef("reference:Google-TPU-v1", "dear-int8")

        assert pickle.loads(pickle.dumps(ref)) == ref  # noqa: S301 - its own

    def test_injects_nothing_in_a_model_of_the_users(self, module: Write) -> None:
        module("injected")

        with pytest.raises(NotOffered, match="injected:Npu is no reference model"):
            ModelRef("injected:Npu", "dear-int8").load()

    def test_knows_no_other_fault(self) -> None:
        with pytest.raises(UnknownName, match="no fault is called 'dear'"):
            ModelRef("reference:Google-TPU-v1", "dear").load()

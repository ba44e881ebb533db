"""Who may import whom: the arrows of ARCHITECTURE.md, held over every import."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = {
    "joulecheck": ROOT / "src" / "joulecheck",
    "joulecheck_strategies": ROOT / "strategies" / "joulecheck_strategies",
    "joulecheck_properties": ROOT / "properties" / "joulecheck_properties",
}

GROUND = {
    "errors",
    "files",
    "quantities",
    "workload",
    "coefficient",
    "composition",
    "machine",
    "knob",
    "estimate",
    "structured",
    "case",
    "space",
    "region",
}
"""What every part may know; among themselves in the order of `ORDER`."""

ORDER = (
    "quantities",
    "workload",
    "case",
    "space",
    "region",
    "model",
    "property",
    "campaign",
    "cli",
)
"""From the ground up: none imports one to its right."""

MAY_IMPORT = {
    "reference": {*GROUND, "model", "reference"},
    "adapters": {*GROUND, "model", "adapters"},
    "faults": {*GROUND, "model", "reference", "faults"},
    "resolve": {*GROUND, "model", "faults"},
    "processes": set(),
    "elsewhere": {*GROUND, "model", "counterexample", "resolve", "processes"},
    "counterexample": {*GROUND, "model"},
    "property": {*GROUND, "model"},
    "corpus": {*GROUND, "model", "property", "counterexample", "corpus"},
    "campaign": {
        *GROUND,
        "model",
        "property",
        "counterexample",
        "processes",
        "resolve",
        "campaign",
    },
    "reports": {
        *GROUND,
        "model",
        "property",
        "counterexample",
        "corpus",
        "campaign.events",
        "scoring",
        "validation",
        "reports",
    },
    "scoring": {
        *GROUND,
        "model",
        "reference",
        "faults",
        "resolve",
        "property",
        "counterexample",
        "campaign",
        "testing",
        "scoring",
    },
    "validation": {
        *GROUND,
        "model",
        "reference",
        "faults",
        "elsewhere",
        "resolve",
        "property",
        "counterexample",
        "campaign",
        "validation",
    },
    "testing": {
        *GROUND,
        "model",
        "property",
        "counterexample",
        "corpus",
        "reports",
        "resolve",
    },
    "pytest_plugin": {
        *GROUND,
        "model",
        "property",
        "corpus",
        "resolve",
        "testing",
    },
}
"""By part of `joulecheck`: what it may import of the others."""

OPTIONAL = {"nn_dataflow", "sympy"}
"""Packages that only an adapter may import, and only the one that is named by them."""

HEAVY = {
    "click",
    "hypothesis",
    "pebble",
    "pytest",
    "rich",
    "sqlalchemy",
    "joulecheck_properties",
}
"""What `import joulecheck` must not load."""


def imports(file: Path) -> Iterator[str]:
    """The full name of every module that a file imports, wherever it does."""
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom():
                assert node.level == 0, f"{file} imports relatively"
                assert node.module is not None
                yield node.module


def modules(package: str) -> dict[str, set[str]]:
    """By name of a module of the package: the names of the modules it imports."""
    root = SOURCES[package]
    return {
        ".".join((package, *file.relative_to(root).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): set(imports(file))
        for file in root.rglob("*.py")
    }


HARNESS = modules("joulecheck")


def part(module: str) -> str:
    """The part of `joulecheck` that a module belongs to; empty for the facade."""
    return module.split(".")[1] if "." in module else ""


def inner(imported: set[str]) -> set[str]:
    """The imports within `joulecheck`, without the prefix."""
    return {n.removeprefix("joulecheck.") for n in imported if n.startswith("joulecheck.")}


class TestRoots:
    """The three import roots."""

    def test_the_harness_imports_neither_strategies_nor_properties(self) -> None:
        others = {"joulecheck_strategies", "joulecheck_properties"}

        assert not [
            (module, name)
            for module, imported in HARNESS.items()
            for name in imported
            if name.split(".")[0] in others
        ]

    def test_strategies_import_no_properties(self) -> None:
        roots = {
            name.split(".")[0]
            for imported in modules("joulecheck_strategies").values()
            for name in imported
        }

        assert "joulecheck_properties" not in roots

    def test_strategies_know_no_more_than_spaces_and_models(self) -> None:
        known = {
            name.split(".")[0]
            for imported in modules("joulecheck_strategies").values()
            for name in inner(imported)
        }

        assert known <= GROUND | {"model"}

    def test_properties_know_no_more_than_what_a_law_needs(self) -> None:
        known = {
            name.split(".")[0]
            for imported in modules("joulecheck_properties").values()
            for name in inner(imported)
        }

        assert known <= GROUND | {"elsewhere", "model", "property", "reference"}


class TestParts:
    """The parts of the harness."""

    def test_every_part_has_its_rule(self) -> None:
        parts = {part(module) for module in HARNESS} - {"", "__main__", "cli"}

        assert parts <= {*MAY_IMPORT, *GROUND, "model"}

    @pytest.mark.parametrize("name", MAY_IMPORT)
    def test_each_imports_what_it_may(self, name: str) -> None:
        allowed = MAY_IMPORT[name]

        assert not [
            (module, known)
            for module, imported in HARNESS.items()
            if part(module) == name
            for known in inner(imported)
            if known not in allowed and known.split(".")[0] not in allowed
        ]

    @pytest.mark.parametrize("name", [*GROUND, "model"])
    def test_the_ground_knows_only_the_ground(self, name: str) -> None:
        known = {
            used.split(".")[0]
            for module, imported in HARNESS.items()
            if part(module) == name
            for used in inner(imported)
        }

        assert known <= GROUND | {name}

    def test_the_layers_point_downwards(self) -> None:
        assert not [
            (module, known)
            for module, imported in HARNESS.items()
            for known in {used.split(".")[0] for used in inner(imported)}
            if part(module) in ORDER
            and known in ORDER
            and ORDER.index(known) > ORDER.index(part(module))
        ]

    def test_only_the_command_line_knows_all(self) -> None:
        assert not [
            module
            for module, imported in HARNESS.items()
            if part(module) not in {"cli", "__main__"}
            for used in inner(imported)
            if used.split(".")[0] == "cli"
        ]


class TestPackages:
    """Packages of others."""

    def test_optional_ones_are_imported_by_their_adapter_alone(self) -> None:
        for module, imported in HARNESS.items():
            used = {name.split(".")[0] for name in imported} & OPTIONAL
            if used:
                assert part(module) == "adapters", (module, used)

    @pytest.mark.parametrize(
        "statement",
        ["import joulecheck", "import joulecheck.property", "import joulecheck.model"],
    )
    def test_heavy_ones_are_not_loaded_with_the_facade(self, statement: str) -> None:
        script = f"{statement}; import sys; print(*sys.modules)"

        done = subprocess.run(  # noqa: S603 - this interpreter
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )

        loaded = {name.split(".")[0] for name in done.stdout.split()}
        assert not loaded & (HEAVY | OPTIONAL)

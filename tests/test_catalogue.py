"""The whole catalogue: each property has its form, its documentation and its proof."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import joulecheck_properties
from joulecheck.campaign.search import Unit, checks_in, search_and_minimise
from joulecheck.counterexample import Minimality
from joulecheck.faults import FAULTS
from joulecheck.model import Subject
from joulecheck.property import FAMILIES, HEADINGS, STAYS, Property, installed
from joulecheck.resolve import ModelRef

SEEDS = (1,)
CASES = 20_000
CASES_OF_A_SEARCH = 1 << 14

FOLDERS = {
    "BND": "bounds",
    "CMP": "composition",
    "CON": "continuity",
    "DET": "determinism",
    "MEA": "measurement",
    "MON": "monotonicity",
    "ORD": "order",
    "PRC": "precision",
    "RNK": "ranking",
    "ROB": "robustness",
    "SCL": "scaling",
    "SEN": "sensitivity",
    "SYM": "symmetry",
}

each_law = pytest.mark.parametrize("law", installed().values(), ids=lambda law: law.id)
each_drawn_law = pytest.mark.parametrize(
    "law", joulecheck_properties.CATALOGUE, ids=lambda law: law.id
)


def file_of(law: Property) -> Path:
    return Path(inspect.getfile(type(law)))


def faulty(law: Property) -> Subject:
    return ModelRef(law.planted.model, law.planted.fault).load()


def sound(law: Property) -> Subject:
    return ModelRef(law.planted.model).load()


class TestCatalogue:
    """The properties together."""

    def test_is_what_the_entry_point_offers(self) -> None:
        drawn = [law for law in installed().values() if law.drawn]

        assert drawn == list(joulecheck_properties.CATALOGUE)

    def test_recorded_laws_are_offered_beside_it(self) -> None:
        recorded = [law for law in installed().values() if not law.drawn]

        assert recorded == list(joulecheck_properties.RECORDED)

    def test_is_in_the_order_of_the_ids(self) -> None:
        ids = [law.id for law in joulecheck_properties.CATALOGUE]

        assert ids == sorted(set(ids))

    def test_names_each_law_differently(self) -> None:
        names = [law.name for law in installed().values()]

        assert len(names) == len(set(names))

    def test_has_one_law_a_file(self) -> None:
        root = Path(inspect.getfile(joulecheck_properties)).parent
        files = {f for f in root.glob("*/*.py") if f.name != "__init__.py"}

        assert {file_of(law) for law in installed().values()} == files
        assert len(files) == len(installed())


@each_law
class TestForm:
    """One property."""

    def test_has_an_id_of_a_known_family(self, law: Property) -> None:
        assert re.fullmatch(r"[A-Z]{3}\d{3}", law.id)
        assert law.family in FAMILIES

    def test_lies_in_the_folder_of_its_family(self, law: Property) -> None:
        assert file_of(law).parent.name == FOLDERS[law.family]
        assert (inspect.getmodule(type(law)).__doc__ or "").startswith(f"{law.id}.")

    def test_is_named_by_what_holds(self, law: Property) -> None:
        words = re.findall(r"[A-Z][a-z]*\d*", type(law).__name__)

        assert law.name == "-".join(words).lower()
        assert file_of(law).stem == law.name.replace("-", "_")

    def test_documents_every_heading_in_order(self, law: Property) -> None:
        written = list(law.documentation)

        assert written in (["Title", *HEADINGS], ["Title", *HEADINGS, STAYS])
        assert all(text.strip() for text in law.documentation.values())
        assert law.documentation["Title"].endswith(".")
        assert "\n" not in law.documentation["Title"]

    def test_documents_its_planted_bug(self, law: Property) -> None:
        assert law.documentation["Planted bug"].startswith(f"{law.planted.fault}: ")

    def test_documents_its_tolerance(self, law: Property) -> None:
        tolerance = law.documentation["Tolerance"]
        states = re.search(r"\d(e-\d+|(\.\d+)? %)", tolerance)

        assert states or tolerance.startswith("None:")

    def test_applies_to_a_sound_model(self, law: Property) -> None:
        model = sound(law)

        assert not law.missing(model)
        assert law.id not in model.exemptions


@each_drawn_law
class TestProof:
    """The property can fail, and fails where it should alone."""

    def test_plants_a_known_fault(self, law: Property) -> None:
        assert law.planted.fault in FAULTS

    def test_catches_the_planted_bug_in_its_case(self, law: Property) -> None:
        case = law.planted.shrinks_to

        assert law.margin_of(faulty(law), case) < 0
        assert law.margin_of(sound(law), case) >= 0

    @pytest.mark.parametrize("seed", SEEDS)
    def test_shrinks_the_planted_bug_to_its_case(self, law: Property, seed: int) -> None:
        model = faulty(law)
        unit = Unit(model.name, law.id, seed, 0, CASES_OF_A_SEARCH)

        found = search_and_minimise(unit, model, law).counterexample

        assert found is not None
        assert found.case == law.planted.shrinks_to
        assert found.margin < 0
        assert found.minimality is Minimality.PROVEN

    def test_says_nothing_of_no_cases(self, law: Property) -> None:
        model = sound(law)
        space = law.space(model)
        rows = space.sample(np.random.default_rng(0), 1)[:0]

        assert law.checked_margin(model, space.batch(rows)).shape == (0,)

    def test_holds_for_the_sound_model(self, law: Property) -> None:
        model = sound(law)
        space = law.space(model)
        random = np.random.default_rng(0)

        rows = space.sample(random, checks_in(CASES, law))
        margins = law.checked_margin(model, space.batch(rows))

        assert np.nanmin(margins) >= 0
        assert np.mean(~np.isnan(margins)) > 0.5

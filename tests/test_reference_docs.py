import re
from pathlib import Path

import pytest

from joulecheck.coefficient import Layer
from joulecheck.reference import MACHINES, load_model
from joulecheck.reference.layered import LayeredModel

FOLDER = Path(__file__).parents[1] / "docs" / "reference"

MODELS = {model.data.architecture: model for model in map(load_model, MACHINES)}

each_class = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def page(model: LayeredModel) -> str:
    return (FOLDER / f"{model.data.architecture.lower()}.md").read_text(encoding="utf-8")


@each_class
def test_a_page_gives_each_term_its_layer(model: LayeredModel) -> None:
    names = "|".join(layer.name for layer in Layer)
    rows = re.findall(rf"^\| (\w+) \| ({names}) \|", page(model), flags=re.MULTILINE)
    assert {term: Layer[layer] for term, layer in rows} == model.term_layers


@each_class
def test_a_page_prices_each_term_with_its_coefficients(model: LayeredModel) -> None:
    for name, (term,) in ((name, terms) for name, terms in model.moves.items()):
        (row,) = re.findall(rf"^\| {term} \|.*$", page(model), flags=re.MULTILINE)
        assert f"`{name}`" in row


@pytest.mark.parametrize("machine", MACHINES)
def test_a_machine_stands_on_the_page_of_its_class(machine: str) -> None:
    words = re.split(r"[\s,()]+", page(load_model(machine)))
    assert machine in [word.strip(".:;") for word in words]


@each_class
def test_a_page_shows_its_picture_and_the_index_leads_to_it(model: LayeredModel) -> None:
    stem = model.data.architecture.lower()
    assert f"]({stem}.svg)" in page(model)
    assert "<svg" in (FOLDER / f"{stem}.svg").read_text(encoding="utf-8")
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert f"]({stem}.md)" in index


@pytest.mark.parametrize("text", [path.name for path in FOLDER.glob("*.md")])
def test_links_between_the_pages_lead_somewhere(text: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", (FOLDER / text).read_text("utf-8")):
        assert (FOLDER / target).exists()

import re
from pathlib import Path

import pytest

from joulecheck.case import Case
from joulecheck.coefficient import Layer
from joulecheck.quantities import GB_per_s, pJ, us
from joulecheck.reference import MACHINES, load_model
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.machine_file import load_machine
from joulecheck.workload import Gemm, Precision

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


def rows_of(text: str, columns: int) -> list[list[str]]:
    """The cells of the rows of tables with so many columns."""
    lines = (line for line in text.splitlines() if line.startswith("| "))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in rows if len(row) == columns]


def test_the_page_of_clusters_gives_the_figures_of_all_links() -> None:
    text = (FOLDER / "cluster.md").read_text(encoding="utf-8")
    _, *rows = rows_of(text, 7)
    figures = {name: (*found, chips) for name, _, *found, chips in rows}
    links = {name: load_machine(name).link for name in MACHINES}

    assert figures == {
        name: (
            f"{link.bandwidth / GB_per_s:g}",
            f"{link.latency / us:g}",
            f"{link.energy.value / pJ:g}",
            link.energy.provenance.name,
            f"{link.chips}",
        )
        for name, link in links.items()
        if link is not None
    }


def seconds(name: str) -> float:
    """Latency of 4096^3 in BF16."""
    case = Case(Gemm(m=4096, n=4096, k=4096), Precision.BF16)
    found = load_model(name).estimate(case).latency
    assert isinstance(found, float)
    return found


def test_the_page_of_clusters_says_what_they_gain() -> None:
    text = (FOLDER / "cluster.md").read_text(encoding="utf-8")
    (_, *sizes), *rows = rows_of(text, 4)
    told, found, name = {}, {}, ""
    for label, *gains in rows:
        machine, _, along = label.rpartition("along ")
        name = machine.strip() or name
        for size, gain in zip(sizes, gains, strict=True):
            cluster = f"{name}@{size.split()[0]}x{along}"
            told[cluster] = float(gain)
            found[cluster] = seconds(name) / seconds(cluster)

    assert len(told) == 18
    assert found == pytest.approx(told, abs=0.006)

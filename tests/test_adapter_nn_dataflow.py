"""The nn-dataflow adapter, with and without the library."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from joulecheck.adapters import nn_dataflow
from joulecheck.adapters.nn_dataflow import CHIPS, CLOCK, MODELS, NNDataflowModel
from joulecheck.case import Case
from joulecheck.errors import NotOffered, UnknownName, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.model import Subject, family
from joulecheck.property import installed
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Node,
    Precision,
    Subgraph,
    Totals,
    Workload,
)

PJ = 1e-12


class TestWithoutTheLibrary:
    """What works on a plain installation."""

    @pytest.fixture(autouse=True)
    def _hidden(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setitem(sys.modules, "nn_dataflow.core", None)
        nn_dataflow._library.cache_clear()
        yield
        nn_dataflow._library.cache_clear()

    def test_knows_the_names(self) -> None:
        assert list(family("nn-dataflow")) == list(CHIPS)

    @pytest.mark.parametrize("name", CHIPS)
    def test_says_what_to_install(self, name: str) -> None:
        with pytest.raises(NotOffered, match=r"pip install 'joulecheck\[nn-dataflow\]'"):
            MODELS[name]()


INSTALLED = find_spec("nn_dataflow") is not None


@pytest.fixture(scope="module", params=CHIPS if INSTALLED else ["not installed"])
def model(request: pytest.FixtureRequest) -> NNDataflowModel:
    """Each model, where the library is there; `nox -s adapters` installs it."""
    if not INSTALLED:
        pytest.skip("an optional extra: pip install 'joulecheck[nn-dataflow]'")
    return MODELS[request.param]()


def asked(
    model: NNDataflowModel, workload: Workload, scale: dict[str, float] | None = None
) -> Estimate:
    return model.estimate(Case(workload, Precision.INT16), scale or {})


def number(value: object) -> float:
    assert isinstance(value, float | int)
    return float(value)


GEMM = Gemm(m=3, n=16, k=5)
CONV = Conv2d(n=2, c=3, h=8, w=6, k=4, r=3, s=3)


class TestAnswers:
    """What the models answer."""

    def test_are_those_of_a_sound_protocol(self, model: NNDataflowModel) -> None:
        subject = Subject.of(model)

        assert set(subject.exemptions) <= set(installed())
        networks = set() if model.chip.nodes == (1, 1) else {"noc"}
        assert set(subject.coefficients) == set(subject.layers) - {"noc"} | networks

    @pytest.mark.parametrize("workload", [GEMM, CONV], ids=["gemm", "conv"])
    def test_terms_sum_to_the_total(
        self, model: NNDataflowModel, workload: Workload
    ) -> None:
        found = asked(model, workload)

        total = sum(map(number, found.energy_terms.values()))
        assert total == pytest.approx(number(found.energy), rel=1e-9)

    @pytest.mark.parametrize("workload", [GEMM, CONV], ids=["gemm", "conv"])
    def test_a_mac_is_a_picojoule(self, model: NNDataflowModel, workload: Workload) -> None:
        found = asked(model, workload)

        assert found.energy_terms["mac"] == pytest.approx(workload.macs * PJ)

    def test_latency_is_in_seconds(self, model: NNDataflowModel) -> None:
        cycles = number(asked(model, GEMM).latency) * CLOCK

        assert cycles == pytest.approx(round(cycles))
        assert cycles >= GEMM.macs / model.chip.pes

    def test_utilisation_is_a_share(self, model: NNDataflowModel) -> None:
        assert 0 < number(asked(model, GEMM).utilisation) <= 1

    def test_input_and_output_come_from_dram(self, model: NNDataflowModel) -> None:
        words = number(asked(model, GEMM).energy_terms["dram"]) / (200 * PJ)

        assert words >= GEMM.input_elements + GEMM.output_elements

    def test_batch_and_rows_are_one(self, model: NNDataflowModel) -> None:
        rows, batch = Gemm(m=12, n=16, k=5), Gemm(m=3, n=16, k=5, batch=4)

        assert asked(model, rows) == asked(model, batch)

    def test_a_chain_is_one_network(self, model: NNDataflowModel) -> None:
        chain = Subgraph.chain(GEMM, Gemm(m=3, n=4, k=16))

        assert asked(model, chain).energy_terms["mac"] == pytest.approx(chain.macs * PJ)

    def test_convolutions_chain_with_products(self, model: NNDataflowModel) -> None:
        chain = Subgraph.chain(
            CONV, Gemm(m=24, n=5, k=4, batch=2), Elementwise(Function.ADD, (2, 5, 24, 1))
        )

        found = asked(model, chain)

        assert found.energy_terms["mac"] == pytest.approx((chain.macs + 2 * 240) * PJ)


class TestScale:
    """Coefficients under scale."""

    def test_scales_all_alike(self, model: NNDataflowModel) -> None:
        plain = asked(model, GEMM)
        scaled = asked(model, GEMM, dict.fromkeys(model.coefficients, 2.0))

        assert number(scaled.energy) == pytest.approx(2 * number(plain.energy))

    @pytest.mark.parametrize("name", ["mac", "dram", "regf"])
    def test_reaches_the_library(self, model: NNDataflowModel, name: str) -> None:
        plain = asked(model, GEMM)
        scaled = asked(model, GEMM, {name: 1.1})

        assert number(scaled.energy) > number(plain.energy)
        assert asked(model, GEMM) == plain

    def test_knows_its_coefficients(self, model: NNDataflowModel) -> None:
        with pytest.raises(UnknownName, match="no coefficient is called 'drum'"):
            asked(model, GEMM, {"drum": 1.1})

    def test_prices_are_in_joule(self, model: NNDataflowModel) -> None:
        assert model.coefficients["dram"].value == pytest.approx(100 * PJ)
        assert {c.unit for c in model.coefficients.values()} == {"J/MAC", "J/B", "W"}


class TestRefusals:
    """What the library has no words for."""

    @pytest.mark.parametrize(
        ("workload", "reason"),
        [
            (Conv2d(n=1, c=1, h=3, w=3, k=1, r=3, s=3, padding=1), "padding"),
            (Conv2d(n=1, c=1, h=5, w=5, k=1, r=3, s=3, dilation=2), "dilation"),
            (Conv2d(n=1, c=2, h=3, w=3, k=2, r=3, s=3, groups=2), "groups"),
            (Conv2d(n=1, c=1, h=1, w=300, k=1, r=1, s=300), "registers"),
            (Elementwise(Function.GELU, (4,)), "one operation an element"),
            (Gemm(m=5000, n=1, k=1), "take too long"),
            (Totals(ops=2, bytes=3), "totals"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_say_why(self, model: NNDataflowModel, workload: Workload, reason: str) -> None:
        with pytest.raises(Unsupported, match=reason):
            asked(model, workload)

    def test_of_another_precision(self, model: NNDataflowModel) -> None:
        with pytest.raises(Unsupported, match="INT16, not in FP32"):
            model.estimate(Case(GEMM, Precision.FP32))

    def test_of_a_product_of_activations(self, model: NNDataflowModel) -> None:
        square = Gemm(m=4, n=4, k=4)
        graph = Subgraph([Node(square), Node(square, (0, None)), Node(square, (1, 0))])

        with pytest.raises(Unsupported, match="with weights only"):
            asked(model, graph)

    def test_of_an_image_that_is_read_in_part(self, model: NNDataflowModel) -> None:
        every_other = Conv2d(n=1, c=1, h=6, w=6, k=1, r=3, s=3, stride=2)
        image = Conv2d(n=1, c=1, h=6, w=6, k=1, r=1, s=1)

        asked(model, every_other)
        with pytest.raises(Unsupported, match="leave a part unread"):
            asked(model, Subgraph.chain(image, every_other))

    def test_keep_the_library_quiet(
        self, model: NNDataflowModel, capsys: pytest.CaptureFixture[str]
    ) -> None:
        asked(model, GEMM)

        assert capsys.readouterr() == ("", "")

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

import attrs
import numpy as np
import pytest

from joulecheck.case import Batch, Case, Cases
from joulecheck.coefficient import Layer
from joulecheck.errors import InvalidMachine, NotOffered, UnknownName
from joulecheck.estimate import Answers, Estimate, total
from joulecheck.model import Subject
from joulecheck.property import Property, installed
from joulecheck.reference import MACHINES, build_model, load_model
from joulecheck.reference.closure import check_closure
from joulecheck.reference.cluster import cluster_of
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.machine_file import MachineFile, load_machine, parse_machine
from joulecheck.resolve import models_named
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Precision,
    Subgraph,
    Workload,
)
from joulecheck.workload.columns import Floats
from joulecheck_strategies import workloads

LINKED: Final = tuple(name for name in MACHINES if load_machine(name).link)
FEW: Final = ("Google-TPU-v4", "H100-SXM5-80GB")
"""One machine of each class that has a link."""

SAMPLE: Final = 4096
SQUARE: Final = Gemm(m=4096, n=4096, k=4096)

each_linked = pytest.mark.parametrize("name", LINKED)
each_of_few = pytest.mark.parametrize("name", FEW)
each_dimension = pytest.mark.parametrize("along", "MNK")


def sampled(model: Subject, size: int = SAMPLE) -> Cases:
    space = workloads(model)
    cases = space.batch(space.sample(np.random.default_rng(1), size))
    assert isinstance(cases, Cases)
    return cases


def asked(name: str, cases: Cases) -> Answers:
    return Subject.of(load_model(name)).ask(cases)


def halves(model: LayeredModel, workload: Workload) -> Case:
    """In a floating-point format of two bytes, which every machine here has."""
    two = (Precision.BF16, Precision.FP16)
    return Case(workload, next(p for p in two if p in model.precisions))


def answered(name: str, workload: Workload = SQUARE) -> Estimate:
    model = load_model(name)
    return model.estimate(halves(model, workload))


def sent(name: str, workload: Workload = SQUARE) -> float:
    """Bytes over all links, from their energy."""
    model = load_model(name)
    price = model.coefficients["link_energy"].value
    return number(model.estimate(halves(model, workload)).energy_terms["link"]) / price


def number(value: object) -> float:
    assert isinstance(value, float)
    return value


class TestNames:
    """How a cluster is called."""

    def test_is_called_by_its_chips_and_the_dimension(self) -> None:
        model = load_model("Google-TPU-v4@8xN")

        assert model.name == model.machine.name == "Google-TPU-v4@8xN"

    def test_may_follow_an_operating_point(self) -> None:
        text = text_of("Google-TPU-v4") + (
            '\n[operating_points.slow]\nclock = 525000000\nsource = "half the clock"\n'
        )
        slow = build_model(parse_machine(text, "v4").at("slow"))
        cluster = cluster_of(slow, "4xK")

        assert cluster.name == "Google-TPU-v4@slow@4xK"
        assert cluster.machine.clock == 525e6

    def test_is_a_model_on_the_command_line(self) -> None:
        (subject,) = models_named("reference:A100-SXM4-80GB@4xK")

        assert subject.name == "reference:A100-SXM4-80GB@4xK"

    def test_is_not_listed(self) -> None:
        assert not [m.name for m in models_named("reference:*TPU-v4*") if "@" in m.name]

    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("Hailo-8@4xN", r"Hailo-8 joins no clusters, asked for 4xN: .* no \[link\]"),
            ("A100-SXM4-80GB@9xN", "must have 1 to 8 chips, as many as its link joins"),
            ("A100-SXM4-80GB@0xN", "must have 1 to 8 chips, .* got 0"),
            ("A100-SXM4-80GB@8xB", "along M, N or K, got 'B': write @8xM, @8xN or @8xK"),
            ("A100-SXM4-80GB@8xn", "along M, N or K, got 'n'"),
            ("A100-SXM4-80GB@08xN", "no operating point '08xN'"),
            (f"A100-SXM4-80GB@{'9' * 5000}xN", "no operating point '9999"),
            ("A100-SXM4-80GB@2xN@2xN", "joins no clusters of clusters"),
        ],
    )
    def test_a_wrong_name_is_told(self, name: str, told: str) -> None:
        with pytest.raises(UnknownName, match=told):
            load_model(name)


class TestOneChip:
    """A cluster of one is the chip."""

    @each_dimension
    @each_linked
    def test_answers_exactly_as_the_chip(self, name: str, along: str) -> None:
        chip = Subject.of(load_model(name))
        cases = sampled(chip)
        one, cluster = chip.ask(cases), asked(f"{name}@1x{along}", cases)

        for field in ("energy", "latency", "utilisation"):
            np.testing.assert_array_equal(getattr(cluster, field), getattr(one, field))
        for field in ("energy_terms", "latency_terms", "through"):
            found = getattr(cluster, field)
            for term, values in getattr(one, field).items():
                np.testing.assert_array_equal(found[term], values, err_msg=str(term))

    @each_dimension
    @each_linked
    def test_sends_nothing(self, name: str, along: str) -> None:
        found = asked(f"{name}@1x{along}", sampled(Subject.of(load_model(name))))

        assert not found.energy_terms["link"].any()
        assert not found.latency_terms["hops"].any()
        assert not found.latency_terms["link"].any()
        np.testing.assert_array_equal(
            found.through[Layer.CLUSTER], found.through[Layer.DRAM]
        )

    def test_a_single_machine_has_no_link(self) -> None:
        assert "link" not in load_model("Google-TPU-v4").layers
        assert Layer.CLUSTER not in answered("Google-TPU-v4").through


class TestCollectives:
    """What is sent, and how long that takes."""

    @each_linked
    def test_a_gather_sends_each_result_to_all_others(self, name: str) -> None:
        results = 4096 * 4096 * 2

        assert sent(f"{name}@5xN") == pytest.approx(4 * results, rel=1e-12, abs=0)

    @each_linked
    def test_a_reduction_sends_sums_twice(self, name: str) -> None:
        sums = 4096 * 4096 * 4

        assert sent(f"{name}@5xK") == pytest.approx(2 * 4 * sums, rel=1e-12, abs=0)

    def test_an_all_reduce_is_two_gathers_of_equal_width(self) -> None:
        gathered, reduced = (
            load_model(f"V100-SXM3-32GB@6x{along}").estimate(Case(SQUARE)) for along in "NK"
        )

        for field, term in (
            ("energy_terms", "link"),
            ("latency_terms", "hops"),
            ("latency_terms", "link"),
        ):
            once, twice = getattr(gathered, field)[term], getattr(reduced, field)[term]
            assert twice == pytest.approx(2 * once, rel=1e-12, abs=0)

    @each_linked
    def test_times_are_those_of_a_ring(self, name: str) -> None:
        link = load_machine(name).link
        assert link is not None
        found = answered(f"{name}@8xK").latency_terms
        whole = 4096 * 4096 * 4

        assert found["hops"] == pytest.approx(2 * 7 * link.latency)
        assert found["link"] == pytest.approx(2 * 7 / 8 * whole / link.bandwidth)

    @pytest.mark.parametrize(("along", "passes"), [("N", 1), ("K", 2)])
    def test_a_chip_sends_more_with_more_chips_but_not_more_than_all(
        self, along: str, passes: int
    ) -> None:
        whole = 4096 * 4096 * {"N": 2, "K": 4}[along] * passes
        each = [sent(f"Google-TPU-v3@{p}x{along}") / p for p in (2, 3, 4, 7, 64, 1000)]

        assert all(fewer < more for fewer, more in pairwise(each))
        assert each[-1] < whole
        assert each[0] == whole / 2

    @pytest.mark.parametrize(
        "workload",
        [
            Elementwise(Function.ADD, (64, 4096)),
            Subgraph.chain(
                Elementwise(Function.RELU, (1, 8, 8, 8)),
                Elementwise(Function.GELU, (1, 8, 8, 8)),
            ),
        ],
        ids=["one", "chain"],
    )
    @each_dimension
    def test_elementwise_functions_send_nothing(
        self, along: str, workload: Workload
    ) -> None:
        found = answered(f"Google-TPU-v4@8x{along}", workload)

        assert found.energy_terms["link"] == 0
        assert found.latency_terms["hops"] == found.latency_terms["link"] == 0

    @each_linked
    def test_rows_send_nothing(self, name: str) -> None:
        model = load_model(f"{name}@8xM")
        found = Subject.of(model).ask(sampled(Subject.of(load_model(name))))

        assert "link_energy" not in model.coefficients
        assert not found.energy_terms["link"].any()
        assert not found.latency_terms["hops"].any()

    def test_operators_of_a_graph_send_one_after_the_other(self) -> None:
        relu = Elementwise(Function.RELU, (1, 64, 32, 1))
        graph = Subgraph.chain(Gemm(m=32, n=64, k=16), relu, Gemm(m=32, n=8, k=64))
        found = answered("Google-TPU-v4@4xN", graph).latency_terms

        assert found["hops"] == pytest.approx(2 * 3 * 1e-6)
        assert sent("Google-TPU-v4@4xN", graph) == pytest.approx(3 * 2 * 32 * (64 + 8))

    def test_a_convolution_sends_its_results(self) -> None:
        conv = Conv2d(n=2, c=32, h=8, w=8, k=48, r=3, s=3)
        results = 2 * 48 * 6 * 6

        assert sent("Google-TPU-v4@3xN", conv) == pytest.approx(2 * results * 2)
        assert sent("Google-TPU-v4@3xK", conv) == pytest.approx(2 * 2 * results * 4)


Split = Callable[[Gemm, int], Gemm]

GEMM_SPLITS: Final[Mapping[str, Split]] = {
    "N": lambda gemm, chips: attrs.evolve(gemm, n=-(-gemm.n // chips)),
    "K": lambda gemm, chips: attrs.evolve(gemm, k=-(-gemm.k // chips)),
    "M": lambda gemm, chips: attrs.evolve(gemm, m=-(-gemm.m // chips)),
}

EVEN: Final[Mapping[str, Workload]] = {
    "gemm": Gemm(m=512, n=768, k=1024),
    "batch": Gemm(m=64, n=96, k=32, batch=16),
    "conv": Conv2d(n=8, c=32, h=9, w=9, k=64, r=3, s=3, padding=1),
    "grouped": Conv2d(n=8, c=64, h=8, w=8, k=128, r=3, s=3, groups=4),
    "depthwise": Conv2d(n=8, c=64, h=8, w=8, k=64, r=3, s=3, groups=64),
    "elementwise": Elementwise(Function.SIGMOID, (16, 1024)),
}


class TestShares:
    """What each chip does."""

    @pytest.mark.parametrize("gemm", [Gemm(m=96, n=512, k=768), Gemm(m=9, n=17, k=1001)])
    @pytest.mark.parametrize("along", "NK")
    @each_linked
    def test_is_the_chip_with_a_smaller_gemm(
        self, name: str, along: str, gemm: Gemm
    ) -> None:
        chips = 8
        share = answered(name, GEMM_SPLITS[along](gemm, chips))
        found = answered(f"{name}@{chips}x{along}", gemm)

        for term in share.energy_terms.keys() - {"static"}:
            expected = chips * number(share.energy_terms[term])
            assert found.energy_terms[term] == pytest.approx(expected, rel=1e-12, abs=0)
        for term, seconds in share.latency_terms.items():
            assert found.latency_terms[term] == seconds

    @each_linked
    def test_rows_divide_evenly_into_smaller_gemms(self, name: str) -> None:
        gemm = Gemm(m=1024, n=100, k=200)
        share = answered(name, GEMM_SPLITS["M"](gemm, 8))
        found = answered(f"{name}@8xM", gemm)

        assert found.latency == share.latency
        assert found.energy == pytest.approx(8 * number(share.energy), rel=1e-12)

    @pytest.mark.parametrize("kind", EVEN)
    @each_dimension
    @each_of_few
    def test_even_shares_take_the_same_arithmetic(
        self, name: str, along: str, kind: str
    ) -> None:
        alone = answered(name, EVEN[kind]).energy_terms["alu"]
        found = [
            answered(f"{name}@{p}x{along}", EVEN[kind]).energy_terms["alu"] for p in (2, 8)
        ]

        assert found == pytest.approx([alone] * 2, rel=1e-12, abs=0)

    @each_dimension
    @each_of_few
    def test_no_share_takes_less_arithmetic(self, name: str, along: str) -> None:
        chip = Subject.of(load_model(name))
        cases = sampled(chip)
        alone = chip.ask(cases).energy_terms["alu"]
        found = asked(f"{name}@7x{along}", cases).energy_terms["alu"]

        assert (found >= alone * (1 - 1e-12)).all()

    @pytest.mark.parametrize("groups", [2, 3, 5, 8, 64])
    @pytest.mark.parametrize("along", "NK")
    def test_no_chip_works_on_parts_of_two_groups(self, along: str, groups: int) -> None:
        chips, width = 8, 40
        conv = Conv2d(
            n=4, c=width * groups, h=5, w=5, k=width * groups, r=1, s=1, groups=groups
        )
        side = max(1, chips // groups)
        dealt = -(-groups // chips)
        part = -(-width // side)
        one = {"N": (dealt * width, dealt * part), "K": (dealt * part, dealt * width)}
        c, k = one[along]
        share = answered("A100-SXM4-80GB", attrs.evolve(conv, c=c, k=k, groups=dealt))
        found = answered(f"A100-SXM4-80GB@{chips}x{along}", conv)

        assert found.latency_terms["compute"] == share.latency_terms["compute"]
        assert found.energy_terms["dram"] == pytest.approx(
            chips * number(share.energy_terms["dram"]), rel=1e-12
        )

    def test_a_pointwise_convolution_is_a_gemm(self) -> None:
        conv = Conv2d(n=3, c=50, h=7, w=5, k=33, r=1, s=1)
        gemm = Gemm(m=7 * 5, n=33, k=50, batch=3)

        for along in "MNK":
            name = f"Google-TPU-v4@8x{along}"
            assert answered(name, conv) == answered(name, gemm)


class TestTime:
    """What several chips gain."""

    @pytest.mark.parametrize("chips", [2, 3, 8])
    @each_dimension
    @each_of_few
    def test_is_at_best_divided_by_the_chips_where_capacities_are_shared(
        self, name: str, along: str, chips: int
    ) -> None:
        # Against a chip with all their capacity: with less, the chip would fetch again
        # what several keep between them, and be more than so many times slower.
        one = Subject.of(roomy(load_machine(name), chips))
        cases = sampled(one)
        latency = asked(f"{name}@{chips}x{along}", cases).latency

        assert (latency >= one.ask(cases).latency / chips * (1 - 1e-12)).all()

    def test_a_reduction_over_a_slow_link_takes_longer_than_no_cluster(self) -> None:
        # 69 Top/s and 50 GB/s: the speed-up of two chips is 0.85
        slow = text_of("Google-TPU-v4")
        for before, after in (
            ("clock = 1050000000", "clock = 262500000"),
            ("BF16 = 2.7525e14", "BF16 = 6.88125e13"),
            ("INT8 = 2.7525e14", "INT8 = 6.88125e13"),
        ):
            assert slow.count(before) == 1
            slow = slow.replace(before, after)
        chip = build_model(parse_machine(slow, "slow"))
        case = halves(chip, SQUARE)
        alone = number(chip.estimate(case).latency)
        two = number(cluster_of(chip, "2xK").estimate(case).latency)

        assert alone / two == pytest.approx(0.85, abs=0.005)

    def test_chips_wait_for_the_collectives(self) -> None:
        chip = load_model("Google-TPU-v4")
        share = number(answered("Google-TPU-v4", GEMM_SPLITS["K"](SQUARE, 4)).latency)
        found = answered("Google-TPU-v4@4xK")
        waited = number(found.latency_terms["hops"]) + number(found.latency_terms["link"])

        assert found.latency == pytest.approx(share + waited, rel=1e-12)
        assert found.energy_terms["static"] == pytest.approx(
            4 * chip.data.idle_power * number(found.latency), rel=1e-12
        )


def roomy(data: MachineFile, chips: int) -> LayeredModel:
    """One chip with the capacities of so many."""
    grown = {"activation_bytes": chips, "weight_bytes": chips}
    return build_model(
        attrs.evolve(
            data,
            memories={
                name: attrs.evolve(m, capacity=m.capacity and chips * m.capacity)
                for name, m in data.memories.items()
            },
            geometry={n: v * grown.get(n, 1) for n, v in data.geometry.items()},
        )
    )


class TestEnergy:
    """How it adds up."""

    @pytest.mark.parametrize("name", ["Google-TPU-v4@8xN", "A100-SXM4-80GB@3xK"])
    def test_terms_and_prefixes_agree(self, name: str) -> None:
        model = load_model(name)
        found = Subject.of(model).ask(sampled(Subject.of(model)))
        order = list(Layer)

        assert list(found.through)[-2:] == [Layer.CLUSTER, Layer.STATIC]
        for layer, through in found.through.items():
            inside = {
                term: values
                for term, values in found.energy_terms.items()
                if order.index(model.layers[term]) <= order.index(layer)
            }
            np.testing.assert_allclose(through, total(inside, SAMPLE), rtol=1e-9)

    def test_the_price_of_the_link_moves_the_link_alone(self) -> None:
        model = load_model("H100-SXM5-80GB@8xN")
        nominal, dear = (
            model.estimate(Case(SQUARE), {"link_energy": factor}) for factor in (1.0, 3.0)
        )

        assert dear.energy_terms["link"] == 3 * number(nominal.energy_terms["link"])
        assert {**dear.energy_terms, "link": 0} == {**nominal.energy_terms, "link": 0}

    def test_an_unknown_coefficient_gets_a_suggestion(self) -> None:
        model = load_model("H100-SXM5-80GB@8xN")

        with pytest.raises(UnknownName, match="'link_enery': did you mean link_energy"):
            model.estimate(Case(SQUARE), {"link_enery": 2.0})

    @each_linked
    def test_figures_of_the_machine_add_up(self, name: str) -> None:
        one, all_together = load_machine(name), load_model(f"{name}@8xN").machine

        assert all_together.units == 8 * one.units
        assert all_together.peak == {p: 8 * peak for p, peak in one.peak.items()}
        assert all_together.idle_power == 8 * one.idle_power
        assert all_together.memories["dram"].capacity == 8 * (
            one.memories["dram"].capacity or 0
        )
        assert {8, *one.quanta} <= set(all_together.quanta)


class TestLinks:
    """The data of links."""

    def test_data_centre_machines_have_one(self) -> None:
        assert LINKED == (
            "Google-TPU-v3",
            "Google-TPU-v4",
            "Google-TPU-v5p",
            "B100-SXM6-192GB",
            "H100-SXM5-80GB",
            "H100-PCIe-80GB",
            "A100-SXM4-80GB",
            "V100-SXM3-32GB",
            "T4-PCIe-16GB",
        )

    @each_linked
    def test_has_a_source_for_every_figure(self, name: str) -> None:
        link = load_machine(name).link
        assert link is not None

        assert set(link.sources) == {"bandwidth", "latency", "chips"}
        assert all(text.strip() for text in (*link.sources.values(), link.energy.source))
        assert link.energy.unit == "J/B"
        assert min(link.bandwidth, link.latency, link.energy.value) > 0
        assert link.chips > 1

    @each_linked
    def test_power_closes(self, name: str) -> None:
        for along in "NK":
            model = load_model(f"{name}@8x{along}")
            check_closure(model)
            drawn = asked(model.name, sampled(Subject.of(model)))
            bounds = [sum(model.power(p).values()) for p in model.precisions]

            assert float(np.max(drawn.energy / drawn.latency)) <= max(bounds)

    def test_a_link_beyond_the_thermal_design_power_is_refused(self) -> None:
        text = text_of("A100-SXM4-80GB").replace("value = 1.6e-10", "value = 1.6e-9")
        cluster = cluster_of(build_model(parse_machine(text, "A100")), "8xN")

        with pytest.raises(InvalidMachine, match=r"tdp of 3200 W, got 4328 W .* CLUSTER"):
            check_closure(cluster)


def text_of(name: str) -> str:
    source = files("joulecheck.reference").joinpath("machines", f"{name}.toml")
    return source.read_text(encoding="utf-8")


CLUSTERS: Final = ("Google-TPU-v4@8xN", "Google-TPU-v3@3xK", "V100-SXM3-32GB@16xM")


@cache
def cluster(name: str) -> Subject:
    return Subject.of(load_model(name))


@pytest.mark.parametrize("law", installed().values(), ids=lambda law: law.id)
@pytest.mark.parametrize("name", CLUSTERS)
def test_every_law_holds(name: str, law: Property) -> None:
    model = cluster(name)
    if law.id in model.exemptions:
        return
    try:
        space = law.space(model)
    except NotOffered:
        return
    size = max(1, 2048 // law.thinning)
    rows = space.sample(np.random.default_rng(7), size)
    margins = law.checked_margin(model, space.batch(rows))

    assert not (margins < 0).any(), worst(space.batch(rows), margins)


def test_only_padded_shares_and_whole_groups_are_exempt() -> None:
    found = [set(cluster(name).exemptions) for name in CLUSTERS]

    assert found == [{"BND013", "SYM002"}, {"BND013", "SYM002"}, {"BND013"}]


def worst(batch: Batch, margins: Floats) -> object:
    return batch[int(np.nanargmin(margins))]

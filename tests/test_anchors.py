from pathlib import Path

import pytest

import anchors

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "anchors.md"

AGREEING = [anchor for anchor in anchors.ANCHORS if not anchor.why]
OUTSIDE = [anchor for anchor in anchors.ANCHORS if anchor.why]


def named(anchor: anchors.Anchor) -> str:
    return f"{anchor.what} / {anchor.source}"


@pytest.mark.parametrize("anchor", AGREEING, ids=named)
def test_energy_is_within_a_factor_of_two_of_what_is_published(
    anchor: anchors.Anchor,
) -> None:
    assert 0.5 <= anchor.ratio <= 2


@pytest.mark.parametrize("anchor", OUTSIDE, ids=named)
def test_what_is_excused_is_outside_indeed(anchor: anchors.Anchor) -> None:
    assert not anchor.agrees


def test_the_ratio_to_a_range_is_the_one_to_its_nearest_end() -> None:
    def at(ours: float) -> float:
        return anchors.Anchor("", "", lambda: ours, 10.0, 20.0, "").ratio

    assert (at(5.0), at(15.0), at(40.0)) == (0.5, 1.0, 2.0)


def test_a_convolution_stands_for_the_measured_chip() -> None:
    found, ops = anchors.asked("Google-TPU-v1", "INT8", anchors.convolutions(8, 256, 19))
    seconds = anchors.joule(found.latency)
    assert anchors.joule(found.energy) / seconds == pytest.approx(40, rel=0.15)
    assert ops / seconds == pytest.approx(86e12, rel=0.15)


def test_the_page_in_the_docs_is_the_one_that_the_script_prints() -> None:
    assert PAGE.read_text(encoding="utf-8") == anchors.page()

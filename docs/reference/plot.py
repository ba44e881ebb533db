"""Draw energy by layer against the size of a GEMM, a picture for each class.

    python docs/reference/plot.py            # writes the pictures beside this file
    python docs/reference/plot.py --png DIR  # as PNG, to look at

Needs the extra `docs`. The SVG holds no date and no random names, so that the same
models, under the same matplotlib, give the same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import attrs
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from joulecheck import Case, Cases, Gemm, Layer, Precision
from joulecheck.reference import load_model
from joulecheck.workload.columns import Floats

HERE: Final = Path(__file__).parent

MACHINES: Final = (
    "Intel-Xeon-Platinum-8490H",
    "H100-SXM5-80GB",
    "Google-TPU-v4",
    "Stillwater-KPU-T256",
    "Hailo-8",
    "Xilinx-Vitis-AI-DPU",
    "Stillwater-DFM-128",
)
"""One of each class, all of which have INT8."""

SIZES: Final = tuple(sorted(base << e for e in range(10) for base in (16, 24)))[:-1]
"""Powers of two and their middles, from 16 to 8192."""

COLOURS: Final[Mapping[Layer, str]] = {
    Layer.ALU: "#0072b2",
    Layer.REGISTER: "#56b4e9",
    Layer.SCRATCHPAD: "#009e73",
    Layer.ON_CHIP: "#f0e442",
    Layer.DRAM: "#d55e00",
    Layer.STATIC: "#b0b0b0",
}
"""From the core outwards, in hues that most colour-blind readers can tell apart."""

PICO: Final = 1e12


def summed(joules: Iterable[object]) -> Floats:
    """All of these arrays together."""
    total: Floats = np.sum(np.array([*joules], dtype=np.float64), axis=0)
    return total


@attrs.frozen(eq=False)
class Curves:
    """One machine over all sizes."""

    architecture: str
    machine: str
    layers: Mapping[Layer, Floats]
    """Joule of each layer alone."""
    ops: Floats

    @property
    def total(self) -> Floats:
        """Joule."""
        return summed(self.layers.values())


def curves(machine: str) -> Curves:
    """Ask one machine about all sizes."""
    model = load_model(machine)
    cases = Cases.of([Case(Gemm(m=s, n=s, k=s), Precision.INT8) for s in SIZES])
    terms = model.estimate_batch(cases).energy_terms
    layers = {
        layer: summed(v for name, v in terms.items() if model.layers[name] is layer)
        for layer in COLOURS
    }
    return Curves(model.data.architecture, machine, layers, cases.ops)


def draw(found: Curves) -> Figure:
    """Energy an operation above, and its shares by layer below."""
    figure = Figure(figsize=(9.0, 6.0), layout="constrained", facecolor="white")
    axes = figure.subplot_mosaic(
        [["energy", "energy"], ["all", "dynamic"]], height_ratios=(2, 3)
    )
    axes["energy"].set_title(f"{found.machine}, INT8 GEMM of M = N = K", loc="left")
    draw_energy(axes["energy"], found)
    draw_shares(axes["all"], found.layers, "share of energy")
    dynamic: dict[Layer, Floats] = dict(found.layers)
    del dynamic[Layer.STATIC]
    draw_shares(axes["dynamic"], dynamic, "share of energy without STATIC")
    for one, step in zip(axes.values(), (2, 4, 4), strict=True):
        one.set_xscale("log", base=2)
        one.set_xticks(SIZES[::step], [str(size) for size in SIZES[::step]])
        one.set_xticks([], minor=True)
        one.set_xlim(SIZES[0], SIZES[-1])
        one.set_xlabel("M = N = K")
    layers = axes["all"].collections
    figure.legend(
        layers, [layer.name for layer in COLOURS], ncols=len(COLOURS),
        loc="outside lower center", frameon=False, handlelength=1.0,
    )  # fmt: skip
    return figure


def draw_energy(axes: Axes, found: Curves) -> None:
    """Picojoule an operation, in all and of the arithmetic."""
    per_op = PICO / found.ops
    axes.plot(SIZES, found.total * per_op, color="black", label="in all")
    without = (found.total - found.layers[Layer.STATIC]) * per_op
    axes.plot(SIZES, without, color="black", linestyle="--", label="without STATIC")
    alu = found.layers[Layer.ALU] * per_op
    axes.plot(SIZES, alu, color=COLOURS[Layer.ALU], label="ALU")
    axes.set_yscale("log")
    axes.set_ylabel("pJ an operation")
    axes.grid(visible=True, axis="y", color="#dddddd")
    axes.legend(frameon=False, loc="upper right")


def draw_shares(axes: Axes, layers: Mapping[Layer, Floats], title: str) -> None:
    """Stacked shares of the layers."""
    total = summed(layers.values())
    shares = [joule / total for joule in layers.values()]
    axes.stackplot(SIZES, shares, colors=[COLOURS[layer] for layer in layers], linewidth=0)
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_title(title, loc="left", fontsize=10)


def main() -> None:
    """Write all pictures."""
    png = Path(sys.argv[2]) if sys.argv[1:2] == ["--png"] else None
    mpl.rc("font", size=10)
    mpl.rc("svg", fonttype="none", hashsalt="joulecheck")
    mpl.rc("axes.spines", top=False, right=False)
    for machine in MACHINES:
        found = curves(machine)
        stem = found.architecture.lower()
        figure = draw(found)
        if png is None:
            nothing = {"Date": None, "Creator": None}
            figure.savefig(HERE / f"{stem}.svg", metadata=nothing)
        else:
            figure.savefig(png / f"{stem}.png", dpi=110)


if __name__ == "__main__":
    main()

"""Energy of the reference models against published figures, like with like.

    python bench/anchors.py            # prints the table
    python bench/anchors.py FILE       # writes it

Arithmetic is held against arithmetic, memory against memory, a chip against a chip. A
row that a coefficient was taken from proves no more than that it was carried over; the
rows of whole chips use figures that no coefficient comes from.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from joulecheck import Case, Conv2d, Estimate, Gemm, Node, Precision, Subgraph
from joulecheck.reference import load_model
from joulecheck.reference.machine_file import load_machine
from joulecheck.workload.subgraph import Workload

FACTOR: Final = 2.0
"""What counts as agreement."""

WORD: Final = 8
"""Bytes of an access in the published tables."""

PICO: Final = 1e12

LARGE: Final = Gemm(m=8192, n=8192, k=8192)
"""A GEMM that any of the machines is bound by compute on, if by anything on the chip."""

HOROWITZ: Final = "Horowitz, ISSCC 2014, 45 nm"
STILLMAKER: Final = "Stillmaker and Baas, Integration 58, 2017"
LESSONS: Final = "Jouppi et al., ISCA 2021 (TPU v4i), table 2, 7 nm"
DATACENTER: Final = "Jouppi et al., ISCA 2017 (TPU v1)"
POD: Final = "Jouppi et al., ISCA 2023 (TPU v4)"
ENTROPY: Final = "Bhalachandra et al., arXiv:2212.08805, 2022"
EYERISS: Final = "Chen et al., Eyeriss, JSSC 2017"
PLASTICINE: Final = "Prabhakar et al., Plasticine, ISCA 2017"
DALLY: Final = "Dally, Turakhia and Han, CACM 63(7), 2020"
WATTCH: Final = "Kandiah et al., AccelWattch, MICRO 2021"
VENDOR: Final = "vendor's data sheet, as in the machine's file"
IDLE: Final = "idle 61 W, as in the machine's file"

LIMIT: Final = "power limit over peak"


@attrs.frozen
class Anchor:
    """One published figure, and how to get ours."""

    what: str
    unit: str
    ours: Callable[[], float]
    low: float
    """Published; the figure itself where it is no range."""
    high: float
    source: str
    why: str = ""
    """Why it is outside of a factor of two, where it is."""

    @property
    def ratio(self) -> float:
        """Ours over the nearest published value; 1 within a range."""
        ours = self.ours()
        return ours / min(max(ours, self.low), self.high)

    @property
    def agrees(self) -> bool:
        """Whether the ratio is within a factor of two."""
        return 1 / FACTOR <= self.ratio <= FACTOR


def value(machine: str, *names: str, times: float = 1.0) -> float:
    """The sum of some coefficients of a machine, in pJ."""
    rows = load_machine(machine).coefficients
    return sum(rows[name].value for name in names) * times * PICO


def relative(machine: str, *names: str, to: str) -> float:
    """The same over another coefficient."""
    return value(machine, *names) / value(machine, to)


def asked(machine: str, precision: str, workload: Workload) -> tuple[Estimate, int]:
    """A machine's answer and the number of operations."""
    case = Case(workload, Precision[precision])
    return load_model(machine).estimate(case), case.ops


def joule(quantity: ArrayLike | None) -> float:
    """A field of the answer to one case."""
    return float(np.asarray(quantity, dtype=np.float64))


def in_all(machine: str, precision: str, workload: Workload = LARGE) -> float:
    """Energy an operation of the whole chip, in pJ."""
    found, ops = asked(machine, precision, workload)
    return joule(found.energy) / ops * PICO


def above_idle(machine: str, precision: str, workload: Workload = LARGE) -> float:
    """The same without static power: (busy - idle) / achieved."""
    found, ops = asked(machine, precision, workload)
    dynamic = joule(found.energy) - joule(found.energy_terms["static"])
    return dynamic / ops * PICO


CORE: Final = ("alu", "pipeline", "register", "l1", "l2")
"""The energy terms inside a core of a CPU."""


def core_cycle(machine: str, precision: str, workload: Workload = LARGE) -> float:
    """Energy of a core in a cycle, in pJ."""
    found, _ = asked(machine, precision, workload)
    data = load_machine(machine)
    inside = sum(joule(found.energy_terms[term]) for term in CORE)
    return inside / (joule(found.latency) * data.clock * data.units) * PICO


def convolutions(batch: int, channels: int, side: int) -> Subgraph:
    """Eight layers of 3 x 3 filters on images whose size they keep."""
    layer = Conv2d(n=batch, c=channels, h=side, w=side, k=channels, r=3, s=3, padding=1)
    sources = (None, *range(7))
    return Subgraph([Node(layer, (source,)) for source in sources])


def exactly(  # noqa: PLR0913 - the fields of an anchor with one figure
    what: str,
    unit: str,
    ours: Callable[[], float],
    published: float,
    source: str,
    why: str = "",
) -> Anchor:
    """An anchor that is no range."""
    return Anchor(what, unit, ours, published, published, source, why)


CARRIED: Final = (
    exactly(
        "INT8 MAC of TPU v1, 28 nm",
        "pJ",
        partial(value, "Google-TPU-v1", "mac_energy.INT8"),
        (0.2 + 0.1) * 0.532,
        f"{HOROWITZ}, x 0.532 to 28 nm ({STILLMAKER})",
    ),
    exactly(
        "FP32 MAC of Plasticine, 28 nm",
        "pJ",
        partial(value, "Stanford-Plasticine-v2", "mac_energy.FP32"),
        (3.7 + 0.9) * 0.532,
        f"{HOROWITZ}, x 0.532 to 28 nm ({STILLMAKER})",
    ),
    exactly(
        "INT8 MAC of TPU v4",
        "pJ",
        partial(value, "Google-TPU-v4", "mac_energy.INT8"),
        0.07 + 0.03,
        LESSONS,
    ),
    exactly(
        "BF16 MAC of TPU v4, sums in FP32",
        "pJ",
        partial(value, "Google-TPU-v4", "mac_energy.BF16"),
        0.21 + 0.11,
        f"{LESSONS}: product and sum in BF16",
    ),
    exactly(
        "FP32 MAC of Core i7-12700K",
        "pJ",
        partial(value, "Intel-i7-12700K", "mac_energy.FP32"),
        1.31 + 0.38,
        LESSONS,
    ),
    exactly(
        "8 byte from 8 KiB of DFM-128",
        "pJ",
        partial(value, "Stillwater-DFM-128", "local_energy", times=WORD),
        7.5,
        LESSONS,
    ),
    exactly(
        "8 byte from the L1 of Core i7-12700K, 48 KiB",
        "pJ",
        partial(value, "Intel-i7-12700K", "l1_energy", times=WORD),
        8.5,
        f"{LESSONS}: 32 KB",
    ),
    exactly(
        "8 byte from the L2 of Core i7-12700K, 1.25 MiB, with the fill of L1",
        "pJ",
        partial(value, "Intel-i7-12700K", "l2_energy", times=WORD),
        14.0,
        f"{LESSONS}: 1 MB, a read alone",
    ),
    Anchor(
        "8 byte from the DDR3 of TPU v1",
        "pJ",
        partial(value, "Google-TPU-v1", "dram_energy", times=WORD),
        1300.0,
        2600.0,
        HOROWITZ,
    ),
    Anchor(
        "8 byte from the HBM2 of TPU v4",
        "pJ",
        partial(value, "Google-TPU-v4", "dram_energy", times=WORD),
        250.0,
        450.0,
        LESSONS,
    ),
    Anchor(
        "8 byte from the GDDR6 of T4, with the fill of L2",
        "pJ",
        partial(value, "T4-PCIe-16GB", "dram_energy", times=WORD),
        350.0,
        480.0,
        LESSONS,
    ),
    exactly(
        "instruction of the C7x of TDA4VM, 16 nm",
        "pJ",
        partial(value, "TI-TDA4VM", "fetch_energy", "decode_energy", "dispatch_energy"),
        70 * 0.532 * 0.696,
        f"{HOROWITZ}, overhead of an in-order core, x 0.370 to 16 nm ({STILLMAKER})",
    ),
    exactly(
        "instruction of Core i7-12700K",
        "pJ",
        partial(
            value, "Intel-i7-12700K", "fetch_energy", "decode_energy", "dispatch_energy"
        ),
        250 * 0.408,
        f"{DALLY}: an addition on an out-of-order core at 28 nm, all in, x 0.408 to 7 nm "
        f"({STILLMAKER}, and {LESSONS}); registers apart in ours",
    ),
    exactly(
        "instruction of Core i7-12700K, against an in-order core",
        "pJ",
        partial(
            value, "Intel-i7-12700K", "fetch_energy", "decode_energy", "dispatch_energy"
        ),
        70 * 0.36,
        f"{HOROWITZ}, overhead of an in-order core, x 0.36 to 7 nm (mean of {LESSONS})",
        "unlike cores: ours is wide and out of order; the row above is the like one",
    ),
    exactly(
        "scratchpad of a tile over a register, KPU-T64",
        "ratio",
        partial(
            relative,
            "Stillwater-KPU-T64",
            "tile_energy",
            "streamer_energy",
            to="injection_energy",
        ),
        6.0,
        f"{EYERISS}: global buffer over register file",
    ),
    exactly(
        "DRAM over a register, KPU-T64",
        "ratio",
        partial(relative, "Stillwater-KPU-T64", "dram_energy", to="injection_energy"),
        200.0,
        EYERISS,
    ),
)
"""Parts: most are where a coefficient comes from."""

ABOVE_IDLE: Final = (
    exactly(
        "TPU v1, eight convolutions of 19 x 19 x 256, batch 8, INT8",
        "pJ/op",
        partial(above_idle, "Google-TPU-v1", "INT8", convolutions(8, 256, 19)),
        (40 - 28) / 86,
        f"{DATACENTER}: (40 - 28) W over 86 Top/s of CNN0 (rate and shape from memory)",
    ),
    exactly(
        "TPU v4, GEMM, BF16, against the mean power",
        "pJ/op",
        partial(above_idle, "Google-TPU-v4", "BF16"),
        (170 - 90) / 275,
        f"{POD}: (170 - 90) W over the peak, so a lower bound",
    ),
    exactly(
        "TPU v4, GEMM, BF16, against the greatest power",
        "pJ/op",
        partial(above_idle, "Google-TPU-v4", "BF16"),
        (192 - 90) / 275,
        f"{POD}: (192 - 90) W over the peak, so a lower bound",
    ),
    exactly(
        "A100, GEMM, FP64, all elements alike",
        "pJ/op",
        partial(above_idle, "A100-SXM4-80GB", "FP64"),
        (400 / 1.67 - 61) / 19.4,
        f"{ENTROPY}: 400 W are 67 % more (as we read it), 19.4 Top/s; {IDLE}",
    ),
    exactly(
        "A100, GEMM, FP64, random elements",
        "pJ/op",
        partial(above_idle, "A100-SXM4-80GB", "FP64"),
        (400 - 61) / 18.6,
        f"{ENTROPY}: throttled at 400 W, 18.6 Top/s; {IDLE}",
        "the model knows no operands, and random ones take 67 % more than those of the row "
        "above; pipeline registers and glitches of the engine, and a supply above the "
        "nominal one, are in no term",
    ),
    exactly(
        "V100, GEMM of 4096 x 4096 x 4096, FP16, of the CUDA samples",
        "pJ/op",
        partial(above_idle, "V100-SXM3-32GB", "FP16", Gemm(m=4096, n=4096, k=4096)),
        (182.0 - 54.9) / 50.3,
        f"{WATTCH}, files of its release: 182.0 W of a Quadro GV100, 3.87 million cycles; "
        "idle SMs and constant power 54.9 W; 1.417 GHz from memory",
        "a sample that reaches 40 % of the peak, so that what runs on with time weighs "
        "more; and a matrix engine takes 1.4 pJ an operation in AccelWattch's breakdown, "
        "0.7 to 1.0 without what that is too high by for two such kernels, against 0.38 "
        "of bare multipliers and adders in ours",
    ),
    exactly(
        "EPYC 9654, a core in a GEMM, FP32",
        "pJ/cycle",
        partial(core_cycle, "AMD-EPYC-9654", "FP32"),
        8.43 / 5 / 3.7e9 * PICO,
        "Ugwekar, perf/x86/rapl patches for Linux, 2024: 8.43 J of a core of EPYC Genoa in "
        "5 s of stress-ng --matrix, the other cores 0.00 J; 3.7 GHz, its highest, assumed",
        "another program, at the voltage of the highest clock, with the leakage of a core "
        "that is otherwise off; a wide datapath takes more than its multipliers, adders "
        "and registers",
    ),
)
"""Chips as measured, without what they take when idle."""

CPU_TERMS: Final = (
    "the cores cost too little, as the measured core shows. Not for want of a clock: the "
    "price of an instruction is that of a whole core with its clock, and global clock "
    "distribution, 18 % of a core (4.5 of 25 %: Sathe et al., JSSC 48(1), 2013), would "
    "add about 0.02 to the ratio"
)

LIMITS: Final = (
    exactly(
        "TPU v4, GEMM, BF16",
        "pJ/op",
        partial(in_all, "Google-TPU-v4", "BF16"),
        192 / 275,
        f"{POD}: 192 W, the most in production, over 275 Top/s",
    ),
    exactly(
        "T4, GEMM, INT8",
        "pJ/op",
        partial(in_all, "T4-PCIe-16GB", "INT8"),
        70 / 130,
        f"{VENDOR}: {LIMIT} at boost, 70 W, 130 Top/s",
    ),
    exactly(
        "V100 SXM3, GEMM, FP16",
        "pJ/op",
        partial(in_all, "V100-SXM3-32GB", "FP16"),
        350 / 125,
        f"{VENDOR}: {LIMIT}, 350 W, 125 Top/s",
    ),
    exactly(
        "A100 SXM4, GEMM, INT8",
        "pJ/op",
        partial(in_all, "A100-SXM4-80GB", "INT8"),
        400 / 624,
        f"{VENDOR}: {LIMIT}, 400 W, 624 Top/s",
    ),
    exactly(
        "H100 SXM5, GEMM, INT8",
        "pJ/op",
        partial(in_all, "H100-SXM5-80GB", "INT8"),
        700 / 1979,
        f"{VENDOR}: {LIMIT}, 700 W, 1979 Top/s",
    ),
    exactly(
        "Xeon Platinum 8490H, GEMM, BF16 in AMX",
        "pJ/op",
        partial(in_all, "Intel-Xeon-Platinum-8490H", "BF16"),
        350 / 116.7,
        f"{VENDOR}: {LIMIT}, 350 W, 116.7 Top/s",
    ),
    exactly(
        "EPYC 9654, GEMM, FP32",
        "pJ/op",
        partial(in_all, "AMD-EPYC-9654", "FP32"),
        360 / 7.373,
        f"{VENDOR}: {LIMIT}, 360 W, 7.373 Top/s",
        CPU_TERMS,
    ),
    exactly(
        "Core i7-12700K, GEMM, FP32",
        "pJ/op",
        partial(in_all, "Intel-i7-12700K", "FP32"),
        125 / 0.9216,
        f"{VENDOR}: {LIMIT} of the P-cores, 125 W, 0.9216 Top/s",
        "unlike powers: the limit covers four E-cores and graphics as well, and is "
        "validated on the worst part; and as for EPYC 9654",
    ),
    exactly(
        "Snapdragon Ride, GEMM, INT8, against Cloud AI 100",
        "pJ/op",
        partial(in_all, "Qualcomm-Snapdragon-Ride", "INT8"),
        69 / 363,
        "Hot Chips 2021, as in the file: measured, 69 W at 363 Top/s, half of the "
        "activations 0; the machine is modelled after it",
    ),
    exactly(
        "Edge TPU, eight convolutions of 56 x 56 x 64, batch 8, INT8",
        "pJ/op",
        partial(in_all, "Google-Coral-Edge-TPU", "INT8", convolutions(8, 64, 56)),
        2 / 4,
        f"{VENDOR}: 2 Top/s a watt",
    ),
    exactly(
        "Hailo-8, GEMM, INT8",
        "pJ/op",
        partial(in_all, "Hailo-8", "INT8"),
        8.65 / 26,
        f"{VENDOR}: {LIMIT} of the M.2 module, 8.65 W, 26 Top/s",
    ),
    exactly(
        "Plasticine, GEMM, FP32",
        "pJ/op",
        partial(in_all, "Stanford-Plasticine-v2", "FP32"),
        49 / 12.3,
        f"{PLASTICINE}: at most 49 W, 12.3 Top/s",
    ),
)
"""Chips in all against what they may draw: a limit, not a measurement."""

ANCHORS: Final = (*CARRIED, *ABOVE_IDLE, *LIMITS)

PARTS: Final = """\
Most coefficients are taken from these very sources, so that a ratio of 1 says no more than
that a figure was carried over. Where it is not 1, the two are not quite the same thing, and
the row says what differs.
"""

MEASURED: Final = """\
(busy - idle) / achieved against the model without its static term. No coefficient comes
from these figures. A GEMM is of 8192 x 8192 x 8192.
"""

LIMITED: Final = """\
Energy an operation in all against a power limit over the peak, or against a measured power
where the row says so. A limit is no measurement: a chip may stay below it.
"""

SECTIONS: Final = (
    ("Parts", PARTS, CARRIED),
    ("Chips above idle", MEASURED, ABOVE_IDLE),
    ("Chips in all", LIMITED, LIMITS),
)

HEADER: Final = """\
# Anchors

Energy of the reference models against published figures, like with like: arithmetic with
arithmetic, memory with memory, chip with chip. `python bench/anchors.py` prints this page.
**!** marks what is not within a factor of two, with the reason below the table;
`tests/test_anchors.py` holds all other rows to it. In short: parts, systolic arrays and
spatial machines agree, and so do GPUs against the limits of their power, at 0.5 to 1.0 of
them; measured GPUs take up to three times as much above idle as the models, and cores of
CPUs up to three and a half times.
"""

FOOTER: Final = """\
## Without an anchor

Domain-flow and data-flow machines: no silicon of either has been measured in public. DSP
cores and Jetson modules: their published power is that of a whole chip or module. TPU v4i
(7 nm, 175 W) and Eyeriss (65 nm, 12 pJ a 16-bit MAC without DRAM) are not in the library;
the energy table of the one and the ratios of the other are used above.
"""


def line(anchor: Anchor) -> str:
    """A row of the table."""
    published = f"{anchor.low:.4g}"
    if anchor.high > anchor.low:
        published += f" - {anchor.high:.4g}"
    mark = "" if anchor.agrees else " **!**"
    figures = (
        f"{anchor.ours():.4g} | {published} | {anchor.unit} | {anchor.ratio:.2f}{mark}"
    )
    return f"| {anchor.what} | {figures} | {anchor.source} |"


def section(title: str, text: str, anchors: Sequence[Anchor]) -> str:
    """A heading, a table, and the reasons of what disagrees."""
    rows = [line(anchor) for anchor in anchors]
    head = "| what | ours | published | unit | ratio | source |\n|---|---|---|---|---|---|"
    outside = [f"- **!** {a.what}: {a.why}." for a in anchors if not a.agrees]
    parts = [f"## {title}\n", text, head, *rows]
    return "\n".join([*parts, "", *outside, ""] if outside else [*parts, ""])


def page() -> str:
    """The whole page."""
    sections = "\n".join(section(*each) for each in SECTIONS)
    return f"{HEADER}\n{sections}\n{FOOTER}"


def main() -> None:
    """Print the page, or write it to the file that is named."""
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")


if __name__ == "__main__":
    main()

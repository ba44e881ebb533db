"""The ranking of machine classes by energy and latency, with how far it is to be trusted.

RNK001 compares class archetypes in one technology, RNK002 parts of the catalogue at one
operating point, RNK003 their latency; RNK004 lists where public data say otherwise.
Each statement is evaluated as it stands, and what does not hold is reported as such; the
laws of the same names hold what is true of them over random workloads.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from itertools import pairwise, product
from typing import Any, Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Layer, Provenance
from joulecheck.estimate import Answers
from joulecheck.model import UNSCALED, Scales, registered
from joulecheck.reference import load_model
from joulecheck.reference.archetypes import (
    RANKED,
    Archetype,
    Number,
    Values,
    archetype,
    archetype_names,
    device_share,
    technology,
)
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.machine_file import load_machine
from joulecheck.structured import strict_converter
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

FORMAT: Final = 1
"""The number of the report's format."""
SEED: Final = 1
DRAWS: Final = 2000
DISTRIBUTION: Final = (
    "each parameter log-uniform over its range, independent of the others, except that "
    "the rows of the SRAM table move together; shared parameters are drawn once for all "
    "archetypes; the ranges of the assumed ones are estimates as well"
)
POINT: Final = "30W"
POINT_WATT: Final = 30.0
PERCENTILES: Final = (5, 95)


@attrs.frozen
class Named:
    """A workload with the name and the type that the report gives it."""

    name: str
    kind: str
    workload: Workload

    @property
    def case(self) -> Case:
        """It at INT8."""
        return Case(self.workload, Precision.INT8)


def _attention(length: int, width: int) -> Subgraph:
    """One head: scores, a pointwise function in the place of softmax, and their sum."""
    return Subgraph.chain(
        Gemm(length, length, width),
        Elementwise(Function.SIGMOID, (1, length, length, 1)),
        Gemm(length, width, length),
    )


def _layer(  # noqa: PLR0913 - the dimensions of a convolution
    c: int, size: int, k: int, taps: int, *, stride: int = 1, images: int = 8
) -> Conv2d:
    """A convolution of square images that keeps their size, but for its stride."""
    return Conv2d(images, c, size, size, k, taps, taps, stride, padding=taps // 2)


WORKLOADS: Final = (
    Named("GEMM 1024^3", "GEMM", Gemm(1024, 1024, 1024)),
    Named("GEMM 4096^3", "GEMM", Gemm(4096, 4096, 4096)),
    Named("GEMM 8192 x 1024 x 4096", "GEMM", Gemm(8192, 1024, 4096)),
    Named("conv 7x7/2 3-64 @224", "convolution", _layer(3, 224, 64, 7, stride=2)),
    Named("conv 3x3 64-64 @56", "convolution", _layer(64, 56, 64, 3)),
    Named("conv 3x3 256-256 @14", "convolution", _layer(256, 14, 256, 3)),
    Named("head 512 x 64", "attention", _attention(512, 64)),
    Named("head 2048 x 128", "attention", _attention(2048, 128)),
)
"""GEMMs of 1024^3 and more, layers of ResNet-50 (He et al., CVPR 2016; eight images)
and attention heads of BERT (Devlin et al., NAACL 2019) and of a larger model."""

BESIDE: Final = (
    ("TPU", "KPU-seamless"),
    ("KPU", "GPU-lanes"),
    ("GPU-lanes", "CPU"),
    ("GPU-lanes", "CPU-matrix"),
    ("GPU", "CPU-matrix"),
)
"""Links with another layout of a class, reported beside the order."""


@attrs.frozen(kw_only=True)
class Disagreement:
    """A link that public data contradict, or of which there are none."""

    link: str
    better: str
    worse: str
    source: str
    note: str
    family: str = "reference"
    """Of the two models; archetypes are compared in on-chip dynamic energy."""
    least: tuple[int, int, int] = (4096, 4096, 4096)
    """M, N and K of the GEMMs from which on the models contradict the link."""
    undecided: str = ""
    """Where the models contradict it, if not on all of them: RNK004 then claims nothing."""
    better_power: float | None = None
    """Watt, as the other one."""
    better_ops: float | None = None
    """INT8 operations a second, as the other one."""
    worse_power: float | None = None
    worse_ops: float | None = None


@attrs.frozen(kw_only=True)
class Representative:
    """The machine that stands for a class in RNK002."""

    role: str
    machine: str
    below: tuple[str, ...] = ()
    """The roles than which it needs less, on all large regular work."""


@attrs.frozen(kw_only=True)
class Compared:
    """The content of `ranking.toml`."""

    format: int
    representatives: tuple[Representative, ...]
    tiers: Mapping[str, tuple[str, ...]]
    disagreements: tuple[Disagreement, ...]


@cache
def compared() -> Compared:
    """What the ranking compares, from the data file."""
    source = files("joulecheck.reference").joinpath("ranking.toml")
    data = tomllib.loads(source.read_text(encoding="utf-8"))
    return strict_converter().structure(data, Compared)


def report() -> dict[str, Any]:
    """All four statements as plain data, in SI units; the same at every call."""
    return {
        "format": FORMAT,
        "RNK001": iso_technology(),
        "RNK002": at_one_point(),
        "RNK003": latencies(),
        "RNK004": disagreements(),
    }


def on_chip_share(name: str, answers: Answers) -> Floats:
    """Of what the model of an archetype answered, joule on the chip at nominal values.

    Args:
        name: of the model, as archetype:NAME.
        answers: with their terms, and the prediction through DRAM.
    """
    share = device_share(archetype(name.partition(":")[2]), technology().nominal)
    energy: Floats = answers.through[Layer.DRAM] - answers.energy_term("dram") * share
    return energy


def ranked_energy(name: str, answers: Answers) -> Floats:
    """The energy in which a model is ranked: on the chip for archetypes, else total."""
    if name.startswith("archetype:"):
        return on_chip_share(name, answers)
    return answers.energy


def on_chip_energy(chosen: Archetype, cases: Cases, values: Values) -> Floats:
    """Joule on the chip, (cases,): no static energy, and nothing outside the chip.

    Args:
        chosen: the archetype.
        cases: as many as there are draws.
        values: the parameters, each a float or (cases,).
    """
    scales = {
        name: np.broadcast_to(factor, (len(cases),))
        for name, factor in chosen.scales(values).items()
    }
    found = chosen.built.estimate_batch(cases, scales)
    outside = np.asarray(found.energy_terms["dram"]) * device_share(chosen, values)
    energy: Floats = np.asarray(found.through[Layer.DRAM]) - outside
    return energy


def _repeated(case: Case, times: int) -> Cases:
    return Cases.of([case] * times)


def corners(names: Sequence[str]) -> dict[str, Number]:
    """All combinations of the ends of these parameters; the others are nominal."""
    known = technology()
    ends = [known.parameters[name].range for name in names]
    table = np.array([*product(*ends)]).reshape(-1, len(names))
    drawn = {name: table[:, column] for column, name in enumerate(names)}
    return {**known.nominal, **drawn}


def _assumed() -> list[str]:
    return [name for name, one in technology().parameters.items() if one.assumed]


Energies = dict[str, dict[str, Floats]]
"""By workload and archetype: joule of each draw."""


def _energies(values: Values, draws: int) -> Energies:
    found: Energies = {}
    for named in WORKLOADS:
        cases = _repeated(named.case, draws)
        found[named.name] = {
            name: on_chip_energy(archetype(name), cases, values)
            for name in archetype_names()
        }
    return found


def iso_technology(draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """RNK001: on-chip dynamic energy of the archetypes for each MAC of a workload."""
    known = technology()
    nominal = _energies(known.nominal, 1)
    drawn = _energies(known.drawn(np.random.default_rng(seed), draws), draws)
    assumed = _assumed()
    extreme = _energies(corners(assumed), 2 ** len(assumed))
    judge = partial(_link, nominal, drawn, extreme)
    order = [judge(*pair) for pair in pairwise(RANKED)]
    return {
        "statement": f"{' < '.join(RANKED)} in on-chip dynamic energy a MAC at INT8",
        "seed": seed,
        "draws": draws,
        "distribution": DISTRIBUTION,
        "technology": _shared(),
        "parameters": [_parameter(name) for name in known.parameters],
        "archetypes": [_described(archetype(name)) for name in archetype_names()],
        "workloads": [_energy_a_mac(named, nominal[named.name]) for named in WORKLOADS],
        "links": order,
        "beside": [judge(*pair) for pair in BESIDE],
        "order": _whole_order(order, drawn),
    }


def _shared() -> dict[str, Any]:
    t = technology()
    fields = ("process_nm", "macs_per_clock", "clock", "near_bytes", "far_bytes")
    return {field: getattr(t, field) for field in fields} | {"sources": dict(t.sources)}


def _parameter(name: str) -> dict[str, Any]:
    one = technology().parameters[name]
    low, high = sorted(one.range)
    return {
        "name": name,
        "value": one.value,
        "low": low,
        "high": high,
        "unit": one.unit,
        "assumed": one.assumed,
        "source": one.source,
    }


def _described(one: Archetype) -> dict[str, Any]:
    return {
        "name": one.name,
        "architecture": one.architecture,
        "energy_model": one.model.__name__,
        "mechanism": one.mechanism,
        "assumed_parameters": list(one.assumed),
        "assumed_structure": one.assumed_structure,
        "coefficients": {
            name: {"value": row.value, "unit": row.unit}
            for name, row in one.built.data.coefficients.items()
        },
    }


def _energy_a_mac(named: Named, energies: Mapping[str, Floats]) -> dict[str, Any]:
    macs = named.workload.macs
    return {
        "workload": named.name,
        "type": named.kind,
        "macs": macs,
        "energy": {name: float(energy[0]) / macs for name, energy in energies.items()},
        "terms": {name: _terms(archetype(name), named.case) for name in energies},
    }


def _terms(chosen: Archetype, case: Case) -> dict[str, float]:
    """Joule a MAC by term of the model; of DRAM only what is spent on the chip."""
    found = chosen.built.estimate(case).energy_terms
    share = float(np.asarray(device_share(chosen, technology().nominal)))
    kept = {name: float(np.asarray(x)) for name, x in found.items() if name != "static"}
    kept["far_fill"] = kept.pop("dram") * (1 - share)
    return {name: energy / case.macs for name, energy in kept.items()}


def _link(
    nominal: Energies, drawn: Energies, extreme: Energies, better: str, worse: str
) -> dict[str, Any]:
    """One link over all workloads: where it holds, how probably, and what it rests on."""
    rows = [_link_of(named, nominal, drawn, extreme, better, worse) for named in WORKLOADS]
    always = np.logical_and.reduce([one[better] < one[worse] for one in drawn.values()])
    sides = [archetype(better), archetype(worse)]
    reasons = [side.assumed_structure for side in sides if side.assumed_structure]
    weak = [row for row in rows if row["holds"] and not row["survives_assumed"]]
    if weak:
        many = f"{len(weak)} of {len(rows)} workloads"
        reasons.append(f"unsourced coefficients can reverse it on {many}")
    return {
        "better": better,
        "worse": worse,
        "holds": sum(row["holds"] for row in rows),
        "of": len(rows),
        "probability_least": min(row["probability"] for row in rows),
        "probability_all": float(always.mean()),
        "assumed": bool(reasons),
        "because": list(dict.fromkeys(reasons)),
        "unsourced": sorted({name for side in sides for name in side.assumed}),
        "workloads": rows,
    }


def _link_of(  # noqa: PLR0913 - three tables of energies and the two sides of a link
    named: Named,
    nominal: Energies,
    drawn: Energies,
    extreme: Energies,
    better: str,
    worse: str,
) -> dict[str, Any]:
    ratios = [
        table[named.name][worse] / table[named.name][better]
        for table in (nominal, drawn, extreme)
    ]
    low, high = np.percentile(ratios[1], PERCENTILES)
    return {
        "workload": named.name,
        "type": named.kind,
        "holds": bool(ratios[0][0] > 1),
        "ratio": float(ratios[0][0]),
        "probability": float((ratios[1] > 1).mean()),
        "ratio_low": float(low),
        "ratio_high": float(high),
        "ratio_at_worst_assumption": float(ratios[2].min()),
        "survives_assumed": bool(ratios[2].min() > 1),
    }


def _whole_order(links: Sequence[Mapping[str, Any]], drawn: Energies) -> dict[str, Any]:
    """The whole order on each workload."""
    rows = []
    for index, named in enumerate(WORKLOADS):
        energies = drawn[named.name]
        held = [energies[one] < energies[next_] for one, next_ in pairwise(RANKED)]
        rows.append(
            {
                "workload": named.name,
                "holds": all(link["workloads"][index]["holds"] for link in links),
                "probability": float(np.logical_and.reduce(held).mean()),
            }
        )
    return {"holds": sum(row["holds"] for row in rows), "of": len(rows), "workloads": rows}


@attrs.frozen
class Flip:
    """The change of one coefficient at which the two sides of a link are equal."""

    machine: str
    coefficient: str
    factor: float
    """By which it must be multiplied."""
    assumed: bool
    """Whether its value is an estimate."""

    @property
    def size(self) -> float:
        """The factor or its inverse, whichever is above 1."""
        return max(self.factor, 1 / self.factor)


def contributions(model: LayeredModel, case: Case) -> dict[str, float]:
    """Joule that each coefficient contributes: energy is linear in every one of them."""
    names = list(model.coefficients)
    doubled: Scales = {
        name: np.where(np.arange(len(names)) == index, 2.0, 1.0)
        for index, name in enumerate(names)
    }
    cases = _repeated(case, len(names))
    plain = np.asarray(model.estimate_batch(cases, UNSCALED).energy)
    more = np.asarray(model.estimate_batch(cases, doubled).energy) - plain
    return {name: float(more[index]) for index, name in enumerate(names)}


def flip(left: LayeredModel, right: LayeredModel, case: Case) -> Flip | None:
    """The smallest change of a coefficient of either side that reverses their order.

    Energy is E + (f - 1) c for a factor f on a coefficient that contributes c, so that
    f = 1 + gap / c is exact. None if no single coefficient can do it.
    """
    energies = [float(np.asarray(model.estimate(case).energy)) for model in (left, right)]
    gaps = (energies[1] - energies[0], energies[0] - energies[1])
    found = [
        Flip(model.name, name, 1 + gap / share, _is_estimate(model, name))
        for model, gap in zip((left, right), gaps, strict=True)
        for name, share in contributions(model, case).items()
        if share > 0 and 1 + gap / share > 0
    ]
    return min(found, key=lambda one: one.size, default=None)


def _is_estimate(model: LayeredModel, coefficient: str) -> bool:
    return model.coefficients[coefficient].provenance is Provenance.UNKNOWN


def at_power(machine: str) -> str:
    """The name of a machine at 30 W, or as its file states it if there is no point."""
    return (
        f"{machine}@{POINT}" if POINT in load_machine(machine).operating_points else machine
    )


def names_at_power(machine: str) -> tuple[str, ...]:
    """All names of a machine at 30 W: its point, and itself if it states 30 W."""
    itself = machine if load_machine(machine).tdp == POINT_WATT else at_power(machine)
    return tuple(dict.fromkeys((itself, at_power(machine))))


def at_point(machine: str) -> tuple[LayeredModel, str]:
    """The model of a machine at 30 W, and a remark where its file has no such point."""
    data = load_machine(at_power(machine))
    if POINT in data.name or data.tdp == POINT_WATT:
        return load_model(data.name), ""
    remark = f"its file has no point of {POINT_WATT:g} W; taken as stated, {data.tdp:g} W"
    return load_model(machine), remark


def at_one_point() -> dict[str, Any]:
    """RNK002: total energy of the representatives at 30 W, and what would reverse it."""
    chosen = {one.role: at_point(one.machine) for one in compared().representatives}
    models = {role: model for role, (model, _) in chosen.items()}
    rows = [_at_point(named, models) for named in WORKLOADS]
    return {
        "statement": f"{' < '.join(models)} in total energy at {POINT_WATT:g} W, INT8",
        "machines": [
            {"role": role, "machine": model.name, "tdp": model.data.tdp, "remark": remark}
            for role, (model, remark) in chosen.items()
        ],
        "workloads": rows,
        "links": [_counted(rows, *pair) for pair in pairwise(models)],
    }


def _counted(rows: Sequence[Mapping[str, Any]], better: str, worse: str) -> dict[str, Any]:
    """On how many workloads a link holds."""
    links = [one for row in rows for one in row["links"] if one["better"] == better]
    held = sum(one["holds"] for one in links)
    return {"better": better, "worse": worse, "holds": held, "of": len(links)}


def _at_point(named: Named, models: Mapping[str, LayeredModel]) -> dict[str, Any]:
    rows = {role: _inference(model, named.case) for role, model in models.items()}
    return {
        "workload": named.name,
        "type": named.kind,
        "inferences": rows,
        "links": [_flipped(named.case, models, *pair) for pair in pairwise(models)],
    }


def _inference(model: LayeredModel, case: Case) -> dict[str, float]:
    """One execution; "per watt" once of the mean power and once of the profile's.

    A point without a thermal limit of its own is one of a module that is held to 30 W.
    """
    found = model.estimate(case)
    energy, latency = (float(np.asarray(x)) for x in (found.energy, found.latency))
    watts = model.data.tdp or POINT_WATT
    return {
        "energy": energy,
        "latency": latency,
        "static_energy": float(np.asarray(found.energy_terms["static"])),
        "mean_power": energy / latency,
        "inferences_per_second_per_watt": 1 / energy,
        "inferences_per_second_per_watt_of_profile": 1 / (latency * watts),
    }


def _flipped(
    case: Case, models: Mapping[str, LayeredModel], better: str, worse: str
) -> dict[str, Any]:
    sides = models[better], models[worse]
    left, right = (float(np.asarray(model.estimate(case).energy)) for model in sides)
    change = flip(*sides, case)
    return {
        "better": better,
        "worse": worse,
        "holds": left < right,
        "ratio": right / left,
        "flip": change and attrs.asdict(change),
    }


COMMON_PRECISIONS: Final = (Precision.INT8, Precision.BF16, Precision.FP16, Precision.FP32)


def latencies() -> dict[str, Any]:
    """RNK003: which parts are faster, pair by pair."""
    tiers = compared().tiers
    far = [
        (one, other)
        for one, other in product(tiers["data_centre"], tiers["edge"])
        if _class(one) == _class(other)
    ]
    arrays = [
        (one, other)
        for tier in tiers.values()
        for one, other in product(tier, tier)
        if (_class(one), _class(other)) == ("SYSTOLIC_ARRAY", "STORED_PROGRAM")
    ]
    gemms = [named for named in WORKLOADS if named.kind == "GEMM"]
    return {
        "tiers": {name: list(members) for name, members in tiers.items()},
        "data_centre_beats_edge": _raced(far, WORKLOADS, "class"),
        "systolic_array_beats_stored_program": _raced(arrays, gemms, "faster"),
    }


def _class(machine: str) -> str:
    return load_machine(machine).architecture


def _raced(
    pairs: Sequence[tuple[str, str]], workloads: Sequence[Named], group: str
) -> dict[str, Any]:
    """How many comparisons hold, in all and by `group`, and which do not."""
    rows = [row for pair, named in product(pairs, workloads) for row in _race(*pair, named)]
    return {
        "holds": sum(row["holds"] for row in rows),
        "of": len(rows),
        "by": [
            {
                group: name,
                "holds": sum(row["holds"] for row in rows if row[group] == name),
                "of": sum(row[group] == name for row in rows),
            }
            for name in sorted({row[group] for row in rows})
        ],
        "exceptions": [row for row in rows if not row["holds"]],
    }


def _race(faster: str, slower: str, named: Named) -> Iterator[dict[str, Any]]:
    """One comparison at the first precision that both have; nothing without one."""
    models = _model(faster), _model(slower)
    common = [p for p in COMMON_PRECISIONS if all(p in m.precisions for m in models)]
    for precision in common[:1]:
        case = Case(named.workload, precision)
        left, right = (float(np.asarray(m.estimate(case).latency)) for m in models)
        yield {
            "faster": faster,
            "slower": slower,
            "class": _class(faster),
            "workload": named.name,
            "precision": precision.name,
            "holds": left < right,
            "ratio": right / left,
        }


_model: Final[Callable[[str], LayeredModel]] = cache(load_model)


def disagreements() -> dict[str, Any]:
    """RNK004: what public data say, and what the models of the same parts say."""
    return {"known": [_disagreement(one) for one in compared().disagreements]}


def _disagreement(one: Disagreement) -> dict[str, Any]:
    """Joule an operation: published power over published rate, and that of the model."""
    case = Case(Gemm(*one.least), Precision.INT8)
    ours = []
    for name in (one.better, one.worse):
        subject = registered(one.family, name)
        energy = ranked_energy(subject.name, subject.ask(Cases.of([case])))
        ours.append(float(energy[0]) / case.ops)
    published = [
        power / rate if power is not None and rate is not None else None
        for power, rate in (
            (one.better_power, one.better_ops),
            (one.worse_power, one.worse_ops),
        )
    ]
    return {
        **attrs.asdict(one),
        "published": {"better": published[0], "worse": published[1]},
        "model": {"better": ours[0], "worse": ours[1], "holds": ours[0] < ours[1]},
    }

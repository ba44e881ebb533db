"""nn-dataflow 2.1: row-stationary accelerators, mapped by a search for the least cost.

The library is asked through its public calls and told everything anew each time, so
nothing is kept or restored between questions. It needs `joulecheck[nn-dataflow]`;
without it the names of the models are known and building one says what to install.

Units. The library counts words, cycles and costs in energies of one MAC. A word is 16
bits, as in Eyeriss and in the library's own command line, so the models answer for
INT16. A cycle is that of Eyeriss's core clock. One MAC is taken as 1 pJ, a unit
conversion and no claim: every cost is a multiple of it, and no property depends on it.

Workloads. A GEMM is a fully connected layer with M x batch as the library's batch. In a
graph with a convolution the batch is that of the images, and a GEMM is a 1 x 1
convolution. What the library has no words for is refused: padding, dilation, groups, a
product of two activations, functions of more than one operation an element.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from math import inf, isinf
from typing import Any, Final

import attrs

from joulecheck.case import Case
from joulecheck.coefficient import Coefficient, Layer, Provenance, check_scale
from joulecheck.errors import NotOffered, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.machine import Machine, Memory
from joulecheck.model import UNSCALED, Exemption, Scale
from joulecheck.quantities import OPS_PER_MAC, MHz, pJ
from joulecheck.space import Bounds
from joulecheck.workload import (
    AnyOperator,
    Conv2d,
    Elementwise,
    Gemm,
    Node,
    Precision,
    Totals,
    Workload,
    nodes_of,
)

JOULE_PER_MAC: Final = 1 * pJ
"""Joule. Between the 0.23 pJ of an INT8 and the 3.2 pJ of an INT32 multiply and add at
45 nm: Horowitz, ISSCC 2014."""

CLOCK: Final = 200 * MHz
"""Hertz, of the core of Eyeriss: Chen et al., JSSC 52(1), 2017, table V."""

WORD_BYTES: Final = 2
"""Eyeriss computes in 16 bits, and the library's command line takes 16 by default."""

COSTS: Final[Mapping[str, float]] = {
    "mac": 1,
    "dram": 200,
    "gbuf": 6,
    "itcn": 2,
    "regf": 1,
    "noc": 10,
}
"""Energies of a MAC, of a word at each memory, and of a word's hop: the defaults of the
library's command line; the memories as in Chen et al., ISCA 2016, table IV."""

MEMORIES: Final = ("dram", "gbuf", "itcn", "regf")
"""The library's levels, in its order."""

LAYERS: Final = {
    "mac": Layer.ALU,
    "regf": Layer.REGISTER,
    "itcn": Layer.SCRATCHPAD,
    "gbuf": Layer.SCRATCHPAD,
    "noc": Layer.ON_CHIP,
    "dram": Layer.DRAM,
    "idle": Layer.STATIC,
}

EXEMPTIONS: Final = (
    Exemption(
        "CMP004",
        "filters of a single layer count as on the chip already where they fit, by "
        "design, and those of a network of several layers do not",
        "a GEMM of one MAC reads 2 words of DRAM, a chain of two reads 6",
    ),
    Exemption(
        "CMP005",
        "filters of a single layer count as on the chip already where they fit, by "
        "design, and layers of a network may run on parts of the nodes",
        "a GEMM of one MAC reads 2 words of DRAM, two side by side read 6",
    ),
    Exemption(
        "CMP009",
        "utilisation is that of the time in which arrays are busy, not of all the latency",
        "a GEMM of 1 x 4 x 1 keeps the array busy for 5 of 10 ns",
    ),
    Exemption(
        "CON002",
        "the mapper splits dimensions into whole factors only, and filters that fit "
        "count as on the chip already",
        "a GEMM of one row of 32 takes 3 cycles, one of three rows takes 33",
    ),
    Exemption(
        "SYM001",
        "the dataflow is row-stationary: rows of an image lie side by side on the array, "
        "those of a batch follow each other",
        "two positions of an image take one cycle, two rows of a GEMM take two",
    ),
    Exemption(
        "SYM003",
        "the dataflow is row-stationary: taps of a filter row follow each other, "
        "channels may lie side by side",
        "a filter of 1 x 2 takes two cycles, two channels of one tap take one",
    ),
    Exemption(
        "SYM005",
        "the mapper splits dimensions into whole factors only, and the latency is that "
        "of the mapping with the least energy",
        "65 x 113 x 257 takes 63 us, a batch of two of it 167 us",
    ),
    Exemption(
        "MON002",
        "the mapper splits dimensions into whole factors only, so a size with few "
        "factors may cost more than the next; MON004 asks about whole repetitions",
        "one unit more lowers the cost in 1 of 124 exhaustive searches",
    ),
    Exemption(
        "MON003",
        "the latency is that of the mapping with the least energy, which may be slow",
        "a convolution of 3 x 3, stride 2, one output: 54 input channels take 486 "
        "cycles, 55 take 99",
    ),
    Exemption(
        "SEN001",
        "the mapping follows the energy coefficients, so that the energy is concave in "
        "them and single terms are not proportional",
        "the mapping changes in 2 of 2,500 questions on one node, in 9 on four",
    ),
    Exemption(
        "SEN002",
        "the mapping follows the energy coefficients, so that other terms and the "
        "latency change with it",
        "the mapping changes in 2 of 2,500 questions on one node, in 9 on four",
    ),
    *(
        Exemption(
            law,
            "the mapping follows the energy coefficients, so that the energy is concave "
            "in them and not affine",
            "the mapping changes in 2 of 2,500 questions on one node, in 9 on four",
        )
        for law in ("SEN003", "SEN004", "SEN006")
    ),
)


@cache
def _library() -> Any:  # noqa: ANN401 - the library has no types
    """The one import of nn-dataflow.

    Raises:
        NotOffered: it cannot be imported.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what its dependencies deprecate
            return importlib.import_module("nn_dataflow.core")
    except ImportError as error:
        msg = (
            f"the nn-dataflow models need the library, which cannot be imported "
            f"({error}): pip install 'joulecheck[nn-dataflow]'"
        )
        raise NotOffered(msg) from error


@attrs.frozen(kw_only=True)
class Chip:
    """What the library is told about the hardware, in words and cycles."""

    nodes: tuple[int, int] = (1, 1)
    """Rows and columns of nodes, each with a memory channel of its own."""
    array: tuple[int, int]
    """Rows and columns of PEs of a node."""
    regf: int
    """Words of a PE's register file."""
    gbuf: int
    """Words of a node's global buffer."""
    dram_bandwidth: float = inf
    """Words a cycle, of the whole chip."""
    bus_width: float = inf
    """Words a cycle into the array of a node, for each kind of data."""
    idle: float = 0
    """Cost of a cycle of the whole chip."""
    options: Mapping[str, bool]
    """Of the search, beside bypassing the global buffer."""
    operators: frozenset[str]
    """The kinds of workload that it is asked about."""
    largest: int
    """The largest dimension that is answered; the search takes linear time in it."""
    bounds: Bounds

    @property
    def pes(self) -> int:
        """Of all nodes."""
        rows, columns = self.array
        return self.nodes[0] * self.nodes[1] * rows * columns


SOLVER: Final = {"sw_solve_loopblocking": True}
PIPELINED: Final = {
    **SOLVER,
    "partition_hybrid": True,
    "partition_interlayer": True,
}
BOUNDS: Final = Bounds(
    batch=16,
    gemm=512,
    channels=128,
    image=32,
    filter=7,
    stride=4,
    padding=0,
    dilation=1,
    groups=1,
)
"""Nearly every answer comes within 100 ms."""

SMALL: Final = attrs.evolve(BOUNDS, batch=8, gemm=64, channels=32, image=16, stride=2)
"""The same for exhaustive search."""

PRODUCTS: Final = frozenset({"gemm", "conv2d"})
CHAINS: Final = PRODUCTS | {"subgraph"}
EVERYTHING: Final = CHAINS | {"elementwise"}
"""One chip is asked about everything, to leave room for other findings on the rest: the
search for a pair ends with its first, and elementwise layers always have one."""

CHIPS: Final[Mapping[str, Chip]] = {
    # Chen et al., JSSC 2017: 12 x 14 PEs with 224 + 12 + 24 words, a buffer of 108 kB.
    "eyeriss": Chip(
        array=(12, 14),
        regf=260,
        gbuf=55_296,
        options=SOLVER,
        operators=CHAINS,
        largest=4096,
        bounds=BOUNDS,
    ),
    # Every term live, and most GEMMs bound by the DRAM: figures chosen for that.
    "eyeriss-bw": Chip(
        array=(16, 16),
        regf=512,
        gbuf=65_536,
        dram_bandwidth=4,
        bus_width=16,
        idle=50,
        options=SOLVER,
        operators=EVERYTHING,
        largest=4096,
        bounds=BOUNDS,
    ),
    # Four such nodes over which layers are split and pipelined.
    "tiled-2x2": Chip(
        nodes=(2, 2),
        array=(16, 16),
        regf=512,
        gbuf=65_536,
        dram_bandwidth=4,
        idle=50,
        options=PIPELINED,
        operators=CHAINS,
        largest=4096,
        bounds=BOUNDS,
    ),
    # So small that a GEMM of 64 does not fit; asked through both of the searches.
    "edge": Chip(
        array=(4, 4),
        regf=16,
        gbuf=512,
        dram_bandwidth=4,
        options=SOLVER,
        operators=PRODUCTS,
        largest=4096,
        bounds=SMALL,
    ),
    "edge-exhaustive": Chip(
        array=(4, 4),
        regf=16,
        gbuf=512,
        dram_bandwidth=4,
        options={},
        operators=PRODUCTS,
        largest=64,
        bounds=SMALL,
    ),
    # Four PEs, so that every shape fills half of them, and hardly any buffer.
    "micro": Chip(
        array=(2, 2),
        regf=16,
        gbuf=128,
        options=SOLVER,
        operators=PRODUCTS,
        largest=4096,
        bounds=attrs.evolve(SMALL, image=32),
    ),
}


class NNDataflowModel:
    """One chip, asked about one workload at a time."""

    layers = LAYERS
    precisions = frozenset({Precision.INT16})
    exemptions = EXEMPTIONS

    def __init__(self, name: str, chip: Chip) -> None:
        """Prepare the model of a chip.

        Raises:
            NotOffered: the library is not installed.
        """
        _library()
        self.name = name
        self.chip = chip
        self.bounds = chip.bounds
        self.operators = chip.operators

    @cached_property
    def machine(self) -> Machine:
        """The chip in SI units.

        Weights have no home outside: where they fit, the library takes them to be on
        the chip already, by design. What exceeds the chip must come from the DRAM.
        """
        chip, nodes = self.chip, self.chip.nodes[0] * self.chip.nodes[1]
        bandwidth = chip.dram_bandwidth * WORD_BYTES * CLOCK
        return Machine(
            name=self.name,
            architecture="ROW_STATIONARY",
            units=nodes,
            clock=CLOCK,
            peak={Precision.INT16: OPS_PER_MAC * chip.pes * CLOCK},
            memories={
                "regf": Memory(capacity=chip.pes * chip.regf * WORD_BYTES),
                "gbuf": Memory(capacity=nodes * chip.gbuf * WORD_BYTES),
                "dram": Memory(
                    bandwidth=None if isinf(bandwidth) else bandwidth,
                    homes=frozenset({"input", "output"}),
                ),
            },
            quanta=tuple(sorted(set(chip.array))),
        )

    @cached_property
    def coefficients(self) -> dict[str, Coefficient]:
        """Each cost as a price in joule, a byte or a cycle's worth of power.

        A chip of one node has no network between nodes, and no price of it.
        """
        costs = {n: c for n, c in COSTS.items() if n != "noc" or self.chip.nodes != (1, 1)}
        found = {name: self._price(name, cost) for name, cost in costs.items()}
        found["idle"] = Coefficient(
            "idle",
            self.chip.idle * JOULE_PER_MAC * CLOCK,
            "W",
            frozenset({"idle"}),
            "chosen here so that the term is live; 0 is the library's default",
        )
        return found

    def _price(self, name: str, cost: float) -> Coefficient:
        per_byte = name != "mac"
        return Coefficient(
            name,
            cost * JOULE_PER_MAC / (WORD_BYTES if per_byte else 1),
            "J/B" if per_byte else "J/MAC",
            frozenset({name}),
            "defaults of nn-dataflow 2.1 in energies of a MAC, one MAC as 1 pJ",
            Provenance.THEORETICAL,
        )

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """Answer one case, with each named coefficient times its factor.

        Raises:
            Unsupported: another precision, or a workload beyond the library's words.
            UnknownName: a scale names no coefficient.
            InvalidScale: a factor is no finite number of at least 0.
        """
        if case.precision not in self.precisions:
            msg = f"{self.name} computes in INT16, not in {case.precision.name}"
            raise Unsupported(msg)
        costs = self._costs(scale)
        network, batch = build_network(case.workload, self.chip)
        scheme = _search(network, batch, self.chip, costs)
        return _estimate(scheme, self.chip, costs)

    def _costs(self, scale: Scale) -> dict[str, float]:
        check_scale(self.coefficients, scale)
        costs = {**COSTS, "idle": self.chip.idle}
        return {name: cost * scale.get(name, 1.0) for name, cost in costs.items()}


def _search(network: Any, batch: int, chip: Chip, costs: Mapping[str, float]) -> Any:  # noqa: ANN401 - the library has no types
    """The library's cheapest schedule of a network.

    Raises:
        Unsupported: it says that there is none.
    """
    library = _library()
    prices = library.Cost(
        mac_op=costs["mac"],
        mem_hier=tuple(costs[name] for name in MEMORIES),
        noc_hop=costs["noc"],
        idl_unit=costs["idle"],
    )
    options = library.Option(sw_gbuf_bypass=(True, True, True), **chip.options)
    strategy = library.MapStrategyEyeriss
    with contextlib.redirect_stderr(io.StringIO()):
        asked = library.NNDataflow(network, batch, _resource(chip), prices, strategy)
        schemes, _ = asked.schedule_search(options)
    if not schemes:
        msg = "the library finds no schedule on this chip"
        raise Unsupported(msg)
    return schemes[0]


def _resource(chip: Chip) -> Any:  # noqa: ANN401 - the library has no types
    library = _library()
    dim, origin = library.PhyDim2(*chip.nodes), library.PhyDim2(0, 0)
    region = library.NodeRegion
    memory = region(dim=dim, origin=origin, type=region.DRAM)
    return library.Resource(
        proc_region=region(dim=dim, origin=origin, type=region.PROC),
        dram_region=memory,
        src_data_region=memory,
        dst_data_region=memory,
        dim_array=library.PhyDim2(*chip.array),
        size_gbuf=chip.gbuf,
        size_regf=chip.regf,
        array_bus_width=chip.bus_width,
        dram_bandwidth=chip.dram_bandwidth,
        no_time_mux=False,
    )


def _estimate(scheme: Any, chip: Chip, costs: Mapping[str, float]) -> Estimate:  # noqa: ANN401 - the library has no types
    """The library's own totals, and its counts times their prices as terms."""
    counts = dict(zip(MEMORIES, scheme.total_accesses, strict=True))
    counts |= {
        "mac": scheme.total_ops,
        "noc": scheme.total_noc_hops,
        "idle": scheme.total_time,
    }
    layers = list(scheme.values())
    busy = sum(layer.total_proc_time * layer.num_nodes for layer in layers)
    rows, columns = chip.array
    return Estimate(
        energy=scheme.total_cost * JOULE_PER_MAC,
        latency=scheme.total_time / CLOCK,
        utilisation=sum(layer.total_ops for layer in layers) / (busy * rows * columns),
        energy_terms={
            name: count * costs[name] * JOULE_PER_MAC for name, count in counts.items()
        },
        latency_terms={
            "dram": counts["dram"] / chip.dram_bandwidth / CLOCK,
            **_latency_terms(layers),
        },
    )


def _latency_terms(layers: Sequence[Any]) -> dict[str, float]:
    """Seconds of the array and its bus, layer by layer: those of a pipeline overlap."""
    terms = {}
    for index, layer in enumerate(layers):
        terms[f"array.{index}"] = layer.scheme["proc_time"] / CLOCK
        terms[f"bus.{index}"] = layer.scheme["bus_time"] / CLOCK
    return terms


def build_network(workload: Workload, chip: Chip) -> tuple[Any, int]:
    """A workload in the library's words: its network and its batch.

    Raises:
        Unsupported: the library has no words for it, or `chip` is not asked about such
            sizes.
    """
    nodes = nodes_of(workload)
    if isinstance(workload, Totals):
        msg = "totals have no shapes to map"
        raise Unsupported(msg)
    for node in nodes:
        _check(node, chip)
    return _Builder(nodes).build(chip)


def _check(node: Node, chip: Chip) -> None:
    match node.operator:
        case Gemm() if node.sources[1] is not None:
            msg = "the library multiplies activations with weights only"
        case Conv2d() as conv if (conv.padding, conv.dilation, conv.groups) != (0, 1, 1):
            msg = "the library's convolutions have no padding, dilation or groups"
        case Conv2d() as conv if 2 * conv.s + 1 > chip.regf:
            msg = f"two rows of a filter {conv.s} wide exceed {chip.regf} registers"
        case Elementwise() as function if function.function.cost != 1:
            msg = f"the library counts one operation an element, {function} has more"
        case _:
            return
    raise Unsupported(msg)


class _Builder:
    """Adds the nodes of a graph to a network one by one.

    Without a convolution, positions count as batch, as in a fully connected layer.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._rows_are_batch = _all_rows(nodes)
        self._network = _library().Network("joulecheck")
        self._batch = self._batch_of(nodes[0].operator)

    def build(self, chip: Chip) -> tuple[Any, int]:
        """The network and its batch."""
        for index, node in enumerate(self._nodes):
            layer = self._layer(index, node)
            self._require_size(layer, chip)
            self._add(index, node, layer)
        return self._network, self._batch

    def _batch_of(self, operator: AnyOperator) -> int:
        shape = operator.input_shape
        return shape.n * shape.positions if self._rows_are_batch else shape.n

    def _layer(self, index: int, node: Node) -> Any:  # noqa: ANN401 - the library's
        operator, library = node.operator, _library()
        match operator:
            case Conv2d():
                sizes = (operator.p, operator.q), (operator.r, operator.s)
                return library.ConvLayer(operator.c, operator.k, *sizes, operator.stride)
            case Gemm() if self._rows_are_batch:
                return library.FCLayer(operator.k, operator.n)
            case Gemm():
                where = self._map(index, node)
                return library.ConvLayer(operator.k, operator.n, where, 1)
            case Elementwise():
                channels = operator.input_shape.c
                where = self._map(index, node)
                return library.EltwiseLayer(channels, where, operator.operands)

    def _map(self, index: int, node: Node) -> tuple[int, int]:
        """Height and width of what a node reads, as the library has it."""
        if self._rows_are_batch:
            return 1, 1
        source = node.sources[0]
        if source is None:
            shape = self._nodes[index].operator.input_shape
            return shape.h, shape.w
        layer = self._network[str(source)]
        return layer.hofm, layer.wofm

    def _require_size(self, layer: Any, chip: Chip) -> None:  # noqa: ANN401 - the library's
        sizes = (self._batch, layer.nifm, layer.nofm, layer.hifm, layer.wifm)
        if max(sizes) > chip.largest:
            msg = f"dimensions above {chip.largest} take too long, got {max(sizes)}"
            raise Unsupported(msg)

    def _add(self, index: int, node: Node, layer: Any) -> None:  # noqa: ANN401 - the library's
        sources = node.sources[:1] if isinstance(node.operator, Gemm) else node.sources
        if index == 0:
            outside = _library().InputLayer(layer.nifm, (layer.hifm, layer.wifm))
            self._network.set_input_layer(outside)
            self._network.add("0", layer)
            return
        self._require_shape(node, layer)
        before = [
            str(source) if source is not None else self._external(index, place, node, layer)
            for place, source in enumerate(sources)
        ]
        self._network.add(str(index), layer, prevs=before)

    def _require_shape(self, node: Node, layer: Any) -> None:  # noqa: ANN401 - the library's
        """Refuse an image that lies otherwise in the library, or is read in part."""
        if self._batch_of(node.operator) != self._batch:
            msg = "the library has one batch for all layers"
            raise Unsupported(msg)
        shape = node.operator.input_shape
        for source in node.sources:
            if source is None or not isinstance(node.operator, Conv2d):
                continue
            known = self._network[str(source)]
            image = known.hofm, known.wofm
            if image != (shape.h, shape.w) or not layer.is_valid_padding_sifm(image):
                msg = "the library does not rearrange an image or leave a part unread"
                raise Unsupported(msg)

    def _external(self, index: int, place: int, node: Node, layer: Any) -> str:  # noqa: ANN401 - the library's
        """A tensor from outside that is not the first layer's."""
        name = f"{index}.{place}"
        channels = layer.nifm // max(1, node.operator.input_tensors)
        size = layer.hifm, layer.wifm
        self._network.add_ext(name, _library().InputLayer(channels, size))
        return name


def _all_rows(nodes: Sequence[Node]) -> bool:
    """Whether there are matrix products and no images."""
    operators = [node.operator for node in nodes]
    products = any(isinstance(operator, Gemm) for operator in operators)
    return products and not any(isinstance(operator, Conv2d) for operator in operators)


MODELS: Final[Mapping[str, Callable[[], NNDataflowModel]]] = {
    name: partial(NNDataflowModel, name, chip) for name, chip in CHIPS.items()
}
"""Every model, by name. The entry point `joulecheck.models` offers them."""

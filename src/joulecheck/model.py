"""The model under test: the protocol that users implement, and the harness's view of it.

A model needs a name and `estimate`. Everything else is optional, declared as an
attribute and then probed: see `Subject`.
"""

from __future__ import annotations

import fnmatch
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Never, Protocol, cast

import attrs
import numpy as np
from numpy.typing import ArrayLike

from joulecheck.case import Case, Cases, Derivation, DerivedCase, DerivedCases, Question
from joulecheck.coefficient import Coefficient, Layer
from joulecheck.composition import Composition, Each, Max, Sum
from joulecheck.errors import InvalidModel, UnknownName, Unsupported, did_you_mean
from joulecheck.estimate import MAPPINGS, Answers, Estimate, gathered
from joulecheck.knob import Knob, KnobKind
from joulecheck.machine import Machine
from joulecheck.space import Bounds
from joulecheck.workload import (
    PLAINEST_FIRST,
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Precision,
    Totals,
    Workload,
)
from joulecheck.workload.columns import Floats, Ints

Scale = Mapping[str, float]
Scales = Mapping[str, Floats]

UNSCALED: Final[Mapping[str, Never]] = {}

NATURE: Final = ("gemm", "conv2d", "elementwise", "subgraph", "totals")
"""The kinds of workload that a model can say it answers for, in `operators`."""


DIMENSIONS: Final = ("batch", "m", "n", "k")
"""What a model can say it splits, in `splits`; images count as batch, filters as n."""

SYMMETRIES: Final = {
    "gemm": "A and B, M and N exchanged",
    "image": "H and W, R and S exchanged",
}
"""What a model can say it is blind to, in `symmetries`."""

COSTS: Final = ("energy", "latency")


class Model(Protocol):
    """An analytical model of energy, latency or both.

    Optional attributes: `coefficients` {name: Coefficient}, `layers` {energy term:
    Layer or None}, `latency_layers` {latency term: Layer}, `latency_composition` (see
    `joulecheck.composition`), `subtotals` {name: energy terms or other sub-totals},
    `smooth` (names of memories), `precisions`, `operators` (a subset of `NATURE`),
    `machine`, `bounds`, `exemptions`, `estimate_batch(cases, scales)`, which answers a
    whole batch with arrays, and `knobs` {name: Knob} with `derive(factors)`, which gives
    the model of another machine. `splits` (a subset of `DIMENSIONS`), `gradual` and
    `symmetries` {one of `SYMMETRIES`: costs} tell of the mapping: see `Subject`.
    """

    name: str

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """Answer one case, with each named coefficient times its factor.

        Raises:
            Unsupported: the model does not answer for such a case.
        """


class BatchModel(Model, Protocol):
    """A model that answers a whole batch with arrays."""

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """Answer all cases, each field an array with one entry a case."""


class DerivableModel(Model, Protocol):
    """A model that gives models of other machines."""

    knobs: Mapping[str, Knob]

    def derive(self, factors: Mapping[str, float]) -> Model:
        """The model of the machine with each named figure times its factor.

        It is another object, and this one stays what it is.

        Raises:
            Unsupported: there can be no such machine.
        """


@attrs.frozen
class Exemption:
    """A model's word that a property does not apply to it, with the reason."""

    property: str
    reason: str
    evidence: str = ""


class Offer(Enum):
    """What a model may offer and a property may need. The value says how to offer it."""

    ENERGY = "return Estimate(energy=...)"
    LATENCY = "return Estimate(latency=...)"
    UTILISATION = "return Estimate(utilisation=...)"
    ENERGY_TERMS = "return Estimate(energy_terms={...})"
    LATENCY_TERMS = "return Estimate(latency_terms={...})"
    LAYERS = "declare layers = {term: Layer}"
    THROUGH = "return Estimate(through={Layer: joule up to that layer})"
    LATENCY_THROUGH = "return Estimate(latency_through={Layer: second up to that layer})"
    COMPOSITION = 'declare latency_composition = Sum("launch", Max(...))'
    SUBTOTALS = "return Estimate(subtotals={...}) and declare subtotals = {name: terms}"
    TRAFFIC = "return Estimate(traffic={memory: bytes})"
    COEFFICIENTS = "declare coefficients = {name: Coefficient(...)} and obey `scale`"
    PEAK = "declare machine = Machine(name=..., peak={Precision: op/s})"
    BANDWIDTH = "declare machine = Machine(name=..., memories={name: Memory(...)})"
    BATCH = "define estimate_batch(cases, scales)"
    KNOBS = "declare knobs = {name: Knob(...)} and define derive(factors)"
    RESOURCES = "declare machine = Machine(name=..., resources=Resources(...))"
    PEERS = "be one of several models, of a family or named together"
    SPLITS = "declare splits = {dimensions that the mapping may cut anywhere}"
    GRADUAL = "declare gradual = True if one element more costs at most a quantum"
    SYMMETRIES = 'declare symmetries = {"gemm" or "image": costs that it leaves}'


SMALLEST: Final[dict[str, Workload]] = {
    "gemm": Gemm(m=1, n=1, k=1),
    "conv2d": Conv2d(n=1, c=1, h=1, w=1, k=1, r=1, s=1),
    "elementwise": Elementwise(Function.RELU, (1,)),
    "totals": Totals(ops=2, bytes=3),
}
"""The plainest workload of each kind; that of a graph follows from its operators."""


@attrs.frozen(eq=False, kw_only=True)
class Subject:
    """A model as the harness sees it: every optional attribute filled in, checked.

    Build one with `Subject.of(model)`; ask it with `ask`.
    """

    name: str
    model: Model
    coefficients: Mapping[str, Coefficient]
    layers: Mapping[str, Layer | None]
    latency_layers: Mapping[str, Layer]
    latency_composition: Composition | None
    subtotals: Mapping[str, tuple[str, ...]]
    """The energy terms, or other sub-totals, that each sub-total is the sum of, sorted."""
    traffic: frozenset[str]
    """The memories whose traffic it tells."""
    smooth: frozenset[str]
    """Memories beyond the chip whose traffic grows no faster than its room shrinks."""
    precisions: tuple[Precision, ...]
    """Plainest first, as a minimal case prefers them."""
    operators: frozenset[str]
    """The kinds of workload that it declares, or all but totals."""
    machine: Machine
    bounds: Bounds
    """The largest dimensions that the model is asked about."""
    exemptions: Mapping[str, Exemption]
    offers: frozenset[Offer]
    knobs: Mapping[str, Knob] = attrs.field(factory=dict)
    loadable: bool = False
    """Whether another process finds the model by its name."""
    fault: str | None = None
    """The name of the fault that was planted in it, if any."""
    peers: Mapping[str, Callable[[], Subject]] = attrs.field(factory=dict)
    """Other models that it can be compared with, by name; built when called for."""
    splits: frozenset[str] = frozenset()
    """The dimensions that its mapping may cut anywhere, each part mapped by itself."""
    symmetries: Mapping[str, frozenset[str]] = attrs.field(factory=dict)
    """The costs that each exchange of dimensions leaves alone."""
    scalar: bool = False
    """Whether `ask` must go through `estimate` even where there is a batch path."""
    heartbeat: Callable[[int], None] = attrs.field(default=lambda _: None)
    """Called before each call of the model with the row that is asked, -1 for all, so
    that a hang can be told from work."""
    _derived: dict[frozenset[tuple[str, float]], Subject] = attrs.field(
        factory=dict, repr=False
    )
    """The derived machines so far, by what differs; shared by all views of a model."""

    @classmethod
    def of(cls, model: object, *, name: str | None = None) -> Subject:
        """Check `model` against the protocol and probe what it offers.

        Args:
            model: the object; a class is instantiated without arguments.
            name: how the user called it; the model's own name if absent.

        Raises:
            InvalidModel: it has no `name` or no `estimate`, or an optional attribute
                or a first answer breaks the protocol.
        """
        model = _checked(_instance(model))
        operators = _operators(model)
        precisions = _precisions(model, operators)
        machine = _machine(model)
        coefficients = _coefficients(model)
        layers = dict(getattr(model, "layers", {}))
        composition, subtotals = _composition(model), _subtotals(model)
        knobs = _knobs(model)
        splits, symmetries = _splits(model), _symmetries(model)
        first = _first_answer(model, Case(_smallest(operators), precisions[0]))
        traffic = machine.memories.keys() & first.traffic.keys()
        present = {
            Offer.LAYERS: bool(layers),
            Offer.COEFFICIENTS: bool(coefficients),
            Offer.COMPOSITION: composition is not None,
            Offer.SUBTOTALS: _are_given(model, subtotals, first),
            Offer.TRAFFIC: bool(traffic),
            Offer.KNOBS: bool(knobs),
            Offer.SPLITS: bool(splits),
            Offer.GRADUAL: bool(getattr(model, "gradual", False)),
            Offer.SYMMETRIES: bool(symmetries),
        }
        exemptions = tuple(getattr(model, "exemptions", ()))
        return cls(
            name=name or model.name,
            model=model,
            coefficients=coefficients,
            layers=layers,
            latency_layers=dict(getattr(model, "latency_layers", {})),
            latency_composition=composition,
            subtotals=subtotals,
            traffic=frozenset(traffic),
            smooth=frozenset(getattr(model, "smooth", ())),
            precisions=precisions,
            operators=operators,
            machine=machine,
            bounds=getattr(model, "bounds", Bounds()),
            exemptions={e.property: e for e in exemptions},
            offers=_offers(model, first, machine, present),
            knobs=knobs,
            splits=splits,
            symmetries=symmetries,
        )

    @property
    def vectorised(self) -> bool:
        """Whether a batch is one call."""
        return Offer.BATCH in self.offers and not self.scalar

    @property
    def one_by_one(self) -> Subject:
        """The same model, asked through its scalar path."""
        return attrs.evolve(self, scalar=True)

    @property
    def in_batches(self) -> Subject:
        """The same model, asked through its batch path where it has one."""
        return attrs.evolve(self, scalar=False)

    @property
    def energy_coefficients(self) -> tuple[str, ...]:
        """The names of the coefficients in J or W."""
        return tuple(n for n, c in self.coefficients.items() if c.is_energy)

    def ask(self, cases: Cases, scales: Scales = UNSCALED) -> Answers:
        """The model's answers to a batch, with each coefficient times its factors.

        What the model raises is recorded by row, never passed on.
        """
        if not self.vectorised:
            return self._ask_each(cases, scales)
        self.heartbeat(-1)
        try:
            answered = cast("BatchModel", self.model).estimate_batch(cases, scales)
            return _laid_out(answered, len(cases))
        except KeyboardInterrupt:
            raise
        except Unsupported:  # of some row
            return self._ask_each(cases, scales)
        except BaseException as error:  # noqa: BLE001 - the scalar path finds out which row
            return attrs.evolve(self._ask_each(cases, scales), batch_error=_named(error))

    def answer(self, question: Question) -> Answers:
        """The answer to one question of a case, on the scalar path; see `ask_derived`.

        Raises:
            UnknownName: it is put to a peer that the model does not have.
            InvalidModel: the model does not derive what it declares.
        """
        asked = self.peer(question.peer) if question.peer else self
        derivation = Derivation(question.factors, question.scale)
        return asked.one_by_one.ask_derived(
            DerivedCases.of([DerivedCase(question.case, derivation)])
        )

    def ask_derived(self, cases: DerivedCases) -> Answers:
        """The answers to a batch, each on the case's derived machine.

        A machine that cannot be is recorded as unsupported, a knob that the model does
        not have as an error.

        Raises:
            InvalidModel: the model does not derive what it declares.
        """
        parts = [
            (rows, self._on_derived(derivation, cases.cases, rows))
            for derivation, rows in cases.groups()
        ]
        return gathered(parts, len(cases))

    def _on_derived(self, derivation: Derivation, cases: Cases, rows: Ints) -> Answers:
        none, size = [Estimate()] * len(rows), len(rows)
        try:
            subject = self.derived(derivation.factors)
        except Unsupported:
            return _stacked(none, np.ones(size, dtype=bool), {})
        except UnknownName as error:
            errors = dict.fromkeys(range(size), _named(error))
            return _stacked(none, np.zeros(size, dtype=bool), errors)

        def beat(row: int) -> None:
            self.heartbeat(int(rows[row]) if row >= 0 else row)

        scales = {name: np.full(len(rows), f) for name, f in derivation.scale.items()}
        return attrs.evolve(subject, heartbeat=beat).ask(cases.take(rows), scales)

    def derived(self, factors: Mapping[str, float]) -> Subject:
        """The same model of the machine with these figures multiplied; built once.

        Raises:
            Unsupported: there can be no such machine.
            UnknownName: there is no such knob.
            InvalidModel: the model does not derive what it declares.
        """
        moved = {name: factor for name, factor in factors.items() if factor != 1.0}
        if not moved:
            return self
        for name in moved.keys() - self.knobs.keys():
            msg = f"{self.name} has no knob {name!r}: {did_you_mean(name, self.knobs)}"
            raise UnknownName(msg)
        key = frozenset(moved.items())
        if key not in self._derived:
            made = _derived_model(self.model, moved)
            self._derived[key] = Subject.of(made, name=self.name)
        found = self._derived[key]
        return attrs.evolve(found, scalar=self.scalar, heartbeat=self.heartbeat)

    def knobs_of(self, *kinds: KnobKind) -> dict[str, Knob]:
        """The knobs of some kinds."""
        return {name: knob for name, knob in self.knobs.items() if knob.kind in kinds}

    def beside(self, peers: Mapping[str, Callable[[], Subject]]) -> Subject:
        """The same model, to be compared with these."""
        offers = self.offers | {Offer.PEERS} if peers else self.offers - {Offer.PEERS}
        return attrs.evolve(self, peers=peers, offers=offers)

    def peer(self, name: str) -> Subject:
        """One of its peers, asked through the same path.

        Raises:
            UnknownName: it has no such peer.
        """
        try:
            load = self.peers[name]
        except KeyError:
            known = did_you_mean(name, self.peers)
            msg = f"{self.name} has no peer called {name!r} to compare it with: {known}"
            raise UnknownName(msg) from None
        return attrs.evolve(load(), scalar=self.scalar, heartbeat=self.heartbeat)

    def _ask_each(self, cases: Cases, scales: Scales) -> Answers:
        estimates: list[Estimate] = []
        unsupported = np.zeros(len(cases), dtype=bool)
        errors: dict[int, str] = {}
        for index in range(len(cases)):
            self.heartbeat(index)
            scale = {n: float(f[index]) for n, f in scales.items() if f[index] != 1.0}
            try:
                estimate = self.model.estimate(cases[index], scale)
                _check_estimate(self.name, estimate)
            except Unsupported:
                unsupported[index] = True
                estimate = Estimate()
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a finding of the ROB family
                errors[index] = _named(error)
                estimate = Estimate()
            estimates.append(estimate)
        return _stacked(estimates, unsupported, errors)


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _instance(model: object) -> object:
    """The object itself, or what a class makes without arguments.

    Raises:
        InvalidModel: the class raises.
    """
    if not isinstance(model, type):
        return model
    try:
        return model()
    except Exception as error:
        msg = f"{model.__name__}() cannot be built without arguments: {_named(error)}"
        raise InvalidModel(msg) from error


def _checked(model: object) -> Model:
    missing = [a for a in ("name", "estimate") if not hasattr(model, a)]
    if missing:
        msg = (
            f"{model!r} is no model: it must have `name` and `estimate(case, "
            f"scale)`, and lacks {' and '.join(missing)}; see the README's example"
        )
        raise InvalidModel(msg)
    return cast("Model", model)


def _wrong(model: Model, attribute: str, rule: str, value: object) -> str:
    return f"{model.name}.{attribute} must be {rule}, got {value!r}"


def _operators(model: Model) -> frozenset[str]:
    declared = getattr(model, "operators", None)
    if declared is None:
        return frozenset(NATURE) - {"totals"}
    alone = set(declared) - {"subgraph"}
    if not alone or not alone <= set(NATURE):
        rule = f"a subset of {', '.join(NATURE)} that names more than subgraph"
        raise InvalidModel(_wrong(model, "operators", rule, declared))
    return frozenset(declared)


def _machine(model: Model) -> Machine:
    machine = getattr(model, "machine", None) or Machine(name=model.name)
    if not isinstance(machine, Machine):
        raise InvalidModel(_wrong(model, "machine", "a joulecheck.Machine", machine))
    return machine


def _coefficients(model: Model) -> dict[str, Coefficient]:
    coefficients = dict(getattr(model, "coefficients", {}))
    for name, coefficient in coefficients.items():
        if not isinstance(coefficient, Coefficient):
            rule = "a mapping of names to joulecheck.Coefficient"
            raise InvalidModel(_wrong(model, f"coefficients[{name!r}]", rule, coefficient))
    return coefficients


def _composition(model: Model) -> Composition | None:
    declared = getattr(model, "latency_composition", None)
    if declared is not None and not isinstance(declared, str | Sum | Max | Each):
        rule = "a joulecheck.Sum, Max or Each, or the name of a term"
        raise InvalidModel(_wrong(model, "latency_composition", rule, declared))
    return declared


def _subtotals(model: Model) -> dict[str, tuple[str, ...]]:
    declared = dict(getattr(model, "subtotals", {}))
    for name, parts in declared.items():
        if not parts or isinstance(parts, str):
            rule = "the names of the terms that it sums, as in {'on_chip': ['l1', 'l2']}"
            raise InvalidModel(_wrong(model, f"subtotals[{name!r}]", rule, parts))
    return {name: tuple(sorted(parts)) for name, parts in declared.items()}


def _knobs(model: Model) -> dict[str, Knob]:
    knobs = dict(getattr(model, "knobs", {}))
    for name, knob in knobs.items():
        if not isinstance(knob, Knob):
            rule = "a mapping of names to joulecheck.Knob"
            raise InvalidModel(_wrong(model, f"knobs[{name!r}]", rule, knob))
        if not knob.allows(1.0):
            rule = "a Knob with 1, the machine as it is, between low and high"
            raise InvalidModel(_wrong(model, f"knobs[{name!r}]", rule, knob))
    if knobs and not callable(getattr(model, "derive", None)):
        rule = "a method derive(factors), since the model declares knobs"
        raise InvalidModel(_wrong(model, "derive", rule, getattr(model, "derive", None)))
    return knobs


def _derived_model(model: Model, factors: Mapping[str, float]) -> Model:
    try:
        made = cast("DerivableModel", model).derive(factors)
    except (Unsupported, KeyboardInterrupt):
        raise
    except BaseException as error:
        msg = (
            f"{model.name}.derive({factors}) must return a model, or raise Unsupported "
            f"where there can be no such machine; it raised {_named(error)}"
        )
        raise InvalidModel(msg) from error
    if made is model:
        rule = "a method that returns another model and leaves its own as it is"
        raise InvalidModel(_wrong(model, "derive", rule, "the model itself"))
    return made


def _splits(model: Model) -> frozenset[str]:
    declared = getattr(model, "splits", ())
    if isinstance(declared, str) or not set(declared) <= set(DIMENSIONS):
        rule = f"a collection of {', '.join(DIMENSIONS)}"
        raise InvalidModel(_wrong(model, "splits", rule, declared))
    return frozenset(declared)


def _symmetries(model: Model) -> dict[str, frozenset[str]]:
    declared = dict(getattr(model, "symmetries", {}))
    for name, costs in declared.items():
        if name not in SYMMETRIES or isinstance(costs, str) or not set(costs) <= set(COSTS):
            rule = f"{' or '.join(SYMMETRIES)}: a collection of {', '.join(COSTS)}"
            found = f"{name}: {costs}"
            raise InvalidModel(_wrong(model, "symmetries", rule, found))
    return {name: frozenset(costs) for name, costs in declared.items() if costs}


def _smallest(operators: frozenset[str]) -> Workload:
    return next(tiny for nature, tiny in SMALLEST.items() if nature in operators)


def _precisions(model: Model, operators: frozenset[str]) -> tuple[Precision, ...]:
    """Those declared, or those for which a first question is not refused."""
    declared = getattr(model, "precisions", None)
    if declared is not None:
        if not declared or not all(isinstance(p, Precision) for p in declared):
            rule = "a non-empty collection of joulecheck.Precision"
            raise InvalidModel(_wrong(model, "precisions", rule, declared))
        return tuple(p for p in PLAINEST_FIRST if p in declared)
    workload = _smallest(operators)
    answered = [p for p in PLAINEST_FIRST if _answers(model, Case(workload, p))]
    if not answered:
        msg = (
            f"{model.name} answers for no precision: estimate(Case({workload})) raises "
            f"Unsupported for all of them; declare `precisions` and `operators`"
        )
        raise InvalidModel(msg)
    return tuple(answered)


def _answers(model: Model, case: Case) -> bool:
    try:
        model.estimate(case)
    except Unsupported:
        return False
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - robustness is a property's business
        return True
    return True


def _are_given(
    model: Model, subtotals: Mapping[str, tuple[str, ...]], first: Estimate
) -> bool:
    """Whether an answer has declared sub-totals."""
    if ambiguous := subtotals.keys() & first.energy_terms.keys():
        rule = "names that no energy term has"
        raise InvalidModel(_wrong(model, "subtotals", rule, min(ambiguous)))
    return bool(subtotals.keys() & first.subtotals.keys())


def _offers(
    model: Model, first: Estimate, machine: Machine, declared: Mapping[Offer, bool]
) -> frozenset[Offer]:
    memories = machine.memories.values()
    present = {
        **declared,
        Offer.ENERGY: first.energy is not None,
        Offer.LATENCY: first.latency is not None,
        Offer.UTILISATION: first.utilisation is not None,
        Offer.ENERGY_TERMS: bool(first.energy_terms),
        Offer.LATENCY_TERMS: bool(first.latency_terms),
        Offer.THROUGH: bool(first.through),
        Offer.LATENCY_THROUGH: bool(first.latency_through),
        Offer.PEAK: bool(machine.peak),
        Offer.BANDWIDTH: any(m.bandwidth and m.homes for m in memories),
        Offer.BATCH: callable(getattr(model, "estimate_batch", None)),
        Offer.RESOURCES: machine.resources is not None,
    }
    return frozenset(offer for offer, is_there in present.items() if is_there)


def _first_answer(model: Model, case: Case) -> Estimate:
    try:
        answer = model.estimate(case)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        msg = (
            f"{model.name} cannot answer the smallest case, {case.workload} at "
            f"{case.precision.name}: {_named(error)}"
        )
        raise InvalidModel(msg) from error
    _check_estimate(model.name, answer)
    return answer


def _check_estimate(name: str, estimate: object) -> None:
    if not isinstance(estimate, Estimate):
        msg = (
            f"{name}.estimate must return a joulecheck.Estimate, got "
            f"{type(estimate).__name__}: wrap the numbers, as in Estimate(energy=...)"
        )
        raise InvalidModel(msg)
    for field in ("energy", "latency", "utilisation"):
        _check_number(name, field, getattr(estimate, field))
    for field in MAPPINGS:
        for term, value in _mapping(name, field, getattr(estimate, field)).items():
            _check_number(name, f"{field}[{term!r}]", value)


def _mapping(name: str, field: str, value: object) -> Mapping[object, object]:
    if not isinstance(value, Mapping):
        msg = (
            f"{name}.estimate: {field} must be a mapping of names to numbers, got "
            f"{value!r} of {type(value).__name__}"
        )
        raise InvalidModel(msg)
    return value


def _check_number(name: str, field: str, value: object) -> None:
    if value is not None and not isinstance(value, numbers.Real):
        msg = (
            f"{name}.estimate: {field} must be a real number in SI units, got "
            f"{value!r} of {type(value).__name__}"
        )
        raise InvalidModel(msg)


def _column(values: Iterable[ArrayLike | None]) -> Floats:
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


def _stacked(
    estimates: Sequence[Estimate],
    unsupported: np.ndarray[Any, np.dtype[np.bool_]],
    errors: dict[int, str],
) -> Answers:
    silent = unsupported.copy()
    silent[list(errors)] = True

    def terms(field: str, absent: float) -> dict[Any, Floats]:
        names = dict.fromkeys(n for e in estimates for n in getattr(e, field))
        columns = {
            n: _column(getattr(e, field).get(n, absent) for e in estimates) for n in names
        }
        return {name: np.where(silent, np.nan, column) for name, column in columns.items()}

    scopes = [e.scope for e in estimates if e.scope is not None]
    return Answers(
        energy=_column(e.energy for e in estimates),
        latency=_column(e.latency for e in estimates),
        utilisation=_column(e.utilisation for e in estimates),
        energy_terms=terms("energy_terms", 0.0),
        latency_terms=terms("latency_terms", 0.0),
        through=terms("through", np.nan),
        latency_through=terms("latency_through", np.nan),
        subtotals=terms("subtotals", np.nan),
        traffic=terms("traffic", np.nan),
        scope=frozenset().union(*scopes) if scopes else None,
        unsupported=unsupported,
        errors=errors,
    )


def _laid_out(estimate: Estimate, size: int) -> Answers:
    def column(value: ArrayLike | None) -> Floats:
        filled = np.asarray(np.nan if value is None else value, dtype=np.float64)
        return filled if filled.shape == (size,) else np.broadcast_to(filled, (size,))

    def terms(values: Mapping[Any, ArrayLike]) -> dict[Any, Floats]:
        return {name: column(value) for name, value in values.items()}

    return Answers(
        energy=column(estimate.energy),
        latency=column(estimate.latency),
        utilisation=column(estimate.utilisation),
        energy_terms=terms(estimate.energy_terms),
        latency_terms=terms(estimate.latency_terms),
        through=terms(estimate.through),
        latency_through=terms(estimate.latency_through),
        subtotals=terms(estimate.subtotals),
        traffic=terms(estimate.traffic),
        scope=estimate.scope,
        unsupported=np.zeros(size, dtype=bool),
        errors={},
    )


Factory = Callable[[], Model]
Family = Mapping[str, Factory]


@cache
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="joulecheck.models")}


def family_names() -> list[str]:
    """The prefixes of all registered families of models.

    They come from the entry point group `joulecheck.models`.
    """
    return sorted(_entries())


@cache
def family(prefix: str) -> Family:
    """One registered family of models, name -> factory; loaded when first asked for.

    Raises:
        UnknownName: there is no such family.
    """
    if prefix not in _entries():
        known = did_you_mean(prefix, family_names())
        msg = f"no family of models is called {prefix!r}: {known}"
        raise UnknownName(msg)
    return cast("Family", _entries()[prefix].load())


@cache
def _known(prefix: str, name: str) -> bool:
    """Whether a family has a model of that name; some build it to find out."""
    return name in family(prefix)


@attrs.frozen
class Peers(Mapping[str, Callable[[], Subject]]):
    """The other models of a registered family, by the names that a user writes.

    It lists those that the family lists, and knows whatever the family knows.
    """

    prefix: str
    own: str
    """The name, within the family, of the model whose peers they are."""

    def __getitem__(self, name: str) -> Callable[[], Subject]:
        """What gives the peer of that name.

        Raises:
            KeyError: there is none.
        """
        prefix, _, rest = name.partition(":")
        if prefix != self.prefix or rest == self.own or not _known(prefix, rest):
            raise KeyError(name)
        return partial(registered, prefix, rest)

    def __iter__(self) -> Iterator[str]:
        """The names of those that the family lists, in its order."""
        return (f"{self.prefix}:{n}" for n in family(self.prefix) if n != self.own)

    def __len__(self) -> int:
        """How many of them there are."""
        return sum(1 for _ in self)


_WILD: Final = frozenset("*?[")
"""What makes a name a shell pattern."""


def loadable(model: object, name: str) -> Subject:
    """A model that any process finds by `name`.

    Raises:
        InvalidModel: see `Subject.of`.
    """
    return attrs.evolve(Subject.of(model, name=name), loadable=True)


@cache
def registered(prefix: str, name: str) -> Subject:
    """One model of a registered family, built once.

    Raises:
        UnknownName: no such family or model.
    """
    models = family(prefix)
    try:
        factory = models[name]
    except KeyError:
        msg = f"{prefix} has no model {name!r}: {did_you_mean(name, models)}"
        raise UnknownName(msg) from None
    subject = loadable(factory(), f"{prefix}:{name}")
    return subject.beside(Peers(prefix, name))


def matching(prefix: str, pattern: str) -> list[Subject]:
    """The models of a family whose name matches a shell pattern, in the family's order.

    A family may offer `variants()`, further names that it lists only when a pattern
    with an "@" asks for them, and may know more of those by their exact names.

    Raises:
        UnknownName: none matches.
    """
    models = family(prefix)
    listed = list(models)
    if "@" in pattern:
        if not _WILD.intersection(pattern):
            return [registered(prefix, pattern)]
        listed += getattr(models, "variants", list)()
    names = [name for name in listed if fnmatch.fnmatchcase(name, pattern or "*")]
    if not names:
        known = did_you_mean(pattern, listed)
        msg = f"no model of {prefix} matches {pattern!r}: {known}"
        raise UnknownName(msg)
    return [registered(prefix, name) for name in names]

"""The harness's view of a model: every optional attribute filled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import attrs
import numpy as np

from joulecheck.case import Case, Cases, Derivation, DerivedCase, DerivedCases, Question
from joulecheck.coefficient import Coefficient, Layer
from joulecheck.composition import Composition
from joulecheck.errors import UnknownName, Unsupported, did_you_mean
from joulecheck.estimate import Answers, Estimate, gathered
from joulecheck.knob import Knob, KnobKind
from joulecheck.machine import Machine
from joulecheck.model import declared
from joulecheck.model.layout import laid_out, stacked
from joulecheck.model.protocol import UNSCALED, BatchModel, Exemption, Model, Offer, Scales
from joulecheck.space import Bounds
from joulecheck.workload import (
    Precision,
)
from joulecheck.workload.columns import Ints


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
    events: frozenset[str]
    """The coefficients of which it tells how often they are charged."""
    resident: Mapping[str, float]
    """By memory: bytes. Where all operands of each operator, results at the width of a
    partial sum, are no more together, each crosses the memory's edge once at most."""
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
        model = declared.checked(declared.instance(model))
        operators = declared.operators(model)
        precisions = declared.precisions(model, operators)
        machine = declared.machine(model)
        coefficients = declared.coefficients(model)
        layers = dict(getattr(model, "layers", {}))
        composition, subtotals = declared.composition(model), declared.subtotals(model)
        knobs = declared.knobs(model)
        splits, symmetries = declared.splits(model), declared.symmetries(model)
        first = declared.first_answer(
            model, Case(declared.smallest(operators), precisions[0])
        )
        traffic = machine.memories.keys() & first.traffic.keys()
        events = coefficients.keys() & first.events.keys()
        resident = declared.resident(model, machine)
        present = {
            Offer.LAYERS: bool(layers),
            Offer.COEFFICIENTS: bool(coefficients),
            Offer.COMPOSITION: composition is not None,
            Offer.SUBTOTALS: declared.are_given(model, subtotals, first),
            Offer.TRAFFIC: bool(traffic),
            Offer.EVENTS: bool(events),
            Offer.RESIDENT: bool(resident),
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
            events=frozenset(events),
            resident=resident,
            smooth=frozenset(getattr(model, "smooth", ())),
            precisions=precisions,
            operators=operators,
            machine=machine,
            bounds=getattr(model, "bounds", Bounds()),
            exemptions={e.property: e for e in exemptions},
            offers=declared.offers(model, first, machine, present),
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
            return laid_out(answered, len(cases))
        except KeyboardInterrupt:
            raise
        except Unsupported:  # of some row
            return self._ask_each(cases, scales)
        except BaseException as error:  # noqa: BLE001 - the scalar path finds out which row
            return attrs.evolve(
                self._ask_each(cases, scales), batch_error=declared.told(error)
            )

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
            return stacked(none, np.ones(size, dtype=bool), {})
        except UnknownName as error:
            errors = dict.fromkeys(range(size), declared.told(error))
            return stacked(none, np.zeros(size, dtype=bool), errors)

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
            made = declared.derived_model(self.model, moved)
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
                declared.check_estimate(self.name, estimate)
            except Unsupported:
                unsupported[index] = True
                estimate = Estimate()
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a finding of the ROB family
                errors[index] = declared.told(error)
                estimate = Estimate()
            estimates.append(estimate)
        return stacked(estimates, unsupported, errors)

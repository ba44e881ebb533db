"""The data of a model's machine by name, and the same model with other data."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from joulecheck.coefficient import Provenance
from joulecheck.faults.planted import FaultyModel
from joulecheck.model import Subject
from joulecheck.reference.cluster import ClusterEnergyModel
from joulecheck.reference.figures import Figure, figures_of, flattened, with_figures
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.machine_file import CoefficientRow

__all__ = ["Declared", "Figure", "figures_of_model", "is_rebuilt", "knob_of", "rebuilt"]


@attrs.frozen
class Declared:
    """A coefficient as a model declared it."""

    value: float
    unit: str


def _reference(model: Subject) -> LayeredModel | None:
    """The reference model of one machine that answers, if one does."""
    found = model.model
    if isinstance(found, FaultyModel):
        found = found.model
    single = isinstance(found, LayeredModel) and not isinstance(found, ClusterEnergyModel)
    return found if single else None  # type: ignore[return-value]  # it is one


def is_rebuilt(model: Subject) -> bool:
    """Whether `rebuilt` can give the model of another machine."""
    return _reference(model) is not None


def figures_of_model(model: Subject) -> dict[str, Figure]:
    """The data of its machine: of the file of a reference model, else as it declares."""
    found = _reference(model)
    if found is not None:
        return figures_of(found.data)
    declared = attrs.asdict(model.machine, filter=_is_figure)
    return flattened(declared)


def _is_figure(attribute: attrs.Attribute[object], _: object) -> bool:
    return attribute.name not in {"name", "sources", "operating_points", "successor_of"}


def rebuilt(
    model: Subject, figures: Mapping[str, Figure], coefficients: Mapping[str, Declared]
) -> Subject:
    """The same formulas for a machine with these data and these values.

    Args:
        model: of which `is_rebuilt` holds.
        figures: all of them.
        coefficients: those that differ, or that the machine does not have.

    Raises:
        InvalidMachine: the data make no machine.
        InvalidModel: the model of it breaks the protocol.
    """
    found = _reference(model)
    assert found is not None  # noqa: S101 - the caller asked
    rows = dict(found.data.coefficients)
    for name, one in coefficients.items():
        stated = rows.get(name) or CoefficientRow(0.0, "", "", Provenance.UNKNOWN)
        rows[name] = attrs.evolve(stated, value=one.value, unit=one.unit)
    data = attrs.evolve(with_figures(found.data, figures), coefficients=rows)
    made = type(found)(data)
    if isinstance(model.model, FaultyModel):
        return Subject.of(model.model.planted_in(made), name=model.name)
    return Subject.of(made, name=model.name)


def knob_of(figure: str) -> str:
    """The knob that turns a figure of a machine, as reference models call them."""
    return figure.removeprefix("memories.")

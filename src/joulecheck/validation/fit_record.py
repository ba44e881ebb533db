"""What a fit leaves in the provenance ledger, and on demand in the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Final

from joulecheck.coefficient import Provenance
from joulecheck.errors import NotOffered
from joulecheck.model import Subject
from joulecheck.validation.fields import Field, fields_of
from joulecheck.validation.figures import (
    Declared,
    figures_of_model,
    is_rebuilt,
    rebuilt,
)
from joulecheck.validation.fitters import Fit, Fitted, Status
from joulecheck.validation.ledger import SCORES, Flag, Ledger, Support

LAW: Final = "fit"
"""What a flag says that was not a property."""

SOURCE: Final = "fit to the model's own outputs"


def apply_to_model(
    found: Fit, model: Subject, ledger: Ledger, *, values: bool = False
) -> Subject:
    """Write what a fit shows into a ledger; the model stays unless values are asked for.

    A figure whose coefficients were all recovered is THEORETICAL: the model computes with
    the value that it states. One of a coefficient that contradicts its declaration is
    flagged. What the outputs do not tell changes nothing.

    Args:
        found: the fit of the model.
        model: that model.
        ledger: to be changed.
        values: whether coefficients whose fitted value is not the declared one get the
            fitted one.

    Returns:
        The model, with fitted values if they are asked for.

    Raises:
        NotOffered: values are asked for, and the model cannot be built with others.
    """
    made = _with_values(found, model) if values else model
    fitted = {one.name: one for one in found.coefficients}
    for field in fields_of(model).values():
        _note(ledger, model.name, field, fitted, found)
    return made


def _note(
    ledger: Ledger, machine: str, field: Field, fitted: Mapping[str, Fitted], found: Fit
) -> None:
    names = field.of or (field.name,)
    ones = [fitted[name] for name in names if name in fitted]
    if not ones:
        return
    ledger.unflag(machine, field, LAW)
    wrong = [one for one in ones if one.status.is_fault]
    if wrong:
        reason = "; ".join(f"{one.name}: {one.status.value}" for one in wrong)
        flag = Flag(property=LAW, finding=None, blamed=True, reason=reason)
        ledger.flag(machine, field, flag)
    elif len(ones) == len(names) and all(one.status is Status.RECOVERED for one in ones):
        ledger.promote(machine, field, _support(ones, found))


def _support(ones: Sequence[Fitted], found: Fit) -> Support:
    return Support(
        level=Provenance.THEORETICAL,
        score=SCORES[Provenance.THEORETICAL],
        source=SOURCE,
        cases=found.workloads,
        greatest_error=max(one.error or 0.0 for one in ones),
        note=f"by {', '.join(one.count for one in ones)}; seed {found.seed}",
        version=version("joulecheck"),
    )


def _with_values(found: Fit, model: Subject) -> Subject:
    wrong = [one for one in found.coefficients if one.status is Status.MIS_SCALED]
    values = {
        one.name: Declared(one.value, one.unit) for one in wrong if one.value is not None
    }
    if not values:
        return model
    if not is_rebuilt(model):
        msg = (
            f"{model.name} cannot be built with other values: write them where it has them"
        )
        raise NotOffered(msg)
    return rebuilt(model, figures_of_model(model), values)

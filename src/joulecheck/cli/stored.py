"""Models by the names that stored findings give."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from joulecheck.cli.options import chosen_models, named_option
from joulecheck.errors import UnknownName
from joulecheck.faults import fault_named, inject
from joulecheck.model import Subject, family_names
from joulecheck.reference.layered import LayeredModel
from joulecheck.resolve import stored_model

own_models_option = named_option(
    "--models",
    "models",
    multiple=True,
    metavar="MODEL",
    help="A model of your own whose findings are to run: MODULE:CLASS. Repeatable. "
    "Names in the corpus are compared with it and never imported.",
)


def resolver(patterns: Sequence[str], fault: str | None) -> Callable[[str], Subject]:
    """From a stored name to a model: of a registered family, or one that was named."""
    own = chosen_models(patterns)

    def resolve(name: str) -> Subject:
        try:
            subject = stored_model(name, own)
        except UnknownName as error:
            if name.partition(":")[0] in family_names():
                raise
            msg = f"{error}; if it is a model of your own, add --models {name}"
            raise UnknownName(msg) from error
        if fault is None or not isinstance(subject.model, LayeredModel):
            return subject
        return inject(subject, fault_named(fault))

    return resolve

"""Properties: what must hold, as a margin over a batch of cases.

A margin is relative: at least 0 where the law holds, negative where it is violated,
NaN where the law says nothing of a case. A single case is a batch of one.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache, cached_property, partial
from importlib.metadata import entry_points
from typing import Any, ClassVar, Final

import attrs
import numpy as np

from joulecheck.case import AnyCase, Batch, batch_of
from joulecheck.errors import HarnessError, JoulecheckError, UnknownName, did_you_mean
from joulecheck.model import Offer, Subject
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Floats

HEADINGS: Final = (
    "Statement",
    "Rationale",
    "Domain",
    "Tolerance",
    "Source",
    "Planted bug",
    "Shrinks to",
)
"""The sections that a property's docstring has, in this order."""

STAYS: Final = "Stays because"
"""The last section of a property that finds no seeded fault alone: why it is kept."""

FAMILIES: Final = {
    "CMP": "composition",
    "MON": "monotonicity",
    "PRC": "precision",
    "SEN": "sensitivity",
    "SCL": "scaling laws",
    "SYM": "equivalences",
    "CON": "continuity",
    "ORD": "order within a class",
    "RNK": "ranking across classes",
    "BND": "physical bounds",
    "DET": "determinism",
    "ROB": "robustness",
    "MEA": "measurement",
}


@attrs.frozen
class Planted:
    """A bug that a property must catch, and the case to which it must shrink."""

    fault: str
    """The name of a fault of `joulecheck.faults`."""
    model: str
    """The reference model in which it is planted."""
    shrinks_to: AnyCase


class Violated(AssertionError):
    """A case for which a property does not hold.

    Attributes:
        property_id: the property.
        model: the name of the model.
        case: the case.
        margin: below 0, relative.
    """

    def __init__(
        self,
        law: Property,
        model: str,
        case: AnyCase,
        margin: float,
        *,
        details: str = "",
    ) -> None:
        """Say what was violated, by which case, and by how much.

        Args:
            law: the property.
            model: the name of the model.
            case: the case.
            margin: of that case.
            details: lines that say it at length, in place of the case.
        """
        self.property_id = law.id
        self.model = model
        self.case = case
        self.margin = margin
        self._given = (law, model, case, margin)
        self._details = details
        told = f":\n{details}" if details else f" at {case}"
        super().__init__(f"{law.id} {law.name}: {model} violates it by {-margin:.3g}{told}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes."""
        return partial(Violated, details=self._details), self._given


class Property(ABC):
    """One law. Its docstring is its documentation, in the sections of `HEADINGS`.

    A law of which `joulecheck score` shows that others find whatever it does has the
    section `STAYS` as well. The first line of the docstring is the law's title. A
    subclass states the class variables below and `margin`.
    """

    id: ClassVar[str]
    """Family and number, such as "MON001"; it never changes its meaning."""
    name: ClassVar[str]
    """What holds, in a few words joined by hyphens."""
    needs: ClassVar[frozenset[Offer]]
    """What a model must offer."""
    planted: ClassVar[Planted]
    drawn: ClassVar[bool] = True
    """Whether a campaign draws its cases; those of others are recorded and replayed."""
    thinning: ClassVar[int] = 1
    """One case in this many is checked, for laws that cost a scalar call each."""

    @abstractmethod
    def space(self, model: Subject) -> CaseSpace:
        """The cases over which the law is asked of this model.

        Raises:
            NotOffered: the model's declarations leave no case.
        """

    @abstractmethod
    def margin(self, model: Subject, cases: Any) -> Floats:  # noqa: ANN401 - a law asks for its own kind of batch
        """(n,) margins of a batch. `model.ask` decides how the model is called."""

    def margin_of(self, model: Subject, case: AnyCase) -> float:
        """The margin of one case, on the model's scalar path."""
        return float(self.checked_margin(model.one_by_one, batch_of(case))[0])

    def checked_margin(self, model: Subject, cases: Batch) -> Floats:
        """The margins of a batch; NaN arithmetic is expected and silent.

        A law is not asked of no cases at all, as a search does whose whole batch is masked.

        Raises:
            HarnessError: the property itself fails.
            UnknownName: a case names a peer that the model does not have.
        """
        if not len(cases):
            return np.empty(0)
        try:
            with np.errstate(all="ignore"):
                margins = np.asarray(self.margin(model, cases), dtype=np.float64)
        except JoulecheckError:
            raise
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            msg = f"{self.id} cannot be evaluated on {model.name}: {error!r}"
            raise HarnessError(msg) from error
        if margins.shape != (len(cases),):
            msg = f"{self.id} gave margins of shape {margins.shape} for {len(cases)} cases"
            raise HarnessError(msg)
        return margins

    def check(self, model: Subject, case: AnyCase) -> None:
        """Hold the law for one case.

        Raises:
            Violated: it does not hold.
        """
        margin = self.margin_of(model, case)
        if margin < 0:
            raise Violated(self, model.name, case, margin)

    @property
    def family(self) -> str:
        """The letters of the id."""
        return self.id[:3]

    @cached_property
    def documentation(self) -> Mapping[str, str]:
        """The docstring by section; the first line is under "Title"."""
        return parse_documentation(inspect.getdoc(type(self)) or "")

    def missing(self, model: Subject) -> Sequence[Offer]:
        """What the model would have to offer and does not."""
        return sorted(self.needs - model.offers, key=lambda offer: offer.name)


def parse_documentation(docstring: str) -> dict[str, str]:
    """A property's docstring by section, paragraphs kept, indentation removed."""
    heading = "|".join(map(re.escape, (*HEADINGS, STAYS)))
    title, *parts = re.split(rf"^({heading}):\s*$", docstring, flags=re.MULTILINE)
    sections = {"Title": title.strip()}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        sections[name] = inspect.cleandoc(body).strip()
    return sections


@cache
def installed() -> dict[str, Property]:
    """Every property that an installed package offers, by id, in order.

    They come from the entry point group `joulecheck.properties`, whose entries name
    sequences of properties.
    """
    found: dict[str, Property] = {}
    for entry in sorted(entry_points(group="joulecheck.properties")):
        for law in entry.load():
            if law.id in found:
                msg = f"two installed properties are called {law.id}"
                raise HarnessError(msg)
            found[law.id] = law
    return dict(sorted(found.items()))


def property_named(name: str) -> Property:
    """One installed property.

    Raises:
        UnknownName: there is none of that id.
    """
    laws = installed()
    if name not in laws:
        msg = f"no property is called {name!r}: {did_you_mean(name, laws)}"
        raise UnknownName(msg)
    return laws[name]


def selected(select: Sequence[str], ignore: Sequence[str]) -> list[Property]:
    """The properties whose id starts with one of `select` (all if empty), not `ignore`.

    Only those whose cases are drawn.

    Raises:
        UnknownName: a prefix matches no property.
    """
    laws = {name: law for name, law in installed().items() if law.drawn}
    for prefix in (*select, *ignore):
        if not any(law_id.startswith(prefix) for law_id in laws):
            msg = f"no property starts with {prefix!r}: {did_you_mean(prefix, laws)}"
            raise UnknownName(msg)
    return [
        law
        for law_id, law in laws.items()
        if (not select or law_id.startswith(tuple(select)))
        and not law_id.startswith(tuple(ignore))
    ]

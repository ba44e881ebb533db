"""Causes: counterexamples, and which models fail for the same reason.

Models of one kind that violate one property do so for one cause if the minimal case of
one fails on the other too, and blame names the same term or coefficient on both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import attrs

from joulecheck.campaign.blame import Fix, fix_of
from joulecheck.campaign.events import Pair
from joulecheck.campaign.search import Suspect
from joulecheck.counterexample import Counterexample
from joulecheck.model import Subject
from joulecheck.region import Region


class Kind(NamedTuple):
    """What models have in common that may violate a property for one cause."""

    property: str
    architecture: str | None
    model: str
    """The name of its class."""


@attrs.define
class Cause:
    """A counterexample, and the regions in which models fail for the same reason."""

    counterexample: Counterexample
    accepted: bool = False
    """Whether it is a known finding, and not one of this campaign."""
    regions: dict[str, Region | None] = attrs.field(factory=dict)
    """By the names of the models that were seen to fail; None where none is known."""
    searched: set[str] = attrs.field(factory=set)
    """Models whose own region was looked for."""
    open: set[str] = attrs.field(factory=set)
    """Models that fail for this cause outside of the region as well."""

    @property
    def id(self) -> str:
        """That of its counterexample."""
        return self.counterexample.id

    @property
    def region(self) -> Region | None:
        """Where the model of the counterexample fails, if that is known."""
        found = self.counterexample.region
        return None if found is None else found.around

    def names(self, model: str) -> bool:
        """Whether the counterexample is one of that model too."""
        return model in {self.counterexample.model, *self.counterexample.also}

    def share(self, model: str) -> None:
        """Note that a model fails for this cause."""
        self.regions[model] = self.region
        if not self.names(model):
            also = (*self.counterexample.also, model)
            self.counterexample = attrs.evolve(self.counterexample, also=also)

    def is_bounded(self, model: str) -> bool:
        """Whether a region of the model itself is taken to hold all its failures."""
        if self.regions[model] is None or model in self.open:
            return False
        return model in self.searched

    @property
    def fix(self) -> Fix | None:
        """What repairs its failures, if one change does."""
        return fix_of(self.counterexample)

    def is_like(self, found: Counterexample) -> bool:
        """Whether the same change repairs all failures of both."""
        mine, other = self.fix, fix_of(found)
        return mine is not None and other is not None and mine.is_like(other)

    def suspect(self, model: str) -> Suspect | None:
        """To be tried on a model; None if nothing can be said of it."""
        found = self.counterexample
        if self.names(model):
            return Suspect(self.id, found.case, None)
        if found.blame is None:
            return None
        return Suspect(self.id, found.case, found.blame, self.fix)


class Causes:
    """What is known of the failures of a campaign's pairs."""

    def __init__(
        self, models: Mapping[str, Subject], accepted: Iterable[Counterexample]
    ) -> None:
        """Know the accepted counterexamples of these models, by name."""
        self._models = models
        self._by_kind: dict[Kind, list[Cause]] = {}
        self._cleared: set[tuple[Pair, str]] = set()
        for found in accepted:
            named = next((m for m in (found.model, *found.also) if m in models), None)
            if named is not None:
                self._of(Pair(named, found.property)).append(Cause(found, accepted=True))

    def kind(self, pair: Pair) -> Kind:
        """What the pair's model has in common with others."""
        model = self._models[pair.model]
        return Kind(pair.property, model.machine.architecture, type(model.model).__name__)

    def behind(self, pair: Pair) -> list[Cause]:
        """The causes for which a pair was seen to fail."""
        return [cause for cause in self._of(pair) if pair.model in cause.regions]

    def regions(self, pair: Pair) -> tuple[Region, ...]:
        """Where the pair is known to fail."""
        found = (cause.regions[pair.model] for cause in self.behind(pair))
        return tuple(region for region in found if region is not None)

    def fixes(self, pair: Pair) -> tuple[Fix, ...]:
        """The repairs of causes behind the pair that no region of its model bounds."""
        causes = (cause for cause in self.behind(pair) if not cause.is_bounded(pair.model))
        return tuple(cause.fix for cause in causes if cause.fix is not None)

    def alike(self, pair: Pair) -> tuple[Fix, ...]:
        """The repairs of the others."""
        causes = (cause for cause in self.behind(pair) if cause.is_bounded(pair.model))
        return tuple(cause.fix for cause in causes if cause.fix is not None)

    def suspects(self, pair: Pair) -> tuple[Suspect, ...]:
        """What may be behind a failure of the pair, and was not tried yet."""
        untried = (
            cause.suspect(pair.model)
            for cause in self._of(pair)
            if pair.model not in cause.regions and (pair, cause.id) not in self._cleared
        )
        return tuple(suspect for suspect in untried if suspect is not None)

    def add(self, pair: Pair, found: Counterexample) -> None:
        """A counterexample of the pair, whose region was looked for."""
        cause = Cause(found)
        cause.share(pair.model)
        cause.searched.add(pair.model)
        self._of(pair).append(cause)

    def joined(self, pair: Pair, found: Counterexample) -> Cause | None:
        """The cause of which a new counterexample of the pair is only one more case.

        The same change repairs both: from now on, it tells the failures outside of the
        region too. Where it told them already and missed this one, it is another cause.
        """
        bounded = (c for c in self.behind(pair) if c.is_bounded(pair.model))
        cause = next((c for c in bounded if c.is_like(found)), None)
        if cause is not None:
            cause.open.add(pair.model)
        return cause

    def share(self, pair: Pair, names: Sequence[str]) -> list[Cause]:
        """Note that the pair fails for the causes of these ids, and return them."""
        found = [cause for cause in self._of(pair) if cause.id in names]
        for cause in found:
            cause.share(pair.model)
        return found

    def clear(self, pair: Pair, names: Iterable[str]) -> None:
        """Note that the causes of these ids are not behind the pair's failures."""
        self._cleared |= {(pair, name) for name in names}

    def unsearched(self, pair: Pair) -> Cause | None:
        """A cause that was found on another model and cannot be told from others here."""
        causes = self.behind(pair)
        return next(
            (c for c in causes if pair.model not in c.searched and c.fix is None), None
        )

    def search_ended(self, pair: Pair, name: str, region: Region | None) -> None:
        """The region of a cause on the pair's own model was looked for, and maybe found."""
        for cause in self.behind(pair):
            if cause.id == name:
                cause.searched.add(pair.model)
                cause.regions[pair.model] = region or cause.regions[pair.model]

    def without_region(self, pair: Pair) -> Cause | None:
        """A cause behind the pair, of which no region was found."""
        return next(
            (
                cause
                for cause in self.behind(pair)
                if cause.regions[pair.model] is None
                and cause.fix is None
                and pair.model in cause.searched
            ),
            None,
        )

    def _of(self, pair: Pair) -> list[Cause]:
        return self._by_kind.setdefault(self.kind(pair), [])

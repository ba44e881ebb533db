"""What many trials come to: the kill matrix, survivors, and which laws are alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from joulecheck.property import STAYS, property_named
from joulecheck.scoring.trial import Trial


def _as_tuple(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(values)


@attrs.frozen(slots=False)
class Score:
    """All trials of a run."""

    trials: tuple[Trial, ...] = attrs.field(converter=_as_tuple)

    @cached_property
    def killed(self) -> tuple[Trial, ...]:
        """Those that some law kills."""
        return tuple(trial for trial in self.trials if trial.kills)

    @cached_property
    def survivors(self) -> tuple[Trial, ...]:
        """Those that were seen to differ from the sound model, and that no law kills."""
        return tuple(t for t in self.trials if t.differs and not t.kills)

    @cached_property
    def unreached(self) -> tuple[Trial, ...]:
        """Those that answered as the sound model does in every case asked."""
        return tuple(trial for trial in self.trials if not trial.differs)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of fault, in the order in which they were tried."""
        return tuple(dict.fromkeys(trial.mutant.kind for trial in self.trials))

    @cached_property
    def laws(self) -> tuple[str, ...]:
        """The laws that apply to some mutant's model."""
        return tuple(sorted({law for trial in self.trials for law in trial.asked}))

    def of_kind(self, kind: str) -> list[Trial]:
        """The trials of one kind."""
        return [trial for trial in self.trials if trial.mutant.kind == kind]

    @cached_property
    def matrix(self) -> Mapping[str, Mapping[str, tuple[int, int]]]:
        """By law and kind: how many mutants it kills, and how many it was asked of."""
        asked: Counter[tuple[str, str]] = Counter()
        killed: Counter[tuple[str, str]] = Counter()
        for trial in self.trials:
            kind = trial.mutant.kind
            asked.update((law, kind) for law in trial.asked)
            killed.update((law, kind) for law in trial.killers)
        return {
            law: {
                kind: (killed[law, kind], asked[law, kind])
                for kind in self.kinds
                if asked[law, kind]
            }
            for law in self.laws
        }

    @cached_property
    def alone(self) -> Mapping[str, tuple[Trial, ...]]:
        """By law: the mutants that no other law kills."""
        return {
            law: tuple(t for t in self.killed if t.killers == {law}) for law in self.laws
        }

    @cached_property
    def needed(self) -> Mapping[str, tuple[Trial, ...]]:
        """By law: the mutants that no other law kills which needs no more of a model.

        A model that offers just what the law needs would survive without it.
        """
        needs = {law: property_named(law).needs for law in self.laws}
        return {
            law: tuple(
                trial
                for trial in self.killed
                if [other for other in trial.killers if needs[other] <= needs[law]] == [law]
            )
            for law in self.laws
        }

    @cached_property
    def stays(self) -> Mapping[str, str]:
        """By law: why it stays though it kills nothing alone; empty if it does not say."""
        return {law: property_named(law).documentation.get(STAYS, "") for law in self.laws}

    def quantile(self, field: str, share: float) -> float | None:
        """Of the time or the cases to the first kill; None if nothing was killed."""
        values = [getattr(trial.first, field) for trial in self.killed]
        return float(np.quantile(values, share)) if values else None


def share(part: Sequence[Any] | int, whole: Sequence[Any] | int) -> float | None:
    """A part of a whole; None of nothing."""
    counts = [one if isinstance(one, int) else len(one) for one in (part, whole)]
    return counts[0] / counts[1] if counts[1] else None

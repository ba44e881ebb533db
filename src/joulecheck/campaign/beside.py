"""Beside a failure whose extent is unknown: failures that are not of its cause.

What has neither a region nor a change that repairs all of it cannot be left out, and
hides whatever else fails. But some failures cannot be of its cause, or are unlike it:
what repairs its minimal case leaves them failing, or all their sizes are smaller, or
they lack what is large about it. Made minimal while they stay so, they are told beside
it, unless their minimal case meets the very same size, which then is what both hang on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.blame import MOST_BROKEN, TOTALS, Evidence, edited_margins
from joulecheck.campaign.edits import Edit, Recomposed, edits_of
from joulecheck.campaign.regions.vocabulary import SIZES
from joulecheck.case import Batch, Cases, batch_of
from joulecheck.model import Subject
from joulecheck.property import Property
from joulecheck.region import Columns
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Bools, Floats, Ints

ROWS: Final = 64
"""Failing rows, and passing ones, on which a change is tried."""

MOST_EDITS: Final = 3
"""Changes that must leave a failure failing, the most helpful ones."""

LARGE: Final = 16
LARGE_BYTES: Final = 256
"""A size from which a minimal case is taken to need it; the plainest have some bytes."""

NEAR: Final = 0.02
"""Share of a size up to which another one is the same."""

TOTAL_SIZES: Final = frozenset({"macs", "ops", "bytes"})

Apart = Callable[[Ints], Bools]
"""(n, width) rows -> (n,) which of them may have another cause."""


@attrs.frozen
class Way:
    """What sets some failures apart from a known one."""

    apart: Apart
    tells: Callable[[Sequence[int]], bool]
    """Whether a minimal row among them is of another cause."""


class Beside:
    """Tells what fails for another reason than a minimal case does."""

    def __init__(
        self,
        law: Property,
        model: Subject,
        row: Sequence[int],
        seen: Evidence,
    ) -> None:
        """Prepare it.

        Args:
            law: what is violated.
            model: by which model.
            row: the genes of the minimal case.
            seen: rows that fail, and rows that hold.
        """
        self.law = law
        self.model = model.in_batches
        self.space: CaseSpace = law.space(model)
        self.row = row
        self.failing = _some(seen.failing)
        self.passing = self.space.batch(_some(seen.passing))

    def ways(self) -> Iterator[Way]:
        """The ways to look for another cause, the surest first."""
        yield from self._by_repairs()
        yield from self._by_sizes()

    def _by_repairs(self) -> Iterator[Way]:
        """What is not mended by what mends the minimal case."""
        repairs = self._repairs(self.row)
        if not repairs:
            return
        batch = self.space.batch(self.failing)
        mended = [self._mends(edit, batch) for edit in repairs]
        parts = [n for n, e in enumerate(repairs) if not isinstance(e, Recomposed)]
        if parts:  # first, for a change to a total may mend whatever is wrong with it
            some = _best([repairs[n] for n in parts], [mended[n] for n in parts])
            targets = {repairs[n].target for n in parts}
            yield Way(
                lambda rows: self._unmended(some, rows),
                lambda row: self._mended_elsewhere(row, targets),
            )
        if len(parts) < len(repairs):
            best = _best(repairs, mended)
            yield Way(lambda rows: self._unmended(best, rows), lambda _: True)

    def _mended_elsewhere(self, row: Sequence[int], targets: set[str]) -> bool:
        """Whether changes to other parts mend a row."""
        repairs = self._repairs(row)
        others = {e.target for e in repairs if not isinstance(e, Recomposed)}
        return bool(others) and others.isdisjoint(targets)

    def _repairs(self, row: Sequence[int]) -> list[Edit]:
        """Single changes that mend a case, break hardly anything and are telling."""
        case = self.space.build(row)
        if not case.questions:
            return []
        (question, *_) = case.questions
        found = self.model.ask(Cases.of([question.case]))
        edits = filter(_is_telling, edits_of(self.model, case, found))
        alone = batch_of(case)
        mending = [edit for edit in edits if self._mends(edit, alone).all()]
        return [edit for edit in mending if self._breaks(edit) <= MOST_BROKEN]

    def _breaks(self, edit: Edit) -> float:
        """The share of the passing rows that do not hold with an edit."""
        kept = self._mends(edit, self.passing)
        return 1 - float(kept.mean()) if len(kept) else 0.0

    def _mends(self, edit: Edit, batch: Batch) -> Bools:
        if not len(batch):
            return np.ones(0, dtype=bool)
        holds: Bools = edited_margins(self.law, self.model, edit, batch) >= 0
        return holds

    def _unmended(self, edits: Iterable[Edit], rows: Ints) -> Bools:
        left = np.ones(len(rows), dtype=bool)
        for edit in edits:
            if left.any():
                left[left] = ~self._mends(edit, self.space.batch(rows[left]))
        return left

    def _by_sizes(self) -> Iterator[Way]:
        """What is smaller in all that is large about the minimal case, or in the most."""
        own = self._sizes(np.array([self.row], dtype=np.int64))
        mine = {name: float(values[0]) for name, values in own.items()}
        large = {name: size for name, size in mine.items() if size >= _large(name)}
        if large:
            yield Way(lambda rows: self._below(large, rows), lambda _: True)
        fields = {n: size for n, size in mine.items() if n.startswith("largest ")}
        most = max(fields.values(), default=0.0)
        for name in [name for name, size in fields.items() if size == most > 1]:
            yield Way(
                lambda rows, name=name: self._below({name: most}, rows),  # type: ignore[misc]
                lambda row: not self._meets(large, row),
            )

    def _below(self, sizes: dict[str, float], rows: Ints) -> Bools:
        found = self._sizes(rows)
        below = np.ones(len(rows), dtype=bool)
        for name, size in sizes.items():
            below &= found[name] < size
        return below

    def _meets(self, large: dict[str, float], row: Sequence[int]) -> bool:
        """Whether a row has a size of the minimal case, which then may be a threshold."""
        found = self._sizes(np.array([row], dtype=np.int64))
        return any(
            abs(found[name][0] - size) <= NEAR * size for name, size in large.items()
        )

    def _sizes(self, rows: Ints) -> dict[str, Floats]:
        """(n,) sizes by name: of the cases in all, and the largest of their operators."""
        columns = Columns(self.space, rows)
        totals = [n for n in columns.case_names if n.rpartition(" ")[2] in TOTAL_SIZES]
        fields = [f"largest {n}" for n in columns.operator_names if n in SIZES]
        return {n: np.nan_to_num(columns.case(n)) for n in (*totals, *fields)}


def _large(name: str) -> int:
    return LARGE_BYTES if name.endswith("bytes") else LARGE


def _is_telling(edit: Edit) -> bool:
    """Whether a change says what is wrong: more of anything mends all that is too small."""
    if isinstance(edit, Recomposed):
        return (edit.total, edit.how) != ("latency", "sum")
    factor = getattr(edit, "factor", None)
    return edit.target not in TOTALS and (factor is None or factor <= 0)


def _best(edits: Sequence[Edit], mended: Sequence[Bools]) -> list[Edit]:
    """Those that mend most, no two of them the same rows."""
    found: dict[bytes, Edit] = {}
    for index in sorted(range(len(edits)), key=lambda n: -int(mended[n].sum())):
        found.setdefault(mended[index].tobytes(), edits[index])
    return list(found.values())[:MOST_EDITS]


def _some(rows: Ints) -> Ints:
    """At most `ROWS` rows, evenly spread."""
    if len(rows) <= ROWS:
        return rows
    chosen: Ints = rows[np.linspace(0, len(rows) - 1, ROWS).astype(np.int64)]
    return chosen

"""Workloads that are put to a model and to one of its peers, at a common precision."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import attrs
import numpy as np

from joulecheck.case import Case, Cases, PeerCase, PeerCases, PeerGroup
from joulecheck.space import Gene, Trait
from joulecheck.workload import Precision
from joulecheck.workload.columns import PRECISIONS, Ints
from joulecheck_strategies.reading import Take
from joulecheck_strategies.regular import RegularSpace
from joulecheck_strategies.workload_space import WorkloadSpace
from joulecheck_strategies.wrapping import WrappingSpace


@attrs.frozen(slots=False)
class PeerSpace(WrappingSpace[PeerCase]):
    """Each workload against one of `pairs` of a peer's name and a precision."""

    workloads: WorkloadSpace | RegularSpace
    pairs: tuple[tuple[str, Precision], ...]

    @cached_property
    def more_genes(self) -> tuple[Gene, ...]:
        """The index of the pair; the workload's own precision stays at its first."""
        return (Gene("pair", 0, len(self.pairs) - 1),)

    def read(self, take: Take) -> PeerCase:
        """Read the workload, then the pair."""
        unused = self.workloads.genes[-1].name
        case = self.workloads.read(lambda name: 0 if name == unused else take(name))
        peer, precision = self.pairs[take("pair")]
        return PeerCase(Case(case.workload, precision), peer)

    def encode(self, case: PeerCase) -> dict[str, int]:
        """The workload's genes and the index of the pair."""
        first = Case(case.case.workload, self.workloads.precisions[0])
        pair = self.pairs.index((case.peer, case.case.precision))
        return {**self.workloads.encode(first), "pair": pair}

    def canonical_more(self, rows: Ints) -> None:
        """Leave the workload's own precision at its first."""
        rows[:, self._split - 1] = 0

    def own_table(self, gene: Gene) -> Ints:
        """Each pair as often."""
        return np.arange(gene.low, gene.high + 1)

    @cached_property
    def _precisions(self) -> Ints:
        return np.array([PRECISIONS.index(precision) for _, precision in self.pairs])

    @cached_property
    def _peers(self) -> list[str]:
        return list(dict.fromkeys(peer for peer, _ in self.pairs))

    def plain_cases(self, rows: Ints) -> Cases | None:
        """The workloads at the precision of the pair."""
        cases = super().plain_cases(rows)
        return None if cases is None else cases.at(self._precisions[rows[:, -1]])

    def traits(self, rows: Ints) -> Mapping[str, Trait]:
        """The peer."""
        peers = np.array([self._peers.index(peer) for peer, _ in self.pairs])
        return {"peer": Trait(peers[rows[:, -1]], tuple(self._peers))}

    def batch(self, rows: Ints) -> PeerCases:
        """The cases, grouped by peer in the order of the pairs."""
        precisions = self._precisions
        names = self._peers
        peers = np.array([names.index(peer) for peer, _ in self.pairs])[rows[:, -1]]
        groups = []
        for index, name in enumerate(names):
            where = np.flatnonzero(peers == index)
            if len(where):
                some = np.asfortranarray(rows[where])
                cases = self.workloads.batch(some[:, : self._split])
                groups.append(PeerGroup(name, where, cases.at(precisions[some[:, -1]])))
        return PeerCases(tuple(groups), lambda index: self.build(rows[index].tolist()))

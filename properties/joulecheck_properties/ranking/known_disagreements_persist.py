"""RNK004."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases, PeerCase, PeerCases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.reference.ranking import Disagreement, compared, ranked_energy
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import ROUNDING, at_most
from joulecheck_properties.peers import with_precisions
from joulecheck_strategies import Sizes, regular_peer_cases

MOST: Final = 65536


class KnownDisagreementsPersist(Property):
    """The models contradict the order of the classes where the list says so.

    Statement:
        E(A, w) > E(B, w) for each pair of `ranking.toml` that the order of the classes
        puts the other way round.

    Rationale:
        The order is no law of the catalogue. Public data contradict some of its links,
        or there are none, and no model was tuned to restore it. A pair that agrees with
        the order is stale: its entry goes, or a model was changed to please the order.

    Domain:
        INT8 GEMMs of the size that an entry states and more: each dimension 4096, or
        1024 for archetypes.
        Archetypes are compared in on-chip dynamic energy, parts in total energy.

    Tolerance:
        Strictness is 1e-9: the difference must be above rounding.

    Source:
        `ranking.toml`, which names the source of each entry.

    Planted bug:
        dropped-term: the total leaves out static power, and TPU v4 with it most of what
        it spends.

    Shrinks to:
        The least GEMM of the domain, TPU v4 against H100.

    Stays because:
        It is no law of a model but a record of where the models contradict an order, and
        fails when a pair is no longer one of them. Any slip that moves energy enough is
        found by the bounds first.
    """

    id: ClassVar = "RNK004"
    name: ClassVar = "known-disagreements-persist"
    needs: ClassVar = frozenset(
        {Offer.ENERGY, Offer.ENERGY_TERMS, Offer.THROUGH, Offer.PEERS}
    )
    planted: ClassVar = Planted(
        fault="dropped-term",
        model="reference:Google-TPU-v4",
        shrinks_to=PeerCase(
            Case(Gemm(m=4096, n=4096, k=4096), Precision.INT8),
            "reference:H100-SXM5-80GB",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Large GEMMs, against each part that needs less in spite of the order."""
        listed = _listed(model)
        peers = (model.peer(name) for name in listed if name in model.peers)
        reason = "no known disagreement names it first"
        pairs = with_precisions(
            model, peers, reason, offering=self.needs, among={Precision.INT8}
        )
        m, n, k = np.min([one.least for one in listed.values()], axis=0).tolist()
        sizes = Sizes(m=(m, MOST), n=(n, MOST), k=(k, MOST))
        return regular_peer_cases(model, pairs, forms=("gemm",), sizes=sizes)

    def margin(self, model: Subject, cases: PeerCases) -> Floats:
        """How far its energy stays above that of the part it should undercut."""
        listed = _listed(model)

        def judge(name: str, asked: Cases) -> Floats:
            if name not in listed:
                return np.full(len(asked), np.nan)
            mine, theirs = (
                ranked_energy(subject.name, subject.ask(asked))
                for subject in (model, model.peer(name))
            )
            ops, (m, n, k) = asked.operators, listed[name].least
            large = (ops.m >= m) & (ops.n >= n) & (ops.k >= k)
            above = at_most(theirs, mine, tolerance=-ROUNDING)
            return np.where(ops.per_case(large.astype(np.float64)) > 0, above, np.nan)

        return cases.judged(judge)


def _listed(model: Subject) -> dict[str, Disagreement]:
    """The entries that name the model first, by the name of its peer."""
    family, _, own = model.name.partition(":")
    return {
        f"{family}:{one.worse}": one
        for one in compared().disagreements
        if (one.family, one.better) == (family, own) and not one.undecided
    }

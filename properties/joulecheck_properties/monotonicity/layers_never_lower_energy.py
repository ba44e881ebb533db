"""MON005."""

from __future__ import annotations

from typing import ClassVar

from joulecheck.case import Case, Cases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import never_falling
from joulecheck_strategies import workloads


class LayersNeverLowerEnergy(Property):
    """The energy up to a layer is at least that up to the layer inside it.

    Statement:
        E_l <= E_k for layers l before k, in the order ALU, REGISTER, SCRATCHPAD,
        ON_CHIP, DRAM, CLUSTER, STATIC, with E_l the model's own prediction (`through`).

    Rationale:
        A layer adds what it dissipates; none gives energy back. A saving that is
        credited to a cache, or a prefix that leaves something out, lowers it.

    Domain:
        Every case with predictions for two layers or more, of the same execution.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The second law of thermodynamics.

    Planted bug:
        misplaced-layer: the prediction through SCRATCHPAD includes the DRAM term.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        CMP002 finds the same where a model tells its terms and their layers. This law
        needs its predictions by layer alone.
    """

    id: ClassVar = "MON005"
    name: ClassVar = "layers-never-lower-energy"
    needs: ClassVar = frozenset({Offer.THROUGH})
    planted: ClassVar = Planted(
        fault="misplaced-layer",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over neighbouring layers."""
        return never_falling(model.ask(cases).through, len(cases))

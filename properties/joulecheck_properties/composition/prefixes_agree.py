"""CMP002."""

from __future__ import annotations

from typing import ClassVar, Final

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Layer
from joulecheck.estimate import total
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import equality, least
from joulecheck_strategies import workloads

TOLERANCE: Final = 1e-3
_ORDER: Final = tuple(Layer)


class PrefixesAgree(Property):
    """The end-to-end prediction up to a layer is the sum of the layers up to it.

    Statement:
        |T_l - sum_(t: layer(t) <= l) E_t| <= 0.001 of the larger, for every layer l
        for which the model gives a prediction T_l of its own (`through`), in the order
        ALU, REGISTER, SCRATCHPAD, ON_CHIP, DRAM, CLUSTER, STATIC.

    Rationale:
        Two errors that cancel in the total show in a prefix. A layer inside another,
        or energy attributed to the wrong layer, breaks it.

    Domain:
        Every case, for models that give predictions by layer and declare the layer of
        each term; terms without a layer count in none.

    Tolerance:
        0.1 % as for the total; below 1e-9 where the paths are independent and right.

    Source:
        Additivity of energy.

    Planted bug:
        misplaced-layer: the prediction through SCRATCHPAD includes the DRAM term.

    Shrinks to:
        The GEMM of one MAC.
    """

    id: ClassVar = "CMP002"
    name: ClassVar = "prefixes-agree"
    needs: ClassVar = frozenset({Offer.ENERGY_TERMS, Offer.LAYERS, Offer.THROUGH})
    planted: ClassVar = Planted(
        fault="misplaced-layer",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over the layers."""
        answers = model.ask(cases)
        margins = []
        for layer, predicted in answers.through.items():
            inner = _ORDER[: _ORDER.index(layer) + 1]
            terms = {
                name: energy
                for name, energy in answers.energy_terms.items()
                if model.layers.get(name) in inner
            }
            margins.append(equality(total(terms, len(cases)), predicted, TOLERANCE))
        return least(margins, len(cases))

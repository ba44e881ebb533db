"""Power closure: no work can draw more than the thermal design power of a machine.

Static power and, layer by layer, the greatest rate of each event times its energy must
stay within it, at every precision. Where they do, that the average power of an
execution does is a theorem; where not, some figure of the file is wrong.
"""

from __future__ import annotations

from typing import Final

from joulecheck.errors import InvalidMachine
from joulecheck.reference.layered import LayeredModel

NAMED: Final = 3
"""Layers that a message names, the largest first."""


def check_closure(model: LayeredModel) -> None:
    """Hold static power and all greatest rates times their energies to the TDP.

    Raises:
        InvalidMachine: they exceed it.
    """
    limit = model.data.tdp
    if limit is None:
        return
    layers = {precision: model.power(precision) for precision in model.data.peak}
    worst = max(layers, key=lambda precision: sum(layers[precision].values()))
    power = sum(layers[worst].values())
    if power > limit:
        largest = sorted(layers[worst].items(), key=lambda one: -one[1])[:NAMED]
        named = ", ".join(f"{layer.name} {watt:.4g} W" for layer, watt in largest)
        msg = (
            f"machine file {model.name}: static power and all greatest rates times their "
            f"energies must stay within its tdp of {limit:g} W, got {power:.4g} W at "
            f"{worst.name}, most of it {named}: correct a rate or an energy from its "
            f"source, or leave tdp out and say under sources why"
        )
        raise InvalidMachine(msg)

"""Latency by layer: how far each layer holds up the ones inside it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from joulecheck.coefficient import Layer
from joulecheck.workload.columns import Floats, OperatorColumns


def stalled(
    ops: OperatorColumns,
    layers: Mapping[str, Layer],
    busy: Mapping[str, Floats],
    before: Mapping[str, Floats],
) -> dict[Layer, Floats]:
    """Seconds of each case up to and with each layer that has a term, (cases,).

    Not the longest of the terms. Of resources that overlap, each makes those further in
    wait for as much as it lags behind them: from the arithmetic outwards an operator's
    time grows by one stall after the other.

    Args:
        ops: the operators.
        layers: of each term.
        busy: seconds of each resource that overlap within an operator, (ops,).
        before: seconds that pass before that, (ops,).
    """
    elapsed, waited = np.zeros(len(ops)), np.zeros(len(ops))
    present = {layers[name] for name in (*busy, *before)}
    found = {}
    for layer in (layer for layer in Layer if layer in present):
        for time in _of_layer(layer, layers, busy):
            elapsed = elapsed + np.maximum(0, time - elapsed)
        for time in _of_layer(layer, layers, before):
            waited = waited + time
        found[layer] = ops.per_case(elapsed + waited)
    return found


def _of_layer(
    layer: Layer, layers: Mapping[str, Layer], times: Mapping[str, Floats]
) -> list[Floats]:
    return [time for name, time in times.items() if layers[name] is layer]


def once(ops: OperatorColumns, seconds: float) -> Floats:
    """(ops,) seconds that pass once a case: before its first operator."""
    found = np.zeros(len(ops))
    found[ops.starts] = seconds
    return found

"""The record of a validation: what was compared, what holds, and which figures it backs."""

from joulecheck.validation.layer_checks import (
    Comparison,
    LayerCheck,
    LayerTag,
    Skipped,
    register_layer_check,
)

__all__ = ["Comparison", "LayerCheck", "LayerTag", "Skipped", "register_layer_check"]

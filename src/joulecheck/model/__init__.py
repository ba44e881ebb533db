"""The model under test: the protocol that users implement, and the harness's view of it.

A model needs a name and `estimate`. Everything else is optional, declared as an
attribute and then probed: see `Subject`.
"""

from joulecheck.model.family import (
    Factory,
    Family,
    Peers,
    family,
    family_names,
    loadable,
    matching,
    registered,
)
from joulecheck.model.protocol import (
    COSTS,
    DIMENSIONS,
    NATURE,
    SMALLEST,
    SYMMETRIES,
    UNSCALED,
    BatchModel,
    DerivableModel,
    Exemption,
    Model,
    Offer,
    Scale,
    Scales,
)
from joulecheck.model.subject import Subject

__all__ = [
    "COSTS",
    "DIMENSIONS",
    "NATURE",
    "SMALLEST",
    "SYMMETRIES",
    "UNSCALED",
    "BatchModel",
    "DerivableModel",
    "Exemption",
    "Factory",
    "Family",
    "Model",
    "Offer",
    "Peers",
    "Scale",
    "Scales",
    "Subject",
    "family",
    "family_names",
    "loadable",
    "matching",
    "registered",
]

"""One Hypothesis profile for all tests, and the reference models as fixtures."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from joulecheck.model import Subject
from joulecheck.reference import MACHINES, load_model

settings.register_profile(
    "joulecheck",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=100,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
)
settings.load_profile("joulecheck")


@pytest.fixture(scope="session", params=MACHINES)
def reference(request: pytest.FixtureRequest) -> Subject:
    """Each reference machine's model, as the harness sees it."""
    return Subject.of(load_model(request.param))

"""The stage that most tests of supervision play on."""

import pytest

from tests.ownership.stage import Scripted


@pytest.fixture
def stage():
    """A stage whose store beats well."""
    return Scripted()

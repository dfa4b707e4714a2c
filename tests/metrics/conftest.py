"""The store that most tests of counters and spans start from."""

from collections.abc import Iterator

import pytest

import tenure
from tests.metrics.support import Observed, new_observed


@pytest.fixture
def observed() -> Iterator[Observed]:
    """An empty store in memory, without a journal."""
    observed = new_observed()
    yield observed
    observed.store.close()


@pytest.fixture
def journaling() -> Iterator[Observed]:
    """An empty store in memory with a journal of two places, driven by hand."""
    options = tenure.JournalOptions(capacity=2, overflow="drop-newest")
    observed = new_observed(journal=tenure.JournalSetup(options, "manual"), retry=tenure.RetryPolicy(attempts=1))
    yield observed
    observed.store.close()

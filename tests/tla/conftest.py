"""TLC's graphs, made once for all tests that read them."""

from functools import cache

import pytest

from tests.tla.graph import late, read_graph

HOSTS = (0, 1)
READINGS = (0, 30_000, 30_001)


@pytest.fixture(scope="session")
def now_and_later():
    """The usual readings, and these with a late one more."""
    return READINGS, (*READINGS, late(READINGS))


@pytest.fixture(scope="session")
def graphs_from_tla(now_and_later):
    """A function from a profile, and whether rows may be deleted, to TLC's graphs now and later."""

    @cache
    def graphs(profile, *, deletes=False):
        return tuple(read_graph(profile, HOSTS, readings, deletes=deletes) for readings in now_and_later)

    return graphs

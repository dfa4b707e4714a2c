"""The world that most tests of the run store start from."""

from collections.abc import Iterator

import pytest

from tests.runs.support import World, new_world


@pytest.fixture
def world() -> Iterator[World]:
    """An empty store in memory."""
    world = new_world()
    yield world
    world.store.close()

"""The worlds that most tests of the attempt store start from."""

from collections.abc import Iterator

import pytest

import tenure
from tests.runs.support import World, new_world


@pytest.fixture
def world() -> Iterator[World]:
    """A store in memory whose puts insert, with a run ``r`` that ``A`` owns."""
    world = new_world()
    world.owned()
    yield world
    world.store.close()


@pytest.fixture
def upserting() -> Iterator[World]:
    """The same, but puts overwrite what is in progress."""
    world = new_world(attempts=tenure.AttemptOptions(put_mode="upsert"))
    world.owned()
    yield world
    world.store.close()

"""The world that most tests of the journal start from."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journal.support import World, new_world


@pytest.fixture
def world() -> Iterator[World]:
    """An empty store in memory, its journal driven by hand."""
    world = new_world()
    yield world
    world.store.close()


@pytest.fixture
def on_file(tmp_path: Path) -> Iterator[World]:
    """An empty store on file, its journal driven by hand."""
    world = new_world(tmp_path / "t.db")
    yield world
    world.store.close()

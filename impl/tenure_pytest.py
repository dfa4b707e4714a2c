"""Fixtures for pytest, there by themselves once tenure is installed.

The module stands outside the package, and imports it only in its fixtures, because pytest loads it in every run:
whoever does not use them pays nothing for them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tenure import Store
    from tenure.testing import ManualClock


@pytest.fixture
def tenure_clock() -> "ManualClock":
    """The clock of the stores of this test: it stands until it is set or advanced."""
    from tenure.testing import ManualClock

    return ManualClock()


@pytest.fixture
def tenure_store(tenure_clock: "ManualClock") -> "Iterator[Store]":
    """A real store with a journal over a new database in memory, on ``tenure_clock``; closed at the end."""
    from tenure.testing import open_store

    with open_store(clock=tenure_clock) as store:
        yield store


@pytest.fixture
def tenure_file(tmp_path: Path) -> Path:
    """Where the database of ``tenure_file_store`` is; other stores and processes may open it too."""
    return tmp_path / "tenure.db"


@pytest.fixture
def tenure_file_store(tenure_file: Path, tenure_clock: "ManualClock") -> "Iterator[Store]":
    """A real store with a journal over a new file, on ``tenure_clock``; closed at the end."""
    from tenure.testing import open_store

    with open_store(tenure_file, clock=tenure_clock) as store:
        yield store

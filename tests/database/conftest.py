"""The databases that most tests of writes start from."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.database.sqlite import SqliteEngine
from tenure.database.writer import Database
from tests.database.shared import Shared
from tests.database.support import Faults, FaultyEngine, open_database


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """A database on file with an empty table ``t``."""
    database = open_database(SqliteEngine(str(tmp_path / "t.db"), 0))
    database.write(database.rows, "CREATE TABLE t (x INTEGER UNIQUE)")
    return database


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Shared]:
    """An empty table ``t`` on file."""
    faults = Faults()
    database = open_database(FaultyEngine(tmp_path / "t.db", faults))
    database.write(database.rows, "CREATE TABLE t (x TEXT)")
    shared = Shared(database, faults)
    faults.before = shared.asked.append
    yield shared
    database.close()

"""Tests of databases that are busy: what is repeated, for how long, and what is not."""

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from tenure.database.engine import DatabaseError, OpenError
from tenure.database.sqlite import SqliteEngine
from tenure.database.writer import Database
from tests.database.bodies import committed, insert
from tests.database.support import Faults, FaultyEngine, Sleeper, open_database, raw


@attrs.frozen
class Locked:
    """A database with an empty table ``t``, whose write lock another connection has, and who waits for it."""

    database: Database
    sleeper: Sleeper
    unlock: Callable[[], object]


@pytest.fixture
def locked(tmp_path: Path) -> Locked:
    """A database that is busy until it is unlocked."""
    sleeper = Sleeper()
    database = open_database(SqliteEngine(str(tmp_path / "t.db"), 0), sleep=sleeper)
    database.write(database.rows, "CREATE TABLE t (x)")
    other = raw(tmp_path / "t.db")
    other.execute("BEGIN IMMEDIATE")
    return Locked(database, sleeper, lambda: other.execute("ROLLBACK"))


def test_busy_write_is_repeated_until_the_lock_is_gone(locked: Locked) -> None:
    """A busy outermost write runs again as a whole, after growing delays (RS-391)."""
    locked.sleeper._during = lambda: locked.unlock() if len(locked.sleeper.seconds) == 3 else None

    locked.database.write(insert, locked.database, 1)

    assert locked.sleeper.seconds == [0.05, 0.1, 0.2]
    assert committed(locked.database) == [1]


def test_busy_write_gives_up_after_ten_attempts(locked: Locked) -> None:
    """The tenth busy attempt is the last, and its error the caller's."""
    with pytest.raises(DatabaseError) as caught:
        locked.database.write(insert, locked.database, 1)

    assert caught.value.code == "busy"
    assert locked.sleeper.seconds == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0]


def test_repeated_body_gets_the_same_arguments(database: Database) -> None:
    """Every attempt is made with what the first was made with, and only the last is kept (RS-391)."""
    attempts: list[int] = []

    def body(value: int) -> None:
        insert(database, value)
        attempts.append(value)
        if len(attempts) < 3:
            raise DatabaseError("busy")

    database.write(body, 7)

    assert attempts == [7, 7, 7]
    assert committed(database) == [7]


@pytest.mark.parametrize("code", ["constraint", "io", "schema", "unsupported", "unknown"])
def test_other_failures_are_not_repeated(database: Database, code: str) -> None:
    """Nothing but a lock conflict is repeated (RS-391)."""
    attempts: list[int] = []

    def body() -> None:
        attempts.append(1)
        raise DatabaseError(code)  # type: ignore[arg-type]  # one of the codes

    with pytest.raises(DatabaseError):
        database.write(body)

    assert attempts == [1]


def test_nested_write_is_not_repeated(database: Database) -> None:
    """Busy inside a savepoint is left to the outermost write, which then repeats the whole (RS-390, RS-391)."""
    outer: list[int] = []
    inner: list[int] = []

    def nested() -> None:
        inner.append(1)
        if len(inner) == 1:
            raise DatabaseError("busy")

    def body() -> None:
        outer.append(1)
        database.write(nested)

    database.write(body)

    assert (len(outer), len(inner)) == (2, 2)


def test_explicit_transaction_waits_for_its_beginning_only(locked: Locked) -> None:
    """BEGIN is repeated while busy; a block that fails busy is not run again."""
    locked.sleeper._during = locked.unlock

    with pytest.raises(DatabaseError), locked.database.transaction():
        raise DatabaseError("busy")

    assert locked.sleeper.seconds == [0.05]


def test_transaction_that_cannot_begin_frees_the_writer(locked: Locked) -> None:
    """After a beginning that failed for good the database can be written again."""
    with pytest.raises(DatabaseError), locked.database.transaction():
        pass
    locked.unlock()

    locked.database.write(insert, locked.database, 1)

    assert committed(locked.database) == [1]


def test_busy_commit_is_rolled_back_and_repeated(tmp_path: Path) -> None:
    """A commit that could not even start leaves the transaction open: it is undone and the write repeated."""
    faults = Faults()
    database = open_database(FaultyEngine(tmp_path / "t.db", faults))
    database.write(database.rows, "CREATE TABLE t (x)")
    commits: list[str] = []

    def busy_once(sql: str) -> None:
        if sql == "COMMIT":
            commits.append(sql)
            if len(commits) == 1:
                raise DatabaseError("busy")

    faults.before = busy_once

    database.write(insert, database, 1)

    assert len(commits) == 2
    assert committed(database) == [1]


def test_failed_open_is_not_repeated_unless_busy(tmp_path: Path) -> None:
    """Opening repeats on a lock conflict only."""
    sleeper = Sleeper()

    with pytest.raises(OpenError):
        open_database(SqliteEngine(str(tmp_path / "missing" / "t.db")), sleep=sleeper)

    assert sleeper.seconds == []

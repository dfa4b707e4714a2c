"""Tests of write transactions: outermost, nested, explicit, doomed, and given up."""

import gc
from pathlib import Path

import pytest

from tenure.database.engine import CommitUnknownError, DatabaseError, UsageError
from tenure.database.sqlite import SqliteEngine
from tenure.database.writer import Database
from tests.database.bodies import committed, fail, failing, in_transaction, insert, withdrawing
from tests.database.support import Faults, FaultyEngine, commit_then_fail, open_database, query


def test_write_commits(database: Database) -> None:
    """A body that returns is committed, and its answer handed on."""

    def body(value: int) -> str:
        insert(database, value)
        return "done"

    answer = database.write(body, 1)

    assert answer == "done"
    assert committed(database) == [1]


def test_write_rolls_back(database: Database) -> None:
    """A body that raises leaves nothing behind, and its error is the caller's."""
    with pytest.raises(LookupError):
        database.write(failing, database, 1, 2)

    assert committed(database) == []


def test_withdrawn_write_answers_and_rolls_back(database: Database) -> None:
    """A body can undo everything and answer all the same."""
    answer = database.write(withdrawing, database, 1)

    assert answer == "refused"
    assert committed(database) == []


def test_interrupted_write_rolls_back(database: Database) -> None:
    """What is no ordinary error, such as Ctrl-C, rolls back as well, and the database goes on working."""

    def body() -> None:
        insert(database, 1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        database.write(body)
    database.write(insert, database, 2)

    assert committed(database) == [2]


def test_nested_write_is_a_savepoint(database: Database) -> None:
    """A write inside a write undoes only itself, whether it fails or withdraws (RS-390, JN-141)."""

    def body() -> object:
        insert(database, 1)
        with pytest.raises(LookupError):
            database.write(failing, database, 2)
        insert(database, 3)
        refused = database.write(withdrawing, database, 4)
        database.write(insert, database, 5)
        return refused

    answer = database.write(body)

    assert answer == "refused"
    assert committed(database) == [1, 3, 5]


def test_failed_middle_takes_its_inner_writes_along(database: Database) -> None:
    """A scope that fails undoes the scopes inside it that succeeded, and nothing before it."""

    def middle() -> None:
        insert(database, 2)
        database.write(insert, database, 3)
        in_transaction(database, lambda: insert(database, 4))
        fail()

    with database.transaction():
        insert(database, 1)
        with pytest.raises(LookupError):
            database.write(middle)
        with pytest.raises(LookupError):
            in_transaction(database, middle)

    assert committed(database) == [1]


def test_failed_outer_write_takes_the_inner_along(database: Database) -> None:
    """An inner write that succeeded goes when the outer one fails."""

    def body() -> None:
        database.write(insert, database, 1)
        raise LookupError

    with pytest.raises(LookupError):
        database.write(body)

    assert committed(database) == []


def test_transaction_commits(database: Database) -> None:
    """Several writes in one block commit together, and nobody sees them before."""
    with database.transaction():
        database.write(insert, database, 1)
        database.write(insert, database, 2)
        seen_outside = query(Path(database.read("PRAGMA database_list")[0][2]), "SELECT x FROM t")

    assert seen_outside == []
    assert committed(database) == [1, 2]


def test_transaction_rolls_back(database: Database) -> None:
    """A block that raises leaves nothing behind."""
    with pytest.raises(LookupError):
        in_transaction(database, lambda: database.write(insert, database, 1), fail)

    assert committed(database) == []


def test_transactions_nest(database: Database) -> None:
    """A block inside a block is a savepoint."""
    with database.transaction():
        database.write(insert, database, 1)
        with pytest.raises(LookupError):
            in_transaction(database, lambda: database.write(insert, database, 2), fail)
        with database.transaction():
            database.write(insert, database, 3)

    assert committed(database) == [1, 3]


def test_read_sees_the_own_transaction(database: Database) -> None:
    """Inside a transaction a read sees what it wrote so far."""
    with database.transaction():
        database.write(insert, database, 1)
        seen = committed(database)

    assert seen == [1]


def full_disk(database: Database) -> None:
    """Leave no room for another page."""
    pages = database.read("PRAGMA page_count")[0][0]
    database.rows(f"PRAGMA max_page_count = {pages}")


def test_failure_that_rolls_everything_back_dooms_the_outer_write(database: Database) -> None:
    """Where the database itself undid the whole transaction under a nested write, nothing more is written in it.

    Going on would commit what follows on its own, each statement by itself.
    """
    database.write(database.rows, "CREATE TABLE big (x)")
    full_disk(database)

    def fill() -> None:
        for _ in range(10):
            database.rows("INSERT INTO big VALUES (zeroblob(100000))")

    def body() -> None:
        database.write(insert, database, 1)
        with pytest.raises(DatabaseError):
            database.write(fill)
        with pytest.raises(DatabaseError) as again:
            database.write(insert, database, 2)
        with pytest.raises(DatabaseError):
            committed(database)
        assert again.value.code == "io"

    with pytest.raises(DatabaseError) as caught:
        database.write(body)

    assert caught.value.code == "io"
    assert committed(database) == []
    database.rows("PRAGMA max_page_count = 100000")
    database.write(insert, database, 3)
    assert committed(database) == [3]


def test_doomed_explicit_transaction_fails_at_its_end(database: Database) -> None:
    """The same holds for a block: swallowing the failure inside does not make it commit."""
    database.write(database.rows, "CREATE TABLE big (x)")
    full_disk(database)

    def swallow() -> None:
        with pytest.raises(DatabaseError):
            database.write(database.rows, "INSERT INTO big VALUES (zeroblob(1000000))")

    with pytest.raises(DatabaseError) as caught:
        in_transaction(database, lambda: database.write(insert, database, 1), swallow)

    assert caught.value.code == "io"
    assert committed(database) == []


def test_unknown_commit_is_reported_as_such_and_not_repeated(tmp_path: Path) -> None:
    """A commit of which nobody knows raises its own error, runs no waiting work, and is not tried again."""
    faults = Faults()
    database = open_database(FaultyEngine(tmp_path / "t.db", faults))
    database.write(database.rows, "CREATE TABLE t (x)")
    faults.instead_of_commit = commit_then_fail
    ran: list[str] = []

    def body() -> None:
        insert(database, 1)
        database.after_commit(lambda: ran.append("after"))

    with pytest.raises(CommitUnknownError):
        database.write(body)
    with pytest.raises(CommitUnknownError), database.transaction():
        database.write(insert, database, 2)

    assert committed(database) == [1, 2]
    assert ran == []


def test_close(database: Database) -> None:
    """A closed database refuses every use with a clear error, and may be closed again."""
    database.close()
    database.close()

    for use in (
        lambda: database.write(insert, database, 1),
        lambda: committed(database),
        database.transaction().__enter__,
    ):
        with pytest.raises(DatabaseError) as caught:
            use()
        assert caught.value.text == "the store is closed"


def test_close_leaves_nothing_beside_the_file(tmp_path: Path) -> None:
    """Closing writes the log back into the file, readers or not."""
    database = open_database(SqliteEngine(str(tmp_path / "t.db")))
    database.write(database.rows, "CREATE TABLE t (x)")
    database.read("SELECT * FROM t")

    database.close()

    assert [path.name for path in tmp_path.iterdir()] == ["t.db"]


def test_close_inside_a_transaction_is_refused(database: Database) -> None:
    """A store cannot be closed under its own transaction, which then commits as if nothing had happened."""
    with database.transaction():
        database.write(insert, database, 1)
        with pytest.raises(UsageError):
            database.close()

    assert committed(database) == [1]


def test_closed_memory_database_refuses_reads() -> None:
    """The one connection of a memory database is gone with it."""
    database = open_database(SqliteEngine(":memory:"))
    database.close()

    with pytest.raises(DatabaseError) as caught:
        database.read("SELECT 1")

    assert caught.value.text == "the store is closed"


def test_dropped_database_lets_go_at_once(tmp_path: Path) -> None:
    """A database dropped in mid-transaction is rolled back and unlocked without waiting for the collector."""
    engine = SqliteEngine(str(tmp_path / "t.db"), 0)
    database = open_database(engine)
    database.write(database.rows, "CREATE TABLE t (x)")
    transaction = database.transaction()
    gc.disable()
    try:
        transaction.__enter__()
        database.write(insert, database, 1)
        del database, transaction
        after = open_database(engine)
        after.write(insert, after, 2)
    finally:
        gc.enable()

    assert committed(after) == [2]


def test_a_transaction_is_entered_once_at_a_time(database: Database) -> None:
    """Entered again while it is open it refuses; the outer scope ends as it should, and it serves anew."""
    transaction = database.transaction()
    with transaction:
        with pytest.raises(UsageError), transaction:
            pass
        database.rows("SELECT 1")
    with transaction:
        database.rows("SELECT 1")

    assert not database.held_here

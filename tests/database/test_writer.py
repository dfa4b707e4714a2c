"""Tests of write transactions: outermost, nested, explicit, repeated, and given up."""

import gc
from collections.abc import Callable
from pathlib import Path

import pytest

from tenure.database.engine import CommitUnknownError, Connection, DatabaseError, OpenError, UsageError
from tenure.database.sqlite import SqliteEngine
from tenure.database.writer import AfterCommitError, Database, Withdrawn
from tests.database.support import Faults, FaultyEngine, Sleeper, open_database, query, raw


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """A database on file with an empty table ``t``."""
    database = open_database(SqliteEngine(str(tmp_path / "t.db"), 0))
    database.write(database.rows, "CREATE TABLE t (x INTEGER UNIQUE)")
    return database


def insert(database: Database, *values: int) -> None:
    """Insert into ``t``, in the transaction that is open."""
    for value in values:
        database.rows("INSERT INTO t VALUES (?)", (value,))


def committed(database: Database) -> list[int]:
    """What ``t`` holds."""
    return [row[0] for row in database.read("SELECT x FROM t ORDER BY rowid")]


def failing(database: Database, *values: int) -> None:
    """Insert and fail."""
    insert(database, *values)
    raise LookupError("the body failed")


def withdrawing(database: Database, *values: int) -> str:
    """Insert and withdraw."""
    insert(database, *values)
    raise Withdrawn("refused")


def in_transaction(database: Database, *steps: Callable[[], object]) -> None:
    """Take the steps in one explicit transaction."""
    with database.transaction():
        for step in steps:
            step()


def fail() -> None:
    """The step that fails."""
    raise LookupError("the step failed")


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


def locked_out(database: Database) -> tuple[Callable[[], object], Callable[[], object]]:
    """Functions that take and drop the write lock from another connection."""
    other = raw(database.read("PRAGMA database_list")[0][2])
    return lambda: other.execute("BEGIN IMMEDIATE"), lambda: other.execute("ROLLBACK")


def test_busy_write_is_repeated_until_the_lock_is_gone(tmp_path: Path) -> None:
    """A busy outermost write runs again as a whole, after growing delays (RS-391)."""
    sleeper = Sleeper()
    database = open_database(SqliteEngine(str(tmp_path / "t.db"), 0), sleep=sleeper)
    database.write(database.rows, "CREATE TABLE t (x)")
    lock, unlock = locked_out(database)
    lock()
    sleeper._during = lambda: unlock() if len(sleeper.seconds) == 3 else None

    database.write(insert, database, 1)

    assert sleeper.seconds == [0.05, 0.1, 0.2]
    assert committed(database) == [1]


def test_busy_write_gives_up_after_ten_attempts(tmp_path: Path) -> None:
    """The tenth busy attempt is the last, and its error the caller's."""
    sleeper = Sleeper()
    database = open_database(SqliteEngine(str(tmp_path / "t.db"), 0), sleep=sleeper)
    database.write(database.rows, "CREATE TABLE t (x)")
    lock, _ = locked_out(database)
    lock()

    with pytest.raises(DatabaseError) as caught:
        database.write(insert, database, 1)

    assert caught.value.code == "busy"
    assert sleeper.seconds == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0]


def test_repeated_body_gets_the_same_arguments(tmp_path: Path) -> None:
    """Every attempt is made with what the first was made with, and only the last is kept (RS-391)."""
    database = open_database(SqliteEngine(str(tmp_path / "t.db"), 0))
    database.write(database.rows, "CREATE TABLE t (x)")
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


def test_explicit_transaction_waits_for_its_beginning_only(tmp_path: Path) -> None:
    """BEGIN is repeated while busy; a block that fails busy is not run again."""
    sleeper = Sleeper()
    database = open_database(SqliteEngine(str(tmp_path / "t.db"), 0), sleep=sleeper)
    database.write(database.rows, "CREATE TABLE t (x)")
    lock, unlock = locked_out(database)
    lock()
    sleeper._during = unlock

    with pytest.raises(DatabaseError), database.transaction():
        raise DatabaseError("busy")

    assert sleeper.seconds == [0.05]


def test_transaction_that_cannot_begin_frees_the_writer(tmp_path: Path) -> None:
    """After a beginning that failed for good the database can be written again."""
    database = open_database(SqliteEngine(str(tmp_path / "t.db"), 0))
    database.write(database.rows, "CREATE TABLE t (x)")
    lock, unlock = locked_out(database)
    lock()
    with pytest.raises(DatabaseError), database.transaction():
        pass
    unlock()

    database.write(insert, database, 1)

    assert committed(database) == [1]


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


def commit_then_fail(connection: Connection) -> None:
    """The commit reaches the disk, the confirmation does not reach us."""
    connection.commit()
    raise CommitUnknownError("io")


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


def test_after_commit_runs_in_order_and_once(database: Database) -> None:
    """Waiting work runs after the outermost commit, inner work where the inner write ended (JN-146)."""
    ran: list[object] = []

    def note(name: str) -> None:
        database.after_commit(lambda: ran.append((name, committed(database))))

    def inner() -> None:
        insert(database, 2)
        note("inner")

    def body() -> None:
        insert(database, 1)
        note("first")
        database.write(inner)
        note("last")
        assert ran == []

    database.write(body)

    assert ran == [("first", [1, 2]), ("inner", [1, 2]), ("last", [1, 2])]
    database.write(insert, database, 3)
    assert len(ran) == 3


def test_after_commit_is_dropped_with_its_scope(database: Database) -> None:
    """A savepoint that fails drops its own waiting work and its descendants', and keeps its parent's (JN-146)."""
    ran: list[str] = []

    def deepest() -> None:
        database.after_commit(lambda: ran.append("deepest"))

    def inner() -> None:
        database.after_commit(lambda: ran.append("inner"))
        database.write(deepest)
        raise LookupError

    def withdrawn() -> None:
        database.after_commit(lambda: ran.append("withdrawn"))
        raise Withdrawn(None)

    with database.transaction():
        database.after_commit(lambda: ran.append("before"))
        with pytest.raises(LookupError):
            database.write(inner)
        database.write(withdrawn)
        with pytest.raises(LookupError):
            in_transaction(database, lambda: database.after_commit(lambda: ran.append("block")), fail)
        database.after_commit(lambda: ran.append("after"))

    assert ran == ["before", "after"]


def test_after_commit_of_a_failed_attempt_is_dropped(database: Database) -> None:
    """A repeated write runs the waiting work of its last attempt only (JN-146)."""
    ran: list[int] = []
    attempts: list[int] = []

    def body() -> None:
        attempts.append(1)
        number = len(attempts)
        database.after_commit(lambda: ran.append(number))
        if number < 3:
            raise DatabaseError("busy")

    database.write(body)

    assert ran == [3]


def test_after_commit_of_a_failed_write_is_dropped(database: Database) -> None:
    """Neither a failed write nor a failed block runs its waiting work, then or later (JN-146)."""
    ran: list[str] = []

    def body() -> None:
        database.after_commit(lambda: ran.append("write"))
        raise LookupError

    with pytest.raises(LookupError):
        database.write(body)
    with pytest.raises(LookupError):
        in_transaction(database, lambda: database.after_commit(lambda: ran.append("block")), fail)
    database.write(insert, database, 1)

    assert ran == []


def test_after_commit_without_a_transaction(database: Database) -> None:
    """Outside a transaction, and in waiting work itself, nothing is registered (JN-145)."""
    ran: list[object] = []
    outside = database.after_commit(lambda: ran.append("outside"))

    with database.transaction():
        inside = database.after_commit(lambda: ran.append(database.after_commit(lambda: ran.append("late"))))

    assert (outside, inside) == (False, True)
    assert ran == [False]


def test_waiting_work_may_write(database: Database) -> None:
    """Waiting work runs after the lock is free, so it can use the database itself (JN-140)."""
    with database.transaction():
        database.after_commit(lambda: database.write(insert, database, 2))
        database.write(insert, database, 1)

    assert committed(database) == [1, 2]


def test_failing_waiting_work(database: Database) -> None:
    """All waiting work runs whatever some of it raises; the caller sees the failures; the data stays (JN-147)."""
    ran: list[str] = []
    attempts: list[int] = []

    def note_and_fail(name: str) -> None:
        ran.append(name)
        raise DatabaseError("busy", name)

    def body() -> None:
        attempts.append(1)
        insert(database, 1)
        database.after_commit(lambda: note_and_fail("first"))
        database.after_commit(lambda: ran.append("second"))
        database.after_commit(lambda: note_and_fail("third"))

    with pytest.raises(AfterCommitError) as caught:
        database.write(body)

    assert ran == ["first", "second", "third"]
    assert [error.args for error in caught.value.exceptions] == [("busy", "first"), ("busy", "third")]
    assert attempts == [1]
    assert committed(database) == [1]


def test_interrupted_waiting_work(database: Database) -> None:
    """An interruption in waiting work waits for the rest of it (JN-146)."""
    ran: list[str] = []

    def interrupt() -> None:
        raise KeyboardInterrupt

    def body() -> None:
        database.after_commit(interrupt)
        database.after_commit(lambda: ran.append("second"))

    with pytest.raises(KeyboardInterrupt):
        database.write(body)

    assert ran == ["second"]


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


def test_failed_open_is_not_repeated_unless_busy(tmp_path: Path) -> None:
    """Opening repeats on a lock conflict only."""
    sleeper = Sleeper()

    with pytest.raises(OpenError):
        open_database(SqliteEngine(str(tmp_path / "missing" / "t.db")), sleep=sleeper)

    assert sleeper.seconds == []


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

"""Tests of work that waits for a commit."""

import pytest

from tenure.database.engine import DatabaseError
from tenure.database.writer import AfterCommitError, Database, Withdrawn
from tests.database.bodies import committed, fail, in_transaction, insert


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

"""Tests of writes of several threads that share a transaction."""

import threading
from pathlib import Path
from typing import Any

import pytest

import tenure
from tenure.database.engine import CommitUnknownError, DatabaseError
from tenure.database.writer import Withdrawn
from tests.database.shared import Refused, Shared
from tests.database.support import Faults, FaultyEngine, Sleeper, open_database
from tests.threads import PATIENCE_SECONDS, eventually


def test_writes_that_meet_share_one_commit(shared: Shared) -> None:
    """Each keeps its answer, and runs in the order of arrival."""
    with shared.first():
        for name in "bcd":
            shared.start(name, lambda name=name: shared.insert(name))  # type: ignore[misc]  # bound for the thread
            eventually(lambda: len(shared.database._turns.waiting) == len(shared.threads) - 1)

    assert shared.asked.count("BEGIN") == shared.asked.count("COMMIT") == 1
    assert shared.answers == {"first": "first", "b": "b", "c": "c", "d": "d"}
    assert shared.values() == ["first", "b", "c", "d"]


def test_a_write_that_meets_nobody_has_a_transaction_of_its_own(shared: Shared) -> None:
    """And no savepoint."""
    shared.database.write(shared.insert, "alone")

    assert shared.asked == ["BEGIN", "INSERT INTO t VALUES (?)", "COMMIT"]


def test_nobody_returns_before_the_commit(shared: Shared) -> None:
    """Every caller's own write is on disk when it goes on."""
    returned: list[set[str]] = []

    def before(sql: str) -> None:
        if sql == "COMMIT":
            returned.append(set(shared.answers))

    shared.faults.before = before
    with shared.first():
        shared.start("b", lambda: shared.insert("b"))
        shared.start("c", lambda: shared.insert("c"))

    assert returned == [set()]
    assert set(shared.answers) == {"first", "b", "c"}


@pytest.mark.parametrize("outcome", ["error", "withdrawn"])
def test_a_failing_body_undoes_itself_alone(shared: Shared, outcome: str) -> None:
    """Its error, or the answer it withdrew with, is its own; the others are committed."""

    def failing() -> None:
        shared.insert("undone")
        shared.database.after_commit(lambda: log.append("undone"))
        raise Refused if outcome == "error" else Withdrawn("withdrew")

    def kept() -> None:
        shared.insert("kept")
        shared.database.after_commit(lambda: log.append("kept"))

    log: list[str] = []
    with shared.first():
        shared.start("b", failing)
        shared.start("c", kept)

    assert shared.asked.count("COMMIT") == 1
    assert isinstance(shared.answers["b"], Refused) if outcome == "error" else shared.answers["b"] == "withdrew"
    assert shared.values() == ["first", "kept"]
    assert log == ["kept"]


def test_the_first_body_fails_before_anybody_can_join(shared: Shared) -> None:
    """Then the next one is first."""

    def failing() -> None:
        shared.insert("undone")
        inside.set()
        eventually(lambda: len(shared.database._turns.waiting) == 2)
        raise Refused

    inside = threading.Event()
    shared.start("first", failing)
    assert inside.wait(PATIENCE_SECONDS)
    for name in "bc":
        shared.start(name, lambda name=name: shared.insert(name))  # type: ignore[misc]  # bound for the thread
    for thread in shared.threads:
        thread.join(PATIENCE_SECONDS)

    assert isinstance(shared.answers["first"], Refused)
    assert sorted(shared.values()) == ["b", "c"]


def test_work_that_waits_for_the_commit_runs_in_its_own_thread(shared: Shared) -> None:
    """After the commit, in the order of its registration, nested writes included."""
    log: list[tuple[str, str, bool]] = []

    def note(name: str) -> None:
        committed = threading.current_thread() is not shared.threads[0] or "COMMIT" in shared.asked
        log.append((name, threading.current_thread().name, committed))

    def body(name: str) -> None:
        shared.insert(name)
        shared.database.after_commit(lambda: note(f"{name} 1"))
        shared.database.write(lambda: shared.database.after_commit(lambda: note(f"{name} 2")))
        shared.database.after_commit(lambda: note(f"{name} 3"))

    with shared.first(lambda: body("first")):
        shared.start("b", lambda: body("b"))

    for index, name in enumerate(("first", "b")):
        own = [(what, where) for what, where, _ in log if what.startswith(name)]
        assert own == [(f"{name} {number}", shared.threads[index].name) for number in (1, 2, 3)]
    assert all(committed for *_, committed in log)


def test_failing_work_after_the_commit_reaches_its_own_caller(shared: Shared) -> None:
    """The data of all is committed (JN-147)."""

    def body() -> None:
        shared.insert("b")
        shared.database.after_commit(lambda: 1 // 0)

    with shared.first():
        shared.start("b", body)
        shared.start("c", lambda: shared.insert("c"))

    assert isinstance(shared.answers["b"], tenure.AfterCommitError)
    assert shared.answers["c"] == "c"
    assert sorted(shared.values()) == ["b", "c", "first"]


def test_a_busy_commit_repeats_every_body(shared: Shared) -> None:
    """As each would by itself (JN-142); each then has a transaction of its own, or shares one again."""
    failures = iter([True])
    runs: list[str] = []

    def before(sql: str) -> None:
        if sql == "COMMIT" and next(failures, False):
            raise DatabaseError("busy")

    def body(name: str) -> str:
        runs.append(name)
        return shared.insert(name)

    shared.faults.before = before
    with shared.first(lambda: body("first")):
        shared.start("b", lambda: body("b"))
        shared.start("c", lambda: body("c"))

    assert sorted(runs) == ["b", "b", "c", "c", "first", "first"]
    assert shared.answers == {"first": "first", "b": "b", "c": "c"}
    assert sorted(shared.values()) == ["b", "c", "first"]


def test_what_a_body_raised_does_not_stand_if_the_commit_fails(shared: Shared) -> None:
    """It may have looked at what was never committed, so it runs again."""
    failures = iter([True])

    def before(sql: str) -> None:
        if sql == "COMMIT" and next(failures, False):
            raise DatabaseError("busy")

    def first() -> None:
        # The second time it does not write what the other one objects to.
        if not runs:
            shared.insert("first")
        runs.append("first")

    def objecting() -> str:
        runs.append("b")
        if shared.database.rows("SELECT 1 FROM t WHERE x = 'first'"):
            raise Refused
        return shared.insert("b")

    runs: list[str] = []
    shared.faults.before = before
    with shared.first(first):
        shared.start("b", objecting)

    assert shared.answers["b"] == "b"
    assert shared.values() == ["b"]


@pytest.mark.parametrize(
    ("error", "kept"), [(DatabaseError("io", "why"), False), (CommitUnknownError("io", "unknown"), True)]
)
def test_a_commit_that_fails_fails_for_all(shared: Shared, error: DatabaseError, kept: bool) -> None:
    """Each caller gets an error of its own; where the outcome is unknown, that is what it says."""

    def fail(connection: Any) -> None:
        if kept:
            connection.commit()
        raise error

    with shared.first():
        shared.start("b", lambda: shared.insert("b"))
        shared.faults.instead_of_commit = fail
    shared.faults.instead_of_commit = None
    errors = list(shared.answers.values())

    assert [type(each) for each in errors] == [type(error)] * 2
    assert {(each.code, each.text) for each in errors if isinstance(each, DatabaseError)} == {(error.code, error.text)}
    assert errors[0] is not errors[1]
    assert shared.values() == (["first", "b"] if kept else [])


@pytest.mark.parametrize("swallows", [False, True])
def test_a_body_that_makes_the_database_roll_back_harms_nobody_else(shared: Shared, swallows: bool) -> None:
    """Some failures undo the whole transaction: the others run again, and it fails itself."""

    def breaking() -> None:
        shared.insert("lost")
        shared.database.rows("ROLLBACK")
        if not swallows:
            raise DatabaseError("io", "the disk is full")

    with shared.first():
        shared.start("b", breaking)
        shared.start("c", lambda: shared.insert("c"))

    assert isinstance(shared.answers["b"], DatabaseError)
    assert shared.answers["b"].code == "io"
    assert (shared.answers["first"], shared.answers["c"]) == ("first", "c")
    assert sorted(shared.values()) == ["c", "first"]


def test_a_scope_that_cannot_be_undone_is_not_committed(shared: Shared) -> None:
    """The others run again without what is left of it."""

    class Stuck:
        """A connection that cannot roll back to a savepoint."""

        def __getattr__(self, name: str) -> object:
            return getattr(connection, name)

        def rollback_to_savepoint(self) -> None:
            raise DatabaseError("io")

    connection = shared.database._connection

    def failing() -> None:
        shared.insert("half")
        shared.database._open.connection = Stuck()  # type: ignore[assignment]  # the rest by __getattr__
        raise Refused

    with shared.first():
        shared.start("b", failing)
        shared.start("c", lambda: shared.insert("c"))
    shared.database._open.connection = connection

    assert isinstance(shared.answers["b"], Refused)
    assert sorted(shared.values()) == ["c", "first"]


def test_a_busy_body_is_repeated_alone(shared: Shared) -> None:
    """Contention inside one member's body repeats that one (JN-142)."""
    failures = iter([True])

    def busy() -> str:
        shared.insert("b")
        if next(failures, False):
            raise DatabaseError("busy")
        return "b"

    with shared.first():
        shared.start("b", busy)
        shared.start("c", lambda: shared.insert("c"))

    assert shared.answers == {"first": "first", "b": "b", "c": "c"}
    assert sorted(shared.values()) == ["b", "c", "first"]


def test_an_explicit_transaction_joins_nobody(shared: Shared) -> None:
    """Its block may take as long as it likes, so the group is committed before it, and it is not passed over."""
    order: list[str] = []

    def explicit() -> None:
        with shared.database.transaction():
            order.append("explicit")
            assert shared.asked.count("COMMIT") == 1
            shared.insert("explicit")

    def note(name: str) -> str:
        order.append(name)
        return shared.insert(name)

    with shared.first(lambda: note("first")):
        shared.start("b", lambda: note("b"))
        eventually(lambda: len(shared.database._turns.waiting) == 1)
        thread = threading.Thread(target=explicit, daemon=True)
        shared.threads.append(thread)
        thread.start()
        eventually(lambda: len(shared.database._turns.waiting) == 2)
        shared.start("c", lambda: note("c"))

    assert order == ["first", "b", "explicit", "c"]
    assert shared.values() == order


def test_a_memory_database_shares_nothing() -> None:
    """There is no disk to wait for."""
    asked: list[str] = []
    faults = Faults()
    database = open_database(FaultyEngine(":memory:", faults))
    database.write(database.rows, "CREATE TABLE t (x TEXT)")
    faults.before = asked.append
    shared = Shared(database, faults)
    with shared.first():
        shared.start("b", lambda: shared.insert("b"))

    assert asked.count("BEGIN") == asked.count("COMMIT") == 2
    assert shared.values() == ["first", "b"]
    database.close()


def test_a_group_has_an_end(shared: Shared) -> None:
    """However many wait, a commit comes after 64 of them."""
    with shared.first():
        for number in range(70):
            shared.start(str(number), lambda number=number: shared.insert(str(number)))  # type: ignore[misc]  # bound for the thread

    assert shared.asked.count("COMMIT") == 2
    assert len(shared.values()) == 71


def test_a_crash_of_the_commit_leaves_nobody_waiting(shared: Shared) -> None:
    """What is no failure of the database reaches who committed; the others run again."""
    failures = iter([True])

    def before(sql: str) -> None:
        if sql == "COMMIT" and next(failures, False):
            raise ZeroDivisionError

    shared.faults.before = before
    with shared.first():
        shared.start("b", lambda: shared.insert("b"))

    assert isinstance(shared.answers["b"], ZeroDivisionError)
    assert shared.answers["first"] == "first"
    assert shared.values() == ["first"]


def test_many_threads_on_one_file(tmp_path: Path) -> None:
    """Nothing is lost or done twice, and there are fewer commits than writes."""
    asked: list[str] = []
    faults = Faults(asked.append)
    database = open_database(FaultyEngine(tmp_path / "t.db", faults, busy_timeout_ms=5_000), sleep=Sleeper())
    database.write(database.rows, "CREATE TABLE t (x TEXT)")
    asked.clear()

    def body(name: str) -> None:
        database.rows("INSERT INTO t VALUES (?)", (name,))
        if name.endswith("7"):
            raise Refused

    def work(thread: int) -> None:
        for number in range(50):
            try:
                database.write(body, f"{thread}:{number}")
            except Refused:
                assert number % 10 == 7

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    rows = [row[0] for row in database.read("SELECT x FROM t")]
    database.close()

    assert sorted(rows) == sorted(f"{t}:{n}" for t in range(8) for n in range(50) if n % 10 != 7)
    assert asked.count("COMMIT") < 8 * 45

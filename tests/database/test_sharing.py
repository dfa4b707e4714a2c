"""Tests of threads, tasks and processes that share a database."""

import asyncio
import contextvars
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import tenure
from tenure.database.engine import UsageError
from tenure.database.sqlite import SqliteEngine
from tenure.database.writer import Database
from tests.database.support import open_database, query
from tests.threads import PATIENCE_SECONDS, in_thread


@pytest.fixture(params=["file", "memory"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """A database with an empty table ``t``, once on file and once in memory."""
    path = str(tmp_path / "t.db") if request.param == "file" else ":memory:"
    database = open_database(SqliteEngine(path))
    database.write(database.rows, "CREATE TABLE t (x)")
    return database


def count(database: Database) -> int:
    """How many rows ``t`` has."""
    found: int = database.read("SELECT count(*) FROM t")[0][0]
    return found


def insert(database: Database, value: int = 0) -> None:
    """Insert one row, in a transaction or savepoint of its own."""
    database.write(database.rows, "INSERT INTO t VALUES (?)", (value,))


def test_writes_of_many_threads_all_arrive(database: Database) -> None:
    """Threads that write at once are serialised, and none is lost."""

    def work(_: int) -> None:
        for _ in range(50):
            insert(database)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))

    assert count(database) == 400


def test_read_and_write_of_many_threads(database: Database) -> None:
    """A transaction that reads and then writes what it read never loses a step to another thread."""
    database.write(database.rows, "INSERT INTO t VALUES (0)")

    def step() -> None:
        value = database.rows("SELECT max(x) FROM t", ())[0][0]
        database.rows("UPDATE t SET x = ?", (value + 1,))

    def work(_: int) -> None:
        for _ in range(50):
            database.write(step)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))

    assert database.read("SELECT x FROM t") == [(400,)]


def test_another_threads_write_waits_and_stays_its_own(database: Database) -> None:
    """A write from another thread waits for the transaction to end, and survives its rollback."""
    started = threading.Event()

    def work() -> None:
        started.set()
        insert(database, 2)

    def block() -> None:
        with database.transaction():
            insert(database, 1)
            other.append(in_thread(work))
            assert started.wait(PATIENCE_SECONDS)
            assert not other[0][1]
            raise LookupError

    other: list[tuple[threading.Thread, list[object]]] = []
    with pytest.raises(LookupError):
        block()
    other[0][0].join(PATIENCE_SECONDS)

    assert other[0][1] == [None]
    assert database.read("SELECT x FROM t") == [(2,)]


def test_reads_of_other_threads_do_not_wait_on_a_file(tmp_path: Path) -> None:
    """While one thread has a transaction open, others read what was committed before."""
    database = open_database(SqliteEngine(str(tmp_path / "t.db")))
    database.write(database.rows, "CREATE TABLE t (x)")
    with database.transaction():
        insert(database)
        thread, answers = in_thread(lambda: count(database))
        thread.join(PATIENCE_SECONDS)
        own = count(database)

    assert answers == [0]
    assert own == 1
    assert count(database) == 1


def test_reads_of_other_threads_wait_in_memory() -> None:
    """A memory database has one connection: a read from another thread waits and sees no half-done transaction."""
    database = open_database(SqliteEngine(":memory:"))
    database.write(database.rows, "CREATE TABLE t (x)")
    started = threading.Event()

    def work() -> int:
        started.set()
        return count(database)

    with database.transaction():
        insert(database)
        thread, answers = in_thread(work)
        assert started.wait(PATIENCE_SECONDS)
        insert(database)
    thread.join(PATIENCE_SECONDS)

    assert answers == [2]


def test_readers_are_used_again(tmp_path: Path) -> None:
    """Reads one after the other need one connection in all, however many there are."""
    engine = CountingEngine(str(tmp_path / "t.db"))
    database = open_database(engine)
    database.write(database.rows, "CREATE TABLE t (x)")

    for _ in range(100):
        count(database)

    assert engine.connections == 2


class CountingEngine(SqliteEngine):
    """Counts the connections it opened."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        object.__setattr__(self, "connections", 0)

    connections: int

    def connect(self, *, read_only: bool = False) -> object:  # type: ignore[override]  # only counts
        object.__setattr__(self, "connections", self.connections + 1)
        return super().connect(read_only=read_only)


def test_after_commit_belongs_to_the_thread(database: Database) -> None:
    """Another thread cannot hang its work on a transaction that is not its own (JN-145)."""
    with database.transaction():
        thread, answers = in_thread(lambda: database.after_commit(lambda: None))
        thread.join(PATIENCE_SECONDS)

    assert answers == [False]


def test_another_task_of_the_thread_is_refused(database: Database) -> None:
    """A task that shares the thread but not the transaction would wait for ever or join it: it is told so at once."""
    other_task = contextvars.copy_context()
    with database.transaction():
        insert(database, 1)
        for use in (lambda: insert(database, 2), database.transaction().__enter__):
            with pytest.raises(UsageError):
                other_task.run(use)
        waiting = other_task.run(database.after_commit, lambda: None)

    assert waiting is False
    assert database.read("SELECT x FROM t") == [(1,)]


def test_a_task_that_was_started_inside_a_transaction_is_refused(database: Database) -> None:
    """It begins with a copy of the context, which the transaction does not belong to; the first goes on."""

    async def insert_other() -> None:
        with pytest.raises(UsageError):
            insert(database, 2)

    async def insert_both() -> None:
        with database.transaction():
            insert(database, 1)
            await asyncio.create_task(insert_other())
            insert(database, 3)
            with database.transaction():
                insert(database, 4)

    asyncio.run(insert_both())

    assert database.read("SELECT x FROM t") == [(1,), (3,), (4,)]


def test_another_task_of_the_thread_reads_what_is_committed(tmp_path: Path) -> None:
    """On a file such a task may read: it sees what was committed before."""
    database = open_database(SqliteEngine(str(tmp_path / "t.db")))
    database.write(database.rows, "CREATE TABLE t (x)")
    other_task = contextvars.copy_context()
    with database.transaction():
        insert(database)
        seen = other_task.run(count, database)

    assert seen == 0


def test_another_task_of_the_thread_cannot_read_memory() -> None:
    """In memory it would have to wait for its own thread."""
    database = open_database(SqliteEngine(":memory:"))
    database.write(database.rows, "CREATE TABLE t (x)")
    other_task = contextvars.copy_context()
    with database.transaction(), pytest.raises(UsageError):
        other_task.run(count, database)


def test_two_databases_of_one_thread(tmp_path: Path) -> None:
    """A transaction of one database inside that of another does not hide the outer one."""
    first, second = (open_database(SqliteEngine(str(tmp_path / name))) for name in ("a.db", "b.db"))
    for database in (first, second):
        database.write(database.rows, "CREATE TABLE t (x)")
    with first.transaction(), second.transaction():
        insert(first)
        insert(second)
    with first.transaction():
        insert(first)

    assert (count(first), count(second)) == (2, 1)


def test_instances_of_one_file_see_each_other(tmp_path: Path) -> None:
    """Two databases over one file in one process are as separate as two processes."""
    path = str(tmp_path / "t.db")
    first, second = open_database(SqliteEngine(path)), open_database(SqliteEngine(path))
    first.write(first.rows, "CREATE TABLE t (x)")

    insert(second)

    assert count(first) == 1


WORKER = """
import sys, tenure
path, name = sys.argv[1:]
owner = tenure.OwnerId(name, 1, name)
with tenure.open(path) as store:
    won = 0
    for number in range(100):
        run_id = f"run-{number}"
        try:
            store.runs.create(run_id, "{}")
        except tenure.RunStoreError as error:
            assert error.code == "constraint", error
        if store.runs.claim_and_own(run_id, tenure.PENDING, owner, store.now()) == tenure.Activated():
            won += 1
            assert store.runs.heartbeat(run_id, owner, store.now()) == tenure.Updated()
            assert store.runs.transition_owned(run_id, owner, "completed") == tenure.Transitioned()
    print(won)
"""


def test_processes_share_a_fresh_file(tmp_path: Path) -> None:
    """Processes that open a new file at once migrate it once, and every run goes to exactly one of them."""
    path = tmp_path / "runs.db"
    processes = [
        subprocess.Popen([sys.executable, "-c", WORKER, str(path), name], stdout=subprocess.PIPE, text=True)
        for name in ("one", "two", "three")
    ]

    won = [int(process.communicate(timeout=PATIENCE_SECONDS)[0]) for process in processes]

    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sum(won) == 100
    assert query(path, "SELECT status, count(*) FROM flows_runs GROUP BY status") == [("completed", 100)]
    assert query(path, "SELECT count(*) FROM flows_migrations") == [(10,)]
    assert query(path, "SELECT * FROM flows_consensus_leases") == []


def test_killed_process_leaves_whole_transactions(tmp_path: Path) -> None:
    """A process that dies in mid-transaction leaves nothing of it, and no lock."""
    path = tmp_path / "runs.db"
    program = """
import os, sys, tenure
store = tenure.open(sys.argv[1])
store.runs.create("kept", "{}")
with store.transaction():
    store.runs.create("lost", "{}")
    os.kill(os.getpid(), 9)
"""

    subprocess.run([sys.executable, "-c", program, str(path)], check=False)

    with tenure.open(path, busy_timeout_ms=0) as store:
        store.runs.create("after", "{}")
    assert query(path, "SELECT run_id FROM flows_runs ORDER BY run_id") == [("after",), ("kept",)]

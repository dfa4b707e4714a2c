"""Tests of writes of several threads that share a transaction."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

import tenure
from tenure.database.engine import CommitUnknownError, Connection, DatabaseError
from tenure.database.turns import Group, Member, Turns
from tenure.database.writer import Database, Withdrawn
from tests.database.support import Faults, FaultyEngine, Sleeper, open_database

PATIENCE_SECONDS = 60


class Refused(Exception):
    """What a body raises."""


@attrs.define
class Shared:
    """A database on file, what it was asked to do, and a way to make writes meet."""

    database: Database
    faults: Faults
    asked: list[str] = attrs.Factory(list)
    threads: list[threading.Thread] = attrs.Factory(list)
    answers: dict[str, object] = attrs.Factory(dict)

    def insert(self, value: str) -> str:
        """A body that inserts one row."""
        self.database.rows("INSERT INTO t VALUES (?)", (value,))
        return value

    def start(self, name: str, body: Callable[[], object]) -> None:
        """Write in a thread of its own; what came of it is found under the name."""

        def work() -> None:
            try:
                self.answers[name] = self.database.write(body)
            except Exception as error:  # noqa: BLE001  # looked at by the test
                self.answers[name] = error

        thread = threading.Thread(target=work, daemon=True)
        self.threads.append(thread)
        thread.start()

    @contextmanager
    def first(self, body: Callable[[], object] | None = None) -> Iterator[None]:
        """A first write that waits, in its transaction, until as many others wait as were started inside."""
        inside, go_on = threading.Event(), threading.Event()

        def held() -> object:
            answer = (body or (lambda: self.insert("first")))()
            inside.set()
            assert go_on.wait(PATIENCE_SECONDS)
            return answer

        self.start("first", held)
        assert inside.wait(PATIENCE_SECONDS)
        started = len(self.threads)
        yield
        eventually(lambda: len(self.database._turns.waiting) == len(self.threads) - started)
        go_on.set()
        for thread in self.threads:
            thread.join(PATIENCE_SECONDS)

    def values(self) -> list[str]:
        """What is committed, in the order of insertion."""
        return [row[0] for row in self.database.read("SELECT x FROM t ORDER BY rowid")]


def eventually(condition: Callable[[], bool]) -> None:
    """Wait until other threads have made it true."""
    waiter = threading.Event()
    for _ in range(PATIENCE_SECONDS * 1_000):
        if condition():
            return
        waiter.wait(0.001)
    raise AssertionError("it never came true")


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


class Interrupted(Exception):
    """What a signal handler raises."""


def test_an_interruption_after_the_commit_leaves_it_committed_also_while_an_error_is_handled(shared: Shared) -> None:
    """Whoever commits for a group may be handling an error of its own: the others are told what is there."""

    def commit_and_interrupt(connection: Connection) -> None:
        shared.faults.instead_of_commit = None
        connection.commit()
        raise Interrupted

    def work() -> None:
        try:
            raise Refused
        except Refused:
            try:
                shared.database.write(shared.insert, "b")
            except Interrupted as interruption:
                shared.answers["b"] = interruption

    shared.faults.instead_of_commit = commit_and_interrupt
    with shared.first():
        shared.threads.append(threading.Thread(target=work, daemon=True))
        shared.threads[-1].start()

    assert isinstance(shared.answers["b"], Interrupted)
    assert shared.answers["first"] == "first"
    assert shared.values() == ["first", "b"]


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """A function that interrupts the main thread once, from another one, and returns when it has."""
    raised = threading.Event()
    main = threading.main_thread().ident or 0

    def handle(number: int, frame: object) -> None:
        if not raised.is_set():
            raised.set()
            raise Interrupted

    def interrupt() -> None:
        # A signal that arrives just before the thread waits is seen only when the wait ends: send it again.
        while not raised.wait(0.01):
            signal.pthread_kill(main, signal.SIGUSR1)

    previous = signal.signal(signal.SIGUSR1, handle)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGUSR1, previous)


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals reach the main thread")
def test_who_is_interrupted_while_it_waits_holds_nobody_up(shared: Shared) -> None:
    """It leaves the queue, and the others go on."""
    with interruptible() as interrupt, shared.first():

        def interrupt_once_it_waits() -> None:
            eventually(lambda: len(shared.database._turns.waiting) == 1)
            interrupt()

        interrupter = threading.Thread(target=interrupt_once_it_waits, daemon=True)
        interrupter.start()
        with pytest.raises(Interrupted):
            shared.database.write(shared.insert, "interrupted")
        interrupter.join()
        shared.start("c", lambda: shared.insert("c"))

    assert shared.values() == ["first", "c"]


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals reach the main thread")
def test_who_is_interrupted_while_it_awaits_the_commit_is_committed_all_the_same(shared: Shared) -> None:
    """Its write is part of the group by then; the others are told."""
    inside, go_on = threading.Event(), threading.Event()

    def last() -> str:
        inside.set()
        assert go_on.wait(PATIENCE_SECONDS)
        return shared.insert("last")

    def interrupt_once_it_waits() -> None:
        assert inside.wait(PATIENCE_SECONDS)
        interrupt()
        interrupted.wait(PATIENCE_SECONDS)
        go_on.set()

    interrupted = threading.Event()
    with interruptible() as interrupt:
        interrupter = threading.Thread(target=interrupt_once_it_waits, daemon=True)

        def first() -> str:
            shared.start("last", last)
            eventually(lambda: len(shared.database._turns.waiting) == 1)
            interrupter.start()
            return shared.insert("first")

        with pytest.raises(Interrupted):
            shared.database.write(first)
        interrupted.set()
        for thread in (interrupter, *shared.threads):
            thread.join(PATIENCE_SECONDS)

    assert shared.answers == {"last": "last"}
    assert shared.values() == ["first", "last"]


class Nobody:
    """A host that notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def go_on(self, group: Group) -> None:
        self.asked.append("go on")

    def clear_up(self) -> None:
        self.asked.append("clear up")


def test_turns_come_in_the_order_of_arrival() -> None:
    """Nobody starves."""
    turns, nobody = Turns(), Nobody()
    order: list[int] = []

    def take(number: int) -> None:
        turns.enter(nobody)
        order.append(number)
        turns.leave()

    turns.enter(nobody)
    threads = []
    for number in range(5):
        thread = threading.Thread(target=take, args=(number,), daemon=True)
        thread.start()
        threads.append(thread)
        eventually(lambda number=number: len(turns.waiting) == number + 1)  # type: ignore[misc]  # bound for the wait
    turns.leave()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)

    assert order == [0, 1, 2, 3, 4]
    assert turns.enter(nobody) is None
    assert nobody.asked == []


def test_a_turn_that_was_cut_short_is_taken_over_by_the_next_of_its_thread(shared: Shared) -> None:
    """Ctrl-C may come between any two steps: what the turn left behind is undone, and nobody waits for ever."""
    shared.database._turns.enter(shared.database)
    shared.database._connection.begin()
    shared.database.rows("INSERT INTO t VALUES ('half')")
    shared.start("b", lambda: shared.insert("b"))
    eventually(lambda: len(shared.database._turns.waiting) == 1)
    shared.database.write(shared.insert, "next")
    shared.threads[0].join(PATIENCE_SECONDS)

    assert shared.answers == {"b": "b"}
    assert shared.values() == ["next", "b"]


def test_a_group_whose_turn_was_cut_short_is_undone(shared: Shared) -> None:
    """Its members learn that it was not committed, and run again."""
    turns, nobody, group = Turns(), Nobody(), Group()
    lost: list[Group | None] = []

    def lose() -> None:
        lost.append(turns.enter(nobody, True))
        lost.append(turns.enter(nobody))
        turns.leave()

    turns.enter(nobody)
    thread = threading.Thread(target=lose, daemon=True)
    thread.start()
    eventually(lambda: len(turns.waiting) == 1)
    group.members.append(Member())
    passed = turns.pass_on(group)
    ended = group.members[0].ended.acquire(timeout=PATIENCE_SECONDS)
    thread.join(PATIENCE_SECONDS)

    assert (passed, ended) == (True, True)
    assert lost == [group, None]
    assert nobody.asked == ["clear up"]
    assert not group.is_committed


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


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals reach the main thread")
@pytest.mark.parametrize("kind", ["file", "memory"])
def test_a_storm_of_interruptions_harms_nobody_else(kind: str, tmp_path: Path) -> None:
    """Wherever they hit: nothing that was answered is missing, nothing is there twice, and nobody hangs."""
    path = tmp_path / "t.db" if kind == "file" else ":memory:"
    database = open_database(FaultyEngine(path, Faults(), busy_timeout_ms=5_000))
    database.write(database.rows, "CREATE TABLE t (x TEXT)")
    answered: list[set[str]] = [set(), set(), set()]
    attempted: set[str] = set()
    interruptions = 0
    is_armed = False
    stop = threading.Event()

    def handle(number: int, frame: object) -> None:
        nonlocal is_armed, interruptions
        if is_armed:
            is_armed = False
            interruptions += 1
            raise Interrupted

    def work(thread: int) -> None:
        number = 0
        while not stop.is_set():
            name = f"{thread}:{number}"
            database.write(database.rows, "INSERT INTO t VALUES (?)", (name,))
            answered[thread].add(name)
            number += 1

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in (1, 2)]
    for thread in threads:
        thread.start()
    previous = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0007)
    try:
        number = 0
        while interruptions < 150:
            name = f"0:{number}"
            number += 1
            attempted.add(name)
            try:
                is_armed = True
                database.write(database.rows, "INSERT INTO t VALUES (?)", (name,))
                is_armed = False
                answered[0].add(name)
            except Interrupted:
                pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    stop.set()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    rows = [row[0] for row in database.read("SELECT x FROM t")]
    database.close()

    assert not any(thread.is_alive() for thread in threads)
    assert len(rows) == len(set(rows))
    assert set().union(*answered) <= set(rows) <= attempted.union(*answered)

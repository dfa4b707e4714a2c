"""Tests of turns: in what order they come, and what is left of one that is interrupted."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tenure.database.engine import Connection
from tenure.database.turns import Group, Member, Turns
from tests.database.shared import Refused, Shared
from tests.database.support import Faults, FaultyEngine, open_database
from tests.threads import PATIENCE_SECONDS, eventually


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

"""Eight threads at once on a file, against eight threads of a bare loop that shares commits."""

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import apsw

import tenure
from tests.bench.bare import Statement, migrated, record
from tests.bench.journal import OPTIONS, durable, event
from tests.bench.runs import ME, beats, one_run
from tests.bench.table import in_turn, line

THREADS = 8
COUNT = 1_600
ROUNDS = 5
AIM = 1.18
"""Eight threads are to reach 0.85 of the bare loop: at most 1.18 times its time."""


def units_of(statements: Sequence[Statement]) -> list[list[Statement]]:
    """The statements of a recorded run, a list for each transaction, without its beginning and end."""
    units: list[list[Statement]] = []
    for statement in statements:
        if statement[0].startswith("BEGIN"):
            units.append([])
        elif statement[0] != "COMMIT":
            units[-1].append(statement)
    return units


class BareGroupCommit:
    """The least that shares commits: whoever gets the connection runs all units that have gathered, and commits once.

    Each unit has a savepoint, as one that failed would have to be taken back alone; none does here.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._execute = connection.cursor().execute
        self._connection = threading.Lock()
        self._list = threading.Lock()
        self._gathered: list[tuple[list[Statement], list[bool]]] = []

    def submit(self, unit: list[Statement]) -> None:
        """Return once the unit is committed."""
        done = [False]
        with self._list:
            self._gathered.append((unit, done))
        with self._connection:
            if done[0]:
                return
            with self._list:
                batch, self._gathered = self._gathered, []
            execute = self._execute
            execute("BEGIN IMMEDIATE").fetchall()
            for statements, _ in batch:
                execute("SAVEPOINT bare").fetchall()
                for sql, bindings in statements:
                    execute(sql, bindings).fetchall()
                execute("RELEASE bare").fetchall()
            execute("COMMIT").fetchall()
            for _, finished in batch:
                finished[0] = True


def at_once(work: Callable[[int], object]) -> float:
    """Seconds that eight threads take for ``COUNT`` units."""
    barrier = threading.Barrier(THREADS + 1)

    def run(number: int) -> None:
        barrier.wait()
        for unit in range(number, COUNT, THREADS):
            work(unit)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    barrier.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def compare(
    name: str,
    prepare: Callable[[tenure.Store], None],
    recorded: Callable[[tenure.Store, int], None],
    unit: Callable[[tenure.Store, int], object],
    what: str,
) -> str:
    """One row: the threads and the bare loop, in turn."""
    statements, begins = record(prepare, lambda store: recorded(store, COUNT), journal=OPTIONS)
    units = units_of(statements[begins:])
    with tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder:
        fresh = (Path(folder) / f"{number}.db" for number in range(1_000))

        def ours() -> float:
            with tenure.open(next(fresh), clock=lambda: 0, journal=OPTIONS) as store:
                prepare(store)
                return at_once(lambda number: unit(store, number)) / COUNT

        def theirs() -> float:
            connection = migrated(next(fresh))
            for sql, bindings in statements[:begins]:
                connection.execute(sql, bindings).fetchall()
            bare = BareGroupCommit(connection)
            elapsed = at_once(lambda number: bare.submit(units[number])) / COUNT
            connection.close()
            return elapsed

        return line(name, in_turn(ours, theirs, ROUNDS), AIM, what)


def rows() -> Iterator[str]:
    """Emits and heartbeats of eight threads."""
    yield compare(
        "emit_durable, 8 threads, file",
        lambda store: None,
        durable,
        lambda store, number: store.journal.emit_durable_unfenced(event(number)),
        "entries",
    )
    yield compare(
        "heartbeat, 8 threads, file",
        one_run,
        beats,
        lambda store, number: store.runs.heartbeat("run", ME, number % 10_000),
        "beats",
    )

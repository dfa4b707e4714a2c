"""The run store against a bare loop of the very same statements."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import tenure
from tests.bench.bare import play, record
from tests.bench.table import in_turn, line

ME = tenure.OwnerId("host", 1, "nonce")
ROUNDS = 5


def cycles(store: tenure.Store, count: int) -> None:
    """Create, take and complete ``count`` runs."""
    runs = store.runs
    for number in range(count):
        run_id = f"run-{number}"
        runs.create(run_id, '{"step": "checkout"}')
        runs.claim_and_own(run_id, tenure.PENDING, ME, 0)
        runs.transition_owned(run_id, ME, "completed")


def one_run(store: tenure.Store) -> None:
    """A run to beat for."""
    store.runs.create("run", "{}")
    store.runs.claim_and_own("run", tenure.PENDING, ME, 0)


def beats(store: tenure.Store, count: int) -> None:
    """Beat ``count`` times."""
    heartbeat = store.runs.heartbeat
    for number in range(count):
        heartbeat("run", ME, number % 10_000)


def nothing(store: tenure.Store) -> None:
    """Start from an empty store."""


def compare(
    name: str,
    prepare: Callable[[tenure.Store], None],
    work: Callable[[tenure.Store, int], None],
    *,
    count: int,
    on_file: bool,
    aim: float,
    unit: str,
) -> str:
    """One row: the store and the bare loop, in turn."""
    statements, begins = record(prepare, lambda store: work(store, count))
    with tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder:
        fresh = (Path(folder) / f"{number}.db" for number in range(10_000))

        def path() -> Path | str:
            return next(fresh) if on_file else ":memory:"

        def ours() -> float:
            with tenure.open(path(), clock=lambda: 0) as store:
                prepare(store)
                start = time.perf_counter()
                work(store, count)
                return (time.perf_counter() - start) / count

        def theirs() -> float:
            return play(path(), statements, begins, time.perf_counter) / count

        return line(name, in_turn(ours, theirs, ROUNDS), aim, unit)


def rows() -> Iterator[str]:
    """Every comparison of the run store."""
    for on_file, where in ((True, "file"), (False, "memory")):
        aim = 1.3 if on_file else 2.5
        count = 400 if on_file else 3_000
        yield compare(
            f"create+own+complete, {where}", nothing, cycles, count=count, on_file=on_file, aim=aim, unit="cycles"
        )
        yield compare(f"heartbeat, {where}", one_run, beats, count=count * 3, on_file=on_file, aim=aim, unit="beats")

"""The journal against a bare loop of the very same statements; reads, opening, compaction, redaction by themselves."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import tenure
from tenure_model.admission.redaction.redactor import Redactor
from tests.bench.bare import Statement, play, record
from tests.bench.memory import peak_memory_mib
from tests.bench.table import in_turn, line, rate_line

ROUNDS = 5
OPTIONS = {"capacity": 2_000, "overflow": "reject"}


def event(number: int) -> dict[str, object]:
    """An ordinary small event without a number of its own."""
    return {"runId": "run", "sourceId": "p", "eventType": "step", "payload": {"step": "checkout", "n": number}}


def durable(store: tenure.Store, count: int) -> None:
    """Append one by one."""
    emit = store.journal.emit_durable_unfenced
    for number in range(count):
        emit(event(number))


def lossy(store: tenure.Store, count: int) -> None:
    """Queue in thousands, and flush after each."""
    emit, flush = store.journal.emit_lossy, store.journal.flush
    for number in range(count):
        emit(event(number))
        if number % 1_000 == 999:
            flush()
    flush()


def nothing(store: tenure.Store) -> None:
    """Start from an empty journal."""


def compare(name: str, work: Callable[[tenure.Store, int], None], count: int, on_file: bool, aim: float) -> str:
    """One row: the journal and a bare loop of the statements it issues, in turn."""
    statements, begins = record(nothing, lambda store: work(store, count), journal=OPTIONS)
    return _against(name, work, statements, begins, count, on_file, aim)


def _against(
    name: str,
    work: Callable[[tenure.Store, int], None],
    statements: list[Statement],
    begins: int,
    count: int,
    on_file: bool,
    aim: float,
) -> str:
    with tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder:
        fresh = (Path(folder) / f"{number}.db" for number in range(10_000))

        def path() -> Path | str:
            return next(fresh) if on_file else ":memory:"

        def ours() -> float:
            with tenure.open(path(), clock=lambda: 0, journal=OPTIONS) as store:
                start = time.perf_counter()
                work(store, count)
                return (time.perf_counter() - start) / count

        def theirs() -> float:
            return play(path(), statements, begins, time.perf_counter) / count

        return line(name, in_turn(ours, theirs, ROUNDS), aim, "entries")


_DECIDING_INSERT = """
    INSERT INTO flows_journal_events
    SELECT ?1, max(?2, ifnull((SELECT max(seq) + 1 FROM flows_journal_events WHERE run_id = ?1), 0)),
      ?3, ?4, ?5, ?6, ?7, ?8, ?9
    WHERE NOT EXISTS (
      SELECT 1 FROM flows_journal_checkpoints WHERE run_id = ?1 AND compacted_at_ms IS NOT NULL AND seq >= ?2
    )
    ON CONFLICT DO NOTHING RETURNING seq
"""


def compare_with_one_insert_each(name: str, count: int, on_file: bool, aim: float) -> str:
    """One row: the lossy channel against a bare loop of one insert an entry that decides all of JN-211 by itself.

    The journal reads a run's bounds once a batch instead, so its own statements are a faster yardstick than this.
    """
    statements: list[Statement] = []
    for start in range(0, count, 64):
        statements.append(("BEGIN IMMEDIATE", ()))
        for n in range(start, min(start + 64, count)):
            payload = f'{{"n":{n},"step":"checkout"}}'
            columns = ("run", n, f"flows:event:3:run1:p{n}", "p", n, 0, "step", payload, "null")
            statements.append((_DECIDING_INSERT, columns))
        statements.append(("COMMIT", ()))
    return _against(name, lossy, statements, 0, count, on_file, aim)


def fill(path: str, count: int) -> None:
    """A file with ``count`` entries of one run, by raw SQL."""
    with tenure.open(path, journal=OPTIONS) as store:
        store.database.write(
            store.database.rows,
            """
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
            INSERT INTO flows_journal_events
            SELECT 'run', i, 'flows:event:3:run1:p' || i, 'p', i, i,
              'step', '{"n":' || i || ',"step":"checkout"}', 'null'
            FROM n
            """,
            (count,),
        )


def read_everything(path: str) -> float:
    """Entries a second, in pages of a thousand."""
    with tenure.open(path, journal=OPTIONS) as store:
        read, after = 0, -1
        start = time.perf_counter()
        while True:
            page = store.journal.entries("run", limit=1_000, **({} if after < 0 else {"after": after}))
            read += len(page.entries)
            if not page.has_more:
                return read / (time.perf_counter() - start)
            after = page.entries[-1].seq


def open_and_close(path: str) -> float:
    """Seconds to open a file with a journal, the best of five."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        store = tenure.open(path, journal=OPTIONS)
        best = min(best, time.perf_counter() - start)
        store.close()
    return best


def compact_everything(path: str) -> None:
    """Compact a run to its tail."""
    me = tenure.OwnerId("host", 1, "nonce")
    with tenure.open(path, journal=OPTIONS) as store:
        store.runs.create("run", "{}")
        store.runs.claim_and_own("run", tenure.PENDING, me, store.now())
        tail = store.database.read("SELECT max(seq) FROM flows_journal_events WHERE run_id = 'run'")[0][0]
        store.journal.checkpoint("run", tail, {}, me)
        store.journal.compact("run", me)


def redaction_rate() -> float:
    """Megabytes of ordinary payload a second."""
    redact = Redactor()
    line = "2026-11-30T09:27:16Z INFO worker-17 finished step checkout of build 42 in 1234 ms, 3 warnings, exit 0"
    payload = {"level": "info", "lines": [f"{line} #{number}" for number in range(200)], "tags": {"step": "checkout"}}
    size = sum(len(text) for text in payload["lines"])
    start, done = time.perf_counter(), 0
    while time.perf_counter() - start < 1.0:
        redact(payload)
        done += size
    return done / (time.perf_counter() - start) / 1e6


def rows() -> Iterator[str]:
    """Every comparison of the journal."""
    for on_file, where in ((True, "file"), (False, "memory")):
        yield compare(f"emit_durable, {where}", durable, 400 if on_file else 4_000, on_file, 1.3 if on_file else 2.0)
        yield compare(f"emit_lossy and flush, {where}", lossy, 8_000, on_file, 1.5)
        yield compare_with_one_insert_each(f"  against one insert each, {where}", 8_000, on_file, 1.5)
    with tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder:
        small, large, middle = (str(Path(folder) / name) for name in ("small.db", "large.db", "middle.db"))
        fill(small, 5_000)
        fill(middle, 100_000)
        fill(large, 1_000_000)
        yield rate_line("entries, pages of 1,000", read_everything(middle), 150_000, "entries")
        few, many = open_and_close(small), open_and_close(large)
        told = f"{few * 1e3:.1f} ms with 5,000 entries, {many * 1e3:.1f} ms with 1,000,000"
        yield f"{'opening':34} {told}: {many / few:.2f}x"
        idle = peak_memory_mib("tests.bench.journal", "open_and_close", small)
        busy = peak_memory_mib("tests.bench.journal", "compact_everything", middle)
        yield f"{'peak memory, compacting 100,000':34} {busy:.0f} MiB, {idle:.0f} MiB to open and close a small file"
    yield rate_line("redaction of ordinary payloads", redaction_rate(), 5, "MB")

"""Tests of threads, instances and processes that share a journal, and of processes that are killed."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tenure
from tests.journal.support import A, World, new_world
from tests.threads import PATIENCE_SECONDS, eventually, in_thread

WORKER = """
import sys
import tenure

path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with tenure.open(path, journal=tenure.JournalOptions(capacity=64, overflow="reject")) as store:
    for number in range(count):
        fields = dict(run_id="r", event_type="e", payload=[name, number])
        receipt = store.journal.emit_durable_unfenced(tenure.JournalInput(source_id="shared", **fields))
        print(receipt.seq, receipt.source_seq, flush=True)
        store.journal.emit_lossy(tenure.JournalInput(source_id=name, **fields))
        if number % 10 == 9:
            store.journal.flush()
"""


def start(path: Path, name: str, count: int) -> "subprocess.Popen[str]":
    """A process that appends on both channels and prints each durable receipt."""
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(path), name, str(count)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_threads_on_both_channels(kind: str, tmp_path: Path) -> None:
    """Every durable receipt names its row, every admitted entry is a row, and nothing repeats (JN-240)."""
    path = tmp_path / "t.db" if kind == "file" else ":memory:"
    world = new_world(path, writer="thread", capacity=10_000, batch_size=5)
    receipts: list[tuple[int, str, object]] = []

    def work(name: str) -> None:
        for number in range(60):
            receipt = world.durable([name, number], source_id="shared")
            receipts.append((receipt.seq, name, number))
            world.lossy([name, number], source_id=name)
            if number % 7 == 0:
                world.journal.flush()

    threads = [in_thread(lambda name=f"t{number}": work(name)) for number in range(6)]  # type: ignore[misc]  # bound for the thread
    for thread, _ in threads:
        thread.join(PATIENCE_SECONDS)
    world.journal.flush()
    rows = world.rows("SELECT seq, source_id, source_seq, payload_json FROM flows_journal_events ORDER BY seq")
    world.store.close()

    assert [answers for _, answers in threads] == [[None]] * 6
    assert len(rows) == 6 * 60 * 2
    shared = {seq: payload for seq, source_id, _, payload in rows if source_id == "shared"}
    assert shared == {seq: f'["{name}",{number}]' for seq, name, number in receipts}
    for name in (f"t{number}" for number in range(6)):
        assert [payload for _, source_id, _, payload in rows if source_id == name] == [
            f'["{name}",{number}]' for number in range(60)
        ]


def test_threads_compact_while_others_emit(tmp_path: Path) -> None:
    """What was accepted is there, as a row or as a tombstone, and the floor holds (JN-286, JN-289)."""
    world = new_world(tmp_path / "t.db", writer="thread", capacity=10_000, batch_size=3)
    world.own()
    world.fill(1)
    stop = threading.Event()
    compactions: list[tenure.CompactionResult] = []

    def produce(name: str) -> None:
        for number in range(80):
            world.lossy([name, number], source_id=name)
            if number % 3 == 0:
                world.durable([name, number], source_id=f"durable-{name}")

    def cut() -> None:
        while not stop.is_set():
            world.journal.flush()
            world.journal.checkpoint("r", world.seqs()[-1], None, A)
            compactions.append(world.journal.compact("r", A))

    producers = [in_thread(lambda name=f"t{number}": produce(name)) for number in range(3)]  # type: ignore[misc]  # bound for the thread
    cutter, cut_answers = in_thread(cut)
    for thread, _ in producers:
        thread.join(PATIENCE_SECONDS)
    stop.set()
    cutter.join(PATIENCE_SECONDS)
    world.journal.flush()
    identities = world.rows(
        "SELECT source_id, source_seq, seq FROM flows_journal_events"
        " UNION ALL SELECT source_id, source_seq, seq FROM flows_journal_dedup"
    )
    floor = world.rows("SELECT max(seq) FROM flows_journal_checkpoints WHERE compacted_at_ms IS NOT NULL")[0][0]
    lowest, remaining = world.seqs()[0], len(world.seqs())
    world.store.close()

    assert [answers for _, answers in producers] + [cut_answers] == [[None]] * 4
    assert len(identities) == len({row[:2] for row in identities}) == len({row[2] for row in identities})
    assert len(identities) == 1 + 3 * (80 + 27)
    assert lowest == floor
    assert sum(result.deleted for result in compactions) == len(identities) - remaining


def test_two_processes_on_one_run(tmp_path: Path) -> None:
    """Both succeed, their seqs differ, and each receipt names its row (BR-46)."""
    path = tmp_path / "t.db"
    new_world(path).store.close()
    processes = [start(path, name, 50) for name in ("one", "two")]
    receipts = [
        [tuple(map(int, line.split())) for line in process.communicate(timeout=PATIENCE_SECONDS)[0].splitlines()]
        for process in processes
    ]
    world = new_world(path)
    rows = world.rows("SELECT seq, source_seq, payload_json FROM flows_journal_events WHERE source_id = 'shared'")
    lossy = world.rows("SELECT source_id, count(*) FROM flows_journal_events GROUP BY source_id ORDER BY 1")
    world.store.close()

    assert [process.returncode for process in processes] == [0, 0]
    assert sorted(rows) == sorted(
        (seq, source_seq, f'["{name}",{number}]')
        for name, answers in zip(("one", "two"), receipts, strict=True)
        for number, (seq, source_seq) in enumerate(answers)
    )
    assert lossy == [("one", 50), ("shared", 100), ("two", 50)]


def test_a_killed_process_loses_no_acknowledged_event(tmp_path: Path) -> None:
    """Durable receipts survive kill -9, and the numbers go on above everything (JN-170, JN-282)."""
    path = tmp_path / "t.db"
    new_world(path).store.close()
    for round_number in range(3):
        process = start(path, f"round{round_number}", 1_000_000)
        assert process.stdout is not None
        acknowledged = [process.stdout.readline() for _ in range(40)]
        process.kill()
        acknowledged += process.stdout.readlines()
        process.wait(PATIENCE_SECONDS)
        process.stdout.close()
        whole = [tuple(map(int, line.split())) for line in acknowledged if line.endswith("\n")]
        world = new_world(path)
        committed = set(world.rows("SELECT seq, source_seq FROM flows_journal_events WHERE source_id = 'shared'"))
        tail = world.seqs()[-1]
        receipt = world.durable(source_id="after")
        world.store.close()

        assert set(whole) <= committed
        assert receipt.seq == tail + 1


def test_instances_in_one_process_see_each_others_commits(on_file: World) -> None:
    """Duplicates and conflicts are decided by the database, whoever remembers what (JN-163)."""
    other = on_file.reopened()
    first = on_file.durable(1, source_seq=0)
    second = other.durable(1, source_seq=0)
    with pytest.raises(tenure.JournalError, match="different content"):
        other.durable(2, source_seq=0)
    other.store.close()

    assert (first, second) == (tenure.Accepted(0, 0), tenure.Duplicate(0, 0, "committed"))


def test_a_writer_outlives_contention(tmp_path: Path) -> None:
    """While another process holds the file, entries wait; nothing is lost (JN-142)."""
    blocker = new_world(tmp_path / "t.db")
    world = new_world(tmp_path / "t.db", writer="thread", retry=tenure.RetryPolicy())
    with blocker.journal.transact():
        blocker.durable(source_id="q")
        world.lossy()
        eventually(lambda: bool(world.instance.backlog.taken))
    world.journal.flush()
    seqs = world.seqs()
    world.store.close()
    blocker.store.close()

    assert seqs == [0, 1]

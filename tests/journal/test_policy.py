"""Tests of automatic compaction."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tenure.journal.policy import Policy
from tests.journal.support import NOW, World, new_world, rolled_back
from tests.threads import PATIENCE_SECONDS, eventually, in_thread


def with_policy(
    threshold: int,
    capture: Callable[[str, int], object] = lambda run_id, seq: {"upTo": seq},
    path: Path | str = ":memory:",
    **options: Any,
) -> World:
    """A world whose journal compacts by itself."""
    return new_world(path, compaction=tenure.CompactionPolicy(threshold, capture), **options)


def policy_of(world: World) -> Policy:
    """The policy."""
    policy = world.instance.policy
    assert policy is not None
    return policy


def test_a_run_is_compacted_at_its_threshold() -> None:
    """Threshold 5: at seqs 4 and 8 (JN-307)."""
    world = with_policy(5)
    world.fill(4)
    before = world.seqs()
    world.durable(4)
    first = (world.seqs(), dict(policy_of(world).counters), world.journal.latest_checkpoint("r"))
    for number in range(5, 8):
        world.durable(number)
    between = world.seqs()
    world.durable(8)

    assert before == [0, 1, 2, 3]
    assert first == ([4], {"r": 1}, tenure.Checkpoint("r", 4, {"upTo": 4}, NOW, NOW))
    assert between == [4, 5, 6, 7]
    assert world.seqs() == [8]
    world.store.close()


def test_it_needs_no_owner() -> None:
    """The policy is not fenced (JN-300, HZ-23)."""
    world = with_policy(2)
    world.own()
    world.fill(2)

    assert world.seqs() == [1]
    world.store.close()


def test_a_count_starts_from_what_is_there(on_file: World) -> None:
    """An unknown counter is the number of rows (JN-301)."""
    on_file.fill(10)
    world = with_policy(11, path=on_file.path)
    world.durable(source_id="q")
    world.store.close()

    assert on_file.seqs() == [10]


def test_duplicates_do_not_count() -> None:
    """Only rows do (JN-215, JN-301)."""
    world = with_policy(3)
    world.fill(2)
    world.durable(0, source_seq=0)
    world.lossy(1, source_seq=1)
    world.journal.flush()

    assert world.seqs() == [0, 1]
    world.store.close()


def test_a_lossy_batch_counts_all_its_rows() -> None:
    """And starts its attempt after it has settled (JN-304)."""
    world = with_policy(3)
    for _ in range(4):
        world.lossy()
    world.journal.flush()

    assert world.seqs() == [3]
    assert policy_of(world).counters == {"r": 1}
    world.store.close()


def test_it_runs_after_the_outermost_commit() -> None:
    """Inside a transaction the attempt is among the updates after the commit; a rollback starts none (JN-304)."""
    calls: list[int] = []
    world = with_policy(3, lambda run_id, seq: calls.append(seq))
    world.durable("first")
    with rolled_back(world.journal.transact()):
        world.fill(2)
    after_rollback = list(calls)
    with world.journal.transact():
        world.fill(2)
        inside = list(calls)

    assert (after_rollback, inside) == ([], [])
    assert calls == [4]
    assert world.seqs() == [4]
    world.store.close()


@pytest.mark.parametrize("failure", ["capture", "state", "checkpoint", "compact", "reader"])
def test_a_failed_attempt_is_logged_and_starts_the_count_anew(failure: str, caplog: pytest.LogCaptureFixture) -> None:
    """The emit that triggered it never sees it (JN-303)."""

    def capture(run_id: str, seq: int) -> object:
        if failure == "capture":
            raise ZeroDivisionError
        return object() if failure == "state" else None

    world = with_policy(3, capture)
    stream = world.journal.stream("r") if failure == "reader" else None
    world.fill(2)
    if failure == "checkpoint":
        world.fail(on="INSERT INTO flows_journal_checkpoints")
    if failure == "compact":
        world.fail(on="DELETE FROM flows_journal_events")
    with caplog.at_level(logging.WARNING, "tenure.journal"):
        receipt = world.durable(2)
    world.mend()
    counters = dict(policy_of(world).counters)
    world.fill(0)
    before = len(caplog.records)
    world.durable(3)
    world.durable(4)
    quiet = len(caplog.records) == before

    assert receipt == tenure.Accepted(2, 2)
    assert [record.getMessage() for record in caplog.records[:before]] == ["automatic compaction of run r failed"]
    assert counters == {"r": 0}
    assert quiet
    assert world.seqs() == [0, 1, 2, 3, 4]
    assert stream is None or not stream.is_ended
    world.store.close()


def test_an_interruption_passes_and_does_not_damp() -> None:
    """A cancellation by itself is passed on and leaves the counter (JN-303)."""

    def capture(run_id: str, seq: int) -> object:
        raise KeyboardInterrupt

    world = with_policy(2, capture)
    world.fill(1)
    with pytest.raises(KeyboardInterrupt):
        world.durable()

    assert world.seqs() == [0, 1]
    assert policy_of(world).counters == {"r": 2}
    assert policy_of(world).compacting == set()
    world.store.close()


def test_a_count_that_fails_is_logged_and_swallowed(caplog: pytest.LogCaptureFixture) -> None:
    """JN-305."""
    world = with_policy(1)
    world.fail(on="SELECT count(*)")
    with caplog.at_level(logging.WARNING, "tenure.journal"):
        receipt = world.durable()
    world.mend()

    assert receipt == tenure.Accepted(0, 0)
    assert [record.getMessage() for record in caplog.records] == [
        "could not count the entries of run r for automatic compaction"
    ]
    assert policy_of(world).counters == {}
    world.store.close()


def test_settlements_during_an_attempt_are_ignored() -> None:
    """capture may emit; its rows are not counted, and the count afterwards is fresh (JN-301, JN-306)."""

    def capture(run_id: str, seq: int) -> object:
        return world.durable("from capture").seq

    world = with_policy(2, capture)
    world.fill(2)

    assert world.seqs() == [1, 2]
    assert policy_of(world).counters == {"r": 2}
    world.store.close()


@pytest.mark.parametrize("method", ["flush", "close", "compact"])
def test_capture_must_not_wait_for_the_writer(method: str) -> None:
    """A usage error at once, instead of a wait for oneself (R-9, JN-227, HZ-24)."""
    errors: list[BaseException] = []
    owner = tenure.OwnerId("h", 1, "n")

    def capture(run_id: str, seq: int) -> object:
        world.lossy(run_id="other")
        try:
            if method == "compact":
                world.journal.compact("other", owner)
            else:
                getattr(world.journal, method)()
        except BaseException as error:  # noqa: BLE001  # looked at below
            errors.append(error)
        return None

    world = with_policy(1, capture)
    world.durable()

    assert [type(error) for error in errors] == [tenure.JournalUsageError]
    world.journal.flush()
    world.store.close()


def test_a_lossy_attempt_is_maintenance_that_flush_and_close_wait_for(tmp_path: Path) -> None:
    """Registered before its batch settles (JN-304)."""
    inside, go_on = threading.Event(), threading.Event()

    def capture(run_id: str, seq: int) -> object:
        inside.set()
        assert go_on.wait(PATIENCE_SECONDS)
        return seq

    world = with_policy(2, capture, tmp_path / "t.db", writer="thread")
    world.lossy()
    world.lossy()
    assert inside.wait(PATIENCE_SECONDS)
    eventually(lambda: world.instance.backlog.pending == 0)
    flushing, flushed = in_thread(world.journal.flush)
    eventually(lambda: len(world.instance.backlog.tickets) == 1)
    emitted = world.durable("goes on")
    closing, closed = in_thread(world.journal.close)
    eventually(lambda: world.instance.status == "closing")
    waits = flushing.is_alive() and closing.is_alive()
    go_on.set()
    for thread in (flushing, closing):
        thread.join(PATIENCE_SECONDS)
    seqs = world.seqs()
    world.store.close()

    assert waits
    assert emitted == tenure.Accepted(2, 2)
    assert (flushed, closed) == ([None], [None])
    assert seqs == [1, 2]


def test_closing_waits_for_the_attempt_that_its_drain_starts(tmp_path: Path) -> None:
    """Maintenance that runs by then is awaited (JN-230)."""
    inside, go_on = threading.Event(), threading.Event()

    def capture(run_id: str, seq: int) -> object:
        inside.set()
        assert go_on.wait(PATIENCE_SECONDS)
        return seq

    world = with_policy(2, capture, tmp_path / "t.db", writer="thread")
    with world.journal.transact():
        # The writer waits for this transaction, so that closing finds both entries queued.
        world.lossy()
        world.lossy()
        closing, closed = in_thread(world.journal.close)
        eventually(lambda: world.instance.status == "closing")
    assert inside.wait(PATIENCE_SECONDS)
    waits = closing.is_alive()
    go_on.set()
    closing.join(PATIENCE_SECONDS)
    seqs = world.seqs()
    world.store.close()

    assert waits
    assert closed == [None]
    assert seqs == [1]


def test_a_capture_that_takes_too_long_is_given_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The emit goes on after the limit (JN-302)."""
    go_on = threading.Event()
    world = with_policy(
        1,
        lambda run_id, seq: go_on.wait(PATIENCE_SECONDS),
        tmp_path / "t.db",
        writer="thread",
        capture_timeout_ms=1,
    )
    with caplog.at_level(logging.WARNING, "tenure.journal"):
        receipt = world.durable()
    go_on.set()
    seqs, counters = world.seqs(), dict(policy_of(world).counters)
    world.store.close()

    assert receipt == tenure.Accepted(0, 0)
    assert (seqs, counters) == ([0], {"r": 0})
    assert "CaptureTimeoutError" in caplog.text


def test_the_time_limit_is_thirty_seconds_unless_told_otherwise(world: World) -> None:
    """JN-302."""
    assert world.instance.timing.capture_seconds == 30


def test_a_busy_database_does_not_start_the_count_anew() -> None:
    """Contention that ends is repeated as everywhere."""
    world = with_policy(2, retry=tenure.RetryPolicy(attempts=3))
    failures = iter([True])

    def before(sql: str) -> None:
        if "DELETE FROM flows_journal_events" in sql and next(failures, False):
            raise DatabaseError("busy")

    world.faults.before = before
    world.fill(2)

    assert world.seqs() == [1]
    world.store.close()

"""Tests of closing."""

import gc
import logging
import threading
from pathlib import Path

import pytest

import tenure
from tests.journal.support import NOW, A, World, event, new_world, refused, unchanged
from tests.threads import eventually, in_thread, join


def test_what_is_queued_is_written(on_file: World) -> None:
    """Accepted entries are drained (JN-231)."""
    world = on_file.reopened()
    for number in range(5):
        world.lossy(number)
    world.journal.close()
    world.store.close()

    assert on_file.seqs() == [0, 1, 2, 3, 4]


def test_an_unreported_loss_does_not_stop_the_drain(on_file: World, caplog: pytest.LogCaptureFixture) -> None:
    """It is logged, and counts as reported (R-6, HZ-03)."""
    world = on_file.reopened()
    world.lossy("lost")
    world.fail()
    world.writer.drain()
    world.mend()
    world.lossy("drained")
    with caplog.at_level(logging.WARNING, "tenure.journal"):
        world.journal.close()

    assert on_file.seqs() == [1]
    assert [record.getMessage() for record in caplog.records] == [
        "lost 1 journal entries (sink_failed) of r",
        "the journal closed with losses, the latest: journal sink failed",
    ]
    assert refused(world.journal.flush).code == "journal_closed"
    world.store.close()


def test_a_failing_database_loses_what_is_queued_and_says_so(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """Only that can; each loss is logged, and closing does not fail (R-6)."""
    small = new_world(batch_size=2)
    for _ in range(3):
        small.lossy()
    small.fail()
    with caplog.at_level(logging.WARNING, "tenure.journal"):
        small.journal.close()

    assert [record.getMessage() for record in caplog.records][:2] == [
        "lost 2 journal entries (sink_failed) of r",
        "lost 1 journal entries (sink_failed) of r",
    ]
    assert small.instance.backlog.pending == 0
    small.store.close()


def test_a_closed_journal_refuses_what_writes_and_serves_what_reads(world: World) -> None:
    """JN-233, OQ-11."""
    world.own()
    world.fill(2)
    world.journal.checkpoint("r", 1, None, A)
    world.journal.close()
    refusals = [
        refused(world.durable),
        refused(world.lossy),
        refused(lambda: world.journal.emit_durable(event(), A)),
        refused(world.journal.flush),
        refused(lambda: world.journal.checkpoint("r", 1, None, A)),
        refused(lambda: world.journal.compact("r", A)),
    ]

    assert {(error.code, error.text) for error in refusals} == {("journal_closed", "journal is closed")}
    assert len(world.journal.entries("r", limit=9).entries) == 2
    assert world.journal.latest_checkpoint("r") is not None
    assert world.journal.generation("r") == tenure.Generation(0, -1)


def test_with_the_journal_closed_nothing_changes_that_has_a_fact(world: World) -> None:
    """The run store goes on without it in what records none; the cause says what is closed (RS-702)."""
    runs = world.store.runs
    runs.create("r", "{}")
    runs.claim_and_own("r", tenure.PENDING, A, NOW)
    world.journal.close()
    kept = runs.transition_owned("r", A, "running", '{"step": 1}')
    with unchanged(world), pytest.raises(tenure.RunStoreError) as caught:
        runs.transition_owned("r", A, "completed")
    cause = caught.value.__cause__

    assert kept == tenure.Transitioned()
    assert caught.value.code == "persistence_failed"
    assert isinstance(cause, tenure.JournalError)
    assert cause.code == "journal_closed"


def test_a_closed_journal_refuses_before_it_looks_at_the_input(world: World) -> None:
    """The first check of preparation (JN-040)."""
    world.journal.close()

    assert refused(lambda: world.lossy(run_id="")).code == "journal_closed"


def test_closing_twice_does_nothing(world: World) -> None:
    """Nor does closing the store after its journal."""
    world.journal.close()
    world.journal.close()
    world.store.close()
    world.store.close()

    assert world.instance.status == "closed"


def test_closing_inside_a_transaction_is_a_usage_error(world: World) -> None:
    """The drain needs the transaction to be over (R-9)."""
    with world.journal.transact():
        with pytest.raises(tenure.JournalUsageError):
            world.journal.close()
        with pytest.raises(tenure.JournalUsageError):
            world.store.close()
        receipt = world.durable()

    assert receipt == tenure.Accepted(0, 0)


def test_reads_after_the_store_is_closed_fail(world: World) -> None:
    """They need the database (OQ-11)."""
    world.store.close()

    assert refused(lambda: world.journal.entries("r", limit=1)).code == "read_failed"
    assert refused(lambda: world.journal.generation("r")).code == "read_failed"


def test_a_second_thread_waits_until_the_journal_is_closed(tmp_path: Path) -> None:
    """Whoever closes, closed it is afterwards."""
    world = new_world(tmp_path / "t.db", writer="thread")
    with world.journal.transact():
        world.lossy()
        closers = [in_thread(world.journal.close) for _ in range(2)]
        eventually(lambda: world.instance.status == "closing")
        waiting = all(thread.is_alive() for thread, _ in closers)
        refusal = refused(world.durable)
    join(*(thread for thread, _ in closers))
    statuses = [world.instance.status, world.seqs()]
    world.store.close()

    assert waiting
    assert refusal.code == "journal_closed"
    assert [answers for _, answers in closers] == [[None], [None]]
    assert statuses == ["closed", [0]]


def test_the_writers_thread_ends_with_the_journal(tmp_path: Path) -> None:
    """Closing waits for it."""
    world = new_world(tmp_path / "t.db", writer="thread")
    world.lossy()
    running = [thread for thread in threading.enumerate() if thread.name == "tenure-journal-writer"]
    world.store.close()

    assert len(running) == 1
    assert not running[0].is_alive()


def test_a_store_that_is_dropped_unclosed_lets_its_thread_go(tmp_path: Path) -> None:
    """Nothing keeps the journal alive but those who use it."""
    world = new_world(tmp_path / "t.db", writer="thread")
    world.lossy()
    world.journal.flush()
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "tenure-journal-writer")
    del world
    eventually(lambda: gc.collect() >= 0 and not thread.is_alive())

    assert not thread.is_alive()

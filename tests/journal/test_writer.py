"""Tests of the batch writer: what becomes of each entry, what a failing batch loses, in which order things settle."""

import logging

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tenure.journal.statements import CHUNKS
from tests.journal.support import MAX, A, World, new_world, refused


def test_a_batch_is_one_transaction_of_at_most_the_batch_size(world: World) -> None:
    """Take, write and settle are separate, and each does nothing where there is nothing to do (JN-210)."""
    small = new_world(batch_size=2)
    for _ in range(3):
        small.lossy()
    small.writer.write()
    small.writer.settle()
    taken = small.writer.take()
    again = small.writer.take()
    begun: list[str] = []
    small.faults.before = begun.append
    small.writer.write()
    small.writer.write()
    small.faults.before = lambda sql: None
    small.writer.settle()

    assert (taken, again) == (2, 2)
    assert begun.count("BEGIN") == begun.count("COMMIT") == 1
    assert small.seqs() == [0, 1]
    assert small.instance.backlog.pending == 1
    small.store.close()


def test_a_reservation_that_was_overtaken_moves_above_the_tail(world: World) -> None:
    """Lossy reserved 0, durable commits 1, lossy commits at 2 (JN-242, JN-211)."""
    reserved = world.lossy("lossy")
    durable = world.durable("durable")
    world.journal.flush()

    assert (reserved, durable) == (tenure.Accepted(0, 0), tenure.Accepted(1, 1))
    assert [(entry.seq, entry.payload) for entry in world.journal.entries("r", limit=9).entries] == [
        (1, "durable"),
        (2, "lossy"),
    ]
    assert world.lossy("lossy", source_seq=0) == tenure.Duplicate(2, 0, "committed")


def test_a_batch_of_several_runs_keeps_their_orders(world: World) -> None:
    """Each run's entries go above its own tail, in the order of the queue (JN-211)."""
    for number in range(4):
        world.lossy(number, run_id="ab"[number % 2])
    world.durable(run_id="a")
    world.journal.flush()

    assert (world.seqs("a"), world.seqs("b")) == ([2, 3, 4], [0, 1])


def test_a_collapsed_entry_takes_no_seq_from_those_behind_it(on_file: World) -> None:
    """The tail moves with rows alone (JN-211, JN-212)."""
    on_file.fill(3)
    other = on_file.reopened(source_event_cache=1)
    other.lossy(1, source_seq=1)
    other.lossy("new", source_id="q")
    other.journal.flush()
    other.store.close()

    assert on_file.rows("SELECT seq FROM flows_journal_events WHERE source_id = 'q'") == [(4,)]
    assert on_file.seqs() == [0, 1, 2, 4]


@pytest.mark.parametrize("kind", ["duplicate", "conflict", "overtaken"])
@pytest.mark.parametrize("place", [0, 5, 40, 63, 64, 71])
def test_a_large_batch_is_as_if_inserted_one_by_one(on_file: World, kind: str, place: int) -> None:
    """Wherever in it an entry gets no row, those behind it move up by one (JN-211, JN-212)."""
    on_file.own()
    on_file.fill(3)
    other = on_file.reopened(capacity=100, batch_size=100, source_event_cache=1)
    for number in range(72):
        if number == place:
            other.lossy("changed" if kind == "conflict" else 1, source_seq=1)
        else:
            other.lossy(number, source_id="q", run_id="rs"[number % 2])
    if kind == "overtaken":
        # Compacted past every reservation of the run: only what repeats a tombstone is no loss.
        on_file.durable(source_id="far", source_seq=0)
        on_file.sql("UPDATE flows_journal_events SET seq = 500 WHERE source_id = 'far'")
        on_file.journal.checkpoint("r", 500, None, A)
        on_file.journal.compact("r", A)
    other.writer.drain()
    rows = on_file.rows("SELECT run_id, seq FROM flows_journal_events WHERE source_id = 'q' ORDER BY 1, 2")
    losses = other.instance.backlog.losses
    other.store.close()
    in_r = sum(1 for number in range(72) if number != place and number % 2 == 0)
    in_s = 72 - 1 - in_r

    # A reservation above the tail is kept, so the place of the entry without a row stays free in its run.
    expected = [3 + index + (kind != "overtaken" and index >= (place + 1) // 2) for index in range(in_r)]
    assert [seq for run_id, seq in rows if run_id == "s"] == list(range(in_s))
    assert [seq for run_id, seq in rows if run_id == "r"] == ([] if kind == "overtaken" else expected)
    assert losses == {"duplicate": 0, "conflict": 1, "overtaken": in_r}[kind]


def test_a_large_batch_moves_up_where_it_was_overtaken(on_file: World) -> None:
    """Behind a tail above all reservations, an entry without a row leaves no gap (JN-211)."""
    other = on_file.reopened(capacity=100, batch_size=100, source_event_cache=1)
    for number in range(70):
        other.lossy(1 if number == 20 else number, source_id="p" if number == 20 else "q", source_seq=number)
    on_file.journal.transact(
        lambda: [on_file.durable(1, source_seq=20 if number == 0 else number + 500) for number in range(100)]
    )
    other.journal.flush()
    seqs = [seq for (seq,) in on_file.rows("SELECT seq FROM flows_journal_events WHERE source_id = 'q' ORDER BY 1")]
    other.store.close()

    assert seqs == list(range(100, 169))


@pytest.mark.parametrize("size", CHUNKS)
@pytest.mark.parametrize("runs", ["r", "rs"], ids=["one run", "two runs"])
def test_an_overtaken_chunk_goes_above_the_tail_whole(size: int, runs: str) -> None:
    """No row stands in its way, so one statement inserts it: above the committed tail all the same (JN-240, JN-242)."""
    world = new_world(capacity=size, batch_size=size)
    reserved = [world.lossy(number, run_id=runs[number % len(runs)], source_seq=number).seq for number in range(size)]
    durable = world.durable("d", source_id="q")
    world.writer.take()
    asked: list[str] = []
    world.faults.before = asked.append
    world.writer.write()
    world.mend()
    world.writer.settle()
    own = size // len(runs)
    rows = world.rows("SELECT payload_json FROM flows_journal_events WHERE run_id = 'r' ORDER BY seq")
    remembered = world.lossy(0, source_seq=0)
    seqs = [world.seqs(run_id) for run_id in runs]
    world.store.close()

    assert [seq for index, seq in enumerate(reserved) if index % len(runs) == 0] == list(range(own))
    assert durable == tenure.Accepted(own, 0)
    assert sum("INSERT INTO flows_journal_events" in sql for sql in asked) == 1
    assert seqs == [list(range(own, 2 * own + 1)), list(range(own))][: len(runs)]
    assert rows == [('"d"',), *((str(number),) for number in range(0, size, len(runs)))]
    assert remembered == tenure.Duplicate(own + 1, 0, "committed")


def test_a_large_batch_is_few_statements() -> None:
    """What costs time is asking, not inserting."""
    world = new_world(capacity=100, batch_size=100)
    for number in range(80):
        world.lossy(number)
    world.writer.take()
    asked: list[str] = []
    world.faults.before = asked.append
    world.writer.write()
    world.mend()
    world.writer.settle()

    assert sum("INSERT INTO flows_journal_events" in sql for sql in asked) == 3
    assert world.seqs() == list(range(80))
    world.store.close()


def test_a_bad_entry_loses_itself_alone(on_file: World) -> None:
    """The rest of the batch commits, and each loss is reported for itself (JN-213)."""
    on_file.fill(2)
    other = on_file.reopened(source_event_cache=1)
    other.lossy("changed", source_seq=0)
    other.lossy("fine", source_id="q")
    error = refused(other.journal.flush)
    other.journal.flush()
    again = other.lossy("changed", source_seq=0)
    other.journal.begin_flush()
    other.store.close()

    assert error.text == "source event p:0 for run r was reused with different content"
    assert again == tenure.Accepted(4, 0)
    assert on_file.rows("SELECT payload_json FROM flows_journal_events WHERE source_id = 'q'") == [('"fine"',)]


@pytest.mark.parametrize("code", ["io", "constraint", "unknown"])
def test_failing_storage_loses_the_batch_whole(world: World, code: str) -> None:
    """One loss, its cause kept; the writer goes on, and lost identities may be sent again (JN-213, JN-225)."""
    for number in range(3):
        world.lossy(number, source_seq=number)
    world.fail(code)
    error = refused(world.journal.flush)
    world.mend()
    again = [world.lossy(number, source_seq=number) for number in range(3)]
    world.journal.flush()

    assert (error.code, error.text) == ("sink_failed", "journal sink failed")
    assert isinstance(error.cause, DatabaseError)
    assert error.cause.code == code
    assert world.instance.backlog.losses == 1
    assert again == [tenure.Accepted(3, 0), tenure.Accepted(4, 1), tenure.Accepted(5, 2)]
    assert world.seqs() == [3, 4, 5]


def test_a_broken_writer_loses_the_batch_under_its_own_name(world: World) -> None:
    """A fault that is no failure of storage is told apart (JN-213)."""
    world.lossy()

    def before(sql: str) -> None:
        if "INSERT" in sql:
            raise ZeroDivisionError

    world.faults.before = before
    error = refused(world.journal.flush)
    world.mend()

    assert (error.code, error.text) == ("sink_failed", "journal writer failed")


def test_a_batch_whose_commit_is_in_doubt_is_a_loss_that_says_so(on_file: World) -> None:
    """Rows may exist; explicit identities then collapse when they are sent again (HZ-15)."""
    on_file.lossy(1, source_seq=0)

    def lose_the_answer(connection: object) -> None:
        connection.commit()  # type: ignore[attr-defined]  # a connection
        raise tenure.CommitUnknownError("io", "COMMIT failed; its outcome is unknown")

    on_file.faults.instead_of_commit = lose_the_answer
    error = refused(on_file.journal.flush)
    on_file.faults.instead_of_commit = None
    on_file.lossy(1, source_seq=0)
    on_file.journal.flush()

    assert isinstance(error, tenure.JournalOutcomeUnknown)
    assert on_file.seqs() == [0]


def test_a_busy_database_repeats_the_batch() -> None:
    """Nothing is lost to contention that ends (JN-142)."""
    world = new_world(retry=tenure.RetryPolicy(attempts=3))
    failures = iter([True, True])

    def before(sql: str) -> None:
        if sql == "BEGIN" and next(failures, False):
            raise DatabaseError("busy")

    world.lossy()
    world.faults.before = before
    world.journal.flush()

    assert world.seqs() == [0]
    world.store.close()


def test_a_reservation_below_a_floor_that_another_instance_made_is_dropped(on_file: World) -> None:
    """Reported as compacted, with the floor (JN-212, JN-289, HZ-37)."""
    on_file.lossy(source_seq=100)
    other = on_file.reopened()
    other.own()
    other.fill(3)
    other.journal.checkpoint("r", 2, None, A)
    other.journal.compact("r", A)
    other.store.close()
    error = refused(on_file.journal.flush)

    assert (error.code, error.checkpoint_seq) == ("compacted", 2)
    assert error.text == "queued sequence 0 for run r was dropped below compaction floor 2"


def test_a_duplicate_from_below_the_floor_is_no_loss(on_file: World) -> None:
    """The identity is looked up before the floor (JN-212, JN-285)."""
    on_file.lossy(0, source_seq=0)
    on_file.lossy("changed", source_seq=1)
    on_file.lossy("changed", source_seq=2, dedupe="identity")
    other = on_file.reopened()
    other.own()
    other.fill(4)
    other.journal.checkpoint("r", 3, None, A)
    other.journal.compact("r", A)
    other.store.close()
    error = refused(on_file.journal.flush)

    assert error.code == "idempotency_conflict"
    assert on_file.instance.backlog.losses == 1
    assert on_file.instance.cache.find(("r", "p", 0)) is not None
    # What repeats a tombstone under its identity is not remembered with content that was never a row's.
    assert on_file.instance.cache.find(("r", "p", 2)) is None


def test_the_last_seq_can_be_committed_by_a_queued_entry(world: World) -> None:
    """Tail MAX - 2: it commits at MAX - 1. Tail MAX - 1: it is lost as invalid_event (JN-244)."""
    world.durable(source_seq=0)
    world.lossy(source_seq=1)
    world.lossy(source_seq=2)
    world.sql("UPDATE flows_journal_events SET seq = ?", MAX - 2)
    error = refused(world.journal.flush)

    assert world.seqs() == [MAX - 2, MAX - 1]
    assert (error.code, error.text) == (
        "invalid_event",
        "journal sequence is outside the allocatable safe integer range",
    )


def test_a_collapse_remembers_the_row_that_stands(on_file: World) -> None:
    """Also where the repetition differs, under identity (R-7)."""
    on_file.durable("stored", source_seq=0)
    other = on_file.reopened(source_event_cache=1)
    other.durable(source_id="q")
    other.lossy("different", source_seq=0, dedupe="identity")
    other.journal.flush()
    remembered = other.lossy("stored", source_seq=0)
    other.store.close()

    assert remembered == tenure.Duplicate(0, 0, "committed")


def test_floors_rise_above_a_seq_that_moved(on_file: World) -> None:
    """The instance's next number is above where its entry went (JN-214)."""
    other = on_file.reopened()
    on_file.lossy()
    other.fill(5, run_id="r")
    other.durable(source_id="q")
    refused(on_file.journal.flush)
    on_file.lossy(source_id="own")
    on_file.journal.flush()
    other.store.close()

    assert on_file.instance.floors.seq["r"] == 7


def test_every_loss_is_logged_with_count_code_and_runs(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """One warning a loss, before anybody is told (JN-412)."""
    world.lossy(run_id="b")
    world.lossy(run_id="a")
    world.fail()
    with caplog.at_level(logging.WARNING, "tenure.journal"):
        refused(world.journal.flush)
    world.mend()

    assert [record.getMessage() for record in caplog.records] == ["lost 2 journal entries (sink_failed) of a, b"]


def test_an_evicted_identity_that_was_sent_again_is_one_row() -> None:
    """The evicted entry is gone for good, and its successor under the same identity is not (JN-195)."""
    world = new_world(capacity=1, overflow="drop-oldest")
    world.lossy(1, source_seq=0)
    world.lossy(2, source_seq=1)
    world.lossy(1, source_seq=0)
    world.journal.flush()

    assert world.rows("SELECT seq, source_seq FROM flows_journal_events") == [(2, 0)]
    world.store.close()

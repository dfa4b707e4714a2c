"""Tests of lossy admission: receipts, provisional numbers, floors, and what a full queue does."""

import pytest

import tenure
from tenure.journal import lossy
from tests.journal.support import MAX, A, World, event, new_world, refused, rolled_back, unchanged, unchanged_memory

OVERFLOWS = ["reject", "drop-newest", "drop-oldest"]


def test_an_admitted_event_has_numbers_before_it_has_a_row(world: World) -> None:
    """The seq is provisional, the sourceSeq final; nothing is written yet (JN-190, JN-198)."""
    receipts = [world.lossy(), world.lossy(source_id="q"), world.lossy()]

    assert receipts == [tenure.Accepted(0, 0), tenure.Accepted(1, 0), tenure.Accepted(2, 1)]
    assert world.seqs() == []


def test_a_cold_run_is_numbered_above_what_is_on_disk(on_file: World) -> None:
    """The first admission reads the run's floor, and the producer's if the number is implicit (JN-192)."""
    on_file.fill(3)
    other = on_file.reopened()
    implicit = other.lossy()
    explicit = other.lossy(source_id="new", source_seq=8)
    other.store.close()

    assert implicit == tenure.Accepted(3, 3)
    assert explicit == tenure.Accepted(4, 8)


def test_tombstones_count_for_the_floor_of_a_producer(on_file: World) -> None:
    """A compacted number is not given out again (JN-172)."""
    on_file.own()
    on_file.fill(3)
    on_file.durable(source_id="q")
    on_file.journal.checkpoint("r", 3, None, A)
    on_file.journal.compact("r", A)
    other = on_file.reopened(source_event_cache=1)
    receipt = other.lossy()
    other.store.close()

    assert receipt == tenure.Accepted(4, 3)


def test_only_cold_floors_are_read(world: World) -> None:
    """Warmed allocation needs no database (JN-192)."""
    world.lossy()
    world.fail(on="SELECT")

    assert world.lossy() == tenure.Accepted(1, 1)
    assert world.lossy(source_id="q", source_seq=3) == tenure.Accepted(2, 3)
    error = refused(lambda: world.lossy(source_id="q"))
    assert (error.code, error.text) == ("sink_failed", "could not read journal allocation floor")
    assert world.lossy() == tenure.Accepted(3, 2)


def test_an_explicit_number_does_not_warm_its_producer(on_file: World) -> None:
    """The next implicit number goes above what is on disk, not just above the explicit one (R-5)."""
    on_file.fill(10)
    other = on_file.reopened(source_event_cache=1)
    other.lossy(2, source_seq=2)
    receipt = other.lossy()
    other.store.close()

    assert receipt == tenure.Accepted(11, 10)


def test_a_known_identity_is_a_duplicate_without_reads_or_numbers(world: World) -> None:
    """Pending first, committed once settled; nothing is used up (JN-191, JN-196)."""
    world.lossy({"x": 1}, source_seq=0)
    world.fail(on="SELECT")
    with unchanged_memory(world):
        pending = world.lossy({"x": 1}, source_seq=0)
        under_identity = world.lossy({"x": 2}, source_seq=0, dedupe="identity")
        conflict = refused(lambda: world.lossy({"x": 2}, source_seq=0))
    world.mend()
    world.journal.flush()
    committed = world.lossy({"x": 1}, source_seq=0)

    assert pending == tenure.Duplicate(0, 0, "pending")
    assert under_identity == pending
    assert conflict.code == "idempotency_conflict"
    assert committed == tenure.Duplicate(0, 0, "committed")


def test_a_hit_reads_no_floor_that_is_cold(on_file: World) -> None:
    """What was remembered at the start answers although nothing else is known of the run (JN-191)."""
    on_file.fill(2)
    other = on_file.reopened()
    other.fail(on="SELECT")
    duplicate = other.lossy(1, source_seq=1)
    conflict = refused(lambda: other.lossy(2, source_seq=1))
    other.mend()
    floors = dict(other.instance.floors.seq)
    other.store.close()

    assert duplicate == tenure.Duplicate(1, 1, "committed")
    assert conflict.code == "idempotency_conflict"
    assert floors == {}


def test_a_miss_is_admitted_on_trust(on_file: World) -> None:
    """What the cache does not hold is Accepted, and collapses when it is inserted (JN-197)."""
    on_file.durable(1, source_seq=0)
    other = on_file.reopened(source_event_cache=1)
    other.durable(source_id="q")
    receipt = other.lossy(1, source_seq=0)
    other.journal.flush()
    remembered = other.lossy(1, source_seq=0)
    other.store.close()

    assert receipt == tenure.Accepted(2, 0)
    assert remembered == tenure.Duplicate(0, 0, "committed")
    assert on_file.seqs() == [0, 1]


def test_reject_refuses_what_does_not_fit_and_uses_up_its_numbers() -> None:
    """The identity is not remembered, so it can be sent again: with a new seq, once (JN-195, JN-196)."""
    world = new_world(capacity=1, overflow="reject")
    world.lossy()
    error = refused(lambda: world.lossy(source_seq=5))
    world.journal.flush()

    assert (error.code, error.text) == ("queue_overflow", "journal admission queue is full")
    assert world.lossy(source_seq=5) == tenure.Accepted(2, 5)
    world.journal.flush()
    assert world.seqs() == [0, 2]
    world.store.close()


def test_drop_newest_says_so_and_uses_up_its_numbers() -> None:
    """Dropped carries both numbers (JN-195)."""
    world = new_world(capacity=1, overflow="drop-newest")
    world.lossy()
    dropped = world.lossy()
    world.journal.flush()

    assert dropped == tenure.Dropped(1, 1, "drop-newest")
    assert world.lossy() == tenure.Accepted(2, 2)
    world.store.close()


def test_drop_oldest_evicts_of_whatever_run() -> None:
    """The oldest queued entry gives way and its identity is forgotten; that is no loss (JN-195, JN-226)."""
    world = new_world(capacity=2, overflow="drop-oldest")
    world.lossy(1, run_id="victim", source_seq=0)
    world.lossy(run_id="r")
    accepted = world.lossy(run_id="r")
    again = world.lossy(1, run_id="victim", source_seq=0)
    world.journal.flush()

    assert accepted == tenure.Accepted(1, 1, tenure.Evicted("drop-oldest", 1))
    assert again == tenure.Accepted(1, 0, tenure.Evicted("drop-oldest", 1))
    assert (world.seqs("r"), world.seqs("victim")) == ([1], [1])
    world.store.close()


def test_a_compaction_does_not_wait_for_an_evicted_entry() -> None:
    """It will never be a row (JN-195)."""
    world = new_world(capacity=1, overflow="drop-oldest")
    world.own("victim")
    world.fill(2, run_id="victim")
    world.journal.checkpoint("victim", 1, None, A)
    world.lossy(run_id="victim")
    world.lossy(run_id="r")
    result = world.journal.compact("victim", A)

    assert result.deleted == 1
    assert world.instance.backlog.pending == 1
    world.store.close()


@pytest.mark.parametrize("overflow", OVERFLOWS)
def test_what_the_writer_has_taken_does_not_count_against_capacity(overflow: str) -> None:
    """Capacity bounds what waits in the queue (JN-195)."""
    world = new_world(capacity=2, overflow=overflow)
    world.lossy()
    world.lossy()
    world.writer.take()

    assert world.lossy() == tenure.Accepted(2, 2)
    assert world.instance.backlog.pending == 3
    world.store.close()
    assert world.instance.status == "closed"


def test_admission_inside_a_transaction_is_not_part_of_it(world: World) -> None:
    """Rolled back or not, the entry stays queued (JN-200)."""
    with rolled_back(world.journal.transact()):
        world.lossy("stays")
        world.durable("goes")
    world.journal.flush()

    assert world.rows("SELECT payload_json FROM flows_journal_events") == [('"stays"',)]


def test_admission_inside_a_transaction_sees_its_rows(world: World) -> None:
    """Floor reads join the caller's transaction, and floors move at allocation (JN-193, JN-317)."""
    with world.journal.transact():
        durable = world.durable()
        world.journal.forget(["r"])
        queued = world.lossy()

    assert (durable, queued) == (tenure.Accepted(0, 0), tenure.Accepted(1, 1))


def test_an_implicit_number_reads_what_other_instances_wrote_once(on_file: World) -> None:
    """Once warm, the instance no longer looks: a shared producer can collide, and the later event is lost (HZ-02)."""
    other = on_file.reopened()
    on_file.lossy("ours")
    other.durable("theirs")
    error = refused(on_file.journal.flush)
    other.store.close()

    assert error.code == "idempotency_conflict"


def test_numbers_run_out(world: World) -> None:
    """Either number at MAX refuses the admission, and nothing moves (JN-194)."""
    world.durable(source_seq=0)
    world.sql("UPDATE flows_journal_events SET seq = ?", MAX - 1)
    world.journal.forget(["r"])
    with unchanged(world):
        error = refused(lambda: world.lossy(source_seq=1))
    world.durable(run_id="other", source_seq=MAX - 1)
    world.journal.forget(["other"])

    assert error.text == "journal sequence is outside the allocatable safe integer range"
    assert refused(lambda: world.lossy(run_id="other")).code == "invalid_event"


def test_a_closed_journal_refuses_between_any_two_phases(world: World) -> None:
    """An admission that reads its floors while the journal closes ends with journal_closed (JN-232)."""
    admission = lossy.begin(world.instance, event())
    assert isinstance(admission, lossy.Admission)
    lossy.read_floors(world.instance, admission)
    world.journal.close()

    assert refused(lambda: lossy.finish(world.instance, admission)).code == "journal_closed"
    assert refused(world.lossy).text == "journal is closed"


def test_phase_three_looks_again(world: World) -> None:
    """Between the phases another admission may have got the same identity (JN-194)."""
    first = lossy.begin(world.instance, event(1, source_seq=0))
    second = lossy.begin(world.instance, event(1, source_seq=0))
    third = lossy.begin(world.instance, event(2, source_seq=0))
    assert isinstance(first, lossy.Admission)
    assert isinstance(second, lossy.Admission)
    assert isinstance(third, lossy.Admission)

    assert lossy.finish(world.instance, first) == tenure.Accepted(0, 0)
    assert lossy.finish(world.instance, second) == tenure.Duplicate(0, 0, "pending")
    assert refused(lambda: lossy.finish(world.instance, third)).code == "idempotency_conflict"


def test_reading_floors_changes_nothing_by_itself(world: World) -> None:
    """Two first admissions may read the same floors and still get different numbers (JN-192, JN-199)."""
    admissions = [lossy.begin(world.instance, event()) for _ in range(3)]
    with unchanged(world):
        for admission in admissions:
            assert isinstance(admission, lossy.Admission)
            lossy.read_floors(world.instance, admission)

    assert [lossy.finish(world.instance, admission) for admission in admissions] == [  # type: ignore[arg-type]  # checked above
        tenure.Accepted(0, 0),
        tenure.Accepted(1, 1),
        tenure.Accepted(2, 2),
    ]


def test_a_floor_that_is_no_number_refuses_the_event(world: World) -> None:
    """Only rows that bypassed every constraint make one (JN-192)."""
    world.durable(source_seq=0)
    world.corrupt("UPDATE flows_journal_events SET seq = -5")
    world.journal.forget(["r"])

    assert refused(lambda: world.lossy(source_seq=1)).code == "invalid_event"

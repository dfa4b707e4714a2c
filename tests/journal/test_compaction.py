"""Tests of compaction: refusals, what is left, barriers, and compaction inside a transaction."""

import threading

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tenure_model.admission.event_identity import content_fingerprint, event_id
from tests.journal.support import NOW, A, B, World, event, new_world, refused, rolled_back
from tests.threads import PATIENCE_SECONDS, eventually, in_thread


@pytest.fixture
def owned(world: World) -> World:
    """A run of five entries that ``A`` owns."""
    world.own()
    world.fill(5)
    return world


def test_everything_below_the_checkpoint_becomes_a_tombstone(owned: World) -> None:
    """Events and older checkpoints go, the checkpoint is marked, its entry stays (JN-281)."""
    for seq in (1, 3):
        owned.journal.checkpoint("r", seq, seq, A)
    owned.clock.ms += 7
    result = owned.journal.compact("r", A)

    assert result == tenure.CompactionResult("r", 3, 3)
    assert owned.seqs() == [3, 4]
    assert owned.rows("SELECT seq, compacted_at_ms FROM flows_journal_checkpoints") == [(3, NOW + 7)]
    assert owned.rows("SELECT * FROM flows_journal_dedup ORDER BY seq") == [
        ("r", "p", number, event_id("r", "p", number), number, content_fingerprint("e", str(number), "null"))
        for number in range(3)
    ]


def test_a_given_checkpoint_is_compacted_to(owned: World) -> None:
    """The latest one stays as it is (JN-280)."""
    for seq in (1, 3):
        owned.journal.checkpoint("r", seq, seq, A)

    assert owned.journal.compact("r", A, up_to=1) == tenure.CompactionResult("r", 1, 1)
    assert owned.rows("SELECT seq, compacted_at_ms FROM flows_journal_checkpoints ORDER BY 1") == [(1, NOW), (3, None)]


def test_repeated_it_deletes_nothing(owned: World) -> None:
    """And the floor never moves down (JN-283)."""
    owned.journal.checkpoint("r", 1, None, A)
    owned.journal.checkpoint("r", 3, None, A)
    owned.journal.compact("r", A)
    before = owned.digest()

    assert owned.journal.compact("r", A) == tenure.CompactionResult("r", 3, 0)
    assert owned.journal.compact("r", A, up_to=3) == tenure.CompactionResult("r", 3, 0)
    assert refused(lambda: owned.journal.compact("r", A, up_to=1)).code == "checkpoint_invalid"
    assert owned.digest() == before


def test_refusals_come_in_their_order(owned: World) -> None:
    """Owner, status, options, fence, checkpoint (JN-280)."""
    compact = owned.journal.compact
    errors = [
        refused(lambda: compact("", None)),  # type: ignore[arg-type]  # malformed on purpose
        refused(lambda: compact("", B)),
        refused(lambda: compact("r", B, up_to=-1)),
        refused(lambda: compact("r", B)),
        refused(lambda: compact("r", A)),
        refused(lambda: compact("r", A, up_to=2)),
    ]
    owned.journal.close()
    closed = refused(lambda: compact("", A))

    assert [(error.code, error.text) for error in errors] == [
        ("invalid_event", "compact requires a well-formed owner fence"),
        ("invalid_event", "compact options violate the journal contract"),
        ("invalid_event", "compact options violate the journal contract"),
        ("fence_lost", "run r is no longer owned by h2:2:b"),
        ("checkpoint_invalid", "run r has no checkpoint to compact to"),
        ("checkpoint_invalid", "run r has no checkpoint at sequence 2 to compact to"),
    ]
    assert all(error.checkpoint_seq is tenure.ABSENT for error in errors)
    assert closed.code == "journal_closed"
    assert refused(lambda: compact("r", None)).code == "invalid_event"  # type: ignore[arg-type]  # malformed on purpose


def test_a_reader_that_is_behind_refuses_it(owned: World) -> None:
    """A cursor just below the checkpoint is far enough; an already compacted run is no matter (JN-280)."""
    owned.journal.checkpoint("r", 3, None, A)
    streams = [owned.journal.stream("r", after_sequence=1), owned.journal.stream("other")]
    error = refused(lambda: owned.journal.compact("r", A))
    streams[0].page()
    result = owned.journal.compact("r", A)
    behind = owned.journal.stream("r")

    assert (error.code, error.checkpoint_seq) == ("reader_behind", 3)
    assert error.text == "a live stream of run r still needs sequences below checkpoint 3"
    assert result.deleted == 3
    assert owned.journal.compact("r", A).deleted == 0
    assert refused(behind.page).code == "compacted"


@pytest.mark.parametrize("after", [2, 3, 9])
def test_a_reader_that_needs_nothing_below_the_checkpoint_is_no_obstacle(owned: World, after: int) -> None:
    """Cursor checkpoint - 1 and above (JN-280)."""
    owned.journal.checkpoint("r", 3, None, A)
    with owned.journal.stream("r", after_sequence=after) as stream:
        result = owned.journal.compact("r", A)

        assert result.deleted == 3
        assert [entry.seq for entry in stream.page()] == [seq for seq in (3, 4) if seq > after]


def test_closed_and_dropped_readers_are_no_obstacle(owned: World) -> None:
    """A stream counts for as long as somebody can read it."""
    owned.journal.checkpoint("r", 3, None, A)
    owned.journal.stream("r").close()
    owned.journal.stream("r")

    assert owned.journal.compact("r", A).deleted == 3


def test_truncated_seqs_are_never_used_again(on_file: World) -> None:
    """Also after a restart, with the checkpoint at the tail (JN-282, BR-47)."""
    on_file.own()
    on_file.fill(3)
    on_file.journal.checkpoint("r", 2, None, A)
    on_file.journal.compact("r", A)
    again = on_file.reopened()
    receipts = [again.durable(source_seq=9), again.lossy()]
    again.store.close()

    assert receipts == [tenure.Accepted(3, 9), tenure.Accepted(4, 10)]


@pytest.mark.parametrize("cached", [True, False])
def test_compacted_identities_are_still_known(owned: World, cached: bool) -> None:
    """The same content is a duplicate with its first seq, other content a conflict (JN-285)."""
    owned.journal.checkpoint("r", 4, None, A)
    owned.journal.compact("r", A)
    if not cached:
        owned.journal.forget(["r"])

    assert owned.durable(1, source_seq=1) == tenure.Duplicate(1, 1, "committed")
    assert owned.durable("x", source_seq=1, dedupe="identity") == tenure.Duplicate(1, 1, "committed")
    assert refused(lambda: owned.durable("x", source_seq=1)).code == "idempotency_conflict"
    assert refused(lambda: owned.journal.emit_durable(event(1, source_seq=1), B)).code == "fence_lost"
    assert owned.seqs() == [4]


def test_more_than_a_page_is_compacted(world: World) -> None:
    """Page after page of 256 (JN-281)."""
    world.own()
    world.journal.transact(lambda: world.fill(700))
    world.journal.checkpoint("r", 699, None, A)

    assert world.journal.compact("r", A).deleted == 699
    assert world.rows("SELECT count(*), min(seq), max(seq) FROM flows_journal_dedup") == [(699, 0, 698)]


@pytest.mark.parametrize(
    ("on", "text"),
    [
        ("FROM json_each(?2) AS marked", "journal compaction failed"),
        ("DELETE FROM flows_journal_events", "journal compaction failed"),
        ("DELETE FROM flows_journal_checkpoints", "journal compaction failed"),
        ("SET compacted_at_ms", "journal compaction failed"),
        ("COMMIT", "journal compaction failed"),
        ("flows_consensus_leases", "consensus guard failed"),
    ],
)
def test_a_failure_anywhere_changes_nothing(owned: World, on: str, text: str) -> None:
    """Neither deletion nor floor nor tombstone is left, and the gate is open again (JN-284, JN-287, JN-291)."""
    owned.journal.checkpoint("r", 3, None, A)
    before = owned.digest()
    owned.fail(on=on)
    error = refused(lambda: owned.journal.compact("r", A))
    owned.mend()

    assert (error.code, error.text) == ("sink_failed", text)
    assert isinstance(error.cause, DatabaseError)
    assert owned.digest() == before
    assert owned.instance.gates == set()
    assert owned.journal.compact("r", A).deleted == 3


@pytest.mark.parametrize("damage", ["CAST(x'ff' AS TEXT)", "x'00'"])
def test_content_that_cannot_be_fingerprinted_fails_it(owned: World, damage: str) -> None:
    """Nothing is deleted that could not be recognised again (JN-284)."""
    owned.journal.checkpoint("r", 3, None, A)
    owned.corrupt(f"UPDATE flows_journal_events SET meta_json = {damage} WHERE seq = 1")
    error = refused(lambda: owned.journal.compact("r", A))

    assert (error.code, error.text) == ("sink_failed", "could not fingerprint journal content")
    assert owned.seqs() == [0, 1, 2, 3, 4]


def test_a_busy_database_repeats_it() -> None:
    """The gate is never closed while the database is waited for (JN-286)."""
    world = new_world(retry=tenure.RetryPolicy(attempts=3))
    world.own()
    world.fill(3)
    world.journal.checkpoint("r", 2, None, A)
    gates: list[set[str]] = []
    failures = iter([True, True])

    def before(sql: str) -> None:
        if sql == "BEGIN":
            gates.append(set(world.instance.gates))
        if "DELETE FROM flows_journal_events" in sql and next(failures, False):
            raise DatabaseError("busy")

    world.faults.before = before

    assert world.journal.compact("r", A).deleted == 2
    assert gates == [set()] * 3
    world.store.close()


def test_what_is_pending_is_written_first(owned: World) -> None:
    """A reservation below the checkpoint goes above the tail and survives (JN-286, JN-289)."""
    owned.lossy("pending", source_id="q")
    owned.durable("tail")
    owned.journal.checkpoint("r", 6, None, A)
    result = owned.journal.compact("r", A)

    assert result == tenure.CompactionResult("r", 6, 6 - 1)
    assert [(entry.seq, entry.payload) for entry in owned.journal.entries("r", limit=9, after=5).entries] == [
        (6, "tail"),
        (7, "pending"),
    ]


def test_other_runs_pending_entries_are_not_waited_for(owned: World) -> None:
    """Only the run's own (JN-286)."""
    owned.lossy(run_id="other")
    owned.journal.checkpoint("r", 3, None, A)
    owned.journal.compact("r", A)

    assert owned.instance.backlog.pending == 1


def test_a_compaction_waits_for_the_writer(tmp_path: object) -> None:
    """Admissions continue meanwhile; what arrives between wait and transaction is waited for too (JN-286)."""
    world = new_world(f"{tmp_path}/t.db", writer="thread")
    world.own()
    world.fill(3)
    world.journal.checkpoint("r", 2, None, A)
    released = threading.Event()
    begun = threading.Event()

    def before(sql: str) -> None:
        if threading.current_thread().name == "tenure-journal-writer" and sql == "BEGIN":
            begun.set()
            assert released.wait(PATIENCE_SECONDS)

    world.faults.before = before
    world.lossy("first")
    thread, answers = in_thread(lambda: world.journal.compact("r", A))
    assert begun.wait(PATIENCE_SECONDS)
    admitted = world.lossy("second")
    waiting = thread.is_alive()
    released.set()
    thread.join(PATIENCE_SECONDS)
    world.store.close()

    assert waiting
    assert admitted == tenure.Accepted(4, 4)
    assert answers == [tenure.CompactionResult("r", 2, 2)]


def test_a_closed_gate_holds_up_admissions_of_its_run_alone(tmp_path: object) -> None:
    """They go on when the compaction has ended (JN-287)."""
    world = new_world(f"{tmp_path}/t.db", writer="thread")
    world.own()
    world.fill(3)
    world.journal.checkpoint("r", 2, None, A)
    inside, go_on = threading.Event(), threading.Event()

    def before(sql: str) -> None:
        if "DELETE FROM flows_journal_events" in sql:
            inside.set()
            assert go_on.wait(PATIENCE_SECONDS)

    world.faults.before = before
    compacting, results = in_thread(lambda: world.journal.compact("r", A))
    assert inside.wait(PATIENCE_SECONDS)
    held, held_answers = in_thread(lambda: world.lossy("held"))
    explicit, explicit_answers = in_thread(lambda: world.lossy(0, source_seq=0))
    free = world.lossy("free", run_id="other")
    blocked = held.is_alive() and explicit.is_alive() and not held_answers and not explicit_answers
    go_on.set()
    for thread in (compacting, held, explicit):
        thread.join(PATIENCE_SECONDS)
    world.store.close()

    assert blocked
    assert free == tenure.Accepted(0, 0)
    assert results == [tenure.CompactionResult("r", 2, 2)]
    assert held_answers == [tenure.Accepted(3, 3)]
    assert explicit_answers == [tenure.Duplicate(0, 0, "committed")]


def test_inside_a_transaction_pending_entries_are_inserted_with_it(owned: World) -> None:
    """Queued and taken ones alike; the writer then finds them (JN-288)."""
    owned.lossy("taken", source_seq=100)
    owned.writer.take()
    owned.lossy("queued", source_seq=101)
    owned.journal.checkpoint("r", 3, None, A)
    with owned.journal.changes() as changes:
        with owned.journal.transact():
            result = owned.journal.compact("r", A)
            inside = owned.seqs()
            published = changes.take()
            repeated = owned.lossy("queued", source_seq=101)
        after = [(entry.seq, entry.payload) for entry in changes.take()]
        owned.journal.flush()
        later = changes.take()

    assert result == tenure.CompactionResult("r", 3, 3)
    assert inside == [3, 4, 5, 6]
    assert (published, later) == ([], [])
    assert repeated == tenure.Duplicate(6, 101, "pending")
    assert after == [(5, "taken"), (6, "queued")]
    assert owned.seqs() == [3, 4, 5, 6]
    assert owned.lossy("queued", source_seq=101) == tenure.Duplicate(6, 101, "committed")


def test_an_outer_rollback_leaves_the_entries_queued(owned: World) -> None:
    """Queue settlement stays with the writer, which commits them later (JN-288)."""
    owned.lossy("queued", source_seq=100)
    owned.journal.checkpoint("r", 3, None, A)
    with owned.journal.changes() as changes:
        with rolled_back(owned.journal.transact()):
            owned.journal.compact("r", A)
        in_between = (owned.seqs(), owned.instance.backlog.pending, changes.take())
        owned.journal.flush()
        published = [entry.payload for entry in changes.take()]

    assert in_between == ([0, 1, 2, 3, 4], 1, [])
    assert owned.seqs() == [0, 1, 2, 3, 4, 5]
    assert published == ["queued"]


def test_a_refusal_inside_a_transaction_undoes_the_inserts_too(owned: World) -> None:
    """The compaction is a savepoint, and the guard comes after the inserts (JN-288)."""
    owned.lossy("queued", source_seq=100)
    owned.journal.checkpoint("r", 3, None, A)
    with owned.journal.transact():
        error = refused(lambda: owned.journal.compact("r", B))
        inside = owned.seqs()

    assert error.code == "fence_lost"
    assert inside == [0, 1, 2, 3, 4]
    assert owned.instance.gates == set()
    assert owned.instance.backlog.pending == 1


def test_an_entry_that_fails_inside_a_transaction_is_left_to_the_writer(owned: World) -> None:
    """It is passed over there and reported as a loss by the writer (JN-288)."""
    owned.journal.forget(["r"])
    owned.lossy("changed", source_seq=0)
    owned.journal.checkpoint("r", 3, None, A)
    with owned.journal.transact():
        result = owned.journal.compact("r", A)
    error = refused(owned.journal.flush)

    assert result.deleted == 3
    assert error.code == "idempotency_conflict"


def test_inside_a_transaction_it_rolls_back_with_it(owned: World) -> None:
    """Compaction is part of the caller's transaction (JN-288)."""
    owned.journal.checkpoint("r", 3, None, A)
    before = owned.digest()
    with rolled_back(owned.journal.transact()):
        owned.journal.compact("r", A)

    assert owned.digest() == before


def test_a_clock_that_says_nothing_usable_fails_it(owned: World) -> None:
    """The mark of compaction takes no such reading, and nothing is deleted."""
    owned.journal.checkpoint("r", 3, None, A)
    owned.clock.ms = -1

    assert refused(lambda: owned.journal.compact("r", A)).text == "journal compaction failed"
    assert owned.seqs() == [0, 1, 2, 3, 4]


def test_the_gate_of_a_compaction_that_waits_is_open(owned: World) -> None:
    """Work that arrives while it waits for the database is drained before anything is cut off (JN-286)."""
    owned.journal.checkpoint("r", 3, None, A)
    late = iter([True])

    def before(sql: str) -> None:
        if sql == "BEGIN" and next(late, False):
            owned.lossy("late", source_id="q")

    owned.faults.before = before
    result = owned.journal.compact("r", A)

    assert result.deleted == 3
    assert owned.seqs() == [3, 4, 5]
    eventually(lambda: owned.instance.backlog.pending == 0)

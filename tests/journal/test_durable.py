"""Tests of the durable channel: receipts, numbers, fence, duplicates, settlement."""

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tenure_model.admission.event_identity import event_id
from tests.journal.support import MAX, NOW, A, B, World, event, new_world, refused, rolled_back, unchanged

CONFLICT = "source event p:0 for run r was reused with different content"


def test_an_appended_event_is_read_back_as_it_was_given(world: World) -> None:
    """The row has the id of its identity, the clock of the emit, canonical payload and a null for a missing meta."""
    receipt = world.durable({"b": 1, "a": [None, "é"]}, source_seq=7)

    assert receipt == tenure.Accepted(0, 7)
    assert world.rows("SELECT * FROM flows_journal_events") == [
        ("r", 0, event_id("r", "p", 7), "p", 7, NOW, "e", '{"a":[null,"é"],"b":1}', "null")
    ]


def test_numbers_go_up_by_run_and_by_producer(world: World) -> None:
    """Each run has its own seqs, each producer in it its own numbers (JN-172, JN-173)."""
    receipts = [
        world.durable(),
        world.durable(source_id="q"),
        world.durable(),
        world.durable(run_id="other"),
    ]

    assert receipts == [
        tenure.Accepted(0, 0),
        tenure.Accepted(1, 0),
        tenure.Accepted(2, 1),
        tenure.Accepted(0, 0),
    ]


def test_an_explicit_number_may_leave_a_gap_or_fill_one(world: World) -> None:
    """A producer's own numbers need no order; an implicit one goes above the highest (JN-172)."""
    receipts = [world.durable(source_seq=5), world.durable(source_seq=2), world.durable()]

    assert receipts == [tenure.Accepted(0, 5), tenure.Accepted(1, 2), tenure.Accepted(2, 6)]


def test_an_instance_numbers_above_what_others_wrote(on_file: World) -> None:
    """Both floors are read inside the transaction, so two instances never collide (JN-171, JN-240)."""
    other = on_file.reopened()
    receipts = [on_file.durable(), other.durable(), on_file.durable(), other.durable()]
    other.store.close()

    assert receipts == [tenure.Accepted(number, number) for number in range(4)]


@pytest.mark.parametrize(
    ("again", "outcome"),
    [
        (event({"x": 1}, source_seq=0), tenure.Duplicate(0, 0, "committed")),
        (event({"x": 1}, source_seq=0, meta=None), tenure.Duplicate(0, 0, "committed")),
        (event({"x": 2}, source_seq=0, dedupe="identity"), tenure.Duplicate(0, 0, "committed")),
        (event({"x": 2}, source_seq=0), CONFLICT),
        (event({"x": 1}, source_seq=0, meta=1), CONFLICT),
        (event({"x": 1}, source_seq=0, event_type="other"), CONFLICT),
    ],
)
def test_a_repeated_identity_is_a_duplicate_or_a_conflict(
    world: World, again: tenure.JournalInput, outcome: object
) -> None:
    """Event type and both stored texts decide, unless the event asks for the identity alone (JN-177, JN-047)."""
    world.durable({"x": 1}, source_seq=0)
    before = world.digest()
    try:
        answer: object = world.journal.emit_durable_unfenced(again)
    except tenure.JournalError as error:
        answer = error.text
        code = error.code

    assert answer == outcome
    assert outcome != CONFLICT or code == "idempotency_conflict"
    assert world.digest() == before


def test_a_duplicate_and_a_conflict_use_up_a_seq(world: World) -> None:
    """Whatever follows the allocation, the next fresh event leaves a gap (JN-174)."""
    world.durable(1, source_seq=0)
    world.durable(1, source_seq=0)
    refused(lambda: world.durable(2, source_seq=0))

    assert world.durable(source_seq=9) == tenure.Accepted(3, 9)


def test_a_conflict_does_not_raise_the_number_of_a_producer_beyond_its_own(world: World) -> None:
    """A repeated number raises its producer's floor to its successor and no further (JN-173)."""
    world.durable(1, source_seq=4)
    refused(lambda: world.durable(2, source_seq=4))

    assert world.durable().source_seq == 5


def test_another_instance_notices_no_gap(on_file: World) -> None:
    """What one instance used up without a row, another gives out (JN-174)."""
    other = on_file.reopened()
    on_file.durable(1, source_seq=0)
    on_file.durable(1, source_seq=0)
    receipt = other.durable(source_seq=1)
    other.store.close()

    assert receipt == tenure.Accepted(1, 1)


def test_the_owner_may_append(world: World) -> None:
    """A lease that names the caller lets it through, whatever the run's row says (JN-083)."""
    world.own()

    assert world.journal.emit_durable(event(), A) == tenure.Accepted(0, 0)
    assert world.journal.emit_durable(event(), {"hostId": "h1", "pid": 1, "nonce": "a"}) == tenure.Accepted(1, 1)


@pytest.mark.parametrize("owner", [B, tenure.OwnerId("h1", 1, "a2"), tenure.OwnerId("", 0, "")])
def test_anybody_else_is_fenced_off(world: World, owner: tenure.OwnerId) -> None:
    """All three members of the owner count; empty ones match nobody (JN-080, JN-083, BR-01, BR-08)."""
    world.own()
    error = refused(lambda: world.journal.emit_durable(event(), owner))

    assert error.code == "fence_lost"
    assert error.text == f"run r is no longer owned by {owner.host_id}:{owner.pid}:{owner.nonce}"
    assert world.seqs() == []


def test_a_run_without_a_lease_refuses_fenced_events(world: World) -> None:
    """Nobody owns it, so nobody passes (JN-083, JN-086)."""
    assert refused(lambda: world.journal.emit_durable(event(), A)).code == "fence_lost"


def test_a_lost_fence_uses_up_numbers(world: World) -> None:
    """Floors are read and numbers allocated before the guard runs (JN-174, JN-176)."""
    world.own()
    refused(lambda: world.journal.emit_durable(event(), B))

    assert world.journal.emit_durable(event(), A) == tenure.Accepted(1, 1)


def test_the_fence_outranks_deduplication(world: World) -> None:
    """A former owner that repeats what its successor committed is told that it lost the fence (JN-085)."""
    world.own()
    world.journal.emit_durable(event(1, source_seq=0), A)
    world.own(owner=B)

    assert refused(lambda: world.journal.emit_durable(event(1, source_seq=0), A)).code == "fence_lost"
    assert world.journal.emit_durable(event(1, source_seq=0), B) == tenure.Duplicate(0, 0, "committed")


@pytest.mark.parametrize(
    "owner",
    [
        None,
        "h1",
        {"hostId": "h", "pid": 1},
        {"hostId": "h", "pid": 1.5, "nonce": "n"},
        {"hostId": "h", "pid": True, "nonce": "n"},
        {"hostId": "h", "pid": -1, "nonce": "n"},
        {"hostId": "h", "pid": "1", "nonce": "n"},
    ],
)
def test_a_malformed_owner_is_looked_at_before_anything_else(world: World, owner: tenure.OwnerId) -> None:
    """Also before the status of the instance; nothing is used up (JN-082)."""
    with unchanged(world):
        error = refused(lambda: world.journal.emit_durable(event(), owner))
    world.journal.close()
    after_close = refused(lambda: world.journal.emit_durable(event(), owner))

    assert (error.code, error.text) == ("invalid_event", "emitDurable requires a well-formed owner fence")
    assert after_close == error


@pytest.mark.parametrize(
    ("field", "value"),
    [("run_id", ""), ("source_id", "a\0b"), ("event_type", "x" * 1025), ("source_seq", MAX), ("dedupe", "no")],
)
def test_a_refused_input_uses_nothing_up(world: World, field: str, value: object) -> None:
    """The contract is checked before any number is taken (JN-041)."""
    world.fill(1)
    with unchanged(world):
        error = refused(lambda: world.durable(**{field: value}))

    assert (error.code, error.text) == ("invalid_event", "event violates the journal input contract")


@pytest.mark.parametrize("reading", [-1, float("nan"), float("inf"), 2.0**60])
def test_a_clock_that_says_nothing_usable_refuses_the_event(world: World, reading: float) -> None:
    """The reading is taken before the transaction and must be a non-negative safe integer (JN-028)."""
    world.clock.ms = reading
    with unchanged(world):
        error = refused(world.durable)

    assert (error.code, error.text) == ("invalid_event", "emittedAtMs must be a non-negative safe integer")


def test_the_clock_is_rounded_down(world: World) -> None:
    """Fractions of a millisecond are cut off (JN-028)."""
    world.clock.ms = 12.9
    world.durable()

    assert world.rows("SELECT emitted_at_ms FROM flows_journal_events") == [(12,)]


def test_the_last_number_can_be_committed_and_none_after_it(world: World) -> None:
    """The highest seq is MAX - 1; beyond it the range is used up, and nothing moves (JN-173, JN-244)."""
    world.durable(source_seq=0)
    world.sql("UPDATE flows_journal_events SET seq = ?", MAX - 2)

    assert world.durable(source_seq=1) == tenure.Accepted(MAX - 1, 1)
    with unchanged(world):
        error = refused(lambda: world.durable(source_seq=2))
    assert error.text == "journal sequence is outside the allocatable safe integer range"
    assert refused(lambda: world.durable(source_seq=0)).code == "invalid_event"


def test_a_producer_can_run_out_of_numbers(world: World) -> None:
    """The highest sourceSeq is MAX - 1 too."""
    world.durable(source_seq=MAX - 1)

    assert refused(world.durable).text == "journal sequence is outside the allocatable safe integer range"
    assert world.durable(source_seq=3) == tenure.Accepted(1, 3)


def test_an_implicit_number_warms_its_producer_even_if_the_event_fails(world: World) -> None:
    """A durable read of the floor is what warms; an explicit number raises the floor and does not warm (R-5)."""
    world.durable(source_seq=3)
    after_explicit = set(world.instance.floors.warm)
    with rolled_back(world.journal.transact()):
        world.durable()

    assert after_explicit == set()
    assert world.instance.floors.warm == {("r", "p")}


def test_a_duplicate_under_identity_leaves_the_rows_content_in_memory(world: World) -> None:
    """So a later repetition of the row's own content is no false conflict (R-7)."""
    world.durable("stored", source_seq=0)
    world.durable("other", source_seq=0, dedupe="identity")

    assert world.lossy("stored", source_seq=0) == tenure.Duplicate(0, 0, "committed")
    assert refused(lambda: world.lossy("other", source_seq=0)).code == "idempotency_conflict"


def test_a_duplicate_of_a_tombstone_under_identity_keeps_only_what_has_its_fingerprint(world: World) -> None:
    """A matching committed entry of the cache stays; without one nothing is remembered (R-7)."""
    world.own()
    world.durable("stored", source_seq=0)
    world.durable(source_seq=1)
    world.journal.checkpoint("r", 1, None, A)
    world.journal.compact("r", A)
    kept = world.durable("other", source_seq=0, dedupe="identity")
    still_remembered = world.lossy("stored", source_seq=0)
    world.journal.forget(["r"])
    world.durable("other", source_seq=0, dedupe="identity")

    assert kept == tenure.Duplicate(0, 0, "committed")
    assert still_remembered == tenure.Duplicate(0, 0, "committed")
    assert world.instance.cache.find(("r", "p", 0)) is None


def test_settlement_never_warms(world: World) -> None:
    """A settled event raises floors and says nothing about what is on disk (R-5)."""
    world.durable(source_seq=3)

    assert world.instance.floors.source == {("r", "p"): 4}
    assert world.instance.floors.warm == set()


def test_the_durable_channel_needs_no_queue(world: World) -> None:
    """It works while lossy entries wait, and its row wins over a queued entry of the same identity (JN-181, JN-183)."""
    world.lossy("queued", source_seq=0)
    receipt = world.durable("durable", source_seq=0)
    error = refused(world.journal.flush)

    assert receipt == tenure.Accepted(1, 0)
    assert error.text == CONFLICT
    assert world.rows("SELECT payload_json FROM flows_journal_events") == [('"durable"',)]


@pytest.mark.parametrize("code", ["io", "constraint", "busy", "schema", "unknown"])
def test_failing_storage_is_a_failed_sink(world: World, code: str) -> None:
    """The database's failure is the cause, and nothing is kept; the numbers stay used (JN-182, JN-174)."""
    world.fail(code)
    error = refused(world.durable)
    world.mend()

    assert (error.code, error.text) == ("sink_failed", "durable journal write failed")
    assert isinstance(error.cause, DatabaseError)
    assert error.cause.code == code
    assert world.durable() == tenure.Accepted(1, 1)


def test_a_busy_database_repeats_the_append(world: World) -> None:
    """The whole body runs again, with the same clock reading and fresh numbers (JN-142, JN-243)."""
    failures = iter([True, True, False, False])
    repeated = new_world(retry=tenure.RetryPolicy(attempts=5))

    def before(sql: str) -> None:
        if "INSERT INTO flows_journal_events" in sql and next(failures, False):
            repeated.clock.ms += 1
            raise DatabaseError("busy")

    repeated.faults.before = before

    assert repeated.durable() == tenure.Accepted(2, 2)
    assert repeated.rows("SELECT seq, emitted_at_ms FROM flows_journal_events") == [(2, NOW)]
    repeated.store.close()


def test_a_commit_that_leaves_its_outcome_open_is_reported_as_that(on_file: World) -> None:
    """The caller cannot know; repeating an explicit identity tells (HZ-15)."""

    def lose_the_answer(connection: object) -> None:
        connection.commit()  # type: ignore[attr-defined]  # a connection
        raise tenure.CommitUnknownError("io", "COMMIT failed; its outcome is unknown")

    on_file.faults.instead_of_commit = lose_the_answer
    error = refused(lambda: on_file.durable(source_seq=0))
    on_file.faults.instead_of_commit = None

    assert isinstance(error, tenure.JournalOutcomeUnknown)
    assert (error.code, error.text) == ("sink_failed", "the outcome of the commit is unknown")
    assert on_file.durable(source_seq=0) == tenure.Duplicate(0, 0, "committed")


def test_a_failing_guard_is_a_failed_sink(world: World) -> None:
    """A strategy that fails otherwise than by a lost fence fails the write, with its cause (JN-084)."""
    world.own()
    world.fail("io", on="flows_consensus_leases")
    error = refused(lambda: world.journal.emit_durable(event(), A))

    assert (error.code, error.text) == ("sink_failed", "consensus guard failed")
    assert isinstance(error.cause, DatabaseError)


def test_a_busy_guard_repeats_the_write() -> None:
    """A transient failure inside the guard still replays the outermost transaction (JN-084)."""
    world = new_world(retry=tenure.RetryPolicy(attempts=3))
    world.own()
    failures = iter([True, True])

    def before(sql: str) -> None:
        if "FROM flows_consensus_leases" in sql and next(failures, False):
            raise DatabaseError("busy")

    world.faults.before = before

    assert world.journal.emit_durable(event(), A) == tenure.Accepted(2, 2)
    world.store.close()


@pytest.mark.parametrize("run_ids", ["run", None, 5, {"run": 1}, ["r", ""], [5]], ids=repr)
def test_forgetting_takes_a_collection_of_run_ids(run_ids: object) -> None:
    """A single text is no list of the runs that its characters name; nothing is forgotten then (JN-342)."""
    with tenure.open(":memory:", journal={"capacity": 8, "overflow": "reject"}) as store:
        store.journal.emit_durable_unfenced({"runId": "r", "sourceId": "p", "eventType": "e", "payload": 1})
        with pytest.raises(tenure.JournalError) as refused:
            store.journal.forget(run_ids)  # type: ignore[arg-type]  # that is the point

        assert refused.value.code == "invalid_event"
        assert store.journal.instance.floors.seq == {"r": 1}

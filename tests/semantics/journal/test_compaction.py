"""Compaction: what goes, what stays, whom it waits for, and what it refuses."""

import pytest

from tenure_model.semantics.journal.answers import Blocked, Waiting
from tenure_model.semantics.journal.state import JournalState
from tenure_model.vocabulary.journal import Accepted, CompactionResult, Duplicate
from tenure_model.vocabulary.journal_errors import JournalUsageError
from tests.semantics.journal.journals import (
    A,
    B,
    after,
    also_opened,
    begun,
    cached,
    call,
    code,
    compacted,
    drained,
    emitted,
    event,
    history,
    memory,
    opened,
    queued,
    world,
    written,
)
from tests.semantics.worlds import ALICE, BOB, T


def checkpointed(state: JournalState, *seqs: int) -> JournalState:
    """The state with a checkpoint at each of these entries."""
    for seq in seqs:
        state = after(state, "journal.checkpoint", runId="r", seq=seq, state=seq, owner=ALICE)
    return state


def test_truncation() -> None:
    """Entries below the checkpoint become tombstones, checkpoints below it go, those above stay (JN-281)."""
    state = checkpointed(emitted(opened(), *"abcde"), 1, 3, 4)

    step = call(state, "journal.compact", A, T + 5, runId="r", owner=ALICE, upTo=3)

    tables = step.state.committed.journal
    assert step.outcome == CompactionResult("r", 3, 3)
    assert history(step.state) == [(3, 3, '"d"'), (4, 4, '"e"')]
    assert [(one.seq, one.source_seq) for one in tables.tombstones["r"]] == [(0, 0), (1, 1), (2, 2)]
    assert {seq: row.compacted_at_ms for seq, row in tables.checkpoints["r"].items()} == {3: T + 5, 4: None}


def test_numbers_never_come_back() -> None:
    """After compacting all but the last entry, a new process allocates above it, for the producer too (JN-282)."""
    state = compacted(emitted(opened(), *range(4)), 3)
    state = emitted(also_opened(after(state, "session.crash"), A), 4)

    assert history(state) == [(3, 3, "3"), (4, 4, "4")]


def test_again() -> None:
    """A repeated compaction deletes nothing, and asks no reader (JN-283)."""
    state = compacted(emitted(opened(), *range(3)), 2)
    state = after(also_opened(state, B), "stream.open", runId="r")

    step = call(state, "journal.compact", runId="r", owner=ALICE)

    assert step.outcome == CompactionResult("r", 2, 0)
    assert step.state.committed.journal == state.committed.journal


@pytest.mark.parametrize(
    ("changed", "expected", "text"),
    [
        ({"owner": None, "upTo": -1}, "invalid_event", "compact requires a well-formed owner fence"),
        ({"upTo": -1, "owner": BOB}, "invalid_event", "compact options violate the journal contract"),
        ({"owner": BOB}, "fence_lost", "run r is no longer owned by h1:2:b"),
        ({"upTo": 0}, "checkpoint_invalid", "run r has no checkpoint at sequence 0 to compact to"),
        ({"upTo": 1}, "checkpoint_invalid", "run r has no checkpoint at sequence 1 to compact to"),
    ],
)
def test_refusals_in_order(changed: dict[str, object], expected: str, text: str) -> None:
    """Each refusal comes before the next; a checkpoint that an earlier compaction removed is none (JN-280, JN-283)."""
    state = compacted(checkpointed(emitted(opened(), *range(4)), 1), 2)

    step = call(state, "journal.compact", **{"runId": "r", "owner": ALICE, **changed})

    assert (code(step), str(step.outcome)) == (expected, text)
    assert step.state.committed == state.committed
    assert memory(step.state).compactions == {}


def test_no_checkpoint() -> None:
    """A run without a checkpoint cannot be compacted (JN-280)."""
    step = call(emitted(opened(), 1), "journal.compact", runId="r", owner=ALICE)

    assert (code(step), str(step.outcome)) == ("checkpoint_invalid", "run r has no checkpoint to compact to")


def test_a_time_that_no_column_takes() -> None:
    """The write fails as a whole (JN-284, JN-291)."""
    state = checkpointed(emitted(opened(), 1, 2), 1)

    step = call(state, "journal.compact", A, -1, runId="r", owner=ALICE)

    assert (code(step), str(step.outcome)) == ("sink_failed", "journal compaction failed")
    assert step.state.committed == state.committed


@pytest.mark.parametrize("stage", ["queued", "taken", "written"])
def test_waits_for_the_run(stage: str) -> None:
    """While the run has pending entries a compaction waits with admissions open (JN-286)."""
    state = queued(checkpointed(emitted(opened(), 0, 1), 1), "late")
    if stage == "taken":
        state = after(state, "writer.take")
    if stage == "written":
        state = written(state)
    state, ticket = begun(state, "compact.begin", runId="r", owner=ALICE)
    polled = call(state, "compact.poll", ticket=ticket)

    assert polled.outcome == Waiting(ticket)
    assert polled.state.transaction is None
    assert isinstance(call(polled.state, "journal.emitLossy", input=event(9)).outcome, Accepted)
    assert history(polled.state)[:2] == [(0, 0, "0"), (1, 1, "1")]


def test_other_runs_do_not_hold_it_up() -> None:
    """Only the run's own entries are waited for (JN-286)."""
    state = queued(checkpointed(emitted(opened(), 0, 1), 1), "late", run_id="s")
    state, ticket = begun(state, "compact.begin", runId="r", owner=ALICE)
    state = after(state, "compact.poll", ticket=ticket)

    assert call(state, "compact.poll", ticket=ticket).outcome == CompactionResult("r", 1, 1)


def test_composite_drains_the_writer() -> None:
    """Asked in one go, the writer drains what the compaction waits for; a late entry survives above the tail
    (JN-286, JN-289).
    """
    state = queued(checkpointed(emitted(opened(), 0, 1), 1), "late")

    step = call(state, "journal.compact", runId="r", owner=ALICE)

    assert step.outcome == CompactionResult("r", 1, 1)
    assert history(step.state) == [(1, 1, "1"), (2, 2, '"late"')]


def test_the_gate() -> None:
    """While a compaction holds the transaction, admissions of its run wait and those of others do not; everybody's
    writes are busy; then the gate opens (JN-286, JN-287).
    """
    state, early = begun(checkpointed(emitted(opened(), 0, 1), 1), "lossy.begin", input=event(9))
    state = after(state, "lossy.read", token=early)
    state, ticket = begun(state, "compact.begin", runId="r", owner=ALICE)
    gated = after(state, "compact.poll", ticket=ticket)

    assert call(gated, "journal.emitLossy", input=event(2)).outcome == Blocked()
    assert call(gated, "lossy.finish", token=early).outcome == Blocked()
    assert isinstance(call(gated, "journal.emitLossy", input=event(2, run_id="s")).outcome, Accepted)
    assert code(call(gated, "journal.emitDurableUnfenced", input=event(2))) == "sink_failed"
    assert code(call(also_opened(gated, B), "journal.emitDurableUnfenced", B, input=event(2))) == "sink_failed"
    assert call(gated, "session.begin").outcome is not None

    done = call(gated, "compact.poll", ticket=ticket)
    assert done.outcome == CompactionResult("r", 1, 1)
    assert isinstance(call(done.state, "lossy.finish", token=early).outcome, Accepted)


@pytest.mark.parametrize("refusal", ["reader_behind", "fence_lost", "checkpoint_invalid"])
def test_the_gate_opens_after_a_refusal(refusal: str) -> None:
    """However the compaction ends, its transaction and its gate are let go of (JN-287)."""
    state = emitted(opened(), 0, 1, 2)
    state = state if refusal == "checkpoint_invalid" else checkpointed(state, 2)
    state = after(state, "stream.open", runId="r") if refusal == "reader_behind" else state
    owner = BOB if refusal == "fence_lost" else ALICE
    state, ticket = begun(state, "compact.begin", runId="r", owner=owner)
    state = after(state, "compact.poll", ticket=ticket)

    step = call(state, "compact.poll", ticket=ticket)

    assert code(step) == refusal
    assert step.state.transaction is None
    assert isinstance(call(step.state, "journal.emitLossy", input=event(2)).outcome, Accepted)


def test_no_gate_while_waiting_for_the_transaction() -> None:
    """A compaction that waits for the transaction has no gate closed, so its holder can finish its admissions
    (JN-286, HZ-33).
    """
    state = after(also_opened(checkpointed(emitted(opened(), 0, 1), 1), B), "session.begin", B)
    state, ticket = begun(state, "compact.begin", runId="r", owner=ALICE)

    assert call(state, "compact.poll", ticket=ticket).outcome == Blocked()
    assert isinstance(call(state, "journal.emitLossy", input=event(2)).outcome, Accepted)


def test_work_that_arrives_postpones_it() -> None:
    """What was admitted while it waited comes first (JN-286, HZ-36)."""
    state, ticket = begun(checkpointed(emitted(opened(), 0, 1), 1), "compact.begin", runId="r", owner=ALICE)
    polled = call(queued(state, 2), "compact.poll", ticket=ticket)

    assert polled.outcome == Waiting(ticket)
    assert polled.state.transaction is None


def test_another_process_is_busy() -> None:
    """Asked in one go while another session holds the transaction, it fails; bad options are told first (JN-291)."""
    state = after(also_opened(checkpointed(emitted(opened(), 0, 1), 1), B), "session.begin", B)

    assert code(call(state, "journal.compact", runId="r", owner=ALICE)) == "sink_failed"
    assert code(call(state, "journal.compact", runId="", owner=ALICE)) == "invalid_event"


def test_closed_while_it_waits() -> None:
    """A journal that closes ends the compactions that have not begun their work."""
    state, ticket = begun(checkpointed(emitted(opened(), 0, 1), 1), "compact.begin", runId="r", owner=ALICE)
    state = after(state, "journal.close")

    assert code(call(state, "compact.poll", ticket=ticket)) == "journal_closed"


@pytest.mark.parametrize("ticket", [None, 99, "1"])
def test_no_such_ticket(ticket: object) -> None:
    """A ticket is one that was given."""
    assert isinstance(call(opened(), "compact.poll", ticket=ticket).outcome, JournalUsageError)


@pytest.mark.parametrize("operation", ["journal.compact", "compact.begin", "compact.poll"])
def test_without_a_journal(operation: str) -> None:
    """A session without a journal cannot compact (JN-420)."""
    assert code(call(world(), operation)) == "journal_closed"


def nested(state: JournalState, *, raw: bool = False, is_taken: bool = False) -> JournalState:
    """The state inside a transaction that has compacted the run with one entry pending."""
    state = queued(checkpointed(emitted(state, 0, 1), 1), "late", sourceSeq=7)
    state = after(state, "writer.take") if is_taken else state
    state = after(state, "session.begin", raw=raw)
    return after(state, "journal.compact", runId="r", owner=ALICE)


@pytest.mark.parametrize("is_taken", [False, True])
def test_inside_a_transaction(is_taken: bool) -> None:
    """Pending entries are inserted first and survive; the writer's own insert then collapses (JN-288, JN-289)."""
    state = nested(opened(), is_taken=is_taken)

    still_pending = call(state, "journal.emitLossy", input=event("late", sourceSeq=7))
    committed = after(state, "session.commit")
    settled = drained(committed)

    assert still_pending.outcome == Duplicate(2, 7, "pending")
    assert history(committed) == [(1, 1, "1"), (2, 7, '"late"')]
    assert memory(committed).published == (("r", 0), ("r", 1), ("r", 2))
    assert cached(committed)[("p", 7)] == (2, '"late"', "pending")
    assert settled.fates == {0: "collapsed"}
    assert memory(settled).published == memory(committed).published
    assert history(settled) == history(committed)


def test_inside_a_transaction_that_rolls_back() -> None:
    """Then nothing is compacted and the entry is still queued (JN-288)."""
    state = after(nested(opened()), "session.rollback")

    assert history(state) == [(0, 0, "0"), (1, 1, "1")]
    assert history(drained(state)) == [(0, 0, "0"), (1, 1, "1"), (2, 7, '"late"')]
    assert drained(state).fates == {0: "row"}


def test_inside_a_raw_transaction() -> None:
    """The inserted entries are durable with it and never published (JN-288, JN-316)."""
    state = drained(after(nested(opened(), raw=True), "session.commit"))

    assert history(state) == [(1, 1, "1"), (2, 7, '"late"')]
    assert memory(state).published == (("r", 0), ("r", 1))


@pytest.mark.parametrize("owner", [BOB, ALICE])
def test_a_refusal_inside_takes_the_inserts_back(owner: object) -> None:
    """Whatever refuses it, the fence included, undoes the inserts before it (JN-288)."""
    state = emitted(opened(), 0, 1)
    state = checkpointed(state, 1) if owner is BOB else state
    state = after(queued(state, "late"), "session.begin")

    step = call(state, "journal.compact", runId="r", owner=owner)

    assert code(step) in ("fence_lost", "checkpoint_invalid")
    assert step.state is state
    assert history(after(step.state, "session.commit")) == [(0, 0, "0"), (1, 1, "1")]


def test_a_bad_entry_inside_is_left_to_the_writer() -> None:
    """An entry that fails inside is passed over, and the writer reports it (JN-288)."""
    state = queued(opened(), "late", sourceSeq=7)
    state = checkpointed(emitted(emitted(state, "other", sourceSeq=7), 1), 2)
    state = after(after(after(state, "session.begin"), "journal.compact", runId="r", owner=ALICE), "session.commit")

    assert code(call(drained(state), "journal.flush")) == "idempotency_conflict"


def test_another_process_sees_it_after_the_commit_alone() -> None:
    """The compaction is part of the transaction (JN-288)."""
    state = nested(also_opened(opened(), B))

    assert call(state, "journal.entries", B, runId="r", limit=9).outcome != (
        call(after(state, "session.commit"), "journal.entries", B, runId="r", limit=9).outcome
    )


def test_storage_that_fails_half_way() -> None:
    """Nothing remains of the work, and gate and transaction are let go of (JN-284, JN-287)."""
    state = checkpointed(emitted(opened(), 0, 1), 1)
    gated, ticket = begun(state, "compact.begin", runId="r", owner=ALICE)
    gated = after(gated, "compact.poll", ticket=ticket)
    step = call(gated, "compact.poll", ticket=ticket, fault="delete")

    assert code(step) == "sink_failed"
    assert step.state.committed is state.committed
    assert step.state.transaction is None
    assert memory(step.state).compactions == {}


def test_storage_that_would_fail_is_not_asked_where_there_is_nothing_to_do() -> None:
    """A repeated compaction deletes nothing (JN-283)."""
    state = compacted(emitted(opened(), 0, 1), 1)
    gated, ticket = begun(state, "compact.begin", runId="r", owner=ALICE)
    gated = after(gated, "compact.poll", ticket=ticket)

    assert call(gated, "compact.poll", ticket=ticket, fault="delete").outcome == CompactionResult("r", 1, 0)

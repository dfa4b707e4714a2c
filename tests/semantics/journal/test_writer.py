"""The batch writer: what it takes, what one bad entry or a failing storage costs, and what follows a commit."""

import pytest

from tenure_model.semantics.journal.answers import Blocked
from tenure_model.vocabulary.journal_errors import JournalUsageError
from tests.semantics.journal.journals import (
    B,
    after,
    also_opened,
    cached,
    call,
    code,
    compacted,
    drained,
    emitted,
    event,
    history,
    lost,
    memory,
    opened,
    planted,
    queued,
    written,
)
from tests.semantics.worlds import ALICE


def test_batches() -> None:
    """The writer takes up to a batch from the head, and no second one before it has settled (JN-210)."""
    state = queued(opened(batchSize=2), 1, 2, 3)

    first = call(state, "writer.take")
    again = call(first.state, "writer.take")
    settled = after(after(again.state, "writer.write"), "writer.settle")

    assert (first.outcome, again.outcome) == (2, 0)
    assert history(settled) == [(0, 0, "1"), (1, 1, "2")]
    assert call(settled, "writer.take").outcome == 1


def test_nothing_to_do() -> None:
    """Without a batch there is nothing to write or to settle, and a batch is written once (JN-216)."""
    state = opened()

    assert call(state, "writer.take").outcome == 0
    for operation in ("writer.write", "writer.settle"):
        assert call(state, operation).state is state
    taken = after(queued(state, 1), "writer.take")
    assert call(taken, "writer.settle").state is taken
    twice = written(queued(state, 1))
    assert call(twice, "writer.write").state is twice


def test_a_written_batch_is_on_disk_before_it_is_settled() -> None:
    """Between commit and settlement the rows are there, the receipts still pending, nothing published (JN-214)."""
    state = written(queued(after(opened(), "changes.open"), 1, sourceSeq=0))

    assert history(state) == [(0, 0, "1")]
    assert cached(state) == {("p", 0): (0, "1", "pending")}
    assert call(state, "changes.take", changes=1).outcome == ()

    settled = after(state, "writer.settle")
    taken = call(settled, "changes.take", changes=1).outcome
    assert cached(settled) == {("p", 0): (0, "1", "committed")}
    assert isinstance(taken, tuple)
    assert [entry.seq for entry in taken] == [0]


def test_one_bad_entry_costs_itself() -> None:
    """A conflict loses one entry, the others of the batch commit, and it is reported (JN-213)."""
    state = queued(opened(), "a", "b", "c")
    state = emitted(state, "other", sourceSeq=1)
    state = drained(state)

    assert history(state) == [(3, 1, '"other"'), (4, 0, '"a"'), (5, 2, '"c"')]
    assert state.fates == {0: "row", 1: "lost", 2: "row"}
    assert code(call(state, "journal.flush")) == "idempotency_conflict"


@pytest.mark.parametrize(("fault", "text"), [("sink", "journal sink failed"), ("writer", "journal writer failed")])
def test_a_failing_batch_is_lost_whole(fault: str, text: str) -> None:
    """It is one loss, reported once, and the writer goes on with what is queued behind it (JN-213, JN-225)."""
    state = queued(opened(batchSize=2), 1, 2, 3)
    state = after(after(state, "writer.take"), "writer.write", fault=fault)
    state = drained(after(state, "writer.settle"))

    flushed = call(state, "journal.flush")

    assert state.fates == {0: "lost", 1: "lost", 2: "row"}
    assert (code(flushed), str(flushed.outcome)) == ("sink_failed", text)
    assert call(flushed.state, "journal.flush").outcome is None
    assert history(flushed.state) == [(2, 2, "3")]


def test_unknown_fault() -> None:
    """Faults have names."""
    state = after(queued(opened(), 1), "writer.take")

    assert isinstance(call(state, "writer.write", fault="flood").outcome, JournalUsageError)
    assert isinstance(call(state, "writer.write", fault=[]).outcome, JournalUsageError)


@pytest.mark.parametrize("holder", ["a", "b"])
def test_a_held_transaction_blocks_the_writer(holder: str) -> None:
    """Whoever holds the transaction, the writer waits with its batch in hand (JN-210)."""
    state = after(after(queued(also_opened(opened(), B), 1), "writer.take"), "session.begin", holder)

    blocked = call(state, "writer.write")
    drained_too = call(state, "writer.drain")
    freed = drained(after(state, "session.commit", holder))

    assert blocked.outcome == Blocked() == drained_too.outcome
    assert history(freed) == [(0, 0, "1")]


def test_a_failing_storage_needs_no_transaction() -> None:
    """A batch may fail while somebody holds the transaction: that is how waiting for it in vain ends."""
    state = after(after(queued(opened(), 1), "writer.take"), "session.begin")

    assert lost(state).fates == {0: "lost"}


@pytest.mark.parametrize(
    ("reservation", "expected"),
    [(2, "lost"), (3, "lost"), (4, "row")],
)
def test_overtaken_by_another_process(reservation: int, expected: str) -> None:
    """A reservation at or below a floor that another instance has set is dropped, and reported so (JN-211, JN-289,
    HZ-37).
    """
    state = emitted(opened(), *range(reservation))
    state = queued(state, "late", source_id="q")
    state = planted(state, 3) if reservation < 4 else state
    state = also_opened(state, B)
    state = compacted(state, 3, session=B)

    state = drained(state)

    assert state.fates == {0: expected}
    if expected == "lost":
        flushed = call(state, "journal.flush")
        assert code(flushed) == "compacted"
        assert getattr(flushed.outcome, "checkpoint_seq", None) == 3
        assert str(flushed.outcome) == (f"queued sequence {reservation} for run r was dropped below compaction floor 3")


def test_a_duplicate_below_the_floor_is_no_loss() -> None:
    """What stands as a tombstone is looked at before the floor (JN-212)."""
    state = emitted(opened(sourceEventCache=1), 0, 1)
    state = queued(state, 0, sourceSeq=0)
    state = emitted(also_opened(state, B), 2, source_id="q")
    state = after(state, "journal.emitDurableUnfenced", B, input=event(3))
    state = compacted(state, 4, session=B)

    state = drained(state)

    assert state.fates == {0: "collapsed"}
    assert call(state, "journal.flush").outcome is None


def test_settlement_raises_floors() -> None:
    """Where an entry has moved, the next number of this instance lies above it (JN-214)."""
    state = drained(
        after(queued(also_opened(opened(), B), "x"), "journal.emitDurableUnfenced", B, input=event("y", source_id="q"))
    )

    assert memory(state).floors.run == {"r": 2}
    assert memory(state).floors.producer == {("r", "p"): 1}


def test_settlement_does_not_warm() -> None:
    """Settling an explicit number raises the producer floor and does not warm it (R-5)."""
    state = drained(queued(opened(), "x", sourceSeq=3))

    assert memory(state).floors.producer == {("r", "p"): 4}
    assert memory(state).floors.warm == frozenset()


def test_a_collapse_is_not_published() -> None:
    """Only what is a new row is published (JN-215, JN-260)."""
    state = queued(opened(), 1, sourceSeq=5)
    state = emitted(state, 1, sourceSeq=5)

    assert memory(drained(state)).published == (("r", 1),)


def test_losses_of_a_batch_are_reported_one_by_one() -> None:
    """Two bad entries are two reports, and the last is what is remembered (JN-223)."""
    state = emitted(queued(opened(), "a", "b"), 0, sourceSeq=0)
    state = drained(emitted(state, 0, sourceSeq=1))

    losses = memory(state).losses
    assert (losses.epoch, losses.reported_epoch) == (2, 0)
    assert str(losses.last) == "source event p:1 for run r was reused with different content"


def test_the_durable_channel_works_without_the_writer() -> None:
    """A loss that nobody was told of does not touch durable writes (JN-181)."""
    state = lost(queued(opened(), 1))

    assert call(state, "journal.emitDurable", input=event(2), owner=ALICE).fired == frozenset()
    assert history(emitted(state, 2)) == [(1, 1, "2")]

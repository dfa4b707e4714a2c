"""Streams and subscriptions: following without a hole, and what ends them."""

import pytest

from tenure_model.semantics.journal.answers import Ended
from tenure_model.semantics.journal.state import JournalState
from tests.semantics.journal.journals import (
    B,
    after,
    also_opened,
    begun,
    call,
    code,
    compacted,
    drained,
    emitted,
    event,
    lost,
    memory,
    opened,
    planted,
    queued,
)
from tests.semantics.worlds import ALICE


def page(state: JournalState, stream: int) -> tuple[JournalState, list[int]]:
    """The sequences of the next page."""
    step = call(state, "stream.page", stream=stream)
    assert isinstance(step.outcome, tuple)
    return step.state, [entry.seq for entry in step.outcome]


@pytest.mark.parametrize(
    ("start", "expected"), [({}, [[0, 1], [2, 3], [4], []]), ({"afterSequence": 2}, [[3, 4], [], []])]
)
def test_history_then_live(start: dict[str, object], expected: list[list[int]]) -> None:
    """History page by page, then what is committed meanwhile, without a gap or a repetition (JN-153, JN-258)."""
    state, stream = begun(emitted(opened(batchSize=2), 0, 1, 2), "stream.open", runId="r", **start)
    state = emitted(state, 3, 4)

    pages = []
    for _ in expected:
        state, seqs = page(state, stream)
        pages.append(seqs)
    state, live = page(emitted(state, 5), stream)

    assert pages == expected
    assert live == [5]


def test_gaps_mean_nothing() -> None:
    """Numbers that were spent are passed over, and never waited for (JN-243)."""
    state, stream = begun(opened(), "stream.open", runId="r")
    state = lost(queued(state, 1, 2, 3))
    state, later = begun(emitted(state, 4), "stream.open", runId="r")

    assert page(state, later)[1] == [3]
    assert code(call(state, "stream.page", stream=stream)) == "sink_failed"


def test_commits_of_another_process_are_seen() -> None:
    """A stream reads the tables, whoever wrote them; ``changes`` tells of its own instance alone (JN-257, JN-260)."""
    state, stream = begun(also_opened(opened(), B), "stream.open", runId="r")
    state, changes = begun(state, "changes.open")
    state = after(state, "journal.emitDurableUnfenced", B, input=event())

    assert page(state, stream)[1] == [0]
    assert call(state, "changes.take", changes=changes).outcome == ()


def test_a_stream_reads_what_is_committed() -> None:
    """The session's own open transaction is not read, since it may yet be rolled back (JN-241)."""
    state, stream = begun(opened(), "stream.open", runId="r")
    state = emitted(after(state, "session.begin"), 1)

    assert page(state, stream)[1] == []
    assert page(after(state, "session.commit"), stream)[1] == [0]


@pytest.mark.parametrize(
    "options", [{}, {"runId": ""}, {"runId": "r", "afterSequence": -1}, {"runId": "r", "afterSequence": None}]
)
def test_bad_options(options: dict[str, object]) -> None:
    """What cannot be followed is invalid (JN-254)."""
    step = call(opened(), "stream.open", **options)

    assert (code(step), str(step.outcome)) == ("invalid_event", "stream options violate the journal read contract")


def test_a_loss_of_any_run_ends_a_stream() -> None:
    """A loss reported after it subscribed ends every stream of the instance before its next page, and no later one
    (JN-256, HZ-22).
    """
    state, stream = begun(queued(opened(), 1, run_id="s"), "stream.open", runId="r")
    state = lost(state)
    state, later = begun(state, "stream.open", runId="r")

    ended = call(state, "stream.page", stream=stream)

    assert code(ended) == "sink_failed"
    assert call(ended.state, "stream.page", stream=stream).outcome == Ended()
    assert page(state, later)[1] == []


def test_an_eviction_ends_no_stream() -> None:
    """Evictions are no losses (JN-226)."""
    state, stream = begun(opened(capacity=1, overflow="drop-oldest"), "stream.open", runId="r")

    assert page(queued(state, 1, 2), stream)[1] == []


def test_compacted_under_a_stream_of_another_process() -> None:
    """Another process may compact past a stream, which then ends with the floor to resync from (JN-257, HZ-20)."""
    state, stream = begun(also_opened(emitted(opened(), 0, 1, 2), B), "stream.open", runId="r")
    state = compacted(state, 2, session=B)

    step = call(state, "stream.page", stream=stream)

    assert code(step) == "compacted"
    assert call(step.state, "stream.page", stream=stream).outcome == Ended()


def test_a_row_that_does_not_decode_ends_a_stream() -> None:
    """The error is the stream's end (JN-257)."""
    state, stream = begun(planted(opened(), 0, source_id="x" * 1025), "stream.open", runId="r")

    step = call(state, "stream.page", stream=stream)

    assert code(step) == "decode_failed"
    assert memory(step.state).streams == {}


@pytest.mark.parametrize(("read", "expected"), [(0, "reader_behind"), (1, None)])
def test_a_reader_holds_compaction_back(read: int, expected: str | None) -> None:
    """A stream of this instance that still needs what would go refuses the compaction, until it has read it, consumed
    or not (JN-255, JN-280, HZ-21).
    """
    state, stream = begun(emitted(opened(batchSize=2), 0, 1, 2), "stream.open", runId="r")
    for _ in range(read):
        state, _ = page(state, stream)
    state = after(state, "journal.checkpoint", runId="r", seq=2, state=0, owner=ALICE)

    step = call(state, "journal.compact", runId="r", owner=ALICE)

    if expected is None:
        assert getattr(step.outcome, "deleted", None) == 2
    else:
        assert code(step) == expected
        assert getattr(step.outcome, "checkpoint_seq", None) == 2
        assert str(step.outcome) == "a live stream of run r still needs sequences below checkpoint 2"


def test_a_reader_just_below_the_checkpoint_is_no_hindrance() -> None:
    """A cursor of checkpoint - 1 has seen all that goes (JN-280)."""
    state, _ = begun(emitted(opened(), 0, 1, 2), "stream.open", runId="r", afterSequence=1)

    assert memory(compacted(state, 2)).streams != {}


def test_closing_a_stream() -> None:
    """A closed stream reads no more and holds nothing back."""
    state, stream = begun(emitted(opened(), 0, 1), "stream.open", runId="r")
    closed = call(state, "stream.close", stream=stream)

    assert closed.outcome is True
    assert call(closed.state, "stream.close", stream=stream).outcome is False
    assert call(closed.state, "stream.page", stream=stream).outcome == Ended()
    assert compacted(closed.state, 1)


def test_changes() -> None:
    """A subscriber is told what is published from then on, of all runs and both channels, once (JN-260)."""
    state, changes = begun(emitted(opened(), 0), "changes.open")
    state = drained(queued(emitted(state, 1, run_id="s"), 2))

    step = call(state, "changes.take", changes=changes)

    assert isinstance(step.outcome, tuple)
    assert [(entry.run_id, entry.seq) for entry in step.outcome] == [("s", 0), ("r", 1)]
    assert call(step.state, "changes.take", changes=changes).outcome == ()


def test_changes_come_in_the_order_of_commits() -> None:
    """A batch that is written and not settled was committed before what is emitted now, and is told once (JN-260)."""
    state, changes = begun(opened(), "changes.open")
    state = after(after(queued(state, 0), "writer.take"), "writer.write")
    emitting = call(emitted(state, 1), "changes.take", changes=changes)

    settled = call(after(emitting.state, "writer.settle"), "changes.take", changes=changes)

    assert isinstance(emitting.outcome, tuple)
    assert [entry.seq for entry in emitting.outcome] == [0, 1]
    assert settled.outcome == ()


def test_a_slow_subscriber_loses_the_oldest() -> None:
    """The buffer slides: beyond the capacity the oldest are silently gone (JN-260)."""
    state, slow = begun(opened(capacity=2), "changes.open")
    state = emitted(state, 0, 1, 2)

    step = call(state, "changes.take", changes=slow)

    assert isinstance(step.outcome, tuple)
    assert [entry.seq for entry in step.outcome] == [1, 2]


def test_closing_a_subscription() -> None:
    """After that it is over."""
    state, changes = begun(opened(), "changes.open")
    closed = call(state, "changes.close", changes=changes)

    assert (closed.outcome, call(closed.state, "changes.close", changes=changes).outcome) == (True, False)
    assert call(closed.state, "changes.take", changes=changes).outcome == Ended()


@pytest.mark.parametrize("number", [None, "1", 0, True, []])
def test_no_such_number(number: object) -> None:
    """What was never opened has ended."""
    state = opened()

    assert call(state, "stream.page", stream=number).outcome == Ended()
    assert call(state, "changes.take", changes=number).outcome == Ended()
    assert call(state, "stream.close", stream=number).outcome is False
    assert call(state, "changes.close", changes=number).outcome is False


def test_a_page_that_cannot_be_read_ends_the_stream() -> None:
    """It is ``read_failed``, and then it is over (JN-257)."""
    state = after(emitted(opened(), 0), "stream.open", runId="r")
    (stream,) = memory(state).streams
    failed = call(state, "stream.page", stream=stream, fault="read")

    assert code(failed) == "read_failed"
    assert call(failed.state, "stream.page", stream=stream).outcome == Ended()

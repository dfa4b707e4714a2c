"""Transactions: everything or nothing, publication with the commit, and what a rollback does not take back."""

from collections.abc import Sequence

import pytest

from tenure_model.semantics.journal.answers import UserFailure, WouldHang
from tenure_model.semantics.journal.state import JournalState
from tenure_model.semantics.profiles import ORIGINAL
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.journal import Accepted
from tenure_model.vocabulary.journal_errors import JournalUsageError
from tenure_model.vocabulary.outcomes import Transitioned
from tests.semantics.journal.journals import (
    A,
    B,
    after,
    also_opened,
    begun,
    cached,
    call,
    code,
    drained,
    emitted,
    event,
    history,
    memory,
    opened,
    queued,
)
from tests.semantics.worlds import ALICE


def do(operation: str, **arguments: object) -> dict[str, object]:
    """One operation of ``transact``."""
    return {"op": operation, "args": arguments}


def emit(payload: object, **members: object) -> dict[str, object]:
    """One durable unfenced emit of ``transact``."""
    return do("journal.emitDurableUnfenced", input=event(payload, **members))


FAIL = {"op": "fail"}


def test_state_and_entry_together() -> None:
    """A fenced append before the terminal transition commits with it, facts included (JN-086, JN-310)."""
    operations = [
        do("journal.emitDurable", input=event("done"), owner=ALICE),
        do("run.transitionOwned", runId="r", owner=ALICE, toStatus="completed"),
    ]

    step = call(opened(), "journal.transact", ops=operations)

    assert step.outcome == (Accepted(0, 0), Transitioned())
    assert history(step.state) == [(0, 0, '"done"')]
    assert step.state.committed.world.runs["r"].status == "completed"


def test_the_transition_first_loses_the_fence() -> None:
    """The other way round the append is refused, and the transition with it (JN-086)."""
    operations = [
        do("run.transitionOwned", runId="r", owner=ALICE, toStatus="completed"),
        do("journal.emitDurable", input=event("done"), owner=ALICE),
    ]
    state = opened()

    step = call(state, "journal.transact", ops=operations)

    assert code(step) == "fence_lost"
    assert step.state.committed == state.committed


@pytest.mark.parametrize(
    ("last", "expected"),
    [(FAIL, UserFailure), (emit(2, sourceSeq=0), None), (do("journal.flush"), JournalUsageError)],
)
def test_the_first_error_takes_everything_back(last: dict[str, object], expected: type[object] | None) -> None:
    """Rows, publication and memory are as before; the numbers are not (JN-174, JN-312)."""
    state, changes = begun(opened(), "changes.open")

    step = call(state, "journal.transact", ops=[emit(1, sourceSeq=0), last, emit(3)])
    again = call(step.state, "journal.emitDurableUnfenced", input=event(1, sourceSeq=0))

    assert isinstance(step.outcome, expected) if expected is not None else code(step) == "idempotency_conflict"
    assert history(step.state) == []
    assert cached(step.state) == {}
    assert call(step.state, "changes.take", changes=changes).outcome == ()
    assert isinstance(again.outcome, Accepted)
    assert again.outcome.seq == (2 if expected is None else 1)


def test_publication_waits_for_the_outermost_commit() -> None:
    """Inside, an emit has released a savepoint and no more (JN-311)."""
    state, changes = begun(opened(), "changes.open")
    state = emitted(after(state, "session.begin"), 1)
    assert call(state, "changes.take", changes=changes).outcome == ()
    assert cached(state) == {}

    committed = after(state, "session.commit")
    assert memory(committed).published == (("r", 0),)
    assert cached(committed) == {("p", 0): (0, "1", "committed")}


def test_a_caught_inner_failure() -> None:
    """A nested level that rolls back takes its own rows and updates, and keeps its parent's (JN-146, JN-313)."""
    state = emitted(after(opened(), "session.begin"), "outer")
    inner = emitted(after(state, "session.begin"), "inner")
    state = emitted(after(inner, "session.rollback"), "later")
    state = after(state, "session.commit")

    assert history(state) == [(0, 0, '"outer"'), (2, 2, '"later"')]
    assert memory(state).published == (("r", 0), ("r", 2))


def test_nested_transact() -> None:
    """Inside a transaction ``transact`` is a savepoint (JN-313)."""
    state = emitted(after(opened(), "session.begin"), "outer")
    failed = call(state, "journal.transact", ops=[emit("inner"), FAIL])
    passed = call(failed.state, "journal.transact", ops=[emit("kept")])
    state = after(passed.state, "session.commit")

    assert failed.outcome == UserFailure()
    assert history(state) == [(0, 0, '"outer"'), (2, 2, '"kept"')]


def test_a_lossy_entry_outlives_its_transaction() -> None:
    """It is queued whether that commits or not (JN-200, HZ-16)."""
    step = call(opened(), "journal.transact", ops=[do("journal.emitLossy", input=event("sample")), FAIL])

    assert history(drained(step.state)) == [(0, 0, '"sample"')]


def test_a_rolled_back_identity_is_accepted_again() -> None:
    """No phantom duplicate is left, on either channel (JN-312)."""
    state = emitted(after(opened(), "session.begin"), 1, sourceSeq=4)
    state = after(state, "session.rollback")

    assert call(state, "journal.emitDurableUnfenced", input=event(1, sourceSeq=4)).outcome == Accepted(1, 4)
    assert call(state, "journal.emitLossy", input=event(2, sourceSeq=4)).outcome == Accepted(1, 4)


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([], True),
        ([False], True),
        ([False, False], True),
        ([True], False),
        ([False, True], False),
        ([True, False], False),
    ],
)
def test_when_committed(levels: Sequence[bool], expected: bool) -> None:
    """Managed levels accept an update and run it after the outermost commit; raw ones do not; outside it runs at once
    (JN-315).
    """
    state = opened()
    for raw in levels:
        state = after(state, "session.begin", raw=raw)
    step = call(state, "journal.whenCommitted", label="x")
    before = step.state.ran
    state = step.state
    for _ in levels:
        state = after(state, "session.commit")

    assert step.outcome is expected
    assert before == (("x",) if not levels else ())
    assert state.ran == (("x",) if expected else ())


@pytest.mark.parametrize(
    ("levels", "expected"), [([], False), ([False], True), ([True], False), ([True, False], False)]
)
def test_after_commit(levels: Sequence[bool], expected: bool) -> None:
    """Outside a transaction it says no, and runs nothing (JN-145)."""
    state = opened()
    for raw in levels:
        state = after(state, "session.begin", raw=raw)

    assert call(state, "journal.afterCommit", label="x").outcome is expected
    assert isinstance(call(state, "journal.afterCommit").outcome, JournalUsageError)
    assert isinstance(call(state, "journal.whenCommitted", label=1).outcome, JournalUsageError)


def test_updates_run_in_order_and_not_after_a_rollback() -> None:
    """In the order of registration, a failed inner level's left out (JN-146)."""
    state = after(after(opened(), "session.begin"), "journal.afterCommit", label="first")
    state = after(after(state, "session.begin"), "journal.afterCommit", label="lost")
    state = after(after(state, "session.rollback"), "journal.afterCommit", label="second")

    assert after(state, "session.commit").ran == ("first", "second")
    assert after(state, "session.rollback").ran == ()


@pytest.mark.parametrize("levels", [[True], [False, True], [True, False]])
def test_raw_transactions(levels: Sequence[bool]) -> None:
    """What is written in one is durable, unpublished, and unknown to memory; readers find it (JN-179, JN-316)."""
    state = opened()
    for raw in levels:
        state = after(state, "session.begin", raw=raw)
    state = emitted(state, 1)
    for _ in levels:
        state = after(state, "session.commit")

    assert history(state) == [(0, 0, "1")]
    assert (memory(state).published, cached(state)) == ((), {})
    assert call(state, "journal.emitDurableUnfenced", input=event(1, sourceSeq=0)).outcome is not None


def test_a_raw_savepoint_leaves_the_managed_part_alone() -> None:
    """Updates that were registered before a raw savepoint run with the commit (JN-145)."""
    state = emitted(after(opened(), "session.begin"), 1)
    state = emitted(after(state, "session.begin", raw=True), 2)
    state = after(after(state, "session.commit"), "session.commit")

    assert memory(state).published == (("r", 0),)
    assert [seq for seq, _, _ in history(state)] == [0, 1]


def test_one_writer_at_a_time() -> None:
    """Who finds the transaction held is busy, and transact says so in its own way (JN-140, JN-310)."""
    state = after(also_opened(opened(), B), "session.begin")

    assert isinstance(call(state, "session.begin", B).outcome, RunStoreError)
    busy = call(state, "journal.transact", B, ops=[])
    assert (code(busy), str(busy.outcome)) == ("sink_failed", "journal transaction failed")
    assert busy.state is state


@pytest.mark.parametrize("operation", ["session.commit", "session.rollback"])
@pytest.mark.parametrize("session", [A, B])
def test_nothing_to_end(operation: str, session: str) -> None:
    """Only its session ends a transaction."""
    state = opened() if session == A else after(opened(), "session.begin")

    assert isinstance(call(state, operation, session).outcome, RunStoreError)


def test_a_crash_takes_the_transaction_along() -> None:
    """What was not committed never was, whoever crashed with it."""
    state = emitted(after(opened(), "session.begin"), 1)

    for operation in ("session.crash", "system.crash"):
        crashed = after(state, operation)
        assert crashed.transaction is None
        assert history(crashed) == []
        assert crashed.instances == {}
    assert after(state, "session.crash", B).transaction is not None


@pytest.mark.parametrize(
    "operations", [None, {}, [1], [{}], [{"op": 1}], [{"op": "x", "args": 1}], [do("session.begin")]]
)
def test_no_operations(operations: object) -> None:
    """What is no list of operations is a usage error, as is one that would end the transaction."""
    assert isinstance(call(opened(), "journal.transact", ops=operations).outcome, JournalUsageError)


def test_a_wait_inside_hangs() -> None:
    """HZ-33: original never answers a flush that waits for its own transaction."""
    state = queued(opened(ORIGINAL), 1)

    step = call(state, "journal.transact", ops=[emit(1), do("journal.flush")])

    assert step.outcome == WouldHang()
    assert step.state is state


def test_another_session_reads_on() -> None:
    """Beside an open transaction others read what is committed, and admit to their queues (JN-190, JN-193)."""
    state: JournalState = emitted(after(also_opened(opened(), B), "session.begin"), 1)

    assert call(state, "journal.emitLossy", B, input=event(2)).outcome == Accepted(0, 0)

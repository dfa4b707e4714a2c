"""Checkpoints: where one may stand, and in what order it is refused."""

import pytest

from tenure_model.vocabulary.journal import Checkpoint
from tests.semantics.journal.journals import (
    A,
    B,
    after,
    also_opened,
    call,
    code,
    compacted,
    emitted,
    opened,
    world,
)
from tests.semantics.worlds import ALICE, BOB, T


def test_a_checkpoint() -> None:
    """The answer is what is stored, decoded: key order kept, nothing redacted, no alias of the caller's value
    (JN-272).
    """
    given = {"b": float("nan"), "a": {"apiKey": "k"}}

    step = call(emitted(opened(), 1), "journal.checkpoint", A, T + 0.5, runId="r", seq=0, state=given, owner=ALICE)

    assert step.outcome == Checkpoint("r", 0, {"b": None, "a": {"apiKey": "k"}}, T, None)
    assert step.state.committed.journal.checkpoints["r"][0].state_json == '{"b":null,"a":{"apiKey":"k"}}'


def test_the_last_writer_wins() -> None:
    """A second checkpoint at the same entry replaces state and time (JN-272)."""
    state = after(emitted(opened(), 1), "journal.checkpoint", runId="r", seq=0, state=1, owner=ALICE)
    state = after(state, "journal.checkpoint", A, T + 9, runId="r", seq=0, state=2, owner=ALICE)

    assert call(state, "journal.latestCheckpoint", runId="r").outcome == Checkpoint("r", 0, 2, T + 9, None)


@pytest.mark.parametrize(
    ("changed", "expected", "text"),
    [
        ({"owner": None, "seq": -1}, "invalid_event", "checkpoint requires a well-formed owner fence"),
        ({"seq": -1, "owner": BOB}, "invalid_event", "checkpoint options violate the journal contract"),
        ({"runId": ""}, "invalid_event", "checkpoint options violate the journal contract"),
        ({"state": object(), "owner": BOB}, "invalid_event", "state must be JSON-serializable"),
        ({"owner": BOB, "seq": 9}, "fence_lost", "run r is no longer owned by h1:2:b"),
        ({"seq": 9}, "checkpoint_invalid", "checkpoint sequence 9 names no committed entry of run r"),
        ({"seq": 1}, "checkpoint_invalid", "checkpoint sequence 1 names no committed entry of run r"),
        ({"seq": 2}, "checkpoint_invalid", "run r is already compacted through sequence 2"),
    ],
)
def test_refusals_in_order(changed: dict[str, object], expected: str, text: str) -> None:
    """Each refusal comes before the next, and changes nothing; only the floor itself is named (JN-270, JN-271)."""
    state = compacted(emitted(opened(), *range(4)), 2)

    step = call(state, "journal.checkpoint", **{"runId": "r", "seq": 3, "state": 1, "owner": ALICE, **changed})

    assert (code(step), str(step.outcome)) == (expected, text)
    assert step.state is state
    assert (getattr(step.outcome, "checkpoint_seq", None) == 2) == (changed == {"seq": 2})


def test_a_missing_state() -> None:
    """A state that is not supplied is no null."""
    state = emitted(opened(), 1)

    assert code(call(state, "journal.checkpoint", runId="r", seq=0, owner=ALICE)) == "invalid_event"
    assert call(state, "journal.checkpoint", runId="r", seq=0, state=None, owner=ALICE).outcome is not None


@pytest.mark.parametrize("clock_ms", [-1, 2**53, float("nan"), float("inf")])
def test_a_time_that_no_column_takes(clock_ms: float) -> None:
    """The write fails, and nothing is written (JN-007)."""
    step = call(emitted(opened(), 1), "journal.checkpoint", A, clock_ms, runId="r", seq=0, state=1, owner=ALICE)

    assert (code(step), str(step.outcome)) == ("sink_failed", "durable checkpoint write failed")


def test_inside_a_transaction() -> None:
    """It is a savepoint, and goes with the transaction (JN-274)."""
    state = after(emitted(opened(), 1), "session.begin")
    state = after(state, "journal.checkpoint", runId="r", seq=0, state=1, owner=ALICE)

    assert call(after(state, "session.commit"), "journal.latestCheckpoint", runId="r").outcome is not None
    assert call(after(state, "session.rollback"), "journal.latestCheckpoint", runId="r").outcome is None


def test_another_process_is_busy() -> None:
    """While another session holds the transaction a checkpoint fails, but bad options are told first (RS-390)."""
    state = after(also_opened(emitted(opened(), 1), B), "session.begin", B)

    assert code(call(state, "journal.checkpoint", runId="r", seq=0, state=1, owner=ALICE)) == "sink_failed"
    assert code(call(state, "journal.checkpoint", runId="r", seq=-1, state=1, owner=ALICE)) == "invalid_event"


def test_without_a_journal() -> None:
    """A session without a journal cannot checkpoint (JN-420)."""
    assert code(call(world(), "journal.checkpoint", owner=ALICE)) == "journal_closed"

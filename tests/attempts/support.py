"""Attempts to put, the columns that are stored of them, and the states of a run that fence writes off."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest

import tenure
from tenure.database.engine import SqlRow
from tests.runs.support import NOW, STALE, TRANSITIONED, A, B, World, evidence
from tests.worlds import raised

KEY = tenure.AttemptId("r", "step", 0)
PLAIN = tenure.Attempt("r", "step", 0, "running", 10, {"n": 1})
FULL = attrs.evolve(
    PLAIN,
    finished_at_ms=20,
    heartbeat_at_ms=15,
    checkpoint=[1, "two", None],
    error={"why": "none"},
    outcome={"ok": True, "parts": [1, 2]},
)
FULL_JSON = ('[1,"two",null]', '{"why":"none"}', '{"ok":true,"parts":[1,2]}', '{"n":1}')
"""What is stored of the JSON of ``FULL``: checkpoint, error, outcome, meta."""

DONE = tenure.FinishAttempt("r", "step", 0, "done", 30)

INSERTED = tenure.Inserted()
UPSERTED = tenure.Upserted()
EXISTING_SAME = tenure.ExistingSame()
CONFLICT = tenure.Conflict()
RUN_NOT_FOUND = tenure.RunNotFound()
FINISHED = tenure.Finished()
PATCHED = tenure.Patched()
STATE_CHANGED = tenure.StateChanged()


def like(base: tenure.Attempt, /, **changes: Any) -> tenure.Attempt:
    """``base`` with some fields changed."""
    return attrs.evolve(base, **changes)


def ended(**changes: Any) -> tenure.FinishAttempt:
    """``DONE`` with some fields changed."""
    return attrs.evolve(DONE, **changes)


def stored(world: World, step_key_digest: str = "step", attempt: int = 0) -> SqlRow | None:
    """The columns of an attempt of ``r`` after its key, as they are in the database."""
    rows = world.store.database.read(
        "SELECT state, started_at_ms, finished_at_ms, heartbeat_at_ms, checkpoint_json, error_json, outcome_json,"
        " meta_json FROM flows_attempts WHERE run_id = 'r' AND step_key_digest = ? AND attempt = ?",
        (step_key_digest, attempt),
    )
    return rows[0] if rows else None


def beat(
    world: World,
    owner: tenure.OwnerId = A,
    now_ms: int = NOW,
    checkpoint: object = tenure.ABSENT,
    key: tenure.AttemptId = KEY,
) -> tenure.AttemptHeartbeatResult:
    """One heartbeat of an attempt, that of ``KEY`` unless told otherwise."""
    heartbeat: Callable[..., tenure.AttemptHeartbeatResult] = world.store.attempts.heartbeat
    return heartbeat(key.run_id, key.step_key_digest, key.attempt, owner, now_ms, checkpoint)


def refused(call: Callable[[], object]) -> tenure.AttemptStoreError:
    """The error that a call raises."""
    return raised(tenure.AttemptStoreError, call)


def corrupted(world: World, change: str) -> None:
    """An attempt with every field, and one thing wrong with its row."""
    assert world.store.attempts.put(FULL, A) == INSERTED
    world.corrupt(f"UPDATE flows_attempts SET {change}")


def lose_ownership(world: World, how: str) -> None:
    """End ``A``'s ownership of ``r`` in one of the ways that a run has."""
    if how == "taken over":
        world.clock.ms = NOW + STALE + 1
        later = NOW + STALE + 1
        assert world.runs.claim_and_own("r", world.row(), B, later, evidence(A, later)) == tenure.Activated()
    elif how == "row says another":
        world.sql("UPDATE flows_runs SET owner_nonce = 'z'")
    else:
        assert world.runs.transition_owned("r", A, how) == TRANSITIONED  # type: ignore[arg-type]  # a status
    world.recorder.drain()


LOSSES = pytest.mark.parametrize(
    "how", ["suspended", "completed", "failed", "cancelled", "taken over", "row says another"]
)
"""Every way in which a run stops being one's own."""

LEASES = pytest.mark.parametrize(
    "lease", ["DELETE FROM flows_consensus_leases", "UPDATE flows_consensus_leases SET owner_nonce = 'z'"]
)
"""What only the lease would refuse."""

STRANGERS = (B, tenure.OwnerId("h1", 1, "a2"), tenure.OwnerId("h1", 9, "a"), tenure.OwnerId("h9", 1, "a"))
"""Identities that differ from ``A`` in one field at least."""

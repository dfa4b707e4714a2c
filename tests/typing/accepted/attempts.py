# pyright: strict
"""Every operation on attempts; ``None`` is a value of JSON, and ``ABSENT`` is none."""

from typing import assert_never, assert_type

import tenure


def operations(attempts: tenure.AttemptStore, me: tenure.OwnerId, now_ms: int) -> None:
    """All five, and what they answer."""
    attempt = tenure.Attempt("r", "s", 1, "running", now_ms, {"worker": 3}, checkpoint=None)
    assert_type(attempts.options, tenure.AttemptOptions)
    assert_type(attempts.put(attempt, me), tenure.PutResult)
    assert_type(attempts.get(tenure.AttemptId("r", "s", 1)), tenure.Attempt | None)
    assert_type(attempts.get(attempt), tenure.Attempt | None)
    assert_type(attempts.heartbeat("r", "s", 1, me, now_ms), tenure.AttemptHeartbeatResult)
    assert_type(attempts.heartbeat("r", "s", 1, me, now_ms, None), tenure.AttemptHeartbeatResult)
    assert_type(attempts.heartbeat("r", "s", 1, me, now_ms, {"at": [1, None]}), tenure.AttemptHeartbeatResult)
    assert_type(attempts.heartbeat("r", "s", 1, me, now_ms, tenure.ABSENT), tenure.AttemptHeartbeatResult)
    finish = tenure.FinishAttempt("r", "s", 1, "succeeded", now_ms, outcome=None)
    assert_type(attempts.finish(finish, me), tenure.FinishResult)
    assert_type(attempts.patch(attempt, tenure.AttemptPatch(meta=[]), me), tenure.PatchResult)


def recorded(attempt: tenure.Attempt) -> int:
    """What may be absent is asked for first."""
    return attempt.started_at_ms if attempt.finished_at_ms is tenure.ABSENT else attempt.finished_at_ms


def put(attempts: tenure.AttemptStore, attempt: tenure.Attempt, me: tenure.OwnerId) -> bool:
    """Every answer by name."""
    result = attempts.put(attempt, me)
    match result:
        case tenure.Inserted() | tenure.Upserted() | tenure.ExistingSame():
            return True
        case tenure.Conflict() | tenure.FenceLost() | tenure.RunNotFound():
            return False
        case _:
            assert_never(result)

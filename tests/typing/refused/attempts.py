# pyright: strict
"""Callers of the attempt store that are wrong, each in one line."""

from typing import assert_never

import tenure


def forgets(attempts: tenure.AttemptStore, attempt: tenure.FinishAttempt, me: tenure.OwnerId) -> bool:
    """A match without one of the answers."""
    result = attempts.finish(attempt, me)
    match result:
        case tenure.Finished():
            return True
        case tenure.NotFound() | tenure.FenceLost():
            return False
        case _:
            assert_never(result)  # E: arg-type, reportArgumentType


def none_is_not_absent(now_ms: int) -> None:
    """A time is there or it is not; only JSON has a null."""
    tenure.Attempt("r", "s", 1, "running", now_ms, {}, finished_at_ms=None)  # E: arg-type, reportArgumentType
    tenure.AttemptOptions(max_checkpoint_bytes=None)  # E: arg-type, reportArgumentType


def wrong_arguments(attempts: tenure.AttemptStore, me: tenure.OwnerId, now_ms: int) -> None:
    """Types, order and number."""
    attempts.get("r")  # E: arg-type, reportArgumentType
    attempts.heartbeat("r", "s", "1", me, now_ms)  # E: arg-type, reportArgumentType
    attempts.heartbeat("r", "s", 1, me, now_ms, {1: 2})  # E: dict-item, reportArgumentType
    attempts.put(tenure.AttemptId("r", "s", 1), me)  # E: arg-type, reportArgumentType
    attempts.patch(tenure.AttemptId("r", "s", 1), {}, me)  # E: arg-type, reportArgumentType
    tenure.AttemptOptions(put_mode="replace")  # E: arg-type, reportArgumentType


def takes_it_for_there(attempts: tenure.AttemptStore) -> str:
    """What was not recorded is ``None``."""
    return attempts.get(tenure.AttemptId("r", "s", 1)).state  # E: union-attr, reportOptionalMemberAccess


def takes_absent_for_a_time(attempt: tenure.Attempt) -> int:
    """What may be absent is asked for first."""
    return attempt.finished_at_ms  # E: return-value, reportReturnType

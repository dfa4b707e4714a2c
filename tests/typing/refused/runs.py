# pyright: strict
"""Callers of the run store that are wrong, each in one line."""

from typing import assert_never

import tenure


def forgets(runs: tenure.RunStore, me: tenure.OwnerId, now_ms: int) -> str:
    """A match without one of the answers."""
    outcome = runs.claim_and_own("r", tenure.PENDING, me, now_ms)
    match outcome:
        case tenure.Activated():
            return "mine"
        case tenure.AlreadyClaimed() | tenure.HeartbeatFresh() | tenure.SnapshotChanged() | tenure.NotFound():
            return "lost"
        case _:
            assert_never(outcome)  # E: arg-type, reportArgumentType


def forgets_again(runs: tenure.RunStore, me: tenure.OwnerId, now_ms: int) -> str:  # E: return, reportReturnType
    """The same without a last resort: then the function has an end that returns nothing."""
    match runs.heartbeat("r", me, now_ms):  # E: reportMatchNotExhaustive
        case tenure.Updated():
            return "mine"
        case tenure.FenceLost():
            return "lost"


def goes_on(runs: tenure.RunStore, me: tenure.OwnerId, row: tenure.RunRow, now_ms: int) -> None:
    """A token is in one answer only."""
    outcome = runs.claim("r", row, me, now_ms)
    assert outcome.claimed_at_ms  # E: union-attr, reportAttributeAccessIssue, reportUnknownMemberType
    runs.activate("r", me, outcome, row)  # E: arg-type, reportArgumentType


def confuses_answers(runs: tenure.RunStore, me: tenure.OwnerId, now_ms: int) -> bool:
    """An answer that the operation does not have, and a loss that is taken for a truth value's opposite."""
    match runs.heartbeat("r", me, now_ms):
        case tenure.Claimed():  # E: reportUnnecessaryComparison
            return True
        case _:
            pass
    return runs.heartbeat("r", me, now_ms)  # E: return-value, reportReturnType


def wrong_arguments(runs: tenure.RunStore, me: tenure.OwnerId, row: tenure.RunRow, now_ms: int) -> None:
    """Types, order and number."""
    runs.create("r", {"step": 1})  # E: arg-type, reportArgumentType
    runs.get(3)  # E: arg-type, reportArgumentType
    runs.claim("r", "pending", me, now_ms)  # E: arg-type, reportArgumentType
    runs.claim("r", row, now_ms, me)  # E: arg-type, reportArgumentType
    runs.heartbeat("r", me)  # E: call-arg, reportCallIssue
    runs.heartbeat("r", me, 1.5)  # E: arg-type, reportArgumentType
    runs.heartbeat("r", ("h", 1, "n"), now_ms)  # E: arg-type, reportArgumentType
    runs.transition_owned("r", me, "pending")  # E: arg-type, reportArgumentType
    runs.transition_owned("r", me, "completed", guard="absent")  # E: arg-type, reportArgumentType
    tenure.LivenessEvidence(me, now_ms, "dead")  # E: arg-type, reportArgumentType
    tenure.TransitionGuard(cancel_requested="maybe")  # E: arg-type, reportArgumentType


def none_is_not_absent(runs: tenure.RunStore, me: tenure.OwnerId, row: tenure.RunRow, now_ms: int) -> None:
    """Where nothing can be said by leaving it out, ``None`` is not how to say it."""
    runs.claim_and_own("r", row, me, now_ms, None)  # E: arg-type, reportArgumentType
    runs.transition_owned("r", me, "completed", None)  # E: arg-type, reportArgumentType
    runs.transition_owned("r", me, "completed", guard=None)  # E: arg-type, reportArgumentType
    runs.steal("r", row, me, now_ms, tenure.ABSENT)  # E: arg-type, reportArgumentType


def probe_that_found_nothing(runs: tenure.RunStore, me: tenure.OwnerId, row: tenure.RunRow, now_ms: int) -> None:
    """A probe that does not see a death answers no evidence, and that cannot be presented."""
    assert row.owner is not None
    evidence = tenure.same_host_pid_dead()(row.owner, me, now_ms)
    runs.steal("r", row, me, now_ms, evidence)  # E: arg-type, reportArgumentType


def frozen(row: tenure.RunRow) -> None:
    """What was read is not changed in place."""
    row.status = "completed"  # E: misc, reportAttributeAccessIssue

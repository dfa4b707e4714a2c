"""A caller that handles every outcome: the type checker accepts it, in strict mode."""

from typing import assert_never

import tenure


def take(runs: tenure.RunStore, run_id: str, owner: tenure.OwnerId, now_ms: int) -> tuple[tenure.OwnerId, int] | None:
    """The handle to work with, or none."""
    outcome = runs.claim(run_id, tenure.PENDING, owner, now_ms)
    match outcome:
        case tenure.Claimed(claimed_at_ms):
            return owner, claimed_at_ms
        case tenure.AlreadyClaimed() | tenure.HeartbeatFresh() | tenure.SnapshotChanged() | tenure.NotFound():
            return None
        case _:
            assert_never(outcome)


def recover(runs: tenure.RunStore, run_id: str, dead: tenure.OwnerId, token: int, me: tenure.OwnerId) -> str:
    """Every outcome of a recovery by name."""
    outcome = runs.recover_claim(run_id, dead, token, me, token, tenure.LivenessEvidence(dead, token, "lease-expired"))
    match outcome:
        case tenure.Recovered():
            return "recovered"
        case tenure.ClaimChanged() | tenure.ClaimFresh():
            return "later"
        case tenure.LivenessUnconfirmed() | tenure.NotFound():
            return "never"
        case _:
            assert_never(outcome)


def settle(runs: tenure.RunStore, run_id: str, owner: tenure.OwnerId) -> bool:
    """Whether the work counts."""
    outcome = runs.transition_owned(run_id, owner, "completed")
    if isinstance(outcome, tenure.Transitioned):
        return True
    if isinstance(outcome, tenure.FenceLost | tenure.NotFound | tenure.GuardFailed):
        return False
    assert_never(outcome)

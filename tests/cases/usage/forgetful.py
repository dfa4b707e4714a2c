"""A caller that goes on after a loss: the type checker refuses every line that is marked with the code of its error."""

from typing import assert_never

import tenure


def take(runs: tenure.RunStore, run_id: str, owner: tenure.OwnerId, now_ms: int) -> int | None:
    """Forgets one outcome."""
    outcome = runs.claim(run_id, tenure.PENDING, owner, now_ms)
    match outcome:
        case tenure.Claimed(claimed_at_ms):
            return claimed_at_ms
        case tenure.AlreadyClaimed() | tenure.HeartbeatFresh() | tenure.NotFound():
            return None
        case _:
            assert_never(outcome)  # E: arg-type


def activate(runs: tenure.RunStore, run_id: str, owner: tenure.OwnerId, row: tenure.RunRow) -> None:
    """Falls through with whatever the claim answered."""
    outcome = runs.steal(run_id, row, owner, 1, tenure.LivenessEvidence(owner, 1, "lease-expired"))
    runs.activate(run_id, owner, outcome.claimed_at_ms, row)  # E: union-attr


def settle(runs: tenure.RunStore, run_id: str, owner: tenure.OwnerId) -> None:
    """Settles to what is no target."""
    runs.transition_owned(run_id, owner, "pending")  # E: arg-type


def recover(runs: tenure.RunStore, run_id: str, me: tenure.OwnerId, token: int) -> tenure.Activated:
    """Takes a recovery for ownership."""
    return runs.recover_claim(  # E: return-value
        run_id, me, token, me, token, tenure.LivenessEvidence(me, token, "lease-expired")
    )

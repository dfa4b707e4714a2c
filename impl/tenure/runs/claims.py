"""``claim``, ``activate`` and ``abandonClaim``: two steps to ownership, and the way back (RS-450..RS-480)."""

from tenure.consensus.strategy import Rejected
from tenure.database.engine import SqlValue
from tenure.database.writer import Withdrawn
from tenure.runs import statements
from tenure.runs.context import RunContext
from tenure.runs.failures import invalid
from tenure.runs.losses import classify_loss
from tenure_model.admission.integers import admit_lease_reading, admit_timestamp
from tenure_model.admission.records import admit_owner, admit_run_id, admit_snapshot
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.outcomes import (
    AbandonClaimOutcome,
    Abandoned,
    Activated,
    ActivateOutcome,
    Claimed,
    ClaimLost,
    ClaimOutcome,
    SnapshotChanged,
)
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunSnapshot


def claim(context: RunContext, run_id: object, expected: object, claimant: object, now_ms: object) -> ClaimOutcome:
    """Take the claim slot of a pending or suspended run (RS-450..RS-455)."""
    admitted_id = admit_run_id(run_id)
    if type(admitted_id) is Refusal:
        raise invalid("claim", admitted_id)
    snapshot = admit_snapshot(expected)
    if type(snapshot) is Refusal:
        raise invalid("claim", snapshot)
    who = admit_owner(claimant, "claimant")
    if type(who) is Refusal:
        raise invalid("claim", who)
    now = admit_lease_reading(now_ms, context.now(), admitted_id)
    if type(now) is Refusal:
        raise invalid("claim", now)
    return context.write("claim", _claim, admitted_id, snapshot, who, now)


def _claim(context: RunContext, run_id: str, expected: RunSnapshot, claimant: OwnerId, now_ms: int) -> ClaimOutcome:
    if not context.rows(
        statements.CLAIM,
        (run_id, claimant.host_id, claimant.pid, claimant.nonce, now_ms, *snapshot_values(expected)),
    ):
        return classify_loss(context, run_id, now_ms)
    if isinstance(context.consensus.claim(run_id, claimant, now_ms), Rejected):
        # Of an admitted row, RS-456 leaves no other answer (RS-453).
        raise Withdrawn(SnapshotChanged())
    context.record(run_id, "claimed", claimant, now_ms)
    return Claimed(now_ms)


def activate(
    context: RunContext, run_id: object, claimant: object, claimed_at_ms: object, expected: object
) -> ActivateOutcome:
    """Turn one's claim into ownership, if the run is still what one expects (RS-470..RS-475)."""
    admitted_id = admit_run_id(run_id)
    if type(admitted_id) is Refusal:
        raise invalid("activate", admitted_id)
    who = admit_owner(claimant, "claimant")
    if type(who) is Refusal:
        raise invalid("activate", who)
    token = admit_timestamp(claimed_at_ms, "claimedAtMs")
    if type(token) is Refusal:
        raise invalid("activate", token)
    snapshot = admit_snapshot(expected)
    if type(snapshot) is Refusal:
        raise invalid("activate", snapshot)
    return context.write("activate", _activate, admitted_id, who, token, snapshot, context.now())


def _activate(
    context: RunContext, run_id: str, claimant: OwnerId, token: int, expected: RunSnapshot, now_ms: int
) -> ActivateOutcome:
    # The row is read before the lease is asked, because a lease that refuses still costs the row its claim (RS-473):
    # writing the row first would have to be undone and done differently.
    claim = (run_id, claimant.host_id, claimant.pid, claimant.nonce, token)
    rows = context.rows(statements.CLAIM_AGAINST, (*claim, *snapshot_values(expected)))
    if not rows:
        return ClaimLost()
    if not rows[0][0]:
        context.consensus.release_claim(run_id, claimant)
        context.record(run_id, "released", claimant, token)
        context.rows(statements.CLEAR_CLAIM, claim)
        return SnapshotChanged()
    if not context.consensus.activate(run_id, claimant, token, now_ms):
        context.rows(statements.CLEAR_CLAIM, claim)
        return ClaimLost()
    context.rows(statements.ACTIVATE, (*claim, now_ms))
    context.record(run_id, "activated", claimant, token)
    return Activated()


def abandon_claim(context: RunContext, run_id: object, claimant: object, claimed_at_ms: object) -> AbandonClaimOutcome:
    """Give one's claim back (RS-480)."""
    admitted_id = admit_run_id(run_id)
    if type(admitted_id) is Refusal:
        raise invalid("abandonClaim", admitted_id)
    who = admit_owner(claimant, "claimant")
    if type(who) is Refusal:
        raise invalid("abandonClaim", who)
    token = admit_timestamp(claimed_at_ms, "claimedAtMs")
    if type(token) is Refusal:
        raise invalid("abandonClaim", token)
    return context.write("abandonClaim", _abandon_claim, admitted_id, who, token)


def _abandon_claim(context: RunContext, run_id: str, claimant: OwnerId, token: int) -> AbandonClaimOutcome:
    if not context.rows(statements.CLEAR_CLAIM, (run_id, claimant.host_id, claimant.pid, claimant.nonce, token)):
        return ClaimLost()
    context.consensus.release_claim(run_id, claimant)
    context.record(run_id, "released", claimant, token)
    return Abandoned()


def snapshot_values(expected: RunSnapshot) -> tuple[SqlValue, SqlValue, SqlValue, SqlValue, SqlValue]:
    """The five values that a row is compared with (RS-004)."""
    owner = expected.owner
    if owner is None:
        return expected.status, None, None, None, expected.heartbeat_at_ms
    return expected.status, owner.host_id, owner.pid, owner.nonce, expected.heartbeat_at_ms

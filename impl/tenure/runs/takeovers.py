"""``steal`` and ``recoverClaim``: what others may do with evidence of a death (RS-485, RS-486, RS-510..RS-513)."""

from tenure.consensus.strategy import Rejected
from tenure.database.writer import Withdrawn
from tenure.predicates import matches_evidence
from tenure.runs import statements
from tenure.runs.claims import snapshot_values
from tenure.runs.context import RunContext
from tenure.runs.failures import invalid
from tenure.runs.losses import classify_loss
from tenure_model.admission.integers import admit_lease_reading, admit_timestamp
from tenure_model.admission.records import admit_evidence, admit_owner, admit_run_id, admit_snapshot
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.outcomes import (
    ClaimChanged,
    Claimed,
    ClaimFresh,
    LivenessUnconfirmed,
    NotFound,
    RecoverClaimOutcome,
    Recovered,
    SnapshotChanged,
    StealOutcome,
)
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunSnapshot


def steal(
    context: RunContext, run_id: object, expected: object, claimant: object, now_ms: object, evidence: object
) -> StealOutcome:
    """Take the claim slot of another's stale run; its owner keeps the fence until activation (RS-510..RS-513)."""
    admitted_id = admit_run_id(run_id)
    if type(admitted_id) is Refusal:
        raise invalid("steal", admitted_id)
    snapshot = admit_snapshot(expected)
    if type(snapshot) is Refusal:
        raise invalid("steal", snapshot)
    who = admit_owner(claimant, "claimant")
    if type(who) is Refusal:
        raise invalid("steal", who)
    now = admit_lease_reading(now_ms, context.now(), admitted_id)
    if type(now) is Refusal:
        raise invalid("steal", now)
    proof = admit_evidence(evidence)
    if type(proof) is Refusal:
        raise invalid("steal", proof)
    # Only a running snapshot has an owner (RS-310).
    if snapshot.owner is None or not matches_evidence(snapshot.owner, who, now, proof):
        return LivenessUnconfirmed()
    return context.write("steal", _steal, admitted_id, snapshot, who, now, proof)


def _steal(
    context: RunContext, run_id: str, expected: RunSnapshot, claimant: OwnerId, now_ms: int, evidence: LivenessEvidence
) -> StealOutcome:
    if not context.rows(
        statements.STEAL,
        (run_id, claimant.host_id, claimant.pid, claimant.nonce, now_ms, *snapshot_values(expected)),
    ):
        return classify_loss(context, run_id, now_ms)
    if isinstance(context.consensus.steal(run_id, claimant, now_ms, evidence), Rejected):
        raise Withdrawn(SnapshotChanged())
    context.record(run_id, "stolen", claimant, now_ms)
    return Claimed(now_ms)


def recover_claim(
    context: RunContext,
    run_id: object,
    stale_claimant: object,
    claimed_at_ms: object,
    observer: object,
    now_ms: object,
    evidence: object,
) -> RecoverClaimOutcome:
    """Clear the stale claim of a dead claimant (RS-485, RS-486)."""
    method = "recoverClaim"
    admitted_id = admit_run_id(run_id)
    if type(admitted_id) is Refusal:
        raise invalid(method, admitted_id)
    stale = admit_owner(stale_claimant, "staleClaimant")
    if type(stale) is Refusal:
        raise invalid(method, stale)
    token = admit_timestamp(claimed_at_ms, "claimedAtMs")
    if type(token) is Refusal:
        raise invalid(method, token)
    who = admit_owner(observer, "observer")
    if type(who) is Refusal:
        raise invalid(method, who)
    now = admit_lease_reading(now_ms, context.now(), admitted_id, claimed_at_ms=token)
    if type(now) is Refusal:
        raise invalid(method, now)
    proof = admit_evidence(evidence)
    if type(proof) is Refusal:
        raise invalid(method, proof)
    if not matches_evidence(stale, who, now, proof):
        return LivenessUnconfirmed()
    return context.write(method, _recover_claim, admitted_id, stale, token, who, now, proof)


def _recover_claim(
    context: RunContext,
    run_id: str,
    stale_claimant: OwnerId,
    token: int,
    observer: OwnerId,
    now_ms: int,
    evidence: LivenessEvidence,
) -> RecoverClaimOutcome:
    claim = (run_id, stale_claimant.host_id, stale_claimant.pid, stale_claimant.nonce, token)
    if not context.rows(statements.RECOVER_CLAIM, (*claim, now_ms)):
        rows = context.rows(statements.CLAIM_STANDS, claim)
        if not rows:
            return NotFound()
        return ClaimFresh() if rows[0][0] else ClaimChanged()
    if context.consensus.recover(run_id, stale_claimant, token, observer, now_ms, evidence) is not None:
        raise Withdrawn(ClaimChanged())
    context.record(run_id, "expired", stale_claimant, token)
    return Recovered()

"""``claimAndOwn``: claim and activation as one decision (RS-460..RS-466)."""

from tenure.database.writer import Withdrawn
from tenure.predicates import matches_evidence, same_owner
from tenure.runs import statements
from tenure.runs.claims import snapshot_values
from tenure.runs.context import RunContext
from tenure.runs.failures import invalid
from tenure.runs.losses import classify_loss, loss_of
from tenure_model.admission.integers import admit_lease_reading
from tenure_model.admission.records import admit_evidence, admit_owner, admit_run_id, admit_snapshot
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.outcomes import Activated, ClaimAndOwnOutcome, EvidenceRequired, SnapshotChanged
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunSnapshot

METHOD = "claimAndOwn"


def claim_and_own(
    context: RunContext, run_id: object, expected: object, owner: object, now_ms: object, evidence: object
) -> ClaimAndOwnOutcome:
    """Own a pending or suspended run, one's own stale run, or with evidence another's stale run (RS-460..RS-466)."""
    admitted_id = admit_run_id(run_id)
    if type(admitted_id) is Refusal:
        raise invalid(METHOD, admitted_id)
    snapshot = admit_snapshot(expected)
    if type(snapshot) is Refusal:
        raise invalid(METHOD, snapshot)
    who = admit_owner(owner, "owner")
    if type(who) is Refusal:
        raise invalid(METHOD, who)
    now = admit_lease_reading(now_ms, context.now(), admitted_id)
    if type(now) is Refusal:
        raise invalid(METHOD, now)
    proof = None if evidence is ABSENT else admit_evidence(evidence)
    if type(proof) is Refusal:
        raise invalid(METHOD, proof)
    previous = snapshot.owner
    if previous is None:
        return context.write(METHOD, _own_unowned, admitted_id, snapshot, who, now)
    if same_owner(previous, who):
        return context.write(METHOD, _own_again, admitted_id, snapshot, who, now)
    if proof is None or not matches_evidence(previous, who, now, proof):
        return _unproven(context, admitted_id, snapshot, now)
    return context.write(METHOD, _own_anothers, admitted_id, snapshot, who, now, proof)


def _unproven(context: RunContext, run_id: str, expected: RunSnapshot, now_ms: int) -> ClaimAndOwnOutcome:
    """Evidence is asked for only where nothing else stands in the way (RS-461). Reads, outside a transaction."""
    rows = context.read(METHOD, run_id, statements.LOSS_AGAINST, (run_id, now_ms, *snapshot_values(expected)))
    loss = loss_of(rows)
    if isinstance(loss, SnapshotChanged) and rows[0][2]:
        return EvidenceRequired()
    return loss


def _own_unowned(
    context: RunContext, run_id: str, expected: RunSnapshot, owner: OwnerId, now_ms: int
) -> ClaimAndOwnOutcome:
    if not _own_row(context, run_id, expected, owner, now_ms):
        return classify_loss(context, run_id, now_ms)
    if not context.consensus.take(run_id, owner, now_ms):
        raise Withdrawn(SnapshotChanged())
    if context.recorder is not None:
        context.record(run_id, "claimed", owner, now_ms)
        context.record(run_id, "activated", owner, now_ms)
    return Activated()


def _own_again(
    context: RunContext, run_id: str, expected: RunSnapshot, owner: OwnerId, now_ms: int
) -> ClaimAndOwnOutcome:
    if not _own_row(context, run_id, expected, owner, now_ms):
        return classify_loss(context, run_id, now_ms)
    if not context.consensus.retake(run_id, owner, now_ms):
        # The release goes with the rest: a refusal records nothing.
        raise Withdrawn(SnapshotChanged())
    context.record(run_id, "released", owner, None)
    context.record(run_id, "claimed", owner, now_ms)
    context.record(run_id, "activated", owner, now_ms)
    return Activated()


def _own_anothers(
    context: RunContext, run_id: str, expected: RunSnapshot, owner: OwnerId, now_ms: int, evidence: LivenessEvidence
) -> ClaimAndOwnOutcome:
    if not _own_row(context, run_id, expected, owner, now_ms):
        return classify_loss(context, run_id, now_ms)
    if not context.consensus.seize(run_id, owner, now_ms, evidence):
        raise Withdrawn(SnapshotChanged())
    context.record(run_id, "stolen", owner, now_ms)
    context.record(run_id, "activated", owner, now_ms)
    return Activated()


def _own_row(context: RunContext, run_id: str, expected: RunSnapshot, owner: OwnerId, now_ms: int) -> bool:
    return bool(
        context.rows(
            statements.CLAIM_AND_OWN,
            (run_id, owner.host_id, owner.pid, owner.nonce, now_ms, *snapshot_values(expected)),
        )
    )

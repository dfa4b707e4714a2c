"""``steal``: put a claim on a stale running run, beside its owner, who keeps the fence until activation."""

import attrs

from tenure_model.admission.integers import admit_lease_reading
from tenure_model.admission.records import admit_evidence, admit_owner, admit_run_id, admit_snapshot
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics import facts, lease, revisions
from tenure_model.semantics.predicates import claim_free, is_stale, matches_evidence, row_is
from tenure_model.semantics.runs.losses import classify_loss
from tenure_model.semantics.steps import Step, answered, committed, refused, unchanged
from tenure_model.semantics.world import Claim, World
from tenure_model.vocabulary.outcomes import Claimed, LivenessUnconfirmed


def steal(
    world: World,
    clock_ms: int,
    run_id: object,
    expected: object,
    claimant: object,
    now_ms: object,
    evidence: object,
) -> Step:
    """Claim a running row that is exactly as expected, unclaimed and stale, with evidence about its owner.

    Admits run id, snapshot, claimant, lease reading, evidence, in that order (RS-510). A snapshot that is not running,
    or evidence that does not match its owner, is ``LivenessUnconfirmed`` before anything is read (RS-511). Not
    admitted, or refused by the lease: the loss by RS-456. Else ``Claimed`` and one ``stolen`` fact; status, owner and
    heartbeat stay (RS-512). An owner may steal its own stale run (RS-513).
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, "steal", run_id)
    if isinstance(expected := admit_snapshot(expected), Refusal):
        return refused(world, "steal", expected)
    if isinstance(claimant := admit_owner(claimant, "claimant"), Refusal):
        return refused(world, "steal", claimant)
    if isinstance(now_ms := admit_lease_reading(now_ms, clock_ms, run_id), Refusal):
        return refused(world, "steal", now_ms)
    if isinstance(evidence := admit_evidence(evidence), Refusal):
        return refused(world, "steal", evidence)

    if expected.owner is None or not matches_evidence(expected.owner, claimant, now_ms, evidence):
        return answered(world, LivenessUnconfirmed())

    run = world.runs.get(run_id)
    if run is None or not (row_is(run, expected) and claim_free(run) and is_stale(run.heartbeat_at_ms, now_ms)):
        return unchanged(world, classify_loss(run, now_ms))
    leased = lease.steal(world, run_id, claimant, now_ms, evidence)
    if not isinstance(leased, World):
        return unchanged(world, classify_loss(run, now_ms))
    after = revisions.update_run(leased, attrs.evolve(run, claim=Claim(claimant, now_ms)))
    after = facts.record(after, run_id, "stolen", claimant, now_ms)
    return committed(world, after, "steal", Claimed(now_ms))

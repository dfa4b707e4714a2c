"""``recoverClaim``: remove the stale claim of a claimant that died between claim and activation."""

import attrs

from tenure_model.admission.integers import admit_lease_reading, admit_timestamp
from tenure_model.admission.records import admit_evidence, admit_owner, admit_run_id
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics import facts, lease, revisions
from tenure_model.semantics.predicates import claim_is, is_stale, matches_evidence
from tenure_model.semantics.steps import Step, answered, committed, refused, unchanged
from tenure_model.semantics.world import World
from tenure_model.vocabulary.outcomes import ClaimChanged, ClaimFresh, LivenessUnconfirmed, NotFound, Recovered


def recover_claim(
    world: World,
    clock_ms: int,
    run_id: object,
    stale_claimant: object,
    claimed_at_ms: object,
    observer: object,
    now_ms: object,
    evidence: object,
) -> Step:
    """Clear exactly this claim once it is stale at ``now_ms``, on a row of any status; the run changes no hands.

    Admits run id, stale claimant, token, observer, lease reading, evidence, in that order (RS-485). Then, first match:
    evidence that does not match the claimant, before anything is read, ``LivenessUnconfirmed``; no row ``NotFound``;
    another claim or none ``ClaimChanged``; not stale ``ClaimFresh``; a lease that refuses ``ClaimChanged``; else
    ``Recovered`` with one ``expired`` fact (RS-486).
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, "recoverClaim", run_id)
    if isinstance(stale_claimant := admit_owner(stale_claimant, "staleClaimant"), Refusal):
        return refused(world, "recoverClaim", stale_claimant)
    if isinstance(claimed_at_ms := admit_timestamp(claimed_at_ms, "claimedAtMs"), Refusal):
        return refused(world, "recoverClaim", claimed_at_ms)
    if isinstance(observer := admit_owner(observer, "observer"), Refusal):
        return refused(world, "recoverClaim", observer)
    now_ms = admit_lease_reading(now_ms, clock_ms, run_id, claimed_at_ms=claimed_at_ms)
    if isinstance(now_ms, Refusal):
        return refused(world, "recoverClaim", now_ms)
    if isinstance(evidence := admit_evidence(evidence), Refusal):
        return refused(world, "recoverClaim", evidence)

    if not matches_evidence(stale_claimant, observer, now_ms, evidence):
        return answered(world, LivenessUnconfirmed())

    run = world.runs.get(run_id)
    if run is None:
        return unchanged(world, NotFound())
    if not claim_is(run, stale_claimant, claimed_at_ms):
        return unchanged(world, ClaimChanged())
    if not is_stale(claimed_at_ms, now_ms):
        return unchanged(world, ClaimFresh())
    leased = lease.recover(world, run_id, stale_claimant, claimed_at_ms, observer, now_ms, evidence)
    if not isinstance(leased, World):
        return unchanged(world, ClaimChanged())
    after = revisions.update_run(leased, attrs.evolve(run, claim=None))
    after = facts.record(after, run_id, "expired", stale_claimant, claimed_at_ms)
    return committed(world, after, "recoverClaim", Recovered())

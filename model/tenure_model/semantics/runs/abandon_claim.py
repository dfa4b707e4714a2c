"""``abandonClaim``: give up a claim you hold, so that it need not go stale."""

import attrs

from tenure_model.admission.integers import admit_timestamp
from tenure_model.admission.records import admit_owner, admit_run_id
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics import facts, revisions
from tenure_model.semantics.predicates import claim_is
from tenure_model.semantics.runs.release import release_claim
from tenure_model.semantics.steps import Step, committed, refused, unchanged
from tenure_model.semantics.world import World
from tenure_model.vocabulary.outcomes import Abandoned, ClaimLost


def abandon_claim(world: World, run_id: object, claimant: object, claimed_at_ms: object) -> Step:
    """Clear exactly this claim and leave status and owner alone; answers ``Abandoned``, or ``ClaimLost`` (RS-480).

    Admits run id, claimant, token, in that order. ``Abandoned`` leaves one ``released`` fact, with the token.
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, "abandonClaim", run_id)
    if isinstance(claimant := admit_owner(claimant, "claimant"), Refusal):
        return refused(world, "abandonClaim", claimant)
    if isinstance(claimed_at_ms := admit_timestamp(claimed_at_ms, "claimedAtMs"), Refusal):
        return refused(world, "abandonClaim", claimed_at_ms)

    run = world.runs.get(run_id)
    if run is None or not claim_is(run, claimant, claimed_at_ms):
        return unchanged(world, ClaimLost())
    released, fired = release_claim(world, run_id, claimant)
    after = revisions.update_run(released, attrs.evolve(run, claim=None))
    after = facts.record(after, run_id, "released", claimant, claimed_at_ms)
    return committed(world, after, "abandonClaim", Abandoned(), fired)

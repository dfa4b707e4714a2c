"""``claim``: reserve a pending or suspended run for a later ``activate``."""

import attrs

from tenure_model.admission.integers import admit_lease_reading
from tenure_model.admission.records import admit_owner, admit_run_id, admit_snapshot
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics import facts, lease, revisions
from tenure_model.semantics.predicates import claim_free, row_is
from tenure_model.semantics.runs.losses import classify_loss
from tenure_model.semantics.steps import Step, committed, refused, unchanged
from tenure_model.semantics.world import Claim, World
from tenure_model.vocabulary.outcomes import Claimed


def claim(world: World, clock_ms: int, run_id: object, expected: object, claimant: object, now_ms: object) -> Step:
    """Claim an unclaimed row that is exactly as expected and pending or suspended; ``now_ms`` is the token.

    Admits run id, snapshot, claimant, lease reading, in that order (RS-450). A running row is never claimable, stale or
    not, and a cancellation request does not matter (RS-451). Not admitted: the loss by RS-456, so the same claimant
    asking twice gets ``AlreadyClaimed`` (RS-452, RS-455). Admitted, but the lease refuses: ``SnapshotChanged``
    (RS-453). Else ``Claimed``, one ``claimed`` fact, owner columns untouched (RS-454).
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, "claim", run_id)
    if isinstance(expected := admit_snapshot(expected), Refusal):
        return refused(world, "claim", expected)
    if isinstance(claimant := admit_owner(claimant, "claimant"), Refusal):
        return refused(world, "claim", claimant)
    if isinstance(now_ms := admit_lease_reading(now_ms, clock_ms, run_id), Refusal):
        return refused(world, "claim", now_ms)

    run = world.runs.get(run_id)
    if run is None or run.status not in ("pending", "suspended") or not (row_is(run, expected) and claim_free(run)):
        return unchanged(world, classify_loss(run, now_ms))
    leased = lease.claim(world, run_id, claimant, now_ms)
    if not isinstance(leased, World):
        return unchanged(world, classify_loss(run, now_ms))
    after = revisions.update_run(leased, attrs.evolve(run, claim=Claim(claimant, now_ms)))
    after = facts.record(after, run_id, "claimed", claimant, now_ms)
    return committed(world, after, "claim", Claimed(now_ms))

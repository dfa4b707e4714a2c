"""``activate``: trade a held claim for ownership."""

import attrs

from tenure_model.admission.integers import admit_timestamp
from tenure_model.admission.records import admit_owner, admit_run_id, admit_snapshot
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics import facts, lease, revisions
from tenure_model.semantics.predicates import claim_is, is_storable_time, row_is
from tenure_model.semantics.runs.release import release_claim
from tenure_model.semantics.steps import Step, committed, refused, unchanged, violated
from tenure_model.semantics.world import World
from tenure_model.vocabulary.outcomes import Activated, ClaimLost, SnapshotChanged


def activate(
    world: World, clock_ms: int, run_id: object, claimant: object, claimed_at_ms: object, expected: object
) -> Step:
    """Own the run whose claim is exactly this one; the store's clock is the first heartbeat.

    Admits run id, claimant, token, snapshot, in that order; the token has no skew check (RS-470). Another claim, or
    none: ``ClaimLost``, nothing changed (RS-471). A row that is not as expected: the claim is given up with a
    ``released`` fact, ``SnapshotChanged`` (RS-472). A lease without this claim: the row's claim is cleared,
    ``ClaimLost``, no fact (RS-473). Else ``Activated``, with one ``activated`` fact; the old owner's stamp is replaced
    even by a lower one (RS-474). Neither the age of the claim nor the evidence behind it is looked at again (RS-475).
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, "activate", run_id)
    if isinstance(claimant := admit_owner(claimant, "claimant"), Refusal):
        return refused(world, "activate", claimant)
    if isinstance(claimed_at_ms := admit_timestamp(claimed_at_ms, "claimedAtMs"), Refusal):
        return refused(world, "activate", claimed_at_ms)
    if isinstance(expected := admit_snapshot(expected), Refusal):
        return refused(world, "activate", expected)

    run = world.runs.get(run_id)
    if run is None or not claim_is(run, claimant, claimed_at_ms):
        return unchanged(world, ClaimLost())
    unclaimed = attrs.evolve(run, claim=None)
    if not row_is(run, expected):
        released, fired = release_claim(world, run_id, claimant)
        after = facts.record(released, run_id, "released", claimant, claimed_at_ms)
        return committed(world, revisions.update_run(after, unclaimed), "activate", SnapshotChanged(), fired)
    leased = lease.activate(world, run_id, claimant, claimed_at_ms, clock_ms)
    if not isinstance(leased, World):
        return committed(world, revisions.update_run(world, unclaimed), "activate", ClaimLost())
    if not is_storable_time(clock_ms):
        return violated(world, "activate")
    owned = attrs.evolve(
        unclaimed,
        status="running",
        started_at_ms=clock_ms if run.started_at_ms is None else run.started_at_ms,
        finished_at_ms=None,
        owner=claimant,
        heartbeat_at_ms=clock_ms,
    )
    after = facts.record(leased, run_id, "activated", claimant, claimed_at_ms)
    return committed(world, revisions.update_run(after, owned), "activate", Activated())

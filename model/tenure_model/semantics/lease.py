"""The lease decides: every decision of the consensus strategy over the lease table (RS-200..RS-210).

A function answers the world with the lease changed, or the reason why nothing changed. Rejection reasons and ``lost``
are the strategy's own words; the operations turn them into outcomes of the run store (RS-201).
"""

from typing import Literal, TypeAlias

from tenure_model.semantics.predicates import is_stale, matches_evidence, same_owner
from tenure_model.semantics.world import Claim, Lease, Ownership, World, with_lease, without_lease
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId

ClaimRejection: TypeAlias = Literal["already_claimed", "owner_held"]
StealRejection: TypeAlias = Literal["evidence_invalid", "already_claimed", "owner_live"]
RecoverRejection: TypeAlias = Literal["evidence_invalid", "claim_fresh", "claim_changed"]
Lost: TypeAlias = Literal["lost"]


def claim(world: World, run_id: str, claimant: OwnerId, now_ms: int) -> World | ClaimRejection:
    """Store a claim where the lease has neither claim nor owner. ``now_ms`` becomes its token.

    A claim that stands, even the caller's own, is ``already_claimed``; otherwise an owner is ``owner_held`` (RS-202).
    """
    lease = world.leases.get(run_id)
    if lease is not None and lease.claim is not None:
        return "already_claimed"
    if lease is not None and lease.ownership is not None:
        return "owner_held"
    return with_lease(world, run_id, Lease(ownership=None, claim=Claim(claimant, now_ms)))


def activate(world: World, run_id: str, claimant: OwnerId, granted_at_ms: int, now_ms: int) -> World | Lost:
    """Turn exactly this claim into the ownership, first heartbeat ``now_ms``, replacing any previous owner.

    The claim is spent by it, so no grant is presented twice (RS-203).
    """
    lease = world.leases.get(run_id)
    if lease is None or lease.claim != Claim(claimant, granted_at_ms):
        return "lost"
    return install(world, run_id, claimant, granted_at_ms, now_ms)


def install(world: World, run_id: str, owner: OwnerId, granted_at_ms: int, now_ms: int) -> World:
    """The lease that an activation leaves: this owner, first heartbeat ``now_ms``, no claim (RS-203)."""
    return with_lease(world, run_id, Lease(Ownership(owner, granted_at_ms, now_ms), claim=None))


def heartbeat(world: World, run_id: str, who: OwnerId, now_ms: int) -> tuple[World, int] | Lost:
    """Renew the ownership of ``who``: the stamp becomes the later of itself and ``now_ms``, and is answered.

    A pending claim of somebody else does not matter, and a claim alone renews nothing (RS-204).
    """
    lease = world.leases.get(run_id)
    if lease is None or lease.ownership is None or not same_owner(lease.ownership.owner, who):
        return "lost"
    heartbeat_at_ms = max(lease.ownership.heartbeat_at_ms, now_ms)
    renewed = Ownership(who, lease.ownership.granted_at_ms, heartbeat_at_ms)
    return with_lease(world, run_id, Lease(renewed, lease.claim)), heartbeat_at_ms


def reconfirm(world: World, run_id: str, who: OwnerId, now_ms: int) -> tuple[World, int] | Lost:
    """Renew as ``heartbeat`` does, but only while no claim is pending, not even the owner's own (RS-205)."""
    lease = world.leases.get(run_id)
    if lease is not None and lease.claim is not None:
        return "lost"
    return heartbeat(world, run_id, who, now_ms)


def steal(
    world: World, run_id: str, claimant: OwnerId, now_ms: int, evidence: LivenessEvidence
) -> World | StealRejection:
    """Store a claim beside the stale ownership that the evidence speaks of, which stays as it is.

    Rejections in order: evidence that does not match, a claim that stands, no lease or another owner
    (``evidence_invalid`` again), an owner that is not stale (RS-208).
    """
    if not matches_evidence(evidence.expected_owner, claimant, now_ms, evidence):
        return "evidence_invalid"
    lease = world.leases.get(run_id)
    if lease is not None and lease.claim is not None:
        return "already_claimed"
    if lease is None or lease.ownership is None or not same_owner(lease.ownership.owner, evidence.expected_owner):
        return "evidence_invalid"
    if not is_stale(lease.ownership.heartbeat_at_ms, now_ms):
        return "owner_live"
    return with_lease(world, run_id, Lease(lease.ownership, Claim(claimant, now_ms)))


def recover(
    world: World,
    run_id: str,
    stale_claimant: OwnerId,
    granted_at_ms: int,
    observer: OwnerId,
    now_ms: int,
    evidence: LivenessEvidence,
) -> World | RecoverRejection:
    """Remove exactly this claim once it is stale, whether or not an owner stands beside it (RS-209)."""
    if not matches_evidence(stale_claimant, observer, now_ms, evidence):
        return "evidence_invalid"
    lease = world.leases.get(run_id)
    if lease is None or lease.claim != Claim(stale_claimant, granted_at_ms):
        return "claim_changed"
    if not is_stale(granted_at_ms, now_ms):
        return "claim_fresh"
    return _with_slots(world, run_id, lease.ownership, None)


def release(world: World, run_id: str, who: OwnerId) -> World:
    """Give back whatever ``who`` holds, claim and ownership both; a stranger's release changes nothing (RS-206)."""
    lease = world.leases.get(run_id)
    if lease is None:
        return world
    ownership = None if owns(world, run_id, who) else lease.ownership
    return _with_slots(world, run_id, ownership, None if _claims(lease, who) else lease.claim)


def release_claim(world: World, run_id: str, who: OwnerId) -> World:
    """Give back the claim of ``who`` and never an ownership the same identity holds: the release of R-2."""
    lease = world.leases.get(run_id)
    if lease is None or not _claims(lease, who):
        return world
    return _with_slots(world, run_id, lease.ownership, None)


def drop_claim(world: World, run_id: str) -> World:
    """Remove the pending claim, whoever made it: what R-1 adds to the release of a run that stops running."""
    lease = world.leases.get(run_id)
    if lease is None:
        return world
    return _with_slots(world, run_id, lease.ownership, None)


def owns(world: World, run_id: str, who: OwnerId) -> bool:
    """The fence: whether the lease names ``who`` as owner, whatever its age and whoever claims (RS-210)."""
    lease = world.leases.get(run_id)
    return lease is not None and lease.ownership is not None and same_owner(lease.ownership.owner, who)


def has_claim(world: World, run_id: str) -> bool:
    """Whether anybody's claim is pending on the lease."""
    lease = world.leases.get(run_id)
    return lease is not None and lease.claim is not None


def _claims(lease: Lease, who: OwnerId) -> bool:
    return lease.claim is not None and same_owner(lease.claim.claimant, who)


def _with_slots(world: World, run_id: str, ownership: Ownership | None, claim: Claim | None) -> World:
    """The lease with these two slots; a lease row that would hold neither is removed (RS-206, RS-209)."""
    if ownership is None and claim is None:
        return without_lease(world, run_id)
    return with_lease(world, run_id, Lease(ownership, claim))

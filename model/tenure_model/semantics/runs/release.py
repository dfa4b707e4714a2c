"""Giving a claim back on the lease, as ``activate`` and ``abandonClaim`` do: the one place of R-2."""

from tenure_model.semantics import lease
from tenure_model.semantics.steps import NO_REPAIRS
from tenure_model.semantics.world import World
from tenure_model.vocabulary.owners import OwnerId


def release_claim(world: World, run_id: str, claimant: OwnerId) -> tuple[World, frozenset[str]]:
    """The lease without the claimant's claim, and whether R-2 made a difference.

    ``original`` releases everything the claimant holds, its own stale ownership under a self-steal included (RS-206,
    H-02). R-2 releases the claim alone; it fires where that spares an ownership.
    """
    if "R-2" not in world.profile.repairs:
        return lease.release(world, run_id, claimant), NO_REPAIRS
    fired = frozenset({"R-2"}) if lease.owns(world, run_id, claimant) else NO_REPAIRS
    return lease.release_claim(world, run_id, claimant), fired

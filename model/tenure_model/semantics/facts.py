"""Ownership facts: what a granted transition leaves in the companion stream of its run (RS-700..RS-704)."""

from tenure_model.semantics.world import World, with_fact
from tenure_model.vocabulary.facts import OwnershipFact, OwnershipTransition
from tenure_model.vocabulary.owners import OwnerId


def record(
    world: World, run_id: str, transition: OwnershipTransition, owner: OwnerId, granted_at_ms: int | None
) -> World:
    """Append one fact inside the transaction that made it (RS-393, RS-701).

    ``granted_at_ms`` is the token of the claim the fact speaks of, ``None`` where ``released`` ends the ownership.
    """
    return with_fact(world, OwnershipFact(run_id, transition, owner, granted_at_ms))

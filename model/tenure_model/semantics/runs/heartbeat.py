"""``heartbeat`` and ``reconfirm``: keep the lease one owns."""

from collections.abc import Callable
from typing import TypeAlias

import attrs

from tenure_model.admission.integers import admit_lease_reading
from tenure_model.admission.records import admit_owner, admit_run_id
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics import lease, revisions
from tenure_model.semantics.predicates import owned
from tenure_model.semantics.steps import Step, committed, refused, unchanged
from tenure_model.semantics.world import World
from tenure_model.vocabulary.outcomes import FenceLost, NotFound, Updated
from tenure_model.vocabulary.owners import OwnerId

_Renew: TypeAlias = Callable[[World, str, OwnerId, int], tuple[World, int] | lease.Lost]


def heartbeat(world: World, clock_ms: int, run_id: object, owner: object, now_ms: object) -> Step:
    """Renew the lease, whoever may have a claim pending: ``Updated``, ``FenceLost`` or ``NotFound`` (RS-490).

    A reading behind the stamp is ``Updated`` too and moves nothing but the revision (RS-493).
    """
    return _renewed(world, clock_ms, "heartbeat", lease.heartbeat, run_id, owner, now_ms)


def reconfirm(world: World, clock_ms: int, run_id: object, owner: object, now_ms: object) -> Step:
    """As ``heartbeat``, but ``FenceLost`` already while anybody's claim is pending (RS-490, RS-493)."""
    return _renewed(world, clock_ms, "reconfirm", lease.reconfirm, run_id, owner, now_ms)


def _renewed(
    world: World, clock_ms: int, method: str, renew: _Renew, run_id: object, owner: object, now_ms: object
) -> Step:
    """Renew the lease, then mirror its stamp on the row, which never goes back (RS-491, RS-492).

    Admits run id, owner, lease reading, in that order. A lease that renews beside a row which is gone, or not running
    under this owner, stays renewed although the answer is a loss (RS-224).
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, method, run_id)
    if isinstance(owner := admit_owner(owner, "owner"), Refusal):
        return refused(world, method, owner)
    if isinstance(now_ms := admit_lease_reading(now_ms, clock_ms, run_id), Refusal):
        return refused(world, method, now_ms)

    run = world.runs.get(run_id)
    renewed = renew(world, run_id, owner, now_ms)
    if not isinstance(renewed, tuple):
        return unchanged(world, NotFound() if run is None else FenceLost())
    leased, leased_heartbeat_at_ms = renewed
    if run is None:
        return committed(world, leased, method, NotFound())
    if run.heartbeat_at_ms is None or not owned(run, owner):
        return committed(world, leased, method, FenceLost())
    stamped = attrs.evolve(run, heartbeat_at_ms=max(run.heartbeat_at_ms, leased_heartbeat_at_ms))
    return committed(world, revisions.update_run(leased, stamped), method, Updated())

"""``transitionOwned``: the only way to move a run one owns."""

from typing import Final

import attrs

from tenure_model.admission.records import admit_guard, admit_owner, admit_run_id, admit_target_status
from tenure_model.admission.refusal import Refusal
from tenure_model.admission.run_state import admit_run_state
from tenure_model.semantics import facts, lease, revisions
from tenure_model.semantics.predicates import is_storable_time, owned
from tenure_model.semantics.steps import NO_REPAIRS, Step, committed, refused, unchanged, violated
from tenure_model.semantics.world import Run, World
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.outcomes import FenceLost, GuardFailed, NotFound, Transitioned
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import TransitionGuard
from tenure_model.vocabulary.statuses import is_terminal_run_status

METHOD: Final = "transitionOwned"


def transition_owned(
    world: World,
    clock_ms: int,
    run_id: object,
    owner: object,
    to_status: object,
    state_json: object = ABSENT,
    guard: object = ABSENT,
) -> Step:
    """Give the run a new status, and new state if supplied, under the fence of lease and row both.

    Admits run id, owner, target, state if supplied, guard, in that order; ``pending`` is no target and a state of
    ``None`` is supplied and invalid (RS-500). First match: no row ``NotFound``; lease or row not the caller's
    ``FenceLost``; a guard that does not hold ``GuardFailed``; else ``Transitioned`` (RS-501). So a terminal transition
    repeated is ``FenceLost`` (RS-506). Start, request, acknowledgement, lineage and parent stay, and no status but
    the guard asks for a request (RS-505).
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, METHOD, run_id)
    if isinstance(owner := admit_owner(owner, "owner"), Refusal):
        return refused(world, METHOD, owner)
    if isinstance(to_status := admit_target_status(to_status), Refusal):
        return refused(world, METHOD, to_status)
    supplied = None if state_json is ABSENT else admit_run_state(state_json, {"runId": run_id})
    if isinstance(supplied, Refusal):
        return refused(world, METHOD, supplied)
    if isinstance(guard := admit_guard(guard), Refusal):
        return refused(world, METHOD, guard)

    run = world.runs.get(run_id)
    if run is None:
        return unchanged(world, NotFound())
    if not (lease.owns(world, run_id, owner) and owned(run, owner)):
        return unchanged(world, FenceLost())
    if not _holds(guard, run):
        return unchanged(world, GuardFailed())

    written = run if supplied is None else attrs.evolve(run, state_json=supplied)
    if to_status == "running":
        after = revisions.update_run(world, attrs.evolve(written, finished_at_ms=None))
        return committed(world, after, METHOD, Transitioned())
    terminal = is_terminal_run_status(to_status)
    if terminal and not is_storable_time(clock_ms):
        return violated(world, METHOD)
    stopped = attrs.evolve(
        written,
        status=to_status,
        finished_at_ms=clock_ms if terminal else None,
        owner=None,
        heartbeat_at_ms=None,
        claim=None,
    )
    released, fired = _released(world, run_id, owner)
    after = facts.record(revisions.update_run(released, stopped), run_id, "released", owner, None)
    return committed(world, after, METHOD, Transitioned(), fired)


def _holds(guard: TransitionGuard | None, run: Run) -> bool:
    """Whether the guard admits the row: a request must be absent, or present, or does not matter (RS-501)."""
    if guard is None or guard.cancel_requested is ABSENT:
        return True
    return (guard.cancel_requested == "present") == (run.cancel_requested_at_ms is not None)


def _released(world: World, run_id: str, owner: OwnerId) -> tuple[World, frozenset[str]]:
    """The lease after its owner stopped running, and whether R-1 made a difference (RS-503).

    The row loses any pending claim. On the lease ``original`` releases only what the owner holds, so the claim of
    another process stays there for ever (RS-504, H-01). R-1 drops that claim too, and fires where there is one.
    """
    released = lease.release(world, run_id, owner)
    if "R-1" not in world.profile.repairs or not lease.has_claim(released, run_id):
        return released, NO_REPAIRS
    return lease.drop_claim(released, run_id), frozenset({"R-1"})

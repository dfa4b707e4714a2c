"""``transitionOwned``: the only way to move a run one owns (RS-500..RS-506)."""

from tenure.database.engine import SqlValue
from tenure.database.writer import Withdrawn
from tenure.runs import statements
from tenure.runs.context import RunContext
from tenure.runs.failures import invalid
from tenure_model.admission.records import admit_guard, admit_owner, admit_run_id, admit_target_status
from tenure_model.admission.refusal import Refusal
from tenure_model.admission.run_state import admit_run_state
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.outcomes import FenceLost, GuardFailed, NotFound, Transitioned, TransitionOutcome
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import TransitionGuard
from tenure_model.vocabulary.statuses import TargetStatus

METHOD = "transitionOwned"


def transition_owned(
    context: RunContext, run_id: object, owner: object, to_status: object, state_json: object, guard: object
) -> TransitionOutcome:
    """Rewrite the state, suspend, or settle a run one owns (RS-500..RS-506)."""
    admitted_id = admit_run_id(run_id)
    if type(admitted_id) is Refusal:
        raise invalid(METHOD, admitted_id)
    who = admit_owner(owner, "owner")
    if type(who) is Refusal:
        raise invalid(METHOD, who)
    target = admit_target_status(to_status)
    if type(target) is Refusal:
        raise invalid(METHOD, target)
    state = None if state_json is ABSENT else admit_run_state(state_json, {"runId": admitted_id})
    if type(state) is Refusal:
        raise invalid(METHOD, state)
    condition = admit_guard(guard)
    if type(condition) is Refusal:
        raise invalid(METHOD, condition)
    required = _required_request(condition)
    if target == "running":
        return context.write(METHOD, _keep, admitted_id, who, state, required)
    return context.write(METHOD, _settle, admitted_id, who, target, state, required, context.now())


def _keep(
    context: RunContext, run_id: str, owner: OwnerId, state: str | None, required: int | None
) -> TransitionOutcome:
    """Owner, heartbeat and a pending claim stay as they are (RS-502)."""
    guarded = (run_id, owner.host_id, owner.pid, owner.nonce, required)
    if state is None:
        rows = context.rows(statements.KEEP, guarded)
    else:
        rows = context.rows(statements.KEEP_WITH_STATE, (*guarded, state))
    if not rows:
        return _refused(context, run_id, owner)
    if not context.consensus.holds(run_id, owner):
        raise Withdrawn(FenceLost())
    return Transitioned()


def _settle(
    context: RunContext,
    run_id: str,
    owner: OwnerId,
    target: TargetStatus,
    state: str | None,
    required: int | None,
    now_ms: int,
) -> TransitionOutcome:
    """Ownership and any claim end, in the row and in the lease (RS-503, R-1)."""
    finished_at_ms = None if target == "suspended" else now_ms
    values: tuple[SqlValue, ...] = (
        run_id,
        owner.host_id,
        owner.pid,
        owner.nonce,
        required,
        target,
        finished_at_ms,
    )
    if state is None:
        rows = context.rows(statements.SETTLE, values)
    else:
        rows = context.rows(statements.SETTLE_WITH_STATE, (*values, state))
    if not rows:
        return _refused(context, run_id, owner)
    if not context.consensus.surrender(run_id, owner):
        raise Withdrawn(FenceLost())
    context.record(run_id, "released", owner, None)
    if target != "suspended":
        context.database.after_commit(context.observer.settled)
    return Transitioned()


def _refused(context: RunContext, run_id: str, owner: OwnerId) -> TransitionOutcome:
    """The first that applies: no run, a fence that does not hold in row or lease, a failed guard (RS-501)."""
    rows = context.rows(statements.OWNED, (run_id, owner.host_id, owner.pid, owner.nonce))
    if not rows:
        return NotFound()
    if not rows[0][0] or not context.consensus.holds(run_id, owner):
        return FenceLost()
    return GuardFailed()


def _required_request(guard: TransitionGuard | None) -> int | None:
    """What ``statements`` binds for the guard: 1 present, 0 absent, ``None`` unguarded (RS-312)."""
    if guard is None or guard.cancel_requested is ABSENT:
        return None
    return 1 if guard.cancel_requested == "present" else 0

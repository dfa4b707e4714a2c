"""``heartbeat`` and ``finish``: an attempt in progress moves on, or ends (RS-840..RS-842, RS-850, RS-851)."""

from typing import Final

from tenure.attempts import statements
from tenure.attempts.context import AttemptContext
from tenure.attempts.encoding import stored_text
from tenure.attempts.failures import invalid
from tenure.database.engine import SqlValue
from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.admission.attempts import (
    admit_attempt_key,
    admit_attempt_now,
    admit_attempt_owner,
    admit_checkpoint,
    admit_finish,
)
from tenure_model.vocabulary.attempt_outcomes import AttemptHeartbeatResult, Finished, FinishResult, StateChanged
from tenure_model.vocabulary.outcomes import FenceLost, NotFound, Updated

_UPDATED: Final = Updated()
_FINISHED: Final = Finished()


def heartbeat(
    context: AttemptContext,
    run_id: object,
    step_key_digest: object,
    attempt: object,
    owner: object,
    now_ms: object,
    checkpoint: object,
) -> AttemptHeartbeatResult:
    """Stamp an attempt in progress, never backwards; a supplied checkpoint replaces the old one (RS-840..RS-842)."""
    method = "heartbeat"
    who = admit_attempt_owner(owner)
    if type(who) is AttemptRefusal:
        raise invalid(method, who)
    key = admit_attempt_key(run_id, step_key_digest, attempt)
    if type(key) is AttemptRefusal:
        raise invalid(method, key)
    now = admit_attempt_now(now_ms)
    if type(now) is AttemptRefusal:
        raise invalid(method, now)
    saved = admit_checkpoint(checkpoint, context.options.max_checkpoint_bytes)
    if type(saved) is AttemptRefusal:
        raise invalid(method, saved)
    fenced = (key.run_id, key.step_key_digest, key.attempt, who.host_id, who.pid, who.nonce)
    return context.write(method, _heartbeat, fenced, now, stored_text(saved))


def _heartbeat(
    context: AttemptContext, fenced: tuple[SqlValue, ...], now_ms: int, checkpoint: str | None
) -> AttemptHeartbeatResult:
    if context.rows(statements.HEARTBEAT, (*fenced, context.in_progress_json, now_ms, checkpoint)):
        return _UPDATED
    return _loss(context, fenced)


def finish(context: AttemptContext, attempt: object, owner: object) -> FinishResult:
    """End an attempt in progress; what is not supplied stays as recorded (RS-850, RS-851)."""
    method = "finish"
    who = admit_attempt_owner(owner)
    if type(who) is AttemptRefusal:
        raise invalid(method, who)
    admitted = admit_finish(attempt, context.options.in_progress_states)
    if type(admitted) is AttemptRefusal:
        raise invalid(method, admitted)
    fenced = (admitted.run_id, admitted.step_key_digest, admitted.attempt, who.host_id, who.pid, who.nonce)
    columns = (
        admitted.state,
        admitted.finished_at_ms,
        stored_text(admitted.error),
        stored_text(admitted.outcome),
        stored_text(admitted.meta),
    )
    return context.write(method, _finish, fenced, columns)


def _finish(context: AttemptContext, fenced: tuple[SqlValue, ...], columns: tuple[SqlValue, ...]) -> FinishResult:
    if context.rows(statements.FINISH, (*fenced, context.in_progress_json, *columns)):
        return _FINISHED
    return _loss(context, fenced)


def _loss(context: AttemptContext, fenced: tuple[SqlValue, ...]) -> NotFound | FenceLost | StateChanged:
    """The first that applies: no attempt, no run or a fence that does not hold, an attempt not in progress (RS-842)."""
    exists, owned = context.rows(statements.LOSS, fenced)[0]
    if not exists:
        return NotFound()
    return StateChanged() if owned else FenceLost()

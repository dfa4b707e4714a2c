"""``put``: record an attempt, once (RS-820..RS-824)."""

from tenure.attempts import statements
from tenure.attempts.context import AttemptContext
from tenure.attempts.decoding import decode
from tenure.attempts.encoding import stored_text
from tenure.attempts.failures import invalid
from tenure.database.engine import SqlValue
from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.admission.attempts import admit_attempt, admit_attempt_owner
from tenure_model.admission.json_equality import json_equal
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempt_outcomes import (
    Conflict,
    ExistingSame,
    Inserted,
    PutResult,
    RunNotFound,
    Upserted,
)
from tenure_model.vocabulary.attempts import Attempt
from tenure_model.vocabulary.outcomes import FenceLost

METHOD = "put"


def put(context: AttemptContext, attempt: object, owner: object) -> PutResult:
    """Insert the attempt, or under ``upsert`` overwrite one in progress (RS-820..RS-824)."""
    who = admit_attempt_owner(owner)
    if type(who) is AttemptRefusal:
        raise invalid(METHOD, who)
    admitted = admit_attempt(attempt, context.options.max_checkpoint_bytes)
    if type(admitted) is AttemptRefusal:
        raise invalid(METHOD, admitted)
    fenced = (
        admitted.run_id,
        admitted.step_key_digest,
        admitted.attempt,
        who.host_id,
        who.pid,
        who.nonce,
    )
    columns = (
        admitted.state,
        admitted.started_at_ms,
        None if admitted.finished_at_ms is ABSENT else admitted.finished_at_ms,
        None if admitted.heartbeat_at_ms is ABSENT else admitted.heartbeat_at_ms,
        stored_text(admitted.checkpoint),
        stored_text(admitted.error),
        stored_text(admitted.outcome),
        stored_text(admitted.meta),
    )
    return context.write(METHOD, _put, admitted, fenced, columns)


def _put(
    context: AttemptContext, attempt: Attempt, fenced: tuple[SqlValue, ...], columns: tuple[SqlValue, ...]
) -> PutResult:
    if context.rows(statements.INSERT, (*fenced, *columns)):
        return Inserted()
    if context.options.put_mode == "upsert" and context.rows(
        statements.OVERWRITE, (*fenced, *columns, context.in_progress_json)
    ):
        return Upserted()
    rows = context.rows(statements.RECORDED, fenced)
    if not rows:
        return RunNotFound()
    owned, *stored = rows[0]
    if not owned:
        return FenceLost()
    return ExistingSame() if same_attempt(decode(METHOD, tuple(stored)), attempt) else Conflict()


def same_attempt(stored: Attempt, supplied: Attempt) -> bool:
    """Whether two attempts under one key agree in every field, JSON by value, absent only with absent (RS-823)."""
    return (
        stored.state == supplied.state
        and stored.started_at_ms == supplied.started_at_ms
        and stored.finished_at_ms == supplied.finished_at_ms
        and stored.heartbeat_at_ms == supplied.heartbeat_at_ms
        and json_equal(stored.checkpoint, supplied.checkpoint)
        and json_equal(stored.error, supplied.error)
        and json_equal(stored.outcome, supplied.outcome)
        and json_equal(stored.meta, supplied.meta)
    )

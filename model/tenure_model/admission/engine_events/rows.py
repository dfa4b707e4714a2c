"""Rows of the attempt store and what events say of them (JN-353, JN-354, RS-800).

A row of an attempt that succeeded has the value as its ``outcome``; one that failed has ``{reason, detail}`` as its
``error``. The meta is the store's own and is not disclosed.
"""

from typing import Final

import attrs

from tenure_model.admission.engine_events.attempts import read_attempt_payload
from tenure_model.admission.engine_events.members import MalformedError, strict_record
from tenure_model.admission.engine_events.projection import take_attempt
from tenure_model.admission.engine_events.wire_forms import lineage_wire
from tenure_model.admission.json_equality import json_equal
from tenure_model.admission.redaction.redactor import DEFAULT_REDACTOR
from tenure_model.admission.refusal import refuse
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempts import Attempt
from tenure_model.vocabulary.engine_events.attempts import EVENT_VERSION, AttemptPayload
from tenure_model.vocabulary.engine_events.errors import DISALLOWED_TRANSITION, INVALID_EVENT, EventError
from tenure_model.vocabulary.engine_events.lineage import Lineage
from tenure_model.vocabulary.engine_events.projections import AttemptKey, ProjectedAttempt
from tenure_model.vocabulary.engine_events.results import Failure, Success
from tenure_model.vocabulary.journal import Redact

_ERROR: Final = frozenset(("reason", "detail"))


def describe_row(
    row: Attempt, lineage: Lineage, told: Attempt | None, redact: Redact = DEFAULT_REDACTOR
) -> AttemptPayload | EventError:
    """What an event says after ``row`` was written, where ``told`` is the row as it was last told, if it ever was.

    ``malformed`` for a row that no event can tell: in another state than theirs, in progress with an end or a result,
    ended without them; where ``redact``, the journal's redactor, would change an identity, so that two attempts might
    become one. ``transition`` for one that cannot follow what was told: of an attempt that had ended, in
    another state or at another time; ended, with another heartbeat or checkpoint than was told, since the event of an
    end has neither (JN-354).
    """
    try:
        written = _payload_of(row, lineage)
        payload = read_attempt_payload(written)
        _check_identity(written, redact)
        attempts = {} if told is None else _projected(told, lineage)
    except MalformedError as error:
        return EventError("malformed", INVALID_EVENT, error.cause)
    key = (payload.step_key_digest, payload.attempt)
    if attempts and key not in attempts:
        return EventError("malformed", INVALID_EVENT, refuse("told", "must be of the same attempt"))
    refusal = take_attempt(attempts, payload, 1)
    if refusal is not None:
        return refusal
    if not tells_row(attempts[key], row):
        detail = "must have the heartbeat and the checkpoint that were told before its end"
        return EventError("transition", DISALLOWED_TRANSITION, refuse("row", detail))
    return payload


def tells_row(projected: ProjectedAttempt, row: Attempt) -> bool:
    """Whether a projected attempt equals the row, JSON by value, in everything but the meta (RS-328)."""
    return (
        (projected.step_key_digest, projected.attempt) == (row.step_key_digest, row.attempt)
        and projected.state == row.state
        and projected.started_at_ms == row.started_at_ms
        and projected.finished_at_ms == row.finished_at_ms
        and projected.heartbeat_at_ms == row.heartbeat_at_ms
        and json_equal(projected.checkpoint, row.checkpoint)
        and json_equal(_outcome_of(projected), row.outcome)
        and json_equal(_error_of(projected), row.error)
    )


def _check_identity(payload: dict[str, object], redact: Redact) -> None:
    """Everything but the lifecycle is stored as it is."""
    identity = {name: member for name, member in payload.items() if name != "lifecycle"}
    try:
        stored = redact(identity)
    except Exception:  # noqa: BLE001  # whatever a caller's redactor raises, the journal would refuse the event
        raise MalformedError("payload", "could not be redacted") from None
    for name, member in identity.items():
        if type(stored) is not dict or not json_equal(member, stored.get(name, ABSENT)):
            raise MalformedError(f"payload.{name}", "must not be changed by redaction")


def _projected(told: Attempt, lineage: Lineage) -> dict[AttemptKey, ProjectedAttempt]:
    """What is known of an attempt whose row was told whenever it was written."""
    payload = read_attempt_payload(_payload_of(told, lineage), "told")
    attempts: dict[AttemptKey, ProjectedAttempt] = {}
    take_attempt(attempts, payload, 0)
    return {
        key: attrs.evolve(attempt, heartbeat_at_ms=told.heartbeat_at_ms, checkpoint=told.checkpoint)
        for key, attempt in attempts.items()
    }


def _payload_of(row: Attempt, lineage: Lineage) -> dict[str, object]:
    is_open = row.state in ("running", "suspended")
    lifecycle: dict[str, object] = {
        "state": row.state,
        "startedAtMs": row.started_at_ms,
        "finishedAtMs": row.finished_at_ms,
        "result": _result_of(row),
        "heartbeatAtMs": row.heartbeat_at_ms if is_open else ABSENT,
        "checkpoint": row.checkpoint if is_open else ABSENT,
    }
    return {
        "version": EVENT_VERSION,
        "lineage": lineage_wire(lineage),
        "executionId": row.run_id,
        "stepKeyDigest": row.step_key_digest,
        "attempt": row.attempt,
        "lifecycle": {name: member for name, member in lifecycle.items() if member is not ABSENT},
    }


def _result_of(row: Attempt) -> object:
    if row.error is not ABSENT and row.outcome is not ABSENT:
        raise MalformedError("row", "must not have both an outcome and an error")
    if row.outcome is not ABSENT:
        return {"_tag": "Success", "value": row.outcome}
    return ABSENT if row.error is ABSENT else {"_tag": "Failure", **strict_record(row.error, _ERROR, "row.error")}


def _outcome_of(projected: ProjectedAttempt) -> object:
    return projected.result.value if isinstance(projected.result, Success) else ABSENT


def _error_of(projected: ProjectedAttempt) -> object:
    if isinstance(projected.result, Failure):
        return {"reason": projected.result.reason, "detail": projected.result.detail}
    return ABSENT

"""From a stored row to an ``Attempt``, or ``decode_failed`` (RS-830)."""

from tenure.attempts.failures import undecodable_column, undecodable_row
from tenure.database.engine import SqlRow
from tenure_model.admission.integers import is_safe_integer
from tenure_model.admission.json_text import read_json_text
from tenure_model.admission.json_values import JsonComplaint, JsonValue
from tenure_model.admission.text import is_durable_text
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.attempts import MAX_CHECKPOINT_BYTES, Attempt


def decode(method: str, columns: SqlRow) -> Attempt:
    """The attempt in ``columns``, which are those of ``statements.GET``; SQL's null is ``ABSENT``.

    Identifiers, times and state come first, then the JSON columns in their order; what fails first is told. A
    checkpoint may have 16 MiB, whatever the store is configured to take.
    """
    (
        run_id,
        step_key_digest,
        attempt,
        state,
        started_at_ms,
        finished_at_ms,
        heartbeat_at_ms,
        checkpoint_json,
        error_json,
        outcome_json,
        meta_json,
    ) = columns
    if not (
        is_durable_text(run_id)
        and is_durable_text(step_key_digest)
        and is_safe_integer(attempt)
        and is_durable_text(state)
        and is_safe_integer(started_at_ms)
        and (finished_at_ms is None or is_safe_integer(finished_at_ms))
        and (heartbeat_at_ms is None or is_safe_integer(heartbeat_at_ms))
    ):
        raise undecodable_row(method)
    return Attempt(
        run_id=run_id,
        step_key_digest=step_key_digest,
        attempt=attempt,
        state=state,
        started_at_ms=started_at_ms,
        finished_at_ms=ABSENT if finished_at_ms is None else finished_at_ms,
        heartbeat_at_ms=ABSENT if heartbeat_at_ms is None else heartbeat_at_ms,
        checkpoint=_optional(method, "checkpoint_json", checkpoint_json, MAX_CHECKPOINT_BYTES),
        error=_optional(method, "error_json", error_json),
        outcome=_optional(method, "outcome_json", outcome_json),
        meta=_json(method, "meta_json", meta_json),
    )


def _optional(method: str, column: str, text: object, max_bytes: int | None = None) -> JsonValue | AbsentType:
    return ABSENT if text is None else _json(method, column, text, max_bytes)


def _json(method: str, column: str, text: object, max_bytes: int | None = None) -> JsonValue:
    value = read_json_text(text, max_bytes=max_bytes)
    if type(value) is JsonComplaint:
        raise undecodable_column(method, column, value.text)
    return value

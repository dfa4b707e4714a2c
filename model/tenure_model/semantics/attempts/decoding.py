"""A row as callers see it, validated again on its way out (RS-824, RS-830)."""

from typing import Final

from tenure_model.admission.integers import is_safe_integer
from tenure_model.admission.json_text import read_json_text
from tenure_model.admission.json_values import JsonComplaint
from tenure_model.admission.text import is_durable_text
from tenure_model.semantics.attempts.table import AttemptRow
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempt_errors import ROW_UNDECODABLE, AttemptStoreError
from tenure_model.vocabulary.attempts import MAX_CHECKPOINT_BYTES, Attempt

_JSON_COLUMNS: Final = (
    ("checkpoint_json", MAX_CHECKPOINT_BYTES),
    ("error_json", None),
    ("outcome_json", None),
    ("meta_json", None),
)
"""In the order they are parsed, with their caps in bytes; the configured cap is not asked (RS-830)."""


def decode(row: AttemptRow, method: str) -> Attempt | AttemptStoreError:
    """The attempt, its null optionals absent, or ``decode_failed`` naming the column (RS-830).

    First identifiers, times and state together, then each JSON column by itself.
    """
    if not _has_valid_columns(row):
        return AttemptStoreError("decode_failed", method, ROW_UNDECODABLE)
    values: dict[str, object] = {}
    for column, max_bytes in _JSON_COLUMNS:
        text: str | None = getattr(row, column)
        if text is None:
            values[column] = ABSENT
            continue
        value = read_json_text(text, max_bytes=max_bytes)
        if isinstance(value, JsonComplaint):
            return AttemptStoreError("decode_failed", method, f"{column} {value.text}")
        values[column] = value
    return Attempt(
        run_id=row.run_id,
        step_key_digest=row.step_key_digest,
        attempt=row.attempt,
        state=row.state,
        started_at_ms=row.started_at_ms,
        meta=values["meta_json"],
        finished_at_ms=ABSENT if row.finished_at_ms is None else row.finished_at_ms,
        heartbeat_at_ms=ABSENT if row.heartbeat_at_ms is None else row.heartbeat_at_ms,
        checkpoint=values["checkpoint_json"],
        error=values["error_json"],
        outcome=values["outcome_json"],
    )


def _has_valid_columns(row: AttemptRow) -> bool:
    return (
        all(is_durable_text(text) for text in (row.run_id, row.step_key_digest, row.state))
        and is_safe_integer(row.attempt)
        and is_safe_integer(row.started_at_ms)
        and all(time is None or is_safe_integer(time) for time in (row.finished_at_ms, row.heartbeat_at_ms))
    )

"""``flows_attempts`` as one immutable value beside a world (RS-110, RS-813, RS-814)."""

from collections.abc import Mapping
from typing import Final, TypeAlias, cast

import attrs

from tenure_model.admission.json_encoding import encode_json
from tenure_model.admission.json_values import JsonValue
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempts import Attempt, AttemptId, FinishAttempt

AttemptKey: TypeAlias = tuple[str, str, int]
"""Run id, step key digest and number of an attempt: the primary key (RS-110)."""


@attrs.frozen
class AttemptRow:
    """One row of ``flows_attempts`` (RS-110). JSON stands as text, so that null is ``"null"`` and absent ``None``."""

    run_id: str
    step_key_digest: str
    attempt: int
    state: str
    started_at_ms: int
    finished_at_ms: int | None
    heartbeat_at_ms: int | None
    checkpoint_json: str | None
    error_json: str | None
    outcome_json: str | None
    meta_json: str


@attrs.frozen
class AttemptTable:
    """All attempts at one instant. It has no triggers: nothing here costs a revision (RS-110, RS-166)."""

    rows: Mapping[AttemptKey, AttemptRow]


NO_ATTEMPTS: Final = AttemptTable(rows={})
"""The attempts of a freshly migrated database."""


def key_of(identified: AttemptId | Attempt | FinishAttempt | AttemptRow) -> AttemptKey:
    """Where the row stands."""
    return identified.run_id, identified.step_key_digest, identified.attempt


def with_row(attempts: AttemptTable, row: AttemptRow) -> AttemptTable:
    """The table in which this row stands under its key."""
    return AttemptTable({**attempts.rows, key_of(row): row})


def has_attempts(attempts: AttemptTable, run_id: str) -> bool:
    """Whether any row names the run, which then cannot be deleted (RS-106)."""
    return any(row.run_id == run_id for row in attempts.rows.values())


def row_of(attempt: Attempt) -> AttemptRow:
    """The row of an admitted attempt; absent optionals are null (RS-813, RS-822)."""
    return AttemptRow(
        run_id=attempt.run_id,
        step_key_digest=attempt.step_key_digest,
        attempt=attempt.attempt,
        state=attempt.state,
        started_at_ms=attempt.started_at_ms,
        finished_at_ms=None if attempt.finished_at_ms is ABSENT else attempt.finished_at_ms,
        heartbeat_at_ms=None if attempt.heartbeat_at_ms is ABSENT else attempt.heartbeat_at_ms,
        checkpoint_json=replaced(None, attempt.checkpoint),
        error_json=replaced(None, attempt.error),
        outcome_json=replaced(None, attempt.outcome),
        meta_json=json_text(attempt.meta),
    )


def replaced(column: str | None, value: object) -> str | None:
    """A nullable JSON column after a write that supplies ``value``, or says nothing of it by ``ABSENT`` (RS-813)."""
    return column if value is ABSENT else json_text(value)


def json_text(value: object) -> str:
    """An admitted value as it is stored: compact, members in the order of the walk (RS-814)."""
    return encode_json(cast(JsonValue, value))

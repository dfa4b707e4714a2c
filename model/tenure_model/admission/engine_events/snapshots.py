"""Snapshots of the projection of attempts, version 2: what compaction may leave behind instead of events.

A snapshot names the lineage it is about and the sequence that it covers. One that belongs elsewhere, tells of an
attempt twice, or knows more than it covers, is refused: the events that could contradict it may be gone.
"""

from typing import Final

from tenure_model.admission.engine_events.lineages import read_lineage
from tenure_model.admission.engine_events.members import (
    MalformedError,
    Members,
    array,
    identifier,
    json,
    only,
    open_record,
    optional,
    quantity,
    strict_record,
    word,
)
from tenure_model.admission.engine_events.results import read_failure, read_success
from tenure_model.admission.engine_events.wire_forms import lineage_wire, result_wire
from tenure_model.admission.journal_input import is_sequence
from tenure_model.admission.refusal import refuse
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.engine_events.consumers import Consumer
from tenure_model.vocabulary.engine_events.errors import (
    INVALID_SNAPSHOT,
    SNAPSHOT_OUTSIDE_SCOPE,
    UNSUPPORTED_SNAPSHOT,
    EventError,
)
from tenure_model.vocabulary.engine_events.lineage import Lineage
from tenure_model.vocabulary.engine_events.projections import (
    ATTEMPT_STATES,
    SNAPSHOT_VERSION,
    AttemptKey,
    AttemptProjection,
    AttemptState,
    ProjectedAttempt,
)

_NAMES: Final = frozenset(("version", "lineage", "coveringSeq", "rows"))
_OPEN: Final = frozenset(
    ("runId", "stepKeyDigest", "attempt", "seq", "state", "startedAtMs", "heartbeatAtMs", "checkpoint")
)
_ENDED: Final = _OPEN | {"finishedAtMs", "result"}
_PLACE: Final = "snapshot"


class _ForeignRowError(Exception):
    """A row is about another run."""


def encode_snapshot(projection: AttemptProjection) -> dict[str, object] | EventError:
    """The snapshot of a projection, JSON, its rows in the order of digest and attempt.

    ``malformed`` as long as no event has named the lineage, since a snapshot is nothing without.
    """
    if projection.lineage is None:
        return EventError("malformed", INVALID_SNAPSHOT, refuse("snapshot.lineage", "must be known"))
    run_id = projection.lineage.run_id
    return {
        "version": SNAPSHOT_VERSION,
        "lineage": lineage_wire(projection.lineage),
        "coveringSeq": projection.covering_seq,
        "rows": [_row_wire(run_id, projection.attempts[key]) for key in sorted(projection.attempts)],
    }


def decode_snapshot(value: object, consumer: Consumer) -> AttemptProjection | EventError:
    """The projection in a snapshot, for an admitted consumer.

    ``unsupported`` for another version; ``malformed`` where a member is missing, wrong or too many, where two rows have
    one identity, and where a row's sequence is past the covering one; ``foreign`` where the lineage is not the
    consumer's, or a row is about another run. First come version, shape and lineage, then the rows one by one.
    """
    try:
        version = open_record(value, _PLACE).get("version")
        if type(version) is int and version != SNAPSHOT_VERSION:
            return EventError("unsupported", UNSUPPORTED_SNAPSHOT, refuse("snapshot.version", "must be 2"))
        members = strict_record(value, _NAMES, _PLACE)
        if type(members.get("version")) is not int:
            raise MalformedError("snapshot.version", "must be 2")
        lineage = read_lineage(members.get("lineage"), "snapshot.lineage")
        covering_seq = _sequence(members, "coveringSeq", _PLACE)
        rows = array(members, "rows", _PLACE)
        if not _is_consumers(lineage, consumer):
            return EventError("foreign", SNAPSHOT_OUTSIDE_SCOPE, lineage)
        return AttemptProjection(lineage, covering_seq, _read_rows(rows, lineage, covering_seq))
    except MalformedError as error:
        return EventError("malformed", INVALID_SNAPSHOT, error.cause)
    except _ForeignRowError:
        return EventError("foreign", SNAPSHOT_OUTSIDE_SCOPE, refuse("snapshot.rows", "must be of the lineage's run"))


def _is_consumers(lineage: Lineage, consumer: Consumer) -> bool:
    return (
        lineage.run_id == consumer.run_id
        and lineage.lineage_id == consumer.lineage_id
        and lineage.root_run_id == consumer.root_run_id
        and lineage.round == consumer.round
        and lineage.parent_run_id == consumer.parent_run_id
    )


def _read_rows(rows: list[object], lineage: Lineage, covering_seq: int) -> dict[AttemptKey, ProjectedAttempt]:
    attempts: dict[AttemptKey, ProjectedAttempt] = {}
    for position, value in enumerate(rows):
        place = f"snapshot.rows[{position}]"
        row = _read_row(value, lineage.run_id, place)
        key = (row.step_key_digest, row.attempt)
        if key in attempts:
            raise MalformedError(place, "must have an identity of its own")
        if row.seq > covering_seq:
            raise MalformedError(f"{place}.seq", "must not be past the covering sequence")
        attempts[key] = row
    return attempts


def _read_row(value: object, run_id: str, place: str) -> ProjectedAttempt:
    members = open_record(value, place)
    if identifier(members, "runId", place) != run_id:
        raise _ForeignRowError
    step_key_digest = identifier(members, "stepKeyDigest", place)
    attempt = quantity(members, "attempt", place)
    seq = _sequence(members, "seq", place)
    state: AttemptState = word(members, "state", place, ATTEMPT_STATES)
    started_at_ms = quantity(members, "startedAtMs", place)
    heartbeat_at_ms = optional(quantity, members, "heartbeatAtMs", place)
    checkpoint = optional(json, members, "checkpoint", place)
    row = ProjectedAttempt(
        step_key_digest, attempt, seq, state, started_at_ms, ABSENT, heartbeat_at_ms, checkpoint, ABSENT
    )
    if state == "running" or state == "suspended":
        only(members, _OPEN, place)
        return row
    only(members, _ENDED, place)
    finished_at_ms = quantity(members, "finishedAtMs", place)
    result = (read_success if state == "succeeded" else read_failure)(members, "result", place)
    return ProjectedAttempt(
        step_key_digest, attempt, seq, state, started_at_ms, finished_at_ms, heartbeat_at_ms, checkpoint, result
    )


def _row_wire(run_id: str, row: ProjectedAttempt) -> dict[str, object]:
    wire: dict[str, object] = {
        "runId": run_id,
        "stepKeyDigest": row.step_key_digest,
        "attempt": row.attempt,
        "seq": row.seq,
        "state": row.state,
        "startedAtMs": row.started_at_ms,
        "finishedAtMs": row.finished_at_ms,
        "heartbeatAtMs": row.heartbeat_at_ms,
        "checkpoint": row.checkpoint,
        "result": result_wire(row.result),
    }
    return {name: member for name, member in wire.items() if member is not ABSENT}


def _sequence(members: Members, name: str, place: str) -> int:
    value = members.get(name)
    if is_sequence(value):
        return value
    raise MalformedError(f"{place}.{name}", "must be a sequence number")

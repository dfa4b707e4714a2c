"""Payloads of attempts, from the wire and back (JN-353, JN-354)."""

from typing import Final

from tenure_model.admission.engine_events.lineages import read_lineage
from tenure_model.admission.engine_events.members import (
    MalformedError,
    Members,
    identifier,
    json,
    only,
    open_record,
    optional,
    quantity,
    strict_record,
)
from tenure_model.admission.engine_events.results import read_failure, read_success
from tenure_model.vocabulary.engine_events.attempts import (
    EVENT_VERSION,
    AttemptFailed,
    AttemptLifecycle,
    AttemptPayload,
    AttemptRunning,
    AttemptSucceeded,
    AttemptSuspended,
)
from tenure_model.vocabulary.engine_events.lineage import Lineage

_NAMES: Final = frozenset(("version", "lineage", "executionId", "stepKeyDigest", "attempt", "lifecycle"))
_OPEN: Final = frozenset(("state", "startedAtMs", "heartbeatAtMs", "checkpoint"))
_ENDED: Final = frozenset(("state", "startedAtMs", "finishedAtMs", "result"))


def read_attempt_payload(value: object, place: str = "payload") -> AttemptPayload:
    """The payload of an attempt, no member missing and none too many (JN-353, JN-356)."""
    members = strict_record(value, _NAMES, place)
    check_version(members, place)
    lineage = read_lineage(members.get("lineage"), f"{place}.lineage")
    execution_id = read_execution_id(members, lineage, place)
    step_key_digest = identifier(members, "stepKeyDigest", place)
    attempt = quantity(members, "attempt", place)
    lifecycle = _read_lifecycle(members.get("lifecycle"), f"{place}.lifecycle")
    return AttemptPayload(lineage, execution_id, step_key_digest, attempt, lifecycle)


def check_version(members: Members, place: str) -> None:
    """The version is the number 2; ``2.0`` is not it in Python (JN-350, JN-607)."""
    version = members.get("version")
    if type(version) is not int or version != EVENT_VERSION:
        raise MalformedError(f"{place}.version", f"must be {EVENT_VERSION}")


def read_execution_id(members: Members, lineage: Lineage, place: str) -> str:
    """The id of the execution, which is that of the run (JN-353, JN-355)."""
    execution_id = identifier(members, "executionId", place)
    if execution_id != lineage.run_id:
        raise MalformedError(f"{place}.executionId", "must be the run of the lineage")
    return execution_id


def _read_lifecycle(value: object, place: str) -> AttemptLifecycle:
    members = open_record(value, place)
    state = members.get("state")
    if type(state) is str:
        if state == "running" or state == "suspended":
            only(members, _OPEN, place)
            started_at_ms = quantity(members, "startedAtMs", place)
            heartbeat_at_ms = optional(quantity, members, "heartbeatAtMs", place)
            checkpoint = optional(json, members, "checkpoint", place)
            kind = AttemptRunning if state == "running" else AttemptSuspended
            return kind(started_at_ms, heartbeat_at_ms, checkpoint)
        if state == "succeeded" or state == "failed":
            only(members, _ENDED, place)
            started_at_ms = quantity(members, "startedAtMs", place)
            finished_at_ms = quantity(members, "finishedAtMs", place)
            if state == "succeeded":
                return AttemptSucceeded(started_at_ms, finished_at_ms, read_success(members, "result", place))
            return AttemptFailed(started_at_ms, finished_at_ms, read_failure(members, "result", place))
    raise MalformedError(f"{place}.state", "must be one of running, suspended, succeeded, failed")

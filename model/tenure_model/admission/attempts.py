"""Attempts as a caller hands them in: ids, whole attempts, finishes, patches, checkpoints (RS-811..RS-860).

A record is an exact ``dict`` with the wire's camelCase names, or the exact frozen class of the vocabulary; either way
its fields are admitted one by one. A field that was never set, or is ``ABSENT``, is not there; ``None`` is null, which
is a value to JSON fields and a wrong one to all others (RS-813). What is answered is new and shares nothing with what
the caller may still change (RS-300).
"""

from collections.abc import Mapping
from typing import Final

from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.admission.integers import is_safe_integer
from tenure_model.admission.json_encoding import encoded_json_bytes
from tenure_model.admission.json_text import BYTES_COMPLAINT
from tenure_model.admission.json_values import JsonComplaint, admit_json_value
from tenure_model.admission.records import admit_owner
from tenure_model.admission.refusal import Refusal
from tenure_model.admission.text import is_durable_text
from tenure_model.admission.wire_records import wire_members
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempts import MAX_CHECKPOINT_BYTES, Attempt, AttemptId, AttemptPatch, FinishAttempt
from tenure_model.vocabulary.owners import OwnerId

_ID_FIELDS: Final = {"runId": "run_id", "stepKeyDigest": "step_key_digest", "attempt": "attempt"}
_ATTEMPT_REQUIRED: Final = {**_ID_FIELDS, "state": "state", "startedAtMs": "started_at_ms", "meta": "meta"}
_ATTEMPT_FIELDS: Final = {
    **_ATTEMPT_REQUIRED,
    "finishedAtMs": "finished_at_ms",
    "heartbeatAtMs": "heartbeat_at_ms",
    "checkpoint": "checkpoint",
    "error": "error",
    "outcome": "outcome",
}
_FINISH_REQUIRED: Final = {**_ID_FIELDS, "state": "state", "finishedAtMs": "finished_at_ms"}
_FINISH_FIELDS: Final = {**_FINISH_REQUIRED, "error": "error", "outcome": "outcome", "meta": "meta"}
_PATCH_FIELDS: Final = {"checkpoint": "checkpoint", "error": "error", "outcome": "outcome", "meta": "meta"}

_OWNER: Final = AttemptRefusal("owner must be an inert, valid owner identity")
_ID_RECORD: Final = AttemptRefusal("attempt id must be an inert data record")
_ID_VALUES: Final = AttemptRefusal("attempt identity violates the durable identifier contract")
_ATTEMPT_RECORD: Final = AttemptRefusal("attempt must be an inert data record")
_ATTEMPT_VALUES: Final = AttemptRefusal("attempt violates the persistence contract")
_FINISH_RECORD: Final = AttemptRefusal("finished attempt must be an inert data record")
_FINISH_VALUES: Final = AttemptRefusal("finished attempt violates the contract")
_FINISH_IN_PROGRESS: Final = AttemptRefusal("finish requires a terminal state and valid timestamp")
_PATCH_RECORD: Final = AttemptRefusal("attempt patch must be an inert data record")
_CHECKPOINT_BYTES: Final = AttemptRefusal(f"checkpoint {BYTES_COMPLAINT.text}")
_NOW: Final = AttemptRefusal("nowMs must be a non-negative safe integer")


def admit_attempt_owner(value: object) -> OwnerId | AttemptRefusal:
    """The owner that a write is fenced on; one text for a wrong shape and for wrong values (RS-811)."""
    owner = admit_owner(value, "owner")
    return _OWNER if type(owner) is Refusal else owner


def admit_attempt_id(value: object) -> AttemptId | AttemptRefusal:
    """The key in a record: the three fields alone, whatever else an attempt or a ``dict`` holds (RS-812, RS-305)."""
    if type(value) is AttemptId or type(value) is Attempt or type(value) is FinishAttempt:
        members: Mapping[str, object] | None = _attributes(value, _ID_FIELDS)
    else:
        members = wire_members(value)
    if members is None or not _has_all(members, _ID_FIELDS):
        return _ID_RECORD
    return admit_attempt_key(members["runId"], members["stepKeyDigest"], members["attempt"])


def admit_attempt_key(run_id: object, step_key_digest: object, attempt: object) -> AttemptId | AttemptRefusal:
    """The key in three values: two durable texts and a safe integer (RS-812)."""
    if is_durable_text(run_id) and is_durable_text(step_key_digest) and is_safe_integer(attempt):
        return AttemptId(run_id, step_key_digest, attempt)
    return _ID_VALUES


def admit_attempt_now(value: object) -> int | AttemptRefusal:
    """The reading of a heartbeat in milliseconds; no clock is asked about it (RS-815, RS-840)."""
    return value if is_safe_integer(value) else _NOW


def admit_attempt(value: object, max_checkpoint_bytes: int) -> Attempt | AttemptRefusal:
    """A whole attempt, or the first refusal: record, JSON, values, configured cap of the checkpoint (RS-820)."""
    members = _record(value, Attempt, _ATTEMPT_FIELDS, _ATTEMPT_REQUIRED)
    if members is None:
        return _ATTEMPT_RECORD
    json = _admit_json_members(members, ("checkpoint", "error", "outcome", "meta"))
    if isinstance(json, AttemptRefusal):
        return json
    fields, checkpoint_bytes = json
    identity = admit_attempt_key(members["runId"], members["stepKeyDigest"], members["attempt"])
    state, started_at_ms = members["state"], members["startedAtMs"]
    finished_at_ms = members.get("finishedAtMs", ABSENT)
    heartbeat_at_ms = members.get("heartbeatAtMs", ABSENT)
    if (
        isinstance(identity, AttemptRefusal)
        or not is_durable_text(state)
        or not is_safe_integer(started_at_ms)
        or not (finished_at_ms is ABSENT or is_safe_integer(finished_at_ms))
        or not (heartbeat_at_ms is ABSENT or is_safe_integer(heartbeat_at_ms))
    ):
        return _ATTEMPT_VALUES
    if checkpoint_bytes > max_checkpoint_bytes:
        return _CHECKPOINT_BYTES
    return Attempt(
        run_id=identity.run_id,
        step_key_digest=identity.step_key_digest,
        attempt=identity.attempt,
        state=state,
        started_at_ms=started_at_ms,
        meta=fields["meta"],
        finished_at_ms=finished_at_ms,
        heartbeat_at_ms=heartbeat_at_ms,
        checkpoint=fields["checkpoint"],
        error=fields["error"],
        outcome=fields["outcome"],
    )


def admit_finish(value: object, in_progress_states: tuple[str, ...]) -> FinishAttempt | AttemptRefusal:
    """How an attempt ended, or the first refusal: record, JSON, values, a state in progress (RS-850)."""
    members = _record(value, FinishAttempt, _FINISH_FIELDS, _FINISH_REQUIRED)
    if members is None:
        return _FINISH_RECORD
    json = _admit_json_members(members, ("error", "outcome", "meta"))
    if isinstance(json, AttemptRefusal):
        return json
    fields, _ = json
    identity = admit_attempt_key(members["runId"], members["stepKeyDigest"], members["attempt"])
    state, finished_at_ms = members["state"], members["finishedAtMs"]
    if isinstance(identity, AttemptRefusal) or not is_durable_text(state) or not is_safe_integer(finished_at_ms):
        return _FINISH_VALUES
    if state in in_progress_states:
        return _FINISH_IN_PROGRESS
    return FinishAttempt(
        run_id=identity.run_id,
        step_key_digest=identity.step_key_digest,
        attempt=identity.attempt,
        state=state,
        finished_at_ms=finished_at_ms,
        error=fields["error"],
        outcome=fields["outcome"],
        meta=fields["meta"],
    )


def admit_patch(value: object, max_checkpoint_bytes: int) -> AttemptPatch | AttemptRefusal:
    """New values of the opaque fields, or the first refusal: record, JSON, configured cap (RS-860)."""
    members = _record(value, AttemptPatch, _PATCH_FIELDS, {})
    if members is None:
        return _PATCH_RECORD
    json = _admit_json_members(members, ("checkpoint", "error", "outcome", "meta"))
    if isinstance(json, AttemptRefusal):
        return json
    fields, checkpoint_bytes = json
    if checkpoint_bytes > max_checkpoint_bytes:
        return _CHECKPOINT_BYTES
    return AttemptPatch(fields["checkpoint"], fields["error"], fields["outcome"], fields["meta"])


def admit_checkpoint(value: object, max_checkpoint_bytes: int) -> object | AttemptRefusal:
    """The checkpoint of a heartbeat within the configured cap; ``ABSENT`` is none and passes as it is (RS-840)."""
    json = _admit_json_members({"checkpoint": value}, ("checkpoint",))
    if isinstance(json, AttemptRefusal):
        return json
    fields, checkpoint_bytes = json
    return _CHECKPOINT_BYTES if checkpoint_bytes > max_checkpoint_bytes else fields["checkpoint"]


def _record(
    value: object, carrier: type[object], fields: Mapping[str, str], required: Mapping[str, str]
) -> Mapping[str, object] | None:
    """The members of an exact record under their wire names, or ``None`` where it is no such record (RS-304)."""
    if type(value) is carrier:
        members: Mapping[str, object] | None = _attributes(value, fields)
    else:
        members = wire_members(value)
    if members is None or not members.keys() <= fields.keys() or not _has_all(members, required):
        return None
    return members


def _attributes(value: object, fields: Mapping[str, str]) -> Mapping[str, object]:
    # The carriers are slotted classes without computed attributes: reading a field runs no foreign code.
    return {wire: getattr(value, name) for wire, name in fields.items() if hasattr(value, name)}


def _has_all(members: Mapping[str, object], required: Mapping[str, str]) -> bool:
    return all(members.get(name, ABSENT) is not ABSENT for name in required)


def _admit_json_members(
    members: Mapping[str, object], fields: tuple[str, ...]
) -> tuple[Mapping[str, object], int] | AttemptRefusal:
    """Inert copies of the JSON fields, absent ones as ``ABSENT``, and how many bytes the checkpoint takes.

    Or the first complaint, named after its field; a checkpoint beyond what any configuration admits is one (RS-820).
    """
    admitted: dict[str, object] = {}
    checkpoint_bytes = 0
    for field in fields:
        value = members.get(field, ABSENT)
        if value is not ABSENT:
            json = admit_json_value(value)
            if type(json) is JsonComplaint:
                return AttemptRefusal(f"{field} {json.text}")
            if field == "checkpoint":
                checkpoint_bytes = encoded_json_bytes(json)
                if checkpoint_bytes > MAX_CHECKPOINT_BYTES:
                    return _CHECKPOINT_BYTES
            value = json
        admitted[field] = value
    return admitted, checkpoint_bytes

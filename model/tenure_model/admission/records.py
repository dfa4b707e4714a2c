"""Records a caller hands in: identities, snapshots, evidence, guards, options (RS-304..RS-313, RS-500).

A record is an exact ``dict`` with the wire's camelCase names, or the exact frozen class of the vocabulary. The class
checks nothing when it is built, so its fields are admitted one by one like the members of a ``dict``; a field that was
never set reads as absent. A frozen object is answered as it is when everything in it is admitted as it is, else a fresh
one is built. Nothing of a foreign type is ever called, compared or hashed.
"""

from collections.abc import Mapping
from typing import Final, cast

from tenure_model.admission.integers import admit_timestamp, is_safe_integer
from tenure_model.admission.refusal import Refusal, refuse
from tenure_model.admission.text import is_durable_text
from tenure_model.admission.wire_records import wire_members
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import COMPANION_PREFIX
from tenure_model.vocabulary.evidence import EVIDENCE_KINDS, LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import CancelGuard, CreateOptions, RunRow, RunSnapshot, TransitionGuard
from tenure_model.vocabulary.statuses import RUN_STATUSES, TargetStatus

_OWNER_FIELDS: Final = {"hostId": "host_id", "pid": "pid", "nonce": "nonce"}
_SNAPSHOT_FIELDS: Final = {"status": "status", "owner": "owner", "heartbeatAtMs": "heartbeat_at_ms"}
_EVIDENCE_FIELDS: Final = {"expectedOwner": "expected_owner", "checkedAtMs": "checked_at_ms", "kind": "kind"}
_GUARD_FIELDS: Final = {"cancelRequested": "cancel_requested"}
_OPTION_FIELDS: Final = {
    "parentRunId": "parent_run_id",
    "lineageId": "lineage_id",
    "roundOrdinal": "round_ordinal",
}

_STATUSES: Final = frozenset(RUN_STATUSES)
_TARGET_STATUSES: Final = _STATUSES - {"pending"}
_KINDS: Final = frozenset(EVIDENCE_KINDS)
_DURABLE_CONTRACT: Final = "violates the durable contract"

_NO_OPTIONS: Final = CreateOptions()


def admit_run_id(value: object) -> str | Refusal:
    """The id of a run; ids of companion streams are ordinary here (RS-307)."""
    if is_durable_text(value):
        return value
    return refuse("runId", "must be well-formed durable text")


def admit_new_run_id(value: object) -> str | Refusal:
    """The id of a run to create: no companion stream's name (RS-307)."""
    run_id = admit_run_id(value)
    if type(run_id) is str and run_id.startswith(COMPANION_PREFIX):
        return refuse("runId", "names a reserved journal companion stream")
    return run_id


def admit_owner(value: object, field: str) -> OwnerId | Refusal:
    """An owner identity, or a refusal under ``field`` for its shape or its values (RS-304, RS-306)."""
    if type(value) is OwnerId:
        try:
            host_id: object = value.host_id
            pid: object = value.pid
            nonce: object = value.nonce
        except AttributeError:
            return refuse(field, "must be a valid owner identity")
        if is_durable_text(host_id) and is_safe_integer(pid) and is_durable_text(nonce):
            return value
        return refuse(field, "must be a valid owner identity")
    members = _exact_members(value, _OWNER_FIELDS)
    if members is None:
        return refuse(field, "must be an inert owner record")
    host_id, pid, nonce = members.get("hostId"), members.get("pid"), members.get("nonce")
    if is_durable_text(host_id) and is_safe_integer(pid) and is_durable_text(nonce):
        return OwnerId(host_id, pid, nonce)
    return refuse(field, "must be a valid owner identity")


def admit_snapshot(value: object) -> RunSnapshot | Refusal:
    """What a caller expects of a run, or the first refusal in the order of RS-310.

    A ``RunRow``, and a ``dict`` with more than the three fields, pass by these three alone (RS-305).
    """
    if type(value) is RunSnapshot or type(value) is RunRow:
        try:
            status: object = value.status
            owner: object = value.owner
            heartbeat_at_ms: object = value.heartbeat_at_ms
        except AttributeError:
            return refuse("expected", "must be an inert snapshot record")
    else:
        members = wire_members(value)
        if members is None or not members.keys() >= _SNAPSHOT_FIELDS.keys():
            return refuse("expected", "must be an inert snapshot record")
        status, owner, heartbeat_at_ms = members["status"], members["owner"], members["heartbeatAtMs"]
    if not (
        type(status) is str and status in _STATUSES and (heartbeat_at_ms is None or is_safe_integer(heartbeat_at_ms))
    ):
        return refuse("expected", "contains an invalid status or heartbeat")
    admitted_owner = None if owner is None else admit_owner(owner, "expected.owner")
    if type(admitted_owner) is Refusal:
        return admitted_owner
    if status == "running":
        well_formed = admitted_owner is not None and heartbeat_at_ms is not None
    else:
        well_formed = admitted_owner is None and heartbeat_at_ms is None
    if not well_formed:
        return refuse("expected", "violates ownership invariants")
    if type(value) is RunSnapshot and admitted_owner is owner:
        return value
    return RunSnapshot(status, admitted_owner, heartbeat_at_ms)


def admit_evidence(value: object) -> LivenessEvidence | Refusal:
    """Liveness evidence, or the first refusal in the order of RS-311.

    ``ABSENT`` and ``None`` are refused: a caller for whom evidence is optional asks for ``ABSENT`` first.
    """
    members = _exact_members(value, _EVIDENCE_FIELDS, LivenessEvidence)
    if members is None:
        return refuse("evidence", "must be an inert evidence record")
    owner = admit_owner(members.get("expectedOwner"), "evidence.expectedOwner")
    if type(owner) is Refusal:
        return owner
    checked_at_ms = admit_timestamp(members.get("checkedAtMs"), "evidence.checkedAtMs")
    if type(checked_at_ms) is Refusal:
        return checked_at_ms
    kind = members.get("kind")
    if type(kind) is not str or kind not in _KINDS:
        return refuse("evidence.kind", _DURABLE_CONTRACT)
    if type(value) is LivenessEvidence and owner is members["expectedOwner"]:
        return value
    return LivenessEvidence(owner, checked_at_ms, kind)


def admit_guard(value: object) -> TransitionGuard | Refusal | None:
    """A transition guard; ``ABSENT`` is no guard, ``None`` is refused, an empty record guards nothing (RS-312)."""
    if value is ABSENT:
        return None
    members = _exact_members(value, _GUARD_FIELDS, TransitionGuard)
    if members is None:
        return refuse("guard", "must be an inert exact guard")
    cancel_requested = members.get("cancelRequested", ABSENT)
    if cancel_requested is ABSENT:
        return TransitionGuard()
    if type(cancel_requested) is str and cancel_requested in ("absent", "present"):
        return TransitionGuard(cast(CancelGuard, cancel_requested))
    return refuse("guard.cancelRequested", _DURABLE_CONTRACT)


def admit_create_options(value: object) -> CreateOptions | Refusal:
    """Ancestry and lineage of a new run; absent and ``None`` mean none, for the record and each member (RS-313)."""
    if value is ABSENT or value is None:
        return _NO_OPTIONS
    members = _exact_members(value, _OPTION_FIELDS, CreateOptions)
    if members is None:
        return refuse("options", "must be an inert data record")
    parent_run_id = _none_if_absent(members.get("parentRunId"))
    lineage_id = _none_if_absent(members.get("lineageId"))
    round_ordinal = _none_if_absent(members.get("roundOrdinal"))
    if (
        (parent_run_id is None or is_durable_text(parent_run_id))
        and (lineage_id is None or is_durable_text(lineage_id))
        and (round_ordinal is None or is_safe_integer(round_ordinal))
        and (lineage_id is None) == (round_ordinal is None)
    ):
        return CreateOptions(parent_run_id, lineage_id, round_ordinal)
    return refuse("options", "contains invalid ancestry or lineage")


def admit_target_status(value: object) -> TargetStatus | Refusal:
    """The status a transition leads to: any but ``pending`` (RS-500)."""
    if type(value) is str and value in _TARGET_STATUSES:
        return cast(TargetStatus, value)
    return refuse("toStatus", _DURABLE_CONTRACT)


def _none_if_absent(value: object) -> object:
    return None if value is ABSENT else value


def _exact_members(
    value: object, fields: Mapping[str, str], carrier: type[object] | None = None
) -> Mapping[str, object] | None:
    """The members of an exact record under their wire names, or ``None`` where it is no such record (RS-304)."""
    if carrier is not None and type(value) is carrier:
        # The carriers are slotted classes without computed attributes: reading a field runs no foreign code.
        return {wire: getattr(value, name) for wire, name in fields.items() if hasattr(value, name)}
    if type(value) is not dict or len(value) > len(fields):
        return None
    members = wire_members(value)
    return members if members is not None and members.keys() <= fields.keys() else None

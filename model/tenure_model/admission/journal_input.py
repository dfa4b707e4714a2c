"""What a producer hands in, and the owner that fences it (JN-020..JN-024, JN-080, JN-082)."""

from typing import TypeGuard, cast

from tenure_model.admission.integers import is_safe_integer
from tenure_model.admission.refusal import Refusal, refuse
from tenure_model.admission.text import has_surrogate, is_durable_text
from tenure_model.admission.wire_records import wire_members
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal import Dedupe, JournalInput
from tenure_model.vocabulary.owners import OwnerId

_IDENTIFIER_CONTRACT = "violates the journal identifier contract"


def is_sequence(value: object) -> TypeGuard[int]:
    """Whether ``value`` is an exact ``int`` in 0..2**53-2, so that its successor is a number too (JN-022)."""
    return type(value) is int and 0 <= value < MAX_SAFE_INTEGER


def admit_journal_input(value: object) -> JournalInput | Refusal:
    """A well-formed input, its payload and meta still the caller's own values, or a refusal naming the field (JN-024).

    ``value`` is a ``JournalInput`` or an exact ``dict`` under the wire's names, whose other members are ignored. A
    missing payload is refused, ``None`` is null.
    """
    if type(value) is JournalInput:
        try:
            if value.payload is not ABSENT and _is_admitted(
                value.run_id, value.source_id, value.event_type, value.source_seq, value.dedupe
            ):
                # Nothing to put right: the carrier is frozen, so it serves as its own copy.
                return value
            members: dict[str, object] = {
                "runId": value.run_id,
                "sourceId": value.source_id,
                "eventType": value.event_type,
                "payload": value.payload,
                "sourceSeq": value.source_seq,
                "dedupe": value.dedupe,
                "meta": value.meta,
            }
        except AttributeError:
            return refuse("input", "must be an inert input record")
    else:
        copied = wire_members(value)
        if copied is None:
            return refuse("input", "must be an inert input record")
        members = copied
    return _admit_members(members)


def admit_fence_owner(value: object) -> OwnerId | Refusal:
    """An owner to compare a lease with: host id and nonce may be empty, and match nobody then (JN-080, JN-082)."""
    if type(value) is OwnerId:
        try:
            host_id: object = value.host_id
            pid: object = value.pid
            nonce: object = value.nonce
        except AttributeError:
            return refuse("owner", "must be a well-formed owner identity")
    else:
        members = wire_members(value)
        if members is None:
            return refuse("owner", "must be an inert owner record")
        host_id, pid, nonce = members.get("hostId"), members.get("pid"), members.get("nonce")
    if _is_text(host_id) and is_safe_integer(pid) and _is_text(nonce):
        return value if type(value) is OwnerId else OwnerId(host_id, pid, nonce)
    return refuse("owner", "must be a well-formed owner identity")


def _is_admitted(run_id: object, source_id: object, event_type: object, source_seq: object, dedupe: object) -> bool:
    return (
        is_durable_text(run_id)
        and is_durable_text(source_id)
        and is_durable_text(event_type)
        and (source_seq is ABSENT or is_sequence(source_seq))
        and type(dedupe) is str
        and (dedupe == "content" or dedupe == "identity")
    )


def _admit_members(members: dict[str, object]) -> JournalInput | Refusal:
    run_id = members.get("runId")
    if not is_durable_text(run_id):
        return refuse("runId", _IDENTIFIER_CONTRACT)
    source_id = members.get("sourceId")
    if not is_durable_text(source_id):
        return refuse("sourceId", _IDENTIFIER_CONTRACT)
    source_seq = members.get("sourceSeq", ABSENT)
    if source_seq is not ABSENT and not is_sequence(source_seq):
        return refuse("sourceSeq", "must be an allocatable sequence number")
    dedupe = members.get("dedupe", ABSENT)
    if dedupe is ABSENT:
        dedupe = "content"
    elif type(dedupe) is not str or dedupe not in ("content", "identity"):
        return refuse("dedupe", "must be content or identity")
    event_type = members.get("eventType")
    if not is_durable_text(event_type):
        return refuse("eventType", _IDENTIFIER_CONTRACT)
    payload = members.get("payload", ABSENT)
    if payload is ABSENT:
        return refuse("payload", "is missing")
    return JournalInput(
        run_id,
        source_id,
        event_type,
        payload,
        source_seq,
        cast(Dedupe, dedupe),
        members.get("meta", ABSENT),
    )


def _is_text(value: object) -> TypeGuard[str]:
    return type(value) is str and not has_surrogate(value)

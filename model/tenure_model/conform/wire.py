"""The wire form: how values, outcomes and errors look once they leave Python.

Fields are camelCase, a tagged value carries ``_tag``, an error is ``{"code", "method", "message"}``. Absent and null
differ: a field whose value is ``ABSENT`` is left out.
"""

from functools import cache
from typing import TypeAlias

import attrs

from tenure_model.semantics.journal import answers
from tenure_model.semantics.journal.answers import UserFailure
from tenure_model.semantics.journal.instance import Failed
from tenure_model.vocabulary import attempt_outcomes, outcomes
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempt_errors import AttemptStoreError
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.journal import Accepted, Dropped, Duplicate
from tenure_model.vocabulary.journal_errors import JournalError, JournalUsageError

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

_TAGGED = frozenset(
    member
    for module in (outcomes, attempt_outcomes, answers)
    for member in vars(module).values()
    if isinstance(member, type) and attrs.has(member)
) | {Accepted, Dropped, Duplicate}


def camel_case(name: str) -> str:
    """``claimed_at_ms`` as ``claimedAtMs``."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


@cache
def _wire_fields(kind: type) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, camel_case(field.name)) for field in attrs.fields(kind))


def to_wire(value: object) -> Json:
    """A result, an argument or any value of the vocabulary as JSON data.

    Values that are JSON already pass as they are, so that bad input survives the way into a trace file.
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [to_wire(member) for member in value]
    if isinstance(value, dict):
        return {str(key): to_wire(member) for key, member in value.items() if member is not ABSENT}
    if isinstance(value, OwnershipFact):
        payload = to_wire({"runId": value.run_id, "owner": value.owner, "grantedAtMs": value.granted_at_ms})
        return [value.event_type, payload]
    if attrs.has(type(value)):
        record: dict[str, Json] = {"_tag": type(value).__name__} if type(value) in _TAGGED else {}
        kind: type = type(value)
        for name, wire_name in _wire_fields(kind):
            member = getattr(value, name)
            if member is not ABSENT:
                record[wire_name] = to_wire(member)
        return record
    raise TypeError(f"no wire form for {type(value).__name__}")


def error_to_wire(error: RunStoreError | AttemptStoreError | JournalError | JournalUsageError) -> dict[str, Json]:
    """An error as ``{"code", "method", "message"}``; its cause never travels.

    A journal error has no method, but perhaps ``checkpointSeq``; a usage error has the code ``usage``.
    """
    if isinstance(error, RunStoreError | AttemptStoreError):
        return {"code": error.code, "method": error.method, "message": error.message}
    if isinstance(error, JournalUsageError):
        return {"code": "usage", "message": str(error)}
    wire: dict[str, Json] = {"code": error.code, "message": error.message}
    if error.checkpoint_seq is not ABSENT:
        wire["checkpointSeq"] = error.checkpoint_seq
    return wire


def result_to_wire(result: object, operation: str = "") -> dict[str, Json]:
    """What a call answered, as the part of a trace step that says so: ``{"ok": …}`` or ``{"error": …}``.

    What ``attempt.get`` and ``journal.latestCheckpoint`` answer is wrapped in ``None`` or ``Some``, the answers inside
    a ``journal.transact`` each in their own ``ok``.
    """
    if isinstance(result, RunStoreError | AttemptStoreError | JournalError | JournalUsageError):
        return {"error": error_to_wire(result)}
    if isinstance(result, UserFailure):
        return {"error": {"code": "user_failure"}}
    if isinstance(result, Failed):
        return {"ok": {"_tag": "Failed", "error": error_to_wire(result.error)}}
    if operation in ("attempt.get", "journal.latestCheckpoint"):
        return {"ok": {"_tag": "None"} if result is None else {"_tag": "Some", "value": to_wire(result)}}
    if operation == "journal.transact" and isinstance(result, tuple):
        return {"ok": [dict(result_to_wire(member)) for member in result]}
    return {"ok": to_wire(result)}

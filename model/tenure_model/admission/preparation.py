"""What happens to an input once, before any sequence is taken and any transaction begun (JN-040..JN-045)."""

from math import floor, isfinite

import attrs

from tenure_model.admission.canonical_json import encode_canonical
from tenure_model.admission.journal_input import admit_journal_input
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal import Dedupe, JsonHook, Redact
from tenure_model.vocabulary.journal_errors import (
    INVALID_CLOCK,
    INVALID_INPUT,
    NOT_REDACTED,
    JournalError,
    entry_too_large,
)


@attrs.frozen
class Prepared:
    """An input ready to be numbered: its content as the characters that will be stored (JN-042, JN-046).

    ``emitted_at_ms`` is fixed here and reused by every retry (JN-028).
    """

    run_id: str
    source_id: str
    source_seq: int | AbsentType
    dedupe: Dedupe
    event_type: str
    payload_json: str
    meta_json: str
    emitted_at_ms: int


def prepare(
    value: object, clock_ms: float, redact: Redact, max_entry_bytes: int | None = None, default: JsonHook | None = None
) -> Prepared | JournalError:
    """The prepared input, or ``invalid_event`` for the first check that fails, in the order of JN-040 from step 2 on:
    the input's contract, the clock, redaction of payload and of meta, encoding of payload and of meta, the byte bound.

    ``clock_ms`` is rounded down. A redactor that raises leaves no cause, since its error may quote the payload
    (JN-402). What ``default`` makes of a value after redaction is redacted in its turn.
    """
    admitted = admit_journal_input(value)
    if type(admitted) is Refusal:
        return JournalError("invalid_event", INVALID_INPUT, cause=admitted.cause)
    emitted_at_ms = _whole_ms(clock_ms)
    if emitted_at_ms is None:
        return JournalError("invalid_event", INVALID_CLOCK)
    meta = None if admitted.meta is ABSENT else admitted.meta
    try:
        payload = redact(admitted.payload)
    except Exception:  # noqa: BLE001  # whatever a caller's redactor raises, the event is refused
        return JournalError("invalid_event", f"payload {NOT_REDACTED}")
    try:
        meta = redact(meta)
    except Exception:  # noqa: BLE001  # whatever a caller's redactor raises, the event is refused
        return JournalError("invalid_event", f"meta {NOT_REDACTED}")
    hook = None if default is None else _redacting(default, redact)
    payload_json = encode_canonical(payload, "payload", hook)
    if type(payload_json) is Refusal:
        return _refused(payload_json)
    meta_json = encode_canonical(meta, "meta", hook)
    if type(meta_json) is Refusal:
        return _refused(meta_json)
    if max_entry_bytes is not None:
        size = len(payload_json.encode()) + len(meta_json.encode())
        if size > max_entry_bytes:
            return entry_too_large(size, max_entry_bytes)
    return Prepared(
        admitted.run_id,
        admitted.source_id,
        admitted.source_seq,
        admitted.dedupe,
        admitted.event_type,
        payload_json,
        meta_json,
        emitted_at_ms,
    )


def _whole_ms(clock_ms: object) -> int | None:
    """The reading rounded down, where that is a non-negative safe integer (JN-028)."""
    if type(clock_ms) is float and isfinite(clock_ms):
        clock_ms = floor(clock_ms)
    return clock_ms if type(clock_ms) is int and 0 <= clock_ms <= MAX_SAFE_INTEGER else None


def _redacting(default: JsonHook, redact: Redact) -> JsonHook:
    return lambda value: redact(default(value))


def _refused(refusal: Refusal) -> JournalError:
    return JournalError("invalid_event", f"{refusal.cause['field']} {refusal.cause['detail']}", cause=refusal.cause)

"""Inputs for a journal that carry engine events of version 2 (JN-357)."""

from collections.abc import Callable

from tenure_model.admission.engine_events.attempts import read_attempt_payload
from tenure_model.admission.engine_events.members import MalformedError, copied_json
from tenure_model.admission.engine_events.states import read_state_payload
from tenure_model.admission.engine_events.wire_forms import attempt_wire, state_wire
from tenure_model.admission.journal_input import is_sequence
from tenure_model.admission.json_values import JsonComplaint
from tenure_model.admission.refusal import refuse
from tenure_model.admission.text import is_durable_text
from tenure_model.vocabulary.engine_events.attempts import ATTEMPT_LIFECYCLE, AttemptPayload
from tenure_model.vocabulary.engine_events.errors import INVALID_EVENT, EventError
from tenure_model.vocabulary.engine_events.states import STATE_EVENT, StatePayload
from tenure_model.vocabulary.journal import JournalInput


def build_attempt(
    payload: object, source_id: object, source_seq: object, diagnostics: object = None
) -> JournalInput | EventError:
    """The input that records an attempt, or ``malformed`` (JN-357).

    ``payload`` is an ``AttemptPayload`` or an exact ``dict`` of the wire, either way admitted like a stored one. The
    payload of the input is the ``dict`` that will be stored, its meta a copy of the diagnostics, which are JSON.
    """
    return _build(payload, source_id, source_seq, diagnostics, ATTEMPT_LIFECYCLE, read_attempt_payload, attempt_wire)


def build_state_event(
    payload: object, source_id: object, source_seq: object, diagnostics: object = None
) -> JournalInput | EventError:
    """As ``build_attempt``, of a state event and its ``StatePayload`` (JN-357)."""
    return _build(payload, source_id, source_seq, diagnostics, STATE_EVENT, read_state_payload, state_wire)


def _build(
    payload: object,
    source_id: object,
    source_seq: object,
    diagnostics: object,
    event_type: str,
    read: Callable[[object], AttemptPayload | StatePayload],
    wire: Callable[[object], object],
) -> JournalInput | EventError:
    try:
        written = wire(payload)
    except AttributeError as error:
        # A field of the payload was never set.
        return EventError("malformed", INVALID_EVENT, error)
    try:
        admitted = read(written)
    except MalformedError as error:
        return EventError("malformed", INVALID_EVENT, error.cause)
    if not is_durable_text(source_id):
        return EventError("malformed", INVALID_EVENT, refuse("sourceId", "must be an identifier"))
    if not is_sequence(source_seq):
        return EventError("malformed", INVALID_EVENT, refuse("sourceSeq", "must be an allocatable sequence number"))
    meta = copied_json(diagnostics)
    if type(meta) is JsonComplaint:
        return EventError("malformed", INVALID_EVENT, refuse("diagnostics", meta.text))
    return JournalInput(
        admitted.lineage.run_id, source_id, event_type, wire(admitted), source_seq=source_seq, meta=meta
    )

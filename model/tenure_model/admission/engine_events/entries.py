"""Which engine events of version 2 a consumer takes (JN-359, JN-360)."""

from typing import Final

from tenure_model.admission.engine_events.attempts import read_attempt_payload
from tenure_model.admission.engine_events.envelopes import read_envelope
from tenure_model.admission.engine_events.members import MalformedError, copied_json
from tenure_model.admission.engine_events.states import read_state_payload
from tenure_model.admission.json_values import JsonComplaint
from tenure_model.admission.refusal import refuse
from tenure_model.vocabulary.engine_events.attempts import ATTEMPT_LIFECYCLE, AttemptPayload
from tenure_model.vocabulary.engine_events.consumers import (
    ENGINE_NAMESPACE,
    Attempt,
    Consumer,
    DecodedEvent,
    Ignored,
    State,
    Unknown,
)
from tenure_model.vocabulary.engine_events.errors import (
    INVALID_EVENT,
    LINEAGE_DISAGREES,
    OUTSIDE_SCOPE,
    UNSUPPORTED_EVENT,
    EventError,
)
from tenure_model.vocabulary.engine_events.lineage import Lineage
from tenure_model.vocabulary.engine_events.states import STATE_EVENT, StatePayload
from tenure_model.vocabulary.journal import Entry

_IGNORED: Final = Ignored()


def decode_entry(value: object, consumer: Consumer) -> DecodedEvent | EventError:
    """What a committed event is to an admitted consumer, by the first line of JN-359 that applies.

    A broken envelope is ``malformed``; another run or source ``foreign``; another event of an engine ``unsupported``;
    an event outside the engine's namespace is ``Ignored`` or ``Unknown``, its payload and meta unread; a broken payload
    is ``malformed``; another lineage ``foreign``, whatever its kind; a meta that is no JSON ``malformed``. ``value`` is
    an ``Entry`` or an exact ``dict`` under the wire's names; no code of the value is ever run.
    """
    try:
        entry = read_envelope(value)
        if entry.run_id != consumer.run_id or entry.source_id not in consumer.sources:
            return EventError("foreign", OUTSIDE_SCOPE, entry)
        payload: AttemptPayload | StatePayload
        if entry.event_type == ATTEMPT_LIFECYCLE:
            payload = read_attempt_payload(entry.payload)
        elif entry.event_type == STATE_EVENT:
            payload = read_state_payload(entry.payload)
        elif entry.event_type.startswith(ENGINE_NAMESPACE):
            return EventError("unsupported", UNSUPPORTED_EVENT, entry)
        else:
            return Unknown(entry) if consumer.unknown == "surface" else _IGNORED
    except MalformedError as error:
        return EventError("malformed", INVALID_EVENT, error.cause)
    if not _agrees(payload.lineage, entry, consumer):
        return EventError("foreign", LINEAGE_DISAGREES, payload.lineage)
    meta = copied_json(entry.meta)
    if type(meta) is JsonComplaint:
        return EventError("malformed", INVALID_EVENT, refuse("entry.meta", meta.text))
    return Attempt(entry, payload) if isinstance(payload, AttemptPayload) else State(entry, payload)


def _agrees(lineage: Lineage, entry: Entry, consumer: Consumer) -> bool:
    return (
        lineage.run_id == entry.run_id
        and lineage.lineage_id == consumer.lineage_id
        and lineage.root_run_id == consumer.root_run_id
        and lineage.round == consumer.round
        and lineage.parent_run_id == consumer.parent_run_id
    )

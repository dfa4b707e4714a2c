"""The older markers of attempts, held against a consumer (JN-361, JN-362)."""

from tenure_model.admission.engine_events.envelopes import read_envelope
from tenure_model.admission.engine_events.members import MalformedError, identifier, open_record, quantity, word
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.engine_events.consumers import Consumer
from tenure_model.vocabulary.engine_events.errors import INVALID_MARKER, MARKER_OUTSIDE_SCOPE, EventError
from tenure_model.vocabulary.engine_events.markers import (
    ATTEMPT_FINISHED,
    ATTEMPT_STARTED,
    FINISHED_STATES,
    AttemptFinished,
    AttemptMarker,
    AttemptStarted,
    CurrentAttempt,
)
from tenure_model.vocabulary.engine_events.plans import TIERS
from tenure_model.vocabulary.journal import Entry


def decode_current_attempt(value: object, consumer: Consumer) -> CurrentAttempt | EventError:
    """The marker in a committed event, or the first of: broken envelope, broken marker, broken meta, all ``malformed``,
    and ``foreign`` for another run, lineage or source than the admitted consumer's (JN-361).

    Root, round and parent of the consumer play no part. A finished marker has no result, and gets none (JN-362).
    """
    try:
        entry = read_envelope(value)
        marker = _read_marker(entry)
        lineage_id = identifier(open_record(entry.meta, "meta"), "lineageId", "meta")
    except MalformedError as error:
        return EventError("malformed", INVALID_MARKER, error.cause)
    if (
        entry.run_id != consumer.run_id
        or marker.run_id != consumer.run_id
        or lineage_id != consumer.lineage_id
        or entry.source_id not in consumer.sources
    ):
        return EventError("foreign", MARKER_OUTSIDE_SCOPE, entry)
    return CurrentAttempt(entry, marker, lineage_id)


def _read_marker(entry: Entry) -> AttemptMarker:
    if entry.event_type not in (ATTEMPT_STARTED, ATTEMPT_FINISHED):
        raise MalformedError("entry.eventType", f"must be one of {ATTEMPT_STARTED}, {ATTEMPT_FINISHED}")
    members = open_record(entry.payload, "payload")
    if members.get("version", ABSENT) is not ABSENT:
        raise MalformedError("payload.version", "must be absent")
    run_id = identifier(members, "runId", "payload")
    step_key_digest = identifier(members, "stepKeyDigest", "payload")
    attempt = quantity(members, "attempt", "payload")
    if entry.event_type == ATTEMPT_STARTED:
        return AttemptStarted(run_id, step_key_digest, attempt, word(members, "tier", "payload", TIERS))
    return AttemptFinished(run_id, step_key_digest, attempt, word(members, "state", "payload", FINISHED_STATES))

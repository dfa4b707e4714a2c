"""The attempts of a run, folded from its history (JN-350, JN-353, JN-354, JN-359, JN-360).

An event of an attempt in progress says how the whole attempt stands and replaces what was known. An event of its end
has neither heartbeat nor checkpoint and leaves those as they were, as finishing a row does (RS-851). What has ended
keeps its state and its times; only its result may be told anew, as a patch may replace it (RS-861). Any other event
about it is code ``transition``.
"""

from collections.abc import Iterable
from typing import Final

import attrs

from tenure_model.admission.engine_events.entries import decode_entry
from tenure_model.admission.engine_events.envelopes import read_envelope
from tenure_model.admission.engine_events.members import MalformedError
from tenure_model.admission.refusal import refuse
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.engine_events.attempts import (
    ATTEMPT_LIFECYCLE,
    AttemptPayload,
    AttemptRunning,
    AttemptSuspended,
)
from tenure_model.vocabulary.engine_events.consumers import ENGINE_NAMESPACE, Attempt, Consumer
from tenure_model.vocabulary.engine_events.errors import (
    DISALLOWED_TRANSITION,
    INVALID_EVENT,
    OUTSIDE_SCOPE,
    UNSUPPORTED_EVENT,
    EventError,
)
from tenure_model.vocabulary.engine_events.markers import ATTEMPT_FINISHED, ATTEMPT_STARTED
from tenure_model.vocabulary.engine_events.nodes import (
    NODE_INVALIDATED,
    NODE_RECONCILED,
    NODE_SCHEDULED,
    NODE_SETTLED,
)
from tenure_model.vocabulary.engine_events.plans import PLAN_RECORDED, SUBGRAPH_APPENDED
from tenure_model.vocabulary.engine_events.projections import AttemptKey, AttemptProjection, ProjectedAttempt
from tenure_model.vocabulary.engine_events.states import STATE_EVENT
from tenure_model.vocabulary.journal import Entry

_PASSED_OVER: Final = frozenset(
    {
        STATE_EVENT,
        PLAN_RECORDED,
        SUBGRAPH_APPENDED,
        NODE_SCHEDULED,
        NODE_SETTLED,
        NODE_INVALIDATED,
        NODE_RECONCILED,
        ATTEMPT_STARTED,
        ATTEMPT_FINISHED,
    }
)


def fold_attempts(
    projection: AttemptProjection, entries: Iterable[object], consumer: Consumer
) -> AttemptProjection | EventError:
    """The projection after the entries, which stand above its covering sequence in ascending order.

    ``consumer`` is admitted. Known events of other kinds are passed over, and covered. Errors: those of
    ``decode_entry`` for attempts; ``foreign`` for an entry of another run; ``unsupported`` for an engine event that is
    not known, because it may speak of attempts; ``transition`` for an entry out of order and for an event that cannot
    follow what is known. Nothing is folded then.
    """
    attempts = dict(projection.attempts)
    lineage = projection.lineage
    covering_seq = projection.covering_seq
    for value in entries:
        try:
            entry = read_envelope(value)
        except MalformedError as error:
            return EventError("malformed", INVALID_EVENT, error.cause)
        if entry.seq <= covering_seq:
            return _disallowed("entry.seq", "must be above what is covered")
        if entry.event_type == ATTEMPT_LIFECYCLE:
            answer = decode_entry(entry, consumer)
            if isinstance(answer, EventError):
                return answer
            if isinstance(answer, Attempt):
                lineage = answer.payload.lineage
                refusal = take_attempt(attempts, answer.payload, entry.seq)
                if refusal is not None:
                    return refusal
        else:
            refusal = _pass_over(entry, consumer)
            if refusal is not None:
                return refusal
        covering_seq = entry.seq
    return AttemptProjection(lineage, covering_seq, attempts)


def _pass_over(entry: Entry, consumer: Consumer) -> EventError | None:
    if entry.run_id != consumer.run_id:
        return EventError("foreign", OUTSIDE_SCOPE, entry)
    if entry.event_type.startswith(ENGINE_NAMESPACE) and entry.event_type not in _PASSED_OVER:
        return EventError("unsupported", UNSUPPORTED_EVENT, entry)
    return None


def take_attempt(attempts: dict[AttemptKey, ProjectedAttempt], payload: AttemptPayload, seq: int) -> EventError | None:
    """Let ``attempts`` follow one event about an attempt, or say why it cannot: ``transition``."""
    key = (payload.step_key_digest, payload.attempt)
    known = attempts.get(key)
    lifecycle = payload.lifecycle
    if isinstance(lifecycle, AttemptRunning | AttemptSuspended):
        if known is not None and known.finished_at_ms is not ABSENT:
            return _disallowed("payload.lifecycle.state", "must not follow an end")
        attempts[key] = ProjectedAttempt(
            *key,
            seq,
            lifecycle.state,
            lifecycle.started_at_ms,
            heartbeat_at_ms=lifecycle.heartbeat_at_ms,
            checkpoint=lifecycle.checkpoint,
        )
        return None
    ended = ProjectedAttempt(
        *key, seq, lifecycle.state, lifecycle.started_at_ms, lifecycle.finished_at_ms, result=lifecycle.result
    )
    if known is not None:
        if known.finished_at_ms is not ABSENT and not _is_same_end(known, ended):
            return _disallowed("payload.lifecycle", "must not move an end")
        ended = attrs.evolve(ended, heartbeat_at_ms=known.heartbeat_at_ms, checkpoint=known.checkpoint)
    attempts[key] = ended
    return None


def _is_same_end(known: ProjectedAttempt, ended: ProjectedAttempt) -> bool:
    return (
        known.state == ended.state
        and known.started_at_ms == ended.started_at_ms
        and known.finished_at_ms == ended.finished_at_ms
    )


def _disallowed(place: str, detail: str) -> EventError:
    return EventError("transition", DISALLOWED_TRANSITION, refuse(place, detail))

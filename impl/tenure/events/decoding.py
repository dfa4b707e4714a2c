"""Stored events as what they are to one consumer (JN-359, JN-361, JN-370)."""

from collections.abc import Mapping

from tenure_model.admission.engine_events.entries import decode_entry as answer_entry
from tenure_model.admission.engine_events.envelopes import admit_consumer
from tenure_model.admission.engine_events.markers import decode_current_attempt as answer_current_attempt
from tenure_model.admission.engine_events.records import decode_record as answer_record
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.engine_events.consumers import Consumer, DecodedEvent
from tenure_model.vocabulary.engine_events.errors import EventError
from tenure_model.vocabulary.engine_events.markers import CurrentAttempt
from tenure_model.vocabulary.engine_events.nodes import NodeRecord
from tenure_model.vocabulary.engine_events.plans import PlanRecord
from tenure_model.vocabulary.journal import Entry


def decode_entry(entry: Entry | Mapping[str, object], consumer: Consumer) -> DecodedEvent:
    """An ``Attempt`` or ``State`` of the consumer's run, or, from outside the engine, ``Ignored`` or ``Unknown``.

    Raises ``EventError``: ``foreign`` for another run, source or lineage, ``unsupported`` for another event of an
    engine, ``malformed`` for what breaks its contract, in the order of JN-359. ``entry`` may be a ``dict`` under the
    wire's names. A consumer that breaks its own contract (JN-358) is a ``ValueError``.
    """
    answer = answer_entry(entry, admitted_consumer(consumer))
    if isinstance(answer, EventError):
        raise answer
    return answer


def decode_current_attempt(entry: Entry | Mapping[str, object], consumer: Consumer) -> CurrentAttempt:
    """One of the two older markers, which carry no version and no result (JN-361, JN-362).

    Raises ``EventError``: ``malformed`` before ``foreign``; root, round and parent of the consumer play no part. A
    consumer that breaks its own contract (JN-358) is a ``ValueError``.
    """
    answer = answer_current_attempt(entry, admitted_consumer(consumer))
    if isinstance(answer, EventError):
        raise answer
    return answer


def decode_record(event_type: str, payload: Mapping[str, object]) -> PlanRecord | NodeRecord:
    """The payload of one of the six records of plans and nodes, as its class (JN-370..JN-376).

    Raises ``EventError``: ``unsupported`` for other event types, ``malformed`` where a member is missing or wrong.
    Members that are not known are dropped.
    """
    answer = answer_record(event_type, payload)
    if isinstance(answer, EventError):
        raise answer
    return answer


def admitted_consumer(consumer: Consumer) -> Consumer:
    """An inert consumer, or ``ValueError`` for one that breaks its contract (JN-358)."""
    admitted = admit_consumer(consumer)
    if isinstance(admitted, Refusal):
        raise ValueError(f"{admitted.cause['field']} {admitted.cause['detail']}")
    return admitted

"""Inputs that record engine events, checked before they reach a journal (JN-357)."""

from collections.abc import Mapping

from tenure_model.admission.engine_events.construction import build_attempt, build_state_event
from tenure_model.vocabulary.engine_events.attempts import AttemptPayload
from tenure_model.vocabulary.engine_events.errors import EventError
from tenure_model.vocabulary.engine_events.states import StatePayload
from tenure_model.vocabulary.journal import JournalInput


def attempt(
    payload: AttemptPayload | Mapping[str, object], source_id: str, source_seq: int, diagnostics: object = None
) -> JournalInput:
    """The input that records where an attempt stands, for either channel of a journal (JN-353, JN-354, JN-357).

    ``payload`` may be a ``dict`` under the wire's names. ``diagnostics`` is JSON, goes to the meta and means nothing to
    consumers. Raises ``EventError`` with ``malformed``, whose cause names the member.
    """
    return _raised(build_attempt(payload, source_id, source_seq, diagnostics))


def state_event(
    payload: StatePayload | Mapping[str, object], source_id: str, source_seq: int, diagnostics: object = None
) -> JournalInput:
    """As ``attempt``, for what changed in an execution, its deferred values or its clocks (JN-355, JN-357)."""
    return _raised(build_state_event(payload, source_id, source_seq, diagnostics))


def _raised(answer: JournalInput | EventError) -> JournalInput:
    if isinstance(answer, EventError):
        raise answer
    return answer

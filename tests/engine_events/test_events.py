"""The public face: `tenure.events`."""

import inspect
from typing import Any

import attrs
import pytest

from tenure import Entry, events
from tests.engine_events.support import ATTEMPT, CONSUMER, STATE, entry, wire_entry

LINEAGE = events.Lineage("root", "run-1", "lineage-1", "run-1", 0, None)


def stored(given: Any) -> Entry:
    """The entry that an input becomes."""
    return Entry(
        given.run_id, 1, "event-1", given.source_id, given.source_seq, 9, given.event_type, given.payload, given.meta
    )


def test_what_is_built_is_decoded() -> None:
    """The two constructors and the decoder (JN-357, JN-359)."""
    attempt = events.AttemptPayload(LINEAGE, "run-1", "digest-1", 0, events.AttemptRunning(5))
    state = events.StatePayload(LINEAGE, "run-1", events.ClockScheduled("clock-1", "wait-1", 9))

    attempt_entry = stored(events.attempt(attempt, "engine", 1, {"host": "a"}))
    state_entry = stored(events.state_event(state, "engine", 2))

    assert events.decode_entry(attempt_entry, CONSUMER) == events.Attempt(attempt_entry, attempt)
    assert events.decode_entry(state_entry, CONSUMER) == events.State(state_entry, state)
    assert attempt_entry.meta == {"host": "a"}
    assert state_entry.meta is None


def test_refusals_are_raised() -> None:
    """With their code (JN-360)."""
    raising: dict[str, Any] = {
        "malformed": lambda: events.decode_entry(entry(payload=None), CONSUMER),
        "foreign": lambda: events.decode_entry(entry(source_id="other"), CONSUMER),
        "unsupported": lambda: events.decode_entry(entry("flows.engine.v3"), CONSUMER),
    }
    for code, call in raising.items():
        with pytest.raises(events.EventError) as raised:
            call()

        assert raised.value.code == code


def test_constructors_raise() -> None:
    """Before anything reaches a journal (JN-357)."""
    with pytest.raises(events.EventError) as attempt:
        events.attempt({**ATTEMPT, "more": 1}, "engine", 1)
    with pytest.raises(events.EventError) as state:
        events.state_event(STATE, "", 1)

    assert (attempt.value.code, state.value.code) == ("malformed", "malformed")


def test_markers_and_records_are_decoded_and_refused() -> None:
    """JN-361, JN-370."""
    payload = {"runId": "run-1", "stepKeyDigest": "d", "attempt": 0, "tier": "sealed"}
    given = wire_entry(entry(events.ATTEMPT_STARTED, payload, {"lineageId": "lineage-1"}))

    marker = events.decode_current_attempt(given, CONSUMER).marker
    record = events.decode_record(events.NODE_SETTLED, {"nodeId": "n", "outcome": "built", "attempts": 1})

    assert marker == events.AttemptStarted("run-1", "d", 0, "sealed")
    assert record == events.NodeSettled("n", "built", 1)
    with pytest.raises(events.EventError):
        events.decode_current_attempt(entry(), CONSUMER)
    with pytest.raises(events.EventError):
        events.decode_record(events.NODE_SETTLED, {})


def test_a_broken_consumer_is_the_callers_mistake() -> None:
    """Not the event's (JN-358)."""
    broken = attrs.evolve(CONSUMER, sources="engine")
    for decode in (events.decode_entry, events.decode_current_attempt):
        with pytest.raises(ValueError, match=r"consumer\.sources must be a collection of identifiers"):
            decode(entry(), broken)


def test_the_face_lists_what_it_has() -> None:
    """Every public name, and nothing besides."""
    public = {name for name, value in vars(events).items() if not name.startswith("_") and not inspect.ismodule(value)}

    assert set(events.__all__) == public

"""Building inputs: `tenure_model.admission.engine_events.construction` and `wire_forms`."""

from typing import Any, cast

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.engine_events.construction import build_attempt, build_state_event
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.engine_events.attempts import (
    ATTEMPT_LIFECYCLE,
    AttemptFailed,
    AttemptPayload,
    AttemptRunning,
    AttemptSucceeded,
    AttemptSuspended,
)
from tenure_model.vocabulary.engine_events.consumers import Attempt, State
from tenure_model.vocabulary.engine_events.errors import EventError
from tenure_model.vocabulary.engine_events.lineage import Lineage
from tenure_model.vocabulary.engine_events.results import Failure, Success
from tenure_model.vocabulary.engine_events.states import (
    STATE_EVENT,
    Clock,
    ClockScheduled,
    Deferred,
    DeferredCompleted,
    Execution,
    ExecutionCompleted,
    ExecutionRunning,
    ExecutionSuspended,
    StatePayload,
)
from tenure_model.vocabulary.journal import JournalInput
from tests.admission.values import half_built
from tests.engine_events.support import (
    ATTEMPT,
    BAD_IDENTIFIERS,
    BAD_QUANTITIES,
    RUNNING,
    STATE,
    decoded_attempt,
    decoded_state,
    not_json,
    place_of,
)

LINEAGE = Lineage("root", "run-1", "lineage-1", "run-1", 0, None)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
QUANTITIES = st.integers(0, MAX_SAFE_INTEGER)
IDS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=4)
SUCCESSES = st.builds(Success, JSON)
FAILURES = st.builds(Failure, st.sampled_from(["error", "defect", "interrupted", "encoding"]), JSON)
WAITS = st.builds(Deferred, IDS) | st.builds(Clock, IDS, QUANTITIES)
LIFECYCLES = (
    st.builds(AttemptRunning, QUANTITIES, st.just(ABSENT) | QUANTITIES, st.just(ABSENT) | JSON)
    | st.builds(AttemptSuspended, QUANTITIES, st.just(ABSENT) | QUANTITIES, st.just(ABSENT) | JSON)
    | st.builds(AttemptSucceeded, QUANTITIES, QUANTITIES, SUCCESSES)
    | st.builds(AttemptFailed, QUANTITIES, QUANTITIES, FAILURES)
)
EVENTS = (
    st.builds(
        Execution,
        st.builds(ExecutionRunning, st.lists(WAITS, max_size=3).map(tuple))
        | st.builds(ExecutionSuspended, st.lists(WAITS, min_size=1, max_size=3).map(tuple))
        | st.builds(ExecutionCompleted, SUCCESSES | FAILURES),
    )
    | st.builds(DeferredCompleted, IDS, SUCCESSES | FAILURES)
    | st.builds(ClockScheduled, IDS, IDS, QUANTITIES)
)


def attempt_in(lifecycle: Any) -> AttemptPayload:
    """An attempt in this state, or with something else in its place."""
    return AttemptPayload(LINEAGE, "run-1", "d", 0, lifecycle)


def built(answer: JournalInput | EventError) -> JournalInput:
    """The input; it must have been built."""
    assert isinstance(answer, JournalInput), answer
    return answer


def test_an_attempt_becomes_an_input() -> None:
    """Of the run of its lineage, its meta null unless there are diagnostics (JN-357)."""
    payload = AttemptPayload(LINEAGE, "run-1", "digest-1", 0, AttemptRunning(5))

    plain = built(build_attempt(payload, "engine", 3))
    diagnosed = built(build_attempt(payload, "engine", 3, {"host": ["a"]}))

    assert plain == JournalInput("run-1", "engine", ATTEMPT_LIFECYCLE, ATTEMPT, 3, "content", None)
    assert diagnosed == JournalInput("run-1", "engine", ATTEMPT_LIFECYCLE, ATTEMPT, 3, "content", {"host": ["a"]})


def test_a_state_event_becomes_an_input() -> None:
    """JN-357."""
    payload = StatePayload(LINEAGE, "run-1", Execution(ExecutionSuspended((Deferred("wait-1"), Clock("wait-2", 90)))))

    answer = built(build_state_event(payload, "engine", 0))

    assert answer == JournalInput("run-1", "engine", STATE_EVENT, STATE, 0, "content", None)


def test_a_payload_may_come_from_the_wire() -> None:
    """And is copied, without members that are absent (JN-357)."""
    checkpoint: Any = {"a": [1]}
    wire = {**ATTEMPT, "lifecycle": {**RUNNING, "heartbeatAtMs": ABSENT, "checkpoint": checkpoint}}
    answer = built(build_attempt(wire, "engine", 3, checkpoint))
    checkpoint["a"][0] = 2

    assert answer.payload == {**ATTEMPT, "lifecycle": {**RUNNING, "checkpoint": {"a": [1]}}}
    assert answer.meta == {"a": [1]}
    assert built(build_state_event(STATE, "engine", 3)).payload == STATE


@given(lifecycle=LIFECYCLES, digest=IDS, attempt=QUANTITIES)
def test_what_is_built_decodes_to_itself(lifecycle: Any, digest: str, attempt: int) -> None:
    """The way to the wire and back changes nothing (JN-353, JN-354)."""
    payload = AttemptPayload(LINEAGE, "run-1", digest, attempt, lifecycle)

    answer = built(build_attempt(payload, "engine", 3))

    assert decoded_attempt(answer.payload).payload == payload
    assert isinstance(decoded_attempt(answer.payload), Attempt)


@given(event=EVENTS)
def test_a_state_event_that_is_built_decodes_to_itself(event: Any) -> None:
    """As an attempt does (JN-355)."""
    payload = StatePayload(LINEAGE, "run-1", event)

    answer = built(build_state_event(payload, "engine", 3))

    assert decoded_state(answer.payload).payload == payload
    assert isinstance(decoded_state(answer.payload), State)


@pytest.mark.parametrize(
    ("payload", "place"),
    [
        (AttemptPayload(LINEAGE, "run-2", "digest-1", 0, AttemptRunning(5)), "payload.executionId"),
        (AttemptPayload(LINEAGE, "run-1", "", 0, AttemptRunning(5)), "payload.stepKeyDigest"),
        (AttemptPayload(LINEAGE, "run-1", "d", -1, AttemptRunning(5)), "payload.attempt"),
        (attempt_in(AttemptRunning(-5)), "payload.lifecycle.startedAtMs"),
        (attempt_in(ExecutionRunning(())), "payload.lifecycle"),
        (attempt_in(AttemptSucceeded(1, 2, cast(Success, Failure("error", 1)))), "payload.lifecycle.result"),
        (attempt_in(AttemptSucceeded(1, 2, Success(object()))), "payload.lifecycle.result.value"),
        (attrs.evolve(attempt_in(AttemptRunning(5)), version=3), "payload.version"),
        (StatePayload(LINEAGE, "run-1", DeferredCompleted("w", Success(1))), "payload"),
        ({**ATTEMPT, "more": 1}, "payload"),
        (None, "payload"),
    ],
)
def test_an_attempt_is_checked(payload: object, place: str) -> None:
    """A class is no more trusted than a dict: carriers check nothing (JN-356, JN-357)."""
    assert place_of(build_attempt(payload, "engine", 3)) == place


@pytest.mark.parametrize(
    ("event", "place"),
    [
        (Execution(ExecutionSuspended(())), "payload.event.lifecycle.waits"),
        (Execution(ExecutionRunning(cast(Any, {"wait-1"}))), "payload.event.lifecycle.waits"),
        (Execution(ExecutionRunning(cast(Any, [AttemptRunning(1)]))), "payload.event.lifecycle.waits[0]"),
        (Execution(cast(Any, AttemptRunning(1))), "payload.event.lifecycle"),
        (Deferred("wait-1"), "payload.event"),
        (ClockScheduled("clock-1", "wait-1", -1), "payload.event.dueAtMs"),
    ],
)
def test_a_state_event_is_checked(event: Any, place: str) -> None:
    """JN-355, JN-357."""
    assert place_of(build_state_event(StatePayload(LINEAGE, "run-1", event), "engine", 3)) == place


def test_a_payload_that_was_never_filled_in_is_malformed() -> None:
    """The cause is the error that was met (JN-360)."""
    answers = [
        build_attempt(half_built(AttemptPayload, lineage=LINEAGE), "engine", 3),
        build_state_event(half_built(StatePayload, lineage=LINEAGE), "engine", 3),
    ]

    assert [type(answer.cause) for answer in answers if isinstance(answer, EventError)] == [AttributeError] * 2


@pytest.mark.parametrize("build", [(build_attempt, ATTEMPT), (build_state_event, STATE)], ids=["attempt", "state"])
def test_source_and_diagnostics_are_checked_after_the_payload(build: Any) -> None:
    """In their order (JN-357)."""
    construct, payload = build
    sequences = [*BAD_QUANTITIES, MAX_SAFE_INTEGER]
    metas = not_json()

    assert place_of(construct(None, "", -1, object())) == "payload"
    assert place_of(construct(payload, "", -1, object())) == "sourceId"
    assert [place_of(construct(payload, source, 1)) for source in BAD_IDENTIFIERS] == ["sourceId"] * len(
        BAD_IDENTIFIERS
    )
    assert [place_of(construct(payload, "engine", seq, print)) for seq in sequences] == ["sourceSeq"] * len(sequences)
    assert [place_of(construct(payload, "engine", 1, meta)) for meta in metas] == ["diagnostics"] * len(metas)

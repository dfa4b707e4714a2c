"""Payloads of state events: `tenure_model.admission.engine_events.states`."""

import pytest

from tenure_model.vocabulary.absent import ABSENT
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
from tests.engine_events.support import (
    BAD_IDENTIFIERS,
    BAD_QUANTITIES,
    BAD_WORDS,
    CLOCK,
    DEFERRED,
    EXECUTION,
    FAILURE,
    ROOT_LINEAGE,
    STATE,
    SUCCESS,
    SUSPENDED_EXECUTION,
    Wire,
    complaint,
    decoded_state,
    lacking,
    not_json,
    spoilt,
)

COMPLETED: Wire = {"state": "completed", "result": FAILURE}
DEFERRED_COMPLETED: Wire = {"_tag": "DeferredCompleted", "waitId": "wait-1", "result": SUCCESS}
CLOCK_SCHEDULED: Wire = {"_tag": "ClockScheduled", "clockId": "clock-1", "waitId": "wait-2", "dueAtMs": 90}


def refused(payload: object) -> object:
    """The place that makes a state event malformed."""
    return complaint(STATE_EVENT, payload)


def with_event(event: object) -> Wire:
    """A state event of this change."""
    return {**STATE, "event": event}


def with_lifecycle(lifecycle: object) -> Wire:
    """A state event of an execution in this state."""
    return with_event({**EXECUTION, "lifecycle": lifecycle})


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (EXECUTION, Execution(ExecutionSuspended((Deferred("wait-1"), Clock("wait-2", 90))))),
        (
            {**EXECUTION, "lifecycle": {"state": "running", "waits": []}},
            Execution(ExecutionRunning(())),
        ),
        (
            {**EXECUTION, "lifecycle": {"state": "running", "waits": [CLOCK]}},
            Execution(ExecutionRunning((Clock("wait-2", 90),))),
        ),
        ({**EXECUTION, "lifecycle": COMPLETED}, Execution(ExecutionCompleted(Failure("error", None)))),
        (DEFERRED_COMPLETED, DeferredCompleted("wait-1", Success({"code": 0}))),
        (CLOCK_SCHEDULED, ClockScheduled("clock-1", "wait-2", 90)),
    ],
)
def test_a_state_event_is_decoded_by_its_tag(event: Wire, expected: object) -> None:
    """Three tags, and three states of an execution (JN-355)."""
    assert decoded_state(with_event(event)).payload == StatePayload(ROOT_LINEAGE, "run-1", expected)  # type: ignore[arg-type]  # the table holds all three


@pytest.mark.parametrize("member", ["version", "lineage", "executionId", "event"])
def test_no_member_may_be_missing_or_too_many(member: str) -> None:
    """A dispatch, which attempts have, is one too many (JN-355, JN-356)."""
    assert refused(lacking(STATE, member)) == f"payload.{member}"
    assert refused({**STATE, "stepKeyDigest": "digest-1"}) == "payload"


def test_version_and_execution_are_checked_here_too() -> None:
    """JN-350, JN-355."""
    assert refused({**STATE, "version": 3}) == "payload.version"
    assert refused({**STATE, "executionId": "run-2"}) == "payload.executionId"
    assert refused(spoilt(STATE, "lineage.round", 1)) == "payload.lineage.round"


@pytest.mark.parametrize("tag", BAD_WORDS, ids=repr)
def test_other_tags_and_states_are_refused(tag: object) -> None:
    """JN-355."""
    assert refused(with_event({**EXECUTION, "_tag": tag})) == "payload.event._tag"
    assert refused(with_lifecycle({**SUSPENDED_EXECUTION, "state": tag})) == "payload.event.lifecycle.state"
    assert refused(with_lifecycle({**SUSPENDED_EXECUTION, "waits": [DEFERRED, {**CLOCK, "_tag": tag}]})) == (
        "payload.event.lifecycle.waits[1]._tag"
    )


def test_a_suspended_execution_waits_for_something() -> None:
    """A running one need not, but says so (JN-355)."""
    assert refused(with_lifecycle({"state": "suspended", "waits": []})) == "payload.event.lifecycle.waits"
    assert refused(with_lifecycle({"state": "suspended"})) == "payload.event.lifecycle.waits"
    assert refused(with_lifecycle({"state": "running"})) == "payload.event.lifecycle.waits"


@pytest.mark.parametrize("waits", [None, (), {"0": CLOCK}, "waits", ABSENT, {CLOCK["waitId"]}], ids=repr)
def test_waits_are_a_list(waits: object) -> None:
    """An exact one (JN-355)."""
    assert refused(with_lifecycle({"state": "running", "waits": waits})) == "payload.event.lifecycle.waits"


@pytest.mark.parametrize("state", ["running", "suspended"])
def test_only_what_completed_has_a_result(state: str) -> None:
    """And it has nothing else (JN-355)."""
    assert refused(with_lifecycle({"state": state, "waits": [CLOCK], "result": SUCCESS})) == "payload.event.lifecycle"
    assert refused(with_lifecycle({**COMPLETED, "waits": []})) == "payload.event.lifecycle"
    assert refused(with_lifecycle({"state": "completed"})) == "payload.event.lifecycle.result"


@pytest.mark.parametrize(
    ("event", "place"),
    [
        ({**DEFERRED_COMPLETED, "clockId": "clock-1"}, "payload.event"),
        ({**CLOCK_SCHEDULED, "result": SUCCESS}, "payload.event"),
        ({**EXECUTION, "waitId": "wait-1"}, "payload.event"),
        ({**EXECUTION, "lifecycle": {**COMPLETED, "finishedAtMs": 1}}, "payload.event.lifecycle"),
        (
            {**EXECUTION, "lifecycle": {"state": "running", "waits": [{**DEFERRED, "dueAtMs": 1}]}},
            "payload.event.lifecycle.waits[0]",
        ),
        (
            {**EXECUTION, "lifecycle": {"state": "running", "waits": [{**CLOCK, "clockId": "clock-1"}]}},
            "payload.event.lifecycle.waits[0]",
        ),
        ({**DEFERRED_COMPLETED, "result": {**SUCCESS, "at": 1}}, "payload.event.result"),
    ],
)
def test_a_member_too_many_is_malformed_on_every_level(event: Wire, place: str) -> None:
    """JN-356."""
    assert refused(with_event(event)) == place


@pytest.mark.parametrize("value", BAD_IDENTIFIERS, ids=lambda value: repr(value)[:12])
def test_ids_are_identifiers(value: object) -> None:
    """Of waits and clocks (JN-020, JN-355)."""
    assert refused(with_event({**DEFERRED_COMPLETED, "waitId": value})) == "payload.event.waitId"
    assert refused(with_event({**CLOCK_SCHEDULED, "clockId": value})) == "payload.event.clockId"
    assert refused(with_event({**CLOCK_SCHEDULED, "waitId": value})) == "payload.event.waitId"
    for wait in (DEFERRED, CLOCK):
        assert refused(with_lifecycle({"state": "running", "waits": [{**wait, "waitId": value}]})) == (
            "payload.event.lifecycle.waits[0].waitId"
        )


@pytest.mark.parametrize("value", BAD_QUANTITIES, ids=repr)
def test_due_times_are_quantities(value: object) -> None:
    """Points in time, in ms (JN-023, JN-355)."""
    assert refused(with_event({**CLOCK_SCHEDULED, "dueAtMs": value})) == "payload.event.dueAtMs"
    assert refused(with_lifecycle({"state": "running", "waits": [{**CLOCK, "dueAtMs": value}]})) == (
        "payload.event.lifecycle.waits[0].dueAtMs"
    )


def test_results_are_json() -> None:
    """Of deferred values too (JN-352)."""
    results = [{**SUCCESS, "value": value} for value in not_json()]

    places = [refused(with_event({**DEFERRED_COMPLETED, "result": result})) for result in results]

    assert places == ["payload.event.result.value"] * len(results)

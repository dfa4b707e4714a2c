"""What an event is to a consumer: `tenure_model.admission.engine_events.entries`."""

from collections.abc import Callable

import attrs
import pytest

from tenure_model.admission.engine_events.entries import decode_entry
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.engine_events.attempts import ATTEMPT_LIFECYCLE
from tenure_model.vocabulary.engine_events.consumers import Attempt, Consumer, DecodedEvent, Ignored, State, Unknown
from tenure_model.vocabulary.engine_events.errors import EventError
from tenure_model.vocabulary.engine_events.markers import ATTEMPT_FINISHED, ATTEMPT_STARTED
from tenure_model.vocabulary.engine_events.nodes import (
    NODE_INVALIDATED,
    NODE_RECONCILED,
    NODE_SCHEDULED,
    NODE_SETTLED,
)
from tenure_model.vocabulary.engine_events.plans import PLAN_RECORDED, SUBGRAPH_APPENDED
from tenure_model.vocabulary.engine_events.states import STATE_EVENT
from tenure_model.vocabulary.journal import Entry
from tests.admission import hostile
from tests.admission.values import half_built
from tests.engine_events.support import (
    ATTEMPT,
    CONSUMER,
    DERIVED,
    STATE,
    SURFACING,
    consumer_of,
    entry,
    not_json,
    place_of,
    spoilt,
    wire_entry,
)

UNSUPPORTED = (
    *(PLAN_RECORDED, SUBGRAPH_APPENDED, NODE_SCHEDULED, NODE_SETTLED, NODE_INVALIDATED, NODE_RECONCILED),
    *(ATTEMPT_STARTED, ATTEMPT_FINISHED),
    *("flows.engine.v2.attempt", "flows.engine.v2.attempt-lifecycle ", "flows.engine.v3.state-event", "flows.engine."),
)
ELSEWHERE = ("flows.engine", "flows.engines.v2.state-event", "Flows.engine.v2.state-event", "step.done", "flows.")


def summary(answer: DecodedEvent | EventError) -> tuple[str, str, object]:
    """Code, message and cause of a refusal."""
    assert isinstance(answer, EventError)
    return answer.code, answer.message, answer.cause


def test_a_supported_event_comes_with_its_entry() -> None:
    """The entry is the caller's own, the payload typed (JN-359)."""
    attempt = entry(ATTEMPT_LIFECYCLE, ATTEMPT, {"diagnostics": [1]})
    state = entry(STATE_EVENT, STATE)

    answers = decode_entry(attempt, CONSUMER), decode_entry(state, CONSUMER)

    assert isinstance(answers[0], Attempt)
    assert isinstance(answers[1], State)
    assert answers[0].entry is attempt
    assert answers[1].entry is state


def test_an_entry_of_the_wire_may_hold_more() -> None:
    """The envelope is not strict (JN-356)."""
    given = entry()

    assert decode_entry({**wire_entry(given), "generation": 3, "entry": object()}, CONSUMER) == decode_entry(
        given, CONSUMER
    )


@pytest.mark.parametrize(
    "changes",
    [{"run_id": "run-2"}, {"source_id": "engine "}, {"source_id": "Engine"}, {"run_id": "run-2", "source_id": "other"}],
    ids=repr,
)
@pytest.mark.parametrize("event_type", [ATTEMPT_LIFECYCLE, STATE_EVENT, PLAN_RECORDED, "step.done"])
def test_another_run_or_source_is_foreign(changes: dict[str, str], event_type: str) -> None:
    """Whatever the type, and before the payload is looked at (JN-359 step 2)."""
    given = entry(event_type, object(), object(), **changes)

    for consumer in (CONSUMER, SURFACING):
        assert summary(decode_entry(given, consumer)) == (
            "foreign",
            "event run or source is outside the consumer scope",
            given,
        )


def test_each_allowed_source_passes_and_none_does_without_any() -> None:
    """JN-358, JN-359 step 2."""
    given = entry(source_id="scheduler")

    assert isinstance(decode_entry(given, CONSUMER), Attempt)
    assert isinstance(decode_entry(given, attrs.evolve(CONSUMER, sources=frozenset())), EventError)


@pytest.mark.parametrize("event_type", UNSUPPORTED)
def test_other_engine_events_are_unsupported(event_type: str) -> None:
    """Records, older markers, unknown names and versions, whatever they hold (JN-359 step 3)."""
    given = entry(event_type, object(), object())

    for consumer in (CONSUMER, SURFACING):
        assert summary(decode_entry(given, consumer)) == (
            "unsupported",
            "unsupported engine event family or version",
            given,
        )


@pytest.mark.parametrize("event_type", ELSEWHERE)
def test_events_elsewhere_are_ignored_or_shown(event_type: str) -> None:
    """As the consumer says; payload and meta are not looked at (JN-359 step 4)."""
    given = entry(event_type, object(), object())

    assert decode_entry(given, CONSUMER) == Ignored()
    assert decode_entry(given, SURFACING) == Unknown(given)


@pytest.mark.parametrize(
    "changes",
    [{"lineage_id": "lineage-2"}, {"root_run_id": "run-9"}, {"round": 1}, {"parent_run_id": "run-9"}],
    ids=repr,
)
@pytest.mark.parametrize("event_type", [ATTEMPT_LIFECYCLE, STATE_EVENT])
def test_another_place_in_the_lineage_is_foreign(changes: dict[str, object], event_type: str) -> None:
    """The cause is the lineage of the event (JN-359 step 6)."""
    payload = ATTEMPT if event_type == ATTEMPT_LIFECYCLE else STATE
    decoded = decode_entry(entry(event_type, payload), CONSUMER)
    assert isinstance(decoded, Attempt | State)

    answer = decode_entry(entry(event_type, payload), attrs.evolve(CONSUMER, **changes))

    assert summary(answer) == (
        "foreign",
        "event lineage disagrees with its journal or consumer",
        decoded.payload.lineage,
    )


def test_the_lineage_is_that_of_the_entry() -> None:
    """A payload of another run in this run's history is foreign (JN-359 step 6)."""
    payload = {**ATTEMPT, "lineage": DERIVED, "executionId": "run-2"}
    consumer = attrs.evolve(consumer_of(DERIVED), run_id="run-1")

    answer = decode_entry(entry(payload=payload), consumer)

    assert isinstance(answer, EventError)
    assert answer.code == "foreign"
    assert answer.message == "event lineage disagrees with its journal or consumer"


@pytest.mark.parametrize("kind", ["child", "fork", "continuation"])
def test_the_kind_of_the_lineage_is_not_the_consumers_business(kind: str) -> None:
    """JN-359."""
    payload = {**ATTEMPT, "lineage": {**DERIVED, "kind": kind}, "executionId": "run-2"}

    assert isinstance(decode_entry(entry(payload=payload, run_id="run-2"), consumer_of(DERIVED)), Attempt)


def test_the_meta_is_json() -> None:
    """Diagnostics of any content, but JSON (JN-359 step 7)."""
    for meta in not_json():
        answer = decode_entry(wire_entry(entry(meta=[meta])), CONSUMER)

        assert place_of(answer) == "entry.meta"


def test_first_match_wins() -> None:
    """Each step hides those below it (JN-359)."""
    broken = spoilt(ATTEMPT, "version", 3)
    foreign = spoilt(spoilt(ATTEMPT, "lineage.lineageId", "lineage-2"), "lifecycle.startedAtMs", 5)
    bad_meta = object()

    def code(given: Entry) -> tuple[str, str]:
        answer = decode_entry(given, CONSUMER)
        assert isinstance(answer, EventError)
        return answer.code, str(place_of(answer)) if answer.code == "malformed" else answer.message

    outside = "event run or source is outside the consumer scope"
    disagrees = "event lineage disagrees with its journal or consumer"
    assert code(entry(payload=broken, run_id="run-2", seq=-1)) == ("malformed", "entry")
    assert code(entry("flows.engine.v3", broken, bad_meta, source_id="x")) == ("foreign", outside)
    assert code(entry(payload=broken, meta=bad_meta, source_id="x")) == ("foreign", outside)
    assert code(entry(payload={**foreign, "version": 3}, meta=bad_meta)) == ("malformed", "payload.version")
    assert code(entry(payload=foreign, meta=bad_meta)) == ("foreign", disagrees)
    assert code(entry(payload=ATTEMPT, meta=bad_meta)) == ("malformed", "entry.meta")


def test_malformed_has_one_message() -> None:
    """The complaint is in the cause (JN-360)."""
    answers = [
        decode_entry(given, CONSUMER)
        for given in (None, entry(seq=-1), entry(payload=None), entry(meta=object()), half_built(Entry, run_id="run-1"))
    ]

    assert [(answer.code, answer.message) for answer in answers if isinstance(answer, EventError)] == [
        ("malformed", "invalid engine event")
    ] * len(answers)


def test_the_cause_of_malformed_is_the_error_that_was_met() -> None:
    """An entry that cannot be read has the error of its attribute (JN-360)."""
    answer = decode_entry(half_built(Entry, run_id="run-1"), CONSUMER)

    assert isinstance(answer, EventError)
    assert isinstance(answer.cause, AttributeError)


def test_no_refusal_quotes_the_event() -> None:
    """Neither in its text nor in a complaint, names of members included."""
    secret = "hunter2"
    payloads = (
        {**ATTEMPT, secret: 1},
        spoilt(ATTEMPT, "lifecycle.state", secret),
        spoilt(ATTEMPT, "executionId", secret),
        spoilt(ATTEMPT, "lineage.kind", secret),
        {**ATTEMPT, "lifecycle": {"state": "running", "startedAtMs": 1, "checkpoint": {secret: {secret}}}},
    )
    answers = [decode_entry(entry(payload=payload), CONSUMER) for payload in payloads]

    assert [secret in repr(answer) for answer in answers] == [False] * len(payloads)
    assert {answer.code for answer in answers if isinstance(answer, EventError)} == {"malformed"}


@pytest.mark.parametrize("make", [lambda base: hostile.hostile_instance(hostile._hostile(base)), lambda base: base])
@pytest.mark.parametrize("base", [Entry, dict, object, str])
def test_what_would_run_code_is_malformed_unread(make: Callable[[type], object], base: type) -> None:
    """No getter is asked, so none can raise (JN-359 step 1)."""
    answer = decode_entry(make(base), CONSUMER)

    assert isinstance(answer, EventError)
    assert answer.code == "malformed"


def test_errors_compare_by_code_and_message() -> None:
    """Not by cause, and never with other errors (JN-360)."""
    error = EventError("malformed", "invalid engine event", 1)

    assert error == EventError("malformed", "invalid engine event", 2)
    assert error != EventError("foreign", "invalid engine event", 1)
    assert error != EventError("malformed", "invalid current attempt marker", 1)
    assert error != ValueError("malformed", "invalid engine event", 1)
    assert hash(error) == hash(EventError("malformed", "invalid engine event", 2))
    assert str(error) == "malformed: invalid engine event"


def test_a_payload_that_is_absent_is_no_envelope() -> None:
    """Nor is a meta (JN-025)."""
    assert place_of(decode_entry(entry(payload=ABSENT), CONSUMER)) == "entry"
    assert place_of(decode_entry(entry(meta=ABSENT), CONSUMER)) == "entry"


def test_a_consumer_of_a_derived_run() -> None:
    """With a parent (JN-358)."""
    consumer = Consumer("run-2", "lineage-1", "run-0", 3, "run-1", frozenset(("engine",)), "ignore")
    payload = {**ATTEMPT, "lineage": DERIVED, "executionId": "run-2"}

    assert isinstance(decode_entry(entry(payload=payload, run_id="run-2"), consumer), Attempt)

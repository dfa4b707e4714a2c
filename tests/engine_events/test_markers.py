"""The older markers of attempts: `tenure_model.admission.engine_events.markers`."""

from typing import Any

import attrs
import pytest

from tenure_model.admission.engine_events.markers import decode_current_attempt
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.engine_events.attempts import ATTEMPT_LIFECYCLE
from tenure_model.vocabulary.engine_events.errors import EventError
from tenure_model.vocabulary.engine_events.markers import (
    ATTEMPT_FINISHED,
    ATTEMPT_STARTED,
    AttemptFinished,
    AttemptStarted,
    CurrentAttempt,
)
from tenure_model.vocabulary.engine_events.plans import TIERS
from tenure_model.vocabulary.journal import Entry
from tests.admission.values import half_built
from tests.engine_events.support import (
    ATTEMPT,
    BAD_IDENTIFIERS,
    BAD_QUANTITIES,
    BAD_WORDS,
    CONSUMER,
    Wire,
    entry,
    lacking,
    place_of,
    wire_entry,
)

STARTED: Wire = {"runId": "run-1", "stepKeyDigest": "digest-1", "attempt": 0, "tier": "sealed"}
FINISHED: Wire = {"runId": "run-1", "stepKeyDigest": "digest-1", "attempt": 2, "state": "failed"}
META: Wire = {"lineageId": "lineage-1"}


def started(payload: object = STARTED, meta: object = META, **envelope: Any) -> Entry:
    """A committed marker of a start."""
    return entry(ATTEMPT_STARTED, payload, meta, **envelope)


def finished(payload: object = FINISHED, meta: object = META, **envelope: Any) -> Entry:
    """A committed marker of an end."""
    return entry(ATTEMPT_FINISHED, payload, meta, **envelope)


def refused(given: object) -> object:
    """The place that makes the marker malformed."""
    return place_of(decode_current_attempt(given, CONSUMER))


@pytest.mark.parametrize("tier", TIERS)
def test_a_start_is_decoded(tier: Any) -> None:
    """With its entry and the lineage of its meta (JN-361)."""
    given = started({**STARTED, "tier": tier})

    assert decode_current_attempt(given, CONSUMER) == CurrentAttempt(
        given, AttemptStarted("run-1", "digest-1", 0, tier), "lineage-1"
    )


@pytest.mark.parametrize("state", ["succeeded", "failed"])
def test_an_end_is_decoded_without_a_result(state: Any) -> None:
    """Even where something that looks like one is there: nothing is made up (JN-361, JN-362)."""
    given = finished({**FINISHED, "state": state, "result": {"_tag": "Success", "value": 1}, "finishedAtMs": 5})

    answer = decode_current_attempt(given, CONSUMER)

    assert answer == CurrentAttempt(given, AttemptFinished("run-1", "digest-1", 2, state), "lineage-1")
    assert isinstance(answer, CurrentAttempt)
    assert [field.name for field in attrs.fields(type(answer.marker))] == [
        "run_id",
        "step_key_digest",
        "attempt",
        "state",
    ]


def test_payload_meta_and_envelope_may_hold_more() -> None:
    """But no version (JN-361)."""
    given = wire_entry(started({**STARTED, "more": object()}, {**META, "host": object()}))

    assert isinstance(decode_current_attempt({**given, "more": 1}, CONSUMER), CurrentAttempt)
    for version in (1, 2, None):
        assert refused(started({**STARTED, "version": version})) == "payload.version"
    assert isinstance(decode_current_attempt(started({**STARTED, "version": ABSENT}), CONSUMER), CurrentAttempt)


@pytest.mark.parametrize("member", ["runId", "stepKeyDigest"])
def test_ids_are_identifiers(member: str) -> None:
    """JN-020, JN-361."""
    places = [refused(started({**STARTED, member: value})) for value in BAD_IDENTIFIERS]

    assert places == [f"payload.{member}"] * len(BAD_IDENTIFIERS)


@pytest.mark.parametrize("value", BAD_QUANTITIES, ids=repr)
def test_the_attempt_is_a_quantity(value: object) -> None:
    """From 0 (JN-361)."""
    assert refused(started({**STARTED, "attempt": value})) == "payload.attempt"


@pytest.mark.parametrize("word", BAD_WORDS, ids=repr)
def test_tier_and_state_are_words(word: object) -> None:
    """Each of its own list (JN-361)."""
    assert refused(started({**STARTED, "tier": word})) == "payload.tier"
    assert refused(finished({**FINISHED, "state": word})) == "payload.state"
    assert refused(finished({**FINISHED, "state": "running"})) == "payload.state"


@pytest.mark.parametrize("member", ["runId", "stepKeyDigest", "attempt", "tier"])
def test_no_member_of_a_start_may_be_missing(member: str) -> None:
    """An end has a state instead of a tier (JN-361)."""
    assert refused(started(lacking(STARTED, member))) == f"payload.{member}"
    assert refused(started(FINISHED)) == "payload.tier"
    assert refused(finished(STARTED)) == "payload.state"


@pytest.mark.parametrize("meta", [None, {}, [], "lineage-1", {"lineageId": ""}, {"lineageId": 1}], ids=repr)
def test_the_meta_names_the_lineage(meta: object) -> None:
    """JN-361."""
    assert str(refused(started(meta=meta))).startswith("meta")


@pytest.mark.parametrize("event_type", [ATTEMPT_LIFECYCLE, "flows.engine.attempt", "step.done"])
def test_other_events_are_no_markers(event_type: str) -> None:
    """Version 2 included (JN-361)."""
    assert refused(entry(event_type, ATTEMPT, META)) == "entry.eventType"


@pytest.mark.parametrize(
    "given",
    [
        started(run_id="run-2"),
        started({**STARTED, "runId": "run-2"}),
        started(meta={"lineageId": "lineage-2"}),
        started(source_id="other"),
        finished(source_id="other"),
    ],
)
def test_run_lineage_and_source_are_the_consumers(given: Entry) -> None:
    """Both run ids, of envelope and payload (JN-361)."""
    answer = decode_current_attempt(given, CONSUMER)

    assert isinstance(answer, EventError)
    assert (answer.code, answer.message, answer.cause) == (
        "foreign",
        "current attempt marker is outside the consumer scope",
        given,
    )


def test_root_round_and_parent_play_no_part() -> None:
    """Markers do not name them (JN-361)."""
    consumer = attrs.evolve(CONSUMER, root_run_id="run-0", round=9, parent_run_id="run-8")

    assert isinstance(decode_current_attempt(started(), consumer), CurrentAttempt)


def test_malformed_comes_before_foreign() -> None:
    """Envelope, marker, meta, then scope (JN-361)."""
    assert refused(started({}, {}, seq=-1, source_id="other")) == "entry"
    assert refused(started({}, {}, source_id="other")) == "payload.runId"
    assert refused(started(STARTED, {}, source_id="other")) == "meta.lineageId"


def test_malformed_has_one_message() -> None:
    """Another than that of version 2 (JN-360)."""
    answers = [
        decode_current_attempt(given, CONSUMER)
        for given in (None, started(seq=-1), started({}), started(meta={}), half_built(Entry, run_id="run-1"))
    ]

    assert [(answer.code, answer.message) for answer in answers if isinstance(answer, EventError)] == [
        ("malformed", "invalid current attempt marker")
    ] * len(answers)
    assert isinstance(answers[-1], EventError)
    assert isinstance(answers[-1].cause, AttributeError)

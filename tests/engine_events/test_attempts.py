"""Payloads of attempts: `tenure_model.admission.engine_events.attempts`, `lineages` and `results`."""

from typing import Any

import pytest

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
from tenure_model.vocabulary.engine_events.lineage import Lineage
from tenure_model.vocabulary.engine_events.results import FAILURE_REASONS, Failure, Success
from tests.engine_events.support import (
    ATTEMPT,
    BAD_IDENTIFIERS,
    BAD_QUANTITIES,
    BAD_WORDS,
    DERIVED,
    FAILED,
    FAILURE,
    ROOT,
    ROOT_LINEAGE,
    RUNNING,
    SUCCEEDED,
    SUCCESS,
    Wire,
    complaint,
    consumer_of,
    decoded_attempt,
    lacking,
    not_json,
    spoilt,
)

SUSPENDED: Wire = {"state": "suspended", "startedAtMs": 5, "heartbeatAtMs": 0, "checkpoint": None}


def refused(payload: object) -> object:
    """The place that makes an attempt malformed."""
    return complaint(ATTEMPT_LIFECYCLE, payload)


def with_lifecycle(lifecycle: object) -> Wire:
    """An attempt in this state."""
    return {**ATTEMPT, "lifecycle": lifecycle}


def test_an_attempt_is_decoded() -> None:
    """Every member under its name in Python (JN-353)."""
    answer = decoded_attempt({**ATTEMPT, "attempt": MAX_SAFE_INTEGER})

    assert answer.payload == AttemptPayload(
        ROOT_LINEAGE, "run-1", "digest-1", MAX_SAFE_INTEGER, AttemptRunning(5, ABSENT, ABSENT), 2
    )


@pytest.mark.parametrize(
    ("lifecycle", "expected"),
    [
        (RUNNING, AttemptRunning(5)),
        ({**RUNNING, "heartbeatAtMs": ABSENT, "checkpoint": ABSENT}, AttemptRunning(5)),
        (SUSPENDED, AttemptSuspended(5, 0, None)),
        ({**SUSPENDED, "checkpoint": {"a": [1]}}, AttemptSuspended(5, 0, {"a": [1]})),
        (SUCCEEDED, AttemptSucceeded(5, 4, Success({"code": 0}))),
        (FAILED, AttemptFailed(5, 6, Failure("error", None))),
    ],
)
def test_a_lifecycle_is_decoded_by_its_state(lifecycle: Wire, expected: object) -> None:
    """An attempt in progress may have a heartbeat and a checkpoint, null too; it may end before it started (JN-354)."""
    assert decoded_attempt(with_lifecycle(lifecycle)).payload.lifecycle == expected


@pytest.mark.parametrize("state", BAD_WORDS, ids=repr)
def test_other_states_are_refused(state: object) -> None:
    """There are four (JN-354)."""
    assert refused(with_lifecycle({**RUNNING, "state": state if state != "running" else "done"})) == (
        "payload.lifecycle.state"
    )


@pytest.mark.parametrize("state", ["running", "suspended"])
@pytest.mark.parametrize("member", ["finishedAtMs", "result", "meta"])
def test_an_attempt_in_progress_has_no_end(state: str, member: str) -> None:
    """Whatever the member holds, an absent value too (JN-354, JN-356)."""
    for value in (1, None, SUCCESS, ABSENT):
        assert refused(with_lifecycle({"state": state, "startedAtMs": 5, member: value})) == "payload.lifecycle"


@pytest.mark.parametrize("lifecycle", [SUCCEEDED, FAILED], ids=["succeeded", "failed"])
def test_an_ended_attempt_has_an_end_and_nothing_else(lifecycle: Wire) -> None:
    """Its time and its result are required, heartbeat and checkpoint are members too many (JN-354, JN-356)."""
    assert refused(with_lifecycle(lacking(lifecycle, "startedAtMs"))) == "payload.lifecycle.startedAtMs"
    assert refused(with_lifecycle(lacking(lifecycle, "finishedAtMs"))) == "payload.lifecycle.finishedAtMs"
    assert refused(with_lifecycle(lacking(lifecycle, "result"))) == "payload.lifecycle.result"
    assert refused(with_lifecycle({**lifecycle, "heartbeatAtMs": 1})) == "payload.lifecycle"
    assert refused(with_lifecycle({**lifecycle, "checkpoint": 1})) == "payload.lifecycle"


def test_the_result_fits_the_state() -> None:
    """What succeeded has a success, what failed a failure (JN-354)."""
    assert refused(with_lifecycle({**SUCCEEDED, "result": FAILURE})) == "payload.lifecycle.result"
    assert refused(with_lifecycle({**FAILED, "result": SUCCESS})) == "payload.lifecycle.result"


@pytest.mark.parametrize("value", BAD_QUANTITIES, ids=repr)
@pytest.mark.parametrize("member", ["startedAtMs", "finishedAtMs"])
def test_times_are_quantities(member: str, value: object) -> None:
    """Safe integers from 0, floats never (JN-023, JN-354, JN-607)."""
    assert refused(with_lifecycle({**SUCCEEDED, member: value})) == f"payload.lifecycle.{member}"


@pytest.mark.parametrize("value", [value for value in BAD_QUANTITIES if value is not ABSENT], ids=repr)
def test_a_heartbeat_is_a_quantity(value: object) -> None:
    """Null is no time (JN-354)."""
    assert refused(with_lifecycle({**RUNNING, "heartbeatAtMs": value})) == "payload.lifecycle.heartbeatAtMs"


@pytest.mark.parametrize("reason", FAILURE_REASONS)
def test_each_reason_of_a_failure(reason: str) -> None:
    """Typed error, defect, interruption, encoding (JN-352)."""
    answer = decoded_attempt(with_lifecycle({**FAILED, "result": {**FAILURE, "reason": reason, "detail": ["a"]}}))

    assert answer.payload.lifecycle == AttemptFailed(5, 6, Failure(reason, ["a"]))


@pytest.mark.parametrize(
    ("result", "place"),
    [
        ({"_tag": "success", "value": 1}, "._tag"),
        ({"value": 1}, "._tag"),
        ({"_tag": 1, "value": 1}, "._tag"),
        ({"_tag": "Success"}, ".value"),
        ({"_tag": "Success", "value": 1, "detail": 1}, ""),
        ({"_tag": "Failure", "detail": 1}, ".reason"),
        ({"_tag": "Failure", "reason": "timeout", "detail": 1}, ".reason"),
        ({"_tag": "Failure", "reason": "error"}, ".detail"),
        ({"_tag": "Failure", "reason": "error", "detail": 1, "value": 1}, ""),
        (Success(1), ""),
        ([], ""),
        (None, ""),
    ],
)
def test_results_that_are_none(result: object, place: str) -> None:
    """The tag decides what else there is; an instance of a class is refused (JN-352, JN-356)."""
    assert refused(with_lifecycle({**SUCCEEDED, "result": result})) == f"payload.lifecycle.result{place}"


def test_values_are_json() -> None:
    """Finite numbers, well-formed text, no instances, at any depth; nothing of them is run (JN-352)."""
    values = not_json()
    results = [{"_tag": "Success", "value": value} for value in values]
    details = [{**FAILURE, "detail": value} for value in values]
    checkpoints = [{**RUNNING, "checkpoint": value} for value in values if value is not ABSENT]

    successes = [refused(with_lifecycle({**SUCCEEDED, "result": result})) for result in results]
    failures = [refused(with_lifecycle({**FAILED, "result": result})) for result in details]

    assert successes == ["payload.lifecycle.result.value"] * len(values)
    assert failures == ["payload.lifecycle.result.detail"] * len(values)
    assert {refused(with_lifecycle(lifecycle)) for lifecycle in checkpoints} == {"payload.lifecycle.checkpoint"}


def test_values_of_any_size_and_depth_are_json() -> None:
    """No limit of another store applies: the journal has its own (JN-044, JN-352)."""
    deep: Any = 1
    for _ in range(3_000):
        deep = [deep]
    wide = [{"a": [number, 1.5, None, True, "\U0001f600"]} for number in range(60_000)]

    lifecycles = [
        decoded_attempt(with_lifecycle({**RUNNING, "checkpoint": value})).payload.lifecycle for value in (deep, wide)
    ]

    assert lifecycles[1] == AttemptRunning(5, ABSENT, wide)
    assert isinstance(lifecycles[0], AttemptRunning)
    depth = 0
    checkpoint: Any = lifecycles[0].checkpoint
    while type(checkpoint) is list:
        checkpoint, depth = checkpoint[0], depth + 1
    assert (checkpoint, depth) == (1, 3_000)


def test_what_is_decoded_shares_nothing() -> None:
    """A later change of the stored value does not reach the payload (RS-300)."""
    value: Wire = {"list": [{"a": 1}]}
    answer = decoded_attempt(with_lifecycle({**RUNNING, "checkpoint": value}))
    value["list"][0]["a"] = 2

    assert answer.payload.lifecycle == AttemptRunning(5, ABSENT, {"list": [{"a": 1}]})


@pytest.mark.parametrize("version", [1, 3, 2.0, "2", True, None, ABSENT], ids=repr)
def test_the_version_is_the_number_two(version: object) -> None:
    """And an integer (JN-350, JN-607)."""
    assert refused({**ATTEMPT, "version": version}) == "payload.version"


@pytest.mark.parametrize("value", BAD_IDENTIFIERS, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize("member", ["executionId", "stepKeyDigest", "lineage.lineageId", "lineage.runId"])
def test_ids_are_identifiers(member: str, value: object) -> None:
    """JN-020, JN-351, JN-353."""
    assert refused(spoilt(ATTEMPT, member, value)) == f"payload.{member}"


@pytest.mark.parametrize("value", BAD_QUANTITIES, ids=repr)
@pytest.mark.parametrize("member", ["attempt", "lineage.round"])
def test_numbers_are_quantities(member: str, value: object) -> None:
    """JN-023, JN-351, JN-353."""
    assert refused(spoilt(ATTEMPT, member, value)) == f"payload.{member}"


@pytest.mark.parametrize("member", ["version", "lineage", "executionId", "stepKeyDigest", "attempt", "lifecycle"])
def test_no_member_of_an_attempt_may_be_missing(member: str) -> None:
    """JN-353."""
    assert refused(lacking(ATTEMPT, member)) == f"payload.{member}"


@pytest.mark.parametrize("path", ["", "lineage.", "lifecycle.", "lifecycle.result."])
def test_a_member_too_many_is_malformed_on_every_level(path: str) -> None:
    """And is not named, as a name may be a secret (JN-356)."""
    payload = spoilt(with_lifecycle(SUCCEEDED), f"{path}hunter2", 1)

    assert refused(payload) == f"payload.{path}".removesuffix(".")


def test_the_execution_is_the_run() -> None:
    """JN-353."""
    assert refused({**ATTEMPT, "executionId": "run-2"}) == "payload.executionId"


@pytest.mark.parametrize("value", [None, [], "attempt", 1, [ATTEMPT], object()], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("member", ["", ".lineage", ".lifecycle"])
def test_records_are_records(member: str, value: object) -> None:
    """An exact dict with strings as names (JN-353)."""
    payload = spoilt(ATTEMPT, member[1:], value) if member else value

    assert refused(payload) == f"payload{member}"


def test_the_first_error_is_the_cause() -> None:
    """In the order of the rules, a member too many before all others (JN-359)."""
    assert refused({"version": 3, "lineage": 1, "more": 1}) == "payload"
    assert refused({"version": 3, "lineage": 1}) == "payload.version"
    assert refused({**ATTEMPT, "lineage": 1, "executionId": 1, "lifecycle": 1}) == "payload.lineage"
    assert refused({**ATTEMPT, "executionId": 1, "lifecycle": 1}) == "payload.executionId"
    assert refused({**ATTEMPT, "attempt": -1, "lifecycle": 1}) == "payload.attempt"


@pytest.mark.parametrize("kind", ["child", "fork", "continuation"])
@pytest.mark.parametrize("changes", [{}, {"parentRunId": "run-0"}, {"round": MAX_SAFE_INTEGER}, {"round": 1}], ids=repr)
def test_a_derived_lineage(kind: str, changes: Wire) -> None:
    """Its parent may be the root (JN-351)."""
    wire = {**DERIVED, "kind": kind, **changes}
    payload = {**ATTEMPT, "lineage": wire, "executionId": "run-2"}

    answer = decoded_attempt(payload, consumer_of(wire))

    assert answer.payload.lineage == Lineage(
        wire["kind"], "run-2", "lineage-1", "run-0", wire["round"], wire["parentRunId"]
    )


@pytest.mark.parametrize(("kind", "valid"), [("child", True), ("fork", True), ("continuation", False)], ids=str)
def test_only_a_continuation_needs_a_round(kind: str, valid: bool) -> None:
    """Above 0 (JN-351)."""
    wire = {**DERIVED, "kind": kind, "round": 0}
    answer = complaint(ATTEMPT_LIFECYCLE, {**ATTEMPT, "lineage": wire, "executionId": "run-2"}, consumer_of(wire))

    assert (answer != "payload.lineage.round") == valid


@pytest.mark.parametrize("kind", ["child", "fork", "continuation"])
def test_a_derived_run_is_another_than_root_and_parent(kind: str) -> None:
    """And has a parent (JN-351)."""
    lineage = {**DERIVED, "kind": kind}

    assert refused({**ATTEMPT, "lineage": {**lineage, "rootRunId": "run-2"}}) == "payload.lineage.rootRunId"
    assert refused({**ATTEMPT, "lineage": {**lineage, "parentRunId": "run-2"}}) == "payload.lineage.parentRunId"
    assert refused({**ATTEMPT, "lineage": {**lineage, "parentRunId": None}}) == "payload.lineage.parentRunId"
    assert refused({**ATTEMPT, "lineage": lacking(lineage, "parentRunId")}) == "payload.lineage.parentRunId"


def test_a_root_is_its_own_root_in_round_zero_without_a_parent() -> None:
    """Its null parent is there (JN-351)."""
    assert refused(spoilt(ATTEMPT, "lineage.rootRunId", "run-0")) == "payload.lineage.rootRunId"
    assert refused(spoilt(ATTEMPT, "lineage.round", 1)) == "payload.lineage.round"
    assert refused(spoilt(ATTEMPT, "lineage.parentRunId", "run-0")) == "payload.lineage.parentRunId"
    assert refused({**ATTEMPT, "lineage": lacking(ROOT, "parentRunId")}) == "payload.lineage.parentRunId"


@pytest.mark.parametrize("kind", BAD_WORDS, ids=repr)
def test_other_kinds_are_refused(kind: object) -> None:
    """There are four (JN-351)."""
    assert refused(spoilt(ATTEMPT, "lineage.kind", kind)) == "payload.lineage.kind"

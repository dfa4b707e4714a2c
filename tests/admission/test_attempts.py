"""Attempts as callers hand them in: `tenure_model.admission.attempts`."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.admission.attempts import (
    admit_attempt,
    admit_attempt_id,
    admit_attempt_key,
    admit_attempt_now,
    admit_attempt_owner,
    admit_checkpoint,
    admit_finish,
    admit_patch,
)
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempts import Attempt, AttemptId, AttemptPatch, FinishAttempt
from tenure_model.vocabulary.owners import OwnerId
from tests.admission.oracle import ANY_VALUES
from tests.admission.values import OWNER, OWNER_DICT, VALUES, PlainDict, half_built, nested

CAP = 8
"""The configured cap in bytes wherever a test does not say otherwise."""

OWNER_TEXT = "owner must be an inert, valid owner identity"
ID_RECORD = "attempt id must be an inert data record"
ID_VALUES = "attempt identity violates the durable identifier contract"
ATTEMPT_RECORD = "attempt must be an inert data record"
ATTEMPT_VALUES = "attempt violates the persistence contract"
FINISH_RECORD = "finished attempt must be an inert data record"
FINISH_VALUES = "finished attempt violates the contract"
FINISH_STATE = "finish requires a terminal state and valid timestamp"
PATCH_RECORD = "attempt patch must be an inert data record"
NOW = "nowMs must be a non-negative safe integer"
TOO_LARGE = "checkpoint exceeds the JSON byte limit"

ID = {"runId": "r", "stepKeyDigest": "s", "attempt": 0}
ATTEMPT = {**ID, "state": "running", "startedAtMs": 1, "meta": {"a": 1}}
FINISH = {**ID, "state": "done", "finishedAtMs": 2}

HUGE = "x" * (16_777_216 - 1)
"""One byte more than any configuration admits, with its quotes."""

Admit = Callable[[object], Any]


def attempt(value: object) -> Any:
    """A whole attempt under the small cap."""
    return admit_attempt(value, CAP)


def finish(value: object) -> Any:
    """A finish where ``running`` and ``waiting`` are in progress."""
    return admit_finish(value, ("running", "waiting"))


def patch(value: object) -> Any:
    """A patch under the small cap."""
    return admit_patch(value, CAP)


def checkpoint(value: object) -> Any:
    """A heartbeat's checkpoint under the small cap."""
    return admit_checkpoint(value, CAP)


def text(admitted: object) -> str | None:
    """Why something is refused, ``None`` if it is not."""
    return admitted.text if isinstance(admitted, AttemptRefusal) else None


@pytest.mark.parametrize("value", [OWNER, dict(OWNER_DICT)])
def test_an_owner(value: object) -> None:
    """An owner comes as the frozen class or as a record (RS-811)."""
    assert admit_attempt_owner(value) == OWNER


@pytest.mark.parametrize(
    "value",
    [
        None,
        ABSENT,
        {},
        {**OWNER_DICT, "more": 1},
        {**OWNER_DICT, "pid": -1},
        {**OWNER_DICT, "pid": True},
        {**OWNER_DICT, "nonce": ""},
        OwnerId("", 1, "n"),
        PlainDict(OWNER_DICT),
    ],
)
def test_no_owner(value: object) -> None:
    """Shape and values are refused with one text (RS-811)."""
    assert text(admit_attempt_owner(value)) == OWNER_TEXT


@pytest.mark.parametrize(
    "value",
    [
        ID,
        {**ID, "state": object(), "more": 1},
        ATTEMPT,
        AttemptId("r", "s", 0),
        Attempt("r", "s", 0, "running", 1, {}),
        FinishAttempt("r", "s", 0, "done", 2),
        half_built(Attempt, run_id="r", step_key_digest="s", attempt=0),
    ],
)
def test_an_id(value: object) -> None:
    """Only the three fields are read, so whole attempts and records with more pass (RS-812)."""
    assert admit_attempt_id(value) == AttemptId("r", "s", 0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ID_RECORD),
        (ABSENT, ID_RECORD),
        ({}, ID_RECORD),
        ({"runId": "r", "stepKeyDigest": "s"}, ID_RECORD),
        ({**ID, "attempt": ABSENT}, ID_RECORD),
        ({**ID, 1: 1}, ID_RECORD),
        (PlainDict(ID), ID_RECORD),
        (AttemptPatch(), ID_RECORD),
        (half_built(AttemptId, run_id="r", attempt=0), ID_RECORD),
        ({**ID, "runId": None}, ID_VALUES),
        ({**ID, "runId": ""}, ID_VALUES),
        ({**ID, "stepKeyDigest": "s\0"}, ID_VALUES),
        ({**ID, "stepKeyDigest": "\ud800"}, ID_VALUES),
        ({**ID, "runId": "x" * 1025}, ID_VALUES),
        ({**ID, "attempt": -1}, ID_VALUES),
        ({**ID, "attempt": 2**53}, ID_VALUES),
        ({**ID, "attempt": 1.0}, ID_VALUES),
        ({**ID, "attempt": True}, ID_VALUES),
        (AttemptId("r", "", 0), ID_VALUES),
    ],
)
def test_no_id(value: object, expected: str) -> None:
    """A record without the three fields, and wrong values in them (RS-812)."""
    assert text(admit_attempt_id(value)) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("x" * 1024, "s", 2**53 - 1), None),
        (("r", "\U0001f600" * 512, 0), None),
        (("r", "\U0001f600" * 512 + "x", 0), ID_VALUES),
        ((ABSENT, "s", 0), ID_VALUES),
        (("r", None, 0), ID_VALUES),
        (("r", "s", "0"), ID_VALUES),
    ],
)
def test_a_key_in_three_values(values: tuple[object, object, object], expected: str | None) -> None:
    """The heartbeat's positional id is held to the same values (RS-812)."""
    assert text(admit_attempt_key(*values)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, None), (2**53 - 1, None), (-1, NOW), (2**53, NOW), (1.0, NOW), (True, NOW), (None, NOW), (ABSENT, NOW)],
)
def test_a_reading(value: object, expected: str | None) -> None:
    """A time of RS-303, compared with no clock (RS-840)."""
    assert text(admit_attempt_now(value)) == expected


def test_a_whole_attempt() -> None:
    """Every field arrives where it belongs, from a record and from the frozen class (RS-820)."""
    optional = {"finishedAtMs": 3, "heartbeatAtMs": 4, "checkpoint": [5], "error": [6], "outcome": [7]}
    whole = Attempt("r", "s", 0, "running", 1, {"a": 1}, 3, 4, [5], [6], [7])

    assert attempt({**ATTEMPT, **optional}) == whole
    assert attempt(whole) == whole


def test_the_least_attempt() -> None:
    """Optional fields that are missing or ``ABSENT`` are absent; any state may be put (RS-813, RS-821)."""
    least = Attempt("r", "s", 0, "running", 1, {"a": 1})
    unsaid = dict.fromkeys(("finishedAtMs", "heartbeatAtMs", "checkpoint", "error", "outcome"), ABSENT)

    assert attempt(ATTEMPT) == least
    assert attempt({**ATTEMPT, **unsaid}) == least
    assert attempt(least) == least
    assert attempt({**ATTEMPT, "state": "done"}).state == "done"


def test_null_is_a_value_of_json_fields() -> None:
    """Null stays null and is not absence (RS-813)."""
    nulls = dict.fromkeys(("checkpoint", "error", "outcome", "meta"), None)

    assert attempt({**ATTEMPT, **nulls}) == Attempt(
        "r", "s", 0, "running", 1, meta=None, checkpoint=None, error=None, outcome=None
    )
    assert patch(nulls) == AttemptPatch(None, None, None, None)
    assert checkpoint(None) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ATTEMPT_RECORD),
        (ID, ATTEMPT_RECORD),
        ({**ATTEMPT, "more": 1}, ATTEMPT_RECORD),
        ({**ATTEMPT, "meta": ABSENT}, ATTEMPT_RECORD),
        ({name: ATTEMPT[name] for name in ATTEMPT if name != "startedAtMs"}, ATTEMPT_RECORD),
        (PlainDict(ATTEMPT), ATTEMPT_RECORD),
        (FinishAttempt("r", "s", 0, "running", 1), ATTEMPT_RECORD),
        (half_built(Attempt, run_id="r", step_key_digest="s", attempt=0, state="x", started_at_ms=1), ATTEMPT_RECORD),
        ({**ATTEMPT, "runId": ""}, ATTEMPT_VALUES),
        ({**ATTEMPT, "stepKeyDigest": None}, ATTEMPT_VALUES),
        ({**ATTEMPT, "attempt": True}, ATTEMPT_VALUES),
        ({**ATTEMPT, "state": ""}, ATTEMPT_VALUES),
        ({**ATTEMPT, "state": "x" * 1025}, ATTEMPT_VALUES),
        ({**ATTEMPT, "startedAtMs": -1}, ATTEMPT_VALUES),
        ({**ATTEMPT, "finishedAtMs": None}, ATTEMPT_VALUES),
        ({**ATTEMPT, "finishedAtMs": 1.0}, ATTEMPT_VALUES),
        ({**ATTEMPT, "heartbeatAtMs": None}, ATTEMPT_VALUES),
        ({**ATTEMPT, "heartbeatAtMs": 2**53}, ATTEMPT_VALUES),
        ({**ATTEMPT, "checkpoint": object()}, "checkpoint contains a non-plain object"),
        ({**ATTEMPT, "checkpoint": nested(130)}, "checkpoint exceeds the maximum JSON depth of 128"),
        ({**ATTEMPT, "error": float("nan")}, "error contains a non-finite number"),
        ({**ATTEMPT, "outcome": "\ud800"}, "outcome contains unbounded or ill-formed text"),
        ({**ATTEMPT, "meta": [ABSENT]}, "meta contains a non-JSON undefined"),
        ({**ATTEMPT, "meta": {1: 1}}, "meta contains an unbounded or ill-formed object key"),
        ({**ATTEMPT, "meta": [0] * 100_001}, "meta exceeds the JSON members limit"),
        ({**ATTEMPT, "checkpoint": "1234567"}, TOO_LARGE),
    ],
)
def test_no_attempt(value: object, expected: str) -> None:
    """Each requirement has its text, a null time being a wrong value (RS-813, RS-820)."""
    assert text(attempt(value)) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"more": 1, "checkpoint": ABSENT, "meta": object()}, ATTEMPT_RECORD),
        ({"checkpoint": {1}, "error": {1}, "outcome": {1}, "meta": {1}}, "checkpoint contains a non-plain object"),
        ({"error": {1}, "outcome": {1}, "meta": {1}}, "error contains a non-plain object"),
        ({"outcome": {1}, "meta": {1}}, "outcome contains a non-plain object"),
        ({"meta": {1}, "state": ""}, "meta contains a non-plain object"),
        ({"checkpoint": HUGE, "error": {1}}, TOO_LARGE),
        ({"checkpoint": "1234567", "error": {1}}, "error contains a non-plain object"),
        ({"checkpoint": HUGE, "state": ""}, TOO_LARGE),
        ({"checkpoint": "1234567", "state": ""}, ATTEMPT_VALUES),
    ],
)
def test_the_first_failure_of_an_attempt_wins(changes: dict[str, object], expected: str) -> None:
    """Record, JSON with the greatest cap in field order, values, configured cap (RS-820)."""
    assert text(attempt({**ATTEMPT, **changes})) == expected


@pytest.mark.parametrize(
    "admit",
    [
        lambda value: attempt({**ATTEMPT, "checkpoint": value}),
        lambda value: patch({"checkpoint": value}),
        checkpoint,
    ],
    ids=["put", "patch", "heartbeat"],
)
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("123456", None),
        ("1234567", TOO_LARGE),
        ("\n12345", TOO_LARGE),
        ("\n1234", None),
        ("é1234", None),
        ("é12345", TOO_LARGE),
        ([1.0, 2.0], None),
        ([1, 2, 3, 4], TOO_LARGE),
        (10_000_000.0, None),
        (100_000_000.0, TOO_LARGE),
        (1e22, None),
        ({"a": 10}, None),
        ({"a": 100}, TOO_LARGE),
    ],
)
def test_checkpoints_are_measured_as_compact_json(admit: Admit, value: object, expected: str | None) -> None:
    """Equal to the cap of 8 bytes passes, numbers in their shortest form (RS-327, RS-820, RS-840, RS-860)."""
    assert text(admit(value)) == expected


def test_other_fields_have_no_ceiling() -> None:
    """Error, outcome and meta may be as large as they like in bytes (RS-014)."""
    huge = "x" * 1_000

    assert text(attempt({**ATTEMPT, "error": huge, "outcome": huge, "meta": huge})) is None
    assert text(finish({**FINISH, "error": huge, "outcome": huge, "meta": huge})) is None
    assert text(patch({"error": huge, "outcome": huge, "meta": huge})) is None


def test_the_greatest_checkpoint() -> None:
    """No configuration admits more than 16,777,216 bytes, and that many pass (RS-820)."""
    assert text(admit_checkpoint(HUGE[:-1], 16_777_216)) is None
    assert text(admit_checkpoint(HUGE, 16_777_216)) == TOO_LARGE


def test_a_whole_finish() -> None:
    """Every field arrives where it belongs, from a record and from the frozen class (RS-850)."""
    whole = FinishAttempt("r", "s", 0, "done", 2, [3], [4], [5])

    assert finish({**FINISH, "error": [3], "outcome": [4], "meta": [5]}) == whole
    assert finish(whole) == whole
    assert finish(FINISH) == FinishAttempt("r", "s", 0, "done", 2)
    assert finish({**FINISH, "error": None}) == FinishAttempt("r", "s", 0, "done", 2, error=None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, FINISH_RECORD),
        (ID, FINISH_RECORD),
        ({**FINISH, "checkpoint": 1}, FINISH_RECORD),
        ({**FINISH, "finishedAtMs": ABSENT}, FINISH_RECORD),
        (Attempt("r", "s", 0, "done", 1, {}), FINISH_RECORD),
        ({**FINISH, "error": {1}, "outcome": {1}, "meta": {1}}, "error contains a non-plain object"),
        ({**FINISH, "outcome": {1}, "meta": {1}}, "outcome contains a non-plain object"),
        ({**FINISH, "meta": {1}, "state": ""}, "meta contains a non-plain object"),
        ({**FINISH, "finishedAtMs": None}, FINISH_VALUES),
        ({**FINISH, "finishedAtMs": -1}, FINISH_VALUES),
        ({**FINISH, "attempt": -1, "state": "running"}, FINISH_VALUES),
        ({**FINISH, "state": ""}, FINISH_VALUES),
        ({**FINISH, "state": "running"}, FINISH_STATE),
        ({**FINISH, "state": "waiting"}, FINISH_STATE),
        ({**FINISH, "state": "Running"}, None),
    ],
)
def test_no_finish(value: object, expected: str | None) -> None:
    """Record, JSON in field order, values, a state in progress (RS-850)."""
    assert text(finish(value)) == expected


def test_a_whole_patch() -> None:
    """Every field arrives where it belongs, and an empty patch is one (RS-860, RS-861)."""
    whole = AttemptPatch([1], [2], [3], [4])

    assert patch({"checkpoint": [1], "error": [2], "outcome": [3], "meta": [4]}) == whole
    assert patch(whole) == whole
    assert patch({}) == AttemptPatch()
    assert patch(half_built(AttemptPatch)) == AttemptPatch()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, PATCH_RECORD),
        (ABSENT, PATCH_RECORD),
        ({"state": "done"}, PATCH_RECORD),
        (Attempt("r", "s", 0, "done", 1, {}), PATCH_RECORD),
        ({"checkpoint": {1}, "error": {1}}, "checkpoint contains a non-plain object"),
        ({"checkpoint": HUGE, "meta": {1}}, TOO_LARGE),
        ({"checkpoint": "1234567", "error": {1}, "outcome": {1}}, "error contains a non-plain object"),
        ({"checkpoint": "1234567", "outcome": {1}, "meta": {1}}, "outcome contains a non-plain object"),
        ({"checkpoint": "1234567", "meta": {1}}, "meta contains a non-plain object"),
        ({"checkpoint": "1234567"}, TOO_LARGE),
    ],
)
def test_no_patch(value: object, expected: str) -> None:
    """Record, JSON with the greatest cap in field order, configured cap (RS-860)."""
    assert text(patch(value)) == expected


def test_no_checkpoint_is_none() -> None:
    """A checkpoint that was not supplied passes as what it is (RS-840)."""
    assert checkpoint(ABSENT) is ABSENT


def test_later_changes_of_the_callers_values_do_not_matter() -> None:
    """What is admitted shares nothing with what the caller may still change, frozen classes included (RS-300)."""
    mine: list[object] = [1]
    record: dict[str, object] = {**ATTEMPT, "checkpoint": mine}
    admitted = [
        attempt(record).checkpoint,
        attempt(Attempt("r", "s", 0, "running", 1, mine)).meta,
        finish(FinishAttempt("r", "s", 0, "done", 1, mine)).error,
        patch(AttemptPatch(outcome=mine)).outcome,
        checkpoint(mine),
    ]

    mine.append(2)
    record.clear()

    assert admitted == [[1]] * 5


ADMISSIONS: tuple[tuple[Admit, dict[str, object] | None, type], ...] = (
    (admit_attempt_owner, dict(OWNER_DICT), OwnerId),
    (admit_attempt_id, ID, AttemptId),
    (attempt, {**ATTEMPT, "finishedAtMs": 1, "heartbeatAtMs": 1, "checkpoint": 1, "error": 1, "outcome": 1}, Attempt),
    (finish, {**FINISH, "error": 1, "outcome": 1, "meta": 1}, FinishAttempt),
    (patch, {"checkpoint": 1, "error": 1, "outcome": 1, "meta": 1}, AttemptPatch),
    (admit_attempt_now, None, int),
)


@pytest.mark.parametrize("make", VALUES.values(), ids=VALUES.keys())
@pytest.mark.parametrize(("admit", "record", "answer"), ADMISSIONS)
def test_every_value_in_every_field(
    admit: Admit, record: dict[str, object] | None, answer: type, make: Callable[[], object]
) -> None:
    """Whatever stands in a field, an answer comes back and no code of the value runs."""
    for value in (make(), *({**(record or {}), name: make()} for name in record or {})):
        assert type(admit(value)) in (answer, AttemptRefusal)


@given(ANY_VALUES)
def test_is_total(value: object) -> None:
    """Any value at all gets an answer."""
    for admit, _, answer in ADMISSIONS:
        assert type(admit(value)) in (answer, AttemptRefusal)

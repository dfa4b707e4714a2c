"""Preparation of an input: `tenure_model.admission.preparation`."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.preparation import Prepared, prepare
from tenure_model.admission.redaction.redactor import DEFAULT_REDACTOR, Redactor, make_noop_redactor
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal import JournalInput
from tenure_model.vocabulary.journal_errors import JournalError
from tests.admission.oracle import ANY_VALUES
from tests.admission.values import nested

NOOP = make_noop_redactor()


def of(payload: object, meta: object = ABSENT) -> JournalInput:
    """An input with this content."""
    return JournalInput("run-1", "source-1", "step.done", payload, 3, "identity", meta)


def failing_on(refused: object) -> Callable[[object], object]:
    """A redactor that fails on one value."""

    def redact(value: object) -> object:
        if value == refused:
            raise ValueError(refused)
        return value

    return redact


def text_of(prepared: Prepared | JournalError) -> str | None:
    """The message of a refusal."""
    return prepared.text if isinstance(prepared, JournalError) else None


def test_a_prepared_input_holds_what_is_stored() -> None:
    """Redacted and canonical, a missing meta as null, the clock rounded down (JN-025, JN-028, JN-042)."""
    prepared = prepare(of({"b": 1.0, "apiKey": "k"}), 5.9, DEFAULT_REDACTOR)

    assert prepared == Prepared(
        "run-1", "source-1", 3, "identity", "step.done", '{"apiKey":"[REDACTED]","b":1}', "null", 5
    )


def test_meta_is_redacted_too() -> None:
    """By the same redactor (JN-050)."""
    prepared: Any = prepare(of(None, {"token": 1}), 5, DEFAULT_REDACTOR)

    assert (prepared.payload_json, prepared.meta_json) == ("null", '{"token":"[REDACTED]"}')


@pytest.mark.parametrize("clock_ms", [0, MAX_SAFE_INTEGER, 0.5, float(MAX_SAFE_INTEGER)])
def test_clocks_of_the_safe_range_are_taken(clock_ms: float) -> None:
    """From 0 to 2**53-1 (JN-028)."""
    prepared: Any = prepare(of(1), clock_ms, NOOP)

    assert prepared.emitted_at_ms == int(clock_ms)


@pytest.mark.parametrize("clock_ms", [-1, -0.5, MAX_SAFE_INTEGER + 1, float("nan"), float("inf"), True, None, "1"])
def test_other_clocks_are_refused(clock_ms: Any) -> None:
    """Nothing is known about when the event was emitted (JN-028)."""
    prepared = prepare(of(1), clock_ms, NOOP)

    assert prepared == JournalError("invalid_event", "emittedAtMs must be a non-negative safe integer")


@pytest.mark.parametrize(
    ("value", "clock_ms", "redact", "limit", "text"),
    [
        ({"runId": ""}, -1, NOOP, 1, "event violates the journal input contract"),
        (of("p", "m"), -1, failing_on("p"), 1, "emittedAtMs must be a non-negative safe integer"),
        (of("p", {1}), 1, failing_on("p"), 1, "payload could not be redacted"),
        (of({1}, "m"), 1, failing_on("m"), 1, "meta could not be redacted"),
        (of({1}, {1}), 1, NOOP, 1, "payload must be JSON-serializable"),
        (of(nested(258), {1}), 1, NOOP, 1, "payload could not be canonicalized"),
        (of("long", {1}), 1, NOOP, 1, "meta must be JSON-serializable"),
        (of("long", nested(258)), 1, NOOP, 1, "meta could not be canonicalized"),
        (of("long", "m"), 1, NOOP, 8, "event is 9 bytes, over the 8-byte maxEntryBytes bound"),
    ],
)
def test_the_first_failing_check_wins(
    value: object, clock_ms: int, redact: Callable[[object], object], limit: int, text: str
) -> None:
    """Every input fails the check of its line, and most later ones too (JN-040, JN-401)."""
    prepared = prepare(value, clock_ms, redact, limit)

    assert prepared == JournalError("invalid_event", text)


def test_the_default_redactor_refuses_what_is_too_deep() -> None:
    """One container fewer passes both (JN-044)."""
    deep = nested(257)

    assert text_of(prepare(of([deep]), 1, DEFAULT_REDACTOR)) == "payload could not be redacted"
    assert text_of(prepare(of(1, [deep]), 1, DEFAULT_REDACTOR)) == "meta could not be redacted"
    assert text_of(prepare(of([deep]), 1, NOOP)) == "payload could not be canonicalized"
    assert text_of(prepare(of(deep, deep), 1, DEFAULT_REDACTOR)) is None


def test_a_failed_redaction_leaves_no_cause() -> None:
    """The redactor's own error may quote the payload (JN-402)."""
    prepared: Any = prepare(of("secret"), 1, failing_on("secret"))

    assert prepared.cause is None
    assert prepared.__cause__ is None
    assert prepared.__context__ is None


def test_other_refusals_name_the_member_only() -> None:
    """No cause quotes what was refused (JN-402)."""
    causes: list[Any] = [
        prepare({"runId": "r", "sourceId": "secret\0", "eventType": "e", "payload": 1}, 1, NOOP),
        prepare(of({"secret"}), 1, NOOP),
    ]

    assert causes[0].cause == {"field": "sourceId", "detail": "violates the journal identifier contract"}
    assert causes[1].cause == {"field": "payload", "detail": "must be JSON-serializable"}


def test_interruption_is_not_swallowed() -> None:
    """Only errors are refusals."""

    def interrupted(value: object) -> object:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(of(1), 1, interrupted)


@pytest.mark.parametrize(
    ("payload", "meta", "size"), [("é", ABSENT, 8), ("a", "bc", 7), (1, None, 5), ({"password": "x"}, 1, 26)]
)
def test_the_bound_counts_stored_bytes(payload: object, meta: object, size: int) -> None:
    """In UTF-8, after redaction, a missing meta as its four bytes; equal is admitted (JN-045)."""
    fits = prepare(of(payload, meta), 1, DEFAULT_REDACTOR, size)
    over = prepare(of(payload, meta), 1, DEFAULT_REDACTOR, size - 1)

    assert type(fits) is Prepared
    assert text_of(over) == f"event is {size} bytes, over the {size - 1}-byte maxEntryBytes bound"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1.0}),
        ({"password": "one"}, {"password": "two"}),
        ([float("nan")], [None]),
        ({"a": ABSENT}, {}),
    ],
)
def test_events_of_equal_text_are_the_same(first: object, second: object) -> None:
    """Order, hidden secrets and numbers that JSON lacks make no difference (JN-046)."""
    assert prepare(of(first), 1, DEFAULT_REDACTOR) == prepare(of(second), 1, DEFAULT_REDACTOR)


def test_what_a_hook_makes_after_redaction_is_redacted() -> None:
    """A redactor that knows no hook leaves foreign values, and the hook of the journal then encodes them (JN-042)."""

    def hook(value: object) -> object:
        return ["sk-abcdefgh", {"password": "x"}]

    late: Any = prepare(of([object()]), 1, DEFAULT_REDACTOR, default=hook)
    early: Any = prepare(of([object()]), 1, Redactor(default=hook), default=hook)

    assert late.payload_json == '[["[REDACTED_API_KEY]",{"password":"[REDACTED]"}]]'
    assert early == late


@given(value=ANY_VALUES, payload=ANY_VALUES, meta=ANY_VALUES, limit=st.none() | st.integers(1, 50))
def test_preparation_is_total(value: object, payload: object, meta: object, limit: int | None) -> None:
    """Every input is prepared or refused (JN-040)."""
    assert type(prepare(value, 1, DEFAULT_REDACTOR, limit)) in (Prepared, JournalError)
    assert type(prepare(of(payload, meta), 1, DEFAULT_REDACTOR, limit)) in (Prepared, JournalError)

"""The policy of an attempt store: `tenure_model.admission.attempt_options`."""

from typing import Any

import pytest
from hypothesis import given

from tenure_model.admission.attempt_options import admit_attempt_options
from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempts import AttemptOptions
from tests.admission.oracle import ANY_VALUES
from tests.admission.values import VALUES, PlainDict, half_built

RECORD = "attempt store options must be an inert data record"
ARRAY = "inProgressStates must be an inert string array"
STATES = "inProgressStates must contain unique durable state names"
BYTES = "maxCheckpointBytes must be between 1 and 16777216"
MODE = "putMode must be insert or upsert"


def text(value: object) -> str | None:
    """Why options are refused, ``None`` if they are not."""
    admitted = admit_attempt_options(value)
    return admitted.text if isinstance(admitted, AttemptRefusal) else None


def states(count: int) -> list[object]:
    """So many states, each of one character or more."""
    return [f"s{number}" for number in range(count)]


def states_of_bytes(size: int) -> list[object]:
    """Distinct states of at most 1,024 characters whose compact JSON takes so many bytes."""
    # A state of 1,000 characters takes 1,003 with quotes and a comma; the brackets make up for the last comma.
    count = size // 1003
    return [*(f"{number:04}".ljust(1000, "x") for number in range(count)), "y" * (size - 1003 * count - 4)]


@pytest.mark.parametrize(
    ("value", "admitted"),
    [
        (ABSENT, AttemptOptions()),
        ({}, AttemptOptions(("running",), 1_048_576, "insert")),
        ({"inProgressStates": None, "maxCheckpointBytes": None, "putMode": None}, AttemptOptions()),
        ({"inProgressStates": ABSENT, "maxCheckpointBytes": ABSENT, "putMode": ABSENT}, AttemptOptions()),
        ({"inProgressStates": ["a", "b"]}, AttemptOptions(("a", "b"))),
        (AttemptOptions(("a",), 5, "upsert"), AttemptOptions(("a",), 5, "upsert")),
        ({"maxCheckpointBytes": 1, "putMode": "upsert"}, AttemptOptions(max_checkpoint_bytes=1, put_mode="upsert")),
        ({"maxCheckpointBytes": 16_777_216}, AttemptOptions(max_checkpoint_bytes=16_777_216)),
        (half_built(AttemptOptions, put_mode="upsert"), AttemptOptions(put_mode="upsert")),
    ],
)
def test_admitted(value: object, admitted: AttemptOptions) -> None:
    """Absent and null members take their default, of a record or of the frozen class (RS-800..RS-803)."""
    assert admit_attempt_options(value) == admitted


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, RECORD),
        ([], RECORD),
        ("insert", RECORD),
        ({"putMode": "insert", "other": None}, RECORD),
        ({"putmode": "insert"}, RECORD),
        ({1: "insert"}, RECORD),
        (PlainDict(), RECORD),
        ({"inProgressStates": "running"}, ARRAY),
        ({"inProgressStates": {"0": "running"}}, ARRAY),
        ({"inProgressStates": {"running"}}, ARRAY),
        ({"inProgressStates": ("running",)}, ARRAY),
        ({"inProgressStates": [[["a"]]]}, ARRAY),
        ({"inProgressStates": ["\ud800"]}, ARRAY),
        ({"inProgressStates": [object()]}, ARRAY),
        ({"inProgressStates": [ABSENT]}, ARRAY),
        ({"inProgressStates": []}, STATES),
        ({"inProgressStates": [1]}, STATES),
        ({"inProgressStates": [None]}, STATES),
        ({"inProgressStates": [["a"]]}, STATES),
        ({"inProgressStates": [""]}, STATES),
        ({"inProgressStates": ["a\0"]}, STATES),
        ({"inProgressStates": ["a" * 1025]}, STATES),
        ({"inProgressStates": ["a", "b", "a"]}, STATES),
        ({"maxCheckpointBytes": 0}, BYTES),
        ({"maxCheckpointBytes": 16_777_217}, BYTES),
        ({"maxCheckpointBytes": 1.0}, BYTES),
        ({"maxCheckpointBytes": True}, BYTES),
        ({"maxCheckpointBytes": "1"}, BYTES),
        ({"putMode": "replace"}, MODE),
        ({"putMode": True}, MODE),
        ({"putMode": ["insert"]}, MODE),
    ],
)
def test_refused(value: object, expected: str) -> None:
    """Each requirement has its text (RS-800..RS-803)."""
    assert text(value) == expected


@pytest.mark.parametrize(("count", "expected"), [(255, None), (256, None), (257, ARRAY)])
def test_at_most_256_states(count: int, expected: str | None) -> None:
    """One state more than the most is no array to look into (RS-801)."""
    assert text({"inProgressStates": states(count)}) == expected


@pytest.mark.parametrize(("size", "expected"), [(65_536, None), (65_537, ARRAY)])
def test_at_most_64_kibibytes_of_states(size: int, expected: str | None) -> None:
    """The list is measured as compact JSON, and equal to the bound passes (RS-801, RS-327)."""
    assert text({"inProgressStates": states_of_bytes(size)}) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"inProgressStates": [], "maxCheckpointBytes": 0, "putMode": ""}, STATES),
        ({"maxCheckpointBytes": 0, "putMode": ""}, BYTES),
        ({"inProgressStates": [], "other": 1}, RECORD),
    ],
)
def test_the_first_failure_wins(value: object, expected: str) -> None:
    """Record, states, bytes, mode (RS-804)."""
    assert text(value) == expected


def test_states_are_copied() -> None:
    """What the caller does to its list afterwards does not matter (RS-801)."""
    mine: list[object] = ["a"]
    admitted = admit_attempt_options({"inProgressStates": mine})

    mine.append("b")

    assert admitted == AttemptOptions(("a",))


@pytest.mark.parametrize("make", VALUES.values(), ids=VALUES.keys())
def test_every_value_in_every_member(make: Any) -> None:
    """Whatever stands in a member, an answer comes back and no code of the value runs."""
    for value in (make(), *({name: make()} for name in ("inProgressStates", "maxCheckpointBytes", "putMode"))):
        assert type(admit_attempt_options(value)) in (AttemptOptions, AttemptRefusal)


@given(ANY_VALUES)
def test_is_total(value: object) -> None:
    """Any value at all gets an answer."""
    assert type(admit_attempt_options(value)) in (AttemptOptions, AttemptRefusal)

"""Tests of the policy that an attempt store is opened with."""

from pathlib import Path
from typing import Any

import pytest

import tenure
from tests.attempts.support import refused

RECORD = "attempt store options must be an inert data record"
ARRAY = "inProgressStates must be an inert string array"
STATES = "inProgressStates must contain unique durable state names"
BYTES = "maxCheckpointBytes must be between 1 and 16777216"
MODE = "putMode must be insert or upsert"


@pytest.mark.parametrize(
    "options",
    [
        tenure.ABSENT,
        {},
        tenure.AttemptOptions(),
        {"inProgressStates": None, "maxCheckpointBytes": None, "putMode": None},
        {"inProgressStates": tenure.ABSENT},
    ],
)
def test_defaults(options: Any) -> None:
    """What is absent or null takes its default (RS-800..RS-803)."""
    with tenure.open(":memory:", attempts=options) as store:
        assert store.attempts.options == tenure.AttemptOptions(("running",), 1024 * 1024, "insert")


@pytest.mark.parametrize(
    ("options", "admitted"),
    [
        ({"inProgressStates": ["a", "b"]}, tenure.AttemptOptions(("a", "b"))),
        ({"inProgressStates": [str(n) for n in range(256)]}, tenure.AttemptOptions(tuple(map(str, range(256))))),
        ({"maxCheckpointBytes": 1}, tenure.AttemptOptions(max_checkpoint_bytes=1)),
        ({"maxCheckpointBytes": 16777216}, tenure.AttemptOptions(max_checkpoint_bytes=16777216)),
        ({"putMode": "upsert"}, tenure.AttemptOptions(put_mode="upsert")),
    ],
)
def test_admitted(options: Any, admitted: tenure.AttemptOptions) -> None:
    """The bounds themselves are admitted (RS-801..RS-803)."""
    with tenure.open(":memory:", attempts=options) as store:
        assert store.attempts.options == admitted


BAD: list[tuple[object, str]] = [
    (None, RECORD),
    ([], RECORD),
    ("insert", RECORD),
    ({"more": 1}, RECORD),
    ({"in_progress_states": ["a"]}, RECORD),
    ({"inProgressStates": "running"}, ARRAY),
    ({"inProgressStates": {"a": 1}}, ARRAY),
    ({"inProgressStates": [str(n) for n in range(257)]}, ARRAY),
    ({"inProgressStates": ["x" * 1000 + str(n) for n in range(66)]}, ARRAY),
    ({"inProgressStates": [[["a"]]]}, ARRAY),
    ({"inProgressStates": [len]}, ARRAY),
    ({"inProgressStates": []}, STATES),
    ({"inProgressStates": ["a", "a"]}, STATES),
    ({"inProgressStates": [""]}, STATES),
    ({"inProgressStates": ["x" * 1025]}, STATES),
    ({"inProgressStates": ["a", 1]}, STATES),
    ({"maxCheckpointBytes": 0}, BYTES),
    ({"maxCheckpointBytes": 16777217}, BYTES),
    ({"maxCheckpointBytes": 1.0}, BYTES),
    ({"maxCheckpointBytes": True}, BYTES),
    ({"putMode": "replace"}, MODE),
    ({"putMode": 1}, MODE),
    (tenure.AttemptOptions(()), STATES),
    (tenure.AttemptOptions(max_checkpoint_bytes=0), BYTES),
]


@pytest.mark.parametrize(("options", "text"), BAD)
def test_refused(tmp_path: Path, options: Any, text: str) -> None:
    """A policy that is wrong fails the opening, before there is any file (RS-804)."""
    error = refused(lambda: tenure.open(tmp_path / "runs.db", attempts=options))

    assert error == tenure.AttemptStoreError("invalid_attempt", "makeWith", text)
    assert error.message == f"invalid_attempt: AttemptStore.makeWith: {text}"
    assert list(tmp_path.iterdir()) == []


def test_order() -> None:
    """States, bytes, mode: the first that fails is told (RS-804)."""
    mode: Any = {"putMode": ""}
    size_and_mode: Any = {"maxCheckpointBytes": 0, **mode}
    all_three: Any = {"inProgressStates": [], **size_and_mode}

    assert refused(lambda: tenure.open(":memory:", attempts=all_three)).text == STATES
    assert refused(lambda: tenure.open(":memory:", attempts=size_and_mode)).text == BYTES
    assert refused(lambda: tenure.open(":memory:", attempts=mode)).text == MODE


def test_states_are_copied() -> None:
    """What becomes of the caller's array afterwards does not matter (RS-801)."""
    states = ["a"]
    store = tenure.open(":memory:", attempts={"inProgressStates": states})
    states.append("b")

    assert store.attempts.options.in_progress_states == ("a",)

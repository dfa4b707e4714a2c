"""``get``, and the decoding of rows."""

from typing import Any

import attrs
import pytest

from tenure_model.semantics.attempts.decoding import decode
from tenure_model.semantics.attempts.table import NO_ATTEMPTS, AttemptRow
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.attempt_errors import AttemptStoreError
from tenure_model.vocabulary.attempts import Attempt, AttemptOptions
from tests.semantics.attempts.tables import BARE, DONE, FULL, ID, call, holding
from tests.semantics.worlds import running, settled

UNDECODABLE = "could not decode flows_attempts row"


@pytest.mark.parametrize("world", [running(), settled(), empty_world()])
@pytest.mark.parametrize(
    ("row", "attempt"),
    [
        (BARE, Attempt("r", "s", 0, "running", 5, {"a": 1})),
        (FULL, Attempt("r", "s", 0, "running", 5, {"a": 1}, 6, 7, "c", "e", "o")),
        (DONE, Attempt("r", "s", 0, "done", 5, {"a": 1}, 6, 7, "c", "e", "o")),
        (
            attrs.evolve(BARE, checkpoint_json="null", meta_json="null"),
            Attempt("r", "s", 0, "running", 5, None, checkpoint=None),
        ),
    ],
)
def test_an_attempt(world: World, row: AttemptRow, attempt: Attempt) -> None:
    """What is stored comes back, null columns as absence, whatever became of the run (RS-813, RS-830)."""
    table = holding(row)
    step = call(world, table, "attempt.get", id=ID)

    assert step.outcome == attempt
    assert step.attempts is table
    assert not step.transacted


@pytest.mark.parametrize("change", [{"runId": "q"}, {"stepKeyDigest": "t"}, {"attempt": 1}])
def test_no_attempt(change: dict[str, object]) -> None:
    """Another key is another attempt (RS-830)."""
    assert call(running(), holding(BARE), "attempt.get", id={**ID, **change}).outcome is None
    assert call(running(), NO_ATTEMPTS, "attempt.get", id=ID).outcome is None


def test_answers_are_the_callers_own() -> None:
    """Whatever a caller does to an answer, the table still holds what it held."""
    table = holding(BARE)
    first = call(running(), table, "attempt.get", id=ID).outcome

    assert isinstance(first, Attempt)
    assert isinstance(first.meta, dict)
    first.meta.clear()
    assert call(running(), table, "attempt.get", id=ID).outcome == Attempt("r", "s", 0, "running", 5, {"a": 1})


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"run_id": ""}, UNDECODABLE),
        ({"step_key_digest": "s\0"}, UNDECODABLE),
        ({"attempt": -1}, UNDECODABLE),
        ({"state": "x" * 1025}, UNDECODABLE),
        ({"started_at_ms": 2**53}, UNDECODABLE),
        ({"finished_at_ms": -1}, UNDECODABLE),
        ({"heartbeat_at_ms": -1}, UNDECODABLE),
        ({"state": "", "checkpoint_json": "{"}, UNDECODABLE),
        ({"checkpoint_json": "{", "error_json": "{"}, "checkpoint_json must be valid JSON text"),
        ({"error_json": "", "outcome_json": "{"}, "error_json must be non-empty JSON text"),
        ({"outcome_json": "[1e999]", "meta_json": "{"}, "outcome_json contains a non-finite number"),
        ({"meta_json": "[" * 130 + "]" * 130}, "meta_json exceeds the maximum JSON depth of 128"),
        ({"meta_json": '"\\ud800"'}, "meta_json contains unbounded or ill-formed text"),
        ({"checkpoint_json": " " * 16_777_216 + "1"}, "checkpoint_json exceeds the JSON byte limit"),
    ],
)
def test_a_corrupt_row(columns: dict[str, Any], text: str) -> None:
    """Identifiers, times and state first, then the JSON columns in order (RS-830)."""
    row = attrs.evolve(BARE, **columns)

    assert decode(row, "put") == AttemptStoreError("decode_failed", "put", text)


def test_a_corrupt_row_is_an_error_of_get() -> None:
    """The error carries the operation that met the row (RS-830)."""
    table = holding(attrs.evolve(BARE, meta_json=""))

    assert call(running(), table, "attempt.get", id=ID).outcome == AttemptStoreError(
        "decode_failed", "get", "meta_json must be non-empty JSON text"
    )


def test_the_configured_cap_is_not_asked() -> None:
    """A checkpoint that a lower cap would refuse today is still read (RS-830)."""
    table = holding(FULL)

    assert isinstance(
        call(running(), table, "attempt.get", AttemptOptions(max_checkpoint_bytes=1), id=ID).outcome, Attempt
    )
    assert isinstance(decode(attrs.evolve(BARE, checkpoint_json=" " * 16_777_215 + "1"), "get"), Attempt)
    assert isinstance(decode(attrs.evolve(BARE, error_json=" " * 16_777_216 + "1"), "get"), Attempt)


@pytest.mark.parametrize(
    ("id", "text"),
    [
        (None, "attempt id must be an inert data record"),
        ({**ID, "attempt": -1}, "attempt identity violates the durable identifier contract"),
    ],
)
def test_invalid_input(id: object, text: str) -> None:
    """A record without the key, or with wrong values (RS-812)."""
    step = call(running(), holding(BARE), "attempt.get", id=id)

    assert step.outcome == AttemptStoreError("invalid_attempt", "get", text)
    assert not step.transacted

"""Raw writes to the journal's tables, and what the schema refuses of them."""

import pytest

from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.journal import Accepted
from tenure_model.vocabulary.journal_errors import JournalUsageError
from tests.semantics.journal.journals import (
    B,
    after,
    also_opened,
    call,
    compacted,
    emitted,
    event,
    history,
    opened,
    planted,
)

COLUMNS = {
    "run_id": "r",
    "seq": 5,
    "source_id": "p",
    "source_seq": 5,
    "emitted_at_ms": 0,
    "event_type": "t",
    "payload_json": "1",
    "meta_json": "null",
}


def test_a_row() -> None:
    """It stands like any other, and the next numbers follow it (JN-005, JN-172)."""
    state = after(opened(), "event.write", columns=COLUMNS)

    assert history(state) == [(5, 5, "1")]
    assert call(state, "journal.emitDurableUnfenced", input=event()).outcome == Accepted(6, 6)


@pytest.mark.parametrize(
    "changed",
    [
        {"run_id": ""},
        {"source_id": ""},
        {"event_type": "\0t"},
        {"payload_json": "{"},
        {"meta_json": "NaN"},
        {"seq": -1},
        {"seq": 2**53},
        {"source_seq": -1},
        {"emitted_at_ms": -1},
        {"seq": 1},
        {"source_seq": 0},
        {"source_seq": 1},
    ],
)
def test_constraint(changed: dict[str, object]) -> None:
    """Checks and keys hold, tombstones included; nothing is written (JN-005, JN-010)."""
    state = compacted(emitted(opened(), 0, 1), 1)

    step = call(state, "event.write", columns={**COLUMNS, **changed})

    assert isinstance(step.outcome, RunStoreError)
    assert step.outcome.code == "constraint"
    assert step.state is state


@pytest.mark.parametrize("columns", [None, {}, {**COLUMNS, "x": 1}, {**COLUMNS, "seq": "5"}, {**COLUMNS, "run_id": 1}])
def test_no_columns(columns: object) -> None:
    """Columns are given whole and in their types."""
    assert isinstance(call(opened(), "event.write", columns=columns).outcome, JournalUsageError)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"generation": 0}, RunStoreError),
        ({"afterSeq": -2}, RunStoreError),
        ({"afterSeq": 2**53}, RunStoreError),
        ({"runId": ""}, RunStoreError),
        ({"runId": None}, JournalUsageError),
        ({"generation": "1"}, JournalUsageError),
    ],
)
def test_generation(changed: dict[str, object], expected: type[object]) -> None:
    """A generation is at least 1, and may have left nothing (JN-340)."""
    arguments: dict[str, object] = {"runId": "r", "generation": 1, "afterSeq": -1}

    assert call(opened(), "generation.write", **arguments).outcome is None
    assert isinstance(call(opened(), "generation.write", **{**arguments, **changed}).outcome, expected)


def test_busy() -> None:
    """Raw writes wait for the transaction like all others (RS-390)."""
    state = after(also_opened(opened(), B), "session.begin", B)

    assert isinstance(call(state, "event.write", columns=COLUMNS).outcome, RunStoreError)
    assert isinstance(call(state, "generation.write", runId="r", generation=1, afterSeq=0).outcome, RunStoreError)


def test_inside_a_transaction() -> None:
    """They roll back with it."""
    state = planted(after(opened(), "session.begin"), 3)

    assert history(after(state, "session.rollback")) == []

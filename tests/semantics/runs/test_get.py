"""``get`` and the decoding of rows."""

import attrs
import pytest

from tenure_model.semantics.runs.get import decode
from tenure_model.semantics.world import Claim
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunRow
from tests.semantics.worlds import ALICE, BOB, LATE, T, call, pending, running, settled, stolen


def test_a_row_as_callers_see_it() -> None:
    """The claim comes out as two fields, and the acknowledgement does not come out (RS-407)."""
    assert call(stolen(), "run.get", runId="r").outcome == RunRow(
        run_id="r",
        status="running",
        created_at_ms=T,
        started_at_ms=T,
        finished_at_ms=None,
        owner=ALICE,
        heartbeat_at_ms=T,
        claim=BOB,
        claimed_at_ms=LATE,
        parent_run_id=None,
        cancel_requested_at_ms=None,
        lineage_id=None,
        round_ordinal=None,
        state_json="{}",
    )


def test_every_other_column_comes_out() -> None:
    """The columns that a running, claimed row leaves null, each from its own (RS-407)."""
    run = attrs.evolve(
        settled().runs["r"], parent_run_id="p", cancel_requested_at_ms=1, lineage_id="L", round_ordinal=2
    )
    row = decode(run, "get")

    assert isinstance(row, RunRow)
    assert (row.status, row.owner, row.claim, row.claimed_at_ms) == ("completed", None, None, None)
    assert (row.started_at_ms, row.finished_at_ms, row.parent_run_id) == (T, T + 7, "p")
    assert (row.cancel_requested_at_ms, row.lineage_id, row.round_ordinal) == (1, "L", 2)


def test_a_missing_row() -> None:
    """An unknown run is ``not_found_row``, with its id in text and cause (RS-361, RS-405)."""
    step = call(pending(), "run.get", runId="other")

    assert step.outcome == RunStoreError("not_found_row", "get", "run other was not found", {"runId": "other"})
    assert str(step.outcome) == "not_found_row: RunStore.get: run other was not found"
    assert not step.transacted


@pytest.mark.parametrize("run_id", ["", 7, None, "\ud800"])
def test_an_invalid_id(run_id: object) -> None:
    """What is no durable text is ``invalid_run`` (RS-405)."""
    error = call(pending(), "run.get", runId=run_id).outcome

    assert isinstance(error, RunStoreError)
    assert (error.code, error.method, error.cause["field"]) == ("invalid_run", "get", "runId")


@pytest.mark.parametrize(
    "corruption",
    [
        {"owner": OwnerId("h" * 1025, 1, "a")},
        {"owner": OwnerId("h1", 2**53, "a")},
        {"owner": OwnerId("h1", 1, "")},
        {"claim": Claim(OwnerId("h1", 2**53, "a"), T)},
        {"claim": Claim(ALICE, 2**53)},
        {"heartbeat_at_ms": -1},
        {"created_at_ms": 2**53},
        {"started_at_ms": 2**53},
        {"finished_at_ms": -1},
        {"cancel_requested_at_ms": -1},
        {"round_ordinal": -1},
        {"status": "paused"},
        {"run_id": ""},
        {"parent_run_id": "\0"},
        {"lineage_id": ""},
    ],
)
def test_columns_that_break_their_own_rule(corruption: dict[str, object]) -> None:
    """Every identifier, number and status is judged again on its way out (RS-406)."""
    run = attrs.evolve(running().runs["r"], **corruption)  # type: ignore[arg-type]  # corrupt on purpose

    assert decode(run, "get") == RunStoreError(
        "decode_failed", "get", "could not decode flows_runs row", {"runId": run.run_id, "stage": "row-schema"}
    )


@pytest.mark.parametrize(
    ("corruption", "state_json_valid"),
    [
        ({"owner": None}, True),
        ({"heartbeat_at_ms": None}, True),
        ({"status": "suspended"}, True),
        ({"state_json": "{"}, False),
        ({"state_json": "[" * 130 + "]" * 130}, True),
    ],
)
def test_columns_that_break_a_rule_together(corruption: dict[str, object], state_json_valid: bool) -> None:
    """Half-owned rows and states that would not be admitted are ``decode_failed`` (RS-361, RS-406)."""
    run = attrs.evolve(running().runs["r"], **corruption)  # type: ignore[arg-type]  # corrupt on purpose

    assert decode(run, "get") == RunStoreError(
        "decode_failed",
        "get",
        "flows_runs row violates durable invariants",
        {
            "runId": "r",
            "status": run.status,
            "heartbeatAtMs": run.heartbeat_at_ms,
            "claimedAtMs": None,
            "hasClaimColumns": False,
            "hasOwnerColumns": run.owner is not None,
            "stateJsonValid": state_json_valid,
        },
    )

"""The wire form of values, outcomes and errors."""

import pytest

from tenure_model.conform.wire import result_to_wire, to_wire
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.outcomes import Activated, Claimed, Terminal
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import PENDING, CreateOptions, RunSnapshot, TransitionGuard

OWNER = OwnerId("h1", 1, "a")


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (Claimed(5), {"_tag": "Claimed", "claimedAtMs": 5}),
        (Activated(), {"_tag": "Activated"}),
        (Terminal("failed"), {"_tag": "Terminal", "status": "failed"}),
        (OWNER, {"hostId": "h1", "pid": 1, "nonce": "a"}),
        (PENDING, {"status": "pending", "owner": None, "heartbeatAtMs": None}),
        (
            RunSnapshot("running", OWNER, 3),
            {"status": "running", "owner": {"hostId": "h1", "pid": 1, "nonce": "a"}, "heartbeatAtMs": 3},
        ),
        (TransitionGuard(), {}),
        (TransitionGuard("absent"), {"cancelRequested": "absent"}),
        (CreateOptions(), {"parentRunId": None, "lineageId": None, "roundOrdinal": None}),
        (
            OwnershipFact("r", "released", OWNER, None),
            [
                "flows.consensus.released",
                {"runId": "r", "owner": {"hostId": "h1", "pid": 1, "nonce": "a"}, "grantedAtMs": None},
            ],
        ),
        ((1, True, None, "x", 1.5), [1, True, None, "x", 1.5]),
    ],
)
def test_to_wire(value, wire):
    """Fields are camelCase, outcomes carry their tag, what is absent is left out."""
    assert to_wire(value) == wire


def test_to_wire_refuses_what_has_no_wire_form():
    """An object outside the vocabulary is a mistake of the caller, told by its type."""
    with pytest.raises(TypeError, match="object"):
        to_wire(object())


def test_error_keeps_its_cause_at_home():
    """An error travels as code, method and message."""
    error = RunStoreError("invalid_run", "claim", "run input is invalid", {"field": "nowMs"})

    assert result_to_wire(error) == {
        "error": {
            "code": "invalid_run",
            "method": "claim",
            "message": "invalid_run: RunStore.claim: run input is invalid",
        }
    }

"""Records: `tenure_model.admission.records`. The table has the cells of every value; here is what it cannot say."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.records import (
    admit_create_options,
    admit_evidence,
    admit_guard,
    admit_new_run_id,
    admit_owner,
    admit_run_id,
    admit_snapshot,
    admit_target_status,
)
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import PENDING, CreateOptions, RunRow, RunSnapshot, TransitionGuard
from tests.admission.oracle import ANY_VALUES
from tests.admission.values import OWNER, ROW, half_built

_FIELDS = (
    *("hostId", "pid", "nonce", "status", "owner", "heartbeatAtMs", "expectedOwner", "checkedAtMs", "kind"),
    *("cancelRequested", "parentRunId", "lineageId", "roundOrdinal"),
)


def _owner(value: object) -> object:
    return admit_owner(value, "owner")


def test_later_changes_of_the_callers_records_do_not_matter() -> None:
    """Whatever a caller does to its dictionaries afterwards, the admitted record keeps what it said (RS-300)."""
    owner = {"hostId": "host-1", "pid": 41, "nonce": "nonce-1"}
    snapshot = {"status": "running", "owner": owner, "heartbeatAtMs": 5}
    evidence = {"expectedOwner": owner, "checkedAtMs": 7, "kind": "lease-expired"}
    options = {"parentRunId": "parent-1"}
    guard = {"cancelRequested": "absent"}
    admitted = [_owner(owner), admit_snapshot(snapshot), admit_evidence(evidence), admit_create_options(options)]
    admitted.append(admit_guard(guard))

    for record in (owner, snapshot, evidence, options, guard):
        record.clear()
    owner["hostId"] = "host-2"

    assert admitted == [
        OWNER,
        RunSnapshot("running", OWNER, 5),
        LivenessEvidence(OWNER, 7, "lease-expired"),
        CreateOptions("parent-1"),
        TransitionGuard("absent"),
    ]


@pytest.mark.parametrize(
    ("admit", "value"),
    [
        (_owner, OWNER),
        (admit_snapshot, PENDING),
        (admit_snapshot, RunSnapshot("running", OWNER, 5)),
        (admit_evidence, LivenessEvidence(OWNER, 7, "lease-expired")),
    ],
)
def test_a_good_frozen_record_is_its_own_copy(admit: Callable[[object], object], value: object) -> None:
    """A frozen object with inert members needs no copy and costs none (RS-300)."""
    assert admit(value) is value


@pytest.mark.parametrize(
    ("admit", "value", "expected"),
    [
        (
            admit_snapshot,
            half_built(
                RunSnapshot,
                status="running",
                owner={"hostId": "host-1", "pid": 41, "nonce": "nonce-1"},
                heartbeat_at_ms=5,
            ),
            RunSnapshot("running", OWNER, 5),
        ),
        (
            admit_evidence,
            half_built(
                LivenessEvidence,
                expected_owner={"hostId": "host-1", "pid": 41, "nonce": "nonce-1"},
                checked_at_ms=7,
                kind="lease-expired",
            ),
            LivenessEvidence(OWNER, 7, "lease-expired"),
        ),
    ],
)
def test_a_frozen_record_around_a_dictionary_is_copied(admit: Any, value: object, expected: object) -> None:
    """The outer object is frozen but its owner is not, so a fresh record is built (RS-300)."""
    assert admit(value) == expected
    assert admit(value) is not value


def test_a_run_row_passes_as_a_snapshot_by_three_of_its_fields() -> None:
    """The answer is a snapshot, not the row (RS-305)."""
    assert admit_snapshot(ROW) == RunSnapshot("running", OWNER, 5)
    assert type(admit_snapshot(ROW)) is RunSnapshot


def test_only_creation_refuses_names_of_companion_streams() -> None:
    """The prefix is reserved where an id is made, and ordinary where one is named (RS-307)."""
    assert admit_run_id("flows.companion/a") == "flows.companion/a"
    assert admit_new_run_id("flows.companion/a") == Refusal(
        {"field": "runId", "detail": "names a reserved journal companion stream"}
    )
    assert admit_new_run_id("flows.companion") == "flows.companion"


@given(
    ANY_VALUES
    | st.dictionaries(
        st.sampled_from(
            [
                "hostId",
                "pid",
                "nonce",
                "status",
                "owner",
                "heartbeatAtMs",
                "expectedOwner",
                "checkedAtMs",
                "kind",
                "cancelRequested",
                "parentRunId",
                "lineageId",
                "roundOrdinal",
            ]
        ),
        ANY_VALUES | st.sampled_from(["running", "pending", OWNER, "lease-expired", "absent", 5, {}]),
        max_size=4,
    )
    | st.builds(OwnerId, ANY_VALUES, ANY_VALUES, ANY_VALUES)
    | st.builds(RunSnapshot, ANY_VALUES, ANY_VALUES, ANY_VALUES)
    | st.builds(LivenessEvidence, ANY_VALUES, ANY_VALUES, ANY_VALUES)
    | st.builds(TransitionGuard, ANY_VALUES)
    | st.builds(CreateOptions, ANY_VALUES, ANY_VALUES, ANY_VALUES)
    | st.builds(RunRow, *[ANY_VALUES] * 14)
)
def test_any_object_is_admitted_or_refused_and_raises_nothing(value: object) -> None:
    """Every function is total, and what it admits is of the vocabulary's own types and admitted again unchanged."""
    for admit, types in (
        (_owner, (OwnerId,)),
        (admit_snapshot, (RunSnapshot,)),
        (admit_evidence, (LivenessEvidence,)),
        (admit_guard, (TransitionGuard, type(None))),
        (admit_create_options, (CreateOptions,)),
        (admit_run_id, (str,)),
        (admit_new_run_id, (str,)),
        (admit_target_status, (str,)),
    ):
        outcome = admit(value)

        assert type(outcome) in (*types, Refusal)
        if isinstance(outcome, Refusal):
            assert set(outcome.cause) == {"field", "detail"}
        elif outcome is not None:
            assert admit(outcome) == outcome

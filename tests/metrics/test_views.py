"""Tests of the published records of views, and of names."""

from typing import get_args

import pytest

from tenure.metrics import views
from tenure_model.vocabulary import outcomes

RECORDS = {
    "claim": ("claim", ["Claimed", "NotFound", "AlreadyClaimed", "HeartbeatFresh", "SnapshotChanged"]),
    "claim_and_own": (
        "claim_and_own",
        ["Activated", "NotFound", "AlreadyClaimed", "HeartbeatFresh", "SnapshotChanged", "EvidenceRequired"],
    ),
    "activate": ("activate", ["Activated", "ClaimLost", "SnapshotChanged"]),
    "abandon_claim": ("abandon_claim", ["Abandoned", "ClaimLost"]),
    "recover_claim": (
        "recover_claim",
        ["Recovered", "NotFound", "ClaimFresh", "ClaimChanged", "LivenessUnconfirmed"],
    ),
    "steal": (
        "steal",
        ["Claimed", "NotFound", "AlreadyClaimed", "HeartbeatFresh", "SnapshotChanged", "LivenessUnconfirmed"],
    ),
    "heartbeat": (None, ["Updated", "FenceLost", "NotFound"]),
    "transition": (None, ["Transitioned", "FenceLost", "NotFound", "GuardFailed"]),
}
UNIONS = {
    "claim": outcomes.ClaimOutcome,
    "claim_and_own": outcomes.ClaimAndOwnOutcome,
    "activate": outcomes.ActivateOutcome,
    "abandon_claim": outcomes.AbandonClaimOutcome,
    "recover_claim": outcomes.RecoverClaimOutcome,
    "steal": outcomes.StealOutcome,
    "heartbeat": outcomes.HeartbeatOutcome,
    "transition": outcomes.TransitionOutcome,
}


@pytest.mark.parametrize("record", RECORDS)
def test_the_tags_of_each_record_stand_in_their_order(record: str) -> None:
    """The keys are the rule's, in its order (RS-962)."""
    assert list(getattr(views, record)) == RECORDS[record][1]


@pytest.mark.parametrize("record", RECORDS)
def test_every_outcome_of_an_operation_has_a_view(record: str) -> None:
    """No answer is missing from its record, and none is there that cannot be given (RS-962)."""
    assert set(getattr(views, record)) == {outcome.__name__ for outcome in get_args(UNIONS[record])}


@pytest.mark.parametrize("record", RECORDS)
def test_each_view_has_its_counter_and_attributes(record: str) -> None:
    """Claims have ``op`` and ``outcome``, the others ``outcome`` alone; none has ``to`` (RS-960, RS-962)."""
    op, tags = RECORDS[record]
    names = {"heartbeat": "flows_run_heartbeats", "transition": "flows_run_transitions"}
    own = () if op is None else (("op", op),)
    expected = {
        tag: views.View(names.get(record, "flows_run_claims"), (*own, ("outcome", views.snake_case(tag))))
        for tag in tags
    }

    assert dict(getattr(views, record)) == expected


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_cannot_be_changed(record: str) -> None:
    """What one reader holds is what every other holds."""
    with pytest.raises(TypeError):
        getattr(views, record)["Claimed"] = views.throughput


def test_tags_become_snake_case() -> None:
    """Words are told apart by their capitals (RS-960)."""
    tags = ["Claimed", "SnapshotChanged", "ClaimLost"]

    assert [views.snake_case(tag) for tag in tags] == ["claimed", "snapshot_changed", "claim_lost"]


def test_every_counter_is_described() -> None:
    """Each name that the library counts under has its text."""
    assert list(views.DESCRIPTIONS) == [
        "flows_run_claims",
        "flows_run_heartbeats",
        "flows_run_transitions",
        "flows/run/throughput",
        "flows_db_write_retries",
        "flows_journal_writes",
        "flows_journal_lost",
    ]

"""Outcome precedence at a glance: of two reasons that hold at once, the one that is named first wins (RS-525).

Each row makes two neighbouring reasons of one operation's order hold together, wherever both can.
"""

import pytest

from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.outcomes import (
    AlreadyClaimed,
    ClaimChanged,
    ClaimFresh,
    ClaimLost,
    FenceLost,
    HeartbeatFresh,
    LivenessUnconfirmed,
    NotFound,
    SnapshotChanged,
    Terminal,
)
from tenure_model.vocabulary.runs import PENDING, SUSPENDED, RunSnapshot, TransitionGuard
from tests.semantics.worlds import (
    ALICE,
    ALICE_AT_T,
    BOB,
    CAROL,
    LATE,
    T,
    call,
    claimed,
    expired,
    requested,
    running,
    settled,
    steal_by,
    stolen,
)

MOVED = RunSnapshot("running", ALICE, T - 1)
GONE = expired(ALICE, LATE)
WRONG = expired(CAROL, LATE)
RECOVER = {"staleClaimant": BOB, "claimedAtMs": T, "observer": CAROL, "nowMs": LATE, "evidence": expired(BOB, LATE)}


def settled_by_request() -> World:
    """A completed run that carries a request."""
    return call(requested(), "run.transitionOwned", runId="r", owner=ALICE, toStatus="completed").world


@pytest.mark.parametrize(
    ("world", "operation", "arguments", "outcome"),
    [
        # Terminal before AlreadyRequested
        (settled_by_request(), "run.requestCancel", {"nowMs": T}, Terminal("completed")),
        (settled_by_request(), "run.requestCancelLineage", {"nowMs": T}, Terminal("completed")),
        # AlreadyClaimed before SnapshotChanged, AlreadyClaimed before HeartbeatFresh
        (claimed(), "run.claim", {"expected": SUSPENDED, "claimant": CAROL, "nowMs": T}, AlreadyClaimed()),
        (stolen(), "run.claim", {"expected": PENDING, "claimant": CAROL, "nowMs": T}, AlreadyClaimed()),
        # HeartbeatFresh before SnapshotChanged
        (running(), "run.claim", {"expected": PENDING, "claimant": CAROL, "nowMs": T}, HeartbeatFresh()),
        (running(), "run.claimAndOwn", {"expected": MOVED, "owner": ALICE, "nowMs": T}, HeartbeatFresh()),
        # without evidence: NotFound, AlreadyClaimed, HeartbeatFresh and SnapshotChanged before EvidenceRequired
        (empty_world(), "run.claimAndOwn", {"expected": ALICE_AT_T, "owner": BOB, "nowMs": LATE}, NotFound()),
        (stolen(), "run.claimAndOwn", {"expected": MOVED, "owner": BOB, "nowMs": T}, AlreadyClaimed()),
        (running(), "run.claimAndOwn", {"expected": MOVED, "owner": BOB, "nowMs": T}, HeartbeatFresh()),
        (running(), "run.claimAndOwn", {"expected": MOVED, "owner": BOB, "nowMs": LATE}, SnapshotChanged()),
        # ClaimLost before SnapshotChanged
        (claimed(), "run.activate", {"claimant": CAROL, "claimedAtMs": T, "expected": SUSPENDED}, ClaimLost()),
        # SnapshotChanged before the lease's ClaimLost
        (
            call(claimed(), "lease.write", runId="r", lease=None).world,
            "run.activate",
            {"claimant": BOB, "claimedAtMs": T, "expected": SUSPENDED},
            SnapshotChanged(),
        ),
        # LivenessUnconfirmed before NotFound, ClaimChanged before ClaimFresh, ClaimFresh before the lease's
        (empty_world(), "run.recoverClaim", {**RECOVER, "evidence": WRONG}, LivenessUnconfirmed()),
        (claimed(), "run.recoverClaim", {**RECOVER, "claimedAtMs": LATE}, ClaimChanged()),
        (
            call(claimed(), "lease.write", runId="r", lease=None).world,
            "run.recoverClaim",
            {**RECOVER, "nowMs": T, "evidence": expired(BOB, T)},
            ClaimFresh(),
        ),
        # NotFound before FenceLost before GuardFailed
        (
            empty_world(),
            "run.transitionOwned",
            {"owner": BOB, "toStatus": "failed", "guard": TransitionGuard("present")},
            NotFound(),
        ),
        (
            running(),
            "run.transitionOwned",
            {"owner": BOB, "toStatus": "failed", "guard": TransitionGuard("present")},
            FenceLost(),
        ),
        # LivenessUnconfirmed before NotFound, AlreadyClaimed before HeartbeatFresh before SnapshotChanged
        (
            empty_world(),
            "run.steal",
            {"expected": ALICE_AT_T, "claimant": BOB, "nowMs": LATE, "evidence": WRONG},
            LivenessUnconfirmed(),
        ),
        (
            steal_by(running(), CAROL),
            "run.steal",
            {"expected": MOVED, "claimant": BOB, "nowMs": T, "evidence": expired(ALICE, T)},
            AlreadyClaimed(),
        ),
        (
            running(),
            "run.steal",
            {"expected": MOVED, "claimant": BOB, "nowMs": T, "evidence": expired(ALICE, T)},
            HeartbeatFresh(),
        ),
    ],
)
def test_the_first_reason_wins(world: World, operation: str, arguments: dict[str, object], outcome: Outcome) -> None:
    """Both reasons hold, the earlier one is told, and a refusal by the row writes nothing (RS-525)."""
    step = call(world, operation, LATE, **{"runId": "r", **arguments})

    assert step.outcome == outcome


@pytest.mark.parametrize(
    ("operation", "arguments", "outcome"),
    [
        (
            "run.claim",
            {"expected": RunSnapshot("completed", None, None), "claimant": BOB, "nowMs": T},
            SnapshotChanged(),
        ),
        ("run.claimAndOwn", {"expected": PENDING, "owner": BOB, "nowMs": T}, SnapshotChanged()),
        (
            "run.steal",
            {"expected": RunSnapshot("completed", None, None), "claimant": BOB, "nowMs": LATE, "evidence": GONE},
            LivenessUnconfirmed(),
        ),
        (
            "run.steal",
            {"expected": ALICE_AT_T, "claimant": BOB, "nowMs": LATE, "evidence": GONE},
            SnapshotChanged(),
        ),
        ("run.heartbeat", {"owner": ALICE, "nowMs": T}, FenceLost()),
        ("run.reconfirm", {"owner": ALICE, "nowMs": T}, FenceLost()),
        ("run.transitionOwned", {"owner": ALICE, "toStatus": "completed"}, FenceLost()),
        ("run.requestCancel", {"nowMs": T}, Terminal("completed")),
        ("run.acknowledgeCancel", {"owner": ALICE, "nowMs": T}, False),
    ],
)
def test_a_terminal_row_refuses_everything(operation: str, arguments: dict[str, object], outcome: Outcome) -> None:
    """No operation moves a settled run (RS-520, RS-521)."""
    world = settled()
    step = call(world, operation, LATE, **{"runId": "r", **arguments})

    assert step.outcome == outcome
    assert step.world is world


def test_input_errors_come_before_all_outcomes() -> None:
    """A reading beyond the skew on a run that does not exist is invalid input (RS-525)."""
    step = call(empty_world(), "run.claim", runId="r", expected=PENDING, claimant=BOB, nowMs=LATE)

    assert isinstance(step.outcome, RunStoreError)
    assert step.outcome.code == "invalid_run"

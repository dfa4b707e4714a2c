"""``claim``."""

import pytest

from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import Claim, Lease, World, empty_world
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.outcomes import AlreadyClaimed, Claimed, HeartbeatFresh, NotFound, SnapshotChanged
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import PENDING, SUSPENDED, RunSnapshot
from tests.semantics.worlds import (
    ALICE,
    ALICE_AT_T,
    BOB,
    CAROL,
    LATE,
    T,
    after,
    call,
    claimed,
    pending,
    requested,
    running,
    settled,
    stolen,
    suspended,
    suspended_claimed,
)

COMPLETED = RunSnapshot("completed", None, None)


@pytest.mark.parametrize(
    ("world", "expected", "claimant", "now_ms", "outcome"),
    [
        (pending(), PENDING, BOB, T, Claimed(T)),
        (suspended(), SUSPENDED, BOB, 0, Claimed(0)),
        (pending(), PENDING, BOB, T + 10_000, Claimed(T + 10_000)),
        (empty_world(), PENDING, BOB, T, NotFound()),
        (claimed(), PENDING, CAROL, T, AlreadyClaimed()),
        (claimed(), PENDING, BOB, T, AlreadyClaimed()),
        (suspended_claimed(), SUSPENDED, CAROL, T, AlreadyClaimed()),
        (stolen(), ALICE_AT_T, CAROL, T, AlreadyClaimed()),
        (running(), ALICE_AT_T, BOB, T, HeartbeatFresh()),
        (running(), PENDING, BOB, T, HeartbeatFresh()),
        (pending(), SUSPENDED, BOB, T, SnapshotChanged()),
        (suspended(), PENDING, BOB, T, SnapshotChanged()),
        (settled(), COMPLETED, BOB, T, SnapshotChanged()),
    ],
)
def test_outcomes(world: World, expected: RunSnapshot, claimant: OwnerId, now_ms: int, outcome: Outcome) -> None:
    """Only an unclaimed pending or suspended row as expected is claimed; a loss changes nothing (RS-451, RS-452)."""
    step = call(world, "run.claim", runId="r", expected=expected, claimant=claimant, nowMs=now_ms)

    assert step.outcome == outcome
    assert (step.world is world) == (not isinstance(outcome, Claimed))
    assert step.transacted


def test_a_stale_running_row_is_not_claimable() -> None:
    """Not even one's own stale run (RS-451)."""
    step = call(running(), "run.claim", LATE, runId="r", expected=ALICE_AT_T, claimant=ALICE, nowMs=LATE)

    assert step.outcome == SnapshotChanged()


def test_what_a_claim_writes() -> None:
    """Claim columns, lease claim and one fact, all with the reading as token (RS-454)."""
    world = after(pending(), "run.claim", Claimed(T + 1), runId="r", expected=PENDING, claimant=BOB, nowMs=T + 1)

    assert world.runs["r"].claim == Claim(BOB, T + 1)
    assert world.leases == {"r": Lease(None, Claim(BOB, T + 1))}
    assert world.facts == {"r": (OwnershipFact("r", "claimed", BOB, T + 1),)}


def test_a_cancellation_request_does_not_matter() -> None:
    """A suspended run with a request is claimable (RS-451)."""
    world = call(requested(), "run.transitionOwned", runId="r", owner=ALICE, toStatus="suspended").world
    step = call(world, "run.claim", runId="r", expected=SUSPENDED, claimant=BOB, nowMs=T)

    assert step.outcome == Claimed(T)


@pytest.mark.parametrize(
    "lease",
    [
        {"claim_host_id": "h2", "claim_pid": 3, "claim_nonce": "c", "claimed_at_ms": T},
        {"owner_host_id": "h2", "owner_pid": 3, "owner_nonce": "c", "granted_at_ms": T, "heartbeat_at_ms": T},
    ],
)
def test_a_lease_that_refuses_an_admitted_row(lease: dict[str, object]) -> None:
    """A claim or owner that only the lease knows is ``SnapshotChanged`` for everybody (RS-221, RS-453)."""
    world = after(pending(), "lease.write", None, runId="r", lease=lease)
    step = call(world, "run.claim", runId="r", expected=PENDING, claimant=CAROL, nowMs=T)

    assert step.outcome == SnapshotChanged()
    assert step.world is world


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "runId"),
        ({"runId": "r"}, "expected"),
        ({"runId": "r", "expected": PENDING}, "claimant"),
        ({"runId": "r", "expected": PENDING, "claimant": BOB}, "nowMs"),
        ({"runId": "r", "expected": PENDING, "claimant": BOB, "nowMs": T + 10_001}, "nowMs"),
    ],
)
def test_validation_order(arguments: dict[str, object], field: str) -> None:
    """Run id, snapshot, claimant, reading (RS-450)."""
    error = call(pending(), "run.claim", **arguments).outcome

    assert isinstance(error, RunStoreError)
    assert (error.code, error.method, error.cause["field"]) == ("invalid_run", "claim", field)

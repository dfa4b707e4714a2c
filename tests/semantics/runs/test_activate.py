"""``activate``."""

import pytest

from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import Lease, Ownership, World, empty_world
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.outcomes import Activated, ClaimLost, SnapshotChanged, Updated
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
    self_stolen,
    stolen,
    suspended_claimed,
)


@pytest.mark.parametrize(
    ("world", "claimant", "token", "expected", "outcome"),
    [
        (claimed(), BOB, T, PENDING, Activated()),
        (suspended_claimed(), BOB, T, SUSPENDED, Activated()),
        (stolen(), BOB, LATE, ALICE_AT_T, Activated()),
        (self_stolen(), ALICE, LATE, ALICE_AT_T, Activated()),
        (empty_world(), BOB, T, PENDING, ClaimLost()),
        (pending(), BOB, T, PENDING, ClaimLost()),
        (claimed(), CAROL, T, PENDING, ClaimLost()),
        (claimed(), BOB, T + 1, PENDING, ClaimLost()),
        (claimed(), CAROL, T, SUSPENDED, ClaimLost()),
        (claimed(), BOB, T, SUSPENDED, SnapshotChanged()),
        (stolen(), BOB, LATE, RunSnapshot("running", ALICE, T + 1), SnapshotChanged()),
    ],
)
def test_outcomes(world: World, claimant: OwnerId, token: int, expected: RunSnapshot, outcome: Outcome) -> None:
    """Another claim is lost before the snapshot is looked at, and survives (RS-471, RS-472, RS-525)."""
    step = call(world, "run.activate", LATE, runId="r", claimant=claimant, claimedAtMs=token, expected=expected)

    assert step.outcome == outcome
    assert (step.world is world) == isinstance(outcome, ClaimLost)


def test_what_activation_writes() -> None:
    """The store's clock, rounded down, is start and heartbeat; the claim is spent (RS-392, RS-474)."""
    world = after(
        claimed(), "run.activate", Activated(), T + 5.9, runId="r", claimant=BOB, claimedAtMs=T, expected=PENDING
    )
    run = world.runs["r"]

    assert (run.status, run.owner, run.heartbeat_at_ms, run.started_at_ms) == ("running", BOB, T + 5, T + 5)
    assert (run.claim, run.finished_at_ms) == (None, None)
    assert world.leases == {"r": Lease(Ownership(BOB, T, T + 5), None)}
    assert world.facts["r"][-1] == OwnershipFact("r", "activated", BOB, T)


def test_activation_replaces_the_stamp_even_by_a_lower_one() -> None:
    """The heartbeat is not monotonic across owners, and the start stays (RS-474)."""
    world = after(
        stolen(), "run.activate", Activated(), T - 9, runId="r", claimant=BOB, claimedAtMs=LATE, expected=ALICE_AT_T
    )

    assert (world.runs["r"].heartbeat_at_ms, world.runs["r"].started_at_ms) == (T - 9, T)


def test_a_snapshot_that_moved_gives_the_claim_up() -> None:
    """Owner, stamp and lease of the old owner stay, and one fact with the token says so (RS-472)."""
    beaten = after(stolen(), "run.heartbeat", Updated(), LATE, runId="r", owner=ALICE, nowMs=T + 1)
    world = after(
        beaten, "run.activate", SnapshotChanged(), LATE, runId="r", claimant=BOB, claimedAtMs=LATE, expected=ALICE_AT_T
    )
    run = world.runs["r"]

    assert (run.status, run.owner, run.heartbeat_at_ms, run.claim) == ("running", ALICE, T + 1, None)
    assert world.leases == {"r": Lease(Ownership(ALICE, T, T + 1), None)}
    assert world.facts["r"][-1] == OwnershipFact("r", "released", BOB, LATE)


def test_a_snapshot_read_again_robs_a_live_owner() -> None:
    """Neither age of the claim nor evidence is looked at again (RS-475, H-31)."""
    beaten = after(stolen(), "run.heartbeat", Updated(), LATE, runId="r", owner=ALICE, nowMs=LATE)
    fresh = RunSnapshot("running", ALICE, LATE)
    step = call(beaten, "run.activate", LATE, runId="r", claimant=BOB, claimedAtMs=LATE, expected=fresh)

    assert step.outcome == Activated()
    assert step.world.runs["r"].owner == BOB


def test_a_claim_that_only_the_row_knows() -> None:
    """The row's claim is cleared, nothing is recorded (RS-222, RS-473)."""
    before = after(claimed(), "lease.write", None, runId="r", lease=None)
    world = after(before, "run.activate", ClaimLost(), runId="r", claimant=BOB, claimedAtMs=T, expected=PENDING)

    assert world.runs["r"].claim is None
    assert world.facts == before.facts
    assert world.leases == {}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "runId"),
        ({"runId": "r"}, "claimant"),
        ({"runId": "r", "claimant": BOB}, "claimedAtMs"),
        ({"runId": "r", "claimant": BOB, "claimedAtMs": -1}, "claimedAtMs"),
        ({"runId": "r", "claimant": BOB, "claimedAtMs": 2**53 - 1}, "expected"),
    ],
)
def test_validation_order(arguments: dict[str, object], field: str) -> None:
    """Run id, claimant, token without a skew check, snapshot (RS-309, RS-470)."""
    error = call(claimed(), "run.activate", **arguments).outcome

    assert isinstance(error, RunStoreError)
    assert (error.code, error.method, error.cause["field"]) == ("invalid_run", "activate", field)


def test_a_clock_that_no_column_takes() -> None:
    """A clock below zero is refused by the schema, and the claim stands (RS-100)."""
    world = claimed()
    step = call(world, "run.activate", -1, runId="r", claimant=BOB, claimedAtMs=T, expected=PENDING)

    assert isinstance(step.outcome, RunStoreError)
    assert step.outcome.code == "constraint"
    assert step.world is world

"""What run-row mutations cost, and what happens when there is nothing left to pay with."""

import pytest

from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import Change, World, empty_world
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.outcomes import (
    Abandoned,
    Activated,
    AlreadyRequested,
    CancelRequested,
    Claimed,
    ClaimLost,
    FenceLost,
    Recovered,
    SnapshotChanged,
    Transitioned,
    Updated,
)
from tenure_model.vocabulary.runs import PENDING, RunSnapshot
from tests.semantics.worlds import (
    ALICE,
    ALICE_AT_T,
    BOB,
    LATE,
    T,
    after,
    call,
    claimed,
    expired,
    pending,
    requested,
    running,
    stolen,
)

STEAL = {"runId": "r", "expected": ALICE_AT_T, "claimant": BOB, "nowMs": LATE, "evidence": expired(ALICE, LATE)}

COSTS: list[tuple[World, str, dict[str, object], Outcome, int]] = [
    (empty_world(), "run.create", {"runId": "r", "stateJson": "{}"}, None, 1),
    (pending(), "run.claim", {"runId": "r", "expected": PENDING, "claimant": BOB, "nowMs": T}, Claimed(T), 1),
    (pending(), "run.claimAndOwn", {"runId": "r", "expected": PENDING, "owner": BOB, "nowMs": T}, Activated(), 1),
    (claimed(), "run.activate", {"runId": "r", "claimant": BOB, "claimedAtMs": T, "expected": PENDING}, Activated(), 1),
    (
        claimed(),
        "run.activate",
        {"runId": "r", "claimant": BOB, "claimedAtMs": T, "expected": RunSnapshot("suspended", None, None)},
        SnapshotChanged(),
        1,
    ),
    (
        call(claimed(), "lease.write", runId="r", lease=None).world,
        "run.activate",
        {"runId": "r", "claimant": BOB, "claimedAtMs": T, "expected": PENDING},
        ClaimLost(),
        1,
    ),
    (
        claimed(),
        "run.activate",
        {"runId": "r", "claimant": BOB, "claimedAtMs": T + 1, "expected": PENDING},
        ClaimLost(),
        0,
    ),
    (claimed(), "run.abandonClaim", {"runId": "r", "claimant": BOB, "claimedAtMs": T}, Abandoned(), 1),
    (
        claimed(),
        "run.recoverClaim",
        {
            "runId": "r",
            "staleClaimant": BOB,
            "claimedAtMs": T,
            "observer": ALICE,
            "nowMs": LATE,
            "evidence": expired(BOB, LATE),
        },
        Recovered(),
        1,
    ),
    (running(), "run.heartbeat", {"runId": "r", "owner": ALICE, "nowMs": T + 1}, Updated(), 1),
    (running(), "run.heartbeat", {"runId": "r", "owner": ALICE, "nowMs": 0}, Updated(), 1),
    (running(), "run.reconfirm", {"runId": "r", "owner": ALICE, "nowMs": T + 1}, Updated(), 1),
    (stolen(), "run.reconfirm", {"runId": "r", "owner": ALICE, "nowMs": T + 1}, FenceLost(), 0),
    (running(), "run.transitionOwned", {"runId": "r", "owner": ALICE, "toStatus": "running"}, Transitioned(), 1),
    (running(), "run.transitionOwned", {"runId": "r", "owner": ALICE, "toStatus": "failed"}, Transitioned(), 1),
    (running(), "run.transitionOwned", {"runId": "r", "owner": BOB, "toStatus": "failed"}, FenceLost(), 0),
    (running(), "run.steal", STEAL, Claimed(LATE), 1),
    (running(), "run.requestCancel", {"runId": "r", "nowMs": T}, CancelRequested(T), 1),
    (requested(), "run.requestCancel", {"runId": "r", "nowMs": T}, AlreadyRequested(T + 5), 0),
    (running(), "run.requestCancelLineage", {"runId": "r", "nowMs": T}, CancelRequested(T), 1),
    (requested(), "run.acknowledgeCancel", {"runId": "r", "owner": ALICE, "nowMs": T}, True, 1),
    (running(), "run.acknowledgeCancel", {"runId": "r", "owner": ALICE, "nowMs": T}, False, 0),
    (running(), "lease.write", {"runId": "r", "lease": None}, None, 0),
    (running(), "row.write", {"runId": "r", "columns": {}}, True, 1),
    (running(), "row.delete", {"runId": "r"}, True, 1),
]


@pytest.mark.parametrize(("world", "operation", "arguments", "outcome", "cost"), COSTS)
def test_cost(world: World, operation: str, arguments: dict[str, object], outcome: Outcome, cost: int) -> None:
    """Every success spends what RS-166 says, every refusal nothing, and the change row carries what was spent."""
    step = call(world, operation, LATE, **arguments)

    assert step.outcome == outcome
    assert step.world.revision == world.revision + cost
    if cost:
        assert step.world.changes["r"] == Change(step.world.revision, deleted=operation == "row.delete")
    else:
        assert step.world.changes == world.changes


@pytest.mark.parametrize(("world", "operation", "arguments", "outcome", "cost"), COSTS)
def test_the_last_revision_is_not_passed(
    world: World, operation: str, arguments: dict[str, object], outcome: Outcome, cost: int
) -> None:
    """At 2**53-1 whatever would spend a revision is ``constraint`` and writes nothing, lease and facts included
    (RS-164).
    """
    full = World(world.profile, world.runs, world.leases, world.changes, MAX_SAFE_INTEGER, world.facts, world.source)
    step = call(full, operation, LATE, **arguments)

    if cost:
        assert isinstance(step.outcome, RunStoreError)
        assert step.outcome.code == "constraint"
        assert step.world is full
    else:
        assert step.outcome == outcome


def test_the_last_revision_is_usable() -> None:
    """2**53-1 itself is a revision (RS-121, RS-164)."""
    world = empty_world()
    nearly = World(world.profile, {}, {}, {}, MAX_SAFE_INTEGER - 1, {}, world.source)

    assert after(nearly, "run.create", None, runId="r", stateJson="1").changes["r"].revision == MAX_SAFE_INTEGER


def test_the_worked_example() -> None:
    """The check of RS-166: two creations, five calls and a raw deletion end at revision 8 with a tombstone."""
    world = after(empty_world(), "run.create", None, runId="a", stateJson="{}")
    world = after(world, "run.create", None, runId="b", stateJson="{}")
    world = after(world, "run.claimAndOwn", Activated(), runId="a", expected=PENDING, owner=ALICE, nowMs=T)
    assert world.changes["a"].revision == 3
    world = after(world, "run.requestCancel", CancelRequested(T), runId="a", nowMs=T)
    assert world.changes["a"].revision == 4
    world = after(world, "run.acknowledgeCancel", True, runId="a", owner=ALICE, nowMs=T)
    assert world.changes["a"].revision == 5
    world = after(world, "run.acknowledgeCancel", True, runId="a", owner=ALICE, nowMs=T)
    assert world.changes["a"].revision == 6
    world = after(world, "run.transitionOwned", Transitioned(), runId="a", owner=ALICE, toStatus="cancelled")
    assert world.changes["a"].revision == 7
    world = after(world, "row.delete", True, runId="a")

    assert world.changes == {"a": Change(8, deleted=True), "b": Change(2, deleted=False)}
    assert world.revision == 8


def test_a_tombstone_comes_alive() -> None:
    """A run created under a deleted id has the same change row, live again and higher (RS-165)."""
    world = after(pending(), "row.delete", True, runId="r")
    world = after(world, "run.create", None, runId="r", stateJson="{}")

    assert world.changes == {"r": Change(3, deleted=False)}


def test_the_source_stays() -> None:
    """No mutation changes the identity of the source (RS-120, RS-167)."""
    world = empty_world(source="0123456789abcdef" * 2)

    assert after(world, "run.create", None, runId="r", stateJson="{}").source == "0123456789abcdef" * 2

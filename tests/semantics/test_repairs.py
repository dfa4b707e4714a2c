"""Each repair of the run store, both ways: the wedge under ``original``, its end under ``reference``, the firing."""

import pytest

from tenure_model.semantics.profiles import ORIGINAL, REFERENCE, Profile
from tenure_model.semantics.world import Claim, Lease, Ownership, World
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.outcomes import (
    Abandoned,
    Activated,
    Claimed,
    SnapshotChanged,
    Transitioned,
    Updated,
)
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
    running,
    self_stolen,
    stolen,
    suspended,
)

NONE: frozenset[str] = frozenset()


@pytest.mark.parametrize("to_status", ["suspended", "completed", "failed", "cancelled"])
def test_r_1_a_stopped_run_keeps_no_claim(to_status: str) -> None:
    """The thief's claim stays on the lease under ``original`` and goes under ``reference`` (H-01, RS-504)."""
    arguments = {"runId": "r", "owner": ALICE, "toStatus": to_status}
    kept = call(stolen(ORIGINAL), "run.transitionOwned", **arguments)
    gone = call(stolen(REFERENCE), "run.transitionOwned", **arguments)

    assert (kept.outcome, gone.outcome) == (Transitioned(), Transitioned())
    assert kept.world.leases == {"r": Lease(None, Claim(BOB, LATE))}
    assert gone.world.leases == {}
    assert (kept.fired, gone.fired) == (NONE, frozenset({"R-1"}))
    assert kept.world.facts == gone.world.facts
    assert kept.world.runs == gone.world.runs


def test_r_1_opens_the_run_again() -> None:
    """Nobody can claim the suspended run under ``original``, anybody under ``reference`` (H-01)."""
    outcomes = []
    for profile in (ORIGINAL, REFERENCE):
        world = call(stolen(profile), "run.transitionOwned", runId="r", owner=ALICE, toStatus="suspended").world
        claim = call(world, "run.claim", LATE, runId="r", expected=SUSPENDED, claimant=CAROL, nowMs=LATE)
        own = call(world, "run.claimAndOwn", LATE, runId="r", expected=SUSPENDED, owner=BOB, nowMs=LATE)
        outcomes.append((claim.outcome, own.outcome))

    assert outcomes == [(SnapshotChanged(), SnapshotChanged()), (Claimed(LATE), Activated())]


def test_r_1_does_not_fire_without_a_foreign_claim() -> None:
    """No claim, or the owner's own, goes in either profile."""
    for world in (running(), self_stolen()):
        step = call(world, "run.transitionOwned", runId="r", owner=ALICE, toStatus="failed")

        assert step.fired == NONE
        assert step.world.leases == {}


def abandoned(profile: Profile) -> tuple[World, frozenset[str]]:
    """A self-steal, abandoned."""
    step = call(self_stolen(profile), "run.abandonClaim", runId="r", claimant=ALICE, claimedAtMs=LATE)

    assert step.outcome == Abandoned()
    return step.world, step.fired


def outdated(profile: Profile) -> tuple[World, frozenset[str]]:
    """A self-steal, activated with a snapshot that moved."""
    moved = RunSnapshot("running", ALICE, T + 1)
    step = call(self_stolen(profile), "run.activate", LATE, runId="r", claimant=ALICE, claimedAtMs=LATE, expected=moved)

    assert step.outcome == SnapshotChanged()
    return step.world, step.fired


@pytest.mark.parametrize("giving_up", [abandoned, outdated])
def test_r_2_a_released_claim_leaves_the_ownership(giving_up: object) -> None:
    """The owner's lease goes with its claim under ``original`` and stays under ``reference`` (H-02)."""
    assert callable(giving_up)
    (lost, silent), (kept, fired) = giving_up(ORIGINAL), giving_up(REFERENCE)

    assert lost.leases == {}
    assert kept.leases == {"r": Lease(Ownership(ALICE, T, T), None)}
    assert (silent, fired) == (NONE, frozenset({"R-2"}))
    assert lost.runs == kept.runs
    assert call(kept, "run.heartbeat", runId="r", owner=ALICE, nowMs=T).outcome == Updated()
    assert call(lost, "run.heartbeat", runId="r", owner=ALICE, nowMs=T).outcome != Updated()


@pytest.mark.parametrize("world", [claimed(), stolen()])
def test_r_2_does_not_fire_for_a_stranger(world: World) -> None:
    """A claimant that owns nothing releases the same in either profile."""
    token = LATE if world.runs["r"].owner else T
    step = call(world, "run.abandonClaim", runId="r", claimant=BOB, claimedAtMs=token)

    assert step.outcome == Abandoned()
    assert step.fired == NONE


@pytest.mark.parametrize("start", [running, claimed, stolen])
def test_r_3_a_deleted_row_takes_its_lease(start: object) -> None:
    """The lease of a deleted run blocks its successor under ``original`` and is gone under ``reference`` (H-03)."""
    assert callable(start)
    seen = []
    for profile in (ORIGINAL, REFERENCE):
        step = call(start(profile), "row.delete", runId="r")
        world = after(step.world, "run.create", None, runId="r", stateJson="{}")
        claim = call(world, "run.claim", LATE, runId="r", expected=PENDING, claimant=CAROL, nowMs=LATE)
        seen.append((step.outcome, step.fired, "r" in step.world.leases, claim.outcome))

    assert seen == [
        (True, NONE, True, SnapshotChanged()),
        (True, frozenset({"R-3"}), False, Claimed(LATE)),
    ]


def test_r_3_does_not_fire_without_a_lease() -> None:
    """A run that is neither running nor claimed has no lease to remove."""
    assert call(suspended(), "row.delete", runId="r").fired == NONE


CAROLS_CLAIM = {"claim_host_id": "h2", "claim_pid": 3, "claim_nonce": "c", "claimed_at_ms": T}


def test_r_4_a_refused_re_own_leaves_nothing() -> None:
    """The release and its fact are kept under ``original`` and undone under ``reference`` (H-04, RS-463)."""
    lease = {
        "owner_host_id": "h1",
        "owner_pid": 1,
        "owner_nonce": "a",
        "granted_at_ms": T,
        "heartbeat_at_ms": T,
        **CAROLS_CLAIM,
    }
    arguments = {"runId": "r", "expected": ALICE_AT_T, "owner": ALICE, "nowMs": LATE}
    before = after(running(ORIGINAL), "lease.write", None, runId="r", lease=lease)
    kept = call(before, "run.claimAndOwn", LATE, **arguments)

    assert (kept.outcome, kept.fired) == (SnapshotChanged(), NONE)
    assert kept.world.leases == {"r": Lease(None, Claim(CAROL, T))}
    assert kept.world.facts["r"] == (*before.facts["r"], OwnershipFact("r", "released", ALICE, None))
    assert (kept.world.runs, kept.world.revision) == (before.runs, before.revision)

    before = after(running(REFERENCE), "lease.write", None, runId="r", lease=lease)
    undone = call(before, "run.claimAndOwn", LATE, **arguments)

    assert (undone.outcome, undone.fired) == (SnapshotChanged(), frozenset({"R-4"}))
    assert undone.world is before


def test_r_4_fires_only_where_the_lease_refuses() -> None:
    """A re-own that is admitted, or lost by its row, is the same in both profiles."""
    for now_ms in (LATE, LATE - 1):
        step = call(running(), "run.claimAndOwn", LATE, runId="r", expected=ALICE_AT_T, owner=ALICE, nowMs=now_ms)

        assert step.fired == NONE

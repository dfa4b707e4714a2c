"""Tests of ``claim``, ``activate`` and ``abandonClaim``."""

import pytest

import tenure
from tests.runs.support import (
    A_AGAIN,
    ACTIVATED,
    ALREADY_CLAIMED,
    CLAIM_LOST,
    FENCE_LOST,
    HEARTBEAT_FRESH,
    NOT_FOUND,
    NOW,
    SKEW,
    SNAPSHOT_CHANGED,
    STALE,
    TRANSITIONED,
    UPDATED,
    A,
    B,
    C,
    World,
    evidence,
    running,
    unchanged,
)


@pytest.mark.parametrize("status", ["pending", "suspended"])
def test_claim(world: World, status: str) -> None:
    """A pending or suspended run is claimed in row and lease, and the fact recorded (RS-451..RS-454)."""
    if status == "pending":
        world.runs.create("r", "{}")
    else:
        world.owned()
        world.runs.transition_owned("r", A, "suspended")
    world.recorder.drain()
    before = world.row()

    outcome = world.runs.claim("r", before, B, NOW + 7)

    assert outcome == tenure.Claimed(NOW + 7)
    row = world.row()
    assert (row.claim, row.claimed_at_ms) == (B, NOW + 7)
    assert (row.status, row.owner, row.started_at_ms) == (status, None, before.started_at_ms)
    assert world.lease() == (None, None, None, "b", NOW + 7)
    assert world.recorder.drain() == [("claimed", B, NOW + 7)]


def test_claim_ignores_a_cancellation_request(world: World) -> None:
    """A requested cancellation does not stop a claim (RS-451)."""
    world.runs.create("r", "{}")
    world.runs.request_cancel("r", NOW)

    assert world.runs.claim("r", tenure.PENDING, A, NOW) == tenure.Claimed(NOW)


def test_claim_losses(world: World) -> None:
    """Losers learn the first of: no run, a claim, a fresh heartbeat, a changed run (RS-452, RS-456)."""
    world.claimed("claimed")
    world.owned("fresh")
    world.owned("edge", at=NOW - STALE)
    world.owned("stale", at=NOW - STALE - 1)
    world.runs.create("pending", "{}")
    world.recorder.drain()
    with unchanged(world):
        assert world.runs.claim("missing", tenure.PENDING, B, NOW) == NOT_FOUND
        assert world.runs.claim("claimed", tenure.PENDING, B, NOW) == ALREADY_CLAIMED
        assert world.runs.claim("claimed", tenure.PENDING, A, NOW) == ALREADY_CLAIMED
        assert world.runs.claim("fresh", running(), B, NOW) == HEARTBEAT_FRESH
        assert world.runs.claim("edge", running(A, NOW - STALE), B, NOW) == HEARTBEAT_FRESH
        assert world.runs.claim("stale", running(A, NOW - STALE - 1), B, NOW) == SNAPSHOT_CHANGED
        assert world.runs.claim("pending", tenure.SUSPENDED, B, NOW) == SNAPSHOT_CHANGED
        assert world.runs.claim("pending", running(), B, NOW) == SNAPSHOT_CHANGED


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_settled_run_is_never_claimed(world: World, status: tenure.TerminalRunStatus) -> None:
    """Not even with its own snapshot (RS-521)."""
    world.settled(status)
    with unchanged(world):
        assert world.runs.claim("r", world.row(), B, NOW) == SNAPSHOT_CHANGED


@pytest.mark.parametrize("lease", ["claim", "owner"])
def test_claim_that_only_the_lease_refuses(world: World, lease: str) -> None:
    """A lease that disagrees with the row wins, and nothing is written (RS-221, RS-453)."""
    world.runs.create("r", "{}")
    world.sql(f"INSERT INTO flows_consensus_leases (run_id, {lease}_host_id) VALUES ('r', 'ghost')")
    with unchanged(world):
        assert world.runs.claim("r", tenure.PENDING, A, NOW) == SNAPSHOT_CHANGED


def test_claim_on_an_empty_lease_row(world: World) -> None:
    """A lease row with both slots empty refuses nobody (RS-202)."""
    world.runs.create("r", "{}")
    world.sql("INSERT INTO flows_consensus_leases (run_id) VALUES ('r')")

    assert world.runs.claim("r", tenure.PENDING, A, NOW) == tenure.Claimed(NOW)
    assert world.lease() == (None, None, None, "a", NOW)


def test_activate(world: World) -> None:
    """A claim becomes ownership, stamped by the store's clock; the token is spent (RS-474)."""
    token = world.claimed()
    world.clock.ms = NOW + 50.7

    outcome = world.runs.activate("r", A, token, tenure.PENDING)

    assert outcome == ACTIVATED
    row = world.row()
    assert (row.status, row.owner, row.heartbeat_at_ms) == ("running", A, NOW + 50)
    assert (row.started_at_ms, row.finished_at_ms, row.claim, row.claimed_at_ms) == (NOW + 50, None, None, None)
    assert world.lease() == ("a", NOW, NOW + 50, None, None)
    assert world.recorder.drain() == [("activated", A, NOW)]
    with unchanged(world):
        assert world.runs.activate("r", A, token, tenure.PENDING) == CLAIM_LOST


def test_activate_keeps_the_first_start(world: World) -> None:
    """A run that started before keeps that time (RS-474)."""
    world.owned()
    world.runs.transition_owned("r", A, "suspended")
    world.runs.claim("r", tenure.SUSPENDED, B, NOW + 9)
    world.clock.ms = NOW + 10

    world.runs.activate("r", B, NOW + 9, tenure.SUSPENDED)

    assert world.row().started_at_ms == NOW


def test_activate_a_stolen_run(world: World) -> None:
    """With the snapshot of the steal the thief takes over, and the old owner is fenced off (RS-474, RS-475)."""
    snapshot, token = world.stolen()

    assert world.runs.activate("r", B, token, snapshot) == ACTIVATED
    assert world.row().owner == B
    assert world.lease() == ("b", NOW, NOW, None, None)
    with unchanged(world):
        assert world.runs.heartbeat("r", A, NOW) == FENCE_LOST
        assert world.runs.transition_owned("r", A, "completed") == FENCE_LOST


def test_activate_has_no_age_limit(world: World) -> None:
    """A claim however old is activated, with a stamp that may be behind the old owner's (RS-474, RS-475)."""
    token = world.claimed(at=0)
    world.clock.ms = 5

    assert world.runs.activate("r", A, token, tenure.PENDING) == ACTIVATED
    assert world.row().heartbeat_at_ms == 5


def test_activate_with_a_foreign_claim(world: World) -> None:
    """Another's claim, another token, no claim and no run are ``ClaimLost``, and change nothing (RS-471)."""
    token = world.claimed()
    world.runs.create("free", "{}")
    with unchanged(world):
        assert world.runs.activate("r", B, token, tenure.PENDING) == CLAIM_LOST
        assert world.runs.activate("r", A_AGAIN, token, tenure.PENDING) == CLAIM_LOST
        assert world.runs.activate("r", A, token + 1, tenure.PENDING) == CLAIM_LOST
        assert world.runs.activate("r", A, token - 1, tenure.SUSPENDED) == CLAIM_LOST
        assert world.runs.activate("free", A, token, tenure.PENDING) == CLAIM_LOST
        assert world.runs.activate("missing", A, token, tenure.PENDING) == CLAIM_LOST


STRANGERS = (B, A_AGAIN, tenure.OwnerId("h1", 9, "a"), tenure.OwnerId("h9", 1, "a"))


@pytest.mark.parametrize("stranger", STRANGERS)
def test_every_part_of_the_claimant_counts(world: World, stranger: tenure.OwnerId) -> None:
    """Whoever differs from the claimant in one part has no claim, and nobody's to give back (RS-004, BR-04)."""
    token = world.claimed(at=5)
    with unchanged(world):
        assert world.runs.activate("r", stranger, token, tenure.PENDING) == CLAIM_LOST
        assert world.runs.abandon_claim("r", stranger, token) == CLAIM_LOST
        assert world.runs.recover_claim("r", stranger, token, A, NOW, evidence(stranger)) == tenure.ClaimChanged()


@pytest.mark.parametrize("column", ["claim_host_id = 'h'", "claim_pid = 1", "claim_nonce = 'n'", "claimed_at_ms = 1"])
def test_part_of_a_claim_is_a_claim(world: World, column: str) -> None:
    """A row with any claim column set is not free, even where it is corrupt (RS-004)."""
    world.runs.create("r", "{}")
    world.owned("stale", at=NOW - STALE - 1)
    world.corrupt(f"UPDATE flows_runs SET {column}")
    world.recorder.drain()
    with unchanged(world):
        assert world.runs.claim("r", tenure.PENDING, A, NOW) in (ALREADY_CLAIMED, SNAPSHOT_CHANGED)
        assert world.runs.claim_and_own("r", tenure.PENDING, A, NOW) in (ALREADY_CLAIMED, SNAPSHOT_CHANGED)
        stolen = world.runs.steal("stale", running(A, NOW - STALE - 1), B, NOW, evidence())
        assert stolen in (ALREADY_CLAIMED, SNAPSHOT_CHANGED)


def test_activate_a_run_that_moved(world: World) -> None:
    """Where the run is not what is expected the claim is given back in row and lease, and recorded (RS-472)."""
    token = world.claimed()
    revision = world.revision()

    assert world.runs.activate("r", A, token, tenure.SUSPENDED) == SNAPSHOT_CHANGED
    assert (world.row().status, world.row().claim) == ("pending", None)
    assert world.lease() is None
    assert world.revision() == revision + 1
    assert world.recorder.drain() == [("released", A, token)]


def test_activate_after_the_owner_beat(world: World) -> None:
    """A heartbeat between steal and activation keeps the owner in: its lease stays as it is (RS-472, RS-475)."""
    snapshot, token = world.stolen()
    world.runs.heartbeat("r", A, NOW + 1)

    assert world.runs.activate("r", B, token, snapshot) == SNAPSHOT_CHANGED
    assert world.lease() == ("a", NOW - STALE - 1, NOW + 1, None, None)
    assert world.runs.heartbeat("r", A, NOW + 2) == UPDATED


@pytest.mark.parametrize("between", ["late heartbeat", "state", "cancel"])
def test_activate_after_what_moves_no_stamp(world: World, between: str) -> None:
    """What leaves the snapshot as it is does not keep the thief out (RS-475)."""
    snapshot, token = world.stolen()
    if between == "late heartbeat":
        world.runs.heartbeat("r", A, 5)
    elif between == "state":
        world.runs.transition_owned("r", A, "running", "[]")
    else:
        world.runs.request_cancel("r", NOW)

    assert world.runs.activate("r", B, token, snapshot) == ACTIVATED


def test_self_steal_that_fails_keeps_the_ownership(world: World) -> None:
    """Who steals its own run and activates in vain still owns it (R-2)."""
    snapshot, token = world.stolen(thief=A)
    world.runs.heartbeat("r", A, NOW)

    assert world.runs.activate("r", A, token, snapshot) == SNAPSHOT_CHANGED
    assert world.runs.transition_owned("r", A, "completed") == TRANSITIONED


@pytest.mark.parametrize("lease", ["none", "other claim", "other token"])
def test_activate_that_only_the_lease_refuses(world: World, lease: str) -> None:
    """The row's claim is cleared all the same, without a fact; the lease keeps what it has (RS-222, RS-473)."""
    token = world.claimed()
    world.sql("DELETE FROM flows_consensus_leases")
    if lease != "none":
        nonce, at = ("z", token) if lease == "other claim" else ("a", token + 1)
        world.sql(
            "INSERT INTO flows_consensus_leases VALUES ('r', ?, ?, ?, ?, ?, 'h1', 1, ?, ?)", *[None] * 5, nonce, at
        )
    before, revision = world.lease(), world.revision()

    assert world.runs.activate("r", A, token, tenure.PENDING) == CLAIM_LOST
    assert (world.row().status, world.row().claim) == ("pending", None)
    assert world.lease() == before
    assert world.revision() == revision + 1
    assert world.recorder.drain() == []


def test_abandon(world: World) -> None:
    """A claim given back frees row and lease (RS-480)."""
    token = world.claimed()

    assert world.runs.abandon_claim("r", A, token) == tenure.Abandoned()
    assert world.row().claim is None
    assert world.lease() is None
    assert world.recorder.drain() == [("released", A, token)]
    with unchanged(world):
        assert world.runs.abandon_claim("r", A, token) == CLAIM_LOST


def test_abandon_a_stolen_run(world: World) -> None:
    """The old owner goes on as before (RS-480)."""
    _, token = world.stolen()

    assert world.runs.abandon_claim("r", B, token) == tenure.Abandoned()
    assert world.row().owner == A
    assert world.runs.reconfirm("r", A, NOW) == UPDATED


def test_abandon_ones_own_steal(world: World) -> None:
    """Giving back a steal of one's own run does not give up the run (R-2)."""
    _, token = world.stolen(thief=A)

    assert world.runs.abandon_claim("r", A, token) == tenure.Abandoned()
    assert world.lease() == ("a", NOW - STALE - 1, NOW - STALE - 1, None, None)
    assert world.runs.heartbeat("r", A, NOW) == UPDATED


def test_abandon_a_foreign_claim(world: World) -> None:
    """Another's claim, another token and no run are ``ClaimLost``, and change nothing (RS-480, BR-04)."""
    token = world.claimed()
    with unchanged(world):
        assert world.runs.abandon_claim("r", B, token) == CLAIM_LOST
        assert world.runs.abandon_claim("r", A, token + 1) == CLAIM_LOST
        assert world.runs.abandon_claim("r", A, 0) == CLAIM_LOST
        assert world.runs.abandon_claim("missing", A, token) == CLAIM_LOST


def test_abandon_without_a_lease(world: World) -> None:
    """A claim that only the row shows is given back like any other (RS-222)."""
    token = world.claimed()
    world.sql("DELETE FROM flows_consensus_leases")

    assert world.runs.abandon_claim("r", A, token) == tenure.Abandoned()
    assert world.recorder.drain() == [("released", A, token)]


def test_claim_that_only_the_lease_shows(world: World) -> None:
    """Nobody can use or clear it (RS-221)."""
    world.runs.create("r", "{}")
    world.sql("INSERT INTO flows_consensus_leases VALUES ('r', ?, ?, ?, ?, ?, 'h1', 1, 'a', 5)", *[None] * 5)
    with unchanged(world):
        assert world.runs.activate("r", A, 5, tenure.PENDING) == CLAIM_LOST
        assert world.runs.abandon_claim("r", A, 5) == CLAIM_LOST
        assert world.runs.recover_claim("r", A, 5, B, NOW, evidence()) == tenure.ClaimChanged()


@pytest.mark.parametrize("ahead", [0, SKEW])
def test_reading_ahead_of_the_clock(world: World, ahead: int) -> None:
    """A reading may run ten seconds ahead of the store, and any time behind it (RS-309)."""
    world.runs.create("r", "{}")

    assert world.runs.claim("r", tenure.PENDING, C, NOW + ahead) == tenure.Claimed(NOW + ahead)

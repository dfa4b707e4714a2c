"""Tests of ``claim_and_own``."""

import pytest

import tenure
from tests.runs.support import (
    A_AGAIN,
    ACTIVATED,
    ALREADY_CLAIMED,
    HEARTBEAT_FRESH,
    NOT_FOUND,
    NOW,
    SNAPSHOT_CHANGED,
    STALE,
    UPDATED,
    A,
    B,
    C,
    World,
    evidence,
    running,
    unchanged,
)

OLD = NOW - STALE - 1
EVIDENCE_REQUIRED = tenure.EvidenceRequired()


def test_own_a_pending_run(world: World) -> None:
    """A pending run is owned in row and lease, stamped by the caller's reading, with two facts (RS-465)."""
    world.runs.create("r", "{}")

    outcome = world.runs.claim_and_own("r", tenure.PENDING, A, NOW + 5)

    assert outcome == ACTIVATED
    row = world.row()
    assert (row.status, row.owner, row.heartbeat_at_ms, row.started_at_ms) == ("running", A, NOW + 5, NOW + 5)
    assert (row.finished_at_ms, row.claim, row.claimed_at_ms) == (None, None, None)
    assert world.lease() == ("a", NOW + 5, NOW + 5, None, None)
    assert world.recorder.drain() == [("claimed", A, NOW + 5), ("activated", A, NOW + 5)]


def test_own_a_suspended_run(world: World) -> None:
    """A suspended run is owned by the next one, and keeps its first start (RS-465)."""
    world.owned()
    world.runs.transition_owned("r", A, "suspended")

    assert world.runs.claim_and_own("r", tenure.SUSPENDED, B, NOW + 5) == ACTIVATED
    assert (world.row().owner, world.row().started_at_ms) == (B, NOW)


def test_own_again(world: World) -> None:
    """One's own stale run is owned anew without evidence: released, claimed, activated (RS-463, RS-465)."""
    world.owned(at=OLD)

    assert world.runs.claim_and_own("r", running(A, OLD), A, NOW) == ACTIVATED
    assert world.row().heartbeat_at_ms == NOW
    assert world.lease() == ("a", NOW, NOW, None, None)
    assert world.recorder.drain() == [("released", A, None), ("claimed", A, NOW), ("activated", A, NOW)]


def test_own_again_while_fresh(world: World) -> None:
    """Staleness is asked for even of one's own run (RS-462)."""
    world.owned(at=NOW - STALE)
    with unchanged(world):
        assert world.runs.claim_and_own("r", running(A, NOW - STALE), A, NOW) == HEARTBEAT_FRESH


def test_own_again_without_a_lease(world: World) -> None:
    """An owner whose lease is lost heals it this way (RS-220)."""
    world.owned(at=OLD)
    world.sql("DELETE FROM flows_consensus_leases")

    assert world.runs.claim_and_own("r", running(A, OLD), A, NOW) == ACTIVATED
    assert world.runs.heartbeat("r", A, NOW) == UPDATED


@pytest.mark.parametrize(
    "lease", ["claim_host_id = 'h9', claim_pid = 1, claim_nonce = 'z', claimed_at_ms = 5", "owner_nonce = 'z'"]
)
def test_own_again_that_only_the_lease_refuses(world: World, lease: str) -> None:
    """A refused re-own releases nothing and records nothing (R-4)."""
    world.owned(at=OLD)
    world.sql(f"UPDATE flows_consensus_leases SET {lease}")
    with unchanged(world):
        assert world.runs.claim_and_own("r", running(A, OLD), A, NOW) == SNAPSHOT_CHANGED


def test_own_again_over_ones_own_claim_in_the_lease(world: World) -> None:
    """A claim of one's own that only the lease shows goes with the release (RS-206, RS-463)."""
    world.owned(at=OLD)
    world.sql(
        "UPDATE flows_consensus_leases SET claim_host_id = 'h1', claim_pid = 1, claim_nonce = 'a', claimed_at_ms = 5"
    )

    assert world.runs.claim_and_own("r", running(A, OLD), A, NOW) == ACTIVATED
    assert world.lease() == ("a", NOW, NOW, None, None)


@pytest.mark.parametrize(
    ("owner", "kind"),
    [
        (B, "same-host-pid-dead"),
        (A_AGAIN, "same-host-pid-dead"),
        (C, "cross-host-unreachable-stale"),
        (B, "lease-expired"),
        (C, "lease-expired"),
    ],
)
def test_take_over(world: World, owner: tenure.OwnerId, kind: tenure.EvidenceKind) -> None:
    """With matching evidence another's stale run is owned at once (RS-463, RS-207)."""
    world.owned(at=OLD)

    assert world.runs.claim_and_own("r", running(A, OLD), owner, NOW, evidence(A, NOW, kind)) == ACTIVATED
    assert world.row().owner == owner
    assert world.lease() == (owner.nonce, NOW, NOW, None, None)
    assert world.recorder.drain() == [("stolen", owner, NOW), ("activated", owner, NOW)]


@pytest.mark.parametrize(
    ("owner", "given"),
    [
        (B, tenure.ABSENT),
        (B, evidence(B)),
        (B, evidence(A_AGAIN)),
        (B, evidence(A, NOW - 1)),
        (B, evidence(A, NOW + 1)),
        (B, evidence(A, NOW, "cross-host-unreachable-stale")),
        (C, evidence(A, NOW, "same-host-pid-dead")),
    ],
)
def test_evidence_that_does_not_match_counts_as_none(world: World, owner: tenure.OwnerId, given: object) -> None:
    """Evidence is asked for last, after everything else that stands in the way (RS-461, RS-207)."""
    snapshot = world.owned("stale", at=OLD)
    world.owned("fresh", at=NOW - STALE)
    world.owned("claimed", at=OLD)
    world.runs.steal("claimed", running(A, OLD), C, NOW, evidence())
    world.recorder.drain()

    def own(run_id: str, expected: tenure.RunSnapshot) -> tenure.ClaimAndOwnOutcome:
        return world.runs.claim_and_own(run_id, expected, owner, NOW, given)  # type: ignore[arg-type]  # of any kind

    with unchanged(world):
        assert own("stale", snapshot) == EVIDENCE_REQUIRED
        assert own("stale", running(A, OLD + 1)) == SNAPSHOT_CHANGED
        assert own("fresh", running(A, NOW - STALE)) == HEARTBEAT_FRESH
        assert own("claimed", snapshot) == ALREADY_CLAIMED
        assert own("missing", snapshot) == NOT_FOUND


def test_evidence_is_ignored_where_none_is_needed(world: World) -> None:
    """For an unowned run, and one's own, evidence of whatever is neither needed nor harmful (RS-466)."""
    world.runs.create("r", "{}")
    world.owned("own", at=OLD)

    assert world.runs.claim_and_own("r", tenure.PENDING, A, NOW, evidence(C, 1)) == ACTIVATED
    assert world.runs.claim_and_own("own", running(A, OLD), A, NOW, evidence(C, 1)) == ACTIVATED


def test_losses(world: World) -> None:
    """Losers learn the first of: no run, a claim, a fresh heartbeat, a changed run (RS-462)."""
    world.claimed("claimed")
    world.owned("running")
    world.runs.create("pending", "{}")
    world.recorder.drain()
    with unchanged(world):
        assert world.runs.claim_and_own("missing", tenure.PENDING, B, NOW) == NOT_FOUND
        assert world.runs.claim_and_own("claimed", tenure.PENDING, A, NOW) == ALREADY_CLAIMED
        assert world.runs.claim_and_own("running", tenure.PENDING, B, NOW) == HEARTBEAT_FRESH
        assert world.runs.claim_and_own("running", running(), B, NOW, evidence()) == HEARTBEAT_FRESH
        assert world.runs.claim_and_own("pending", tenure.SUSPENDED, B, NOW) == SNAPSHOT_CHANGED
        assert world.runs.claim_and_own("pending", running(A, OLD), B, NOW, evidence()) == SNAPSHOT_CHANGED
        assert world.runs.claim_and_own("pending", running(A, OLD), A, NOW) == SNAPSHOT_CHANGED


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_settled_run_is_never_owned(world: World, status: tenure.TerminalRunStatus) -> None:
    """Not even with its own snapshot (RS-521)."""
    world.settled(status)
    with unchanged(world):
        assert world.runs.claim_and_own("r", world.row(), B, NOW) == SNAPSHOT_CHANGED


@pytest.mark.parametrize("change", ["owner_host_id = 'x'", "owner_pid = 9", "owner_nonce = 'x'", "heartbeat_at_ms = 9"])
@pytest.mark.parametrize("owner", [A, B])
def test_every_part_of_the_snapshot_counts(world: World, change: str, owner: tenure.OwnerId) -> None:
    """A row that differs in any one column is not the one expected (RS-004, BR-04)."""
    world.owned(at=OLD)
    world.sql(f"UPDATE flows_runs SET {change}")
    with unchanged(world):
        assert world.runs.claim_and_own("r", running(A, OLD), owner, NOW, evidence()) == SNAPSHOT_CHANGED


@pytest.mark.parametrize("lease", ["claim", "owner"])
def test_unowned_run_that_only_the_lease_refuses(world: World, lease: str) -> None:
    """A lease that disagrees with the row wins, and nothing is written (RS-221, RS-463)."""
    world.runs.create("r", "{}")
    world.sql(f"INSERT INTO flows_consensus_leases (run_id, {lease}_host_id) VALUES ('r', 'ghost')")
    with unchanged(world):
        assert world.runs.claim_and_own("r", tenure.PENDING, A, NOW) == SNAPSHOT_CHANGED


@pytest.mark.parametrize(
    "lease",
    [
        "DELETE FROM flows_consensus_leases",
        "UPDATE flows_consensus_leases SET owner_nonce = 'z'",
        f"UPDATE flows_consensus_leases SET heartbeat_at_ms = {NOW - STALE}",
        "UPDATE flows_consensus_leases SET heartbeat_at_ms = NULL",
        "UPDATE flows_consensus_leases SET claim_host_id = 'ghost'",
    ],
)
def test_takeover_that_only_the_lease_refuses(world: World, lease: str) -> None:
    """A missing, a fresh and a claimed lease let no taker in; nothing is written (RS-220, RS-223, JN-125)."""
    world.owned(at=OLD)
    world.sql(lease)
    with unchanged(world):
        assert world.runs.claim_and_own("r", running(A, OLD), B, NOW, evidence()) == SNAPSHOT_CHANGED


def test_waiting_columns_are_left_alone(world: World) -> None:
    """Whoever set them clears them (RS-107)."""
    world.runs.create("r", "{}")
    world.sql("UPDATE flows_runs SET waiting_reason = 'w', waiting_token = 't', waiting_request = '1'")
    world.runs.claim_and_own("r", tenure.PENDING, A, NOW)
    world.runs.transition_owned("r", A, "completed")

    assert world.sql("SELECT waiting_reason, waiting_token, waiting_request FROM flows_runs") == [("w", "t", "1")]

"""Tests of ``steal`` and ``recover_claim``."""

import pytest

import tenure
from tests.runs.support import (
    A_AGAIN,
    ALREADY_CLAIMED,
    HEARTBEAT_FRESH,
    LIVENESS_UNCONFIRMED,
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
CLAIM_CHANGED = tenure.ClaimChanged()
CLAIM_FRESH = tenure.ClaimFresh()

MISMATCHES = [
    (B, evidence(B)),
    (B, evidence(A_AGAIN)),
    (B, evidence(A, NOW - 1)),
    (B, evidence(A, NOW + 1)),
    (B, evidence(A, NOW, "cross-host-unreachable-stale")),
    (C, evidence(A, NOW, "same-host-pid-dead")),
]


@pytest.mark.parametrize(
    ("thief", "kind"),
    [
        (B, "same-host-pid-dead"),
        (A_AGAIN, "same-host-pid-dead"),
        (C, "cross-host-unreachable-stale"),
        (B, "lease-expired"),
        (C, "lease-expired"),
        (A, "lease-expired"),
        (A, "same-host-pid-dead"),
    ],
)
def test_steal(world: World, thief: tenure.OwnerId, kind: tenure.EvidenceKind) -> None:
    """A stale run is claimed, its owner left in place until activation (RS-512, RS-513)."""
    world.owned(at=OLD)

    assert world.runs.steal("r", running(A, OLD), thief, NOW, evidence(A, NOW, kind)) == tenure.Claimed(NOW)
    row = world.row()
    assert (row.claim, row.claimed_at_ms) == (thief, NOW)
    assert (row.status, row.owner, row.heartbeat_at_ms) == ("running", A, OLD)
    assert world.lease() == ("a", OLD, OLD, thief.nonce, NOW)
    assert world.recorder.drain() == [("stolen", thief, NOW)]
    assert world.runs.heartbeat("r", A, OLD) == UPDATED


@pytest.mark.parametrize(("thief", "given"), MISMATCHES)
def test_steal_with_evidence_that_does_not_match(
    world: World, thief: tenure.OwnerId, given: tenure.LivenessEvidence
) -> None:
    """Nothing is read then, so that even a missing run is not noticed (RS-511)."""
    world.owned(at=OLD)
    with unchanged(world):
        assert world.runs.steal("r", running(A, OLD), thief, NOW, given) == LIVENESS_UNCONFIRMED
        assert world.runs.steal("missing", running(A, OLD), thief, NOW, given) == LIVENESS_UNCONFIRMED


@pytest.mark.parametrize("status", ["pending", "suspended", "completed", "failed", "cancelled"])
def test_steal_without_a_running_snapshot(world: World, status: tenure.RunStatus) -> None:
    """Only a running snapshot has an owner to steal from (RS-511, RS-521)."""
    world.runs.create("r", "{}")
    with unchanged(world):
        expected = tenure.RunSnapshot(status, None, None)
        assert world.runs.steal("r", expected, B, NOW, evidence()) == LIVENESS_UNCONFIRMED


def test_steal_losses(world: World) -> None:
    """Losers learn the first of: no run, a claim, a fresh heartbeat, a changed run (RS-512)."""
    world.stolen(thief=C)
    world.owned("edge", at=NOW - STALE)
    world.owned("moved", at=OLD + 1 - 1)
    world.runs.create("pending", "{}")
    world.owned("settled")
    world.runs.transition_owned("settled", A, "completed")
    world.recorder.drain()
    with unchanged(world):
        assert world.runs.steal("missing", running(A, OLD), B, NOW, evidence()) == NOT_FOUND
        assert world.runs.steal("r", running(A, OLD), B, NOW, evidence()) == ALREADY_CLAIMED
        assert world.runs.steal("edge", running(A, NOW - STALE), B, NOW, evidence()) == HEARTBEAT_FRESH
        assert world.runs.steal("moved", running(A, OLD - 1), B, NOW, evidence()) == SNAPSHOT_CHANGED
        assert world.runs.steal("moved", running(C, OLD), B, NOW, evidence(C)) == SNAPSHOT_CHANGED
        assert world.runs.steal("pending", running(A, OLD), B, NOW, evidence()) == SNAPSHOT_CHANGED
        assert world.runs.steal("settled", running(A, NOW), B, NOW, evidence()) == SNAPSHOT_CHANGED


@pytest.mark.parametrize(
    "lease",
    [
        "DELETE FROM flows_consensus_leases",
        "UPDATE flows_consensus_leases SET owner_nonce = 'z'",
        "UPDATE flows_consensus_leases SET owner_pid = 9",
        "UPDATE flows_consensus_leases SET owner_host_id = 'z'",
        f"UPDATE flows_consensus_leases SET heartbeat_at_ms = {NOW - STALE}",
        "UPDATE flows_consensus_leases SET heartbeat_at_ms = NULL",
        "UPDATE flows_consensus_leases SET claim_host_id = 'ghost'",
    ],
)
def test_steal_that_only_the_lease_refuses(world: World, lease: str) -> None:
    """The lease decides, and nothing is written (RS-220, RS-223, JN-125)."""
    world.owned(at=OLD)
    world.sql(lease)
    with unchanged(world):
        assert world.runs.steal("r", running(A, OLD), B, NOW, evidence()) == SNAPSHOT_CHANGED


def test_recover_a_claim(world: World) -> None:
    """The stale claim of a dead claimant is cleared in row and lease; the run stays as it is (RS-486)."""
    world.claimed(at=OLD)

    assert world.runs.recover_claim("r", A, OLD, B, NOW, evidence()) == tenure.Recovered()
    assert (world.row().status, world.row().claim) == ("pending", None)
    assert world.lease() is None
    assert world.recorder.drain() == [("expired", A, OLD)]
    with unchanged(world):
        assert world.runs.recover_claim("r", A, OLD, B, NOW, evidence()) == CLAIM_CHANGED


def test_recover_the_claim_of_a_dead_thief(world: World) -> None:
    """On a running run the owner stays in (RS-486, H-16)."""
    _, token = world.stolen()
    later = token + STALE + 1
    world.clock.ms = later

    assert world.runs.recover_claim("r", B, token, C, later, evidence(B, later)) == tenure.Recovered()
    assert world.lease() == ("a", OLD, OLD, None, None)
    assert world.row().owner == A


def test_recover_ones_own_claim(world: World) -> None:
    """An observer may be the claimant itself (RS-207)."""
    world.claimed(at=OLD)

    assert world.runs.recover_claim("r", A, OLD, A, NOW, evidence(A, NOW, "same-host-pid-dead")) == tenure.Recovered()


@pytest.mark.parametrize(("observer", "given"), MISMATCHES)
def test_recover_with_evidence_that_does_not_match(
    world: World, observer: tenure.OwnerId, given: tenure.LivenessEvidence
) -> None:
    """Nothing is read then (RS-486)."""
    world.claimed(at=OLD)
    with unchanged(world):
        assert world.runs.recover_claim("r", A, OLD, observer, NOW, given) == LIVENESS_UNCONFIRMED
        assert world.runs.recover_claim("missing", A, OLD, observer, NOW, given) == LIVENESS_UNCONFIRMED


def test_recover_losses(world: World) -> None:
    """Losers learn the first of: no run, another claim or none, a fresh claim (RS-486, BR-04)."""
    world.claimed("stale", at=OLD)
    world.claimed("edge", at=NOW - STALE)
    world.runs.create("free", "{}")
    world.recorder.drain()
    with unchanged(world):
        assert world.runs.recover_claim("missing", A, OLD, B, NOW, evidence()) == NOT_FOUND
        assert world.runs.recover_claim("free", A, OLD, B, NOW, evidence()) == CLAIM_CHANGED
        assert world.runs.recover_claim("stale", A, OLD + 1, B, NOW, evidence()) == CLAIM_CHANGED
        assert world.runs.recover_claim("stale", A, 0, B, NOW, evidence()) == CLAIM_CHANGED
        assert world.runs.recover_claim("stale", C, OLD, B, NOW, evidence(C)) == CLAIM_CHANGED
        assert world.runs.recover_claim("edge", A, NOW - STALE, B, NOW, evidence()) == CLAIM_FRESH
        assert world.runs.recover_claim("edge", A, NOW - STALE - 1, B, NOW, evidence()) == CLAIM_CHANGED


@pytest.mark.parametrize(
    "lease",
    [
        "DELETE FROM flows_consensus_leases",
        "UPDATE flows_consensus_leases SET claim_nonce = 'z'",
        "UPDATE flows_consensus_leases SET claimed_at_ms = claimed_at_ms + 1",
    ],
)
def test_recover_that_only_the_lease_refuses(world: World, lease: str) -> None:
    """A claim that the lease does not have is not recovered, and the row keeps it (RS-222)."""
    world.claimed(at=OLD)
    world.sql(lease)
    with unchanged(world):
        assert world.runs.recover_claim("r", A, OLD, B, NOW, evidence()) == CLAIM_CHANGED


def test_recovered_run_can_be_claimed(world: World) -> None:
    """Nothing of the old claim is left in the way."""
    world.claimed(at=OLD)
    world.runs.recover_claim("r", A, OLD, B, NOW, evidence())

    assert world.runs.claim("r", tenure.PENDING, B, NOW) == tenure.Claimed(NOW)

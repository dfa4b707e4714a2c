"""Tests of ``heartbeat`` and ``reconfirm``."""

import pytest

import tenure
from tests.runs.support import (
    A_AGAIN,
    FENCE_LOST,
    NOT_FOUND,
    NOW,
    SKEW,
    STALE,
    UPDATED,
    A,
    B,
    World,
    evidence,
    unchanged,
)

BOTH = pytest.mark.parametrize("operation", ["heartbeat", "reconfirm"])


def beat(world: World, operation: str, owner: tenure.OwnerId = A, now_ms: int = NOW, run_id: str = "r") -> object:
    """One of the two operations."""
    return getattr(world.runs, operation)(run_id, owner, now_ms)


@BOTH
def test_beat(world: World, operation: str) -> None:
    """Row and lease are stamped alike, for one revision and no fact (RS-492, RS-493, RS-166)."""
    world.owned()
    revision = world.revision()

    assert beat(world, operation, now_ms=NOW + SKEW) == UPDATED
    assert world.row().heartbeat_at_ms == NOW + SKEW
    assert world.lease() == ("a", NOW, NOW + SKEW, None, None)
    assert world.revision() == revision + 1
    assert world.recorder.facts == []


@BOTH
@pytest.mark.parametrize("reading", [0, NOW - 1, NOW])
def test_beat_behind_the_stamp(world: World, operation: str, reading: int) -> None:
    """A reading that is not newer is ``Updated`` and changes nothing but the revision (RS-493)."""
    world.owned()
    revision = world.revision()

    assert beat(world, operation, now_ms=reading) == UPDATED
    assert world.row().heartbeat_at_ms == NOW
    assert world.lease() == ("a", NOW, NOW, None, None)
    assert world.revision() == revision + 1


@BOTH
def test_beat_of_a_stale_owner(world: World, operation: str) -> None:
    """Stale is not lost: until it is replaced an owner may renew (RS-204, H-29)."""
    world.owned(at=0)

    assert beat(world, operation) == UPDATED


@BOTH
def test_beat_losses(world: World, operation: str) -> None:
    """Whoever does not own the run is fenced off, and a missing run is missing (RS-491)."""
    world.owned()
    world.claimed("claimed")
    world.runs.create("pending", "{}")
    world.owned("suspended")
    world.runs.transition_owned("suspended", A, "suspended")
    world.recorder.drain()
    with unchanged(world):
        for stranger in (B, A_AGAIN, tenure.OwnerId("h1", 9, "a"), tenure.OwnerId("h9", 1, "a")):
            assert beat(world, operation, stranger) == FENCE_LOST
        assert beat(world, operation, run_id="claimed") == FENCE_LOST
        assert beat(world, operation, run_id="pending") == FENCE_LOST
        assert beat(world, operation, run_id="suspended") == FENCE_LOST
        assert beat(world, operation, run_id="missing") == NOT_FOUND


def test_pending_claim_stops_only_reconfirm(world: World) -> None:
    """A thief between steal and activation is noticed by ``reconfirm`` alone (RS-493, RS-205)."""
    world.stolen()
    with unchanged(world):
        assert world.runs.reconfirm("r", A, NOW) == FENCE_LOST

    assert world.runs.heartbeat("r", A, NOW) == UPDATED


def test_ones_own_pending_claim_stops_reconfirm_too(world: World) -> None:
    """Any claim counts, one's own included (RS-205)."""
    world.stolen(thief=A)
    with unchanged(world):
        assert world.runs.reconfirm("r", A, NOW) == FENCE_LOST


@BOTH
def test_first_beat_after_a_takeover_is_lost(world: World, operation: str) -> None:
    """The old owner learns of its replacement from the first beat (BR-02)."""
    world.owned(at=NOW - STALE - 1)
    world.runs.claim_and_own("r", world.row(), B, NOW, evidence())
    world.recorder.drain()
    with unchanged(world):
        assert beat(world, operation, A) == FENCE_LOST


@BOTH
@pytest.mark.parametrize(
    "lease", ["DELETE FROM flows_consensus_leases", "UPDATE flows_consensus_leases SET owner_nonce = 'z'"]
)
def test_beat_that_only_the_lease_refuses(world: World, operation: str, lease: str) -> None:
    """Without the lease the row's owner is fenced off (RS-220)."""
    world.owned()
    world.sql(lease)
    with unchanged(world):
        assert beat(world, operation) == FENCE_LOST


@BOTH
def test_renewal_without_the_row(world: World, operation: str) -> None:
    """Where the lease renews and the row is another's, the renewal stays and the call is lost (RS-224)."""
    world.owned()
    world.sql("UPDATE flows_runs SET owner_nonce = 'z'")

    assert beat(world, operation, now_ms=NOW + 7) == FENCE_LOST
    assert world.lease() == ("a", NOW, NOW + 7, None, None)
    assert world.row().heartbeat_at_ms == NOW


@BOTH
def test_renewal_of_a_run_that_is_gone(world: World, operation: str) -> None:
    """The same for a lease without any row: it stays renewed, and the run is missing (RS-224)."""
    world.sql("INSERT INTO flows_consensus_leases VALUES ('r', 'h1', 1, 'a', 5, 5, ?, ?, ?, ?)", *[None] * 4)

    assert beat(world, operation, now_ms=9) == NOT_FOUND
    assert world.lease() == ("a", 5, 9, None, None)


@BOTH
def test_lease_stamp_ahead_of_the_row(world: World, operation: str) -> None:
    """The row follows the lease where the two differ (RS-492)."""
    world.owned()
    world.sql("UPDATE flows_consensus_leases SET heartbeat_at_ms = ?", NOW + 100)

    assert beat(world, operation, now_ms=NOW + 5) == UPDATED
    assert world.row().heartbeat_at_ms == NOW + 100


@BOTH
def test_lease_without_a_stamp(world: World, operation: str) -> None:
    """A lease that has no stamp gets the reading."""
    world.owned()
    world.sql("UPDATE flows_consensus_leases SET heartbeat_at_ms = NULL")

    assert beat(world, operation, now_ms=NOW + 5) == UPDATED
    assert world.lease() == ("a", NOW, NOW + 5, None, None)

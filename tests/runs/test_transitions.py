"""Tests of ``transition_owned``."""

import pytest

import tenure
from tests.runs.support import (
    A_AGAIN,
    ACTIVATED,
    CLAIM_LOST,
    FENCE_LOST,
    NOT_FOUND,
    NOW,
    TRANSITIONED,
    A,
    B,
    C,
    World,
    unchanged,
)

ENDS = pytest.mark.parametrize("status", ["suspended", "completed", "failed", "cancelled"])
ALL = pytest.mark.parametrize("status", ["running", "suspended", "completed", "failed", "cancelled"])
GUARD_FAILED = tenure.GuardFailed()
ABSENT_GUARD = tenure.TransitionGuard("absent")
PRESENT_GUARD = tenure.TransitionGuard("present")


@ENDS
def test_ownership_ends(world: World, status: tenure.TargetStatus) -> None:
    """Owner, heartbeat and lease go; terminal statuses are stamped by the store's clock (RS-503)."""
    world.owned()
    world.runs.request_cancel("r", 5)
    world.clock.ms = NOW + 77.9
    revision = world.revision()

    assert world.runs.transition_owned("r", A, status) == TRANSITIONED
    row = world.row()
    assert (row.status, row.owner, row.heartbeat_at_ms) == (status, None, None)
    assert row.finished_at_ms == (None if status == "suspended" else NOW + 77)
    assert (row.started_at_ms, row.cancel_requested_at_ms, row.state_json) == (NOW, 5, "{}")
    assert world.lease() is None
    assert world.revision() == revision + 1
    assert world.recorder.drain() == [("released", A, None)]


def test_state_is_rewritten(world: World) -> None:
    """To ``running`` only the state changes, without a fact (RS-502)."""
    world.owned()
    before, lease, revision = world.row(), world.lease(), world.revision()

    assert world.runs.transition_owned("r", A, "running", " [1] ") == TRANSITIONED
    assert world.row() == tenure.RunRow(
        "r", "running", NOW, NOW, None, A, NOW, None, None, None, None, None, None, " [1] "
    )
    assert before.state_json == "{}"
    assert world.lease() == lease
    assert world.revision() == revision + 1
    assert world.recorder.drain() == []


def test_running_without_a_state_costs_a_revision(world: World) -> None:
    """Nothing changes but the revision (RS-502, RS-163)."""
    world.owned()
    before, revision = world.row(), world.revision()

    assert world.runs.transition_owned("r", A, "running") == TRANSITIONED
    assert world.row() == before
    assert world.revision() == revision + 1


def test_running_clears_a_finish(world: World) -> None:
    """A finish that raw SQL left on a running row is cleared (RS-502)."""
    world.owned()
    world.sql("UPDATE flows_runs SET finished_at_ms = 5")

    world.runs.transition_owned("r", A, "running")

    assert world.row().finished_at_ms is None


@ENDS
def test_state_is_replaced_at_the_end(world: World, status: tenure.TargetStatus) -> None:
    """A supplied state replaces the old one whole (RS-503)."""
    world.owned()

    world.runs.transition_owned("r", A, status, '{"done": true}')

    assert world.row().state_json == '{"done": true}'


def test_running_keeps_a_thiefs_claim(world: World) -> None:
    """A pending claim stays in row and lease (RS-502)."""
    snapshot, token = world.stolen()

    assert world.runs.transition_owned("r", A, "running", "[]") == TRANSITIONED
    assert world.row().claim == B
    assert world.runs.activate("r", B, token, snapshot) == ACTIVATED


@ENDS
def test_end_clears_a_thiefs_claim(world: World, status: tenure.TargetStatus) -> None:
    """A pending claim goes from row and lease, without a fact of its own (R-1)."""
    snapshot, token = world.stolen()

    assert world.runs.transition_owned("r", A, status) == TRANSITIONED
    assert world.row().claim is None
    assert world.lease() is None
    assert world.recorder.drain() == [("released", A, None)]
    with unchanged(world):
        assert world.runs.activate("r", B, token, snapshot) == CLAIM_LOST


def test_suspended_run_can_be_claimed_after_a_theft(world: World) -> None:
    """The wedge is gone: anybody may claim what was suspended under a thief (R-1, H-01)."""
    world.stolen()
    world.runs.transition_owned("r", A, "suspended")

    assert world.runs.claim_and_own("r", tenure.SUSPENDED, C, NOW) == ACTIVATED


@ALL
def test_strangers_are_fenced_off(world: World, status: tenure.TargetStatus) -> None:
    """Only the owner moves a run, by all three parts of its identity (RS-501, BR-01, BR-05)."""
    world.owned()
    world.claimed("claimed")
    world.runs.create("pending", "{}")
    world.recorder.drain()
    with unchanged(world):
        for stranger in (B, A_AGAIN, tenure.OwnerId("h1", 9, "a"), tenure.OwnerId("h9", 1, "a")):
            for guard in (tenure.ABSENT, ABSENT_GUARD, PRESENT_GUARD):
                assert world.runs.transition_owned("r", stranger, status, "[]", guard) == FENCE_LOST
        assert world.runs.transition_owned("claimed", A, status) == FENCE_LOST
        assert world.runs.transition_owned("pending", A, status) == FENCE_LOST
        assert world.runs.transition_owned("missing", A, status) == NOT_FOUND


@ALL
def test_settled_run_stays_settled(world: World, status: tenure.TargetStatus) -> None:
    """A repeated end is not idempotent success: ownership is gone (RS-506, RS-521)."""
    world.settled()
    with unchanged(world):
        assert world.runs.transition_owned("r", A, status) == FENCE_LOST


@ALL
@pytest.mark.parametrize(
    "lease", ["DELETE FROM flows_consensus_leases", "UPDATE flows_consensus_leases SET owner_nonce = 'z'"]
)
@pytest.mark.parametrize("guard", [tenure.ABSENT, ABSENT_GUARD, PRESENT_GUARD])
def test_transition_that_only_the_lease_refuses(
    world: World, status: tenure.TargetStatus, lease: str, guard: tenure.TransitionGuard
) -> None:
    """Without the lease the row's owner is fenced off whatever the guard says; nothing is written (RS-220, RS-501)."""
    world.owned()
    world.sql(lease)
    with unchanged(world):
        assert world.runs.transition_owned("r", A, status, "[]", guard) == FENCE_LOST


@ALL
@pytest.mark.parametrize("change", ["owner_host_id = 'z'", "owner_pid = 9", "owner_nonce = 'z'"])
def test_transition_that_only_the_row_refuses(world: World, status: tenure.TargetStatus, change: str) -> None:
    """Nor does the lease suffice where the row is another's (RS-501)."""
    world.owned()
    world.sql(f"UPDATE flows_runs SET {change}")
    with unchanged(world):
        assert world.runs.transition_owned("r", A, status) == FENCE_LOST
        assert world.runs.transition_owned("r", A, status, "[]", PRESENT_GUARD) == FENCE_LOST


@ALL
def test_guards(world: World, status: tenure.TargetStatus) -> None:
    """A guard refuses the owner alone, and writes nothing (RS-501, RS-312)."""
    world.owned("without")
    world.owned("with")
    world.runs.request_cancel("with", 5)
    with unchanged(world):
        assert world.runs.transition_owned("without", A, status, guard=PRESENT_GUARD) == GUARD_FAILED
        assert world.runs.transition_owned("with", A, status, guard=ABSENT_GUARD) == GUARD_FAILED
        assert world.runs.transition_owned("without", A, status, "[]", PRESENT_GUARD) == GUARD_FAILED
        assert world.runs.transition_owned("with", A, status, "[]", ABSENT_GUARD) == GUARD_FAILED

    assert world.runs.transition_owned("without", A, status, "[]", ABSENT_GUARD) == TRANSITIONED
    assert world.runs.transition_owned("with", A, status, guard=PRESENT_GUARD) == TRANSITIONED


@pytest.mark.parametrize("guard", [tenure.ABSENT, tenure.TransitionGuard(), {}])
@pytest.mark.parametrize("requested", [False, True])
def test_no_guard(world: World, guard: tenure.TransitionGuard, requested: bool) -> None:
    """Without a condition the request does not matter, not even to ``cancelled`` (RS-505, RS-312)."""
    world.owned()
    if requested:
        world.runs.request_cancel("r", 5)

    assert world.runs.transition_owned("r", A, "cancelled", guard=guard) == TRANSITIONED


def test_acknowledgement_survives(world: World) -> None:
    """Settling leaves the acknowledgement (RS-442, RS-505)."""
    world.owned()
    world.runs.request_cancel("r", 5)
    world.runs.acknowledge_cancel("r", A, 6)
    before = world.sql("SELECT cancel_acknowledgement_json FROM flows_runs")

    world.runs.transition_owned("r", A, "cancelled")

    assert before != [(None,)]
    assert world.sql("SELECT cancel_acknowledgement_json FROM flows_runs") == before


def test_large_state_survives(world: World) -> None:
    """A state of some megabytes comes back whole from an end that does not mention it (RS-014, RS-503)."""
    state = '"' + "x" * 5_000_000 + '"'
    world.runs.create("r", state)
    world.runs.claim_and_own("r", tenure.PENDING, A, NOW)
    world.runs.transition_owned("r", A, "completed")

    assert world.row().state_json == state

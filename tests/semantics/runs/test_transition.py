"""``transitionOwned``."""

import pytest

from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import Claim, Lease, Ownership, World, empty_world
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.outcomes import FenceLost, GuardFailed, NotFound, Transitioned
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import TransitionGuard
from tests.semantics.worlds import (
    ALICE,
    BOB,
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
)

IF_ABSENT = TransitionGuard("absent")
IF_PRESENT = TransitionGuard("present")


@pytest.mark.parametrize("to_status", ["running", "suspended", "completed", "failed", "cancelled"])
@pytest.mark.parametrize(
    ("world", "owner", "guard", "outcome"),
    [
        (running(), ALICE, ABSENT, Transitioned()),
        (running(), ALICE, {}, Transitioned()),
        (running(), ALICE, IF_ABSENT, Transitioned()),
        (requested(), ALICE, IF_PRESENT, Transitioned()),
        (requested(), ALICE, {}, Transitioned()),
        (stolen(), ALICE, ABSENT, Transitioned()),
        (running(), ALICE, IF_PRESENT, GuardFailed()),
        (requested(), ALICE, IF_ABSENT, GuardFailed()),
        (requested(), BOB, IF_ABSENT, FenceLost()),
        (stolen(), BOB, ABSENT, FenceLost()),
        (claimed(), BOB, ABSENT, FenceLost()),
        (pending(), ALICE, ABSENT, FenceLost()),
        (suspended(), ALICE, ABSENT, FenceLost()),
        (settled(), ALICE, ABSENT, FenceLost()),
        (empty_world(), ALICE, IF_PRESENT, NotFound()),
    ],
)
def test_outcomes(world: World, owner: OwnerId, guard: object, outcome: Outcome, to_status: str) -> None:
    """Row, fence, guard, in that order, whatever the target; a loss changes nothing (RS-501, RS-506)."""
    step = call(world, "run.transitionOwned", runId="r", owner=owner, toStatus=to_status, guard=guard)

    assert step.outcome == outcome
    assert (step.world is world) == (not isinstance(outcome, Transitioned))


def test_to_running_writes_only_the_state() -> None:
    """Owner, stamp, lease and a pending foreign claim stay, and no fact is recorded (RS-502)."""
    before = stolen()
    world = after(
        before, "run.transitionOwned", Transitioned(), runId="r", owner=ALICE, toStatus="running", stateJson="[1]"
    )
    run = world.runs["r"]

    assert (run.status, run.owner, run.heartbeat_at_ms, run.state_json) == ("running", ALICE, T, "[1]")
    assert (run.claim, run.finished_at_ms) == (Claim(BOB, LATE), None)
    assert (world.leases, world.facts) == (before.leases, before.facts)


@pytest.mark.parametrize(
    ("to_status", "finished_at_ms"),
    [("suspended", None), ("completed", T + 7), ("failed", T + 7), ("cancelled", T + 7)],
)
def test_to_another_status_ends_the_ownership(to_status: str, finished_at_ms: int | None) -> None:
    """Owner and stamp go, the clock rounded down is the finish of a terminal run, one fact (RS-503, RS-505)."""
    world = after(
        requested(), "run.transitionOwned", Transitioned(), T + 7.5, runId="r", owner=ALICE, toStatus=to_status
    )
    run = world.runs["r"]

    assert (run.status, run.finished_at_ms, run.state_json) == (to_status, finished_at_ms, "{}")
    assert (run.owner, run.heartbeat_at_ms, run.claim) == (None, None, None)
    assert (run.started_at_ms, run.cancel_requested_at_ms) == (T, T + 5)
    assert world.leases == {}
    assert world.facts["r"][-1] == OwnershipFact("r", "released", ALICE, None)


def test_the_state_is_replaced_whole() -> None:
    """A supplied state is stored as the caller's own characters (RS-503)."""
    world = after(
        running(), "run.transitionOwned", Transitioned(), runId="r", owner=ALICE, toStatus="failed", stateJson=" [ ] "
    )

    assert world.runs["r"].state_json == " [ ] "


def test_a_row_without_its_lease_is_fenced() -> None:
    """The lease is asked, whatever the row says (RS-220)."""
    world = after(running(), "lease.write", None, runId="r", lease=None)

    assert call(world, "run.transitionOwned", runId="r", owner=ALICE, toStatus="failed").outcome == FenceLost()


def test_a_lease_without_its_row_is_fenced() -> None:
    """The row is asked too, whatever the lease says (RS-501)."""
    world = after(running(), "row.write", True, runId="r", columns={"owner_nonce": "other"})

    assert world.leases == {"r": Lease(Ownership(ALICE, T, T), None)}
    assert call(world, "run.transitionOwned", runId="r", owner=ALICE, toStatus="failed").outcome == FenceLost()


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"stateJson": None, "guard": None}, "runId"),
        ({"runId": "r", "stateJson": None, "guard": None}, "owner"),
        ({"runId": "r", "owner": ALICE, "stateJson": None, "guard": None}, "toStatus"),
        ({"runId": "r", "owner": ALICE, "toStatus": "pending"}, "toStatus"),
        ({"runId": "r", "owner": ALICE, "toStatus": "failed", "guard": None}, "guard"),
    ],
)
def test_validation_order(arguments: dict[str, object], field: str) -> None:
    """Run id, owner, target, state, guard; ``pending`` is no target (RS-500)."""
    error = call(running(), "run.transitionOwned", **arguments).outcome

    assert isinstance(error, RunStoreError)
    assert (error.code, error.method, error.cause["field"]) == ("invalid_run", "transitionOwned", field)


def test_a_null_state_is_supplied_and_refused_before_the_guard() -> None:
    """Null is not absent, and its refusal has the shape of the call (RS-315, RS-500)."""
    error = call(
        running(), "run.transitionOwned", runId="r", owner=ALICE, toStatus="failed", stateJson=None, guard=None
    ).outcome

    assert isinstance(error, RunStoreError)
    assert error.cause == {"runId": "r", "stateJsonLength": None, "stateJsonValid": False}


@pytest.mark.parametrize(
    ("to_status", "outcome"),
    [("running", Transitioned()), ("suspended", Transitioned()), ("completed", None)],
)
def test_a_clock_that_no_column_takes(to_status: str, outcome: Outcome) -> None:
    """Only a terminal target stores the clock, and so meets the schema (RS-100, RS-392)."""
    step = call(running(), "run.transitionOwned", 2**53, runId="r", owner=ALICE, toStatus=to_status)

    if outcome is None:
        assert isinstance(step.outcome, RunStoreError)
        assert step.outcome.code == "constraint"
    else:
        assert step.outcome == outcome

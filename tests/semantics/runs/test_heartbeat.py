"""``heartbeat`` and ``reconfirm``."""

import pytest

from tenure_model.semantics.profiles import ORIGINAL
from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.outcomes import FenceLost, NotFound, Updated
from tenure_model.vocabulary.owners import OwnerId
from tests.semantics.worlds import (
    ALICE,
    BOB,
    T,
    after,
    call,
    claimed,
    pending,
    running,
    self_stolen,
    settled,
    stolen,
    suspended,
)


@pytest.mark.parametrize(
    ("world", "owner", "beaten", "reconfirmed"),
    [
        (running(), ALICE, Updated(), Updated()),
        (stolen(), ALICE, Updated(), FenceLost()),
        (self_stolen(), ALICE, Updated(), FenceLost()),
        (stolen(), BOB, FenceLost(), FenceLost()),
        (running(), BOB, FenceLost(), FenceLost()),
        (claimed(), BOB, FenceLost(), FenceLost()),
        (suspended(), ALICE, FenceLost(), FenceLost()),
        (settled(), ALICE, FenceLost(), FenceLost()),
        (pending(), ALICE, FenceLost(), FenceLost()),
        (empty_world(), ALICE, NotFound(), NotFound()),
    ],
)
def test_outcomes(world: World, owner: OwnerId, beaten: Outcome, reconfirmed: Outcome) -> None:
    """The lease's owner renews; a pending claim stops only the reconfirmation (RS-490, RS-491, RS-493)."""
    for operation, outcome in (("run.heartbeat", beaten), ("run.reconfirm", reconfirmed)):
        step = call(world, operation, runId="r", owner=owner, nowMs=T + 1)

        assert step.outcome == outcome
        assert (step.world is world) == (not isinstance(outcome, Updated))
        assert step.transacted


@pytest.mark.parametrize(("now_ms", "stamp_ms"), [(0, T), (T - 1, T), (T, T), (T + 1, T + 1), (T + 10_000, T + 10_000)])
@pytest.mark.parametrize("operation", ["run.heartbeat", "run.reconfirm"])
def test_the_stamp_never_goes_back(operation: str, now_ms: int, stamp_ms: int) -> None:
    """Row and lease both carry the later stamp, and no fact is recorded (RS-492, RS-493)."""
    before = running()
    world = after(before, operation, Updated(), runId="r", owner=ALICE, nowMs=now_ms)
    ownership = world.leases["r"].ownership

    assert world.runs["r"].heartbeat_at_ms == stamp_ms
    assert ownership is not None
    assert ownership.heartbeat_at_ms == stamp_ms
    assert world.facts == before.facts


def test_the_row_takes_the_later_of_row_and_lease() -> None:
    """Where the two stamps differ, the row's new one is the latest of all (RS-492)."""
    lease = {"owner_host_id": "h1", "owner_pid": 1, "owner_nonce": "a", "granted_at_ms": T, "heartbeat_at_ms": T + 9}
    ahead = after(running(), "lease.write", None, runId="r", lease=lease)
    behind = after(running(), "row.write", True, runId="r", columns={"heartbeat_at_ms": T + 9})

    for world in (ahead, behind):
        assert after(world, "run.heartbeat", Updated(), runId="r", owner=ALICE, nowMs=T + 1).runs[
            "r"
        ].heartbeat_at_ms == (T + 9)


@pytest.mark.parametrize("operation", ["run.heartbeat", "run.reconfirm"])
def test_a_lease_beside_a_row_that_is_not_the_owners(operation: str) -> None:
    """The lease stays renewed although the answer is a loss, and no revision is spent (RS-224, RS-492)."""
    deleted = after(running(ORIGINAL), "row.delete", True, runId="r")
    moved = after(running(), "row.write", True, runId="r", columns={"owner_nonce": "other"})

    for world, outcome in ((deleted, NotFound()), (moved, FenceLost())):
        renewed = after(world, operation, outcome, runId="r", owner=ALICE, nowMs=T + 1)
        ownership = renewed.leases["r"].ownership

        assert ownership is not None
        assert ownership.heartbeat_at_ms == T + 1
        assert (renewed.runs, renewed.revision) == (world.runs, world.revision)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "runId"),
        ({"runId": "r"}, "owner"),
        ({"runId": "r", "owner": ALICE}, "nowMs"),
        ({"runId": "r", "owner": ALICE, "nowMs": T + 10_001}, "nowMs"),
    ],
)
@pytest.mark.parametrize("method", ["heartbeat", "reconfirm"])
def test_validation_order(method: str, arguments: dict[str, object], field: str) -> None:
    """Run id, owner, reading; the error carries the method that was called (RS-490)."""
    error = call(running(), f"run.{method}", **arguments).outcome

    assert isinstance(error, RunStoreError)
    assert (error.code, error.method, error.cause["field"]) == ("invalid_run", method, field)

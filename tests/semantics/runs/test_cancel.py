"""``requestCancel``, ``requestCancelLineage`` and ``acknowledgeCancel``."""

import pytest

from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import Acknowledgement, World, empty_world
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.outcomes import (
    Activated,
    AlreadyRequested,
    CancelRequested,
    NotFound,
    Terminal,
    Transitioned,
)
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import SUSPENDED, CreateOptions
from tests.semantics.worlds import (
    ALICE,
    BOB,
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


def settled_with_request() -> World:
    """``r`` was requested to cancel and completed all the same."""
    return after(requested(), "run.transitionOwned", Transitioned(), runId="r", owner=ALICE, toStatus="completed")


@pytest.mark.parametrize("operation", ["run.requestCancel", "run.requestCancelLineage"])
@pytest.mark.parametrize(
    ("world", "outcome"),
    [
        (pending(), CancelRequested(T + 20_000)),
        (claimed(), CancelRequested(T + 20_000)),
        (running(), CancelRequested(T + 20_000)),
        (stolen(), CancelRequested(T + 20_000)),
        (suspended(), CancelRequested(T + 20_000)),
        (requested(), AlreadyRequested(T + 5)),
        (settled(), Terminal("completed")),
        (settled_with_request(), Terminal("completed")),
        (empty_world(), NotFound()),
    ],
)
def test_outcomes_on_one_run(world: World, outcome: Outcome, operation: str) -> None:
    """Any live run takes its first request, far ahead of the clock too; the rest record nothing (RS-420..RS-422)."""
    step = call(world, operation, runId="r", nowMs=T + 20_000)

    assert step.outcome == outcome
    if isinstance(outcome, CancelRequested):
        run, was = step.world.runs["r"], world.runs["r"]
        assert run.cancel_requested_at_ms == T + 20_000
        assert (run.status, run.owner, run.heartbeat_at_ms, run.claim) == (
            was.status,
            was.owner,
            was.heartbeat_at_ms,
            was.claim,
        )
        assert (step.world.leases, step.world.facts) == (world.leases, world.facts)
    else:
        assert step.world is world


def rounds(*statuses: str) -> World:
    """Rounds ``r0``, ``r1``, … of a lineage ``L``; a status with ``!`` also has a request, at its ordinal."""
    world = empty_world()
    for ordinal, status in enumerate(statuses):
        run_id = f"r{ordinal}"
        options = CreateOptions(lineage_id="L", round_ordinal=ordinal)
        world = after(world, "run.create", None, runId=run_id, stateJson="1", options=options)
        request = ordinal if status.endswith("!") else None
        columns = {"status": status.rstrip("!"), "cancel_requested_at_ms": request}
        world = after(world, "row.write", True, runId=run_id, columns=columns)
    return world


@pytest.mark.parametrize(
    ("statuses", "outcome", "requests"),
    [
        (("completed", "pending"), CancelRequested(9), (None, 9)),
        (("pending", "suspended!"), CancelRequested(9), (9, 1)),
        (("pending", "pending"), CancelRequested(9), (9, 9)),
        (("pending!", "suspended!"), AlreadyRequested(1), (0, 1)),
        (("pending!", "failed"), AlreadyRequested(0), (0, None)),
        (("pending!", "failed!"), AlreadyRequested(0), (0, 1)),
        (("completed", "failed"), Terminal("failed"), (None, None)),
        (("failed!", "cancelled"), Terminal("cancelled"), (0, None)),
    ],
)
@pytest.mark.parametrize("run_id", ["r0", "r1"])
def test_outcomes_on_a_lineage(
    statuses: tuple[str, ...], outcome: Outcome, requests: tuple[int | None, ...], run_id: str
) -> None:
    """Every live unrequested round is requested; else the last live round decides, else the last (RS-431, RS-432)."""
    world = rounds(*statuses)
    step = call(world, "run.requestCancelLineage", runId=run_id, nowMs=9)

    assert step.outcome == outcome
    assert tuple(run.cancel_requested_at_ms for run in step.world.runs.values()) == requests


def test_every_round_spends_its_own_revision_by_ordinal() -> None:
    """Two rounds newly requested are two revisions; one already requested is none (RS-166)."""
    world = rounds("pending", "suspended!", "pending")
    step = call(world, "run.requestCancelLineage", runId="r1", nowMs=9)
    changes = step.world.changes

    assert step.world.revision == world.revision + 2
    assert changes["r0"].revision == world.revision + 1
    assert changes["r1"] == world.changes["r1"]
    assert changes["r2"].revision == world.revision + 2


@pytest.mark.parametrize(
    ("world", "owner", "outcome"),
    [
        (requested(), ALICE, True),
        (requested(), BOB, False),
        (running(), ALICE, False),
        (settled_with_request(), ALICE, False),
        (call(pending(), "run.requestCancel", runId="r", nowMs=T).world, ALICE, False),
        (empty_world(), ALICE, False),
    ],
)
def test_acknowledgement_outcomes(world: World, owner: OwnerId, outcome: bool) -> None:
    """Only the running owner of a requested run acknowledges, far ahead of the clock too (RS-440..RS-442)."""
    step = call(world, "run.acknowledgeCancel", runId="r", owner=owner, nowMs=T + 20_000)

    assert step.outcome is outcome
    if outcome:
        assert step.world.runs["r"].acknowledgement == Acknowledgement(T + 20_000, owner)
    else:
        assert step.world is world


def test_the_first_acknowledgement_stands() -> None:
    """It survives a repeat, the end of the ownership and a repeat by a later owner (RS-442)."""
    first = Acknowledgement(T + 6, ALICE)
    world = after(requested(), "run.acknowledgeCancel", True, runId="r", owner=ALICE, nowMs=T + 6)
    world = after(world, "run.acknowledgeCancel", True, runId="r", owner=ALICE, nowMs=T + 7)
    assert world.runs["r"].acknowledgement == first
    world = after(world, "run.transitionOwned", Transitioned(), runId="r", owner=ALICE, toStatus="suspended")
    assert world.runs["r"].acknowledgement == first
    world = after(world, "run.claimAndOwn", Activated(), runId="r", expected=SUSPENDED, owner=BOB, nowMs=T)
    world = after(world, "run.acknowledgeCancel", True, runId="r", owner=BOB, nowMs=T + 8)

    assert world.runs["r"].acknowledgement == first


def test_acknowledgement_asks_the_row_alone() -> None:
    """Without its lease the row still fences (RS-214, RS-220)."""
    world = after(requested(), "lease.write", None, runId="r", lease=None)

    assert call(world, "run.acknowledgeCancel", runId="r", owner=ALICE, nowMs=T).outcome is True


@pytest.mark.parametrize(
    ("operation", "arguments", "field"),
    [
        ("requestCancel", {}, "runId"),
        ("requestCancel", {"runId": "r", "nowMs": -1}, "nowMs"),
        ("requestCancelLineage", {}, "runId"),
        ("requestCancelLineage", {"runId": "r", "nowMs": True}, "nowMs"),
        ("acknowledgeCancel", {}, "runId"),
        ("acknowledgeCancel", {"runId": "r"}, "owner"),
        ("acknowledgeCancel", {"runId": "r", "owner": ALICE}, "nowMs"),
    ],
)
def test_validation_order(operation: str, arguments: dict[str, object], field: str) -> None:
    """Run id, then the owner where there is one, then the time (RS-420, RS-430, RS-440)."""
    error = call(running(), f"run.{operation}", **arguments).outcome

    assert isinstance(error, RunStoreError)
    assert (error.code, error.method, error.cause["field"]) == ("invalid_run", operation, field)

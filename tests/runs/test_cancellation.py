"""Tests of ``request_cancel``, ``request_cancel_lineage`` and ``acknowledge_cancel``."""

import json

import pytest

import tenure
from tests.runs.support import A_AGAIN, NOT_FOUND, NOW, STALE, A, B, World, evidence, refused, unchanged

BOTH = pytest.mark.parametrize("operation", ["request_cancel", "request_cancel_lineage"])


def request(world: World, operation: str, now_ms: int = 5, run_id: str = "r") -> object:
    """One of the two operations."""
    return getattr(world.runs, operation)(run_id, now_ms)


@BOTH
@pytest.mark.parametrize("status", ["pending", "claimed", "running", "suspended"])
def test_request(world: World, operation: str, status: str) -> None:
    """Every live run takes a request, and nothing else of it changes (RS-421, RS-431)."""
    if status == "pending":
        world.runs.create("r", "{}")
    elif status == "claimed":
        world.claimed()
    else:
        world.owned()
        if status == "suspended":
            world.runs.transition_owned("r", A, "suspended")
            world.recorder.drain()
    before, lease, revision = world.row(), world.lease(), world.revision()

    assert request(world, operation) == tenure.CancelRequested(5)
    after = world.row()
    assert after.cancel_requested_at_ms == 5
    assert (after.status, after.owner, after.heartbeat_at_ms, after.claim) == (
        before.status,
        before.owner,
        before.heartbeat_at_ms,
        before.claim,
    )
    assert world.lease() == lease
    assert world.revision() == revision + 1
    assert world.recorder.facts == []


@BOTH
def test_request_reading_is_not_compared_with_the_clock(world: World, operation: str) -> None:
    """Any time will do (RS-309, RS-420)."""
    world.runs.create("r", "{}")

    assert request(world, operation, 2**53 - 1) == tenure.CancelRequested(2**53 - 1)


@BOTH
def test_first_request_stands(world: World, operation: str) -> None:
    """A later request learns of the first, and changes nothing (RS-422)."""
    world.runs.create("r", "{}")
    request(world, operation, 7)
    with unchanged(world):
        assert request(world, operation, 3) == tenure.AlreadyRequested(7)
        assert request(world, operation, 9) == tenure.AlreadyRequested(7)
        assert request(world, operation, 9, "missing") == NOT_FOUND


@BOTH
@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
@pytest.mark.parametrize("requested", [False, True])
def test_settled_run_takes_no_request(
    world: World, operation: str, status: tenure.TerminalRunStatus, requested: bool
) -> None:
    """A settled run answers its status, even where a request was recorded before (RS-422, RS-521)."""
    world.owned()
    if requested:
        request(world, operation)
    world.runs.transition_owned("r", A, status)
    world.recorder.drain()
    with unchanged(world):
        assert request(world, operation) == tenure.Terminal(status)


@BOTH
@pytest.mark.parametrize("requested", [None, 5])
def test_unknown_status(world: World, operation: str, requested: int | None) -> None:
    """A status that is none of the six cannot be judged, and is not written over (RS-423)."""
    world.runs.create("r", "{}")
    world.corrupt("UPDATE flows_runs SET status = 'odd', cancel_requested_at_ms = ?", requested)
    with unchanged(world):
        error = refused(lambda: request(world, operation))

    assert (error.code, error.text) == ("decode_failed", "could not decode flows_runs status")
    assert error.cause == {"runId": "r", "stage": "status"}


@BOTH
def test_missed_write(world: World, operation: str) -> None:
    """A live run without a request that the update missed is a failure of storage (RS-422, RS-432)."""
    world.runs.create("r", "{}")
    world.sql("CREATE TRIGGER swallow BEFORE UPDATE ON flows_runs BEGIN SELECT RAISE(IGNORE); END")

    error = refused(lambda: request(world, operation))

    assert (error.code, error.text) == (
        "persistence_failed",
        "guarded cancellation update missed a live unrequested row",
    )
    assert error.cause == {"runId": "r", "stage": "write-invariant"}


def rounds(world: World, *states: str) -> None:
    """A lineage: its root without columns, then rounds 1, 2, … in these states, from which it is read backwards."""
    for ordinal, state in enumerate(states):
        run_id = f"r{ordinal}"
        options = tenure.CreateOptions(lineage_id="r0", round_ordinal=ordinal) if ordinal else None
        world.runs.create(run_id, "{}", options)
        if "requested" in state:
            world.runs.request_cancel(run_id, 100 + ordinal)
        if "settled" in state:
            world.runs.claim_and_own(run_id, tenure.PENDING, A, NOW)
            world.runs.transition_owned(run_id, A, "completed" if ordinal % 2 else "failed")
    world.recorder.drain()


def test_lineage_request_reaches_every_live_round(world: World) -> None:
    """Live rounds without a request get one, one revision each; the others keep what they have (RS-431, RS-166)."""
    rounds(world, "live", "requested", "settled", "live", "requested settled")
    world.runs.create("stranger", "{}")
    source = world.source_revision()

    assert world.runs.request_cancel_lineage("r3", 7) == tenure.CancelRequested(7)
    assert [world.row(f"r{ordinal}").cancel_requested_at_ms for ordinal in range(5)] == [7, 101, None, 7, 104]
    assert world.row("stranger").cancel_requested_at_ms is None
    assert {world.revision("r0"), world.revision("r3")} == {source + 1, source + 2}


@pytest.mark.parametrize(
    ("states", "outcome"),
    [
        (["requested", "requested"], tenure.AlreadyRequested(101)),
        (["requested", "settled"], tenure.AlreadyRequested(100)),
        (["settled", "requested", "settled"], tenure.AlreadyRequested(101)),
        (["settled", "settled"], tenure.Terminal("completed")),
        (["settled", "settled", "requested settled"], tenure.Terminal("failed")),
    ],
)
def test_lineage_request_that_finds_nothing_to_do(world: World, states: list[str], outcome: object) -> None:
    """The last live round speaks, else the last settled one (RS-432)."""
    rounds(world, *states)
    with unchanged(world):
        for ordinal in range(len(states)):
            assert world.runs.request_cancel_lineage(f"r{ordinal}", 7) == outcome


def acknowledgement(world: World, run_id: str = "r") -> str | None:
    """The stored acknowledgement."""
    found: str | None = world.sql("SELECT cancel_acknowledgement_json FROM flows_runs WHERE run_id = ?", run_id)[0][0]
    return found


def test_acknowledge(world: World) -> None:
    """The owner's acknowledgement is kept as JSON, members in their order (RS-441)."""
    owner = tenure.OwnerId('h"\\é\U0001f600', 0, "n\x01")
    world.owned(owner=owner)
    world.runs.request_cancel("r", 5)
    revision = world.revision()

    assert world.runs.acknowledge_cancel("r", owner, 2**53 - 1) is True
    stored = acknowledgement(world)
    assert stored is not None
    assert stored.startswith(
        '{"observedAtMs":9007199254740991,"owner":{"hostId":"h\\"\\\\é\U0001f600","pid":0,"nonce":'
    )
    assert json.loads(stored)["owner"] == {"hostId": owner.host_id, "pid": 0, "nonce": owner.nonce}
    assert world.revision() == revision + 1
    assert world.recorder.facts == []


def test_first_acknowledgement_stands(world: World) -> None:
    """A repeat is true, costs a revision, and changes nothing, not even for a later owner (RS-442, H-20)."""
    snapshot = world.owned(at=NOW - STALE - 1)
    world.runs.request_cancel("r", 5)
    world.runs.acknowledge_cancel("r", A, 6)
    first, revision = acknowledgement(world), world.revision()
    world.runs.acknowledge_cancel("r", A, 7)
    world.runs.claim_and_own("r", snapshot, B, NOW, evidence())

    assert world.runs.acknowledge_cancel("r", B, 8) is True
    assert acknowledgement(world) == first
    assert world.revision() == revision + 3


def test_acknowledge_looks_at_the_row_alone(world: World) -> None:
    """Without a lease the row's owner still acknowledges (RS-220, RS-214)."""
    world.owned()
    world.runs.request_cancel("r", 5)
    world.sql("DELETE FROM flows_consensus_leases")

    assert world.runs.acknowledge_cancel("r", A, 6) is True


def test_acknowledge_refused(world: World) -> None:
    """False without a run, a request, or the ownership of all three parts (RS-442)."""
    world.owned("unasked")
    world.owned("other")
    world.runs.request_cancel("other", 5)
    world.runs.create("pending", "{}")
    world.runs.request_cancel("pending", 5)
    world.owned("settled")
    world.runs.request_cancel("settled", 5)
    world.runs.transition_owned("settled", A, "cancelled")
    world.recorder.drain()
    with unchanged(world):
        assert world.runs.acknowledge_cancel("missing", A, 6) is False
        assert world.runs.acknowledge_cancel("unasked", A, 6) is False
        assert world.runs.acknowledge_cancel("pending", A, 6) is False
        assert world.runs.acknowledge_cancel("settled", A, 6) is False
        for stranger in (B, A_AGAIN, tenure.OwnerId("h1", 9, "a"), tenure.OwnerId("h9", 1, "a")):
            assert world.runs.acknowledge_cancel("other", stranger, 6) is False

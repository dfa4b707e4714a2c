"""``steal``."""

import pytest

from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import Claim, Lease, Ownership, World, empty_world
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.outcomes import (
    AlreadyClaimed,
    Claimed,
    HeartbeatFresh,
    LivenessUnconfirmed,
    NotFound,
    SnapshotChanged,
)
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import PENDING, RunSnapshot
from tests.semantics.worlds import (
    ALICE,
    ALICE_AT_T,
    BOB,
    CAROL,
    LATE,
    T,
    after,
    call,
    evidence,
    expired,
    pending,
    running,
    settled,
    stolen,
    suspended,
)

GONE = expired(ALICE, LATE)


@pytest.mark.parametrize(
    ("world", "expected", "claimant", "now_ms", "supplied", "outcome"),
    [
        (running(), ALICE_AT_T, BOB, LATE, GONE, Claimed(LATE)),
        (running(), ALICE_AT_T, ALICE, LATE, GONE, Claimed(LATE)),
        (running(), ALICE_AT_T, BOB, LATE, evidence(ALICE, LATE, "same-host-pid-dead"), Claimed(LATE)),
        (running(), ALICE_AT_T, CAROL, LATE, evidence(ALICE, LATE, "cross-host-unreachable-stale"), Claimed(LATE)),
        (empty_world(), PENDING, BOB, LATE, GONE, LivenessUnconfirmed()),
        (pending(), PENDING, BOB, LATE, GONE, LivenessUnconfirmed()),
        (settled(), RunSnapshot("completed", None, None), BOB, LATE, GONE, LivenessUnconfirmed()),
        (empty_world(), ALICE_AT_T, BOB, LATE, expired(CAROL, LATE), LivenessUnconfirmed()),
        (running(), ALICE_AT_T, BOB, LATE, expired(ALICE, LATE - 1), LivenessUnconfirmed()),
        (running(), ALICE_AT_T, CAROL, LATE, evidence(ALICE, LATE, "same-host-pid-dead"), LivenessUnconfirmed()),
        (empty_world(), ALICE_AT_T, BOB, LATE, GONE, NotFound()),
        (stolen(), ALICE_AT_T, CAROL, LATE, GONE, AlreadyClaimed()),
        (stolen(), ALICE_AT_T, BOB, LATE, GONE, AlreadyClaimed()),
        (running(), ALICE_AT_T, BOB, LATE - 1, expired(ALICE, LATE - 1), HeartbeatFresh()),
        (running(), RunSnapshot("running", ALICE, T - 1), BOB, LATE, GONE, SnapshotChanged()),
        (suspended(), ALICE_AT_T, BOB, LATE, GONE, SnapshotChanged()),
        (settled(), ALICE_AT_T, BOB, LATE, GONE, SnapshotChanged()),
    ],
)
def test_outcomes(
    world: World,
    expected: RunSnapshot,
    claimant: OwnerId,
    now_ms: int,
    supplied: LivenessEvidence,
    outcome: Outcome,
) -> None:
    """Evidence is judged before anything is read; then the loss by the row (RS-511, RS-512, RS-521)."""
    step = call(
        world, "run.steal", LATE, runId="r", expected=expected, claimant=claimant, nowMs=now_ms, evidence=supplied
    )

    assert step.outcome == outcome
    assert (step.world is world) == (not isinstance(outcome, Claimed))
    assert step.transacted == (not isinstance(outcome, LivenessUnconfirmed))


def test_what_a_steal_writes() -> None:
    """The claim goes beside the owner, who keeps status, stamp and lease; one fact (RS-512)."""
    world = stolen()
    run = world.runs["r"]

    assert (run.status, run.owner, run.heartbeat_at_ms, run.claim) == ("running", ALICE, T, Claim(BOB, LATE))
    assert world.leases == {"r": Lease(Ownership(ALICE, T, T), Claim(BOB, LATE))}
    assert world.facts["r"][-1] == OwnershipFact("r", "stolen", BOB, LATE)


def test_a_fresh_lease_refuses_a_stale_row() -> None:
    """The row's verdict is reported, not the lease's reason (RS-223)."""
    lease = {"owner_host_id": "h1", "owner_pid": 1, "owner_nonce": "a", "granted_at_ms": T, "heartbeat_at_ms": T + 1}
    world = after(running(), "lease.write", None, runId="r", lease=lease)
    step = call(world, "run.steal", LATE, runId="r", expected=ALICE_AT_T, claimant=BOB, nowMs=LATE, evidence=GONE)

    assert step.outcome == SnapshotChanged()
    assert step.world is world


@pytest.mark.parametrize(
    ("columns", "expected", "outcome"),
    [
        (
            {"claim_host_id": "h2", "claim_pid": 3, "claim_nonce": "c", "claimed_at_ms": T},
            ALICE_AT_T,
            AlreadyClaimed(),
        ),
        ({"heartbeat_at_ms": T + 1}, RunSnapshot("running", ALICE, T + 1), HeartbeatFresh()),
    ],
)
def test_a_row_that_refuses_where_the_lease_would_not(
    columns: dict[str, object], expected: RunSnapshot, outcome: Outcome
) -> None:
    """A claim or a fresh stamp that only the row shows is enough (RS-512)."""
    world = after(running(), "row.write", True, runId="r", columns=columns)
    step = call(world, "run.steal", LATE, runId="r", expected=expected, claimant=BOB, nowMs=LATE, evidence=GONE)

    assert step.outcome == outcome
    assert step.world is world


@pytest.mark.parametrize(
    ("count", "field"), [(0, "runId"), (1, "expected"), (2, "claimant"), (3, "nowMs"), (4, "evidence")]
)
def test_validation_order(count: int, field: str) -> None:
    """Run id, snapshot, claimant, reading, evidence (RS-510)."""
    valid = {"runId": "r", "expected": ALICE_AT_T, "claimant": BOB, "nowMs": T}
    error = call(running(), "run.steal", **dict(list(valid.items())[:count])).outcome

    assert isinstance(error, RunStoreError)
    assert (error.code, error.method, error.cause["field"]) == ("invalid_run", "steal", field)

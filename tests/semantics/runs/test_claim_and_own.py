"""``claimAndOwn``."""

import pytest

from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import Lease, Ownership, World, empty_world
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.outcomes import (
    Activated,
    AlreadyClaimed,
    EvidenceRequired,
    HeartbeatFresh,
    NotFound,
    SnapshotChanged,
)
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import PENDING, SUSPENDED, RunSnapshot
from tests.semantics.worlds import (
    ALICE,
    ALICE_AT_T,
    BOB,
    CAROL,
    LATE,
    T,
    after,
    call,
    claimed,
    evidence,
    expired,
    pending,
    running,
    settled,
    stolen,
    suspended,
)

MOVED = RunSnapshot("running", ALICE, T - 1)
COMPLETED = RunSnapshot("completed", None, None)


@pytest.mark.parametrize(
    ("world", "expected", "owner", "now_ms", "supplied", "outcome", "transacted"),
    [
        (pending(), PENDING, BOB, LATE, ABSENT, Activated(), True),
        (suspended(), SUSPENDED, BOB, LATE, ABSENT, Activated(), True),
        (running(), ALICE_AT_T, ALICE, LATE, ABSENT, Activated(), True),
        (running(), ALICE_AT_T, BOB, LATE, expired(ALICE, LATE), Activated(), True),
        (running(), ALICE_AT_T, BOB, LATE, evidence(ALICE, LATE, "same-host-pid-dead"), Activated(), True),
        (running(), ALICE_AT_T, CAROL, LATE, evidence(ALICE, LATE, "cross-host-unreachable-stale"), Activated(), True),
        # evidence is ignored where nobody else is replaced
        (pending(), PENDING, BOB, LATE, expired(CAROL, 0), Activated(), True),
        (running(), ALICE_AT_T, ALICE, LATE, expired(CAROL, 0), Activated(), True),
        # another's run without matching evidence
        (empty_world(), ALICE_AT_T, BOB, LATE, ABSENT, NotFound(), False),
        (stolen(), ALICE_AT_T, BOB, LATE, ABSENT, AlreadyClaimed(), False),
        (running(), ALICE_AT_T, BOB, LATE - 1, ABSENT, HeartbeatFresh(), False),
        (running(), MOVED, BOB, LATE, ABSENT, SnapshotChanged(), False),
        (suspended(), ALICE_AT_T, BOB, LATE, ABSENT, SnapshotChanged(), False),
        (running(), ALICE_AT_T, BOB, LATE, ABSENT, EvidenceRequired(), False),
        (running(), ALICE_AT_T, BOB, LATE, expired(ALICE, LATE - 1), EvidenceRequired(), False),
        (running(), ALICE_AT_T, BOB, LATE, expired(CAROL, LATE), EvidenceRequired(), False),
        (running(), ALICE_AT_T, CAROL, LATE, evidence(ALICE, LATE, "same-host-pid-dead"), EvidenceRequired(), False),
        # otherwise
        (empty_world(), PENDING, BOB, LATE, ABSENT, NotFound(), True),
        (empty_world(), ALICE_AT_T, BOB, LATE, expired(ALICE, LATE), NotFound(), True),
        (claimed(), PENDING, BOB, LATE, ABSENT, AlreadyClaimed(), True),
        (stolen(), ALICE_AT_T, CAROL, LATE, expired(ALICE, LATE), AlreadyClaimed(), True),
        (running(), ALICE_AT_T, ALICE, LATE - 1, ABSENT, HeartbeatFresh(), True),
        (running(), ALICE_AT_T, BOB, LATE - 1, expired(ALICE, LATE - 1), HeartbeatFresh(), True),
        (running(), PENDING, BOB, LATE - 1, ABSENT, HeartbeatFresh(), True),
        (running(), MOVED, BOB, LATE, expired(ALICE, LATE), SnapshotChanged(), True),
        (pending(), SUSPENDED, BOB, LATE, ABSENT, SnapshotChanged(), True),
        (settled(), COMPLETED, BOB, LATE, ABSENT, SnapshotChanged(), True),
    ],
)
def test_outcomes(
    world: World,
    expected: RunSnapshot,
    owner: OwnerId,
    now_ms: int,
    supplied: object,
    outcome: Outcome,
    transacted: bool,
) -> None:
    """Losses in the order of RS-461 and RS-462; only the answer without evidence needs no transaction (RS-390)."""
    step = call(
        world, "run.claimAndOwn", LATE, runId="r", expected=expected, owner=owner, nowMs=now_ms, evidence=supplied
    )

    assert step.outcome == outcome
    assert (step.world is world) == (not isinstance(outcome, Activated))
    assert step.transacted is transacted


def test_what_the_first_owner_writes() -> None:
    """The reading is start, first heartbeat and grant; the facts are claimed, activated (RS-465)."""
    world = after(pending(), "run.claimAndOwn", Activated(), runId="r", expected=PENDING, owner=BOB, nowMs=T + 1)
    run = world.runs["r"]

    assert (run.status, run.owner, run.heartbeat_at_ms, run.started_at_ms) == ("running", BOB, T + 1, T + 1)
    assert (run.claim, run.finished_at_ms) == (None, None)
    assert world.leases == {"r": Lease(Ownership(BOB, T + 1, T + 1), None)}
    assert [(fact.transition, fact.owner, fact.granted_at_ms) for fact in world.facts["r"]] == [
        ("claimed", BOB, T + 1),
        ("activated", BOB, T + 1),
    ]


def test_what_a_take_over_writes() -> None:
    """The start stays, owner and stamp are replaced, the facts are stolen, activated (RS-463, RS-465)."""
    before = running()
    step = call(
        before,
        "run.claimAndOwn",
        LATE,
        runId="r",
        expected=ALICE_AT_T,
        owner=BOB,
        nowMs=LATE,
        evidence=expired(ALICE, LATE),
    )
    run = step.world.runs["r"]

    assert (run.status, run.owner, run.heartbeat_at_ms, run.started_at_ms) == ("running", BOB, LATE, T)
    assert step.world.leases == {"r": Lease(Ownership(BOB, LATE, LATE), None)}
    assert step.world.facts["r"][len(before.facts["r"]) :] == (
        OwnershipFact("r", "stolen", BOB, LATE),
        OwnershipFact("r", "activated", BOB, LATE),
    )


def test_what_owning_again_writes() -> None:
    """The old ownership is released first: released, claimed, activated (RS-463, RS-703)."""
    before = running()
    step = call(before, "run.claimAndOwn", LATE, runId="r", expected=ALICE_AT_T, owner=ALICE, nowMs=LATE)

    assert step.world.leases == {"r": Lease(Ownership(ALICE, LATE, LATE), None)}
    assert step.world.facts["r"][len(before.facts["r"]) :] == (
        OwnershipFact("r", "released", ALICE, None),
        OwnershipFact("r", "claimed", ALICE, LATE),
        OwnershipFact("r", "activated", ALICE, LATE),
    )
    assert step.fired == frozenset()


def test_owning_again_heals_a_lost_lease() -> None:
    """A stale run whose lease is gone is owned again by the owner its row names (RS-220)."""
    world = after(running(), "lease.write", None, runId="r", lease=None)
    step = call(world, "run.claimAndOwn", LATE, runId="r", expected=ALICE_AT_T, owner=ALICE, nowMs=LATE)

    assert step.outcome == Activated()


@pytest.mark.parametrize(
    "lease",
    [
        None,
        {"owner_host_id": "h2", "owner_pid": 3, "owner_nonce": "c", "granted_at_ms": T, "heartbeat_at_ms": T},
        {"owner_host_id": "h1", "owner_pid": 1, "owner_nonce": "a", "granted_at_ms": T, "heartbeat_at_ms": T + 1},
    ],
)
def test_a_lease_that_refuses_a_take_over(lease: object) -> None:
    """No lease, another owner's, or a fresh one: ``SnapshotChanged``, nothing changed (RS-220, RS-223, RS-463)."""
    world = after(running(), "lease.write", None, runId="r", lease=lease)
    step = call(
        world,
        "run.claimAndOwn",
        LATE,
        runId="r",
        expected=ALICE_AT_T,
        owner=BOB,
        nowMs=LATE,
        evidence=expired(ALICE, LATE),
    )

    assert step.outcome == SnapshotChanged()
    assert step.world is world


def test_a_lease_that_refuses_an_unowned_run() -> None:
    """An owner that only the lease knows blocks an admitted row (RS-221, RS-463)."""
    lease = {"owner_host_id": "h2", "owner_pid": 3, "owner_nonce": "c", "granted_at_ms": T, "heartbeat_at_ms": T}
    world = after(pending(), "lease.write", None, runId="r", lease=lease)
    step = call(world, "run.claimAndOwn", runId="r", expected=PENDING, owner=BOB, nowMs=T)

    assert step.outcome == SnapshotChanged()
    assert step.world is world


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "runId"),
        ({"runId": "r"}, "expected"),
        ({"runId": "r", "expected": PENDING}, "owner"),
        ({"runId": "r", "expected": PENDING, "owner": BOB, "evidence": None}, "nowMs"),
        ({"runId": "r", "expected": PENDING, "owner": BOB, "nowMs": T, "evidence": None}, "evidence"),
    ],
)
def test_validation_order(arguments: dict[str, object], field: str) -> None:
    """Run id, snapshot, owner, reading, evidence, which is judged even where it is ignored (RS-460)."""
    error = call(pending(), "run.claimAndOwn", **arguments).outcome

    assert isinstance(error, RunStoreError)
    assert (error.code, error.method, error.cause["field"]) == ("invalid_run", "claimAndOwn", field)

"""Tests of refused input: which argument is named, in what order, with what cause, and that nothing happens."""

import itertools
from collections.abc import Callable, Mapping

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.operations import RUN_OPERATIONS
from tests.runs.support import NOW, SKEW, UPDATED, A, Recorder, World, refused, running, unchanged

TIME = "must be a non-negative safe integer"
OWNER = "must be an inert owner record"
CONTRACT = "violates the durable contract"

GOOD: dict[str, object] = {
    "run_id": "r",
    "expected": tenure.PENDING,
    "claimant": A,
    "owner": A,
    "stale_claimant": A,
    "observer": A,
    "now_ms": NOW,
    "claimed_at_ms": 5,
    "evidence": tenure.LivenessEvidence(A, NOW, "lease-expired"),
    "to_status": "completed",
    "state_json": "{}",
    "guard": tenure.TransitionGuard("absent"),
    "options": tenure.CreateOptions(),
}

# A bad value of each argument, and the cause it is refused with.
BAD: dict[str, tuple[object, Mapping[str, object]]] = {
    "run_id": ("", {"field": "runId", "detail": "must be well-formed durable text"}),
    "expected": (None, {"field": "expected", "detail": "must be an inert snapshot record"}),
    "claimant": (None, {"field": "claimant", "detail": OWNER}),
    "owner": (None, {"field": "owner", "detail": OWNER}),
    "stale_claimant": (None, {"field": "staleClaimant", "detail": OWNER}),
    "observer": (None, {"field": "observer", "detail": OWNER}),
    "now_ms": (-1, {"field": "nowMs", "detail": TIME}),
    "claimed_at_ms": (True, {"field": "claimedAtMs", "detail": TIME}),
    "evidence": (None, {"field": "evidence", "detail": "must be an inert evidence record"}),
    "to_status": ("pending", {"field": "toStatus", "detail": CONTRACT}),
    "guard": (None, {"field": "guard", "detail": "must be an inert exact guard"}),
}
STATE_CAUSE = {"runId": "r", "stateJsonLength": None, "stateJsonValid": False}

# RS-420, RS-430, RS-440, RS-450, RS-460, RS-470, RS-480, RS-485, RS-490, RS-500, RS-510
ORDERS = {
    "request_cancel": ["run_id", "now_ms"],
    "request_cancel_lineage": ["run_id", "now_ms"],
    "acknowledge_cancel": ["run_id", "owner", "now_ms"],
    "claim": ["run_id", "expected", "claimant", "now_ms"],
    "claim_and_own": ["run_id", "expected", "owner", "now_ms", "evidence"],
    "activate": ["run_id", "claimant", "claimed_at_ms", "expected"],
    "abandon_claim": ["run_id", "claimant", "claimed_at_ms"],
    "recover_claim": ["run_id", "stale_claimant", "claimed_at_ms", "observer", "now_ms", "evidence"],
    "heartbeat": ["run_id", "owner", "now_ms"],
    "reconfirm": ["run_id", "owner", "now_ms"],
    "transition_owned": ["run_id", "owner", "to_status", "state_json", "guard"],
    "steal": ["run_id", "expected", "claimant", "now_ms", "evidence"],
}
METHODS = {signature.python_name: signature.method for signature in RUN_OPERATIONS.values()}


def call(world: World, operation: str, arguments: Mapping[str, object]) -> Callable[[], object]:
    """The call, ready to be made."""
    return lambda: getattr(world.runs, operation)(**arguments)


@pytest.mark.parametrize("operation", ORDERS)
def test_first_bad_argument_is_named(world: World, operation: str) -> None:
    """Of every two bad arguments the one that comes first in the rules is refused, and nothing happens (RS-361)."""
    world.owned()
    order = ORDERS[operation]
    for first, second in itertools.combinations_with_replacement(order, 2):
        arguments = {name: GOOD[name] for name in order}
        for name in (second, first):
            arguments[name] = None if name == "state_json" else BAD[name][0]
        with unchanged(world):
            error = refused(call(world, operation, arguments))
        cause = STATE_CAUSE if first == "state_json" else BAD[first][1]
        assert error == tenure.RunStoreError("invalid_run", METHODS[operation], "run input is invalid", cause)
        assert error.message == f"invalid_run: RunStore.{METHODS[operation]}: run input is invalid"

    assert world.runs.heartbeat("r", A, NOW) == UPDATED


@pytest.mark.parametrize("operation", ["claim", "claim_and_own", "steal", "recover_claim", "heartbeat", "reconfirm"])
def test_reading_too_far_ahead(world: World, operation: str) -> None:
    """A reading more than ten seconds ahead of the store's clock is refused, with both numbers (RS-309, RS-485)."""
    world.clock.ms = NOW + 0.9
    arguments = {name: GOOD[name] for name in ORDERS[operation]}
    with unchanged(world):
        error = refused(call(world, operation, {**arguments, "now_ms": NOW + SKEW + 1}))

    claim = {"claimedAtMs": 5} if operation == "recover_claim" else {}
    assert error.cause == {
        "runId": "r",
        **claim,
        "field": "nowMs",
        "nowMs": NOW + SKEW + 1,
        "clockMs": NOW,
        "detail": "runs ahead of the store clock by more than the heartbeat skew allowance",
    }


@pytest.mark.parametrize("operation", ["claim", "claim_and_own", "steal", "recover_claim", "heartbeat", "reconfirm"])
@pytest.mark.parametrize("reading", [0, NOW + SKEW])
def test_reading_within_bounds(world: World, operation: str, reading: int) -> None:
    """Exactly ten seconds ahead, and any time behind, are admitted (RS-309)."""
    arguments = {name: GOOD[name] for name in ORDERS[operation]}

    outcome = call(world, operation, {**arguments, "now_ms": reading})()

    assert outcome is not None


WIRE: dict[str, object] = {
    "expected": {"status": "running", "owner": {"hostId": "h1", "pid": 1, "nonce": "a"}, "heartbeatAtMs": NOW},
    "owner": {"hostId": "h1", "pid": 1, "nonce": "a"},
}


def test_wire_records(world: World) -> None:
    """Records in wire form are as good as the classes (RS-304, RS-305)."""
    world.owned(at=NOW)
    world.clock.ms = NOW + 30_001
    outcome = world.runs.claim_and_own("r", WIRE["expected"], WIRE["owner"], NOW + 30_001)  # type: ignore[arg-type]  # wire form

    assert outcome == tenure.Activated()
    assert world.row().owner == A


def test_a_row_passes_as_snapshot(world: World) -> None:
    """What ``get`` answered may be presented as it is (RS-305)."""
    world.owned(at=NOW - 30_001)

    assert world.runs.claim_and_own("r", world.row(), A, NOW) == tenure.Activated()


class MutatingRecorder(Recorder):
    """On the first fact it changes the caller's record and has the whole write run again."""

    def __init__(self, record: dict[str, object]) -> None:
        super().__init__()
        self._record = record

    def record(self, fact: OwnershipFact) -> None:
        if self._record["nonce"] == "a":
            self._record["nonce"] = "changed"
            raise DatabaseError("busy")
        super().record(fact)


def test_mutation_after_admission_does_not_matter() -> None:
    """What was admitted is an inert copy: a write that runs again uses it, whatever became of the original (RS-300)."""
    owner: dict[str, object] = {"hostId": "h1", "pid": 1, "nonce": "a"}
    recorder = MutatingRecorder(owner)
    store = tenure.open(":memory:", clock=lambda: NOW, facts=lambda database: recorder, sleep=lambda seconds: None)
    store.runs.create("r", "{}")

    store.runs.claim_and_own("r", tenure.PENDING, owner, NOW)  # type: ignore[arg-type]  # wire form

    assert owner["nonce"] == "changed"
    assert store.runs.get("r").owner == A


def test_snapshot_is_not_widened_by_null(world: World) -> None:
    """A snapshot without owner matches no owned row, one with an owner no unowned row (BR-04)."""
    world.owned()
    world.runs.create("pending", "{}")
    with unchanged(world):
        assert world.runs.claim_and_own("r", tenure.PENDING, A, NOW) == tenure.HeartbeatFresh()
        assert world.runs.claim_and_own("pending", running(A, 5), A, NOW) == tenure.SnapshotChanged()

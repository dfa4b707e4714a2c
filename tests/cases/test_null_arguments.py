"""No null or absent argument widens what a call may change (BR-04)."""

import pytest

import tenure
from tenure_model.vocabulary.operations import RUN_OPERATIONS
from tests.cases.support import STALE, T0, A, B, must, unchanged

NOW = T0 + STALE + 1
_A = {"hostId": A.host_id, "pid": A.pid, "nonce": A.nonce}
_B = {"hostId": B.host_id, "pid": B.pid, "nonce": B.nonce}
_STALE_OF_A = {"status": "running", "owner": _A, "heartbeatAtMs": T0}

ARGUMENTS = {
    "runId": "running",
    "stateJson": "{}",
    "options": {"parentRunId": "pending", "lineageId": "L", "roundOrdinal": 1},
    "owner": _B,
    "claimant": _B,
    "staleClaimant": _A,
    "observer": _B,
    "nowMs": NOW,
    "claimedAtMs": T0,
    "expected": _STALE_OF_A,
    "evidence": {"expectedOwner": _A, "checkedAtMs": NOW - 1, "kind": "lease-expired"},
    "toStatus": "failed",
    "guard": {"cancelRequested": "absent"},
}
"""Arguments of a stranger: B does not own the run, and its evidence is of another instant."""

RUNS = ("running", "claimed", "pending", "suspended", "completed", "missing")


def prepare(subject):
    """One run in each situation, and none under the last name."""
    for run_id in RUNS[:-1]:
        must(subject.create(run_id, "{}"), type(None))
    for run_id in ("running", "suspended", "completed"):
        must(subject.claim_and_own(run_id, tenure.PENDING, A, T0), tenure.Activated)
    must(subject.claim("claimed", tenure.PENDING, A, T0), tenure.Claimed)
    for status in ("suspended", "completed"):
        must(subject.transition_owned(status, A, status), tenure.Transitioned)
    subject.clock_ms = NOW
    return subject


def emptied(arguments):
    """Every way to leave one argument, or one member of one, null or out; with the name of what was emptied."""
    for name, value in arguments.items():
        yield name, arguments | {name: None}
        yield name, {other: kept for other, kept in arguments.items() if other != name}
        for member in value if isinstance(value, dict) else ():
            yield f"{name}.{member}", arguments | {name: value | {member: None}}
            rest = {other: kept for other, kept in value.items() if other != member}
            yield f"{name}.{member}", arguments | {name: rest}
            for part in value[member] if isinstance(value[member], dict) else ():
                yield f"{name}.{member}.{part}", arguments | {name: value | {member: value[member] | {part: None}}}


def call(subject, operation, arguments):
    """The call; what must be given and is not is handed in as absent."""
    signature = RUN_OPERATIONS[operation]
    missing = {name: tenure.ABSENT for name in signature.parameters if name not in signature.optional}
    return subject.call(operation, missing | arguments)


STRANGERS = [name for name in RUN_OPERATIONS if name not in ("run.requestCancel", "run.requestCancelLineage")]
OPTIONAL = {"options", "evidence", "stateJson", "guard"}
"""The arguments that may be left out, of ``create``, ``claimAndOwn`` and ``transitionOwned``."""


@pytest.mark.parametrize("operation", [name for name in STRANGERS if RUN_OPERATIONS[name].writes])
def test_br_04_nothing_missing_widens_a_strangers_call(make, operation):
    """BR-04: whatever a stranger leaves out or null, it changes no run: refused as input, or lost as the full call."""
    subject = prepare(make())
    tried = 0
    with unchanged(subject):
        for run_id in RUNS:
            arguments = {name: ARGUMENTS[name] for name in RUN_OPERATIONS[operation].parameters} | {"runId": run_id}
            if operation == "run.create" and run_id == "missing":
                continue  # a new id is nobody's, so creating it widens nothing
            refused = type(call(subject, operation, arguments))
            for name, fewer in emptied(arguments):
                outcome = call(subject, operation, fewer)
                tried += 1
                if isinstance(outcome, tenure.RunStoreError):
                    assert outcome.code in ("invalid_run", "constraint"), (run_id, name)
                else:
                    assert name.split(".")[0] in OPTIONAL, (run_id, name)
                    assert type(outcome) is refused, (run_id, name, outcome)

    assert tried > 20


NULL_SNAPSHOTS = ("pending", "suspended", "completed", "failed", "cancelled")


def null_snapshot_matches_null_only(make):
    """A snapshot without owner and stamp matches a run without them in the very same status, and nothing else."""
    subject = prepare(make())
    for run_id in RUNS[:-1]:
        for status in NULL_SNAPSHOTS:
            snapshot = tenure.RunSnapshot(status, None, None)
            grants = status == run_id and run_id in ("pending", "suspended")
            if grants:
                token = must(subject.claim(run_id, snapshot, B, NOW), tenure.Claimed).claimed_at_ms
                must(subject.abandon_claim(run_id, B, token), tenure.Abandoned)
            else:
                with unchanged(subject):
                    for method in (subject.claim, subject.claim_and_own):
                        assert not isinstance(method(run_id, snapshot, B, NOW), tenure.Claimed | tenure.Activated)


def test_br_04_a_null_in_a_snapshot_matches_null_only(make):
    """BR-04: null in a snapshot is compared, not skipped."""
    null_snapshot_matches_null_only(make)


def test_br_04_kills_a_snapshot_that_skips_what_is_null(kills):
    """BR-04: where an expected status counts only beside an owner, a claim hits whatever is there."""
    kills(null_snapshot_matches_null_only, (r"status = \?6 AND", "(?7 IS NULL OR status = ?6) AND"))


def test_br_04_a_guard_left_out_leaves_the_fence(make):
    """BR-04: without a guard its condition is gone and nothing else: the owner passes, a stranger does not."""
    subject = prepare(make())
    must(subject.request_cancel("running", NOW), tenure.CancelRequested)
    guard = tenure.TransitionGuard("absent")
    with unchanged(subject):
        assert subject.transition_owned("running", A, "failed", guard=guard) == tenure.GuardFailed()
        assert subject.transition_owned("running", B, "failed") == tenure.FenceLost()
        assert subject.transition_owned("running", B, "failed", guard=tenure.TransitionGuard()) == tenure.FenceLost()
        assert subject.transition_owned("running", A, "failed", guard=None).code == "invalid_run"

    assert subject.transition_owned("running", A, "failed") == tenure.Transitioned()

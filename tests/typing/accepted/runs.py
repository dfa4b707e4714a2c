# pyright: strict
"""Every operation on runs, with each kind of argument that it takes."""

from typing import assert_never, assert_type

import tenure


def operations(runs: tenure.RunStore, me: tenure.OwnerId, dead: tenure.OwnerId, now_ms: int) -> None:
    """All sixteen, and what they answer."""
    runs.create("r", "{}")
    runs.create("r", "{}", None)
    runs.create("r", "{}", tenure.ABSENT)
    runs.create("r", "{}", options=tenure.CreateOptions(parent_run_id="p"))
    row = assert_type(runs.get("r"), tenure.RunRow)
    assert_type(runs.lineage("r"), tuple[tenure.RunRow, ...])
    assert_type(runs.latest_round("r"), tenure.RunRow)
    assert_type(runs.request_cancel("r", now_ms), tenure.RequestCancelOutcome)
    assert_type(runs.request_cancel_lineage("r", now_ms), tenure.RequestCancelOutcome)
    assert_type(runs.acknowledge_cancel("r", me, now_ms), bool)
    assert_type(runs.claim("r", row, me, now_ms), tenure.ClaimOutcome)
    assert_type(runs.claim("r", tenure.SUSPENDED, me, now_ms=now_ms), tenure.ClaimOutcome)
    evidence = tenure.LivenessEvidence(dead, now_ms, "lease-expired")
    assert_type(runs.claim_and_own("r", tenure.PENDING, me, now_ms), tenure.ClaimAndOwnOutcome)
    assert_type(runs.claim_and_own("r", row, me, now_ms, tenure.ABSENT), tenure.ClaimAndOwnOutcome)
    assert_type(runs.claim_and_own("r", row, me, now_ms, evidence), tenure.ClaimAndOwnOutcome)
    assert_type(runs.activate("r", me, now_ms, row), tenure.ActivateOutcome)
    assert_type(runs.abandon_claim("r", me, now_ms), tenure.AbandonClaimOutcome)
    assert_type(runs.recover_claim("r", dead, now_ms, me, now_ms, evidence), tenure.RecoverClaimOutcome)
    assert_type(runs.heartbeat("r", me, now_ms), tenure.HeartbeatOutcome)
    assert_type(runs.reconfirm("r", me, now_ms), tenure.HeartbeatOutcome)
    assert_type(runs.transition_owned("r", me, "running", '{"step": 2}'), tenure.TransitionOutcome)
    assert_type(runs.transition_owned("r", me, "completed", tenure.ABSENT), tenure.TransitionOutcome)
    guard = tenure.TransitionGuard(cancel_requested="absent")
    assert_type(runs.transition_owned("r", me, "suspended", guard=guard), tenure.TransitionOutcome)
    assert_type(runs.steal("r", row, me, now_ms, evidence), tenure.StealOutcome)


def expected(snapshot: tenure.RunSnapshot | tenure.RunRow) -> tuple[tenure.RunStatus, tenure.OwnerId | None]:
    """What rows and snapshots have in common."""
    return snapshot.status, snapshot.owner


def own(runs: tenure.RunStore, me: tenure.OwnerId, now_ms: int) -> str:
    """Every answer of the richest union, by name."""
    outcome = runs.claim_and_own("r", tenure.PENDING, me, now_ms)
    match outcome:
        case tenure.Activated():
            return "mine"
        case tenure.EvidenceRequired():
            return "probe"
        case tenure.AlreadyClaimed() | tenure.HeartbeatFresh() | tenure.SnapshotChanged():
            return "later"
        case tenure.NotFound():
            return "never"
        case _:
            assert_never(outcome)


def cancel(runs: tenure.RunStore, now_ms: int) -> int | tenure.TerminalRunStatus | None:
    """What an answer carries is there after the match, and only then."""
    match runs.request_cancel("r", now_ms):
        case tenure.CancelRequested(requested_at_ms) | tenure.AlreadyRequested(requested_at_ms):
            return requested_at_ms
        case tenure.Terminal(status):
            return status
        case tenure.NotFound():
            return None


def evidence_of(owner: tenure.OwnerId, me: tenure.OwnerId, now_ms: int) -> tenure.LivenessEvidence | None:
    """Probes are functions, and so is what asks several of them."""
    probe: tenure.LivenessProbe = tenure.first_evidence(tenure.same_host_pid_dead(), tenure.lease_expired)
    return probe(owner, me, now_ms)


def refused(error: tenure.RunStoreError) -> tuple[tenure.RunStoreErrorCode, str, str]:
    """What an error tells."""
    return error.code, error.method, error.message

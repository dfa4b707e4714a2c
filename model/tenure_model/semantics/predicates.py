"""The pure predicates that every decision is made of. Each one is total and looks at nothing but its arguments."""

from tenure_model.semantics.world import Claim, Run
from tenure_model.vocabulary.constants import (
    HEARTBEAT_SKEW_ALLOWANCE_MS,
    HEARTBEAT_STALE_AFTER_MS,
    MAX_SAFE_INTEGER,
)
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunSnapshot


def is_stale(stamp_ms: int | None, now_ms: int) -> bool:
    """Whether a stamp is strictly older than 30,000 ms at ``now_ms``; no stamp is never stale (RS-004)."""
    return stamp_ms is not None and stamp_ms < now_ms - HEARTBEAT_STALE_AFTER_MS


def same_owner(one: OwnerId | None, other: OwnerId | None) -> bool:
    """Whether both name the same identity: host, pid and nonce all equal, or both nobody (RS-004, RS-011)."""
    return one == other


def same_host(one: OwnerId, other: OwnerId) -> bool:
    """Whether both live on one host (RS-207, RS-900)."""
    return one.host_id == other.host_id


def within_skew(now_ms: int, clock_ms: int) -> bool:
    """Whether a reading runs at most 10,000 ms ahead of the store's clock; any lag is within (RS-309)."""
    return now_ms <= clock_ms + HEARTBEAT_SKEW_ALLOWANCE_MS


def is_storable_time(value_ms: int) -> bool:
    """Whether a time column takes the value: 0..2**53-1 (RS-015, RS-100)."""
    return 0 <= value_ms <= MAX_SAFE_INTEGER


def matches_evidence(target: OwnerId, observer: OwnerId, now_ms: int, evidence: LivenessEvidence) -> bool:
    """Whether the evidence speaks of ``target``, at exactly ``now_ms``, and of the right kind for the two hosts.

    ``same-host-pid-dead`` needs one host, ``cross-host-unreachable-stale`` two, ``lease-expired`` neither (RS-207).
    """
    if not same_owner(target, evidence.expected_owner) or evidence.checked_at_ms != now_ms:
        return False
    match evidence.kind:
        case "same-host-pid-dead":
            return same_host(target, observer)
        case "cross-host-unreachable-stale":
            return not same_host(target, observer)
        case "lease-expired":
            return True


def row_is(run: Run, snapshot: RunSnapshot) -> bool:
    """Whether status, owner and heartbeat of the row all equal the snapshot's, null equal to null (RS-004)."""
    return (
        run.status == snapshot.status
        and same_owner(run.owner, snapshot.owner)
        and run.heartbeat_at_ms == snapshot.heartbeat_at_ms
    )


def claim_free(run: Run) -> bool:
    """Whether the row carries no claim (RS-004)."""
    return run.claim is None


def claim_is(run: Run, claimant: OwnerId, claimed_at_ms: int) -> bool:
    """Whether the row carries exactly this claimant's claim with exactly this token (RS-004)."""
    return run.claim == Claim(claimant, claimed_at_ms)


def owned(run: Run, who: OwnerId) -> bool:
    """Whether the row is running and names ``who`` as its owner (RS-004)."""
    return run.status == "running" and same_owner(run.owner, who)

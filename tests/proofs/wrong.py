"""Wrong twins of the predicates, each with one mistake that looks right. A proof must refute its twin."""

from tenure.runs.losses import Loss
from tenure_model.semantics import predicates
from tenure_model.semantics.world import Run
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.outcomes import AlreadyClaimed, HeartbeatFresh, NotFound, SnapshotChanged
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunSnapshot


def is_stale(stamp_ms: int | None, now_ms: int) -> bool:
    """Wrong: a stamp of exactly 30,000 ms is stale already."""
    return stamp_ms is not None and stamp_ms <= now_ms - 30_000


def is_stale_if_absent(stamp_ms: int | None, now_ms: int) -> bool:
    """Wrong: reads no stamp, and a stamp of 0, as one that is long past."""
    return not stamp_ms or stamp_ms < now_ms - 30_000


def same_owner(one: OwnerId, other: OwnerId) -> bool:
    """Wrong: another incarnation of the same process passes for the same owner."""
    return one.host_id == other.host_id and one.pid == other.pid


def matches_evidence(target: OwnerId, observer: OwnerId, now_ms: int, evidence: LivenessEvidence) -> bool:
    """Wrong: evidence gathered earlier counts for a later call."""
    earlier = min(now_ms, evidence.checked_at_ms)
    return predicates.matches_evidence(target, observer, earlier, evidence)


def matches_evidence_of_any_kind(target: OwnerId, observer: OwnerId, now_ms: int, evidence: LivenessEvidence) -> bool:
    """Wrong: a process of another host is taken for dead by its number."""
    if evidence.kind == "same-host-pid-dead":
        return target == evidence.expected_owner and evidence.checked_at_ms == now_ms
    return predicates.matches_evidence(target, observer, now_ms, evidence)


def within_skew(now_ms: int, clock_ms: int) -> bool:
    """Wrong: bounds how far a reading lags as well."""
    return abs(now_ms - clock_ms) <= 10_000


def classify_loss(run: Run | None, now_ms: int) -> Loss:
    """Wrong: tells of a fresh heartbeat before it tells of a claim."""
    if run is None:
        return NotFound()
    if run.status == "running" and not predicates.is_stale(run.heartbeat_at_ms, now_ms):
        return HeartbeatFresh()
    return SnapshotChanged() if run.claim is None else AlreadyClaimed()


def row_is(run: Run, snapshot: RunSnapshot) -> bool:
    """Wrong: what the caller leaves null is not compared."""
    return (
        run.status == snapshot.status
        and snapshot.owner in (None, run.owner)
        and snapshot.heartbeat_at_ms in (None, run.heartbeat_at_ms)
    )


def is_safe_integer(value: object) -> bool:
    """Wrong: admits booleans, which are integers to ``isinstance``."""
    return isinstance(value, int) and 0 <= value < 2**53


def is_storable_time(value_ms: int) -> bool:
    """Wrong: one beyond the largest."""
    return 0 <= value_ms <= 2**53

"""The pure predicates that the store decides by, for plain values (RS-004, RS-207)."""

from tenure_model.vocabulary.constants import HEARTBEAT_STALE_AFTER_MS
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId


def is_stale(stamp_ms: int | None, now_ms: int) -> bool:
    """Whether a stamp is strictly more than 30,000 ms older than ``now_ms``. No stamp is never stale (RS-004)."""
    return stamp_ms is not None and stamp_ms < now_ms - HEARTBEAT_STALE_AFTER_MS


def same_owner(left: OwnerId, right: OwnerId) -> bool:
    """Whether two identities agree in all three fields (RS-004, RS-011)."""
    return left.pid == right.pid and left.nonce == right.nonce and left.host_id == right.host_id


def matches_evidence(target: OwnerId, observer: OwnerId, now_ms: int, evidence: LivenessEvidence) -> bool:
    """Whether ``evidence`` speaks of ``target``, was gathered for this very call, and is of a kind that ``observer``
    can give (RS-207): ``same-host-pid-dead`` only on the same host, ``cross-host-unreachable-stale`` only from another.
    """
    if evidence.checked_at_ms != now_ms or not same_owner(target, evidence.expected_owner):
        return False
    if evidence.kind == "same-host-pid-dead":
        return target.host_id == observer.host_id
    if evidence.kind == "cross-host-unreachable-stale":
        return target.host_id != observer.host_id
    return evidence.kind == "lease-expired"

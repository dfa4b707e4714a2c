"""Leases in the memory of one process (RS-212): the same decisions, outside every database transaction."""

import threading

import attrs

from tenure.consensus.strategy import (
    ALREADY_CLAIMED,
    CLAIM_CHANGED,
    CLAIM_FRESH,
    EVIDENCE_INVALID,
    OWNER_HELD,
    OWNER_LIVE,
    ConsensusStrategy,
    Granted,
    Rejected,
    Renewed,
)
from tenure.predicates import is_stale, matches_evidence
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId


@attrs.frozen
class _Lease:
    """Both slots of one run."""

    owner: OwnerId | None = None
    granted_at_ms: int | None = None
    heartbeat_at_ms: int | None = None
    claim: OwnerId | None = None
    claimed_at_ms: int | None = None

    def without_owner(self) -> "_Lease":
        return attrs.evolve(self, owner=None, granted_at_ms=None, heartbeat_at_ms=None)

    def without_claim(self) -> "_Lease":
        return attrs.evolve(self, claim=None, claimed_at_ms=None)


_EMPTY = _Lease()


class LocalConsensus(ConsensusStrategy):
    """Leases that end with the process. Every store that must agree shares one instance.

    What a transaction was granted stays granted when it rolls back, and after a restart nothing is held.
    """

    def __init__(self) -> None:
        self._leases: dict[str, _Lease] = {}
        self._lock = threading.Lock()

    def claim(self, run_id: str, claimant: OwnerId, now_ms: int) -> Granted | Rejected:
        """Take the claim slot where both slots are empty (RS-202)."""
        with self._lock:
            lease = self._get(run_id)
            if lease.claim is not None:
                return ALREADY_CLAIMED
            if lease.owner is not None:
                return OWNER_HELD
            self._put(run_id, _Lease(claim=claimant, claimed_at_ms=now_ms))
            return Granted(now_ms)

    def activate(self, run_id: str, claimant: OwnerId, granted_at_ms: int, now_ms: int) -> bool:
        """Turn exactly this claim into ownership (RS-203)."""
        with self._lock:
            lease = self._get(run_id)
            if lease.claim != claimant or lease.claimed_at_ms != granted_at_ms:
                return False
            self._put(run_id, _Lease(owner=claimant, granted_at_ms=granted_at_ms, heartbeat_at_ms=now_ms))
            return True

    def heartbeat(self, run_id: str, owner: OwnerId, now_ms: int) -> Renewed | None:
        """Raise the owner's stamp (RS-204)."""
        with self._lock:
            return self._renewed(run_id, self._get(run_id), owner, now_ms)

    def reconfirm(self, run_id: str, owner: OwnerId, now_ms: int) -> Renewed | None:
        """Raise the owner's stamp where no claim is pending (RS-205)."""
        with self._lock:
            lease = self._get(run_id)
            return self._renewed(run_id, lease, owner, now_ms) if lease.claim is None else None

    def release(self, run_id: str, holder: OwnerId) -> None:
        """Empty both slots as far as ``holder`` has them (RS-206)."""
        with self._lock:
            lease = self._get(run_id)
            if lease.claim == holder:
                lease = lease.without_claim()
            if lease.owner == holder:
                lease = lease.without_owner()
            self._put(run_id, lease)

    def release_claim(self, run_id: str, claimant: OwnerId) -> None:
        """Empty the claim slot if ``claimant`` has it (R-2)."""
        with self._lock:
            lease = self._get(run_id)
            if lease.claim == claimant:
                self._put(run_id, lease.without_claim())

    def surrender(self, run_id: str, owner: OwnerId) -> bool:
        """Empty both slots if ``owner`` owns the run (RS-210, R-1)."""
        with self._lock:
            if self._get(run_id).owner != owner:
                return False
            self._put(run_id, _EMPTY)
            return True

    def steal(self, run_id: str, claimant: OwnerId, now_ms: int, evidence: LivenessEvidence) -> Granted | Rejected:
        """Take the claim slot of a stale owner's lease (RS-208)."""
        with self._lock:
            lease = self._get(run_id)
            refusal = _refused_steal(lease, claimant, now_ms, evidence)
            if refusal is not None:
                return refusal
            self._put(run_id, attrs.evolve(lease, claim=claimant, claimed_at_ms=now_ms))
            return Granted(now_ms)

    def recover(
        self,
        run_id: str,
        stale_claimant: OwnerId,
        granted_at_ms: int,
        observer: OwnerId,
        now_ms: int,
        evidence: LivenessEvidence,
    ) -> Rejected | None:
        """Empty the claim slot of exactly this stale claim (RS-209)."""
        with self._lock:
            if not matches_evidence(stale_claimant, observer, now_ms, evidence):
                return EVIDENCE_INVALID
            lease = self._get(run_id)
            if lease.claim != stale_claimant or lease.claimed_at_ms != granted_at_ms:
                return CLAIM_CHANGED
            if not is_stale(granted_at_ms, now_ms):
                return CLAIM_FRESH
            self._put(run_id, lease.without_claim())
            return None

    def holds(self, run_id: str, owner: OwnerId) -> bool:
        """Whether ``owner`` owns the run (RS-210)."""
        with self._lock:
            return self._get(run_id).owner == owner

    def retake(self, run_id: str, owner: OwnerId, now_ms: int) -> bool:
        """Own one's own run anew. Decided before anything changes: no transaction would undo the release (R-4)."""
        with self._lock:
            lease = self._get(run_id)
            if lease.claim not in (None, owner) or lease.owner not in (None, owner):
                return False
            self._put(run_id, _Lease(owner=owner, granted_at_ms=now_ms, heartbeat_at_ms=now_ms))
            return True

    def _get(self, run_id: str) -> _Lease:
        return self._leases.get(run_id, _EMPTY)

    def _put(self, run_id: str, lease: _Lease) -> None:
        if lease.claim is None and lease.owner is None:
            self._leases.pop(run_id, None)
        else:
            self._leases[run_id] = lease

    def _renewed(self, run_id: str, lease: _Lease, owner: OwnerId, now_ms: int) -> Renewed | None:
        if lease.owner != owner:
            return None
        stamp = now_ms if lease.heartbeat_at_ms is None else max(lease.heartbeat_at_ms, now_ms)
        self._put(run_id, attrs.evolve(lease, heartbeat_at_ms=stamp))
        return Renewed(stamp)


def _refused_steal(lease: _Lease, claimant: OwnerId, now_ms: int, evidence: LivenessEvidence) -> Rejected | None:
    if not matches_evidence(evidence.expected_owner, claimant, now_ms, evidence):
        return EVIDENCE_INVALID
    if lease.claim is not None:
        return ALREADY_CLAIMED
    if lease.owner != evidence.expected_owner:
        return EVIDENCE_INVALID
    return None if is_stale(lease.heartbeat_at_ms, now_ms) else OWNER_LIVE

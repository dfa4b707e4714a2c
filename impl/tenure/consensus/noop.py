"""The strategy of an environment that arbitrates nothing (RS-212)."""

from tenure.consensus.strategy import UNAVAILABLE, ConsensusStrategy, Granted, Rejected, Renewed
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId


class NoopConsensus(ConsensusStrategy):
    """Refuses every claim, loses every lease, holds nothing."""

    def claim(self, run_id: str, claimant: OwnerId, now_ms: int) -> Granted | Rejected:
        """Rejected: ``unavailable``."""
        return UNAVAILABLE

    def activate(self, run_id: str, claimant: OwnerId, granted_at_ms: int, now_ms: int) -> bool:
        """Lost."""
        return False

    def heartbeat(self, run_id: str, owner: OwnerId, now_ms: int) -> Renewed | None:
        """Lost."""
        return None

    def reconfirm(self, run_id: str, owner: OwnerId, now_ms: int) -> Renewed | None:
        """Lost."""
        return None

    def release(self, run_id: str, holder: OwnerId) -> None:
        """Nothing to release."""

    def release_claim(self, run_id: str, claimant: OwnerId) -> None:
        """Nothing to release."""

    def surrender(self, run_id: str, owner: OwnerId) -> bool:
        """Nothing is owned."""
        return False

    def steal(self, run_id: str, claimant: OwnerId, now_ms: int, evidence: LivenessEvidence) -> Granted | Rejected:
        """Rejected: ``unavailable``."""
        return UNAVAILABLE

    def recover(
        self,
        run_id: str,
        stale_claimant: OwnerId,
        granted_at_ms: int,
        observer: OwnerId,
        now_ms: int,
        evidence: LivenessEvidence,
    ) -> Rejected | None:
        """Rejected: ``unavailable``."""
        return UNAVAILABLE

    def holds(self, run_id: str, owner: OwnerId) -> bool:
        """Nothing is owned."""
        return False

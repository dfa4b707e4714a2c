"""A strategy whose every decision is a span (JN-413)."""

from tenure.consensus.strategy import ConsensusStrategy, Granted, Rejected, Renewed
from tenure.metrics.observer import Observer
from tenure.metrics.operations import consensus
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId


class TracedConsensus(ConsensusStrategy):
    """Passes every call on to ``strategy``, inside a span."""

    def __init__(self, strategy: ConsensusStrategy, observer: Observer) -> None:
        trace = observer.trace
        self._claim = trace(consensus("claim"), strategy.claim)
        self._activate = trace(consensus("activate"), strategy.activate)
        self._heartbeat = trace(consensus("heartbeat"), strategy.heartbeat)
        self._reconfirm = trace(consensus("reconfirm"), strategy.reconfirm)
        self._release = trace(consensus("release"), strategy.release)
        self._release_claim = trace(consensus("releaseClaim"), strategy.release_claim)
        self._surrender = trace(consensus("surrender"), strategy.surrender)
        self._steal = trace(consensus("steal"), strategy.steal)
        self._recover = trace(consensus("recover"), strategy.recover)
        self._holds = trace(consensus("holds"), strategy.holds)
        self._guard = trace(consensus("guard"), strategy.guard)
        self._take = trace(consensus("take"), strategy.take)
        self._retake = trace(consensus("retake"), strategy.retake)
        self._seize = trace(consensus("seize"), strategy.seize)

    def claim(self, run_id: str, claimant: OwnerId, now_ms: int) -> Granted | Rejected:
        """``claim`` of the strategy."""
        return self._claim(run_id, claimant, now_ms)

    def activate(self, run_id: str, claimant: OwnerId, granted_at_ms: int, now_ms: int) -> bool:
        """``activate`` of the strategy."""
        return self._activate(run_id, claimant, granted_at_ms, now_ms)

    def heartbeat(self, run_id: str, owner: OwnerId, now_ms: int) -> Renewed | None:
        """``heartbeat`` of the strategy."""
        return self._heartbeat(run_id, owner, now_ms)

    def reconfirm(self, run_id: str, owner: OwnerId, now_ms: int) -> Renewed | None:
        """``reconfirm`` of the strategy."""
        return self._reconfirm(run_id, owner, now_ms)

    def release(self, run_id: str, holder: OwnerId) -> None:
        """``release`` of the strategy."""
        self._release(run_id, holder)

    def release_claim(self, run_id: str, claimant: OwnerId) -> None:
        """``release_claim`` of the strategy."""
        self._release_claim(run_id, claimant)

    def surrender(self, run_id: str, owner: OwnerId) -> bool:
        """``surrender`` of the strategy."""
        return self._surrender(run_id, owner)

    def steal(self, run_id: str, claimant: OwnerId, now_ms: int, evidence: LivenessEvidence) -> Granted | Rejected:
        """``steal`` of the strategy."""
        return self._steal(run_id, claimant, now_ms, evidence)

    def recover(
        self,
        run_id: str,
        stale_claimant: OwnerId,
        granted_at_ms: int,
        observer: OwnerId,
        now_ms: int,
        evidence: LivenessEvidence,
    ) -> Rejected | None:
        """``recover`` of the strategy."""
        return self._recover(run_id, stale_claimant, granted_at_ms, observer, now_ms, evidence)

    def holds(self, run_id: str, owner: OwnerId) -> bool:
        """``holds`` of the strategy."""
        return self._holds(run_id, owner)

    def guard(self, run_id: str, owner: OwnerId) -> None:
        """``guard`` of the strategy."""
        self._guard(run_id, owner)

    def take(self, run_id: str, owner: OwnerId, now_ms: int) -> bool:
        """``take`` of the strategy."""
        return self._take(run_id, owner, now_ms)

    def retake(self, run_id: str, owner: OwnerId, now_ms: int) -> bool:
        """``retake`` of the strategy."""
        return self._retake(run_id, owner, now_ms)

    def seize(self, run_id: str, claimant: OwnerId, now_ms: int, evidence: LivenessEvidence) -> bool:
        """``seize`` of the strategy."""
        return self._seize(run_id, claimant, now_ms, evidence)

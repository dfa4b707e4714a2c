"""What the run store asks of whatever arbitrates ownership (RS-200, RS-201).

A lease has two slots, claim and owner, each empty or held by one identity; a lease with both empty does not exist. No
method reads a clock: the caller's reading is an argument. Inputs are admitted already.
"""

from abc import ABC, abstractmethod
from typing import Final, Literal, TypeAlias

import attrs

from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId

RejectionReason: TypeAlias = Literal[
    "already_claimed",
    "owner_held",
    "owner_live",
    "evidence_invalid",
    "claim_fresh",
    "claim_changed",
    "unavailable",
]


@attrs.frozen
class Granted:
    """The claim slot is yours; ``granted_at_ms`` is the token to activate with."""

    granted_at_ms: int


@attrs.frozen
class Rejected:
    """The slot was refused."""

    reason: RejectionReason


@attrs.frozen
class Renewed:
    """The lease is yours until ``heartbeat_at_ms`` goes stale."""

    heartbeat_at_ms: int


class ConsensusError(Exception):
    """``fence_lost``: the caller does not own the run; ``persistence_failed``: storage failed (RS-211)."""

    def __init__(self, code: Literal["fence_lost", "persistence_failed"], message: str) -> None:
        self.code: Literal["fence_lost", "persistence_failed"] = code
        self.message = message
        super().__init__(code, message)

    def __str__(self) -> str:
        return self.message


class ConsensusStrategy(ABC):
    """Decides who holds a run's lease.

    A strategy that is not part of the store's transaction keeps what it granted when that transaction rolls back
    (RS-212). The last three methods each do several steps of the rules as one decision; their defaults are made of the
    single steps and suffice for a strategy whose changes roll back with the transaction.
    """

    @abstractmethod
    def claim(self, run_id: str, claimant: OwnerId, now_ms: int) -> Granted | Rejected:
        """Take the claim slot where both slots are empty (RS-202)."""

    @abstractmethod
    def activate(self, run_id: str, claimant: OwnerId, granted_at_ms: int, now_ms: int) -> bool:
        """Turn exactly this claim into ownership, whoever owned the run before (RS-203). False: lost."""

    @abstractmethod
    def heartbeat(self, run_id: str, owner: OwnerId, now_ms: int) -> Renewed | None:
        """Raise the owner's stamp to ``now_ms`` if it is lower, whatever claim is pending (RS-204). ``None``: lost."""

    @abstractmethod
    def reconfirm(self, run_id: str, owner: OwnerId, now_ms: int) -> Renewed | None:
        """As ``heartbeat``, but lost as well while any claim is pending (RS-205)."""

    @abstractmethod
    def release(self, run_id: str, holder: OwnerId) -> None:
        """Empty both slots as far as ``holder`` has them (RS-206)."""

    @abstractmethod
    def release_claim(self, run_id: str, claimant: OwnerId) -> None:
        """Empty the claim slot if ``claimant`` has it, and leave an ownership alone (RS-206 as repaired by R-2)."""

    @abstractmethod
    def surrender(self, run_id: str, owner: OwnerId) -> bool:
        """Empty both slots if ``owner`` owns the run: guard, release, and the end of any pending claim (RS-210, RS-206,
        R-1). False, and nothing changed, if it does not.
        """

    @abstractmethod
    def steal(self, run_id: str, claimant: OwnerId, now_ms: int, evidence: LivenessEvidence) -> Granted | Rejected:
        """Take the claim slot of a stale owner's lease, and leave the ownership as it is (RS-208)."""

    @abstractmethod
    def recover(
        self,
        run_id: str,
        stale_claimant: OwnerId,
        granted_at_ms: int,
        observer: OwnerId,
        now_ms: int,
        evidence: LivenessEvidence,
    ) -> Rejected | None:
        """Empty the claim slot of exactly this stale claim (RS-209). ``None``: recovered."""

    @abstractmethod
    def holds(self, run_id: str, owner: OwnerId) -> bool:
        """Whether ``owner`` owns the run, however old its stamp, whatever claim is pending (RS-210)."""

    def guard(self, run_id: str, owner: OwnerId) -> None:
        """Raise ``ConsensusError("fence_lost")`` unless ``owner`` owns the run (RS-210, RS-211)."""
        if not self.holds(run_id, owner):
            raise ConsensusError(
                "fence_lost", f"run {run_id} is no longer owned by {owner.host_id}:{owner.pid}:{owner.nonce}"
            )

    def take(self, run_id: str, owner: OwnerId, now_ms: int) -> bool:
        """Claim and activate an unowned run (RS-463 without an expected owner, RS-464)."""
        return self._activated(run_id, owner, self.claim(run_id, owner, now_ms), now_ms)

    def retake(self, run_id: str, owner: OwnerId, now_ms: int) -> bool:
        """Release, claim and activate one's own run (RS-463); a refusal changes nothing (R-4)."""
        self.release(run_id, owner)
        return self.take(run_id, owner, now_ms)

    def seize(self, run_id: str, claimant: OwnerId, now_ms: int, evidence: LivenessEvidence) -> bool:
        """Steal and activate another's run (RS-463)."""
        return self._activated(run_id, claimant, self.steal(run_id, claimant, now_ms, evidence), now_ms)

    def _activated(self, run_id: str, owner: OwnerId, grant: Granted | Rejected, now_ms: int) -> bool:
        if isinstance(grant, Rejected):
            return False
        if self.activate(run_id, owner, grant.granted_at_ms, now_ms):
            return True
        self.release(run_id, owner)
        return False


ALREADY_CLAIMED: Final = Rejected("already_claimed")
OWNER_HELD: Final = Rejected("owner_held")
OWNER_LIVE: Final = Rejected("owner_live")
EVIDENCE_INVALID: Final = Rejected("evidence_invalid")
CLAIM_FRESH: Final = Rejected("claim_fresh")
CLAIM_CHANGED: Final = Rejected("claim_changed")
UNAVAILABLE: Final = Rejected("unavailable")

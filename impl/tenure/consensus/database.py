"""Leases in the store's own database (RS-200): lease, run row and fact commit or roll back together.

Every decision is one guarded statement, and the row it returned decides (JN-121, JN-122). A slot is empty where its
host column is null (JN-123).
"""

from typing import Final

from tenure.consensus.strategy import (
    ALREADY_CLAIMED,
    CLAIM_CHANGED,
    CLAIM_FRESH,
    EVIDENCE_INVALID,
    OWNER_HELD,
    OWNER_LIVE,
    ConsensusError,
    ConsensusStrategy,
    Granted,
    Rejected,
    Renewed,
)
from tenure.database.engine import Bindings, DatabaseError, SqlRow, Statements
from tenure.predicates import matches_evidence
from tenure_model.vocabulary.constants import HEARTBEAT_STALE_AFTER_MS
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.owners import OwnerId

# In every statement ?1 is the run id and ?2, ?3, ?4 are one identity's host, pid and nonce.
_CLAIM_IS: Final = "claim_host_id = ?2 AND claim_pid = ?3 AND claim_nonce = ?4"
_OWNER_IS: Final = "owner_host_id = ?2 AND owner_pid = ?3 AND owner_nonce = ?4"
_NO_CLAIM: Final = "claim_host_id IS NULL"
_NO_OWNER: Final = "owner_host_id IS NULL"
_CLEAR_CLAIM: Final = "claim_host_id = NULL, claim_pid = NULL, claim_nonce = NULL, claimed_at_ms = NULL"
_CLEAR_OWNER: Final = (
    "owner_host_id = NULL, owner_pid = NULL, owner_nonce = NULL, granted_at_ms = NULL, heartbeat_at_ms = NULL"
)

CLAIM: Final = f"""
    INSERT INTO flows_consensus_leases (run_id, claim_host_id, claim_pid, claim_nonce, claimed_at_ms)
    VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (run_id) DO UPDATE SET
      claim_host_id = excluded.claim_host_id, claim_pid = excluded.claim_pid, claim_nonce = excluded.claim_nonce,
      claimed_at_ms = excluded.claimed_at_ms
    WHERE {_NO_CLAIM} AND {_NO_OWNER}
    RETURNING 1
"""

_OWN: Final = f"""
    INSERT INTO flows_consensus_leases (run_id, owner_host_id, owner_pid, owner_nonce, granted_at_ms, heartbeat_at_ms)
    VALUES (?1, ?2, ?3, ?4, ?5, ?5)
    ON CONFLICT (run_id) DO UPDATE SET
      owner_host_id = excluded.owner_host_id, owner_pid = excluded.owner_pid, owner_nonce = excluded.owner_nonce,
      granted_at_ms = excluded.granted_at_ms, heartbeat_at_ms = excluded.heartbeat_at_ms, {_CLEAR_CLAIM}
"""
TAKE: Final = f"{_OWN} WHERE {_NO_CLAIM} AND {_NO_OWNER} RETURNING 1"
RETAKE: Final = f"{_OWN} WHERE ({_NO_CLAIM} OR ({_CLAIM_IS})) AND ({_NO_OWNER} OR ({_OWNER_IS})) RETURNING 1"

ACTIVATE: Final = f"""
    UPDATE flows_consensus_leases SET
      owner_host_id = ?2, owner_pid = ?3, owner_nonce = ?4, granted_at_ms = ?5, heartbeat_at_ms = ?6, {_CLEAR_CLAIM}
    WHERE run_id = ?1 AND {_CLAIM_IS} AND claimed_at_ms = ?5
    RETURNING 1
"""

# The scalar max() of SQLite is null as soon as one argument is.
HEARTBEAT: Final = f"""
    UPDATE flows_consensus_leases SET heartbeat_at_ms = max(ifnull(heartbeat_at_ms, ?5), ?5)
    WHERE run_id = ?1 AND {_OWNER_IS}
    RETURNING heartbeat_at_ms
"""
RECONFIRM: Final = f"""
    UPDATE flows_consensus_leases SET heartbeat_at_ms = max(ifnull(heartbeat_at_ms, ?5), ?5)
    WHERE run_id = ?1 AND {_OWNER_IS} AND {_NO_CLAIM}
    RETURNING heartbeat_at_ms
"""

DELETE_CLAIM_ONLY: Final = f"""
    DELETE FROM flows_consensus_leases WHERE run_id = ?1 AND {_NO_OWNER} AND ({_NO_CLAIM} OR ({_CLAIM_IS}))
    RETURNING 1
"""
RELEASE_CLAIM: Final = f"UPDATE flows_consensus_leases SET {_CLEAR_CLAIM} WHERE run_id = ?1 AND {_CLAIM_IS}"
DELETE_OWNER_ONLY: Final = (
    f"DELETE FROM flows_consensus_leases WHERE run_id = ?1 AND {_NO_CLAIM} AND {_OWNER_IS} RETURNING 1"
)
RELEASE_OWNER: Final = f"UPDATE flows_consensus_leases SET {_CLEAR_OWNER} WHERE run_id = ?1 AND {_OWNER_IS}"
SURRENDER: Final = f"DELETE FROM flows_consensus_leases WHERE run_id = ?1 AND {_OWNER_IS} RETURNING 1"

STEAL: Final = f"""
    UPDATE flows_consensus_leases SET claim_host_id = ?5, claim_pid = ?6, claim_nonce = ?7, claimed_at_ms = ?8
    WHERE run_id = ?1 AND {_OWNER_IS} AND {_NO_CLAIM} AND heartbeat_at_ms < ?8 - {HEARTBEAT_STALE_AFTER_MS}
    RETURNING 1
"""
SEIZE: Final = f"""
    UPDATE flows_consensus_leases SET
      owner_host_id = ?5, owner_pid = ?6, owner_nonce = ?7, granted_at_ms = ?8, heartbeat_at_ms = ?8
    WHERE run_id = ?1 AND {_OWNER_IS} AND {_NO_CLAIM} AND heartbeat_at_ms < ?8 - {HEARTBEAT_STALE_AFTER_MS}
    RETURNING 1
"""

_STALE_CLAIM: Final = f"{_CLAIM_IS} AND claimed_at_ms = ?5 AND claimed_at_ms < ?6 - {HEARTBEAT_STALE_AFTER_MS}"
DELETE_STALE_CLAIM: Final = (
    f"DELETE FROM flows_consensus_leases WHERE run_id = ?1 AND {_NO_OWNER} AND {_STALE_CLAIM} RETURNING 1"
)
RECOVER: Final = f"UPDATE flows_consensus_leases SET {_CLEAR_CLAIM} WHERE run_id = ?1 AND {_STALE_CLAIM} RETURNING 1"

HOLDS: Final = f"SELECT 1 FROM flows_consensus_leases WHERE run_id = ?1 AND {_OWNER_IS}"
CLAIMED: Final = f"SELECT NOT ({_NO_CLAIM}) FROM flows_consensus_leases WHERE run_id = ?1"
CLAIM_STANDS: Final = f"SELECT 1 FROM flows_consensus_leases WHERE run_id = ?1 AND {_CLAIM_IS} AND claimed_at_ms = ?5"

STATEMENTS: Final = (
    CLAIM,
    TAKE,
    RETAKE,
    ACTIVATE,
    HEARTBEAT,
    RECONFIRM,
    DELETE_CLAIM_ONLY,
    RELEASE_CLAIM,
    DELETE_OWNER_ONLY,
    RELEASE_OWNER,
    SURRENDER,
    STEAL,
    SEIZE,
    DELETE_STALE_CLAIM,
    RECOVER,
    HOLDS,
    CLAIMED,
    CLAIM_STANDS,
)
"""Every statement of the strategy."""


class DatabaseConsensus(ConsensusStrategy):
    """Leases in ``flows_consensus_leases``. ``rows`` runs statements in the transaction that the store has open."""

    def __init__(self, rows: Statements) -> None:
        self._statements = rows

    def claim(self, run_id: str, claimant: OwnerId, now_ms: int) -> Granted | Rejected:
        """Take the claim slot where both slots are empty (RS-202)."""
        who = (run_id, claimant.host_id, claimant.pid, claimant.nonce)
        if self._rows(CLAIM, (*who, now_ms)):
            return Granted(now_ms)
        return ALREADY_CLAIMED if self._is_claimed(run_id) else OWNER_HELD

    def activate(self, run_id: str, claimant: OwnerId, granted_at_ms: int, now_ms: int) -> bool:
        """Turn exactly this claim into ownership (RS-203)."""
        who = (run_id, claimant.host_id, claimant.pid, claimant.nonce)
        return bool(self._rows(ACTIVATE, (*who, granted_at_ms, now_ms)))

    def heartbeat(self, run_id: str, owner: OwnerId, now_ms: int) -> Renewed | None:
        """Raise the owner's stamp (RS-204)."""
        renewed = self._rows(HEARTBEAT, (run_id, owner.host_id, owner.pid, owner.nonce, now_ms))
        return Renewed(renewed[0][0]) if renewed else None

    def reconfirm(self, run_id: str, owner: OwnerId, now_ms: int) -> Renewed | None:
        """Raise the owner's stamp where no claim is pending (RS-205)."""
        renewed = self._rows(RECONFIRM, (run_id, owner.host_id, owner.pid, owner.nonce, now_ms))
        return Renewed(renewed[0][0]) if renewed else None

    def release(self, run_id: str, holder: OwnerId) -> None:
        """Empty both slots as far as ``holder`` has them (RS-206)."""
        who = (run_id, holder.host_id, holder.pid, holder.nonce)
        self.release_claim(run_id, holder)
        if not self._rows(DELETE_OWNER_ONLY, who):
            self._rows(RELEASE_OWNER, who)

    def release_claim(self, run_id: str, claimant: OwnerId) -> None:
        """Empty the claim slot if ``claimant`` has it (R-2)."""
        who = (run_id, claimant.host_id, claimant.pid, claimant.nonce)
        if not self._rows(DELETE_CLAIM_ONLY, who):
            self._rows(RELEASE_CLAIM, who)

    def surrender(self, run_id: str, owner: OwnerId) -> bool:
        """Empty both slots if ``owner`` owns the run (RS-210, R-1)."""
        return bool(self._rows(SURRENDER, (run_id, owner.host_id, owner.pid, owner.nonce)))

    def steal(self, run_id: str, claimant: OwnerId, now_ms: int, evidence: LivenessEvidence) -> Granted | Rejected:
        """Take the claim slot of a stale owner's lease (RS-208)."""
        owner = evidence.expected_owner
        if not matches_evidence(owner, claimant, now_ms, evidence):
            return EVIDENCE_INVALID
        target = (run_id, owner.host_id, owner.pid, owner.nonce)
        if self._rows(STEAL, (*target, claimant.host_id, claimant.pid, claimant.nonce, now_ms)):
            return Granted(now_ms)
        if self._is_claimed(run_id):
            return ALREADY_CLAIMED
        return OWNER_LIVE if self._rows(HOLDS, target) else EVIDENCE_INVALID

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
        if not matches_evidence(stale_claimant, observer, now_ms, evidence):
            return EVIDENCE_INVALID
        claim = (run_id, stale_claimant.host_id, stale_claimant.pid, stale_claimant.nonce, granted_at_ms)
        if self._rows(DELETE_STALE_CLAIM, (*claim, now_ms)) or self._rows(RECOVER, (*claim, now_ms)):
            return None
        return CLAIM_FRESH if self._rows(CLAIM_STANDS, claim) else CLAIM_CHANGED

    def holds(self, run_id: str, owner: OwnerId) -> bool:
        """Whether ``owner`` owns the run (RS-210)."""
        return bool(self._rows(HOLDS, (run_id, owner.host_id, owner.pid, owner.nonce)))

    def take(self, run_id: str, owner: OwnerId, now_ms: int) -> bool:
        """Own an unowned run in one statement (RS-463)."""
        return bool(self._rows(TAKE, (run_id, owner.host_id, owner.pid, owner.nonce, now_ms)))

    def retake(self, run_id: str, owner: OwnerId, now_ms: int) -> bool:
        """Own one's own run anew in one statement (RS-463, R-4)."""
        return bool(self._rows(RETAKE, (run_id, owner.host_id, owner.pid, owner.nonce, now_ms)))

    def seize(self, run_id: str, claimant: OwnerId, now_ms: int, evidence: LivenessEvidence) -> bool:
        """Own another's stale run in one statement (RS-463)."""
        owner = evidence.expected_owner
        if not matches_evidence(owner, claimant, now_ms, evidence):
            return False
        target = (run_id, owner.host_id, owner.pid, owner.nonce)
        return bool(self._rows(SEIZE, (*target, claimant.host_id, claimant.pid, claimant.nonce, now_ms)))

    def _is_claimed(self, run_id: str) -> bool:
        lease = self._rows(CLAIMED, (run_id,))
        return bool(lease) and bool(lease[0][0])

    def _rows(self, sql: str, bindings: Bindings) -> list[SqlRow]:
        try:
            return self._statements(sql, bindings)
        except DatabaseError as error:
            # The cause stays, so that whoever repeats writes still sees that the database was busy (RS-211).
            raise ConsensusError("persistence_failed", "consensus lease operation failed") from error

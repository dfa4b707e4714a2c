"""The run store's statements, one text each. Every one finds its rows by the primary key or an index.

In every statement ?1 is the run id. A guarded UPDATE answers a row exactly where its guard held. Verdicts are computed
in SQL and answered as integers, so that a column that cannot be decoded never stands in a decision's way (RS-408).
"""

from typing import Final

from tenure_model.vocabulary.constants import HEARTBEAT_STALE_AFTER_MS

_LIVE: Final = "status IN ('pending', 'running', 'suspended')"
_KNOWN_STATUS: Final = (
    "CASE WHEN status IN ('pending', 'running', 'suspended', 'completed', 'failed', 'cancelled') THEN status END"
)
_NO_CLAIM: Final = "claim_host_id IS NULL AND claim_pid IS NULL AND claim_nonce IS NULL AND claimed_at_ms IS NULL"
_CLEAR_CLAIM: Final = "claim_host_id = NULL, claim_pid = NULL, claim_nonce = NULL, claimed_at_ms = NULL"
_CLEAR_OWNER: Final = "owner_host_id = NULL, owner_pid = NULL, owner_nonce = NULL, heartbeat_at_ms = NULL"
_OWNED: Final = "status = 'running' AND owner_host_id = ?2 AND owner_pid = ?3 AND owner_nonce = ?4"
_CLAIM_IS: Final = "claim_host_id = ?2 AND claim_pid = ?3 AND claim_nonce = ?4 AND claimed_at_ms = ?5"


def _snapshot_is(first: int) -> str:
    """``row_is`` of RS-004, its five values bound from ``?first`` on."""
    return (
        f"status = ?{first} AND owner_host_id IS ?{first + 1} AND owner_pid IS ?{first + 2}"
        f" AND owner_nonce IS ?{first + 3} AND heartbeat_at_ms IS ?{first + 4}"
    )


def _stale(stamp: str, now: str) -> str:
    """``stale`` of RS-004: strict, and never true without a stamp."""
    return f"ifnull({stamp} < {now} - {HEARTBEAT_STALE_AFTER_MS}, 0)"


CREATE: Final = """
    INSERT INTO flows_runs (run_id, status, created_at_ms, parent_run_id, lineage_id, round_ordinal, state_json)
    VALUES (?1, 'pending', ?2, ?3, ?4, ?5, ?6)
"""

_COLUMNS: Final = (
    "run_id, status, created_at_ms, started_at_ms, finished_at_ms, owner_host_id, owner_pid, owner_nonce,"
    " heartbeat_at_ms, claim_host_id, claim_pid, claim_nonce, claimed_at_ms, parent_run_id, cancel_requested_at_ms,"
    " lineage_id, round_ordinal, state_json"
)
GET: Final = f"SELECT {_COLUMNS} FROM flows_runs WHERE run_id = ?1"
EXISTS: Final = "SELECT 1 FROM flows_runs WHERE run_id = ?1"

# The lineage of ?1 (RS-740), and its members (RS-741): a row that merely has the lineage's name as its id, and belongs
# to another lineage, is none.
_LINEAGE_ID: Final = "(SELECT ifnull(lineage_id, run_id) FROM flows_runs WHERE run_id = ?1)"
_MEMBER_IDS: Final = f"""
    SELECT run_id FROM flows_runs WHERE lineage_id = {_LINEAGE_ID}
    UNION ALL
    SELECT run_id FROM flows_runs WHERE run_id = {_LINEAGE_ID} AND lineage_id IS NULL
"""
_ROUND_ORDER: Final = "ORDER BY ifnull(round_ordinal, 0), run_id"
LINEAGE: Final = f"SELECT {_COLUMNS} FROM flows_runs WHERE run_id IN ({_MEMBER_IDS}) {_ROUND_ORDER}"
LATEST_ROUND: Final = f"""
    SELECT {_COLUMNS} FROM flows_runs WHERE run_id = ifnull(
      (SELECT run_id FROM flows_runs WHERE lineage_id = {_LINEAGE_ID} ORDER BY round_ordinal DESC LIMIT 1), ?1
    )
"""

REQUEST_CANCEL: Final = f"""
    UPDATE flows_runs SET cancel_requested_at_ms = ?2
    WHERE run_id = ?1 AND cancel_requested_at_ms IS NULL AND {_LIVE}
    RETURNING 1
"""
REQUEST_CANCEL_LINEAGE: Final = f"""
    UPDATE flows_runs SET cancel_requested_at_ms = ?2
    WHERE run_id IN ({_MEMBER_IDS}) AND cancel_requested_at_ms IS NULL AND {_LIVE}
    RETURNING 1
"""
CANCELLATION: Final = f"SELECT {_KNOWN_STATUS}, cancel_requested_at_ms FROM flows_runs WHERE run_id = ?1"
CANCELLATION_LINEAGE: Final = f"""
    SELECT {_KNOWN_STATUS}, cancel_requested_at_ms FROM flows_runs WHERE run_id IN ({_MEMBER_IDS}) {_ROUND_ORDER}
"""
ACKNOWLEDGE_CANCEL: Final = f"""
    UPDATE flows_runs SET cancel_acknowledgement_json = ifnull(cancel_acknowledgement_json, ?5)
    WHERE run_id = ?1 AND {_OWNED} AND cancel_requested_at_ms IS NOT NULL
    RETURNING 1
"""

# ?2..?4 the claimant, ?5 now, ?6..?10 the expected snapshot.
CLAIM: Final = f"""
    UPDATE flows_runs SET claim_host_id = ?2, claim_pid = ?3, claim_nonce = ?4, claimed_at_ms = ?5
    WHERE run_id = ?1 AND status IN ('pending', 'suspended') AND {_snapshot_is(6)} AND {_NO_CLAIM}
    RETURNING 1
"""
STEAL: Final = f"""
    UPDATE flows_runs SET claim_host_id = ?2, claim_pid = ?3, claim_nonce = ?4, claimed_at_ms = ?5
    WHERE run_id = ?1 AND {_snapshot_is(6)} AND {_NO_CLAIM} AND {_stale("heartbeat_at_ms", "?5")}
    RETURNING 1
"""
CLAIM_AND_OWN: Final = f"""
    UPDATE flows_runs SET
      status = 'running', started_at_ms = ifnull(started_at_ms, ?5), finished_at_ms = NULL,
      owner_host_id = ?2, owner_pid = ?3, owner_nonce = ?4, heartbeat_at_ms = ?5
    WHERE run_id = ?1 AND {_LIVE} AND {_snapshot_is(6)} AND {_NO_CLAIM}
      AND (status <> 'running' OR {_stale("heartbeat_at_ms", "?5")})
    RETURNING 1
"""

# What a loser is told (RS-456): whether a claim is there, and whether a heartbeat is fresh against ?2.
_LOSS: Final = f"claim_host_id IS NOT NULL, status = 'running' AND NOT {_stale('heartbeat_at_ms', '?2')}"
LOSS: Final = f"SELECT {_LOSS} FROM flows_runs WHERE run_id = ?1"
LOSS_AGAINST: Final = f"SELECT {_LOSS}, {_snapshot_is(3)} FROM flows_runs WHERE run_id = ?1"

# ?2..?5 the claim, ?6..?10 the expected snapshot.
CLAIM_AGAINST: Final = f"SELECT {_snapshot_is(6)} FROM flows_runs WHERE run_id = ?1 AND {_CLAIM_IS}"
ACTIVATE: Final = f"""
    UPDATE flows_runs SET
      status = 'running', started_at_ms = ifnull(started_at_ms, ?6), finished_at_ms = NULL,
      owner_host_id = ?2, owner_pid = ?3, owner_nonce = ?4, heartbeat_at_ms = ?6, {_CLEAR_CLAIM}
    WHERE run_id = ?1 AND {_CLAIM_IS}
    RETURNING 1
"""
CLEAR_CLAIM: Final = f"UPDATE flows_runs SET {_CLEAR_CLAIM} WHERE run_id = ?1 AND {_CLAIM_IS} RETURNING 1"
RECOVER_CLAIM: Final = f"""
    UPDATE flows_runs SET {_CLEAR_CLAIM} WHERE run_id = ?1 AND {_CLAIM_IS} AND {_stale("claimed_at_ms", "?6")}
    RETURNING 1
"""
CLAIM_STANDS: Final = f"SELECT {_CLAIM_IS} FROM flows_runs WHERE run_id = ?1"

HEARTBEAT: Final = f"""
    UPDATE flows_runs SET heartbeat_at_ms = max(heartbeat_at_ms, ?5) WHERE run_id = ?1 AND {_OWNED} RETURNING 1
"""

# ?5 is 1 where a cancellation request must be present, 0 where it must be absent, null where it does not matter.
_GUARD: Final = "(?5 IS NULL OR (cancel_requested_at_ms IS NOT NULL) = ?5)"
_KEEP: Final = "UPDATE flows_runs SET finished_at_ms = NULL"
_SETTLE: Final = f"UPDATE flows_runs SET status = ?6, finished_at_ms = ?7, {_CLEAR_OWNER}, {_CLEAR_CLAIM}"
_TRANSITION: Final = f"WHERE run_id = ?1 AND {_OWNED} AND {_GUARD} RETURNING 1"
KEEP: Final = f"{_KEEP} {_TRANSITION}"
KEEP_WITH_STATE: Final = f"{_KEEP}, state_json = ?6 {_TRANSITION}"
SETTLE: Final = f"{_SETTLE} {_TRANSITION}"
SETTLE_WITH_STATE: Final = f"{_SETTLE}, state_json = ?8 {_TRANSITION}"
OWNED: Final = f"SELECT {_OWNED} FROM flows_runs WHERE run_id = ?1"

STATEMENTS: Final = (
    CREATE,
    GET,
    EXISTS,
    LINEAGE,
    LATEST_ROUND,
    REQUEST_CANCEL,
    REQUEST_CANCEL_LINEAGE,
    CANCELLATION,
    CANCELLATION_LINEAGE,
    ACKNOWLEDGE_CANCEL,
    CLAIM,
    STEAL,
    CLAIM_AND_OWN,
    LOSS,
    LOSS_AGAINST,
    CLAIM_AGAINST,
    ACTIVATE,
    CLEAR_CLAIM,
    RECOVER_CLAIM,
    CLAIM_STANDS,
    HEARTBEAT,
    KEEP,
    KEEP_WITH_STATE,
    SETTLE,
    SETTLE_WITH_STATE,
    OWNED,
)
"""Every statement of the run store."""

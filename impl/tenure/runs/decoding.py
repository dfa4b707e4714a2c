"""From a stored row to a ``RunRow``, or ``decode_failed`` (RS-406, RS-407)."""

from tenure.database.engine import SqlRow
from tenure.runs.failures import undecodable_row
from tenure_model.admission.integers import is_safe_integer
from tenure_model.admission.run_state import is_run_state
from tenure_model.admission.text import is_durable_text
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunRow
from tenure_model.vocabulary.statuses import RUN_STATUSES


def decode(method: str, run_id: str, columns: SqlRow) -> RunRow:
    """The run in ``columns``, which are those of ``statements.GET``.

    ``run_id`` is the id asked for; a member of a lineage that has a readable id of its own is reported under that.
    """
    (
        stored_id,
        status,
        created_at_ms,
        started_at_ms,
        finished_at_ms,
        owner_host_id,
        owner_pid,
        owner_nonce,
        heartbeat_at_ms,
        claim_host_id,
        claim_pid,
        claim_nonce,
        claimed_at_ms,
        parent_run_id,
        cancel_requested_at_ms,
        lineage_id,
        round_ordinal,
        state_json,
    ) = columns
    if not is_durable_text(stored_id):
        raise undecodable_row(method, run_id)
    identifiers = (owner_host_id, owner_nonce, claim_host_id, claim_nonce, parent_run_id, lineage_id)
    quantities = (
        started_at_ms,
        finished_at_ms,
        owner_pid,
        heartbeat_at_ms,
        claim_pid,
        claimed_at_ms,
        cancel_requested_at_ms,
        round_ordinal,
    )
    if not (
        status in RUN_STATUSES
        and is_safe_integer(created_at_ms)
        and type(state_json) is str
        and all(value is None or is_durable_text(value) for value in identifiers)
        and all(value is None or is_safe_integer(value) for value in quantities)
    ):
        raise undecodable_row(method, stored_id)
    owner = _identity(owner_host_id, owner_pid, owner_nonce)
    claim = _identity(claim_host_id, claim_pid, claim_nonce)
    has_owner_columns = not (owner_host_id is None and owner_pid is None and owner_nonce is None)
    has_claim_columns = not (claim_host_id is None and claim_pid is None and claim_nonce is None)
    state_valid = is_run_state(state_json)
    if not (
        has_owner_columns == (owner is not None) == (heartbeat_at_ms is not None) == (status == "running")
        and has_claim_columns == (claim is not None) == (claimed_at_ms is not None)
        and state_valid
    ):
        raise RunStoreError(
            "decode_failed",
            method,
            "flows_runs row violates durable invariants",
            {
                "runId": stored_id,
                "status": status,
                "heartbeatAtMs": heartbeat_at_ms,
                "claimedAtMs": claimed_at_ms,
                "hasClaimColumns": has_claim_columns,
                "hasOwnerColumns": has_owner_columns,
                "stateJsonValid": state_valid,
            },
        )
    return RunRow(
        stored_id,
        status,
        created_at_ms,
        started_at_ms,
        finished_at_ms,
        owner,
        heartbeat_at_ms,
        claim,
        claimed_at_ms,
        parent_run_id,
        cancel_requested_at_ms,
        lineage_id,
        round_ordinal,
        state_json,
    )


def _identity(host_id: str | None, pid: int | None, nonce: str | None) -> OwnerId | None:
    """The identity of a whole triple; ``None`` for a missing or a partial one."""
    if host_id is None or pid is None or nonce is None:
        return None
    return OwnerId(host_id, pid, nonce)

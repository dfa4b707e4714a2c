"""``get``: one row, validated again on its way out."""

from tenure_model.admission.integers import is_safe_integer
from tenure_model.admission.records import admit_run_id
from tenure_model.admission.refusal import Refusal
from tenure_model.admission.run_state import admit_run_state
from tenure_model.admission.text import is_durable_text
from tenure_model.semantics.steps import Step, answered, refused
from tenure_model.semantics.world import Run, World
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunRow
from tenure_model.vocabulary.statuses import RUN_STATUSES


def get(world: World, run_id: object) -> Step:
    """The run as a ``RunRow``; ``not_found_row`` without one, ``decode_failed`` for a row that is corrupt (RS-405)."""
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, "get", run_id)

    run = world.runs.get(run_id)
    return answered(world, not_found("get", run_id) if run is None else decode(run, "get"))


def decode(run: Run, method: str) -> RunRow | RunStoreError:
    """The row as callers see it, or ``decode_failed`` (RS-406, RS-407). Only the reads decode (RS-408).

    First every identifier, number and status by itself, then the invariants across columns: running iff owned iff a
    heartbeat, and a state text that would be admitted today. The claim columns cannot disagree in this model.
    """
    if not _has_valid_columns(run):
        cause = {"runId": run.run_id, "stage": "row-schema"}
        return RunStoreError("decode_failed", method, "could not decode flows_runs row", cause)
    state = admit_run_state(run.state_json, {})
    owned = run.owner is not None
    if isinstance(state, Refusal) or owned != (run.heartbeat_at_ms is not None) or owned != (run.status == "running"):
        return RunStoreError(
            "decode_failed",
            method,
            "flows_runs row violates durable invariants",
            {
                "runId": run.run_id,
                "status": run.status,
                "heartbeatAtMs": run.heartbeat_at_ms,
                "claimedAtMs": None if run.claim is None else run.claim.claimed_at_ms,
                "hasClaimColumns": run.claim is not None,
                "hasOwnerColumns": owned,
                "stateJsonValid": state.cause["stateJsonValid"] if isinstance(state, Refusal) else True,
            },
        )
    return RunRow(
        run_id=run.run_id,
        status=run.status,
        created_at_ms=run.created_at_ms,
        started_at_ms=run.started_at_ms,
        finished_at_ms=run.finished_at_ms,
        owner=run.owner,
        heartbeat_at_ms=run.heartbeat_at_ms,
        claim=None if run.claim is None else run.claim.claimant,
        claimed_at_ms=None if run.claim is None else run.claim.claimed_at_ms,
        parent_run_id=run.parent_run_id,
        cancel_requested_at_ms=run.cancel_requested_at_ms,
        lineage_id=run.lineage_id,
        round_ordinal=run.round_ordinal,
        state_json=run.state_json,
    )


def not_found(method: str, run_id: str) -> RunStoreError:
    """The error of a read that must find a row and does not (RS-361, RS-405)."""
    return RunStoreError("not_found_row", method, f"run {run_id} was not found", {"runId": run_id})


def _has_valid_columns(run: Run) -> bool:
    numbers = (
        run.started_at_ms,
        run.finished_at_ms,
        run.heartbeat_at_ms,
        run.cancel_requested_at_ms,
        run.round_ordinal,
    )
    return (
        is_durable_text(run.run_id)
        and run.status in RUN_STATUSES
        and is_safe_integer(run.created_at_ms)
        and all(number is None or is_safe_integer(number) for number in numbers)
        and (run.owner is None or _is_valid_owner(run.owner))
        and (run.claim is None or (_is_valid_owner(run.claim.claimant) and is_safe_integer(run.claim.claimed_at_ms)))
        and (run.parent_run_id is None or is_durable_text(run.parent_run_id))
        and (run.lineage_id is None or is_durable_text(run.lineage_id))
    )


def _is_valid_owner(owner: OwnerId) -> bool:
    return is_durable_text(owner.host_id) and is_safe_integer(owner.pid) and is_durable_text(owner.nonce)

"""How refused input and failing storage become the run store's one error (RS-360..RS-363)."""

from tenure.database.engine import ClosedError, CommitUnknownError, find_database_error
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.errors import CommitOutcomeUnknown, RunStoreError, RunStoreErrorCode


def invalid(method: str, refusal: Refusal) -> RunStoreError:
    """Refused input: the cause names the field and what is wrong with it, never the value (RS-361, RS-362)."""
    return RunStoreError("invalid_run", method, "run input is invalid", refusal.cause)


def not_found(method: str, run_id: str) -> RunStoreError:
    """A read of a run that does not exist (RS-361)."""
    return RunStoreError("not_found_row", method, f"run {run_id} was not found", {"runId": run_id})


def undecodable_row(method: str, run_id: str) -> RunStoreError:
    """A stored row whose columns are not what they may be (RS-361, RS-406)."""
    cause = {"runId": run_id, "stage": "row-schema"}
    return RunStoreError("decode_failed", method, "could not decode flows_runs row", cause)


def undecodable_status(method: str, run_id: str) -> RunStoreError:
    """A stored status that is none of the six; the cause leaves it out (RS-361, RS-423)."""
    cause = {"runId": run_id, "stage": "status"}
    return RunStoreError("decode_failed", method, "could not decode flows_runs status", cause)


def missed_cancellation(method: str, run_id: str) -> RunStoreError:
    """A guarded cancellation missed a row that it must match (RS-361, RS-422, RS-432)."""
    text = "guarded cancellation update missed a live unrequested row"
    return RunStoreError("persistence_failed", method, text, {"runId": run_id, "stage": "write-invariant"})


def storage_failure(method: str, error: Exception) -> RunStoreError:
    """What anything raised inside a transaction becomes (RS-363).

    Only the code of the database failure behind it is told; raise it from ``error``, so that an enclosing transaction
    still sees that the database was busy.
    """
    found = find_database_error(error)
    database_code = "unknown" if found is None else found.code
    code: RunStoreErrorCode = "constraint" if database_code == "constraint" else "persistence_failed"
    cause = {"category": code, "cause": {"code": database_code}}
    if isinstance(found, CommitUnknownError):
        return CommitOutcomeUnknown("persistence_failed", method, "the outcome of the commit is unknown", cause)
    if isinstance(found, ClosedError):
        return RunStoreError(code, method, "the store is closed", cause)
    return RunStoreError(code, method, "database operation failed", cause)

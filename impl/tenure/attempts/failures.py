"""How refused input, rows that do not decode and failing storage become the attempt store's one error (RS-365)."""

from tenure.database.engine import ClosedError, CommitUnknownError, find_database_error
from tenure_model.admission.attempt_refusal import AttemptRefusal
from tenure_model.vocabulary.attempt_errors import (
    PERSISTENCE_FAILED,
    ROW_UNDECODABLE,
    AttemptCommitOutcomeUnknown,
    AttemptStoreError,
    AttemptStoreErrorCode,
)


def invalid(method: str, refusal: AttemptRefusal) -> AttemptStoreError:
    """Refused input; there is no cause (RS-365)."""
    return AttemptStoreError("invalid_attempt", method, refusal.text)


def undecodable_row(method: str) -> AttemptStoreError:
    """A stored row whose identifiers, times or state are not what they may be (RS-830)."""
    return AttemptStoreError("decode_failed", method, ROW_UNDECODABLE)


def undecodable_column(method: str, column: str, complaint: str) -> AttemptStoreError:
    """A stored column that is not the JSON it must be (RS-830)."""
    return AttemptStoreError("decode_failed", method, f"{column} {complaint}")


def storage_failure(method: str, error: Exception) -> AttemptStoreError:
    """What a failure of storage becomes (RS-365).

    Only the code of the database failure behind it is told; raise it from ``error``, so that an enclosing transaction
    still sees that the database was busy.
    """
    found = find_database_error(error)
    if found is None:
        unknown = {"category": "persistence_failed", "reason": "unknown"}
        return AttemptStoreError("persistence_failed", method, PERSISTENCE_FAILED, unknown)
    code: AttemptStoreErrorCode = "constraint" if found.code == "constraint" else "persistence_failed"
    cause = {"category": code, "reason": found.code, "cause": {"code": found.code}}
    if isinstance(found, CommitUnknownError):
        return AttemptCommitOutcomeUnknown("persistence_failed", method, "the outcome of the commit is unknown", cause)
    if isinstance(found, ClosedError):
        return AttemptStoreError(code, method, "the store is closed", cause)
    return AttemptStoreError(code, method, PERSISTENCE_FAILED, cause)

"""How failing storage becomes a journal error, and how an error that several callers get is told again (JN-400)."""

from typing import Final

from tenure.database.engine import CommitUnknownError, UsageError, find_database_error
from tenure.database.writer import AfterCommitError
from tenure_model.vocabulary.journal_errors import CLOSED, JournalError, JournalErrorCode, JournalUsageError

COMMIT_UNKNOWN: Final = "the outcome of the commit is unknown"

PASSED_ON: Final = (JournalError, AfterCommitError, UsageError, JournalUsageError)
"""What leaves an operation as it came: verdicts, faults of the program, and failures of work after a commit."""


class JournalOutcomeUnknown(JournalError):
    """The write may or may not have taken effect: COMMIT failed in a way that does not say which.

    Append again under an explicit ``source_seq``: if the first attempt took effect the answer is ``Duplicate``.
    """


def storage_failure(code: JournalErrorCode, text: str, error: BaseException) -> JournalError:
    """What a failure of storage becomes; its cause is the database's failure, or ``error`` where there is none.

    Raise it from ``error``: an enclosing transaction must still see that the database was busy (JN-084, JN-142).
    """
    found = find_database_error(error)
    if isinstance(found, CommitUnknownError):
        return JournalOutcomeUnknown(code, COMMIT_UNKNOWN, cause=found)
    return JournalError(code, text, cause=error if found is None else found)


def closed() -> JournalError:
    """The instance takes nothing any more (JN-230)."""
    return JournalError("journal_closed", CLOSED)


def again(error: JournalError) -> JournalError:
    """An equal error: one exception raised in several places would collect the tracebacks of all of them."""
    fresh = type(error)(error.code, error.text, error.checkpoint_seq, error.cause)
    fresh.__cause__ = error.__cause__
    return fresh

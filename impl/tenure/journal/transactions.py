"""``transact`` and ``whenCommitted`` (JN-310..JN-317)."""

from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

from tenure.database.engine import DatabaseError
from tenure.database.writer import Database
from tenure.journal.failures import storage_failure
from tenure_model.vocabulary.journal_errors import TRANSACTION_FAILED

Result = TypeVar("Result")


class JournalTransaction:
    """A context manager: every call of this thread inside it commits together, or none does if the block raises.

    Nested, it is a savepoint. The block runs once, whatever happens. A failure of the database leaves it as
    ``JournalError("sink_failed")``, other errors as they are.
    """

    __slots__ = ("_transaction",)

    def __init__(self, database: Database) -> None:
        self._transaction = database.transaction()

    def __enter__(self) -> None:
        try:
            self._transaction.__enter__()
        except DatabaseError as error:
            raise storage_failure("sink_failed", TRANSACTION_FAILED, error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._transaction.__exit__(kind, error, traceback)
        except DatabaseError as failure:
            raise storage_failure("sink_failed", TRANSACTION_FAILED, failure) from failure
        if isinstance(error, DatabaseError):
            raise storage_failure("sink_failed", TRANSACTION_FAILED, error) from error


def transact(database: Database, body: Callable[[], Result]) -> Result:
    """Run ``body`` in one transaction, again as a whole while the database is busy; nested, in a savepoint, once."""
    try:
        return database.write(body)
    except DatabaseError as error:
        raise storage_failure("sink_failed", TRANSACTION_FAILED, error) from error


def when_committed(database: Database, update: Callable[[], object]) -> bool:
    """Run ``update`` now where no transaction is open, else after the outermost commit (JN-315)."""
    if database.after_commit(update):
        return True
    if database.held_here:
        return False
    update()
    return True

"""``transact`` and ``whenCommitted`` (JN-310..JN-317)."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TypeVar

from tenure.database.engine import DatabaseError
from tenure.database.writer import Database
from tenure.journal.failures import storage_failure
from tenure.metrics.observer import Observer
from tenure.metrics.operations import TRANSACT
from tenure_model.vocabulary.journal_errors import TRANSACTION_FAILED, JournalUsageError

Result = TypeVar("Result")


class JournalTransaction:
    """A context manager: every call of this thread inside it commits together, or none does if the block raises.

    Nested, it is a savepoint. The block runs once, whatever happens. A failure of the database leaves it as
    ``JournalError("sink_failed")``, other errors as they are.
    """

    __slots__ = ("_observer", "_span", "_transaction")

    def __init__(self, database: Database, observer: Observer) -> None:
        self._transaction = database.transaction()
        self._observer = observer
        self._span: AbstractContextManager[object]

    def __enter__(self) -> None:
        span = self._observer.around(TRANSACT)
        span.__enter__()
        try:
            self._transaction.__enter__()
        except BaseException as error:
            span.__exit__(type(error), error, error.__traceback__)
            if isinstance(error, DatabaseError):
                raise storage_failure("sink_failed", TRANSACTION_FAILED, error) from error
            raise
        self._span = span

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._transaction.__exit__(kind, error, traceback)
        except BaseException as failure:
            self._span.__exit__(type(failure), failure, failure.__traceback__)
            if isinstance(failure, DatabaseError):
                raise storage_failure("sink_failed", TRANSACTION_FAILED, failure) from failure
            raise
        self._span.__exit__(kind, error, traceback)
        if isinstance(error, DatabaseError):
            raise storage_failure("sink_failed", TRANSACTION_FAILED, error) from error


def transact(database: Database, body: Callable[[], Result]) -> Result:
    """Run ``body`` in one transaction, again as a whole while the database is busy; nested, in a savepoint, once."""
    if not callable(body):
        raise JournalUsageError("body must be callable, or left out")
    try:
        return database.write(body)
    except DatabaseError as error:
        raise storage_failure("sink_failed", TRANSACTION_FAILED, error) from error


def when_committed(database: Database, update: Callable[[], object]) -> bool:
    """Run ``update`` now where no transaction is open, else after the outermost commit (JN-315)."""
    if not callable(update):
        raise JournalUsageError("update must be callable")
    if database.after_commit(update):
        return True
    if database.held_here:
        return False
    update()
    return True

"""The transaction that is open on the write connection: its nested scopes, and the work that waits for its commit."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar, TypeVarTuple

from tenure.database.after_commit import note_commit
from tenure.database.engine import Connection, DatabaseError

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


class Withdrawn(Exception):
    """Raised by a body to undo everything it wrote and answer ``outcome`` all the same: a refusal writes nothing."""

    def __init__(self, outcome: object) -> None:
        self.outcome = outcome
        super().__init__(outcome)


class OpenTransaction:
    """Used by whoever has the turn, and empty between transactions.

    ``doom`` is set once the database itself has rolled everything back under a nested scope: what is still written then
    would be outside any transaction, so nothing may be.
    """

    __slots__ = ("callbacks", "connection", "doom")

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.callbacks: list[Callable[[], object]] = []
        self.doom: DatabaseError | None = None

    def commit(self) -> None:
        """Commit, unless there is nothing left to commit."""
        if self.doom is not None:
            raise self.doom
        self.connection.commit()
        note_commit(self.callbacks)

    def undo(self) -> None:
        """Roll everything back, as far as the database has not done so, and forget what waited for the commit."""
        self.callbacks.clear()
        self.doom = None
        self.connection.rollback()

    def take_callbacks(self) -> Sequence[Callable[[], object]]:
        """What waits for the commit, in order; whoever writes next starts without any."""
        callbacks = self.callbacks
        if not callbacks:
            return ()
        self.callbacks = []
        return callbacks

    def open_savepoint(self) -> int:
        """Open a nested scope; answers its mark."""
        if self.doom is not None:
            raise self.doom
        self.connection.savepoint()
        return len(self.callbacks)

    def release_savepoint(self) -> None:
        """Keep what the innermost scope wrote."""
        if self.doom is None and not self.connection.in_transaction:
            self.doom = _rolled_back()
        if self.doom is not None:
            raise self.doom
        self.connection.release()

    def undo_savepoint(self, mark: int) -> None:
        """Undo the innermost scope, and forget what waited for the commit since ``mark``."""
        del self.callbacks[mark:]
        if self.connection.in_transaction:
            try:
                self.connection.rollback_to_savepoint()
            except DatabaseError as error:
                # What the scope wrote is still there, and must not be committed.
                self.doom = error
                raise
        elif self.doom is None:
            self.doom = _rolled_back()

    def run_nested(self, body: Callable[[*Arguments], Result], arguments: tuple[*Arguments]) -> Result:
        """Run a body in a nested scope, which is undone if it raises."""
        mark = self.open_savepoint()
        try:
            result = body(*arguments)
            self.release_savepoint()
            return result
        except Withdrawn as withdrawn:
            self.undo_savepoint(mark)
            return withdrawn.outcome  # type: ignore[return-value]  # a body withdraws with its own kind of answer
        except BaseException:
            # Where it cannot be undone, the transaction is doomed, and what went wrong first is still what to say.
            with suppress(DatabaseError):
                self.undo_savepoint(mark)
            raise


def _rolled_back() -> DatabaseError:
    return DatabaseError("io", "the database rolled the whole transaction back")

"""One write transaction at a time, nested scopes, retries, reads beside it, and work that waits for the commit.

The write transaction belongs to the thread that opened it, and within that thread to the context that opened it: a call
from another thread waits for it to end and never becomes a part of it.
"""

import threading
from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import TypeVar, TypeVarTuple

from tenure.database.engine import (
    Bindings,
    ClosedError,
    Connection,
    DatabaseError,
    Engine,
    SqlRow,
    Statements,
    UsageError,
)
from tenure.database.retry import RetryPolicy, is_transient

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

_NOBODY = 0


class _Scope:
    """Marks, in the context that opened it, one outermost explicit transaction.

    It knows neither transaction nor database: whoever drops a database without closing it must be rid of it at once,
    and of its locks, whatever contexts live on.
    """

    __slots__ = ()


_open_scopes: ContextVar[tuple[_Scope, ...]] = ContextVar("tenure_open_scopes", default=())


class Withdrawn(Exception):
    """Raised by a body to undo everything it wrote and answer ``outcome`` all the same: a refusal writes nothing."""

    def __init__(self, outcome: object) -> None:
        self.outcome = outcome
        super().__init__(outcome)


class AfterCommitError(ExceptionGroup[Exception]):
    """The data is committed; work that waited for the commit failed (JN-147)."""


class Transaction:
    """One managed scope: the outermost is a transaction, an inner one a savepoint."""

    __slots__ = ("_database", "_mark", "_outer")

    def __init__(self, database: "Database") -> None:
        self._database = database
        self._mark: int | None = None
        self._outer: tuple[_Scope, ...] = ()

    def __enter__(self) -> None:
        scope = _Scope()
        self._mark = self._database._enter(scope)
        self._outer = _open_scopes.get()
        if self._mark is None:
            _open_scopes.set((*self._outer, scope))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._mark is None:
            _open_scopes.set(self._outer)
        self._database._exit(self._mark, error)


class Database:
    """The writer of one database: every store over it shares this object.

    ``rows`` runs a statement inside the transaction that the caller has open, and is only for that. Errors are
    ``DatabaseError``; ``CommitUnknownError`` means that the data may or may not be there.
    """

    __slots__ = (
        "_callbacks",
        "_connection",
        "_doom",
        "_engine",
        "_idle_readers",
        "_lock",
        "_owner",
        "_random",
        "_retry",
        "_scope",
        "_sleep",
        "rows",
    )

    def __init__(
        self,
        engine: Engine,
        *,
        sleep: Callable[[float], object],
        random: Callable[[], float],
        retry: RetryPolicy,
    ) -> None:
        self._engine = engine
        self._sleep = sleep
        self._random = random
        self._retry = retry
        self._lock = threading.Lock()
        # The thread that holds the lock, and the mark of the explicit transaction it has open, if it is one.
        self._owner = _NOBODY
        self._scope: _Scope | None = None
        self._callbacks: list[Callable[[], object]] = []
        # Set once the database itself has rolled back under a nested scope: nothing more may be written in it.
        self._doom: DatabaseError | None = None
        self._connection: Connection = self._repeat(engine.connect)
        self.rows: Statements = self._connection.rows
        self._idle_readers: list[Connection] | None = [] if engine.concurrent_reads else None

    def write(self, body: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """Run ``body(*arguments)`` in one transaction and answer what it answered.

        Outermost, the whole body runs again with the same arguments while the database is busy, after the delays of the
        retry policy (RS-391). Inside a transaction of the same thread it is a savepoint and never repeats (RS-390).
        """
        if self._owner == threading.get_ident():
            return self._write_nested(body, arguments)
        with self._lock:
            self._owner = threading.get_ident()
            try:
                attempts_made = 0
                while True:
                    try:
                        result = self._attempt(body, arguments)
                        break
                    except Exception as error:
                        attempts_made += 1
                        delay = self._delay_after(error, attempts_made)
                        if delay is None:
                            raise
                    self._sleep(delay)
                callbacks = self._take_callbacks()
            finally:
                self._owner = _NOBODY
        if callbacks:
            _run_all(callbacks)
        return result

    def transaction(self) -> Transaction:
        """A context manager around several writes and reads of this thread: all of them commit, or none.

        Nested, it is a savepoint. BEGIN is repeated while the database is busy; the block itself runs once.
        """
        return Transaction(self)

    @property
    def held_here(self) -> bool:
        """Whether the calling thread has a transaction open, in this context or another: what waits for it, hangs."""
        return self._owner == threading.get_ident()

    def after_commit(self, callback: Callable[[], object]) -> bool:
        """Run ``callback`` once the outermost transaction has committed; not at all if its scope rolls back (JN-146).

        False, and nothing registered, where the caller has no transaction open (JN-145).
        """
        if self._owner != threading.get_ident() or not self._in_scope():
            return False
        self._callbacks.append(callback)
        return True

    def read(self, sql: str, bindings: Bindings = ()) -> list[SqlRow]:
        """Run one SELECT: inside the caller's own transaction if there is one, else on committed data.

        On a file it never waits for a writer. A memory database has one connection, so there it does.
        """
        if self._owner == threading.get_ident():
            if self._in_scope():
                if self._doom is not None:
                    raise self._doom
                return self.rows(sql, bindings)
            if self._idle_readers is None:
                raise UsageError("another task of this thread has a transaction open")
        idle = self._idle_readers
        if idle is None:
            with self._lock:
                return self.rows(sql, bindings)
        try:
            connection = idle.pop()
        except IndexError:
            connection = self._engine.connect(read_only=True)
        try:
            return connection.rows(sql, bindings)
        finally:
            idle.append(connection)
            if self._idle_readers is None:
                _close_all(idle)

    def close(self) -> None:
        """Close every connection, after the transaction of another thread has ended. Closing twice does nothing."""
        if self._owner == threading.get_ident():
            raise UsageError("a store cannot be closed inside its own transaction")
        with self._lock:
            idle, self._idle_readers = self._idle_readers, None
            if idle is not None:
                _close_all(idle)
            # Last, so that closing it checkpoints the WAL.
            self._connection.close()
            self._connection = _CLOSED
            self.rows = _CLOSED.rows

    def _attempt(self, body: Callable[[*Arguments], Result], arguments: tuple[*Arguments]) -> Result:
        connection = self._connection
        try:
            connection.begin()
            result = body(*arguments)
            if self._doom is not None:
                raise self._doom
            connection.commit()
            return result
        except Withdrawn as withdrawn:
            self._undo()
            return withdrawn.outcome  # type: ignore[return-value]  # a body withdraws with its own kind of answer
        except BaseException:
            self._undo()
            raise

    def _write_nested(self, body: Callable[[*Arguments], Result], arguments: tuple[*Arguments]) -> Result:
        if not self._in_scope():
            raise UsageError("another task of this thread has a transaction open")
        mark = self._open_savepoint()
        try:
            result = body(*arguments)
            self._release_savepoint()
            return result
        except Withdrawn as withdrawn:
            self._undo_savepoint(mark)
            return withdrawn.outcome  # type: ignore[return-value]  # a body withdraws with its own kind of answer
        except BaseException:
            self._undo_savepoint(mark)
            raise

    def _enter(self, scope: _Scope) -> int | None:
        """Open a scope; answers the savepoint's mark, or ``None`` for the outermost."""
        if self._owner == threading.get_ident():
            if not self._in_scope():
                raise UsageError("another task of this thread has a transaction open")
            return self._open_savepoint()
        self._lock.acquire()
        try:
            self._owner = threading.get_ident()
            self._repeat(self._connection.begin)
            self._scope = scope
        except BaseException:
            self._leave()
            raise
        return None

    def _exit(self, mark: int | None, error: BaseException | None) -> None:
        if mark is not None:
            if error is not None:
                self._undo_savepoint(mark)
                return
            try:
                self._release_savepoint()
            except BaseException:
                self._undo_savepoint(mark)
                raise
            return
        callbacks: list[Callable[[], object]] = []
        try:
            if error is not None:
                self._undo()
            else:
                try:
                    if self._doom is not None:
                        raise self._doom
                    self._connection.commit()
                except BaseException:
                    self._undo()
                    raise
                callbacks = self._take_callbacks()
        finally:
            self._leave()
        _run_all(callbacks)

    def _leave(self) -> None:
        self._scope = None
        self._owner = _NOBODY
        self._lock.release()

    def _in_scope(self) -> bool:
        """Whether this context, and not merely this thread, opened the transaction."""
        return self._scope is None or self._scope in _open_scopes.get()

    def _open_savepoint(self) -> int:
        if self._doom is not None:
            raise self._doom
        self._connection.savepoint()
        return len(self._callbacks)

    def _release_savepoint(self) -> None:
        if self._doom is not None:
            raise self._doom
        self._connection.release()

    def _undo_savepoint(self, mark: int) -> None:
        del self._callbacks[mark:]
        if self._connection.in_transaction:
            self._connection.rollback_to_savepoint()
        elif self._doom is None:
            self._doom = DatabaseError("io", "the database rolled the whole transaction back")

    def _undo(self) -> None:
        self._callbacks.clear()
        self._doom = None
        self._connection.rollback()

    def _take_callbacks(self) -> list[Callable[[], object]]:
        callbacks = self._callbacks
        if callbacks:
            self._callbacks = []
        return callbacks

    def _repeat(self, step: Callable[[], Result]) -> Result:
        """Run ``step`` until it succeeds, fails otherwise than busy, or the policy ends."""
        attempts_made = 0
        while True:
            try:
                return step()
            except Exception as error:
                attempts_made += 1
                delay = self._delay_after(error, attempts_made)
                if delay is None:
                    raise
            self._sleep(delay)

    def _delay_after(self, error: Exception, attempts_made: int) -> float | None:
        """Seconds to wait before the next attempt; ``None`` where there is to be none."""
        if not is_transient(error) or not self._retry.allows(attempts_made):
            return None
        return self._retry.delay_ms(attempts_made, self._random) / 1_000


class _ClosedConnection:
    """Stands in for the connection of a closed database: every use says so."""

    in_transaction = False

    def rows(self, sql: str, bindings: Bindings = (), /) -> list[SqlRow]:
        raise ClosedError

    def begin(self) -> None:
        raise ClosedError

    def commit(self) -> None:
        raise ClosedError

    def rollback(self) -> None:
        pass

    def savepoint(self) -> None:
        raise ClosedError

    def release(self) -> None:
        raise ClosedError

    def rollback_to_savepoint(self) -> None:
        raise ClosedError

    def close(self) -> None:
        pass


_CLOSED = _ClosedConnection()


def _run_all(callbacks: list[Callable[[], object]]) -> None:
    """Run all of them in order, whatever some of them raise; then raise (JN-147)."""
    failures: list[Exception] = []
    interruption: BaseException | None = None
    for callback in callbacks:
        try:
            callback()
        except Exception as error:  # noqa: BLE001  # raised below, once the others have run
            failures.append(error)
        except BaseException as error:  # noqa: BLE001  # raised below, once the others have run
            interruption = error
    if interruption is not None:
        raise interruption
    if failures:
        raise AfterCommitError("the write is committed; work that waited for it failed", failures)


def _close_all(connections: list[Connection]) -> None:
    while True:
        try:
            connection = connections.pop()
        except IndexError:
            return
        connection.close()

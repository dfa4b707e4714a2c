"""One write transaction at a time, nested scopes, retries, reads beside it, and work that waits for the commit.

An explicit transaction belongs to the thread that opened it, and within that thread to the context that opened it, not
to copies: a call from another thread waits for it to end and never becomes a part of it; another task's is refused.
Single writes of several threads, on a file, share a transaction where they meet: each runs in its own thread and in a
savepoint, in turn; one of them commits for all, and each returns once that has happened. To each it looks as if it had
committed by itself.
"""

import sys
from collections.abc import Callable, Sequence
from copy import copy
from threading import get_ident
from typing import TypeVar, TypeVarTuple

from tenure.database.after_commit import AfterCommitError as AfterCommitError
from tenure.database.after_commit import note_commit, run_all
from tenure.database.closed import CLOSED
from tenure.database.engine import (
    Bindings,
    CommitUnknownError,
    Connection,
    DatabaseError,
    Engine,
    SqlRow,
    Statements,
    UsageError,
)
from tenure.database.open_transaction import OpenTransaction
from tenure.database.open_transaction import Withdrawn as Withdrawn
from tenure.database.retry import RetryPolicy, is_transient
from tenure.database.scopes import Scope
from tenure.database.scopes import Transaction as Transaction
from tenure.database.turns import NOBODY, Group, Member, Turns

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

_MOST_MEMBERS = 64
"""How many writes share a transaction at most: the first of them must not wait for ever."""


def _nobody_asks() -> None:
    """Who counts repetitions where nobody does."""


class Database:
    """The writer of one database: every store over it shares this object.

    ``rows`` runs a statement inside the transaction that the caller has open, and is only for that. Errors are
    ``DatabaseError``; ``CommitUnknownError`` means that the data may or may not be there.
    """

    __slots__ = (
        "_connection",
        "_engine",
        "_idle_readers",
        "_open",
        "_owner",
        "_random",
        "_retried",
        "_retry",
        "_scope",
        "_shares",
        "_sleep",
        "_turns",
        "rows",
    )

    def __init__(
        self,
        engine: Engine,
        *,
        sleep: Callable[[float], object],
        random: Callable[[], float],
        retry: RetryPolicy,
        retried: Callable[[], object] = _nobody_asks,
    ) -> None:
        self._engine = engine
        self._sleep = sleep
        self._random = random
        self._retry = retry
        self._retried = retried
        self._turns = Turns()
        # What several writes save by sharing a transaction is the wait for the disk.
        self._shares = engine.concurrent_reads
        # The thread whose turn it is, and the context of the explicit transaction it has open, if it is one.
        self._owner = NOBODY
        self._scope: Scope | None = None
        self._connection: Connection = self._repeat(engine.connect)
        self._open = OpenTransaction(self._connection)
        self.rows: Statements = self._connection.rows
        self._idle_readers: list[Connection] | None = [] if engine.concurrent_reads else None

    def write(self, body: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """Run ``body(*arguments)`` in one transaction and answer what it answered.

        Outermost, the whole body runs again with the same arguments while the database is busy, after the delays of the
        retry policy (RS-391), and where another write that shared its transaction undid it. Inside a transaction of the
        same thread it is a savepoint and never repeats (RS-390).
        """
        if self._owner == get_ident():
            if not self._in_scope():
                raise UsageError("another task of this thread has a transaction open")
            return self._open.run_nested(body, arguments)
        try:
            group = self._turns.enter(self, self._shares)
            if group is None:
                return self._lead(body, arguments, 0)
            return self._join(group, body, arguments)
        except BaseException:
            self._turns.end_if_cut_short(self)
            raise

    def transaction(self) -> Transaction:
        """A context manager around several writes and reads of this thread: all of them commit, or none.

        Nested, it is a savepoint. BEGIN is repeated while the database is busy; the block itself runs once.
        """
        return Transaction(self)

    @property
    def held_here(self) -> bool:
        """Whether the calling thread has a transaction open, in this context or another: what waits for it, hangs."""
        return self._owner == get_ident()

    def after_commit(self, callback: Callable[[], object]) -> bool:
        """Run ``callback`` once the outermost transaction has committed; not at all if its scope rolls back (JN-146).

        One that is ``InOrder`` is told of the commit before there is another.

        False, and nothing registered, where the caller has no transaction open (JN-145).
        """
        if self._owner != get_ident() or not self._in_scope():
            return False
        self._open.callbacks.append(callback)
        return True

    def read(self, sql: str, bindings: Bindings = ()) -> list[SqlRow]:
        """Run one SELECT: inside the caller's own transaction if there is one, else on committed data.

        On a file it never waits for a writer. A memory database has one connection, so there it does.
        """
        if self._owner == get_ident():
            if self._in_scope():
                if self._open.doom is not None:
                    raise self._open.doom
                return self.rows(sql, bindings)
            if self._idle_readers is None:
                raise UsageError("another task of this thread has a transaction open")
        return self.read_committed(sql, bindings)

    def read_committed(self, sql: str, bindings: Bindings = ()) -> list[SqlRow]:
        """Run one SELECT on committed data, also where the caller has a transaction open itself.

        ``UsageError`` there for a memory database, whose one connection sees the transaction and nothing else.
        """
        idle = self._idle_readers
        if idle is None:
            if self._owner == get_ident():
                raise UsageError("inside its transaction a memory database cannot be read from outside it")
            self._turns.enter(self)
            try:
                return self.rows(sql, bindings)
            finally:
                self._turns.leave()
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
        if self._owner == get_ident():
            raise UsageError("a store cannot be closed inside its own transaction")
        self._turns.enter(self)
        try:
            idle, self._idle_readers = self._idle_readers, None
            if idle is not None:
                _close_all(idle)
            # Last, so that closing it checkpoints the WAL.
            self._connection.close()
            self._connection = self._open.connection = CLOSED
            self.rows = CLOSED.rows
        finally:
            self._turns.leave()

    def _lead(self, body: Callable[[*Arguments], Result], arguments: tuple[*Arguments], attempts_made: int) -> Result:
        """With the turn, and no transaction open: open one, until the body has run in it and it is committed.

        Whoever waits for a turn of its own by then is let into the transaction instead.
        """
        self._owner = get_ident()
        group = member = None
        is_over = False
        result: Result
        try:
            while True:
                try:
                    self._begin()
                    result = body(*arguments)
                    if self._turns.waiting and self._shares and not self._is_lost:
                        member = Member(self._open.take_callbacks())
                        group = Group()
                        break
                    self._open.commit()
                    break
                except Withdrawn as withdrawn:
                    self._open.undo()
                    result = withdrawn.outcome  # type: ignore[assignment]  # a body withdraws with its own kind of answer
                    break
                except BaseException as error:
                    self._open.undo()
                    attempts_made += 1
                    delay = self._delay_after(error, attempts_made)
                    if delay is None:
                        raise
                self._pause(delay)
            callbacks = self._open.take_callbacks()
        finally:
            self._owner = NOBODY
            if group is None or member is None:
                self._turns.leave()
            else:
                is_over = self.go_on(group, member)
        if group is not None and member is not None:
            if not is_over:
                member.ended.acquire()
            if not group.is_committed:
                return self._repeat_alone(group.failure, body, arguments)
            callbacks = member.callbacks
        if callbacks:
            run_all(callbacks)
        return result

    def _join(self, group: Group, body: Callable[[*Arguments], Result], arguments: tuple[*Arguments]) -> Result:
        """With the turn, and the transaction of a group open: run the body in a savepoint of it.

        Whatever the body answered or raised rests on what the members before it wrote: it holds if they are committed.
        """
        member = Member()
        failure: BaseException | None = None
        broke_it = False
        try:
            self._owner = get_ident()
            result = self._open.run_nested(body, arguments)
        except BaseException as error:  # noqa: BLE001  # raised below, once the others have gone on
            failure = error
        finally:
            broke_it = self._is_lost
            member.callbacks = self._open.take_callbacks()
            self._owner = NOBODY
            is_over = self.go_on(group, member)
        if not isinstance(failure, Exception | None):
            raise failure
        if not is_over:
            member.ended.acquire()
        if failure is not None and (group.is_committed or broke_it):
            if self._delay_after(failure, 1) is None:
                raise failure
            return self._repeat_alone(failure, body, arguments)
        if not group.is_committed:
            return self._repeat_alone(group.failure, body, arguments)
        if member.callbacks:
            run_all(member.callbacks)
        return result  # pyright: ignore[reportPossiblyUnboundVariable, reportReturnType]  # a body that raised left above

    def _repeat_alone(
        self,
        failure: Exception | None,
        body: Callable[[*Arguments], Result],
        arguments: tuple[*Arguments],
    ) -> Result:
        """After a transaction that was shared and undone: run the body again in one of its own, or raise ``failure``.

        There is no failure where another member's body made the database undo everything.
        """
        attempts_made = 0
        if failure is not None:
            attempts_made = 1
            delay = self._delay_after(failure, attempts_made)
            if delay is None:
                # Each gets an error of its own: one raised in many threads would collect the tracebacks of all.
                raise copy(failure) from None
            self._pause(delay)
        self._turns.enter(self)
        return self._lead(body, arguments, attempts_made)

    def go_on(self, group: Group, member: Member | None = None) -> bool:
        """With the turn: let the next one into a group, or commit for all of it. Answers whether the group is over.

        ``member`` is who has just run; none where it was interrupted before it could.
        """
        if member is not None:
            group.members.append(member)
        is_lost = self._is_lost
        handled = sys.exception()
        if not is_lost and len(group.members) < _MOST_MEMBERS and self._turns.pass_on(group):
            return False
        try:
            if not is_lost:
                self._open.commit()
                group.is_committed = True
                for each in group.members:
                    note_commit(each.callbacks)
        except DatabaseError as error:
            group.failure = error
        except BaseException as error:
            if not self._connection.in_transaction:
                # An interruption is noticed after COMMIT has returned, unless COMMIT had failed already: then that is
                # its context, and not what was being handled before.
                group.is_committed = error.__context__ is handled
                group.failure = CommitUnknownError("unknown", "COMMIT was interrupted; its outcome is unknown")
            raise
        finally:
            try:
                if not group.is_committed:
                    self._open.undo()
            finally:
                group.end()
                self._turns.leave()
        return True

    def clear_up(self) -> None:
        """With the turn: undo whatever a turn that was cut short has left behind. Part of waiting for turns."""
        self._owner = NOBODY
        self._scope = None
        self._open.undo()

    def enter(self) -> int | None:
        """For ``Transaction``: open a scope; answers the savepoint's mark, or ``None`` for the outermost."""
        if self._owner == get_ident():
            if not self._in_scope():
                raise UsageError("another task of this thread has a transaction open")
            return self._open.open_savepoint()
        self._turns.enter(self)
        try:
            self._owner = get_ident()
            self._repeat(self._begin)
            self._scope = Scope()
        except BaseException:
            self._leave()
            raise
        return None

    def exit(self, mark: int | None, error: BaseException | None) -> None:
        """For ``Transaction``: end the scope with this mark, and undo it if there was an error."""
        if mark is not None:
            if error is not None:
                self._open.undo_savepoint(mark)
                return
            try:
                self._open.release_savepoint()
            except BaseException:
                self._open.undo_savepoint(mark)
                raise
            return
        callbacks: Sequence[Callable[[], object]] = ()
        try:
            if error is not None:
                self._open.undo()
            else:
                try:
                    self._open.commit()
                except BaseException:
                    self._open.undo()
                    raise
                callbacks = self._open.take_callbacks()
        finally:
            self._leave()
        run_all(callbacks)

    def _begin(self) -> None:
        try:
            self._connection.begin()
        except DatabaseError:
            if not self._connection.in_transaction:
                raise
            # An interruption kept the last one from being undone.
            self._open.undo()
            self._connection.begin()

    def _leave(self) -> None:
        self._scope = None
        self._owner = NOBODY
        self._turns.leave()

    @property
    def _is_lost(self) -> bool:
        """Whether the database has rolled the open transaction back by itself."""
        return self._open.doom is not None or not self._connection.in_transaction

    def _in_scope(self) -> bool:
        """Whether this context, and not merely this thread, opened the transaction."""
        return self._scope is None or self._scope.is_here()

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
            self._pause(delay)

    def _delay_after(self, error: BaseException, attempts_made: int) -> float | None:
        """Seconds to wait before the next attempt; ``None`` where there is to be none."""
        if not isinstance(error, Exception) or not is_transient(error) or not self._retry.allows(attempts_made):
            return None
        return self._retry.delay_ms(attempts_made, self._random) / 1_000

    def _pause(self, seconds: float) -> None:
        """Wait before a repetition that is decided on, and tell whoever counts them (JN-143)."""
        self._retried()
        self._sleep(seconds)


def _close_all(connections: list[Connection]) -> None:
    while True:
        try:
            connection = connections.pop()
        except IndexError:
            return
        connection.close()

"""Who may use the write connection: one thread at a time, in the order of arrival, and who shares a transaction.

A turn that ends is handed to whoever waits longest, so nobody starves. A turn can also be handed on with a transaction
open in it: that is how writes of several threads share one COMMIT.

An interruption, such as that of Ctrl-C, can cut a turn short between any two steps. So whose turn it is changes in one
step, and what such a turn left behind is cleared up: at once, or when the same thread next asks for a turn.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Protocol

import attrs

from tenure.database.engine import DatabaseError

NOBODY = 0


def _locked() -> threading.Lock:
    """A lock that somebody else will release: acquiring it waits for that."""
    lock = threading.Lock()
    lock.acquire()
    return lock


@attrs.define(eq=False)
class Member:
    """One write of a group: the work that waits for its commit, and how its thread learns that there was one."""

    callbacks: Sequence[Callable[[], object]] = ()
    ended: threading.Lock = attrs.Factory(_locked)


@attrs.define(eq=False)
class Group:
    """Writes that share a transaction. ``failure`` says why it was not committed, unless one of them broke it."""

    members: list[Member] = attrs.Factory(list)
    is_committed: bool = False
    failure: DatabaseError | None = None

    def end(self) -> None:
        """Tell every member that it is known what became of the transaction."""
        for member in self.members:
            if member.ended.locked():
                member.ended.release()


class Host(Protocol):
    """Whose turns these are."""

    def go_on(self, group: Group) -> object:
        """With the turn: let the next one into the group, or end it, though its last member was interrupted."""
        ...

    def clear_up(self) -> None:
        """With the turn: undo whatever a turn that was cut short has left behind."""
        ...


@attrs.define(eq=False)
class _Waiter:
    joins: bool
    thread: int
    group: Group | None = None
    called: threading.Lock = attrs.Factory(_locked)


class Turns:
    """``waiting`` is true while somebody waits."""

    __slots__ = ("_group", "_mutex", "holder", "waiting")

    def __init__(self) -> None:
        # Held for moments. What changes hands under it does so without a call, where no interruption can come between.
        self._mutex = threading.Lock()
        self.holder = NOBODY
        self._group: Group | None = None
        self.waiting: deque[_Waiter] = deque()

    def enter(self, host: Host, joins: bool = False) -> Group | None:
        """Wait for one's turn. With ``joins``, the answer may be a group, whose transaction is open then."""
        thread = get_ident()
        with self._mutex:
            if self.holder == NOBODY:
                self.holder = thread
                return None
            if self.holder != thread:
                waiter = _Waiter(joins, thread)
                self.waiting.append(waiter)
            else:
                waiter = None
        if waiter is None:
            self._clear_up(host)
            return None
        try:
            while not self._is_called(waiter):
                pass
        except BaseException:
            self._give_up(waiter, host)
            raise
        return waiter.group

    def leave(self) -> None:
        """End one's turn: who waits longest is next."""
        with self._mutex:
            self._group = None
            if not self.waiting:
                self.holder = NOBODY
                return
            waiter = self.waiting[0]
            # It may have been called into a group by a turn that was then cut short.
            waiter.group = None
            self._call(waiter)
            self.holder = waiter.thread
            del self.waiting[0]

    def end_if_cut_short(self, host: Host) -> None:
        """End the turn of this thread, if it still has it: an interruption kept it from being ended."""
        if self.holder == get_ident():
            self._clear_up(host)
            self.leave()

    def pass_on(self, group: Group) -> bool:
        """Hand the turn on within a group. False where who waits longest is nobody or does not join."""
        with self._mutex:
            if not self.waiting or not self.waiting[0].joins:
                return False
            waiter = self.waiting[0]
            waiter.group = self._group = group
            self._call(waiter)
            self.holder = waiter.thread
            del self.waiting[0]
        return True

    def _call(self, waiter: _Waiter) -> None:
        """Wake it. If an interruption comes here, the turn has not changed hands, and who was woken finds so."""
        if waiter.called.locked():
            waiter.called.release()

    def _is_called(self, waiter: _Waiter) -> bool:
        waiter.called.acquire()
        with self._mutex:
            return self.holder == waiter.thread

    def _give_up(self, waiter: _Waiter, host: Host) -> None:
        """Wait no longer; if the turn has come meanwhile, hand it on."""
        with self._mutex:
            if waiter in self.waiting:
                self.waiting.remove(waiter)
                return
        if waiter.group is None:
            self.leave()
        else:
            host.go_on(waiter.group)

    def _clear_up(self, host: Host) -> None:
        """Take over from a turn of the same thread that was cut short; a group that depends on it is undone."""
        host.clear_up()
        with self._mutex:
            group, self._group = self._group, None
        if group is not None:
            group.end()

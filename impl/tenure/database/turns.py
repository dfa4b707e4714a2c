"""Who may use the write connection: one thread at a time, in the order of arrival, and who shares a transaction.

A turn that ends is handed to whoever waits longest, so nobody starves. A turn can also be handed on with a transaction
open in it: that is how writes of several threads share one COMMIT.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

import attrs

from tenure.database.engine import DatabaseError


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


class Host(Protocol):
    """Who opens transactions that others may join."""

    def go_on(self, group: Group) -> object:
        """Let the next one into the group, or end it: the one whose turn it was has left."""
        ...


@attrs.define(eq=False)
class _Waiter:
    host: Host | None
    group: Group | None = None
    called: threading.Lock = attrs.Factory(_locked)


class Turns:
    """``waiting`` is true while somebody waits."""

    __slots__ = ("_taken", "waiting")

    def __init__(self) -> None:
        self._taken = threading.Lock()
        self.waiting: deque[_Waiter] = deque()

    def enter(self, host: Host | None = None) -> Group | None:
        """Wait for one's turn. With a host, the answer may be a group of that host, whose transaction is open then."""
        if self._taken.acquire(False):
            return None
        waiter = _Waiter(host)
        self.waiting.append(waiter)
        if self._taken.acquire(False):
            # It was given back before it could be seen that somebody waits.
            self.leave()
        try:
            waiter.called.acquire()
        except BaseException:
            self._give_up(waiter)
            raise
        return waiter.group

    def leave(self) -> None:
        """End one's turn: who waits longest is next."""
        waiting = self.waiting
        while True:
            if waiting:
                try:
                    waiter = waiting.popleft()
                except IndexError:
                    # It was interrupted at this very moment.
                    continue
                waiter.called.release()
                return
            self._taken.release()
            if not waiting or not self._taken.acquire(False):
                return

    def pass_on(self, group: Group) -> bool:
        """Hand the turn on within a group. False where who waits longest is nobody or does not join."""
        try:
            waiter = self.waiting.popleft()
        except IndexError:
            return False
        if waiter.host is None:
            self.waiting.appendleft(waiter)
            return False
        waiter.group = group
        waiter.called.release()
        return True

    def _give_up(self, waiter: _Waiter) -> None:
        """Wait no longer; if the turn has come meanwhile, hand it on."""
        try:
            self.waiting.remove(waiter)
        except ValueError:
            waiter.called.acquire()
            if waiter.host is None or waiter.group is None:
                self.leave()
            else:
                waiter.host.go_on(waiter.group)

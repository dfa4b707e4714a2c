"""A supervisor without threads, on a time that passes only when it is told to."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import tenure
from tenure.ownership.beats import BeatCalls
from tenure.ownership.block import SupervisedBlock
from tenure.ownership.supervisor import TIMER_THREAD, WRITER_THREAD, Supervisor

START_MS = 1_000_000
A = tenure.OwnerId("h1", 1, "a")
B = tenure.OwnerId("h2", 2, "b")


class Stage:
    """Time, clock and threads. ``timer_ms`` passes evenly; the clock is ``ahead_ms`` ahead of it, or behind.

    ``started`` has the names of all threads asked for; hooks and logs run at once unless ``holding``, then they wait in
    ``held``. ``writing`` and ``firing`` say whether the two threads get to run.
    """

    supervisor: Supervisor

    def __init__(self) -> None:
        self._timer: float = 0
        self.ahead_ms: float = START_MS
        self.started: list[str] = []
        self.holding = False
        self.held: deque[Callable[[], None]] = deque()
        self.writing = self.firing = True
        self.timing = tenure.Timing(timer=lambda: self._timer, start=self.start)

    @property
    def timer_ms(self) -> float:
        """The timer's seconds in ms, their rounding undone."""
        return round(self._timer * 1_000, 3)

    def clock(self) -> float:
        """The wall clock in ms."""
        return self.timer_ms + self.ahead_ms

    def start(self, name: str, target: Callable[[], None]) -> None:
        """Run it, keep it, or, for the two loops, leave it to ``settle``."""
        self.started.append(name)
        if name not in (TIMER_THREAD, WRITER_THREAD):
            self.held.append(target)

    def settle(self) -> None:
        """Let every thread do what it has to do now."""
        while True:
            if self.firing:
                self.supervisor.fire_due()
            while self.writing and self.supervisor.write_due():
                pass
            if self.holding or not self.held:
                return
            self.held.popleft()()

    def advance(self, ms: float) -> None:
        """Let time pass, stopping wherever something is due."""
        end = (self.timer_ms + ms) / 1_000
        while self.firing:
            due = self.supervisor.next_due()
            if due is None or round(due, 6) > round(end, 6):
                break
            self._timer = max(self._timer, due)
            self.settle()
        # A writer that waited may have got further already.
        self._timer = max(self._timer, end)
        self.settle()


class Scripted(Stage):
    """A stage whose store does what the script says.

    ``beats`` and ``reconfirmations`` hold the calls made, as (run, ms from the start); ``on_beat`` and ``on_reconfirm``
    say what comes of them. ``transactions`` counts them; ``before_write`` is called first in each.
    """

    def __init__(self) -> None:
        super().__init__()
        self.beats: list[tuple[str, int]] = []
        self.reconfirmations: list[tuple[str, int]] = []
        self.on_beat: Callable[[str], Any] = lambda run_id: tenure.Updated()
        self.on_reconfirm: Callable[[str], Any] = lambda run_id: tenure.Updated()
        self.before_write: Callable[[], object] = lambda: None
        self.transactions = 0
        calls = BeatCalls(self.write, self.heartbeat, self.reconfirm)
        self.supervisor = Supervisor(calls, self.clock, self.timing)

    def write(self, body: Callable[[], None]) -> None:
        """One transaction."""
        self.transactions += 1
        self.before_write()
        body()

    def heartbeat(self, run_id: str, owner: tenure.OwnerId, now_ms: int) -> tenure.HeartbeatOutcome:
        self.beats.append((run_id, now_ms - START_MS))
        return self.on_beat(run_id)

    def reconfirm(self, run_id: str, owner: tenure.OwnerId, now_ms: int) -> tenure.HeartbeatOutcome:
        self.reconfirmations.append((run_id, now_ms - START_MS))
        return self.on_reconfirm(run_id)

    def supervise(self, run_id: str = "r", **hooks: Any) -> SupervisedBlock:
        """As a store's."""
        return SupervisedBlock(self.supervisor, run_id, A, hooks.get("on_reconfirm"), hooks.get("on_lapse"))


@contextmanager
def ends_with(kind: type[Exception], match: str | None = None) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Everything within runs, and the end of it raises this."""
    with pytest.raises(kind, match=match) as raised:
        yield raised


@contextmanager
def lost(reason: str) -> Iterator[None]:
    """The block within is left by a loss for this reason."""
    with ends_with(tenure.LeaseLost) as raised:
        yield
    assert isinstance(raised.value, tenure.LeaseLost)
    assert raised.value.reason == reason


def fails(code="persistence_failed"):
    """What a store does whose database is away."""

    def call(run_id):
        raise tenure.RunStoreError(code, "heartbeat", "database operation failed")

    return call

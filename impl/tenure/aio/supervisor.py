"""Supervises any number of runs with one task of the loop, which fires every deadline.

The task calls no store: beats that are due together are written together, in a worker thread for all of them, while
the task goes on. A hook runs in a task of its own. Everything here belongs to the loop and is changed in steps without
a wait, so there is no lock.
"""

import heapq
import itertools
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import Final, Literal, TypeAlias, TypeVar

import anyio
import attrs
from anyio.abc import TaskGroup

from tenure.aio.loops import spawn
from tenure.ownership.beats import Beat
from tenure.ownership.lease import Lease, LeaseLost
from tenure.ownership.machine import SupervisionMachine
from tenure.ownership.supervisor import LOG, MOST_BEATS
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.supervision import (
    HEARTBEAT_FAILED_WARNING,
    LEASE_LAPSED_WARNING,
    Action,
    Activity,
    CallHeartbeat,
    CallReconfirm,
    Defect,
    Event,
    Finished,
    HeartbeatEnded,
    HeartbeatResult,
    Interrupt,
    Interruption,
    LapseHookEnded,
    Raise,
    ReceiptEnded,
    ReconfirmEnded,
    RunLapseHook,
    RunReceipt,
    Sleep,
    TimedOut,
    WarnHeartbeatFailed,
    WarnLeaseLapsed,
    Woke,
)

Hook: TypeAlias = Callable[[float], object]
"""Called with the milliseconds that the lease went unconfirmed; what it answers is awaited if it can be."""

WriteBeats: TypeAlias = Callable[[Sequence[Beat]], Awaitable[list[HeartbeatResult | None]]]
"""Writes beats in one transaction and answers what each came to, ``None`` for one that was given up."""

TASK: Final = "tenure-supervision"

_MS = 1_000
_Payload = TypeVar("_Payload")


@attrs.frozen
class Timing:
    """``timer`` answers seconds that never jump, and ``sleep`` lets so many of them pass, unless it is cancelled."""

    timer: Callable[[], float] = anyio.current_time
    sleep: Callable[[float], Awaitable[object]] = anyio.sleep


@attrs.define(eq=False)
class _HookCall:
    """A hook under way; ``open`` until it ended or was given up, which cancels its scope."""

    open: bool = True
    scope: anyio.CancelScope = attrs.Factory(anyio.CancelScope)
    ended: anyio.Event = attrs.Factory(anyio.Event)

    def give_up(self) -> None:
        self.open = False
        self.scope.cancel()


@attrs.define(eq=False)
class SupervisedRun:
    """What the supervisor keeps of one run. ``scope`` is that of the body."""

    lease: Lease
    machine: SupervisionMachine
    on_reconfirm: Hook | None
    on_lapse: Hook | None
    scope: anyio.CancelScope = attrs.Factory(anyio.CancelScope)
    beats: dict[str, Beat] = attrs.Factory(dict)
    hooks: list[_HookCall] = attrs.Factory(list)
    is_lapsing: bool = False
    is_ended: bool = False


class Supervisor:
    """The supervision of one store, for the tasks of one loop.

    ``clock`` is the wall clock in milliseconds that the machines read; waiting is measured by ``timing``, which does
    not jump. The task is there while a run is supervised.
    """

    def __init__(self, write_beats: WriteBeats, clock: Callable[[], float], timing: Timing) -> None:
        self._write_beats = write_beats
        self._clock = clock
        self._timing = timing
        self._runs: set[SupervisedRun] = set()
        self.closed = False
        """Whether ``stop`` was called."""
        # What is to happen when: sleeps by their activity, limits by the call that they limit.
        self._timers: list[tuple[float, int, SupervisedRun, Activity | Beat | _HookCall]] = []
        self._numbers = itertools.count()
        self._heartbeats: deque[tuple[SupervisedRun, Beat]] = deque()
        self._reconfirmations: deque[tuple[SupervisedRun, Beat]] = deque()
        self._task: object | None = None
        self._tasks: TaskGroup
        self._calls: set[_HookCall] = set()
        self._nap = anyio.CancelScope()
        self._is_writing = False

    def begin(self, run_id: str, owner: OwnerId, on_reconfirm: Hook | None, on_lapse: Hook | None) -> SupervisedRun:
        """Supervise the run from now on; the budget starts with this reading of the clock (RS-910)."""
        run = SupervisedRun(Lease(run_id, owner), SupervisionMachine(self._clock()), on_reconfirm, on_lapse)
        self._runs.add(run)
        try:
            for action in run.machine.start():
                self._perform(run, action)
            if self._task is None:
                self._watch_from_now_on()
        except BaseException:
            self._end(run, None)
            raise
        self._nap.cancel()
        return run

    async def leave(self, run: SupervisedRun) -> None:
        """The block is left: its run is not supervised any more, and its hooks are over.

        A lapse whose hook is still running is a loss.
        """
        if not run.is_ended:
            self._end(run, LeaseLost(run.lease.run_id, "lapsed") if run.is_lapsing else None)
        with anyio.CancelScope(shield=True):
            for call in run.hooks:
                await call.ended.wait()

    def stop(self) -> None:
        """The store is being closed: every run is interrupted, and its hook cancelled (RS-913)."""
        self.closed = True
        self._interrupt_all()

    def _interrupt_all(self) -> None:
        for run in list(self._runs):
            self._end(run, LeaseLost(run.lease.run_id, "lapsed" if run.is_lapsing else "interrupted"))

    def next_due(self) -> float | None:
        """When the next sleep or limit ends, in seconds of the timer; ``None`` if there is none."""
        return self._timers[0][0] if self._timers else None

    def _watch_from_now_on(self) -> None:
        def over() -> None:
            # It has seen to this itself, unless it never began.
            if self._task is task:
                self._task = None
                self._interrupt_all()

        self._task = task = spawn(self._watch, over, TASK)

    async def _watch(self) -> None:
        """The task: sleep until something is due or new, fire it, and see to it that it is done."""
        calls: set[_HookCall] = set()
        self._calls = calls
        try:
            async with anyio.create_task_group() as self._tasks:
                try:
                    while self._runs:
                        await self._nap_until_due()
                        self._fire_due()
                        self._start_writing()
                except Exception as failure:  # noqa: BLE001  # nobody is supervised any more, every body must hear of it
                    self._fail(failure)
                finally:
                    self._task = None
                    # Where there are any left, the task was cancelled, with the loop or by whoever cancels all tasks.
                    self._interrupt_all()
        finally:
            # Whatever was cancelled before it could begin is over all the same.
            for call in calls:
                call.ended.set()
            if self._task is None:
                self._is_writing = False

    async def _nap_until_due(self) -> None:
        with anyio.CancelScope() as self._nap:
            due = self.next_due()
            if due is None:
                await anyio.sleep_forever()
            else:
                await self._timing.sleep(max(due - self._timing.timer(), 0))

    def _fail(self, failure: Exception) -> None:
        for run in list(self._runs):
            self._end(run, failure)

    def _fire_due(self) -> None:
        """End every sleep and limit whose time has come."""
        now = self._timing.timer()
        while self._timers and self._timers[0][0] <= now:
            _, _, run, what = heapq.heappop(self._timers)
            if run.is_ended:
                continue
            if isinstance(what, str):
                self._tell(run, Woke, what)
            elif what.open:
                if isinstance(what, Beat):
                    what.open = False
                    self._tell(run, ReconfirmEnded, TimedOut())
                else:
                    what.give_up()
                    self._tell(run, ReceiptEnded, TimedOut())

    def _start_writing(self) -> None:
        if (self._heartbeats or self._reconfirmations) and not self._is_writing:
            self._is_writing = True
            self._tasks.start_soon(self._write)

    async def _write(self) -> None:
        """Write the beats that are due, many in one transaction, until none is."""
        try:
            while beats := self._take_beats():
                results = await self._write_beats([beat for _, beat in beats])
                for (run, beat), result in zip(beats, results, strict=True):
                    if beat.open and result is not None:
                        beat.open = False
                        self._tell(run, HeartbeatEnded if beat.kind == "heartbeat" else ReconfirmEnded, result)
                self._nap.cancel()
        except Exception as failure:  # noqa: BLE001  # nobody beats any more, and every body must hear of it
            self._fail(failure)
        finally:
            self._is_writing = False
            self._nap.cancel()

    def _take_beats(self) -> list[tuple[SupervisedRun, Beat]]:
        beats: list[tuple[SupervisedRun, Beat]] = []
        # Reconfirmations have only a second.
        for queue in (self._reconfirmations, self._heartbeats):
            while queue and len(beats) < MOST_BEATS:
                due = queue.popleft()
                if due[1].open:
                    beats.append(due)
        return beats

    async def _run_hook(
        self,
        run: SupervisedRun,
        call: _HookCall,
        hook: Hook,
        gap_ms: float,
        kind: type[ReceiptEnded | LapseHookEnded],
    ) -> None:
        """In the hook's own task."""
        result: Finished | Defect | Interruption = Finished()
        try:
            with call.scope:
                if not call.open:
                    return
                answer = hook(gap_ms)
                if isawaitable(answer):
                    await answer
        except anyio.get_cancelled_exc_class():
            # Cancelled from within itself, or with the loop (RS-913).
            result = Interruption()
        except Exception as failure:  # noqa: BLE001  # it is the hook's result
            result = Defect(failure)
        except BaseException as failure:  # noqa: BLE001  # Ctrl-C: the body is where it can be seen
            self._end(run, failure)
        finally:
            call.ended.set()
            self._calls.discard(call)
        if call.open:
            call.open = False
            self._tell(run, kind, result)
            self._nap.cancel()

    def _tell(self, run: SupervisedRun, kind: Callable[[_Payload, float], Event], payload: _Payload) -> None:
        """Tell the run's machine, and do what it asks for."""
        try:
            for action in run.machine.on(kind(payload, self._clock())):
                self._perform(run, action)
        except Exception as failure:  # noqa: BLE001  # a broken clock: the body must hear of it
            self._end(run, failure)

    def _perform(self, run: SupervisedRun, action: Action) -> None:
        match action:
            case Sleep(activity, duration_ms):
                self._set_timer(run, duration_ms, activity)
            case CallHeartbeat(now_ms):
                self._heartbeats.append((run, self._new_beat(run, "heartbeat", now_ms)))
            case CallReconfirm(now_ms, limit_ms):
                beat = self._new_beat(run, "reconfirm", now_ms)
                self._reconfirmations.append((run, beat))
                self._set_timer(run, limit_ms, beat)
            case RunReceipt(gap_ms, limit_ms):
                if run.on_reconfirm is None:
                    self._tell(run, ReceiptEnded, Finished())
                else:
                    call = self._call(run, run.on_reconfirm, gap_ms, ReceiptEnded)
                    self._set_timer(run, limit_ms, call)
            case RunLapseHook(gap_ms):
                if run.on_lapse is None:
                    self._tell(run, LapseHookEnded, Finished())
                else:
                    self._call(run, run.on_lapse, gap_ms, LapseHookEnded)
            case WarnLeaseLapsed(gap_ms):
                run.is_lapsing = True
                LOG.warning(LEASE_LAPSED_WARNING, extra={"runId": run.lease.run_id, "unconfirmedMs": gap_ms})
            case WarnHeartbeatFailed(code):
                LOG.warning(HEARTBEAT_FAILED_WARNING, extra={"runId": run.lease.run_id, "code": code})
            case Interrupt(reason):
                self._end(run, LeaseLost(run.lease.run_id, reason))
            case Raise(failure):
                self._end(run, failure if isinstance(failure, BaseException) else RuntimeError(repr(failure)))

    def _set_timer(self, run: SupervisedRun, duration_ms: float, what: Activity | Beat | _HookCall) -> None:
        due = self._timing.timer() + duration_ms / _MS
        heapq.heappush(self._timers, (due, next(self._numbers), run, what))

    def _new_beat(self, run: SupervisedRun, kind: Literal["heartbeat", "reconfirm"], now_ms: int) -> Beat:
        beat = Beat(kind, run.lease.run_id, run.lease.owner, now_ms)
        run.beats[kind] = beat
        return beat

    def _call(
        self, run: SupervisedRun, hook: Hook, gap_ms: float, kind: type[ReceiptEnded | LapseHookEnded]
    ) -> _HookCall:
        call = _HookCall()
        run.hooks = [other for other in run.hooks if not other.ended.is_set()]
        run.hooks.append(call)
        self._calls.add(call)
        self._tasks.start_soon(self._run_hook, run, call, hook, gap_ms, kind)
        return call

    def _end(self, run: SupervisedRun, failure: BaseException | None) -> None:
        """Give up every call that is outstanding, and cancel the body if there is something to tell it."""
        if run.is_ended:
            return
        run.is_ended = True
        for beat in run.beats.values():
            beat.open = False
        for call in run.hooks:
            call.give_up()
        self._runs.discard(run)
        if failure is not None:
            run.lease.end(failure)
            run.scope.cancel()
        if not self._runs:
            self._timers.clear()
            self._nap.cancel()

"""Supervises any number of runs with two threads: one for every deadline, one for every write.

The thread of the deadlines runs no foreign code and never waits for a database, a hook or a log: whatever hangs, it is
there when a budget ends. Beats that are due together are written together, and since the next ones are due the same
time after their common end, they stay together. A hook runs in a thread of its own.
"""

import heapq
import itertools
import logging
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

import attrs

from tenure.ownership.beats import Beat, BeatCalls, perform
from tenure.ownership.lease import Lease, LeaseLost
from tenure.ownership.machine import SupervisionMachine
from tenure.ownership.supervised import Hook, HookCall, SupervisedRun
from tenure.ownership.timing import Timing
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

LOG: Final = logging.getLogger("tenure.ownership")
TIMER_THREAD: Final = "tenure-supervision-timer"
WRITER_THREAD: Final = "tenure-supervision-writer"
HOOK_THREAD: Final = "tenure-supervision-hook"
LOG_THREAD: Final = "tenure-supervision-log"
MOST_BEATS: Final = 128
"""How many beats share a transaction at most, so that they do not keep other writers out for long."""

_MS = 1_000
_Payload = TypeVar("_Payload")


@attrs.frozen
class _DueHook:
    """A hook to be run, and as what its end is reported."""

    run: SupervisedRun
    call: HookCall
    kind: Callable[[Finished | Defect | Interruption, float], Event]
    hook: Hook
    gap_ms: float


@attrs.frozen
class _Chores:
    """What must happen in threads of its own, and not under the lock."""

    hooks: list[_DueHook] = attrs.Factory(list)
    warnings: list[Callable[[], None]] = attrs.Factory(list)


class Supervisor:
    """The supervision of one store. Its methods may be called from any thread.

    ``clock`` is the wall clock in milliseconds that the machines read; waiting is measured by ``timing.timer``, which
    does not jump. The two threads exist while there is a run to supervise. A harness that gives a ``timing`` whose
    ``start`` does not start them calls ``fire_due`` and ``write_due`` itself.
    """

    def __init__(self, calls: BeatCalls, clock: Callable[[], float], timing: Timing) -> None:
        self._calls = calls
        self._clock = clock
        self._timing = timing
        self._lock = threading.Lock()
        self._runs: set[SupervisedRun] = set()
        self._closed = False
        # What is to happen when: sleeps by their activity, limits by the call that they limit.
        self._timers: list[tuple[float, int, SupervisedRun, Activity | Beat | HookCall]] = []
        self._numbers = itertools.count()
        self._timers_changed = threading.Condition(self._lock)
        self._heartbeats: deque[Beat] = deque()
        self._reconfirmations: deque[Beat] = deque()
        self._beat_due = threading.Condition(self._lock)
        self._beating: dict[Beat, SupervisedRun] = {}
        self._threads: set[str] = set()

    @property
    def closed(self) -> bool:
        """Whether ``stop`` was called."""
        return self._closed

    def begin(self, run_id: str, owner: OwnerId, on_reconfirm: Hook | None, on_lapse: Hook | None) -> SupervisedRun:
        """Supervise the run from now on; the budget starts with this reading of the clock (RS-910)."""
        run = SupervisedRun(Lease(run_id, owner), SupervisionMachine(self._clock()), on_reconfirm, on_lapse)
        with self._lock:
            self._runs.add(run)
            try:
                for action in run.machine.start():
                    self._perform(run, action, _Chores())
                self._require_thread(TIMER_THREAD, self._run_timer)
            except BaseException:
                self._end(run, None)
                raise
        return run

    def leave(self, run: SupervisedRun) -> None:
        """The block is left: its run is not supervised any more. A lapse whose hook is still running is a loss."""
        with self._lock:
            if not run.ended:
                self._end(run, LeaseLost(run.lease.run_id, "lapsed") if run.lapsing else None)

    def stop(self) -> None:
        """The store is being closed: every run is interrupted, without its hook (RS-913)."""
        with self._lock:
            self._closed = True
            for run in list(self._runs):
                self._end(run, LeaseLost(run.lease.run_id, "lapsed" if run.lapsing else "interrupted"))

    def next_due(self) -> float | None:
        """When the next sleep or limit ends, in seconds of the timer; ``None`` if there is none."""
        with self._lock:
            return self._timers[0][0] if self._timers else None

    def fire_due(self) -> None:
        """End every sleep and limit whose time has come."""
        chores = _Chores()
        with self._lock:
            now = self._timing.timer()
            while self._timers and self._timers[0][0] <= now:
                _, _, run, what = heapq.heappop(self._timers)
                if run.ended:
                    continue
                if isinstance(what, str):
                    self._tell(run, Woke, what, chores)
                elif what.open:
                    what.open = False
                    if isinstance(what, Beat):
                        self._tell(run, ReconfirmEnded, TimedOut(), chores)
                    else:
                        self._tell(run, ReceiptEnded, TimedOut(), chores)
        self._do(chores)

    def write_due(self) -> bool:
        """Write some of the beats that are due, in one transaction; whether there were any. Never raises."""
        with self._lock:
            beats = self._take_beats()
        if not beats:
            return False
        results = perform(self._calls, beats)
        chores = _Chores()
        with self._lock:
            for beat, result in zip(beats, results, strict=True):
                run = self._beating.pop(beat)
                if not beat.open or result is None:
                    continue
                beat.open = False
                if beat.kind == "heartbeat":
                    self._tell(run, HeartbeatEnded, result, chores)
                else:
                    self._tell(run, ReconfirmEnded, result, chores)
        self._do(chores)
        return True

    def _take_beats(self) -> list[Beat]:
        beats: list[Beat] = []
        # Reconfirmations have only a second.
        for queue in (self._reconfirmations, self._heartbeats):
            while queue and len(beats) < MOST_BEATS:
                beat = queue.popleft()
                if beat.open:
                    beats.append(beat)
                else:
                    del self._beating[beat]
        return beats

    def _tell(
        self,
        run: SupervisedRun,
        kind: Callable[[_Payload, float], Event],
        payload: _Payload,
        chores: _Chores,
    ) -> None:
        """Tell the run's machine, and do at once what needs no waiting; the rest is left as chores."""
        try:
            for action in run.machine.on(kind(payload, self._clock())):
                self._perform(run, action, chores)
        except Exception as failure:  # noqa: BLE001  # a broken clock or no more threads: the body must hear of it
            self._end(run, failure)

    def _perform(self, run: SupervisedRun, action: Action, chores: _Chores) -> None:
        match action:
            case Sleep(activity, duration_ms):
                self._set_timer(run, duration_ms, activity)
            case CallHeartbeat(now_ms):
                self._call(run, Beat("heartbeat", run.lease.run_id, run.lease.owner, now_ms), self._heartbeats)
            case CallReconfirm(now_ms, limit_ms):
                beat = Beat("reconfirm", run.lease.run_id, run.lease.owner, now_ms)
                self._call(run, beat, self._reconfirmations)
                self._set_timer(run, limit_ms, beat)
            case RunReceipt(gap_ms, limit_ms):
                if run.on_reconfirm is None:
                    self._tell(run, ReceiptEnded, Finished(), chores)
                else:
                    call = HookCall()
                    run.opened("receipt", call)
                    self._set_timer(run, limit_ms, call)
                    chores.hooks.append(_DueHook(run, call, ReceiptEnded, run.on_reconfirm, gap_ms))
            case RunLapseHook(gap_ms):
                if run.on_lapse is None:
                    chores.warnings.append(partial(_warn_lapsed, run.lease.run_id, gap_ms))
                    self._tell(run, LapseHookEnded, Finished(), chores)
                else:
                    call = HookCall()
                    run.opened("lapse", call)
                    chores.hooks.append(_DueHook(run, call, LapseHookEnded, run.on_lapse, gap_ms))
            case WarnLeaseLapsed():
                # Logged with the hook, in its thread.
                run.lapsing = True
            case WarnHeartbeatFailed(code):
                chores.warnings.append(partial(_warn_failed, run.lease.run_id, code))
            case Interrupt(reason):
                self._end(run, LeaseLost(run.lease.run_id, reason))
            case Raise(failure):
                self._end(run, failure if isinstance(failure, BaseException) else RuntimeError(repr(failure)))

    def _set_timer(self, run: SupervisedRun, duration_ms: float, what: Activity | Beat | HookCall) -> None:
        due = self._timing.timer() + duration_ms / _MS
        heapq.heappush(self._timers, (due, next(self._numbers), run, what))
        if self._timers[0][0] == due:
            self._timers_changed.notify()

    def _call(self, run: SupervisedRun, beat: Beat, queue: deque[Beat]) -> None:
        run.opened(beat.kind, beat)
        self._beating[beat] = run
        queue.append(beat)
        self._beat_due.notify()
        self._require_thread(WRITER_THREAD, self._run_writer)

    def _end(self, run: SupervisedRun, failure: BaseException | None) -> None:
        run.end()
        self._runs.discard(run)
        if failure is not None:
            run.lease.end(failure)
        if not self._runs:
            self._timers.clear()
            self._timers_changed.notify()
            self._beat_due.notify()

    def _do(self, chores: _Chores) -> None:
        for due in chores.hooks:
            try:
                self._timing.start(HOOK_THREAD, partial(self._run_hook, due))
            except Exception as failure:  # noqa: BLE001  # no more threads: that is how the hook ended
                self._hook_ended(due, Defect(failure))
        if chores.warnings:
            try:
                self._timing.start(LOG_THREAD, partial(_run_all, chores.warnings))
            except Exception:  # noqa: BLE001  # no more threads
                _run_all(chores.warnings)

    def _run_hook(self, due: _DueHook) -> None:
        """In the hook's own thread."""
        if due.kind is LapseHookEnded:
            _warn_lapsed(due.run.lease.run_id, due.gap_ms)
        result: Finished | Defect | Interruption = Finished()
        try:
            due.hook(due.gap_ms)
        except Exception as failure:  # noqa: BLE001  # it is the hook's result
            result = Defect(failure)
        except BaseException:  # noqa: BLE001  # cancelled from within itself (RS-913)
            result = Interruption()
        self._hook_ended(due, result)

    def _hook_ended(self, due: _DueHook, result: Finished | Defect | Interruption) -> None:
        chores = _Chores()
        with self._lock:
            if due.call.open:
                due.call.open = False
                self._tell(due.run, due.kind, result, chores)
        self._do(chores)

    def _require_thread(self, name: str, target: Callable[[], None]) -> None:
        if name not in self._threads:
            self._timing.start(name, target)
            self._threads.add(name)

    def _run_timer(self) -> None:
        try:
            while self._await_timer():
                self.fire_due()
        except BaseException as failure:  # noqa: BLE001  # nobody is supervised any more, and every body must hear of it
            self._fail(TIMER_THREAD, failure)

    def _fail(self, thread: str, failure: BaseException) -> None:
        with self._lock:
            self._threads.discard(thread)
            for run in list(self._runs):
                self._end(run, failure)

    def _await_timer(self) -> bool:
        """Wait until a timer is due; False, and the thread counted off, once there is no run."""
        with self._lock:
            while self._runs:
                rest = self._timers[0][0] - self._timing.timer() if self._timers else None
                if rest is not None and rest <= 0:
                    return True
                self._timing.wait(self._timers_changed, rest)
            self._threads.discard(TIMER_THREAD)
            return False

    def _run_writer(self) -> None:
        try:
            while self._await_beat():
                self.write_due()
        except BaseException as failure:  # noqa: BLE001  # nobody beats any more, and every body must hear of it
            self._fail(WRITER_THREAD, failure)

    def _await_beat(self) -> bool:
        """Wait until a beat is due; False, and the thread counted off, once there is no run."""
        with self._lock:
            while self._runs:
                if self._heartbeats or self._reconfirmations:
                    return True
                self._timing.wait(self._beat_due, None)
            self._heartbeats.clear()
            self._reconfirmations.clear()
            self._beating.clear()
            self._threads.discard(WRITER_THREAD)
            return False


def _run_all(warnings: list[Callable[[], None]]) -> None:
    for warning in warnings:
        warning()


def _warn_failed(run_id: str, code: str) -> None:
    LOG.warning(HEARTBEAT_FAILED_WARNING, extra={"runId": run_id, "code": code})


def _warn_lapsed(run_id: str, gap_ms: float) -> None:
    LOG.warning(LEASE_LAPSED_WARNING, extra={"runId": run_id, "unconfirmedMs": gap_ms})

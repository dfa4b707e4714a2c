"""The supervision of one run as a machine without I/O: told an event, it answers what is to be done (RS-910..RS-918).

Two activities share one mutex. The pulse beats, and waits for each beat as long as it takes. The deadline sees to it
that the work ends 19 s after the last confirmed reading, whatever the beat does, unless a reconfirmation succeeds.
"""

import math
from typing import Literal, TypeAlias

from tenure_model.vocabulary.constants import HEARTBEAT_INTERVAL_MS, HEARTBEAT_WRITE_TOLERANCE_MS
from tenure_model.vocabulary.outcomes import FenceLost, NotFound, Updated
from tenure_model.vocabulary.supervision import (
    Action,
    Activity,
    CallHeartbeat,
    CallReconfirm,
    Cancelled,
    Defect,
    Event,
    Finished,
    HeartbeatEnded,
    HeartbeatResult,
    Interrupt,
    Interruption,
    InterruptReason,
    LapseHookEnded,
    LapseHookResult,
    Raise,
    ReceiptEnded,
    ReceiptResult,
    ReconfirmEnded,
    ReconfirmResult,
    RunLapseHook,
    RunReceipt,
    Sleep,
    StoreFailure,
    WarnHeartbeatFailed,
    WarnLeaseLapsed,
    Woke,
)

_Phase: TypeAlias = Literal["reconfirm", "receipt", "lapse hook"]


class SupervisionMachine:
    """One supervised run. Whoever drives it passes events one at a time, with the clock as it is then."""

    __slots__ = ("_asleep", "_beat", "_ended", "_failing", "_gap", "_holder", "_last", "_phase", "_reading", "_waiting")

    def __init__(self, clock_ms: float) -> None:
        """The budget starts at ``clock_ms``, whatever heartbeat is stored (RS-910)."""
        self._last = clock_ms
        self._failing = False
        self._ended = False
        self._asleep: set[Activity] = set()
        # The reading of the beat that is under way.
        self._beat: int | None = None
        # Who is inside expire(), how far it has got, and who waits to enter.
        self._holder: Activity | None = None
        self._waiting: Activity | None = None
        self._phase: _Phase | None = None
        self._reading = 0
        self._gap: float = 0

    @property
    def last_ms(self) -> float:
        """The start, or the latest reading that the store has confirmed since; never a time of completion (RS-918)."""
        return self._last

    @property
    def ended(self) -> bool:
        """Whether the end has been asked for; from then on every event is ignored."""
        return self._ended

    def start(self) -> tuple[Action, ...]:
        """The first actions, to be asked for once and at once."""
        return (self._sleep("pulse", HEARTBEAT_INTERVAL_MS), *self._watch(self._last))

    def on(self, event: Event) -> tuple[Action, ...]:
        """What ``event`` leads to, in order. Nothing where it answers nothing that is outstanding, or after the end."""
        if self._ended:
            return ()
        match event:
            case Woke(activity, clock_ms) if activity in self._asleep:
                self._asleep.remove(activity)
                return self._pulse(clock_ms) if activity == "pulse" else self._watch(clock_ms)
            case HeartbeatEnded(result) if self._beat is not None:
                return self._beaten(result, self._beat)
            case ReconfirmEnded(result, clock_ms) if self._phase == "reconfirm":
                return self._reconfirmed(result, clock_ms)
            case ReceiptEnded(result, clock_ms) if self._phase == "receipt":
                return self._receipted(result, clock_ms)
            case LapseHookEnded(result) if self._phase == "lapse hook":
                return self._lapsed(result)
            case Cancelled():
                return self._interrupt("interrupted")
        return ()

    def _pulse(self, clock_ms: float) -> tuple[Action, ...]:
        """The pulse is awake: beat, or expire where the budget is spent (RS-911)."""
        now_ms = math.floor(clock_ms)
        if self._rest(now_ms) <= 0:
            return self._expire("pulse", clock_ms)
        self._beat = now_ms
        return (CallHeartbeat(now_ms),)

    def _beaten(self, result: HeartbeatResult, sent_ms: int) -> tuple[Action, ...]:
        """A beat is over, on whatever side of the deadline (RS-911, RS-917)."""
        self._beat = None
        match result:
            case Updated():
                self._confirm(sent_ms)
                return (self._sleep("pulse", HEARTBEAT_INTERVAL_MS),)
            case FenceLost() | NotFound():
                return self._interrupt("fence-lost")
            case StoreFailure(code):
                warning = () if self._failing else (WarnHeartbeatFailed(code),)
                self._failing = True
                return (*warning, self._sleep("pulse", HEARTBEAT_INTERVAL_MS))
            case Defect(failure):
                return self._raise(failure)
            case Interruption():
                return self._interrupt("interrupted")

    def _watch(self, clock_ms: float) -> tuple[Action, ...]:
        """The deadline looks: sleep on, or expire (RS-912)."""
        rest_ms = self._rest(clock_ms)
        if rest_ms <= 0:
            return self._expire("deadline", clock_ms)
        return (self._sleep("deadline", min(rest_ms, HEARTBEAT_INTERVAL_MS)),)

    def _expire(self, activity: Activity, clock_ms: float) -> tuple[Action, ...]:
        """Enter expire(), or wait for the other to leave it (RS-913)."""
        if self._holder is not None:
            self._waiting = activity
            return ()
        return self._entered(activity, clock_ms)

    def _entered(self, activity: Activity, clock_ms: float) -> tuple[Action, ...]:
        """The mutex is ours: reconfirm, unless the other has renewed meanwhile (RS-913, RS-915)."""
        if self._rest(clock_ms) > 0:
            return self._go_on(activity, clock_ms)
        self._holder = activity
        self._phase = "reconfirm"
        self._gap = clock_ms - self._last
        self._reading = math.floor(clock_ms)
        return (CallReconfirm(self._reading, HEARTBEAT_INTERVAL_MS),)

    def _reconfirmed(self, result: ReconfirmResult, clock_ms: float) -> tuple[Action, ...]:
        """Only ``Updated`` within the renewed budget leads on to the receipt (RS-913, RS-916)."""
        if isinstance(result, Interruption):
            return self._interrupt("interrupted")
        if not isinstance(result, Updated):
            return self._lapse()
        self._confirm(self._reading)
        rest_ms = self._rest(clock_ms)
        if rest_ms <= 0:
            return self._lapse()
        self._phase = "receipt"
        return (RunReceipt(self._gap, rest_ms),)

    def _receipted(self, result: ReceiptResult, clock_ms: float) -> tuple[Action, ...]:
        """A receipt that completed leaves expire(); it extends nothing (RS-913, RS-915)."""
        if isinstance(result, Interruption):
            return self._interrupt("interrupted")
        if not isinstance(result, Finished):
            return self._lapse()
        return self._leave(clock_ms)

    def _leave(self, clock_ms: float) -> tuple[Action, ...]:
        """Release the mutex. It goes to who waits for it before its holder can take it again."""
        holder, waiting = self._holder, self._waiting
        assert holder is not None
        self._holder, self._waiting, self._phase = None, None, None
        first = () if waiting is None else self._entered(waiting, clock_ms)
        return (*first, *self._go_on(holder, clock_ms))

    def _go_on(self, activity: Activity, clock_ms: float) -> tuple[Action, ...]:
        """The activity is back from expire()."""
        if activity == "pulse":
            return (self._sleep("pulse", HEARTBEAT_INTERVAL_MS),)
        return self._watch(clock_ms)

    def _lapse(self) -> tuple[Action, ...]:
        """The lease could not be renewed; the gap is the one from before the attempt (RS-914)."""
        self._phase = "lapse hook"
        return (WarnLeaseLapsed(self._gap), RunLapseHook(self._gap))

    def _lapsed(self, result: LapseHookResult) -> tuple[Action, ...]:
        """The hook is over, and everything with it (RS-914)."""
        match result:
            case Finished():
                return self._interrupt("lapsed")
            case Defect(failure):
                return self._raise(failure)
            case Interruption():
                return self._interrupt("interrupted")

    def _rest(self, clock_ms: float) -> float:
        """What is left of the budget, the one measure of it: what is not above 0 has expired (RS-912)."""
        return self._last + HEARTBEAT_WRITE_TOLERANCE_MS - clock_ms

    def _confirm(self, sent_ms: int) -> None:
        self._last = max(self._last, sent_ms)
        self._failing = False

    def _sleep(self, activity: Activity, duration_ms: float) -> Sleep:
        self._asleep.add(activity)
        return Sleep(activity, duration_ms)

    def _interrupt(self, reason: InterruptReason) -> tuple[Action, ...]:
        self._ended = True
        return (Interrupt(reason),)

    def _raise(self, failure: object) -> tuple[Action, ...]:
        self._ended = True
        return (Raise(failure),)

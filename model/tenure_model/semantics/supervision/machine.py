"""Supervision as a timed machine: ``start`` and ``on``, pure, each answering a step (RS-910..RS-918).

The functions below follow an activity until it waits for something. Both activities are seen in each of them, because
the one that waits for the mutex acts when the other releases it.
"""

from math import floor
from typing import Final

import attrs

from tenure_model.semantics.supervision.state import (
    AWAITING_MUTEX,
    ENDED,
    SLEEPING,
    AwaitingMutex,
    Beating,
    Ended,
    Lapsing,
    Reconfirming,
    Recording,
    Sleeping,
    State,
    Supervision,
    confirmed,
    is_overdue,
    other_than,
    phase_of,
    remaining_ms,
    with_phase,
)
from tenure_model.vocabulary.constants import HEARTBEAT_INTERVAL_MS
from tenure_model.vocabulary.outcomes import Updated
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

RECONFIRM_LIMIT_MS: Final = HEARTBEAT_INTERVAL_MS
"""How long one attempt to reconfirm may take (RS-913)."""


@attrs.frozen
class Step:
    """What an event led to: the new state, and what to do now, in order."""

    state: State
    actions: tuple[Action, ...] = ()


def start(clock_ms: float) -> Step:
    """A supervision that begins at this reading, whatever heartbeat is stored: both activities sleep (RS-910)."""
    supervision = Supervision(clock_ms, failing=False, holder=None, pulse=SLEEPING, deadline=SLEEPING)
    return _both(_rest(supervision), "deadline", clock_ms)


def on(state: State, event: Event) -> Step:
    """The state after the event, and the actions it leads to (RS-910..RS-914).

    Total: what answers nothing outstanding, and whatever comes after the end, leaves the state and asks for nothing.
    """
    if isinstance(state, Ended):
        return Step(state)
    match event:
        case Woke(activity, clock_ms) if isinstance(phase_of(state, activity), Sleeping):
            return _pulse(state, clock_ms) if activity == "pulse" else _watch(state, clock_ms)
        case HeartbeatEnded(result) if isinstance(state.pulse, Beating):
            return _after_heartbeat(state, state.pulse, result)
        case Cancelled():
            return _interrupted("interrupted")
    return Step(state) if state.holder is None else _on_expiry(state, state.holder, event)


def _on_expiry(supervision: Supervision, holder: Activity, event: Event) -> Step:
    """What the event means to the activity that has the mutex: only an answer that it waits for (RS-913, RS-914)."""
    match event, phase_of(supervision, holder):
        case ReconfirmEnded() as answer, Reconfirming() as attempt:
            return _after_reconfirm(supervision, holder, attempt, answer.result, answer.clock_ms)
        case ReceiptEnded() as receipt, Recording(gap_ms):
            return _after_receipt(supervision, holder, gap_ms, receipt.result, receipt.clock_ms)
        case LapseHookEnded() as hook, Lapsing():
            return _after_lapse_hook(hook.result)
    return Step(supervision)


def _rest(supervision: Supervision) -> Step:
    """The pulse sleeps: 1,000 ms after the start, and after each write for as long again (RS-911)."""
    return Step(with_phase(supervision, "pulse", SLEEPING), (Sleep("pulse", HEARTBEAT_INTERVAL_MS),))


def _pulse(supervision: Supervision, clock_ms: float) -> Step:
    """The pulse is due: it beats, or expires the lease when the floored reading is 19,000 ms on or more (RS-911)."""
    now_ms = floor(clock_ms)
    if is_overdue(supervision.last_ms, now_ms):
        return _take_mutex(supervision, "pulse", clock_ms)
    return Step(with_phase(supervision, "pulse", Beating(now_ms)), (CallHeartbeat(now_ms),))


def _after_heartbeat(supervision: Supervision, beat: Beating, result: HeartbeatResult) -> Step:
    """Another outcome than ``Updated`` is a lost fence and ends everything, without the lapse hook (RS-911, RS-917).

    The first store error since a success is warned of, the ones after it are not.
    """
    match result:
        case Updated():
            return _rest(confirmed(supervision, beat.now_ms))
        case StoreFailure(code):
            rested = _rest(attrs.evolve(supervision, failing=True))
            if supervision.failing:
                return rested
            return Step(rested.state, (WarnHeartbeatFailed(code), *rested.actions))
        case Defect(failure):
            return Step(ENDED, (Raise(failure),))
        case Interruption():
            return _interrupted("interrupted")
        case _:
            return _interrupted("fence-lost")


def _watch(supervision: Supervision, clock_ms: float) -> Step:
    """The deadline looks: it expires the lease when nothing of the budget is left, or sleeps at most 1,000 ms
    (RS-912).
    """
    rest_ms = remaining_ms(supervision.last_ms, clock_ms)
    if rest_ms <= 0:
        return _take_mutex(supervision, "deadline", clock_ms)
    sleeping = with_phase(supervision, "deadline", SLEEPING)
    return Step(sleeping, (Sleep("deadline", min(rest_ms, HEARTBEAT_INTERVAL_MS)),))


def _take_mutex(supervision: Supervision, activity: Activity, clock_ms: float) -> Step:
    """Expire as soon as the other activity is not at it (RS-913)."""
    if supervision.holder is not None:
        return Step(with_phase(supervision, activity, AWAITING_MUTEX))
    return _expire(supervision, activity, clock_ms)


def _expire(supervision: Supervision, activity: Activity, clock_ms: float) -> Step:
    """With the mutex, at the reading taken after it: reconfirm, unless the lease was renewed meanwhile (RS-913).

    What is overdue twice is therefore reconfirmed once (RS-915).
    """
    if not is_overdue(supervision.last_ms, clock_ms):
        return _release(supervision, activity, clock_ms)
    attempt = Reconfirming(floor(clock_ms), gap_ms=clock_ms - supervision.last_ms)
    expiring = with_phase(attrs.evolve(supervision, holder=activity), activity, attempt)
    return Step(expiring, (CallReconfirm(attempt.now_ms, RECONFIRM_LIMIT_MS),))


def _after_reconfirm(
    supervision: Supervision, activity: Activity, attempt: Reconfirming, result: ReconfirmResult, clock_ms: float
) -> Step:
    """Only ``Updated`` with budget left goes on to the receipt, whose limit is what is left (RS-913).

    A refusal lapses like an error does: it may be a pending claim of somebody who will never take over (RS-916).
    """
    match result:
        case Updated():
            renewed = confirmed(supervision, attempt.now_ms)
            rest_ms = remaining_ms(renewed.last_ms, clock_ms)
            if rest_ms <= 0:
                return _lapse(renewed, activity, attempt.gap_ms)
            recording = with_phase(renewed, activity, Recording(attempt.gap_ms))
            return Step(recording, (RunReceipt(attempt.gap_ms, rest_ms),))
        case Interruption():
            return _interrupted("interrupted")
        case _:
            return _lapse(supervision, activity, attempt.gap_ms)


def _after_receipt(
    supervision: Supervision, activity: Activity, gap_ms: float, result: ReceiptResult, clock_ms: float
) -> Step:
    """A receipt that completes renews the lease and extends nothing; all else but an interruption lapses (RS-913)."""
    match result:
        case Finished():
            return _release(supervision, activity, clock_ms)
        case Interruption():
            return _interrupted("interrupted")
        case _:
            return _lapse(supervision, activity, gap_ms)


def _release(supervision: Supervision, activity: Activity, clock_ms: float) -> Step:
    """Give the mutex to the other activity if it waits, then go on with this one's own loop (RS-913)."""
    other = other_than(activity)
    free = attrs.evolve(supervision, holder=None)
    if not isinstance(phase_of(free, other), AwaitingMutex):
        return _go_on(free, activity, clock_ms)
    return _both(_expire(free, other, clock_ms), activity, clock_ms)


def _go_on(supervision: Supervision, activity: Activity, clock_ms: float) -> Step:
    """The activity repeats from the top of its loop (RS-911, RS-912)."""
    return _rest(supervision) if activity == "pulse" else _watch(supervision, clock_ms)


def _both(first: Step, activity: Activity, clock_ms: float) -> Step:
    """The step in which, after ``first``, the activity goes on too."""
    if isinstance(first.state, Ended):
        return first
    second = _go_on(first.state, activity, clock_ms)
    return Step(second.state, (*first.actions, *second.actions))


def _lapse(supervision: Supervision, activity: Activity, gap_ms: float) -> Step:
    """The lease is given up with the gap that was measured before the attempt; the mutex stays taken, so the other
    activity cannot give it up again (RS-914).
    """
    lapsing = with_phase(supervision, activity, Lapsing(gap_ms))
    return Step(lapsing, (WarnLeaseLapsed(gap_ms), RunLapseHook(gap_ms)))


def _after_lapse_hook(result: LapseHookResult) -> Step:
    """The end, however the hook ended: its completion interrupts, its defect is raised (RS-910, RS-914)."""
    match result:
        case Finished():
            return _interrupted("lapsed")
        case Defect(failure):
            return Step(ENDED, (Raise(failure),))
        case Interruption():
            return _interrupted("interrupted")


def _interrupted(reason: InterruptReason) -> Step:
    """The end: everything outstanding is interrupted with the loop (RS-910)."""
    return Step(ENDED, (Interrupt(reason),))

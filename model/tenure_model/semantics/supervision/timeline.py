"""The life of a supervision in true time: the machine, a clock that may be wrong, and calls whose fate is given.

This is a driver of the machine that does nothing but count. True time is in milliseconds from an arbitrary zero; the
owner's clock is a function of it. What it yields is the lease's stamps and the end of the work, from which follows how
close a peer could come.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import TypeAlias

import attrs

from tenure_model.semantics.supervision.machine import Step, on, start
from tenure_model.semantics.supervision.margins import stealable_after_ms
from tenure_model.vocabulary.supervision import (
    Action,
    CallHeartbeat,
    CallReconfirm,
    Event,
    Finished,
    HeartbeatEnded,
    HeartbeatResult,
    Interrupt,
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
    TimedOut,
    Woke,
)


@attrs.frozen
class Answer:
    """A store call that answers ``result`` after ``after_ms``, and stamps the lease after ``stamps_after_ms``.

    ``None`` is never. A call may stamp the lease and fail, and it may answer ``Updated`` only if it stamps.
    """

    result: HeartbeatResult
    after_ms: float | None = 0
    stamps_after_ms: float | None = None


@attrs.frozen
class Circumstances:
    """Everything about a life that the machine does not decide.

    ``owner_clock`` is the reading at a true time. ``heartbeat`` and ``reconfirm`` are the fate of a call by its number,
    from 0. ``receipt_ms`` and ``lapse_hook_ms`` are the time the hooks take, ``None`` for ever. Each sleep wakes
    ``late_ms`` late.
    """

    owner_clock: Callable[[float], float]
    heartbeat: Callable[[int], Answer]
    reconfirm: Callable[[int], Answer]
    receipt_ms: float | None = 0
    lapse_hook_ms: float | None = 0
    late_ms: float = 0


@attrs.frozen
class Stamp:
    """A stamp of the lease: its reading of the owner's clock, and the true time from which it stands."""

    now_ms: int
    stands_from_ms: float


@attrs.frozen
class Moment:
    """An event that the machine handled, when in true time, and the step it made; the first has no event."""

    at_ms: float
    event: Event | None
    step: Step


@attrs.frozen
class Life:
    """A supervision from its start to its end, or to the end of the observation, where ``ended_by`` is ``None``."""

    moments: tuple[Moment, ...]
    stamps: tuple[Stamp, ...]
    ended_at_ms: float
    ended_by: Interrupt | Raise | None


Answering: TypeAlias = Callable[[float], Event]
Due: TypeAlias = tuple[float, int, Answering | int]


def live(circumstances: Circumstances, start_ms: float, activation: Stamp, until_ms: float) -> Life:
    """The supervision that starts at ``start_ms`` on a lease with the given first stamp, observed up to ``until_ms``.

    What is due at the same true time happens in the order in which it was asked for.
    """
    clock = circumstances.owner_clock
    moments = [Moment(start_ms, None, start(clock(start_ms)))]
    stamps, due, asked = [activation], list[Due](), 0
    calls: dict[type[Action], int] = {}
    while True:
        at_ms, step = moments[-1].at_ms, moments[-1].step
        for action in step.actions:
            if isinstance(action, Interrupt | Raise):
                return Life(tuple(moments), tuple(stamps), at_ms, action)
            number = calls.get(type(action), 0)
            calls[type(action)] = number + 1
            for after_ms, what in _consequences(circumstances, action, number):
                heappush(due, (at_ms + after_ms, asked, what))
                asked += 1
        while due and not callable(due[0][2]):
            stands_from_ms, _, now_ms = heappop(due)
            if isinstance(now_ms, int) and now_ms > stamps[-1].now_ms and stands_from_ms <= until_ms:
                stamps.append(Stamp(now_ms, stands_from_ms))
        if not due or due[0][0] > until_ms:
            return Life(tuple(moments), tuple(stamps), until_ms, None)
        next_ms, _, answering = heappop(due)
        if callable(answering):
            event = answering(clock(next_ms))
            moments.append(Moment(next_ms, event, on(step.state, event)))


def _consequences(circumstances: Circumstances, action: Action, number: int) -> list[tuple[float, Answering | int]]:
    """What an action leads to and after how long: a stamp of the lease, the event that answers it, both or neither."""
    match action:
        case Sleep(activity, duration_ms):
            return [(duration_ms + circumstances.late_ms, lambda clock_ms: Woke(activity, clock_ms))]
        case CallHeartbeat(now_ms):
            beat = circumstances.heartbeat(number)
            return [*_stamps(beat, now_ms), *_ends(beat.after_ms, lambda at: HeartbeatEnded(beat.result, at))]
        case CallReconfirm(now_ms, limit_ms):
            attempt = circumstances.reconfirm(number)
            return [*_stamps(attempt, now_ms), _limited_reconfirm(attempt, limit_ms)]
        case RunReceipt(_, limit_ms):
            return [_limited_receipt(circumstances.receipt_ms, limit_ms)]
        case RunLapseHook():
            completed: LapseHookResult = Finished()
            return _ends(circumstances.lapse_hook_ms, lambda at: LapseHookEnded(completed, at))
    return []


def _ends(after_ms: float | None, answering: Answering) -> list[tuple[float, Answering | int]]:
    """The event of a call that ends, nothing of one that never does."""
    return [] if after_ms is None else [(after_ms, answering)]


def _stamps(answer: Answer, now_ms: int) -> list[tuple[float, Answering | int]]:
    """The stamp of a call that reaches the lease."""
    return [] if answer.stamps_after_ms is None else [(answer.stamps_after_ms, now_ms)]


def _limited_reconfirm(attempt: Answer, limit_ms: float) -> tuple[float, Answering]:
    """The end of a reconfirm; an answer exactly at the limit counts."""
    in_time = attempt.after_ms is not None and attempt.after_ms <= limit_ms
    result: ReconfirmResult = attempt.result if in_time else TimedOut()
    after_ms = attempt.after_ms if in_time and attempt.after_ms is not None else limit_ms
    return after_ms, lambda clock_ms: ReconfirmEnded(result, clock_ms)


def _limited_receipt(receipt_ms: float | None, limit_ms: float) -> tuple[float, Answering]:
    """The end of a receipt; a completion exactly at the limit counts."""
    in_time = receipt_ms is not None and receipt_ms <= limit_ms
    result: ReceiptResult = Finished() if in_time else TimedOut()
    after_ms = receipt_ms if in_time and receipt_ms is not None else limit_ms
    return after_ms, lambda clock_ms: ReceiptEnded(result, clock_ms)


def observed_margin_ms(life: Life, peer_offset_ms: float, ahead_ms: float = 0) -> float:
    """How far the work stayed from a steal by a peer whose clock is ``peer_offset_ms`` ahead of true time.

    For each stamp, the peer may steal from the moment its reading is 30,001 ms past it until the next stamp stands;
    the least distance, of all stamps, between the end of that (or of the work) and that moment. 0 and less means that
    a steal could succeed while the owner worked (RS-208, RS-309).
    """
    ends_ms = [*(stamp.stands_from_ms for stamp in life.stamps[1:]), life.ended_at_ms]
    return min(
        stamp.now_ms + stealable_after_ms(ahead_ms) - peer_offset_ms - end_ms
        for stamp, end_ms in zip(life.stamps, ends_ms, strict=True)
    )

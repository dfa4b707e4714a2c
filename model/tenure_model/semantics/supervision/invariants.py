"""What every history of a supervision keeps, whatever it is told: predicates over states and over histories."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from tenure_model.semantics.supervision.machine import RECONFIRM_LIMIT_MS, Step
from tenure_model.semantics.supervision.state import (
    AwaitingMutex,
    Beating,
    Ended,
    Lapsing,
    Reconfirming,
    Recording,
    Sleeping,
    State,
    Supervision,
    phase_of,
)
from tenure_model.vocabulary.constants import HEARTBEAT_INTERVAL_MS, HEARTBEAT_WRITE_TOLERANCE_MS
from tenure_model.vocabulary.outcomes import Updated
from tenure_model.vocabulary.supervision import (
    ACTIVITIES,
    Action,
    CallHeartbeat,
    CallReconfirm,
    Event,
    Finished,
    HeartbeatEnded,
    Interrupt,
    LapseHookEnded,
    Raise,
    ReceiptEnded,
    ReconfirmEnded,
    RunLapseHook,
    RunReceipt,
    Sleep,
    WarnHeartbeatFailed,
    WarnLeaseLapsed,
    Woke,
)

Moments: TypeAlias = Sequence[tuple[Event | None, Step]]
"""A history: the start, which has no event, then each event that was handled and its step."""

EXPIRY_PHASES: Final = (Reconfirming, Recording, Lapsing)


def is_well_formed(state: State) -> bool:
    """Whether exactly the holder of the mutex is expiring, nobody waits for a free one, and only the pulse beats
    (RS-910, RS-913).
    """
    if isinstance(state, Ended):
        return True
    phases = {activity: phase_of(state, activity) for activity in ACTIVITIES}
    expiring = [activity for activity, phase in phases.items() if isinstance(phase, EXPIRY_PHASES)]
    waiting = any(isinstance(phase, AwaitingMutex) for phase in phases.values())
    return (
        expiring == ([] if state.holder is None else [state.holder])
        and not (waiting and state.holder is None)
        and not isinstance(state.deadline, Beating)
    )


def awaited_by(state: State) -> frozenset[str]:
    """What is outstanding, by name: the sleeps of the two activities and the kinds of calls and hooks."""
    return frozenset() if isinstance(state, Ended) else frozenset(_awaited_by(state))


def _awaited_by(supervision: Supervision) -> Iterator[str]:
    """The name of what each activity waits for; who waits for the mutex waits for nothing outside."""
    for activity in ACTIVITIES:
        match phase_of(supervision, activity):
            case Sleeping():
                yield f"{activity} sleep"
            case Beating():
                yield "heartbeat"
            case Reconfirming():
                yield "reconfirm"
            case Recording():
                yield "receipt"
            case Lapsing():
                yield "lapse hook"


def asked_for_by(action: Action) -> str | None:
    """The name of what an action asks for, as ``awaited_by`` names it; ``None`` of a warning and of the end."""
    match action:
        case Sleep(activity):
            return f"{activity} sleep"
        case CallHeartbeat():
            return "heartbeat"
        case CallReconfirm():
            return "reconfirm"
        case RunReceipt():
            return "receipt"
        case RunLapseHook():
            return "lapse hook"
        case _:
            return None


def answered_by(event: Event | None) -> str | None:
    """The name of what an event answers, as ``awaited_by`` names it; ``None`` of the start and a cancellation."""
    match event:
        case Woke(activity):
            return f"{activity} sleep"
        case HeartbeatEnded():
            return "heartbeat"
        case ReconfirmEnded():
            return "reconfirm"
        case ReceiptEnded():
            return "receipt"
        case LapseHookEnded():
            return "lapse hook"
        case _:
            return None


def violated_invariants(moments: Moments) -> tuple[str, ...]:
    """The names of the invariants that a history breaks, each once, in no particular order of importance."""
    checks = {
        "a state is not well formed": _malformed(moments),
        "something is outstanding that was not asked for, or asked for twice": _unaccounted(moments),
        "an unfitting event has an effect": _meddled(moments),
        "not exactly the last action ends the loop": _wrongly_ended(moments),
        "the lapse hook runs twice or without its warning": _wrongly_lapsed(moments),
        "the end is not told by its event": _misnamed_end(moments),
        "a reading is not sent floored, or a limit out of bounds": any(map(_is_unbounded, actions_of(moments))),
        "the budget counts from a reading that was not sent": _unsent(moments),
        "failing writes are warned of twice": _warned_twice(moments),
    }
    return tuple(name for name, broken in checks.items() if broken)


def actions_of(moments: Moments) -> Iterator[Action]:
    """All actions of a history, in order."""
    return (action for _, step in moments for action in step.actions)


def _malformed(moments: Moments) -> bool:
    return not all(is_well_formed(step.state) for _, step in moments)


def _unaccounted(moments: Moments) -> bool:
    """What is asked for stays outstanding until it is answered; nothing is asked for twice (RS-915, RS-917)."""
    outstanding = set[str]()
    for event, step in moments:
        if answer := answered_by(event):
            outstanding.discard(answer)
        for asked in filter(None, map(asked_for_by, step.actions)):
            if asked in outstanding:
                return True
            outstanding.add(asked)
        if isinstance(step.state, Supervision) and outstanding ^ awaited_by(step.state):
            return True
    return False


def _meddled(moments: Moments) -> bool:
    """What answers nothing outstanding, or comes after the end, changes nothing."""
    for (_, before), (event, after) in pairwise(moments):
        answer = answered_by(event)
        fits = not isinstance(before.state, Ended) and (answer is None or answer in awaited_by(before.state))
        if not fits and (after.state != before.state or after.actions):
            return True
    return False


def _wrongly_ended(moments: Moments) -> bool:
    """The loop ends once, by its last action, and is over exactly then (RS-910)."""
    over = False
    for _, step in moments:
        ends = [action for action in step.actions if isinstance(action, Interrupt | Raise)]
        if (over and step.actions) or (ends and step.actions.index(ends[0]) != len(step.actions) - 1):
            return True
        over = over or bool(ends)
        if over != isinstance(step.state, Ended):
            return True
    return False


def _wrongly_lapsed(moments: Moments) -> bool:
    """At most one lapse: its warning, then its hook, with the same gap of at least the tolerance (RS-914)."""
    actions = list(actions_of(moments))
    lapses = [action for action in actions if isinstance(action, WarnLeaseLapsed | RunLapseHook)]
    if not lapses:
        return False
    match lapses:
        case [WarnLeaseLapsed(warned_ms), RunLapseHook(gap_ms)]:
            return warned_ms != gap_ms or gap_ms < HEARTBEAT_WRITE_TOLERANCE_MS
    return True


def _misnamed_end(moments: Moments) -> bool:
    """``lapsed`` follows the completion of the hook; ``fence-lost`` follows a heartbeat (RS-911, RS-914, RS-916)."""
    for event, step in moments:
        for action in step.actions:
            match action:
                case Interrupt("lapsed") if not (
                    isinstance(event, LapseHookEnded) and isinstance(event.result, Finished)
                ):
                    return True
                case Interrupt("fence-lost") if not isinstance(event, HeartbeatEnded):
                    return True
    return False


def _is_unbounded(action: Action) -> bool:
    """Whether a reading has a fraction, or a duration is out of its bounds (RS-911..RS-913)."""
    match action:
        case CallHeartbeat(now_ms):
            return type(now_ms) is not int
        case CallReconfirm(now_ms, limit_ms):
            return type(now_ms) is not int or limit_ms != RECONFIRM_LIMIT_MS
        case RunReceipt(gap_ms, limit_ms):
            return limit_ms <= 0 or gap_ms < HEARTBEAT_WRITE_TOLERANCE_MS
        case Sleep(_, duration_ms):
            return not 0 < duration_ms <= HEARTBEAT_INTERVAL_MS
        case _:
            return False


def _unsent(moments: Moments) -> bool:
    """``last`` never falls, rises only by ``Updated``, and only to a reading that was sent (RS-918)."""
    sent = set[float]()
    last_ms: float | None = None
    for event, step in moments:
        state = step.state
        if isinstance(state, Supervision) and last_ms is not None and state.last_ms != last_ms:
            renewing = isinstance(event, HeartbeatEnded | ReconfirmEnded) and isinstance(event.result, Updated)
            if not renewing or state.last_ms < last_ms or state.last_ms not in sent:
                return True
        if isinstance(state, Supervision):
            last_ms = state.last_ms
        sent |= set(_sent_in(step.actions))
    return False


def _sent_in(actions: Iterable[Action]) -> Iterator[int]:
    """The readings that are sent to the store."""
    for action in actions:
        if isinstance(action, CallHeartbeat | CallReconfirm):
            yield action.now_ms


def _warned_twice(moments: Moments) -> bool:
    """Between two warnings of failing writes lies a renewal (RS-911, RS-913)."""
    warned = False
    for event, step in moments:
        if isinstance(event, HeartbeatEnded | ReconfirmEnded) and isinstance(event.result, Updated):
            warned = False
        for action in step.actions:
            if isinstance(action, WarnHeartbeatFailed):
                if warned:
                    return True
                warned = True
    return False


def is_within_budget(state: State, clock_ms: float) -> bool:
    """Whether work that goes on is at most 19,000 + 1,000 ms past the confirmed reading, or the lapse hook runs.

    Holds at every step of a supervision whose timers and limits are on time, and whose clock is not set forward within
    an attempt to expire (RS-914, RS-915; hazard H-15).
    """
    if isinstance(state, Ended) or any(isinstance(phase_of(state, activity), Lapsing) for activity in ACTIVITIES):
        return True
    return clock_ms - state.last_ms <= HEARTBEAT_WRITE_TOLERANCE_MS + RECONFIRM_LIMIT_MS

"""Schedules in words: what happened when, counted from the commit of the activation, without what changed nothing."""

from collections.abc import Iterable, Iterator

from tenure_model.explore.timed.situations import (
    Answers,
    Commits,
    Lands,
    Lapsed,
    Move,
    Receipt,
    SetBack,
    Starts,
    Takes,
    Wakes,
)
from tenure_model.vocabulary.outcomes import FenceLost, Updated
from tenure_model.vocabulary.supervision import CallHeartbeat, CallReconfirm, Finished, TimedOut


def told(schedule: Iterable[Move]) -> tuple[str, ...]:
    """One line for each move that mattered, each with its instant in ms of true time."""
    return tuple(_lines(schedule))


def _lines(schedule: Iterable[Move]) -> Iterator[str]:
    at_ms = 0
    for move in schedule:
        at_ms += move.after_ms
        if text := _text(move):
            yield f"{at_ms:>6,}  {text}"


def _text(move: Move) -> str:
    """What happened, or nothing of a deadline that looks and sleeps on."""
    match move.what:
        case Commits():
            return f"the activation commits; the loop starts {move.leads_to[0][0]:,} ms later"
        case Starts():
            return "the loop starts"
        case Wakes(activity, late_ms):
            late = f", {late_ms:,} ms late" if late_ms else ""
            if any(isinstance(due, Wakes) and due.activity == activity for _, due in move.leads_to):
                return ""
            return f"the {activity} wakes{late}: {_write(move)}"
        case Lands(call, _, _):
            return f"the {call} takes effect"
        case Answers(call, result):
            answer = type(result).__name__ if isinstance(result, Updated | FenceLost) else "an error"
            hook = next((takes_ms for takes_ms, due in move.leads_to if isinstance(due, Lapsed)), None)
            said = f"the {call} is cut off" if result == TimedOut() else f"the {call} answers: {answer}"
            return said + ("" if hook is None else f"; `onLapse` takes {hook:,} ms")
        case Receipt(result):
            return "the receipt is done" if result == Finished() else "the receipt is cut off"
        case Lapsed():
            return "the owner's work stands still"
        case SetBack(by_ms):
            return f"the owner's clock is set back by {by_ms:,} ms"
        case Takes(ahead_ms):
            return "the peer is granted the run" + (f", with a reading {ahead_ms:,} ms ahead" if ahead_ms else "")


def _write(move: Move) -> str:
    """What becomes of the write that an activity sends on waking, if it does not wait for the other one."""
    beats = any(isinstance(action, CallHeartbeat) for action in move.asks)
    reconfirms = any(isinstance(action, CallReconfirm) for action in move.asks)
    call = "heartbeat" if beats else "reconfirm" if reconfirms else None
    match next(((after_ms, due.result) for after_ms, due in move.leads_to if isinstance(due, Answers)), None):
        case None:
            return "waits for the other" if call is None else f"{call} hangs"
        case (after_ms, TimedOut()):
            return f"{call} hangs, to be cut off after {after_ms:,} ms"
        case (after_ms, None):
            return f"{call} succeeds after {after_ms:,} ms"
        case (after_ms, _):
            return f"{call} fails after {after_ms:,} ms"

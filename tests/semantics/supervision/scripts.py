"""Scripts of events for the machine, and the steps they make."""

from collections.abc import Iterable, Iterator

from tenure_model.semantics.supervision.machine import Step, on, start
from tenure_model.semantics.supervision.state import Supervision
from tenure_model.vocabulary.outcomes import Updated
from tenure_model.vocabulary.supervision import (
    Action,
    Event,
    HeartbeatEnded,
    ReconfirmEnded,
    StoreFailure,
    Woke,
)

T = 1_700_000_000_000
"""A reading of a clock."""

UPDATED = Updated()
BROKEN = StoreFailure("persistence_failed")


def history(start_ms: float, events: Iterable[Event]) -> list[tuple[Event | None, Step]]:
    """The start and every event with the step it made."""
    moments: list[tuple[Event | None, Step]] = [(None, start(start_ms))]
    for event in events:
        moments.append((event, on(moments[-1][1].state, event)))
    return moments


def last_step(start_ms: float, *events: Event) -> Step:
    """The step of the last event."""
    return history(start_ms, events)[-1][1]


def actions_after(start_ms: float, *events: Event) -> tuple[Action, ...]:
    """What the last event led to."""
    return last_step(start_ms, *events).actions


def supervision_after(start_ms: float, *events: Event) -> Supervision:
    """The supervision after the last event, which must not have ended it."""
    state = last_step(start_ms, *events).state
    assert isinstance(state, Supervision)
    return state


def beats(start_ms: float, count: int, result: Updated | StoreFailure = UPDATED) -> Iterator[Event]:
    """So many heartbeats on time, each ending at once with this result, and no wake of the deadline."""
    for number in range(1, count + 1):
        yield Woke("pulse", start_ms + number * 1_000)
        yield HeartbeatEnded(result, start_ms + number * 1_000)


def overdue(activity: str = "deadline", at_ms: float = T + 19_000) -> Event:
    """The wake of an activity at which the supervision that started at T is overdue."""
    return Woke("pulse" if activity == "pulse" else "deadline", at_ms)


def renewed(at_ms: float = T + 19_000) -> Event:
    """The answer that a reconfirm succeeded."""
    return ReconfirmEnded(UPDATED, at_ms)

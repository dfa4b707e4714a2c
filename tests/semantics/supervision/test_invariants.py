"""Random scripts keep every invariant, and each invariant can tell a history that breaks it."""

import random
from collections import Counter

import attrs
import pytest

from tenure_model.semantics.supervision.invariants import (
    Moments,
    awaited_by,
    is_well_formed,
    is_within_budget,
    violated_invariants,
)
from tenure_model.semantics.supervision.machine import Step, on, start
from tenure_model.semantics.supervision.state import (
    AWAITING_MUTEX,
    ENDED,
    SLEEPING,
    Beating,
    Lapsing,
    Reconfirming,
    State,
    Supervision,
)
from tenure_model.vocabulary.outcomes import FenceLost, NotFound
from tenure_model.vocabulary.supervision import (
    Action,
    CallHeartbeat,
    Cancelled,
    Defect,
    Event,
    Finished,
    HeartbeatEnded,
    HeartbeatResult,
    Interrupt,
    Interruption,
    LapseHookEnded,
    LapseHookResult,
    Raise,
    ReceiptEnded,
    ReceiptResult,
    ReconfirmEnded,
    ReconfirmResult,
    RunLapseHook,
    Sleep,
    TimedOut,
    WarnHeartbeatFailed,
    WarnLeaseLapsed,
    Woke,
)
from tests.semantics.supervision.scripts import BROKEN, UPDATED, T, beats, history, overdue, renewed

SEEDS = range(300)
EVENTS = 120
SECOND = Sleep("pulse", 1_000)


HEARTBEATS: list[HeartbeatResult] = [*[UPDATED] * 8, *[BROKEN] * 28, FenceLost(), NotFound(), Defect("boom")]
RECONFIRMS: list[ReconfirmResult] = [*[UPDATED] * 24, *[BROKEN] * 4, FenceLost(), Defect("boom"), TimedOut()]
RECEIPTS: list[ReceiptResult] = [*[Finished()] * 12, Defect("boom"), TimedOut()]
LAPSE_HOOKS: list[LapseHookResult] = [Finished(), Finished(), Defect("boom")]


def random_event(choose: random.Random, awaited: str, clock_ms: float) -> Event:
    """An event that answers what is awaited, successes being the likeliest."""
    match awaited:
        case "pulse sleep":
            return Woke("pulse", clock_ms)
        case "deadline sleep":
            return Woke("deadline", clock_ms)
        case "heartbeat":
            return HeartbeatEnded(choose.choice([*HEARTBEATS, Interruption()]), clock_ms)
        case "reconfirm":
            return ReconfirmEnded(choose.choice([*RECONFIRMS, Interruption()]), clock_ms)
        case "receipt":
            return ReceiptEnded(choose.choice([*RECEIPTS, Interruption()]), clock_ms)
        case _:
            return LapseHookEnded(choose.choice([*LAPSE_HOOKS, Interruption()]), clock_ms)


KINDS = ("pulse sleep", "deadline sleep", "heartbeat", "reconfirm", "receipt", "lapse hook")


def random_history(seed: int) -> Moments:
    """Mostly fitting events under a clock that jumps, with some that fit nothing, and events after the end."""
    choose = random.Random(seed)
    clock_ms = T + choose.choice((0, 0.5))
    moments: list[tuple[Event | None, Step]] = [(None, start(clock_ms))]
    for _ in range(EVENTS):
        clock_ms += choose.choice((0, 0, 0.25, 1, 500, 1_000, 1_000, 6_000, 19_000, 20_000, -1, -7_000, -30_000))
        state = moments[-1][1].state
        fitting = sorted(awaited_by(state))
        event = random_event(choose, choose.choice(fitting if fitting and choose.random() < 0.9 else KINDS), clock_ms)
        if choose.random() < 0.004:
            event = Cancelled(clock_ms)
        moments.append((event, on(state, event)))
    return moments


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_script_keeps_every_invariant(seed: int) -> None:
    """Whatever is answered, whenever, under whatever clock (RS-910..RS-918)."""
    assert violated_invariants(random_history(seed)) == ()


def test_the_random_scripts_meet_everything() -> None:
    """The property above is not vacuous: every way to end, every kind of action, a waiting activity of either kind."""
    met = Counter[object]()
    for seed in SEEDS:
        for _, step in random_history(seed):
            met.update(action if isinstance(action, Interrupt | Raise) else type(action) for action in step.actions)
            if isinstance(step.state, Supervision):
                met["pulse waits"] += step.state.pulse == AWAITING_MUTEX
                met["deadline waits"] += step.state.deadline == AWAITING_MUTEX
    ends = (Interrupt("lapsed"), Interrupt("fence-lost"), Interrupt("interrupted"), Raise("boom"))
    rare = (*ends, WarnHeartbeatFailed, RunLapseHook, "pulse waits", "deadline waits")

    assert [name for name in rare if met[name] < 5] == []


@pytest.mark.parametrize("seed", range(30))
def test_an_event_steps_the_same_twice(seed: int) -> None:
    """The machine is a function: its states are values that no event changes (RS-910)."""
    moments = random_history(seed)

    assert history(T + random.Random(seed).choice((0, 0.5)), [event for event, _ in moments if event]) == moments


RUNNING = Supervision(T, failing=False, holder=None, pulse=SLEEPING, deadline=SLEEPING)
BEATING = attrs.evolve(RUNNING, pulse=Beating(T))
LAPSED = [*history(T, [overdue(), ReconfirmEnded(BROKEN, T + 19_000)])]


def continued(moments: Moments, event: Event, state: State, *actions: Action) -> Moments:
    """The history with one more step."""
    return [*moments, (event, Step(state, actions))]


BEGUN = history(T, [])
BEGUN_BEATING = history(T, [Woke("pulse", T + 1_000)])

BROKEN_HISTORIES: dict[str, tuple[Moments, str]] = {
    "two expire at once": (
        continued(LAPSED, Woke("pulse", T), attrs.evolve(RUNNING, pulse=Lapsing(1), deadline=Lapsing(1))),
        "a state is not well formed",
    ),
    "a call that nobody asked for": (
        continued(BEGUN, Woke("pulse", T), BEATING),
        "something is outstanding that was not asked for, or asked for twice",
    ),
    "a second reconfirm": (
        continued(history(T, [overdue()]), overdue("pulse"), RUNNING, *history(T, [overdue()])[-1][1].actions),
        "something is outstanding that was not asked for, or asked for twice",
    ),
    "a late answer": (
        continued(BEGUN, HeartbeatEnded(UPDATED, T), attrs.evolve(RUNNING, failing=True)),
        "an unfitting event has an effect",
    ),
    "an action after the end": (
        continued(history(T, [Cancelled(T)]), Woke("pulse", T), ENDED, SECOND),
        "not exactly the last action ends the loop",
    ),
    "two interruptions": (
        continued(BEGUN, Cancelled(T), ENDED, Interrupt("interrupted"), Interrupt("interrupted")),
        "not exactly the last action ends the loop",
    ),
    "an end without an action": (continued(BEGUN, Cancelled(T), ENDED), "not exactly the last action ends the loop"),
    "a second lapse hook": (
        continued(LAPSED, Woke("pulse", T), RUNNING, RunLapseHook(19_000)),
        "the lapse hook runs twice or without its warning",
    ),
    "a lapse hook after a lost fence": (
        continued(BEGUN_BEATING, HeartbeatEnded(FenceLost(), T), ENDED, RunLapseHook(19_000), Interrupt("fence-lost")),
        "the lapse hook runs twice or without its warning",
    ),
    "a gap that differs from the warning": (
        continued(history(T, [overdue()]), renewed(), RUNNING, WarnLeaseLapsed(19_000), RunLapseHook(20_000)),
        "the lapse hook runs twice or without its warning",
    ),
    "a lapse without its hook": (
        continued(history(T, [overdue()]), ReconfirmEnded(BROKEN, T), ENDED, Interrupt("lapsed")),
        "the end is not told by its event",
    ),
    "a refused reconfirm taken for a lost fence": (
        continued(history(T, [overdue()]), ReconfirmEnded(FenceLost(), T), ENDED, Interrupt("fence-lost")),
        "the end is not told by its event",
    ),
    "a sleep of nothing": (
        continued(BEGUN, Woke("pulse", T), RUNNING, Sleep("pulse", 0)),
        "a reading is not sent floored, or a limit out of bounds",
    ),
    "a reading with a fraction": (
        continued(BEGUN, Woke("pulse", T), BEATING, CallHeartbeat(T + 0.5)),  # type: ignore[arg-type]  # the fault
        "a reading is not sent floored, or a limit out of bounds",
    ),
    "a budget from the completion": (
        continued(BEGUN_BEATING, HeartbeatEnded(UPDATED, T + 1_700), attrs.evolve(RUNNING, last_ms=T + 1_700), SECOND),
        "the budget counts from a reading that was not sent",
    ),
    "a budget that falls": (
        continued(history(T + 5_000, [Woke("pulse", T)]), HeartbeatEnded(UPDATED, T), attrs.evolve(RUNNING, last_ms=T)),
        "the budget counts from a reading that was not sent",
    ),
    "a second warning": (
        continued(
            history(T, [*beats(T, 1, BROKEN), Woke("pulse", T + 2_000)]),
            HeartbeatEnded(BROKEN, T + 2_000),
            attrs.evolve(RUNNING, failing=True),
            WarnHeartbeatFailed("persistence_failed"),
            SECOND,
        ),
        "failing writes are warned of twice",
    ),
}


@pytest.mark.parametrize("name", BROKEN_HISTORIES)
def test_a_broken_history_is_told(name: str) -> None:
    """Each invariant is the one that such a history breaks, perhaps with others."""
    moments, invariant = BROKEN_HISTORIES[name]

    assert invariant in violated_invariants(moments)


@pytest.mark.parametrize(
    "state",
    [
        attrs.evolve(RUNNING, holder="pulse"),
        attrs.evolve(RUNNING, deadline=AWAITING_MUTEX),
        attrs.evolve(RUNNING, deadline=Beating(T)),
        attrs.evolve(RUNNING, pulse=Reconfirming(T, 19_000)),
        attrs.evolve(RUNNING, holder="deadline", pulse=Reconfirming(T, 19_000)),
    ],
)
def test_a_malformed_state_is_told(state: Supervision) -> None:
    """The mutex and the phases must agree (RS-910, RS-913)."""
    assert not is_well_formed(state)


@pytest.mark.parametrize(
    ("state", "past_ms", "expected"),
    [
        (RUNNING, 20_000, True),
        (RUNNING, 20_001, False),
        (attrs.evolve(RUNNING, holder="deadline", deadline=Lapsing(19_000)), 20_001, True),
        (ENDED, 20_001, True),
    ],
)
def test_work_past_the_budget_is_told(state: State, past_ms: float, expected: bool) -> None:
    """20,000 ms are allowed, and more only to the lapse hook (RS-914, RS-915)."""
    assert is_within_budget(state, T + past_ms) is expected

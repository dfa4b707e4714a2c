"""The supervision of the model and that of the library, told the same: they must ask for the same after every event."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.ownership.machine import SupervisionMachine
from tenure_model.semantics.supervision import machine as model
from tenure_model.vocabulary.outcomes import FenceLost, NotFound, Updated
from tenure_model.vocabulary.supervision import (
    ACTIVITIES,
    Action,
    CallHeartbeat,
    CallReconfirm,
    Cancelled,
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
    StoreFailure,
    TimedOut,
    Woke,
)

FAILURE = RuntimeError("no store error")
CALLS: list[object] = [Updated(), FenceLost(), NotFound(), Interruption(), Defect(FAILURE)]
CALLS += [StoreFailure("persistence_failed"), StoreFailure("invalid_run")]
HOOKS: list[object] = [Finished(), Defect(FAILURE), Interruption()]

TELLINGS: dict[str, list[Callable[[float], Event]]] = {
    **{f"Woke {activity}": [lambda at, activity=activity: Woke(activity, at)] for activity in ACTIVITIES},
    "HeartbeatEnded": [lambda at, result=result: HeartbeatEnded(result, at) for result in CALLS],
    "ReconfirmEnded": [lambda at, result=result: ReconfirmEnded(result, at) for result in [*CALLS, TimedOut()]],
    "ReceiptEnded": [lambda at, result=result: ReceiptEnded(result, at) for result in [*HOOKS, TimedOut()]],
    "LapseHookEnded": [lambda at, result=result: LapseHookEnded(result, at) for result in HOOKS],
    "Cancelled": [Cancelled],
}
"""Every event, by kind, as a function of the clock; the first of each kind is the one that goes well."""

ANSWERS = {
    CallHeartbeat: "HeartbeatEnded",
    CallReconfirm: "ReconfirmEnded",
    RunReceipt: "ReceiptEnded",
    RunLapseHook: "LapseHookEnded",
}

# Eighths of a millisecond, and times small enough for them: the sums are exact, as they are for a real clock in whole
# milliseconds. Where a sum is rounded, the two sides of one inequality may differ, and no rule says which is meant.
EIGHTHS = st.integers(-8 * 40_000, 8 * 40_000).map(lambda eighths: eighths / 8)
EDGES = st.sampled_from([1_000, 17_000, 18_000, 18_999, 19_000, 19_000.5, 19_001, 20_000, 30_000, 0.125, 0.5, 0.875, 1])
BACK = EDGES.map(lambda edge: -edge)
STEPS = st.one_of(st.just(0), st.just(1_000), EDGES, BACK, EIGHTHS)
STARTS = st.one_of(st.just(0), st.just(1_700_000_000_000), st.integers(0, 2**43), EIGHTHS.map(abs))

Drawn = TypeVar("Drawn")


class Both:
    """Model and library side by side."""

    def __init__(self, clock_ms: float) -> None:
        step = model.start(clock_ms)
        self.state = step.state
        self.machine = SupervisionMachine(clock_ms)
        self.clock_ms = clock_ms
        self.outstanding: set[str] = set()
        self.script: list[Event] = []
        self.compare(step.actions, self.machine.start())

    def tell(self, event: Event) -> tuple[Action, ...]:
        """Tell both, and compare what they ask for."""
        self.script.append(event)
        step = model.on(self.state, event)
        self.state = step.state
        self.outstanding.discard(f"Woke {event.activity}" if isinstance(event, Woke) else type(event).__name__)
        return self.compare(step.actions, self.machine.on(event))

    def compare(self, expected: tuple[Action, ...], actual: tuple[Action, ...]) -> tuple[Action, ...]:
        """Equal in order, values and the types of numbers that are sent to the store."""
        assert list(actual) == list(expected), self.script
        assert [type(value) for value in sent_by(actual)] == [int] * len(list(sent_by(actual)))
        for action in actual:
            if isinstance(action, Sleep):
                self.outstanding.add(f"Woke {action.activity}")
            elif type(action) in ANSWERS:
                self.outstanding.add(ANSWERS[type(action)])
        return actual


def sent_by(actions: tuple[Action, ...]) -> Iterator[object]:
    """The readings that go to the store."""
    return (action.now_ms for action in actions if isinstance(action, CallHeartbeat | CallReconfirm))


@given(data=st.data(), start_ms=STARTS)
@settings(max_examples=400)
def test_both_ask_for_the_same(data, start_ms):
    """RS-910..RS-918: whatever happens, in whatever order and at whatever time, on time or late, once or twice."""
    both = Both(start_ms)
    for _ in range(data.draw(st.integers(1, 60))):
        answer = data.draw(st.integers(0, 9)) > 0 and bool(both.outstanding)
        kind = data.draw(st.sampled_from(sorted(both.outstanding) if answer else sorted(TELLINGS)))
        goes_well = data.draw(st.integers(0, 2)) > 0
        tell = TELLINGS[kind][0] if goes_well else data.draw(st.sampled_from(TELLINGS[kind]))
        both.clock_ms = max(0, both.clock_ms + data.draw(STEPS))
        both.tell(tell(both.clock_ms))


@given(data=st.data())
@settings(max_examples=200)
def test_both_ask_for_the_same_in_a_dying_database(data):
    """RS-913..RS-917: beats that fail or hang past the deadline, so that both activities come to expire, again and
    again."""
    both = Both(0)
    for _ in range(data.draw(st.integers(10, 60))):
        kinds = sorted(both.outstanding) or ["Cancelled"]
        kind = data.draw(st.sampled_from(kinds))
        results = {"HeartbeatEnded": [0, 5], "ReconfirmEnded": [0], "ReceiptEnded": [0]}.get(kind, [0])
        if data.draw(st.integers(0, 9)) == 0:
            results = list(range(len(TELLINGS[kind])))
        both.clock_ms += data.draw(st.sampled_from([0, 1_000, 9_500, 18_999, 19_000, 19_001]))
        both.tell(TELLINGS[kind][data.draw(st.sampled_from(results))](both.clock_ms))


def scripts() -> list[tuple[str, list[Event]]]:
    """Histories that go where drawn ones seldom get: both activities overdue, one waiting for the other."""
    late = 25_000
    both_overdue = [Woke("pulse", late), Woke("deadline", late)]
    renewed = [ReconfirmEnded(Updated(), late), ReceiptEnded(Finished(), late + 1)]
    too_late = [ReconfirmEnded(Updated(), late), ReceiptEnded(Finished(), late + 19_000)]
    return [
        ("the deadline waits for the pulse, which renews", [*both_overdue, *renewed]),
        ("the pulse waits for the deadline, which renews", [*reversed(both_overdue), *renewed]),
        ("the deadline waits, and is overdue again", [*both_overdue, *too_late]),
        ("the pulse waits, and is overdue again", [*reversed(both_overdue), *too_late]),
        ("the waiting one is left when the other lapses", [*both_overdue, ReconfirmEnded(TimedOut(), late + 1_000)]),
    ]


@pytest.mark.parametrize("script", [script for _, script in scripts()], ids=[name for name, _ in scripts()])
def test_both_ask_for_the_same_when_both_are_overdue(script):
    """RS-913, RS-915: who waited for the mutex has it before its holder goes on, who waits if it is overdue again."""
    both = Both(0)
    for event in script:
        both.tell(event)

    assert both.outstanding


class Forgetful(SupervisionMachine):
    """Measures its budget from the end of a beat."""

    def on(self, event):
        actions = super().on(event)
        if isinstance(event, HeartbeatEnded) and isinstance(event.result, Updated):
            self._last = event.clock_ms
        return actions


def test_a_wrong_machine_is_found():
    """RS-918: a budget from the completion of a beat is a difference, so the comparison above can fail."""
    both = Both(0)
    both.machine = Forgetful(0)
    both.machine.start()
    both.tell(Woke("pulse", 1_000))
    both.tell(HeartbeatEnded(Updated(), 9_000))

    with pytest.raises(AssertionError):
        both.tell(Woke("deadline", 20_000))


def test_nothing_follows_the_end():
    """RS-910: after the end every event of every kind is ignored by both."""
    both = Both(0)
    assert both.tell(Cancelled(5)) == (Interrupt("interrupted"),)

    told = [both.tell(tell(30_000)) for tellings in TELLINGS.values() for tell in tellings]

    assert set(told) == {()}
    assert not any(isinstance(action, Raise) for actions in told for action in actions)

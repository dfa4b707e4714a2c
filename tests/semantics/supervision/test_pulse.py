"""The pulse, rule by rule."""

import pytest

from tenure_model.semantics.supervision.machine import Step, start
from tenure_model.semantics.supervision.state import AWAITING_MUTEX, ENDED, SLEEPING, Beating, Supervision
from tenure_model.vocabulary.outcomes import FenceLost, NotFound, Updated
from tenure_model.vocabulary.supervision import (
    CallHeartbeat,
    CallReconfirm,
    Defect,
    HeartbeatEnded,
    HeartbeatResult,
    Interrupt,
    Interruption,
    Raise,
    Sleep,
    StoreFailure,
    WarnHeartbeatFailed,
    Woke,
)
from tests.semantics.supervision.scripts import (
    BROKEN,
    UPDATED,
    T,
    actions_after,
    beats,
    last_step,
    overdue,
    renewed,
    supervision_after,
)


def test_both_activities_sleep_first() -> None:
    """The budget counts from the raw reading of the start, and nothing is called before 1,000 ms (RS-910, RS-911)."""
    state = Supervision(T + 0.5, failing=False, holder=None, pulse=SLEEPING, deadline=SLEEPING)

    assert start(T + 0.5) == Step(state, (Sleep("pulse", 1_000), Sleep("deadline", 1_000)))


def test_a_pulse_sends_the_floored_reading() -> None:
    """What goes to the store has no fraction, and is an integer (RS-911)."""
    (call,) = actions_after(T, Woke("pulse", T + 1_000.9))

    assert call == CallHeartbeat(T + 1_000)
    assert type(call.now_ms) is int


def test_the_period_is_the_interval_and_the_time_of_the_write() -> None:
    """The sleep after a write is as long as the first, so a write of 700 ms makes a period of 1,700 ms (RS-911)."""
    assert actions_after(T, Woke("pulse", T + 1_000), HeartbeatEnded(UPDATED, T + 1_700)) == (Sleep("pulse", 1_000),)


def test_a_success_moves_the_budget_to_what_was_sent() -> None:
    """Not to when the answer came (RS-911, RS-918)."""
    after = supervision_after(T, Woke("pulse", T + 1_000.9), HeartbeatEnded(UPDATED, T + 5_000))

    assert after.last_ms == T + 1_000


def test_a_success_does_not_take_the_budget_back() -> None:
    """A reading from before the clock was set back leaves the later one (RS-911)."""
    after = supervision_after(T, *beats(T, 1), Woke("pulse", T - 9_000), HeartbeatEnded(UPDATED, T - 9_000))

    assert after.last_ms == T + 1_000


@pytest.mark.parametrize("outcome", [FenceLost(), NotFound()])
def test_a_lost_fence_interrupts_at_once(outcome: FenceLost | NotFound) -> None:
    """No lapse hook, no warning (RS-911, RS-916)."""
    step = last_step(T, Woke("pulse", T + 1_000), HeartbeatEnded(outcome, T + 1_000))

    assert step == Step(ENDED, (Interrupt("fence-lost"),))


def test_failing_writes_are_warned_of_once() -> None:
    """The first failure with its code; the second goes without words, and moves nothing (RS-911)."""
    first = last_step(T, *beats(T, 1, BROKEN))
    second = last_step(T, *beats(T, 2, StoreFailure("constraint")))

    assert first.actions == (WarnHeartbeatFailed("persistence_failed"), Sleep("pulse", 1_000))
    assert second == Step(Supervision(T, True, None, SLEEPING, SLEEPING), (Sleep("pulse", 1_000),))


@pytest.mark.parametrize("success", [[*beats(T, 1)], [overdue(), renewed()]], ids=["heartbeat", "reconfirm"])
def test_after_a_success_a_failure_is_warned_of_again(success: list[HeartbeatEnded]) -> None:
    """Either kind of success ends the failing (RS-911, RS-913)."""
    failed = [*beats(T, 1, BROKEN)]

    assert actions_after(T, *failed, *success, *failed) == (
        WarnHeartbeatFailed("persistence_failed"),
        Sleep("pulse", 1_000),
    )


@pytest.mark.parametrize(
    ("result", "end"),
    [(Defect("boom"), Raise("boom")), (Interruption(), Interrupt("interrupted"))],
)
def test_what_is_no_store_error_ends_the_loop(result: HeartbeatResult, end: Raise | Interrupt) -> None:
    """A defect is raised from the loop, an interruption stays one (RS-910, RS-911)."""
    step = last_step(T, Woke("pulse", T + 1_000), HeartbeatEnded(result, T + 1_000))

    assert step == Step(ENDED, (end,))


@pytest.mark.parametrize(
    ("start_ms", "at_ms", "expected"),
    [
        (T, T + 18_999.9, CallHeartbeat(T + 18_999)),
        (T, T + 19_000, CallReconfirm(T + 19_000, 1_000)),
        (T, T + 19_000.9, CallReconfirm(T + 19_000, 1_000)),
        (T + 0.5, T + 19_000.9, CallHeartbeat(T + 19_000)),
        (T + 0.5, T + 19_001, CallReconfirm(T + 19_001, 1_000)),
        (T, T - 50_000, CallHeartbeat(T - 50_000)),
    ],
)
def test_an_overdue_pulse_reconfirms(start_ms: float, at_ms: float, expected: CallHeartbeat | CallReconfirm) -> None:
    """From exactly 19,000 ms on, by the floored reading (RS-911, RS-915)."""
    assert actions_after(start_ms, Woke("pulse", at_ms)) == (expected,)


def test_the_pulse_goes_on_while_the_deadline_expires() -> None:
    """It beats as long as its own floored reading allows, and its success raises the budget (RS-917)."""
    expiring = [Woke("deadline", T + 19_000.5), Woke("pulse", T + 500)]
    after = supervision_after(T, *expiring, HeartbeatEnded(Updated(), T + 20_000))

    assert actions_after(T, *expiring) == (CallHeartbeat(T + 500),)
    assert after.last_ms == T + 500
    assert after.holder == "deadline"


@pytest.mark.parametrize("phase", ["reconfirming", "recording", "lapsing"])
def test_a_fence_lost_while_the_deadline_expires_ends_everything(phase: str) -> None:
    """Whatever the deadline is at, the lapse hook too (RS-917)."""
    beating = [Woke("pulse", T + 1_000), overdue()]
    more = {"reconfirming": [], "recording": [renewed()], "lapsing": [renewed(T + 38_000)]}[phase]
    step = last_step(T, *beating, *more, HeartbeatEnded(FenceLost(), T + 38_000))

    assert step == Step(ENDED, (Interrupt("fence-lost"),))


def test_an_overdue_pulse_waits_for_the_deadline_to_expire() -> None:
    """One mutex: nothing is called (RS-913, RS-915)."""
    after = last_step(T, overdue("deadline"), overdue("pulse"))

    assert after.actions == ()
    assert isinstance(after.state, Supervision)
    assert after.state.pulse == AWAITING_MUTEX


def test_a_beat_that_hangs_stays_outstanding() -> None:
    """The deadline looks on without it (RS-911, RS-915)."""
    after = supervision_after(T, Woke("pulse", T + 1_000), Woke("deadline", T + 1_000))

    assert after.pulse == Beating(T + 1_000)

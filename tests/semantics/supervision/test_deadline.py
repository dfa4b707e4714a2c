"""The deadline and the expiry of a lease, rule by rule."""

import pytest

from tenure_model.semantics.supervision.machine import Step
from tenure_model.semantics.supervision.state import (
    ENDED,
    SLEEPING,
    Lapsing,
    Reconfirming,
    Recording,
    Supervision,
    is_overdue,
    remaining_ms,
)
from tenure_model.vocabulary.outcomes import FenceLost, NotFound
from tenure_model.vocabulary.supervision import (
    Activity,
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
    ReceiptResult,
    ReconfirmEnded,
    ReconfirmResult,
    RunLapseHook,
    RunReceipt,
    Sleep,
    TimedOut,
    WarnLeaseLapsed,
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

EITHER: tuple[Activity, ...] = ("pulse", "deadline")


@pytest.mark.parametrize(
    ("at_ms", "expected"),
    [
        (T + 1_000, Sleep("deadline", 1_000)),
        (T + 18_000, Sleep("deadline", 1_000)),
        (T + 18_000.5, Sleep("deadline", 999.5)),
        (T + 18_999.5, Sleep("deadline", 0.5)),
        (T + 19_000, CallReconfirm(T + 19_000, 1_000)),
        (T + 19_000.5, CallReconfirm(T + 19_000, 1_000)),
        (T + 10**9, CallReconfirm(T + 10**9, 1_000)),
        (T - 10**9, Sleep("deadline", 1_000)),
    ],
)
def test_the_deadline_sleeps_or_expires(at_ms: float, expected: Sleep | CallReconfirm) -> None:
    """At most 1,000 ms, less when less is left, and no more than 0 left expires: forward jumps are seen within a
    second, backward ones stretch the budget (RS-912, hazard H-14).
    """
    assert actions_after(T, Woke("deadline", at_ms)) == (expected,)


def test_a_beat_moves_the_deadline() -> None:
    """The budget counts from the last confirmed reading (RS-912)."""
    assert actions_after(T, *beats(T, 10), Woke("deadline", T + 28_500)) == (Sleep("deadline", 500),)


@pytest.mark.parametrize("activity", EITHER)
def test_expiry_takes_the_mutex_and_measures_the_gap(activity: Activity) -> None:
    """The gap keeps its fraction, the reading that is sent does not (RS-913)."""
    after = supervision_after(T, overdue(activity, T + 19_000.5))

    assert after.holder == activity
    assert {after.pulse, after.deadline} == {SLEEPING, Reconfirming(T + 19_000, 19_000.5)}


@pytest.mark.parametrize("activity", EITHER)
def test_a_renewal_runs_the_receipt_in_what_is_left(activity: Activity) -> None:
    """19,000 ms from the reading that was sent, not from the answer (RS-913, RS-918)."""
    events = [overdue(activity, T + 19_000.5), renewed(T + 19_700)]
    after = supervision_after(T, *events)

    assert actions_after(T, *events) == (RunReceipt(19_000.5, 18_300),)
    assert after.last_ms == T + 19_000
    assert Recording(19_000.5) in (after.pulse, after.deadline)


@pytest.mark.parametrize(
    ("activity", "expected"), [("pulse", Sleep("pulse", 1_000)), ("deadline", Sleep("deadline", 700))]
)
def test_a_completed_receipt_renews(activity: Activity, expected: Sleep) -> None:
    """The mutex is free, the activity goes on, and a late completion extends nothing (RS-913, RS-915)."""
    step = last_step(T, overdue(activity), renewed(), ReceiptEnded(Finished(), T + 37_300))

    assert step == Step(Supervision(T + 19_000, False, None, SLEEPING, SLEEPING), (expected,))


@pytest.mark.parametrize(
    ("answered_ms", "expected"),
    [
        (T + 37_999.5, (RunReceipt(19_000, 0.5),)),
        (T + 38_000, (WarnLeaseLapsed(19_000), RunLapseHook(19_000))),
        (T + 99_000, (WarnLeaseLapsed(19_000), RunLapseHook(19_000))),
    ],
)
def test_a_renewal_that_answers_too_late_lapses(answered_ms: float, expected: tuple[object, ...]) -> None:
    """With nothing of the renewed budget left there is no receipt (RS-913, RS-915)."""
    assert actions_after(T, overdue(), renewed(answered_ms)) == expected


@pytest.mark.parametrize("result", [FenceLost(), NotFound(), BROKEN, Defect("boom"), TimedOut()])
@pytest.mark.parametrize("activity", EITHER)
def test_whatever_else_reconfirm_ends_with_lapses(activity: Activity, result: ReconfirmResult) -> None:
    """A refusal too, unlike a heartbeat's; the gap is the one before the attempt (RS-913, RS-914, RS-916)."""
    events = [overdue(activity), ReconfirmEnded(result, T + 20_000)]
    after = supervision_after(T, *events)

    assert actions_after(T, *events) == (WarnLeaseLapsed(19_000), RunLapseHook(19_000))
    assert after.last_ms == T
    assert Lapsing(19_000) in (after.pulse, after.deadline)
    assert after.holder == activity


@pytest.mark.parametrize("result", [Defect("boom"), TimedOut()])
def test_whatever_else_the_receipt_ends_with_lapses(result: ReceiptResult) -> None:
    """Although the lease is renewed in the store (RS-913, RS-914)."""
    assert actions_after(T, overdue(), renewed(), ReceiptEnded(result, T + 38_000)) == (
        WarnLeaseLapsed(19_000),
        RunLapseHook(19_000),
    )


@pytest.mark.parametrize(
    ("hook", "end"),
    [
        (Finished(), Interrupt("lapsed")),
        (Defect("boom"), Raise("boom")),
        (Interruption(), Interrupt("interrupted")),
    ],
)
def test_the_lapse_hook_ends_the_loop(hook: Finished | Defect | Interruption, end: Interrupt | Raise) -> None:
    """However long it took, and whatever it ended with (RS-910, RS-914)."""
    step = last_step(T, overdue(), ReconfirmEnded(TimedOut(), T + 20_000), LapseHookEnded(hook, T + 10**9))

    assert step == Step(ENDED, (end,))


PHASES: dict[str, list[Event]] = {
    "sleeping": [],
    "beating": [Woke("pulse", T + 1_000)],
    "reconfirming": [overdue()],
    "reconfirming beside a waiting pulse": [overdue(), overdue("pulse")],
    "recording": [overdue("pulse"), renewed()],
    "lapsing": [overdue(), ReconfirmEnded(BROKEN, T + 19_000)],
}


@pytest.mark.parametrize("phase", PHASES)
def test_a_cancellation_passes_in_every_phase(phase: str) -> None:
    """From outside: nothing more is called, not the lapse hook either (RS-913)."""
    assert last_step(T, *PHASES[phase], Cancelled(T + 19_000)) == Step(ENDED, (Interrupt("interrupted"),))


@pytest.mark.parametrize(
    "events",
    [[overdue(), ReconfirmEnded(Interruption(), T + 19_000)], [*PHASES["recording"], ReceiptEnded(Interruption(), T)]],
    ids=["reconfirm", "receipt"],
)
def test_an_interruption_from_within_passes(events: list[Event]) -> None:
    """It is no failure, so the lapse hook is not called (RS-913)."""
    assert last_step(T, *events) == Step(ENDED, (Interrupt("interrupted"),))


@pytest.mark.parametrize(("first", "second"), [EITHER, EITHER[::-1]])
def test_what_is_overdue_twice_is_reconfirmed_once(first: Activity, second: Activity) -> None:
    """After a stall the second activity finds the lease renewed, acts before the first, and both sleep (RS-915)."""
    waiting = [overdue(first, T + 60_000), overdue(second, T + 60_000)]
    done = [renewed(T + 60_000), ReceiptEnded(Finished(), T + 60_000)]
    step = last_step(T, *waiting, *done)

    assert actions_after(T, *waiting) == ()
    assert step.actions == (Sleep(second, 1_000), Sleep(first, 1_000))
    assert step.state == Supervision(T + 60_000, False, None, SLEEPING, SLEEPING)


def test_a_renewal_that_answers_too_late_is_remembered() -> None:
    """The store did renew the lease, so the budget counts from it while the hook runs (RS-913, RS-918)."""
    assert supervision_after(T, overdue(), renewed(T + 38_000)).last_ms == T + 19_000


def test_a_renewal_that_is_used_up_is_reconfirmed_by_who_waited() -> None:
    """A clock set forward during the receipt: the waiting pulse takes the mutex first, the deadline waits (RS-913)."""
    events = [overdue(), overdue("pulse"), renewed(), ReceiptEnded(Finished(), T + 99_000)]
    after = supervision_after(T, *events)

    assert actions_after(T, *events) == (CallReconfirm(T + 99_000, 1_000),)
    assert after.holder == "pulse"
    assert after.pulse == Reconfirming(T + 99_000, 80_000)


def test_a_renewal_that_is_used_up_is_reconfirmed_by_the_deadline_alone() -> None:
    """With nobody waiting, the deadline finds nothing left and expires again (RS-912, RS-913)."""
    events = [overdue(), renewed(), ReceiptEnded(Finished(), T + 99_000)]

    assert actions_after(T, *events) == (CallReconfirm(T + 99_000, 1_000),)
    assert supervision_after(T, *events).holder == "deadline"


def test_a_late_beat_does_not_save_an_attempt_that_fails() -> None:
    """The lease lapses with the gap from before, although a beat renewed it meanwhile (RS-914, RS-917)."""
    events = [Woke("pulse", T + 18_500), overdue(), HeartbeatEnded(UPDATED, T + 19_500)]

    assert supervision_after(T, *events).last_ms == T + 18_500
    assert actions_after(T, *events, ReconfirmEnded(TimedOut(), T + 20_000)) == (
        WarnLeaseLapsed(19_000),
        RunLapseHook(19_000),
    )


def test_a_renewal_keeps_a_later_beat() -> None:
    """A clock set back and forward within the attempt lets two beats pass, the second sent after it (RS-913)."""
    beat_twice: list[Event] = [
        Woke("pulse", T + 18_000),
        HeartbeatEnded(UPDATED, T + 18_000),
        Woke("pulse", T + 30_000),
        HeartbeatEnded(UPDATED, T + 30_000),
    ]
    after = supervision_after(T, overdue(), *beat_twice, renewed(T + 30_000))

    assert after.last_ms == T + 30_000


@pytest.mark.parametrize("last_ms", [T, T + 0.1, 0.1, 0.30000000000000004])
@pytest.mark.parametrize("gap_ms", [18_999.999999, 19_000, 19_000.000001])
def test_nothing_left_and_overdue_are_the_same(last_ms: float, gap_ms: float) -> None:
    """Also where floating point rounds, so that the deadline never spins (RS-912, RS-913)."""
    clock_ms = last_ms + gap_ms

    assert (remaining_ms(last_ms, clock_ms) <= 0) == is_overdue(last_ms, clock_ms)

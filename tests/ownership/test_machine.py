"""The machine of supervision by script: what it is told, and what it asks for then, rule by rule."""

import pytest

import tenure
from tenure.ownership.machine import SupervisionMachine
from tenure_model.vocabulary.supervision import (
    CallHeartbeat,
    CallReconfirm,
    Cancelled,
    Defect,
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
    WarnHeartbeatFailed,
    WarnLeaseLapsed,
    Woke,
)

UPDATED = tenure.Updated()
FAILED = StoreFailure("persistence_failed")
FAILURE = RuntimeError("no store error")
PULSE_SLEEPS = Sleep("pulse", 1_000)
DEADLINE_SLEEPS = Sleep("deadline", 1_000)
LOST = [tenure.FenceLost(), tenure.NotFound()]


def started(clock_ms=0):
    """A machine that was asked for its first sleeps."""
    machine = SupervisionMachine(clock_ms)
    machine.start()
    return machine


def play(machine, *events):
    """What the last of the events leads to."""
    actions = ()
    for event in events:
        actions = machine.on(event)
    return actions


def beating(clock_ms=1_000):
    """A machine started at 0 whose pulse has sent ``clock_ms`` and waits."""
    machine = started()
    assert play(machine, Woke("pulse", clock_ms)) == (CallHeartbeat(clock_ms),)
    return machine


def expiring(clock_ms=19_000, activity="deadline"):
    """A machine started at 0 that reconfirms at ``clock_ms``."""
    machine = started()
    assert play(machine, Woke(activity, clock_ms)) == (CallReconfirm(int(clock_ms), 1_000),)
    return machine


def recording(clock_ms=19_000, activity="deadline"):
    """A machine started at 0 that has reconfirmed at ``clock_ms`` and runs the receipt."""
    machine = expiring(clock_ms, activity)
    assert play(machine, ReconfirmEnded(UPDATED, clock_ms)) == (RunReceipt(clock_ms, 19_000),)
    return machine


def lapsing(clock_ms=19_000):
    """A machine started at 0 whose lease has lapsed at ``clock_ms``, and whose hook runs."""
    machine = expiring(clock_ms)
    lapse = (WarnLeaseLapsed(clock_ms), RunLapseHook(clock_ms))
    assert play(machine, ReconfirmEnded(tenure.FenceLost(), clock_ms)) == lapse
    return machine


PHASES = [started, beating, expiring, recording, lapsing]


@pytest.mark.parametrize("clock_ms", [0, 0.5, 1_700_000_000_000, 1_700_000_000_000.25])
def test_the_start(clock_ms):
    """RS-910: both activities sleep first, and the budget counts from the raw clock."""
    machine = SupervisionMachine(clock_ms)

    assert machine.start() == (PULSE_SLEEPS, DEADLINE_SLEEPS)
    assert machine.last_ms == clock_ms


@pytest.mark.parametrize(("clock_ms", "sent_ms"), [(1_000, 1_000), (1_000.9, 1_000), (18_999.9, 18_999)])
def test_a_pulse_beats_with_the_floored_clock(clock_ms, sent_ms):
    """RS-911: the reading is the clock rounded down, an int."""
    (action,) = play(started(), Woke("pulse", clock_ms))

    assert action == CallHeartbeat(sent_ms)
    assert type(action.now_ms) is int


def test_a_pulse_judges_its_budget_by_the_floored_clock():
    """RS-911: with a start at a half, 19,000 floored is still before the end of the budget, 19,001 is not."""
    assert play(started(0.5), Woke("pulse", 19_000.75)) == (CallHeartbeat(19_000),)
    assert play(started(0.5), Woke("pulse", 19_001)) == (CallReconfirm(19_001, 1_000),)


def test_a_pulse_due_at_exactly_the_end_reconfirms():
    """RS-915: at 19,000 it does not beat."""
    assert play(started(), Woke("pulse", 19_000)) == (CallReconfirm(19_000, 1_000),)


def test_a_confirmed_beat_sleeps_on_from_its_end():
    """RS-911, RS-918: the period is 1,000 ms and the write's duration; the budget counts from the reading."""
    machine = beating()

    assert play(machine, HeartbeatEnded(UPDATED, 9_000)) == (PULSE_SLEEPS,)
    assert machine.last_ms == 1_000


def test_a_backward_step_never_lowers_the_budget():
    """RS-911: the greater of the two readings stands."""
    machine = started(50_000)
    play(machine, Woke("pulse", 20_000), HeartbeatEnded(UPDATED, 20_000))

    assert machine.last_ms == 50_000


@pytest.mark.parametrize("outcome", LOST)
def test_a_lost_fence_ends_at_once(outcome):
    """RS-911, RS-916: what the pulse itself learns ends everything, without the hook."""
    machine = beating()

    assert play(machine, HeartbeatEnded(outcome, 1_001)) == (Interrupt("fence-lost"),)
    assert machine.ended


def test_failing_beats_warn_once_until_one_succeeds():
    """RS-911: one warning for a series of failures, and another for the next series."""
    machine = started()
    told = []
    for second, result in enumerate([FAILED, FAILED, UPDATED, StoreFailure("constraint")], 1):
        play(machine, Woke("pulse", second * 1_000))
        told.append(play(machine, HeartbeatEnded(result, second * 1_000)))

    assert told[0] == (WarnHeartbeatFailed("persistence_failed"), PULSE_SLEEPS)
    assert told[1:3] == [(PULSE_SLEEPS,), (PULSE_SLEEPS,)]
    assert told[3] == (WarnHeartbeatFailed("constraint"), PULSE_SLEEPS)


def test_a_reconfirmation_ends_a_series_of_failures():
    """RS-913: after a renewal the next failure is warned of anew."""
    machine = beating()
    play(machine, HeartbeatEnded(FAILED, 1_000), Woke("deadline", 19_000), ReconfirmEnded(UPDATED, 19_000))
    play(machine, ReceiptEnded(Finished(), 19_000), Woke("pulse", 20_000))

    assert WarnHeartbeatFailed("persistence_failed") in play(machine, HeartbeatEnded(FAILED, 20_000))


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (HeartbeatEnded(Defect(FAILURE), 1_500), Raise(FAILURE)),
        (HeartbeatEnded(Interruption(), 1_500), Interrupt("interrupted")),
    ],
)
def test_what_is_no_store_error_ends_the_loop(event, expected):
    """RS-911: it ends with that failure; cancelled from within, as interrupted."""
    assert play(beating(), event) == (expected,)


@pytest.mark.parametrize(
    ("clock_ms", "duration_ms"), [(1_000, 1_000), (17_999, 1_000), (18_000, 1_000), (18_500, 500), (18_999.5, 0.5)]
)
def test_the_deadline_sleeps_to_the_end_of_the_budget(clock_ms, duration_ms):
    """RS-912: at most 1,000 ms, and never beyond the end."""
    assert play(started(), Woke("deadline", clock_ms)) == (Sleep("deadline", duration_ms),)


@pytest.mark.parametrize("clock_ms", [19_000, 19_000.5, 25_000, 10**9])
def test_the_deadline_reconfirms_at_the_end(clock_ms):
    """RS-912, RS-913: with the floored clock, for at most 1,000 ms, however late it is."""
    assert play(started(), Woke("deadline", clock_ms)) == (CallReconfirm(int(clock_ms), 1_000),)


def test_a_renewal_needs_reconfirmation_and_receipt():
    """RS-913, RS-918: the budget counts from the reading that was sent, and the receipt is told the gap."""
    machine = expiring(19_500.75)

    assert play(machine, ReconfirmEnded(UPDATED, 20_000)) == (RunReceipt(19_500.75, 18_500),)
    assert play(machine, ReceiptEnded(Finished(), 21_000)) == (DEADLINE_SLEEPS,)
    assert machine.last_ms == 19_500


def test_a_late_receipt_extends_nothing():
    """RS-915: completed in time, however late, it leaves the budget as the reading made it."""
    machine = recording()

    assert play(machine, ReceiptEnded(Finished(), 37_999)) == (Sleep("deadline", 1),)
    assert machine.last_ms == 19_000


@pytest.mark.parametrize("result", [*LOST, FAILED, Defect(FAILURE), TimedOut()])
def test_a_failed_reconfirmation_lapses(result):
    """RS-913, RS-914, RS-916: whatever it was, and with the gap from before the attempt."""
    machine = expiring(19_000)

    assert play(machine, ReconfirmEnded(result, 20_000)) == (WarnLeaseLapsed(19_000), RunLapseHook(19_000))
    assert play(machine, LapseHookEnded(Finished(), 99_000)) == (Interrupt("lapsed"),)


@pytest.mark.parametrize("result", [Defect(FAILURE), TimedOut()])
def test_a_failed_receipt_lapses(result):
    """RS-913: the lease in the store is renewed, and the work is interrupted all the same."""
    machine = recording()

    assert play(machine, ReceiptEnded(result, 38_000)) == (WarnLeaseLapsed(19_000), RunLapseHook(19_000))


@pytest.mark.parametrize(("clock_ms", "lapses"), [(37_999, False), (38_000, True)])
def test_a_reconfirmation_after_the_renewed_budget_lapses(clock_ms, lapses):
    """RS-915: what returns when the renewed budget is spent has failed, although the store says ``Updated``."""
    actions = play(expiring(), ReconfirmEnded(UPDATED, clock_ms))

    assert (actions == (WarnLeaseLapsed(19_000), RunLapseHook(19_000))) is lapses


@pytest.mark.parametrize(
    ("make", "event"),
    [
        (expiring, ReconfirmEnded(Interruption(), 19_500)),
        (recording, ReceiptEnded(Interruption(), 19_500)),
        (lapsing, LapseHookEnded(Interruption(), 19_500)),
        *((make, Cancelled(19_500)) for make in PHASES),
    ],
)
def test_interruption_passes_through(make, event):
    """RS-913: from within a call or hook, and from outside in every phase, without a further call."""
    machine = make()

    assert play(machine, event) == (Interrupt("interrupted"),)
    assert machine.ended


def test_a_defect_of_the_lapse_hook_is_raised():
    """RS-910, RS-914: the loop ends with it."""
    assert play(lapsing(), LapseHookEnded(Defect(FAILURE), 19_000)) == (Raise(FAILURE),)


@pytest.mark.parametrize(("result", "lapse_ms"), [(FAILED, 19_000), (TimedOut(), 20_000)])
def test_when_a_dead_database_lapses(result, lapse_ms):
    """RS-915: 19,000 ms after the last confirmed reading if reconfirming fails at once, 20,000 ms if it hangs."""
    machine = started()
    for clock_ms in range(1_000, 19_000, 1_000):
        assert CallHeartbeat(clock_ms) in play(machine, Woke("pulse", clock_ms))
        play(machine, HeartbeatEnded(FAILED, clock_ms), Woke("deadline", clock_ms))
    (reconfirm,) = play(machine, Woke("deadline", 19_000))

    assert reconfirm == CallReconfirm(19_000, 1_000)
    assert lapse_ms - 19_000 == (reconfirm.limit_ms if result == TimedOut() else 0)
    assert play(machine, ReconfirmEnded(result, lapse_ms))[0] == WarnLeaseLapsed(19_000)


@pytest.mark.parametrize(("first", "second"), [("pulse", "deadline"), ("deadline", "pulse")])
def test_both_overdue_reconfirm_once(first, second):
    """RS-913, RS-915: who comes second waits, and finds the budget renewed."""
    machine = expiring(25_000, first)

    assert play(machine, Woke(second, 25_000)) == ()
    assert play(machine, ReconfirmEnded(UPDATED, 25_000)) == (RunReceipt(25_000, 19_000),)
    assert set(play(machine, ReceiptEnded(Finished(), 25_000))) == {PULSE_SLEEPS, DEADLINE_SLEEPS}


def test_who_waited_comes_before_who_left():
    """RS-913: both overdue again after the receipt, the one that waited reconfirms and the other waits."""
    machine = expiring(25_000, "deadline")
    play(machine, Woke("pulse", 25_000), ReconfirmEnded(UPDATED, 25_000))

    assert play(machine, ReceiptEnded(Finished(), 44_000)) == (CallReconfirm(44_000, 1_000),)
    assert play(machine, ReconfirmEnded(UPDATED, 44_000), ReceiptEnded(Finished(), 44_000)) == (
        DEADLINE_SLEEPS,
        PULSE_SLEEPS,
    )


def test_the_second_waits_for_a_lapse_in_vain():
    """RS-914: nothing follows a lapse but the end."""
    machine = expiring(25_000, "pulse")
    play(machine, Woke("deadline", 25_000), ReconfirmEnded(TimedOut(), 26_000))

    assert play(machine, LapseHookEnded(Finished(), 26_000)) == (Interrupt("lapsed"),)


@pytest.mark.parametrize("make", [expiring, recording, lapsing])
@pytest.mark.parametrize("outcome", LOST)
def test_a_beat_finds_the_fence_lost_during_expiry(make, outcome):
    """RS-917: the beat that was sent before, or a later one, ends everything, whatever expire() is at."""
    machine = make(19_000)
    beat = play(machine, Woke("pulse", 18_000))

    assert beat == (CallHeartbeat(18_000),)
    assert play(machine, HeartbeatEnded(outcome, 19_500)) == (Interrupt("fence-lost"),)


def test_a_beat_raises_the_budget_during_expiry():
    """RS-917: a beat that was stuck since 18,000 succeeds while reconfirming; the greater reading stands."""
    machine = started()
    play(machine, Woke("pulse", 18_000), Woke("deadline", 19_000))

    assert play(machine, HeartbeatEnded(UPDATED, 19_500)) == (PULSE_SLEEPS,)
    assert machine.last_ms == 18_000
    assert play(machine, ReconfirmEnded(UPDATED, 19_600)) == (RunReceipt(19_000, 18_400),)
    assert machine.last_ms == 19_000


def test_a_stuck_beat_does_not_keep_the_deadline():
    """RS-915: the beat hangs, the deadline lapses, and a late answer to the beat changes nothing."""
    machine = beating()
    play(machine, Woke("deadline", 19_000), ReconfirmEnded(TimedOut(), 20_000), LapseHookEnded(Finished(), 20_000))

    assert machine.ended
    assert play(machine, HeartbeatEnded(UPDATED, 21_000)) == ()


@pytest.mark.parametrize(
    "event",
    [
        HeartbeatEnded(tenure.FenceLost(), 5),
        ReconfirmEnded(tenure.FenceLost(), 5),
        ReceiptEnded(TimedOut(), 5),
        LapseHookEnded(Finished(), 5),
    ],
)
def test_what_answers_nothing_changes_nothing(event):
    """RS-910: an answer to a call that is not under way is ignored, and so is a second waking."""
    machine = started()

    assert play(machine, event) == ()
    assert play(machine, Woke("pulse", 1_000)) == (CallHeartbeat(1_000),)
    assert play(machine, Woke("pulse", 1_000)) == ()


def test_a_clock_that_jumps_ahead_reconfirms_and_one_that_jumps_back_waits():
    """RS-910..RS-912: only the clock counts: a forward jump spends the budget, a backward one stretches it (H-14)."""
    assert play(started(50_000), Woke("deadline", 69_000)) == (CallReconfirm(69_000, 1_000),)
    assert play(started(50_000), Woke("deadline", 20_000)) == (DEADLINE_SLEEPS,)

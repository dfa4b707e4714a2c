"""What the write tolerance promises: as arithmetic, and lived through by the machine on a grid of boundary values."""

import itertools
from collections.abc import Callable

import pytest

from tenure_model.semantics import lease
from tenure_model.semantics.predicates import is_stale, within_skew
from tenure_model.semantics.supervision.invariants import is_within_budget, violated_invariants
from tenure_model.semantics.supervision.margins import (
    PROMISED_MARGIN_MS,
    margin_ms,
    stealable_after_ms,
    working_for_ms,
)
from tenure_model.semantics.supervision.timeline import (
    Answer,
    Circumstances,
    Life,
    Stamp,
    live,
    observed_margin_ms,
)
from tenure_model.vocabulary.outcomes import FenceLost
from tenure_model.vocabulary.supervision import (
    CallHeartbeat,
    HeartbeatEnded,
    Interrupt,
    RunLapseHook,
    StoreFailure,
    TimedOut,
)
from tests.semantics.supervision.scripts import BROKEN, UPDATED, T
from tests.semantics.worlds import ALICE, BOB, stolen

SKEWS = (-10_000, -9_999, -1, 0, 1, 5_000, 9_999, 10_000)
DONE = Answer(UPDATED, after_ms=0, stamps_after_ms=0)
HANGING = Answer(BROKEN, after_ms=None)

# How writes fail after the last one that succeeded.
PATTERNS: dict[str, Callable[[int], Answer]] = {
    "at once": lambda _: Answer(BROKEN),
    "after 1 ms": lambda _: Answer(BROKEN, after_ms=1),
    "after 999 ms": lambda _: Answer(BROKEN, after_ms=999),
    "after 17,999 ms": lambda _: Answer(BROKEN, after_ms=17_999),
    "after 18,000 ms": lambda _: Answer(BROKEN, after_ms=18_000),
    "never": lambda _: HANGING,
    "now and then never": lambda number: HANGING if number % 7 == 6 else Answer(StoreFailure("constraint")),
}

RECONFIRMS: dict[str, tuple[Answer, int]] = {
    "fails at once": (Answer(BROKEN), 0),
    "is refused after 1 ms": (Answer(FenceLost(), after_ms=1), 1),
    "fails after 999 ms": (Answer(BROKEN, after_ms=999), 999),
    "fails after 1,000 ms": (Answer(BROKEN, after_ms=1_000), 1_000),
    "hangs": (HANGING, 1_000),
}


def always(answer: Answer) -> Callable[[int], Answer]:
    """The same fate for every call."""
    return lambda _: answer


def failing_from(beat: int, pattern: Callable[[int], Answer], answered_ms: float = 0) -> Callable[[int], Answer]:
    """Writes that succeed until ``beat`` of them did, each answering after ``answered_ms``, then fail."""
    good = Answer(UPDATED, after_ms=answered_ms, stamps_after_ms=answered_ms)
    return lambda number: good if number < beat else pattern(number - beat)


def lived(
    heartbeat: Callable[[int], Answer],
    reconfirm: Callable[[int], Answer] = lambda _: HANGING,
    *,
    owner_offset_ms: float = 0,
    start_delay_ms: float = 0,
    receipt_ms: float | None = 0,
    lapse_hook_ms: float | None = 0,
    late_ms: float = 0,
    set_back_ms: float = 0,
    set_back_at_ms: float = T + 5_000,
    until_ms: float = T + 10**6,
) -> Life:
    """The life of a supervision that starts at true time T, on a stamp that is so much older."""

    def owner_clock(at_ms: float) -> float:
        return at_ms + owner_offset_ms - (set_back_ms if at_ms >= set_back_at_ms else 0)

    circumstances = Circumstances(owner_clock, heartbeat, reconfirm, receipt_ms, lapse_hook_ms, late_ms)
    activated_ms = T - start_delay_ms
    return live(circumstances, T, Stamp(int(activated_ms + owner_offset_ms), activated_ms), until_ms)


def test_the_promise_leaves_one_millisecond() -> None:
    """A peer at the allowed skew may steal 1 ms after the owner was interrupted at the latest (RS-013)."""
    assert PROMISED_MARGIN_MS == 1
    assert min(margin_ms(skew) for skew in SKEWS) == 1
    assert margin_ms(10_001) == 0


@pytest.mark.parametrize("ahead_ms", [0, 1, 9_999, 10_000])
def test_a_peer_may_steal_from_the_first_reading_that_is_stale(ahead_ms: int) -> None:
    """The arithmetic is that of the predicates that decide (RS-004, RS-309)."""
    clock_ms = T + int(stealable_after_ms(ahead_ms))

    assert within_skew(clock_ms + ahead_ms, clock_ms)
    assert is_stale(T, clock_ms + ahead_ms)
    assert not is_stale(T, clock_ms + ahead_ms - 1)


@pytest.mark.parametrize("reconfirm", RECONFIRMS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_an_owner_endures_failing_writes_and_is_interrupted_in_time(pattern: str, reconfirm: str) -> None:
    """For every beat, write time and skew: it works 19,000 ms past its last confirmed reading, and the margin before
    the steal is exactly that of the arithmetic, at least 1 ms (RS-013, RS-915).
    """
    attempt, reconfirm_ms = RECONFIRMS[reconfirm]
    for beat, answered_ms, owner_offset_ms in itertools.product((0, 1, 3), (0, 1, 999), (-5_000, 0, 10_000)):
        life = lived(
            failing_from(beat, PATTERNS[pattern], answered_ms), always(attempt), owner_offset_ms=owner_offset_ms
        )
        confirmed_ms = life.stamps[-1].now_ms - owner_offset_ms

        assert len(life.stamps) == 1 + beat
        assert life.ended_by == Interrupt("lapsed")
        assert life.ended_at_ms == confirmed_ms + working_for_ms(reconfirm_ms)
        for skew_ms in SKEWS:
            margin = observed_margin_ms(life, owner_offset_ms + skew_ms)

            assert margin == margin_ms(skew_ms, reconfirm_ms=reconfirm_ms)
            assert margin >= 1


@pytest.mark.parametrize("fraction_ms", [0.25, 0.5, 0.75])
def test_a_fraction_of_a_millisecond_eats_into_the_margin_of_the_start_alone(fraction_ms: float) -> None:
    """The raw start is later than the floored stamp by it; after a beat both are the same reading (RS-910, RS-918)."""
    fresh = lived(failing_from(0, PATTERNS["at once"]), owner_offset_ms=fraction_ms)
    beaten = lived(failing_from(1, PATTERNS["at once"]), owner_offset_ms=fraction_ms)

    assert observed_margin_ms(fresh, fraction_ms + 10_000) == 1 - fraction_ms
    assert observed_margin_ms(beaten, fraction_ms + 10_000) == 1


@pytest.mark.parametrize("skew_ms", SKEWS)
@pytest.mark.parametrize("receipt_ms", [0, 18_999, 19_000, None])
def test_a_renewal_in_time_keeps_the_promise(receipt_ms: float | None, skew_ms: float) -> None:
    """Heartbeats fail and reconfirm succeeds, again and again: the lease is never stealable, and a receipt that hangs
    is cut off at 19,000 ms from the renewed reading (RS-913, RS-915).
    """
    life = lived(PATTERNS["at once"], lambda _: DONE, receipt_ms=receipt_ms, until_ms=T + 100_000)

    assert observed_margin_ms(life, skew_ms) >= 1
    assert (life.ended_at_ms, life.ended_by) == (
        (T + 38_000, Interrupt("lapsed")) if receipt_ms is None else (T + 100_000, None)
    )


@pytest.mark.parametrize(("skew_ms", "expected"), [(0, 1), (1, 0), (2, -1), (10_000, -9_999)])
def test_a_reading_ahead_of_the_peers_clock_spends_the_allowance_again(skew_ms: float, expected: int) -> None:
    """With equal clocks 1 ms is left, with any skew none, with the allowed one -9,999 ms (hazard H-09, RS-309)."""
    life = lived(PATTERNS["never"])

    assert margin_ms(skew_ms, ahead_ms=10_000) == expected
    assert observed_margin_ms(life, skew_ms, ahead_ms=10_000) == expected


@pytest.mark.parametrize(
    ("start_delay_ms", "skew_ms", "expected"),
    [(0, 10_000, 1), (1, 10_000, 0), (10_000, 0, 1), (10_001, 0, 0), (23_000, 0, -12_999), (23_000, -10_000, -2_999)],
)
def test_a_loop_that_starts_late_counts_too_late(start_delay_ms: float, skew_ms: float, expected: int) -> None:
    """The lease counts from the activation, the budget from the start of the loop: equal clocks bear 10,000 ms, the
    allowed skew none, and 23 s of busy retries are an overlap of 12,999 ms (hazard H-11).
    """
    life = lived(PATTERNS["never"], start_delay_ms=start_delay_ms)

    assert margin_ms(skew_ms, start_delay_ms=start_delay_ms) == expected
    assert observed_margin_ms(life, skew_ms) == expected


def test_the_first_beat_makes_a_late_start_good() -> None:
    """From then on the budget and the lease count from the same reading (hazard H-11, RS-918)."""
    life = lived(failing_from(1, PATTERNS["never"]), start_delay_ms=10_000)
    tail = Life(life.moments, life.stamps[-1:], life.ended_at_ms, life.ended_by)

    assert observed_margin_ms(tail, 10_000) == 1


@pytest.mark.parametrize(
    ("hook_ms", "skew_ms", "expected"), [(0, 10_000, 1), (1, 10_000, 0), (10_000, 0, 1), (60_000, 0, -49_999)]
)
def test_the_lapse_hook_runs_on_the_peers_time(hook_ms: float, skew_ms: float, expected: int) -> None:
    """The work goes on until the hook is done: equal clocks bear 10,000 ms, the allowed skew none (hazard H-15)."""
    life = lived(PATTERNS["never"], lapse_hook_ms=hook_ms)

    assert margin_ms(skew_ms, hook_ms=hook_ms) == expected
    assert observed_margin_ms(life, skew_ms) == expected


def test_a_lapse_hook_that_hangs_keeps_the_work_for_ever() -> None:
    """However long it is observed (hazard H-15, RS-914)."""
    life = lived(PATTERNS["never"], lapse_hook_ms=None)

    assert life.ended_by is None
    assert RunLapseHook(19_000) in [action for moment in life.moments for action in moment.step.actions]


@pytest.mark.parametrize("set_back_ms", [1, 10_000, 20_000])
def test_a_clock_set_back_stretches_the_budget_by_as_much(set_back_ms: float) -> None:
    """While writes fail: 10,000 ms with equal clocks leave 1 ms (hazard H-14, RS-912)."""
    life = lived(PATTERNS["never"], set_back_ms=set_back_ms)

    assert life.ended_at_ms == T + 20_000 + set_back_ms
    assert observed_margin_ms(life, 0) == margin_ms(0, setback_ms=set_back_ms)


@pytest.mark.parametrize(("set_forward_ms", "lapsed_ms"), [(5_000, 14_000), (14_000, 5_000 + 0), (100_000, 5_000 + 0)])
def test_a_clock_set_forward_ends_the_work_early(set_forward_ms: float, lapsed_ms: float) -> None:
    """Never late: the deadline looks at the clock every second (RS-912)."""
    life = lived(PATTERNS["never"], lambda _: Answer(BROKEN), set_back_ms=-set_forward_ms)

    assert life.ended_at_ms == T + lapsed_ms


@pytest.mark.parametrize(("late_ms", "lost_ms"), [(0, 0), (1, 1), (500, 500), (1_000, 1_000), (1_500, 1_000)])
def test_late_timers_cost_at_most_their_lateness(late_ms: float, lost_ms: int) -> None:
    """The deadline sleeps in parts, and of the last part's lateness that counts which is past the budget (RS-912)."""
    life = lived(PATTERNS["never"], late_ms=late_ms)

    assert observed_margin_ms(life, 0) == margin_ms(0, late_ms=lost_ms)
    assert margin_ms(0, late_ms=late_ms) <= observed_margin_ms(life, 0)


@pytest.mark.parametrize(
    ("reconfirm", "ended_ms"),
    [(Answer(BROKEN), 19_000), (HANGING, 20_000), (Answer(FenceLost(), after_ms=300), 19_300)],
)
def test_a_dead_database_lapses_the_lease(reconfirm: Answer, ended_ms: int) -> None:
    """Exactly 19,000 ms past the last confirmed reading when reconfirm fails at once, 20,000 ms when it hangs; no
    pulse at exactly 19,000 ms beats (RS-915).
    """
    life = lived(PATTERNS["at once"], lambda _: reconfirm)
    beats = [action for moment in life.moments for action in moment.step.actions if isinstance(action, CallHeartbeat)]

    assert (life.ended_at_ms, life.ended_by) == (T + ended_ms, Interrupt("lapsed"))
    assert [beat.now_ms for beat in beats] == [T + number * 1_000 for number in range(1, 19)]


def test_a_stuck_write_ends_with_the_loop() -> None:
    """The write that never answers is the only one, and nothing waits for it (RS-915)."""
    life = lived(PATTERNS["never"])

    assert not [moment for moment in life.moments if isinstance(moment.event, HeartbeatEnded)]
    assert life.ended_by == Interrupt("lapsed")


def test_a_healthy_life_beats_every_second() -> None:
    """The pulses of a minute, none of them expiring (RS-911)."""
    life = lived(lambda _: DONE, until_ms=T + 60_000)

    assert [stamp.now_ms for stamp in life.stamps] == [T + number * 1_000 for number in range(61)]
    assert life.ended_by is None


def test_a_dead_thief_lapses_a_live_owner() -> None:
    """Its claim leaves heartbeats alone, but after a stall of 19 s the lease refuses to be reconfirmed, and healthy
    work ends with the lapse hook (hazard H-16, RS-204, RS-205, RS-916).
    """
    world = stolen()
    after_theft = lease.heartbeat(world, "r", ALICE, T), lease.reconfirm(world, "r", ALICE, T)
    life = lived(lambda _: HANGING, lambda _: Answer(FenceLost()))

    assert world.leases["r"].claim is not None
    assert world.leases["r"].claim.claimant == BOB
    assert after_theft[0] != "lost"
    assert after_theft[1] == "lost"
    assert (life.ended_at_ms, life.ended_by) == (T + 19_000, Interrupt("lapsed"))


@pytest.mark.parametrize("receipt_ms", [0, 1, 18_999, 19_000, None])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_work_past_the_budget(pattern: str, receipt_ms: float | None) -> None:
    """At every event up to 19,000 + 1,000 ms past the confirmed reading, or the lapse hook runs (RS-914, RS-915)."""
    for reconfirm, _ in [*RECONFIRMS.values(), (DONE, 0), (Answer(UPDATED, 1_000, 1), 0)]:
        life = lived(PATTERNS[pattern], always(reconfirm), receipt_ms=receipt_ms, until_ms=T + 200_000)

        assert violated_invariants([(moment.event, moment.step) for moment in life.moments]) == ()
        assert all(is_within_budget(moment.step.state, moment.at_ms) for moment in life.moments)


def test_a_limit_cuts_off_what_comes_after_it() -> None:
    """An answer at exactly 1,000 ms counts, a later one is a timeout (RS-913)."""
    in_time = lived(PATTERNS["never"], lambda _: Answer(FenceLost(), after_ms=1_000))
    too_late = lived(PATTERNS["never"], lambda _: Answer(FenceLost(), after_ms=1_000.5))
    answers = [
        [getattr(moment.event, "result", None) for moment in life.moments if moment.at_ms == T + 20_000]
        for life in (in_time, too_late)
    ]

    assert FenceLost() in answers[0]
    assert TimedOut() in answers[1]

"""The timed system: what is due, what is a choice, and when the peer can take the run."""

import attrs
import pytest

from tenure_model.explore.timed.conditions import Conditions
from tenure_model.explore.timed.situations import (
    BEGINNING,
    Answers,
    Commits,
    Lands,
    Move,
    Scope,
    SetBack,
    Situation,
    Starts,
    Takes,
    Wakes,
    beginning,
    margin_ms,
    shifted,
    succeeding,
)
from tenure_model.explore.timed.system import earliest_taking_ms, moves
from tenure_model.semantics.supervision.machine import start
from tenure_model.semantics.supervision.state import ENDED, Beating, Supervision, with_phase
from tenure_model.vocabulary.outcomes import FenceLost, Updated
from tenure_model.vocabulary.supervision import TimedOut

DONE = succeeding(2, 1)
CUT_OFF = Answers("reconfirm", TimedOut())
SCOPE = Scope(Conditions(), (DONE,), (DONE,))
IDLE = Situation(None, (), stamp_ms=0, lead_ms=0, settable=False, beats=None, stalls=0)


def whats(scope: Scope, situation: Situation) -> list[tuple[int, object]]:
    """What can happen next, and after how long."""
    return [(move.after_ms, move.what) for move, _ in moves(scope, situation)]


def test_it_begins_with_the_commit_of_the_activation() -> None:
    """Its reading is as old as the commit took, and the loop starts as late as is allowed, or at once (RS-910)."""
    scope = attrs.evolve(SCOPE, conditions=Conditions(activation_ms=3, start_delay_ms=10))
    first = beginning(scope)

    assert (first.due, first.stamp_ms) == (BEGINNING, -3)
    assert [move for move, _ in moves(scope, first)] == [
        Move(0, Commits(), ((0, Starts()),)),
        Move(0, Commits(), ((7, Starts()),)),
    ]


@pytest.mark.parametrize(
    ("stamp_ms", "lead_ms", "ahead_ms", "expected"),
    [
        (0, 0, 0, 30_001),
        (-5, 0, 0, 29_996),
        (0, 10_000, 10_000, 10_001),
        (0, -7, 0, 30_008),
        (0, 30_001, 0, 0),
        (0, 50_000, 0, 0),
        (0, 0, 10_001, None),
    ],
)
def test_the_peer_waits_for_the_first_stale_reading(
    stamp_ms: int, lead_ms: int, ahead_ms: int, expected: int | None
) -> None:
    """By its own clock, and the reading it presents; one too far ahead takes nothing (RS-004, RS-309)."""
    assert earliest_taking_ms(attrs.evolve(IDLE, stamp_ms=stamp_ms, lead_ms=lead_ms), ahead_ms) == expected


@pytest.mark.parametrize(("due_ms", "expected"), [(30_000, [False]), (30_001, [True, False]), (30_002, [True, False])])
def test_the_peer_takes_before_what_comes_later_or_at_the_same_instant(due_ms: int, expected: list[bool]) -> None:
    """Both orders of what is simultaneous are tried."""
    waiting = attrs.evolve(IDLE, due=((due_ms, Lands("heartbeat", 0, False)),))

    assert [isinstance(what, Takes) for _, what in whats(SCOPE, waiting)] == expected


def test_everything_simultaneous_may_be_first() -> None:
    """An answer that depends on a write comes after it."""
    write, answer = Lands("heartbeat", 0, True), Answers("heartbeat", None)
    waiting = attrs.evolve(IDLE, loop=start(0).state, due=((4, answer), (4, write), (4, Wakes("deadline"))))

    # The reading of the write is 4 ms old by then.
    assert whats(SCOPE, waiting) == [(4, Lands("heartbeat", -4, True)), (4, Wakes("deadline"))]


def test_a_write_is_answered_by_the_lease() -> None:
    """The owner of that instant renews its stamp, another has lost the fence (RS-204)."""
    due = ((1, Lands("heartbeat", 0, True)), (2, Answers("heartbeat", None)))
    owned = attrs.evolve(IDLE, due=due, stamp_ms=-1_000)
    [(_, renewed)] = moves(SCOPE, owned)
    [(_, lost)] = moves(SCOPE, attrs.evolve(owned, taken_ms=0))

    assert (renewed.stamp_ms, renewed.due) == (-1, ((1, Answers("heartbeat", Updated())),))
    assert (lost.taken_ms, lost.due) == (1, ((1, Answers("heartbeat", FenceLost())),))


def test_a_stamp_never_falls() -> None:
    """A write that lands after a later one changes nothing (RS-204)."""
    [(_, after)] = moves(SCOPE, attrs.evolve(IDLE, due=((1, Lands("heartbeat", -5_000, False)),), stamp_ms=-1_000))

    assert after.stamp_ms == -1_001


def test_a_clock_is_set_back_once() -> None:
    """The owner's readings lie further ahead of it then, and the peer leads by more (hazard H-14)."""
    scope = attrs.evolve(SCOPE, conditions=Conditions(set_back_ms=5))
    waiting = attrs.evolve(IDLE, loop=start(0).state, due=((9, Wakes("pulse")),), stamp_ms=-1, lead_ms=3, settable=True)
    [after] = [after for move, after in moves(scope, waiting) if move.what == SetBack(5)]

    assert (after.stamp_ms, after.lead_ms, after.settable, after.due) == (4, 8, False, waiting.due)
    assert isinstance(after.loop, Supervision)
    assert after.loop.last_ms == 5


def test_beats_and_stalls_are_used_up() -> None:
    """A scope that allows none offers none."""
    scope = attrs.evolve(SCOPE, conditions=Conditions(wake_late_ms=7), stalls=1)
    woken = attrs.evolve(IDLE, loop=start(0).state, due=((1_000, Wakes("deadline")),), stalls=1, beats=0)
    offered = [after for move, after in moves(scope, woken) if isinstance(move.what, Wakes)]

    assert [(after.due[0], after.stalls) for after in offered] == [
        ((1_000, Wakes("deadline")), 1),
        ((1_007, Wakes("deadline", 7)), 0),
    ]
    assert [move.what for move, _ in moves(SCOPE, attrs.evolve(woken, due=((1, Wakes("pulse")),)))] == []


@pytest.mark.parametrize(
    ("answers_ms", "expected"), [(1_000, (1_000, Answers("reconfirm", None))), (1_001, (1_000, CUT_OFF))]
)
def test_a_reconfirm_is_cut_off_after_its_limit(answers_ms: int, expected: tuple[int, Answers]) -> None:
    """An answer at exactly 1,000 ms counts; a write that is cut off may take effect all the same (RS-913)."""
    scope = attrs.evolve(SCOPE, reconfirms=(succeeding(answers_ms, 1_000),))
    overdue = attrs.evolve(IDLE, loop=start(0).state, due=((19_000, Wakes("deadline")),))
    [(move, _)] = moves(scope, overdue)

    assert move.leads_to == ((1_000, Lands("reconfirm", 0, answers_ms == 1_000)), expected)


def test_what_was_read_ages_with_the_clock() -> None:
    """Ages of the grant and the end count true time; a beat older than what is confirmed counts like that (RS-918)."""
    loop = start(0).state
    assert isinstance(loop, Supervision)
    beating = with_phase(loop, "pulse", Beating(-50))
    later = shifted(attrs.evolve(IDLE, loop=beating, taken_ms=2, ended_ms=1), elapsed_ms=10, clock_ms=4)

    assert (later.taken_ms, later.ended_ms) == (12, 11)
    assert later.loop == with_phase(attrs.evolve(loop, last_ms=-4), "pulse", Beating(-4))


def test_the_margin_is_from_the_end_to_the_grant() -> None:
    """Nothing happens after both; before, there is none."""
    over = attrs.evolve(IDLE, loop=ENDED, taken_ms=3, ended_ms=10, due=((1, Lands("heartbeat", 0, False)),))

    assert margin_ms(over) == 7
    assert margin_ms(attrs.evolve(over, taken_ms=10, ended_ms=3)) == -7
    assert margin_ms(attrs.evolve(over, taken_ms=None)) is None
    assert list(moves(SCOPE, over)) == []

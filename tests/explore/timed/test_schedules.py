"""The schedules: what they tell, and that the operations of the run store go through them as told."""

from collections.abc import Iterable

import pytest

from tenure_model.explore.timed.assumptions import ASSUMPTIONS, violating_scope
from tenure_model.explore.timed.conditions import Conditions
from tenure_model.explore.timed.extremes import smallest_margin
from tenure_model.explore.timed.schedules import told
from tenure_model.explore.timed.situations import (
    Answers,
    Commits,
    Lands,
    Lapsed,
    Move,
    Receipt,
    Scope,
    SetBack,
    Starts,
    Takes,
    Wakes,
    succeeding,
)
from tenure_model.explore.timed.system import BROKEN, OWNER, PEER
from tenure_model.semantics.commands import Command, apply
from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import empty_world
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.outcomes import Activated, FenceLost, HeartbeatFresh, Updated
from tenure_model.vocabulary.runs import PENDING, RunSnapshot
from tenure_model.vocabulary.supervision import CallHeartbeat, CallReconfirm, Finished, TimedOut

T = 1_700_000_000_000


def replayed(schedule: Iterable[Move], given: Conditions) -> list[Outcome]:
    """What the run store answers to the writes of a schedule, and to the peer: a ms before its grant, and then."""
    created = apply(empty_world(), Command("run.create", {"runId": "r", "stateJson": "{}"}, T)).world
    stamped = {"runId": "r", "expected": PENDING, "owner": OWNER, "nowMs": T - given.activation_ms}
    world = apply(created, Command("run.claimAndOwn", stamped, T)).world
    outcomes: list[Outcome] = []
    true_ms = owner_ms = T
    for move in schedule:
        true_ms, owner_ms = true_ms + move.after_ms, owner_ms + move.after_ms
        match move.what:
            case SetBack(by_ms):
                owner_ms -= by_ms
            case Lands(call, now_ms, _):
                write = {"runId": "r", "owner": OWNER, "nowMs": owner_ms + now_ms}
                step = apply(world, Command(f"run.{call}", write, owner_ms))
                world = step.world
                outcomes.append(step.outcome)
            case Takes(ahead_ms):
                for early_ms in (1, 0):
                    clock_ms = true_ms + given.skew_ms - early_ms
                    now_ms = clock_ms + ahead_ms
                    taking = {
                        "runId": "r",
                        "expected": RunSnapshot("running", OWNER, world.runs["r"].heartbeat_at_ms),
                        "owner": PEER,
                        "nowMs": now_ms,
                        "evidence": LivenessEvidence(OWNER, now_ms, "lease-expired"),
                    }
                    step = apply(world, Command("run.claimAndOwn", taking, clock_ms))
                    outcomes.append(step.outcome)
                world = step.world
    return outcomes


@pytest.mark.parametrize("skew_ms", [0, 10_000, 10_001])
@pytest.mark.parametrize("assumption", ASSUMPTIONS[1:], ids=lambda assumption: assumption.field)
def test_the_run_store_grants_the_run_when_the_schedule_says(assumption, skew_ms: int) -> None:
    """And not a ms earlier (RS-460, RS-463)."""
    given = assumption.at(Conditions(skew_ms), 5)
    found = smallest_margin(violating_scope(given))

    assert replayed(found.schedule, given) == [HeartbeatFresh(), Activated()]


def test_the_run_store_robs_a_healthy_owner_as_the_schedule_says() -> None:
    """Its beat is answered as the search has it: the run is another's (hazard H-28, RS-204)."""
    given = Conditions(skew_ms=29_001)
    found = smallest_margin(Scope(given, (succeeding(0, 0),), (succeeding(0, 0),)))

    assert found.margin_ms == 0
    assert replayed(found.schedule, given) == [HeartbeatFresh(), Activated(), FenceLost()]


def test_a_schedule_is_told_with_its_instants() -> None:
    """Counted from the commit of the activation; a deadline that looks and sleeps on is left out."""
    found = smallest_margin(violating_scope(Conditions(skew_ms=10_000, start_delay_ms=3)))

    assert told(found.schedule) == (
        "     0  the activation commits; the loop starts 3 ms later",
        "     3  the loop starts",
        " 1,003  the pulse wakes: heartbeat hangs",
        "19,003  the deadline wakes: reconfirm hangs, to be cut off after 1,000 ms",
        "20,001  the peer is granted the run",
        "20,003  the reconfirm is cut off; `onLapse` takes 0 ms",
        "20,003  the owner's work stands still",
    )


@pytest.mark.parametrize(
    ("move", "expected"),
    [
        (Move(5, Commits(), ((2, Starts()),)), ("     5  the activation commits; the loop starts 2 ms later",)),
        (Move(5, Wakes("deadline"), ((900, Wakes("deadline")),)), ()),
        (Move(5, Wakes("deadline")), ("     5  the deadline wakes: waits for the other",)),
        (
            Move(5, Wakes("pulse", 7), ((3, Answers("heartbeat", None)),), (CallHeartbeat(0),)),
            ("     5  the pulse wakes, 7 ms late: heartbeat succeeds after 3 ms",),
        ),
        (
            Move(5, Wakes("pulse"), ((3, Answers("reconfirm", BROKEN)),), (CallReconfirm(0, 1_000),)),
            ("     5  the pulse wakes: reconfirm fails after 3 ms",),
        ),
        (Move(5, Wakes("pulse"), (), (CallHeartbeat(0),)), ("     5  the pulse wakes: heartbeat hangs",)),
        (Move(5, Lands("heartbeat", 0, True)), ("     5  the heartbeat takes effect",)),
        (Move(5, Answers("heartbeat", Updated())), ("     5  the heartbeat answers: Updated",)),
        (Move(5, Answers("heartbeat", FenceLost())), ("     5  the heartbeat answers: FenceLost",)),
        (Move(5, Answers("heartbeat", BROKEN)), ("     5  the heartbeat answers: an error",)),
        (
            Move(5, Answers("reconfirm", TimedOut()), ((4, Lapsed()),)),
            ("     5  the reconfirm is cut off; `onLapse` takes 4 ms",),
        ),
        (Move(5, Receipt(Finished())), ("     5  the receipt is done",)),
        (Move(5, Receipt(TimedOut())), ("     5  the receipt is cut off",)),
        (Move(5, SetBack(10_001)), ("     5  the owner's clock is set back by 10,001 ms",)),
        (Move(5, Takes(8)), ("     5  the peer is granted the run, with a reading 8 ms ahead",)),
    ],
)
def test_each_move_has_its_words(move: Move, expected: tuple[str, ...]) -> None:
    """One line at most."""
    assert told([move]) == expected

"""Supervision and stealing as one timed system: the machine, the lease, and a peer, in whole milliseconds of true time.

The owner is the model's own machine and the lease is decided by the model's own functions; what is added is time.
Whatever is left open (the fate of a write, how late a timer comes, when the peer takes the run, which of two
simultaneous things is first) is a choice, and ``moves`` answers all of them.
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import product
from typing import Final

import attrs

from tenure_model.explore.timed.conditions import Conditions
from tenure_model.explore.timed.situations import (
    BEGINNING,
    UNKNOWN,
    Answer,
    Answers,
    Call,
    Commits,
    Due,
    Fate,
    Lands,
    Lapsed,
    Move,
    Receipt,
    Scope,
    SetBack,
    Situation,
    Starts,
    Takes,
    Wakes,
    in_order,
    margin_ms,
    shifted,
    without,
)
from tenure_model.semantics import lease
from tenure_model.semantics.predicates import is_stale, within_skew
from tenure_model.semantics.supervision.machine import on, start
from tenure_model.semantics.supervision.state import Ended
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.constants import HEARTBEAT_STALE_AFTER_MS
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.outcomes import FenceLost, Updated
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.supervision import (
    Action,
    CallHeartbeat,
    CallReconfirm,
    Event,
    Finished,
    HeartbeatEnded,
    LapseHookEnded,
    ReceiptEnded,
    ReconfirmEnded,
    RunLapseHook,
    RunReceipt,
    Sleep,
    StoreFailure,
    TimedOut,
    Woke,
)

OWNER: Final = OwnerId("owner", 1, "old")
PEER: Final = OwnerId("peer", 1, "new")
RUN: Final = "run"
BROKEN: Final = StoreFailure("persistence_failed")
NO_WORLD: Final = empty_world()


def moves(scope: Scope, situation: Situation) -> Iterator[tuple[Move, Situation]]:
    """Everything that can happen next, with all choices it leaves, in an order that does not vary; nothing once the
    peer has the run and the owner has stopped.
    """
    if margin_ms(situation) is not None:
        return
    next_ms = situation.due[0][0] if situation.due else None
    if situation.taken_ms is None and situation.due != BEGINNING:
        yield from _takings(scope.conditions, situation, next_ms)
    if situation.settable and situation.ended_ms is None:
        by_ms = scope.conditions.set_back_ms
        after = shifted(situation, elapsed_ms=0, clock_ms=-by_ms)
        yield Move(0, SetBack(by_ms)), attrs.evolve(after, settable=False, lead_ms=situation.lead_ms + by_ms)
    if next_ms is not None:
        now = shifted(situation, elapsed_ms=next_ms, clock_ms=next_ms)
        seen = [due for at_ms, due in now.due if at_ms == 0 and due not in UNKNOWN]
        for what in dict.fromkeys(seen):
            yield from _happening(scope, next_ms, what, attrs.evolve(now, due=without(now.due, (0, what))))


def lease_of(situation: Situation) -> World:
    """A database that holds nothing but the lease."""
    owner = OWNER if situation.taken_ms is None else PEER
    return lease.install(NO_WORLD, RUN, owner, 0, situation.stamp_ms)


def earliest_taking_ms(situation: Situation, ahead_ms: int) -> int | None:
    """After how long the lease is stale to the peer for the first time if nothing happens; ``None`` if the reading is
    not admitted (RS-004, RS-309).
    """
    if not within_skew(situation.lead_ms + ahead_ms, situation.lead_ms):
        return None
    reading_ms = situation.lead_ms + ahead_ms
    fresh_ms = max(0, situation.stamp_ms - reading_ms + 2 * HEARTBEAT_STALE_AFTER_MS)
    return bisect_left(range(fresh_ms), True, key=lambda wait_ms: is_stale(situation.stamp_ms, reading_ms + wait_ms))


def _takings(given: Conditions, situation: Situation, next_ms: int | None) -> Iterator[tuple[Move, Situation]]:
    """The peer takes the run at the first instant it can before something else happens; later ones are no nearer."""
    for ahead_ms in sorted({0, given.ahead_ms}):
        after_ms = earliest_taking_ms(situation, ahead_ms)
        if after_ms is None or (next_ms is not None and after_ms > next_ms):
            continue
        now = shifted(situation, elapsed_ms=after_ms, clock_ms=after_ms)
        now_ms = now.lead_ms + ahead_ms
        evidence = LivenessEvidence(OWNER, now_ms, "lease-expired")
        if isinstance(lease.steal(lease_of(now), RUN, PEER, now_ms, evidence), World):
            yield Move(after_ms, Takes(ahead_ms)), attrs.evolve(now, taken_ms=0, stamp_ms=0)


def _happening(scope: Scope, after_ms: int, what: Due, now: Situation) -> Iterator[tuple[Move, Situation]]:
    """What is due happens, at the instant of ``now``, in which it is no longer due."""
    match what:
        case Commits():
            given = scope.conditions
            after = attrs.evolve(now, settable=given.set_back_ms != 0)
            for delay_ms in sorted({0, given.start_delay_ms - given.activation_ms}):
                starts = ((delay_ms, Starts()),)
                yield Move(after_ms, what, starts), attrs.evolve(after, due=starts)
            return
        case Lands(call, now_ms, answers):
            yield Move(after_ms, what), _landed(now, call, now_ms, answers)
            return
        case Starts():
            step = start(0)
        case _:
            assert now.loop is not None
            step = on(now.loop, _event_of(what))
    if isinstance(step.state, Ended):
        writes = tuple((at_ms, due) for at_ms, due in now.due if isinstance(due, Lands))
        yield Move(after_ms, what, (), step.actions), attrs.evolve(now, loop=step.state, due=writes, ended_ms=0)
        return
    after = attrs.evolve(now, loop=step.state)
    for chosen in product(*(_consequences(scope, after, action) for action in step.actions)):
        leads_to = tuple(due for dues in chosen for due in dues)
        stalls = after.stalls - sum(isinstance(due, Wakes) and due.late_ms > 0 for _, due in leads_to)
        wins = any(isinstance(due, Lands) and due.call == "heartbeat" and due.answers for _, due in leads_to)
        beats = after.beats - 1 if wins and after.beats is not None else after.beats
        if stalls >= 0:
            due = in_order((*after.due, *leads_to))
            yield Move(after_ms, what, leads_to, step.actions), attrs.evolve(after, due=due, beats=beats, stalls=stalls)


def _event_of(what: Due) -> Event:
    """What the machine is told, at a clock of 0."""
    match what:
        case Wakes(activity):
            return Woke(activity, 0)
        case Answers("heartbeat", Updated() | FenceLost() | StoreFailure() as result):
            return HeartbeatEnded(result, 0)
        case Answers("reconfirm", result) if result is not None:
            return ReconfirmEnded(result, 0)
        case Receipt(result):
            return ReceiptEnded(result, 0)
        case Lapsed():
            return LapseHookEnded(Finished(), 0)
    raise AssertionError(what)


def _landed(now: Situation, call: Call, now_ms: int, answers: bool) -> Situation:
    """A write takes effect as the lease decides, and its answer becomes known (RS-204, RS-205)."""
    decide = lease.heartbeat if call == "heartbeat" else lease.reconfirm
    decided = decide(lease_of(now), RUN, OWNER, now_ms)
    result: Answer = FenceLost() if isinstance(decided, str) else Updated()
    stamp_ms = now.stamp_ms if isinstance(decided, str) else decided[1]
    due = now.due
    if answers:
        pending = Answers(call, None)
        due = in_order(tuple((at_ms, Answers(call, result) if what == pending else what) for at_ms, what in due))
    return attrs.evolve(now, stamp_ms=stamp_ms, due=due)


def _consequences(scope: Scope, now: Situation, action: Action) -> list[tuple[tuple[int, Due], ...]]:
    """The ways in which an action goes on, each a number of things that will be due."""
    given = scope.conditions
    match action:
        case Sleep(activity, duration_ms):
            late = sorted({0, given.wake_late_ms})
            return [((int(duration_ms) + late_ms, Wakes(activity, late_ms)),) for late_ms in late]
        case CallHeartbeat(now_ms):
            fates = [fate for fate in scope.heartbeats if fate.fails or fate.answers_ms is None or now.beats != 0]
            return [_written("heartbeat", now_ms, fate) for fate in fates]
        case CallReconfirm(now_ms, limit_ms):
            cut_ms = sorted({int(limit_ms), int(limit_ms) + given.limit_late_ms})
            return list(
                dict.fromkeys(
                    _limited(_written("reconfirm", now_ms, fate), cut, int(limit_ms))
                    for fate in scope.reconfirms
                    for cut in cut_ms
                )
            )
        case RunReceipt(_, limit_ms):
            ends: list[tuple[tuple[int, Due], ...]] = []
            for takes_ms in scope.receipts_ms:
                if takes_ms is not None and takes_ms <= limit_ms:
                    ends.append(((takes_ms, Receipt(Finished())),))
                else:
                    late = sorted({0, given.limit_late_ms})
                    ends.extend(((int(limit_ms) + late_ms, Receipt(TimedOut())),) for late_ms in late)
            return ends
        case RunLapseHook():
            return [((takes_ms, Lapsed()),) for takes_ms in sorted({0, given.hook_ms})]
    return [()]


def _written(call: Call, now_ms: int, fate: Fate) -> tuple[tuple[int, Due], ...]:
    """What is due of a write."""
    wins = not fate.fails and fate.answers_ms is not None
    lands = () if fate.lands_ms is None else ((fate.lands_ms, Lands(call, now_ms, wins)),)
    answers = () if fate.answers_ms is None else ((fate.answers_ms, Answers(call, None if wins else BROKEN)),)
    return (*lands, *answers)


def _limited(dues: tuple[tuple[int, Due], ...], cut_ms: int, limit_ms: int) -> tuple[tuple[int, Due], ...]:
    """The same with a limit that cuts off after ``cut_ms``: an answer at exactly the limit counts (RS-913)."""
    if any(isinstance(due, Answers) and at_ms <= limit_ms for at_ms, due in dues):
        return dues
    lands = ((at_ms, attrs.evolve(due, answers=False)) for at_ms, due in dues if isinstance(due, Lands))
    return (*lands, (cut_ms, Answers("reconfirm", TimedOut())))

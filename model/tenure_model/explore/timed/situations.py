"""What the timed system is made of: what can happen, what is due, and where everything stands at an instant.

A situation is seen from its own instant: true time is 0, and so is the owner's clock, so that two instants that differ
only by the date are one situation. All times are whole milliseconds.
"""

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import attrs

from tenure_model.explore.timed.conditions import Conditions
from tenure_model.semantics.supervision.state import Beating, Ended, Phase, Reconfirming, State
from tenure_model.vocabulary.outcomes import FenceLost, Updated
from tenure_model.vocabulary.supervision import Action, Activity, ReceiptResult, StoreFailure, TimedOut

Call: TypeAlias = Literal["heartbeat", "reconfirm"]
Answer: TypeAlias = Updated | FenceLost | StoreFailure | TimedOut


@attrs.frozen
class Fate:
    """What becomes of a write: it answers after ``answers_ms``, ``None`` being never, and takes effect at the database
    after ``lands_ms``, at most as late as it answers, ``None`` being not at all. It answers an error if it ``fails``.
    """

    answers_ms: int | None
    lands_ms: int | None = None
    fails: bool = True


def succeeding(answers_ms: int, lands_ms: int) -> Fate:
    """A write that takes effect and says so."""
    return Fate(answers_ms, lands_ms, fails=False)


@attrs.frozen
class Scope:
    """Which choices there are: the conditions, the fates of the two kinds of writes, and the time receipts take.

    Times of receipts are in ms, ``None`` hangs. ``beats`` bounds how many heartbeats may succeed, ``None`` does not;
    ``stalls`` how many sleeps may last too long.
    """

    conditions: Conditions
    heartbeats: tuple[Fate, ...]
    reconfirms: tuple[Fate, ...]
    receipts_ms: tuple[int | None, ...] = (0,)
    beats: int | None = None
    stalls: int = 2


@attrs.frozen
class Commits:
    """The activation of the owner takes effect; its work may go on from here (hazards H-11, H-12)."""


@attrs.frozen
class Starts:
    """The loop starts (RS-910)."""


@attrs.frozen
class Wakes:
    """The sleep of an activity ends, so much too late (RS-911, RS-912)."""

    activity: Activity
    late_ms: int = 0


@attrs.frozen
class Lands:
    """A write takes effect, with the reading it was sent with; ``answers`` says that its answer depends on it."""

    call: Call
    now_ms: int
    answers: bool


@attrs.frozen
class Answers:
    """A write answers; ``None`` where that is not known before it lands."""

    call: Call
    result: Answer | None


@attrs.frozen
class Receipt:
    """The receipt of a reconfirm ends, or is cut off (RS-913)."""

    result: ReceiptResult


@attrs.frozen
class Lapsed:
    """``onLapse`` has ended, and the work stands still (RS-914)."""


Due: TypeAlias = Commits | Starts | Wakes | Lands | Answers | Receipt | Lapsed


BEGINNING: Final[tuple[tuple[int, Due], ...]] = ((0, Commits()),)
UNKNOWN: Final = (Answers("heartbeat", None), Answers("reconfirm", None))


@attrs.frozen
class Takes:
    """The peer takes the run with a reading so far ahead of its clock (RS-208, RS-309)."""

    ahead_ms: int


@attrs.frozen
class SetBack:
    """The owner's clock is set back (hazard H-14)."""

    by_ms: int


@attrs.frozen
class Move:
    """After so many ms, something happens: what is due of it, each after so many ms more, and what the machine asks."""

    after_ms: int
    what: Due | Takes | SetBack
    leads_to: tuple[tuple[int, Due], ...] = ()
    asks: tuple[Action, ...] = ()


@attrs.frozen(cache_hash=True)
class Situation:
    """Where owner, lease and peer stand at an instant that is 0 for true time and for the owner's clock.

    ``loop`` is the machine, ``None`` before its start. ``due`` is what will happen and after how long. ``stamp_ms`` is
    the lease's stamp while the owner has it. ``lead_ms`` is how far the peer's clock is ahead. ``settable`` says that
    the owner's clock may still be set back; ``beats`` and ``stalls`` are how many heartbeats may still succeed and how
    many sleeps last too long. ``taken_ms`` and ``ended_ms`` are how long ago the peer was granted the run and the work
    stopped.
    """

    loop: State | None
    due: tuple[tuple[int, Due], ...]
    stamp_ms: int
    lead_ms: int
    settable: bool
    beats: int | None
    stalls: int
    taken_ms: int | None = None
    ended_ms: int | None = None


def beginning(scope: Scope) -> Situation:
    """The instant at which the activation of the owner commits."""
    given = scope.conditions
    return Situation(
        loop=None,
        due=BEGINNING,
        stamp_ms=-given.activation_ms,
        lead_ms=given.skew_ms,
        settable=False,
        beats=scope.beats,
        stalls=scope.stalls,
    )


def margin_ms(situation: Situation) -> int | None:
    """From the end of the owner's work to the grant of the peer; 0 and less means that both were at work.

    ``None`` as long as only one of them, or none, has happened.
    """
    if situation.taken_ms is None or situation.ended_ms is None:
        return None
    return situation.ended_ms - situation.taken_ms


def shifted(situation: Situation, elapsed_ms: int, clock_ms: int) -> Situation:
    """The same seen ``elapsed_ms`` later, the owner's clock having moved by ``clock_ms`` and reading 0 again."""

    def older(reading_ms: int) -> int:
        return reading_ms - clock_ms

    return attrs.evolve(
        situation,
        loop=_loop_shifted(situation.loop, older),
        due=tuple(
            (
                at_ms - elapsed_ms,
                attrs.evolve(due, now_ms=older(due.now_ms)) if isinstance(due, Lands) else due,
            )
            for at_ms, due in situation.due
        ),
        stamp_ms=older(situation.stamp_ms) if situation.taken_ms is None else 0,
        taken_ms=None if situation.taken_ms is None else situation.taken_ms + elapsed_ms,
        ended_ms=None if situation.ended_ms is None else situation.ended_ms + elapsed_ms,
    )


def _loop_shifted(loop: State | None, older: Callable[[int], int]) -> State | None:
    """The machine with all its readings moved."""
    if loop is None or isinstance(loop, Ended):
        return loop
    last_ms = older(int(loop.last_ms))
    return attrs.evolve(
        loop,
        last_ms=last_ms,
        pulse=_phase_shifted(loop.pulse, last_ms, older),
        deadline=_phase_shifted(loop.deadline, last_ms, older),
    )


def _phase_shifted(phase: Phase, last_ms: int, older: Callable[[int], int]) -> Phase:
    """A phase with its reading moved; a gap is a duration and stays.

    A heartbeat older than the latest confirmed reading counts like that one (RS-918), so one that hangs for ever does
    not make the situation a new one.
    """
    match phase:
        case Beating(now_ms):
            return Beating(max(older(now_ms), last_ms))
        case Reconfirming(now_ms, gap_ms):
            return Reconfirming(older(now_ms), gap_ms)
    return phase


def in_order(due: tuple[tuple[int, Due], ...]) -> tuple[tuple[int, Due], ...]:
    """What is due by time, then by name, so that the order of asking does not tell situations apart."""
    return tuple(sorted(due, key=lambda entry: (entry[0], repr(entry[1]))))


def without(due: tuple[tuple[int, Due], ...], entry: tuple[int, Due]) -> tuple[tuple[int, Due], ...]:
    """What is due but the first such entry."""
    at = due.index(entry)
    return (*due[:at], *due[at + 1 :])

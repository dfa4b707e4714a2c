"""Where a supervision stands: what it remembers, and what each of its two activities is doing (RS-910)."""

from typing import Final, TypeAlias

import attrs

from tenure_model.vocabulary.constants import HEARTBEAT_WRITE_TOLERANCE_MS
from tenure_model.vocabulary.supervision import Activity


@attrs.frozen
class Sleeping:
    """Waits for ``Woke``: the pulse until it is due, the deadline until it looks again (RS-911, RS-912)."""


@attrs.frozen
class Beating:
    """The pulse waits for a heartbeat that was sent with ``now_ms``, as long as it takes (RS-911)."""

    now_ms: int


@attrs.frozen
class AwaitingMutex:
    """Wants to expire the lease while the other activity is at it (RS-913)."""


@attrs.frozen
class Reconfirming:
    """Waits for a reconfirm that was sent with ``now_ms``; the lease was unconfirmed for ``gap_ms`` (RS-913)."""

    now_ms: int
    gap_ms: float


@attrs.frozen
class Recording:
    """The lease is reconfirmed after ``gap_ms`` and the receipt of it is running (RS-913)."""

    gap_ms: float


@attrs.frozen
class Lapsing:
    """The lease is given up, unconfirmed for ``gap_ms``, and the lapse hook is running (RS-914)."""

    gap_ms: float


Phase: TypeAlias = Sleeping | Beating | AwaitingMutex | Reconfirming | Recording | Lapsing

SLEEPING: Final = Sleeping()
AWAITING_MUTEX: Final = AwaitingMutex()


@attrs.frozen
class Supervision:
    """A supervision that goes on.

    ``last_ms`` is the reading the budget counts from: the raw clock at the start, later the latest reading that a
    confirmed write was sent with (RS-910, RS-918). ``failing`` says that the loss of a write was warned of and no write
    has succeeded since. ``holder`` has the mutex and is the only one in a phase of expiry.
    """

    last_ms: float
    failing: bool
    holder: Activity | None
    pulse: Phase
    deadline: Phase


@attrs.frozen
class Ended:
    """A supervision that is over. There is no normal return, the last action says how it ended (RS-910)."""


ENDED: Final = Ended()

State: TypeAlias = Supervision | Ended


def phase_of(supervision: Supervision, activity: Activity) -> Phase:
    """What the activity is doing."""
    return supervision.pulse if activity == "pulse" else supervision.deadline


def with_phase(supervision: Supervision, activity: Activity, phase: Phase) -> Supervision:
    """The supervision in which the activity does this instead."""
    if activity == "pulse":
        return attrs.evolve(supervision, pulse=phase)
    return attrs.evolve(supervision, deadline=phase)


def other_than(activity: Activity) -> Activity:
    """The activity beside this one."""
    return "deadline" if activity == "pulse" else "pulse"


def confirmed(supervision: Supervision, now_ms: int) -> Supervision:
    """The supervision after a write that was sent with ``now_ms`` renewed the lease.

    An answer that comes after a later one, or a reading from before a clock was set back, takes nothing away (RS-911,
    RS-913, RS-918).
    """
    return attrs.evolve(supervision, last_ms=max(supervision.last_ms, now_ms), failing=False)


def remaining_ms(last_ms: float, clock_ms: float) -> float:
    """What is left of the budget of 19,000 ms since ``last_ms``; 0 and less is nothing left (RS-912, RS-913).

    The gap is subtracted, not the clock, so that this and ``is_overdue`` never differ by a rounding.
    """
    return HEARTBEAT_WRITE_TOLERANCE_MS - (clock_ms - last_ms)


def is_overdue(last_ms: float, now_ms: float) -> bool:
    """Whether a lease confirmed at ``last_ms`` is to be expired at ``now_ms``: from 19,000 ms on (RS-911, RS-913)."""
    return now_ms - last_ms >= HEARTBEAT_WRITE_TOLERANCE_MS

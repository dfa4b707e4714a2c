"""What the supervision of a run is told and what it asks for: the events and actions of a machine without I/O.

A supervisor is two activities beside each other, the pulse and the deadline, sharing a mutex (RS-910). Its machine is
told one event at a time and answers the actions that follow, in the order in which the activities take them; at the
start it asks for the first sleep of the pulse, then of the deadline.

Every event carries ``clock_ms``, the finite reading of the injected wall clock at which it is handled; whatever the
rules read from the clock while an event is handled is that one reading. The clock may jump between events, in either
direction; a sleep or a limit is a duration and does not jump. Times are milliseconds and may have fractions, except
those that are sent to the store, which are floored to ``int``.

Each action but a warning and the last one is answered by exactly one event, unless the machine ends first. At most
one sleep of an activity and one call of a kind are outstanding at a time. When the mutex is released, who waits for it
takes it and acts before its last holder goes on. An event that answers nothing outstanding, and every event after the
end, changes nothing. The machine always asks for both hooks: a driver that was given none answers ``Finished`` at once.
"""

from typing import Final, Literal, TypeAlias

import attrs

from tenure_model.vocabulary.errors import RunStoreErrorCode
from tenure_model.vocabulary.outcomes import HeartbeatOutcome

Activity: TypeAlias = Literal["pulse", "deadline"]

ACTIVITIES: Final[tuple[Activity, ...]] = ("pulse", "deadline")

InterruptReason: TypeAlias = Literal["fence-lost", "lapsed", "interrupted"]

HEARTBEAT_FAILED_WARNING: Final = "run heartbeat write failed"
"""The text of ``WarnHeartbeatFailed``, logged with runId and code (RS-911)."""

LEASE_LAPSED_WARNING: Final = "run lease lapsed; interrupting owned work"
"""The text of ``WarnLeaseLapsed``, logged with runId and unconfirmedMs (RS-914)."""


@attrs.frozen
class StoreFailure:
    """A store call raised a store error with this code."""

    code: RunStoreErrorCode


@attrs.frozen
class Defect:
    """A store call raised what is no store error, or a hook raised anything; ``failure`` is passed through."""

    failure: object


@attrs.frozen
class Interruption:
    """A call or hook was cancelled from within itself (RS-913)."""


@attrs.frozen
class TimedOut:
    """A call or hook reached its limit and was interrupted."""


@attrs.frozen
class Finished:
    """A hook completed."""


HeartbeatResult: TypeAlias = HeartbeatOutcome | StoreFailure | Defect | Interruption
ReconfirmResult: TypeAlias = HeartbeatOutcome | StoreFailure | Defect | Interruption | TimedOut
ReceiptResult: TypeAlias = Finished | Defect | Interruption | TimedOut
LapseHookResult: TypeAlias = Finished | Defect | Interruption


@attrs.frozen
class Woke:
    """The sleep of an activity is over, on time or late (RS-911, RS-912)."""

    activity: Activity
    clock_ms: float


@attrs.frozen
class HeartbeatEnded:
    """The heartbeat that was called ended. A defect of it ends the loop and is raised; an interruption of it ends the
    loop as interrupted (RS-911).
    """

    result: HeartbeatResult
    clock_ms: float


@attrs.frozen
class ReconfirmEnded:
    """The reconfirm that was called ended. All but ``Updated`` and an interruption is a failure: a lapse (RS-913)."""

    result: ReconfirmResult
    clock_ms: float


@attrs.frozen
class ReceiptEnded:
    """``onReconfirm`` ended. A defect and a timeout of it are a lapse (RS-913)."""

    result: ReceiptResult
    clock_ms: float


@attrs.frozen
class LapseHookEnded:
    """``onLapse`` ended; the loop ends with it, and a defect of it is raised (RS-910, RS-914)."""

    result: LapseHookResult
    clock_ms: float


@attrs.frozen
class Cancelled:
    """The loop is interrupted from outside, in whatever phase: nothing more is called (RS-913)."""

    clock_ms: float


Event: TypeAlias = Woke | HeartbeatEnded | ReconfirmEnded | ReceiptEnded | LapseHookEnded | Cancelled


@attrs.frozen
class Sleep:
    """Wake the activity after ``duration_ms``, above 0 and at most 1,000; answered by ``Woke`` (RS-911, RS-912)."""

    activity: Activity
    duration_ms: float


@attrs.frozen
class CallHeartbeat:
    """Call ``heartbeat`` with this reading, without a limit; answered by ``HeartbeatEnded`` (RS-911)."""

    now_ms: int


@attrs.frozen
class CallReconfirm:
    """Call ``reconfirm`` with this reading, for at most ``limit_ms``, always 1,000; answered by ``ReconfirmEnded``
    (RS-913).
    """

    now_ms: int
    limit_ms: float


@attrs.frozen
class RunReceipt:
    """Run ``onReconfirm`` with ``gap_ms`` for at most ``limit_ms``, above 0; answered by ``ReceiptEnded`` (RS-913)."""

    gap_ms: float
    limit_ms: float


@attrs.frozen
class RunLapseHook:
    """Run ``onLapse`` with ``gap_ms``, without a limit; answered by ``LapseHookEnded`` (RS-914)."""

    gap_ms: float


@attrs.frozen
class WarnHeartbeatFailed:
    """Log that heartbeat writes began to fail, once until one succeeds (RS-911)."""

    code: RunStoreErrorCode


@attrs.frozen
class WarnLeaseLapsed:
    """Log that the lease lapsed, ``unconfirmed_ms`` after the last confirmed reading (RS-914)."""

    unconfirmed_ms: float


@attrs.frozen
class Interrupt:
    """The end: interrupt the owned work and every sleep, call and hook that is outstanding (RS-910).

    ``fence-lost`` is what a heartbeat learnt, ``lapsed`` follows ``onLapse``, ``interrupted`` came from outside or from
    within a call or hook.
    """

    reason: InterruptReason


@attrs.frozen
class Raise:
    """The end by a defect: interrupt as ``Interrupt`` does, and raise ``failure`` from the loop (RS-910, RS-911)."""

    failure: object


Action: TypeAlias = (
    Sleep
    | CallHeartbeat
    | CallReconfirm
    | RunReceipt
    | RunLapseHook
    | WarnHeartbeatFailed
    | WarnLeaseLapsed
    | Interrupt
    | Raise
)

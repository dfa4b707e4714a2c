"""Times, ordinals and process ids: safe integers, and readings of a clock (RS-303, RS-308, RS-309)."""

from typing import TypeGuard

from tenure_model.admission.refusal import Refusal, refuse
from tenure_model.vocabulary.constants import HEARTBEAT_SKEW_ALLOWANCE_MS, MAX_SAFE_INTEGER


def is_safe_integer(value: object) -> TypeGuard[int]:
    """Whether ``value`` is an exact ``int`` in 0..2**53-1 (RS-303).

    ``True`` is no integer, ``1.0`` is none, and subclasses of ``int`` are refused unread.
    """
    return type(value) is int and 0 <= value <= MAX_SAFE_INTEGER


def admit_timestamp(value: object, field: str) -> int | Refusal:
    """A time in milliseconds, or a refusal under the argument's wire name ``field`` (RS-308)."""
    if is_safe_integer(value):
        return value
    return refuse(field, "must be a non-negative safe integer")


def admit_lease_reading(
    value: object, clock_ms: int, run_id: str, *, claimed_at_ms: int | None = None
) -> int | Refusal:
    """A reading in milliseconds at most 10,000 ahead of the store's clock, however far behind it (RS-309).

    What is no time at all is refused as RS-308 says. The refusal of a reading too far ahead names both admitted numbers
    and ``run_id``, and ``claimed_at_ms`` where the caller has one (RS-485).
    """
    reading = admit_timestamp(value, "nowMs")
    if type(reading) is Refusal or reading <= clock_ms + HEARTBEAT_SKEW_ALLOWANCE_MS:
        return reading
    cause: dict[str, object] = {"runId": run_id}
    if claimed_at_ms is not None:
        cause["claimedAtMs"] = claimed_at_ms
    cause["field"] = "nowMs"
    cause["nowMs"] = reading
    cause["clockMs"] = clock_ms
    cause["detail"] = "runs ahead of the store clock by more than the heartbeat skew allowance"
    return Refusal(cause)

"""The promise of the write tolerance as arithmetic: what time lies between an owner's interruption and a steal.

An owner that confirmed a reading works on for 19,000 ms of its own clock through failing writes, then asks once more
for at most 1,000 ms, and is interrupted. A peer may steal when the stamp is strictly older than 30,000 ms against the
reading it presents (RS-004, RS-208). Both are counted from the same stamp, so neither the time of the beat nor how the
writes in between fail matters; what does is in the arguments below. All are milliseconds, integers give exact answers.
"""

from typing import Final

from tenure_model.vocabulary.constants import (
    HEARTBEAT_INTERVAL_MS,
    HEARTBEAT_SKEW_ALLOWANCE_MS,
    HEARTBEAT_STALE_AFTER_MS,
    HEARTBEAT_WRITE_TOLERANCE_MS,
)


def stealable_after_ms(ahead_ms: float = 0) -> float:
    """How far past a stamp the peer's clock must be for a steal that presents a reading ``ahead_ms`` ahead of it.

    30,001 ms for a peer that presents its own clock, and 20,001 ms at the 10,000 ms ahead that are admitted (RS-309).
    """
    return HEARTBEAT_STALE_AFTER_MS + 1 - ahead_ms


def working_for_ms(reconfirm_ms: float = HEARTBEAT_INTERVAL_MS) -> float:
    """How far past the reading it counts from the owner's clock is when it is interrupted, writes failing.

    19,000 ms when reconfirm fails at once, 20,000 ms when it hangs, 0..1,000 being ``reconfirm_ms`` (RS-915).
    """
    return HEARTBEAT_WRITE_TOLERANCE_MS + reconfirm_ms


def margin_ms(
    skew_ms: float,
    *,
    ahead_ms: float = 0,
    reconfirm_ms: float = HEARTBEAT_INTERVAL_MS,
    start_delay_ms: float = 0,
    hook_ms: float = 0,
    setback_ms: float = 0,
    late_ms: float = 0,
) -> float:
    """How long the owner has been interrupted when the peer may first steal; 0 and less means that both may work.

    ``skew_ms`` is the peer's clock minus the owner's. Positive for all ``skew_ms`` up to 10,000 as long as nothing else
    is given: 10,001 - ``skew_ms``, so 1 ms at the worst. Each of the others comes off that, millisecond by millisecond:

    - ``ahead_ms``, 0..10,000, a reading presented ahead of the peer's own clock (hazard H-09): with equal clocks still
      1 ms, with the allowed skew -9,999 ms.
    - ``start_delay_ms``, from the stamp of the activation to the start of the loop, until a first beat succeeds (hazard
      H-11): with equal clocks up to 10,000 ms leave 1 ms, with the allowed skew none can be borne.
    - ``hook_ms``, the time of ``onLapse``, and of the work to notice its interruption, both unbounded (hazard H-15).
    - ``setback_ms``, by how much the owner's clock was set back since the stamp (hazard H-14).
    - ``late_ms``, by how much the last timer of the deadline came late.

    A ``reconfirm_ms`` below 1,000 gives the difference back.
    """
    interrupted_ms = working_for_ms(reconfirm_ms) + start_delay_ms + hook_ms + setback_ms + late_ms
    return stealable_after_ms(ahead_ms) - skew_ms - interrupted_ms


PROMISED_MARGIN_MS: Final = margin_ms(HEARTBEAT_SKEW_ALLOWANCE_MS)
"""What the tolerance leaves in the worst case that it answers for: 1 ms (RS-013)."""

assert PROMISED_MARGIN_MS > 0

"""How close two owners come, as exact formulas over integers in ms.

All count true time from the reading that both the owner's budget and the lease count from. The owner may be at work
from the commit of that stamp to the end of its work, both instants included, and the peer from the instant at which it
is granted the run. So two owners are at work at once exactly where a margin is 0 or less: at 0 in one instant, at -n
for n ms. What these answer is attained by a schedule of the machine, and no schedule comes nearer, as long as the
conditions are kept, of which each is an upper bound.
"""

from tenure_model.explore.timed.conditions import Conditions
from tenure_model.vocabulary.constants import (
    HEARTBEAT_INTERVAL_MS,
    HEARTBEAT_STALE_AFTER_MS,
    HEARTBEAT_WRITE_TOLERANCE_MS,
)


def earliest_grant_ms(given: Conditions) -> int:
    """When the peer may be granted the run: at the first stale reading it may present, not before the stamp is there.

    Assumes that nothing renews the stamp meanwhile, and that the peer holds evidence (RS-004, RS-208, RS-309). Its
    reading may lead its clock, and its clock the owner's (hazard H-09). What delays its own write only helps the owner,
    since the reading it is judged by stays the same.
    """
    return max(given.activation_ms, HEARTBEAT_STALE_AFTER_MS + 1 - given.ahead_ms - given.skew_ms)


def latest_end_ms(given: Conditions) -> int:
    """When the owner's work has stopped at the latest, no write being confirmed after the start of the loop.

    The start (hazard H-11), the tolerance by its own clock, which is later by what that is set back (hazard H-14) and
    by what the last timer is late, one attempt to reconfirm with a limit that may be late too, and ``onLapse`` with the
    standstill of the work (hazard H-15). How many writes fail, how, and when the last one was sent do not occur: what
    is not confirmed renews no budget (RS-912, RS-915, RS-918).
    """
    return (
        given.start_delay_ms
        + HEARTBEAT_WRITE_TOLERANCE_MS
        + given.set_back_ms
        + given.wake_late_ms
        + given.reconfirm_ms
        + given.limit_late_ms
        + given.hook_ms
    )


def smallest_margin_ms(given: Conditions) -> int:
    """From the end of the owner's work to the grant, at the worst; writes may fail in any pattern, from any beat on.

    With the defaults and a skew of up to 10,000 it is at least 1 (RS-013). The worst is an owner no beat of which is
    ever confirmed: after one that is, the late start and the late commit are made good.
    """
    return earliest_grant_ms(given) - latest_end_ms(given)


def largest_overlap_ms(given: Conditions) -> int:
    """How long two owners may be at work at once, at the worst: 0 where at most in one instant.

    Grows with the skew ms by ms from 10,001 on, and no further than to the whole life of a stamp that is stale to the
    peer when it is written: 20,000 from a skew of 30,001 on (hazards H-10, H-28).
    """
    return max(0, -smallest_margin_ms(given))


def healthy_margin_ms(skew_ms: int, *, write_ms: int = 0, ahead_ms: int = 0) -> int:
    """How far an owner all of whose writes succeed within ``write_ms`` is from being robbed; at 0 and less it can be.

    A stamp has to outlast the answer of its write, the pulse, and the landing of the next: 1,000 + 2 ``write_ms``.
    Above 0 no schedule robs the owner, and the figure is how much more skew that takes; below, it is attained, and
    never less than that life of a stamp, since the next beat tells. Holds for ``write_ms`` of 0..8,999, above which
    reconfirming sets in, and where the loop starts as promptly as a write answers (RS-911, hazard H-28).
    """
    longest_ms = HEARTBEAT_INTERVAL_MS + 2 * write_ms
    return max(HEARTBEAT_STALE_AFTER_MS + 1 - ahead_ms - skew_ms, 0) - longest_ms


def healthy_overlap_ms(skew_ms: int, *, write_ms: int = 0, ahead_ms: int = 0) -> int:
    """How long such an owner may work on beside the peer that robbed it, until its next beat tells it: at most
    1,000 + 2 ``write_ms`` (RS-911, RS-917, hazard H-28).
    """
    return max(0, -healthy_margin_ms(skew_ms, write_ms=write_ms, ahead_ms=ahead_ms))

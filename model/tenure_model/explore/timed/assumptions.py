"""Under which assumptions two owners are never at work at once, and how little of a violation breaks each."""

from typing import Final

import attrs

from tenure_model.explore.timed.conditions import Conditions
from tenure_model.explore.timed.figures import smallest_margin_ms
from tenure_model.explore.timed.situations import Fate, Scope, succeeding
from tenure_model.vocabulary.constants import HEARTBEAT_SKEW_ALLOWANCE_MS


@attrs.frozen
class Assumption:
    """A condition that must keep a bound: the field of ``Conditions`` that it bounds, the words for it, and its ids."""

    field: str
    words: str
    cites: str

    def at(self, given: Conditions, bound_ms: int) -> Conditions:
        """The same conditions but for this one, which goes up to ``bound_ms``."""
        return attrs.evolve(given, **{self.field: bound_ms})


ASSUMPTIONS: Final = (
    Assumption("skew_ms", "the peer's clock is not ahead of the owner's", "RS-013, H-10, H-28"),
    Assumption("ahead_ms", "the peer presents readings of its own clock, none ahead of it", "RS-309, H-09"),
    Assumption("start_delay_ms", "the loop starts at the reading that the activation stamps", "RS-910, H-11, H-13"),
    Assumption("set_back_ms", "the owner's clock is not set back while its writes fail", "RS-912, H-14"),
    Assumption("wake_late_ms", "the deadline wakes on time", "RS-912"),
    Assumption("limit_late_ms", "the attempt to reconfirm is cut off on time", "RS-913"),
    Assumption("hook_ms", "`onLapse` takes no time, and the work stands still once interrupted", "RS-914, H-15"),
)
"""What comes off the allowance, each in whole ms, all from the same 10,000."""


def is_safe(given: Conditions) -> bool:
    """Whether two owners are never at work at once, not even for one instant."""
    return smallest_margin_ms(given) >= 1


def borne_ms(assumption: Assumption, given: Conditions) -> int | None:
    """The most that may be assumed of this one beside the others: one ms more and both may be at work.

    ``None`` where no violation is admitted that breaks it: readings ahead of the peer's clock by more than 10,000 are
    refused (RS-309). Below 0 the others alone are too much.
    """
    bound_ms = smallest_margin_ms(assumption.at(given, 0)) - 1
    if assumption.field == "ahead_ms" and bound_ms >= HEARTBEAT_SKEW_ALLOWANCE_MS:
        return None
    return bound_ms


def violating_scope(given: Conditions) -> Scope:
    """A small scope in which the extreme of the conditions is found: one beat may succeed, then writes fail or hang."""
    failing = (Fate(0), Fate(None))
    return Scope(given, (succeeding(0, 0), *failing), failing, beats=1, stalls=1)

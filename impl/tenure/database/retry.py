"""When a write is repeated, and after how long (RS-391, JN-142, JN-143)."""

from collections.abc import Callable

import attrs

from tenure.database.engine import CommitUnknownError, find_database_error

_JITTER_FLOOR = 0.8
_JITTER_SPAN = 0.4


@attrs.frozen
class RetryPolicy:
    """At most ``attempts`` in all; delays double from ``first_delay_ms``, are jittered by 80 to 120 %, then capped.

    Anything but an integer of at least 1 means one attempt, that is: no retry (JN-143).
    """

    attempts: int = 10
    first_delay_ms: int = 50
    longest_delay_ms: int = 10_000

    def allows(self, attempts_made: int) -> bool:
        """Whether another attempt may follow ``attempts_made`` failed ones."""
        return type(self.attempts) is int and attempts_made < self.attempts

    def delay_ms(self, attempts_made: int, random: Callable[[], float]) -> float:
        """How long to wait after ``attempts_made`` failed ones; ``random`` answers 0 <= x < 1."""
        delay: float = self.first_delay_ms * 2 ** (attempts_made - 1) * (_JITTER_FLOOR + _JITTER_SPAN * random())
        return min(delay, self.longest_delay_ms)


def is_transient(error: BaseException) -> bool:
    """Whether repeating the whole write is safe and can help: a lock conflict, nothing else (RS-391)."""
    found = find_database_error(error)
    return found is not None and found.code == "busy" and not isinstance(found, CommitUnknownError)

"""A clock that stands still until a test moves it."""

import threading
from typing import Final

START_MS: Final = 1_700_000_000_000
"""What a clock shows that was told nothing: a moment of November 2023."""


class ManualClock:
    """Whole milliseconds since the epoch. Pass it as ``clock``; it moves by ``set``, ``advance`` and ``sleep`` only.

    Threads may share it. A program that takes its ``sleep`` as a parameter can be given ``clock.sleep``.
    """

    __slots__ = ("_lock", "_now_ms")

    def __init__(self, now_ms: int = START_MS) -> None:
        self._lock = threading.Lock()
        self._now_ms = now_ms

    def __call__(self) -> int:
        return self._now_ms

    def set(self, now_ms: int) -> None:
        """Show ``now_ms`` from now on; it may lie in the past, as clocks are set back."""
        with self._lock:
            self._now_ms = now_ms

    def advance(self, ms: int) -> None:
        """Go on by ``ms``, or back where it is negative."""
        with self._lock:
            self._now_ms += ms

    def sleep(self, seconds: float) -> None:
        """Return at once, with the clock gone on by so many seconds, rounded to the millisecond."""
        self.advance(round(seconds * 1_000))

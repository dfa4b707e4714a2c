"""What supervision measures, waits and starts threads with. Tests pass their own."""

import threading
import time
from collections.abc import Callable

import attrs


def start_thread(name: str, target: Callable[[], None]) -> None:
    """Start a thread that does not keep the program from ending."""
    threading.Thread(target=target, name=name, daemon=True).start()


@attrs.frozen
class Timing:
    """``timer`` answers seconds that never jump; ``wait`` waits on a held condition for so many of them at most, or as
    long as it takes for ``None``; ``start`` runs a function in a thread of that name.
    """

    timer: Callable[[], float] = time.monotonic
    wait: Callable[[threading.Condition, float | None], object] = threading.Condition.wait
    start: Callable[[str, Callable[[], None]], object] = start_thread

"""Every state of a scope that is too large for a graph: counted and judged in passing, and nothing kept but its key."""

import time
from collections.abc import Callable
from typing import Final

import attrs

from tenure_model.explore.search import REPORT_EVERY_SECONDS, Progress
from tenure_model.explore.system import RunSystem, State

_LOOK_EVERY: Final = 256
"""How many states are expanded between two looks at the clock."""


@attrs.frozen
class Swept:
    """What a sweep counted. ``transitions`` counts an edge of one run once, in each state, before owners are renamed.

    ``broken`` gives for each property that breaks the least depth of a state with a step that breaks it.
    """

    states: int
    transitions: int
    depth: int
    broken: dict[str, int]
    complete: bool
    seconds: float


def sweep(
    system: RunSystem,
    *,
    depth: int | None = None,
    on_progress: Callable[[Progress], object] | None = None,
    seconds: Callable[[], float] = time.monotonic,
) -> Swept:
    """Go through everything within ``depth`` steps, breadth first, keeping each state once and no way to it."""
    began = reported = seconds()
    depth = system.scope.depth if depth is None else depth
    frontier = [system.initial()]
    seen: set[State] = set(frontier)
    broken: dict[str, int] = {}
    reached = transitions = expanded = 0
    while frontier and reached != depth:
        following: list[State] = []
        for state in frontier:
            edges, afters, names = system.neighbours(state)
            transitions += edges
            expanded += 1
            for after in afters:
                if after not in seen:
                    seen.add(after)
                    following.append(after)
            for name in names:
                broken.setdefault(name, reached)
            if on_progress is not None and expanded % _LOOK_EVERY == 0:
                now = seconds()
                if now - reported >= REPORT_EVERY_SECONDS:
                    reported = now
                    on_progress(Progress(len(seen), expanded, transitions, reached, now - began))
        frontier = following
        reached += bool(frontier)
    return Swept(len(seen), transitions, reached, broken, not frontier, seconds() - began)

"""From a long failing history to a short one: drop steps for as long as the rest still fails."""

import time
from collections.abc import Callable

from tests.differential.pair import Divergence, MakePair, run_actions


def shrink(
    divergence: Divergence,
    make_pair: MakePair,
    *,
    seconds: float = 30.0,
    now: Callable[[], float] = time.monotonic,
    progress: Callable[[int], None] = lambda length: None,
) -> Divergence:
    """The shortest divergence found within ``seconds``: halves first, then ever smaller pieces, down to single steps.

    Any divergence counts, not only the same one: a shorter history that shows another disagreement is as good a find.
    """
    deadline = now() + seconds
    best = divergence
    size = max(1, len(best.actions) // 2)
    while size >= 1:
        start = 0
        shorter = False
        while start < len(best.actions) and now() < deadline:
            candidate = best.actions[:start] + best.actions[start + size :]
            found = run_actions(make_pair, candidate) if candidate else None
            if found is None:
                start += size
            else:
                best, shorter = found, True
                progress(len(best.actions))
        if now() >= deadline:
            return best
        if size == 1 and not shorter:
            return best
        size = max(1, size // 2)
    return best

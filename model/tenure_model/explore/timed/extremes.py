"""The search: every situation of a scope, the smallest margin in it, and a shortest schedule that attains it."""

from collections.abc import Iterator

import attrs

from tenure_model.explore.search import Edge, explore
from tenure_model.explore.timed.situations import Move, Scope, Situation, beginning, margin_ms
from tenure_model.explore.timed.system import moves


@attrs.frozen
class Extreme:
    """The smallest margin of a scope, and one of the schedules with the fewest moves that attain it.

    ``margin_ms`` is ``None`` where the peer never gets the run or the owner never stops. ``situations`` and
    ``transitions`` are how many were searched.
    """

    margin_ms: int | None
    schedule: tuple[Move, ...]
    situations: int
    transitions: int


def smallest_margin(scope: Scope) -> Extreme:
    """Breadth first through all situations of the scope."""

    def successors(situation: Situation) -> Iterator[Edge[Move, Situation]]:
        return (Edge(move, after) for move, after in moves(scope, situation))

    explored = explore(beginning(scope), successors)
    margins = [
        (margin, number)
        for number, situation in enumerate(explored.states)
        if (margin := margin_ms(situation)) is not None
    ]
    margin, number = min(margins, default=(None, 0))
    schedule = tuple(move for move, _ in explored.way_to(number))
    return Extreme(margin, schedule, len(explored.states), explored.transitions)

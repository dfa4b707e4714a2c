"""Breadth first through everything reachable: a shortest way to each state, and the first step that breaks a property.

The search knows nothing of runs. It is given a start and what leads out of a state, numbers every state once, and keeps
for each the edge that first reached it, so that the way to any state is a shortest one.
"""

import time
from array import array
from collections.abc import Callable, Hashable, Iterable
from typing import Final, Generic, NamedTuple, TypeVar

import attrs

State = TypeVar("State", bound=Hashable)
Name = TypeVar("Name", bound=Hashable)

REPORT_EVERY_SECONDS: Final = 1.0
"""How often a search says how far it is."""


class Edge(NamedTuple, Generic[Name, State]):
    """One step out of a state: its label, where it leads, the properties it breaks, the repairs that fired."""

    label: Name
    after: State
    broken: tuple[str, ...] = ()
    fired: tuple[str, ...] = ()


@attrs.frozen
class Progress:
    """How far a search is: states found and expanded, edges seen, the depth it works on, and the seconds it took."""

    states: int
    expanded: int
    transitions: int
    depth: int
    seconds: float


@attrs.frozen
class Finding(Generic[Name]):
    """A broken property: the number of the state before, and the label of the step that breaks it."""

    name: str
    state: int
    label: Name


@attrs.frozen
class Explored(Generic[State, Name]):
    """What a search found.

    ``states`` maps each state to its number, in the order of discovery; ``parents`` and ``labels`` hold, by number, the
    state it was first reached from and the step that did (the start has -1 and is its own). ``depth`` is the number of
    steps to the farthest state found. ``findings`` are the first, and so the shortest, for each property that broke.
    ``complete`` is false where a bound ended the search: then some edges, and perhaps states, are missing.
    """

    states: dict[State, int]
    parents: "array[int]"
    labels: list[Name | None]
    depth: int
    transitions: int
    findings: dict[str, Finding[Name]]
    complete: bool
    seconds: float

    def way_to(self, number: int) -> list[tuple[Name, State]]:
        """A shortest way to a state: the labels of its steps, each with the state it leads to."""
        by_number = list(self.states)
        way: list[tuple[Name, State]] = []
        while (label := self.labels[number]) is not None:
            way.append((label, by_number[number]))
            number = self.parents[number]
        return way[::-1]


def explore(
    initial: State,
    successors: Callable[[State], Iterable[Edge[Name, State]]],
    *,
    depth: int | None = None,
    limit: int | None = None,
    first: bool = False,
    on_edge: Callable[[int, Edge[Name, State], int], object] | None = None,
    on_progress: Callable[[Progress], object] | None = None,
    seconds: Callable[[], float] = time.monotonic,
) -> Explored[State, Name]:
    """Search everything within ``depth`` steps of ``initial``, or until ``limit`` states are found, or, with ``first``,
    until a property breaks.

    ``on_edge`` is told of every edge with the numbers of its ends. Edges out of a state must be distinct, and come in
    an order that does not vary: then so does everything that is answered.
    """
    began = reported = seconds()
    states: dict[State, int] = {initial: 0}
    parents = array("q", [-1])
    labels: list[Name | None] = [None]
    findings: dict[str, Finding[Name]] = {}
    frontier, reached, transitions, expanded = [initial], 0, 0, 0
    complete = True
    while frontier:
        if depth is not None and reached == depth:
            complete = False
            break
        following: list[State] = []
        for state in frontier:
            number = states[state]
            for edge in successors(state):
                transitions += 1
                target = states.get(edge.after)
                if target is None:
                    target = len(states)
                    states[edge.after] = target
                    parents.append(number)
                    labels.append(edge.label)
                    following.append(edge.after)
                if on_edge is not None:
                    on_edge(number, edge, target)
                for name in edge.broken:
                    findings.setdefault(name, Finding(name, number, edge.label))
            expanded += 1
            if on_progress is not None and expanded % 64 == 0 and (now := seconds()) - reported >= REPORT_EVERY_SECONDS:
                reported = now
                on_progress(Progress(len(states), expanded, transitions, reached, now - began))
            if (limit is not None and len(states) >= limit) or (first and findings):
                complete = False
                break
        reached += bool(following)
        frontier = following if complete else []
    return Explored(states, parents, labels, reached, transitions, findings, complete, seconds() - began)

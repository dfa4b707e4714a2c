"""Whether a run can always be brought to its end: by anybody, and by a single owner that is left.

Two questions of a searched scope. ``wedges`` asks whether anything at all leads from a state to the end of a run, by
whatever calls of whatever owners, as time passes. ``survival`` asks whether one owner alone can bring it about once
all others are dead and every stamp is older than the staleness bound, and in how many of its own calls at most. The
second is the stronger, and the one a deployment relies on (RS-1008). An administrator's delete is nobody's call here.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias

import attrs
import networkx

from tenure_model.explore.canonical import NONE, NOW_MS, STATUS_NUMBERS, RunCode, decode, horizon, settle, shift
from tenure_model.explore.graph import StateGraph
from tenure_model.explore.scope import DELETE, Scope, honest
from tenure_model.explore.search import Explored
from tenure_model.explore.system import Label, RunSystem, State
from tenure_model.vocabulary.statuses import TERMINAL_RUN_STATUSES

Moves: TypeAlias = "networkx.DiGraph[int]"
"""What leads where, without labels."""

_SETTLED: Final = frozenset(STATUS_NUMBERS[status] for status in TERMINAL_RUN_STATUSES)

_AGES_MS: Final = 1 << 39
"""Longer than any stamp of a scope lies ahead."""


@attrs.frozen
class Wedge:
    """States that lead to one another and nowhere else, and never to the end of a run: where getting stuck ends.

    ``run`` is the run's number in the scope, ``states`` are numbers of states, ascending.
    """

    run: int
    states: tuple[int, ...]


@attrs.frozen
class Wedges:
    """The states in which a run has not settled and never will, whoever does what.

    ``stuck`` has, by the run's number, the numbers of those states, ascending: a shortest way to the first of them is a
    shortest way to get stuck. ``bottoms`` are the wedges they all end in, in the order of runs and of first states.
    """

    stuck: tuple[tuple[int, ...], ...]
    bottoms: tuple[Wedge, ...]


@attrs.frozen
class Rescue:
    """A shortest way in which one owner alone settles a run: its ``calls``, from the state with all stamps stale.

    ``state`` is the number of the state in the search, ``run`` and ``survivor`` are numbers in the scope. The owners of
    labels are the scope's.
    """

    state: int
    run: int
    survivor: int
    calls: tuple[Label, ...]


@attrs.frozen
class Stranding:
    """A state, run and owner of which that owner alone never brings the run to its end: numbers, as in ``Rescue``."""

    state: int
    run: int
    survivor: int


@attrs.frozen
class Survival:
    """What single survivors can do, over every state, unsettled run and owner.

    ``rescues`` counts those that succeed; ``worst`` is the one among them that needs the most calls, the first found of
    several, ``None`` where there is none. ``stranded`` are those that do not, by state, run and owner.
    """

    rescues: int
    worst: Rescue | None
    stranded: tuple[Stranding, ...]

    @property
    def bound(self) -> int | None:
        """The calls with which any survivor settles any run from any state; ``None`` where one cannot."""
        if self.stranded:
            return None
        return 0 if self.worst is None else len(self.worst.calls)


def wedges(found: StateGraph) -> Wedges:
    """The states from which a run cannot be settled, and the wedges they end in.

    In a scope without ``advances`` a stamp that no reading finds stale stays so: what then waits for it to grow stale
    is stuck there. A search that a bound has ended knows too little: ``ValueError``.
    """
    _require_all(found.explored)
    moves: Moves = networkx.DiGraph()
    moves.add_nodes_from(found.graph)
    for source, target, attributes in found.graph.edges(data=True):
        if attributes["label"].operation != DELETE:
            moves.add_edge(source, target)
    stuck, bottoms = [], []
    for run in range(len(found.system.scope.runs)):
        statuses = [found.system.codes(state)[run].status for state in found.explored.states]
        hopeful = _leading_to(moves, (number for number, status in enumerate(statuses) if status in _SETTLED))
        stuck.append(
            tuple(number for number, status in enumerate(statuses) if status != NONE and number not in hopeful)
        )
        ends = networkx.attracting_components(moves.subgraph(stuck[run]))
        bottoms += [Wedge(run, states) for states in sorted(tuple(sorted(end)) for end in ends)]
    return Wedges(tuple(stuck), tuple(bottoms))


def survival(system: RunSystem, explored: Explored[State, Label]) -> Survival:
    """What each owner of the scope can do alone about each unsettled run in each state that was found.

    The survivor passes honest readings, of a clock by which every stamp and token of the state is stale; while it
    calls, no time need pass. A search that a bound has ended knows too little: ``ValueError``.
    """
    _require_all(explored)
    rescues, worst, stranded = 0, None, list[Stranding]()
    lone = {
        (run, survivor): _Lone(system, run, survivor)
        for run in range(len(system.scope.runs))
        for survivor in range(len(system.scope.participants))
    }
    for state, number in explored.states.items():
        codes = system.codes(state)
        for (run, survivor), one in lone.items():
            if codes[run].status == NONE or codes[run].status in _SETTLED:
                continue
            calls = one.settling(codes[run])
            if calls is None:
                stranded.append(Stranding(number, run, survivor))
                continue
            rescues += 1
            if worst is None or len(calls) > len(worst.calls):
                worst = Rescue(number, run, survivor, calls)
    return Survival(rescues, worst, tuple(stranded))


def _require_all(explored: Explored[State, Label]) -> None:
    if not explored.complete:
        raise ValueError("liveness needs every state: the search was ended by a bound")


def _leading_to(moves: Moves, goals: Iterable[int]) -> set[int]:
    """The goals and every node that has a way to one of them."""
    reached = set(goals)
    frontier = list(reached)
    while frontier:
        for source in moves.predecessors(frontier.pop()):
            if source not in reached:
                reached.add(source)
                frontier.append(source)
    return reached


class _Lone:
    """One owner left alone with one run: the shortest ways to settle it, each situation worked out once."""

    __slots__ = ("_run", "_system", "_ways")

    def __init__(self, system: RunSystem, run: int, survivor: int) -> None:
        scope = system.scope
        self._run = run
        self._ways: dict[RunCode, tuple[Label, ...] | None] = {}
        self._system = system.over(
            attrs.evolve(
                scope,
                participants=tuple(
                    attrs.evolve(who, readings=honest(0) if number == survivor else ())
                    for number, who in enumerate(scope.participants)
                ),
                runs=(scope.runs[run],),
                operations=scope.operations - {DELETE},
                advances=(),
                symmetric=False,
            )
        )

    def settling(self, code: RunCode) -> tuple[Label, ...] | None:
        """The calls that settle the run soonest from this situation grown stale, ``None`` where none do."""
        aged = _aged(self._system.scope, code)
        if aged not in self._ways:
            self._ways[aged] = self._searched(aged)
        return self._ways[aged]

    def _searched(self, code: RunCode) -> tuple[Label, ...] | None:
        start = self._system.place(decode(self._system.scope, (code,)), NOW_MS)
        ways: dict[State, tuple[Label, ...]] = {start: ()}
        frontier = [start]
        for state in frontier:
            for edge in self._system.successors(state):
                if edge.after not in ways:
                    ways[edge.after] = (*ways[state], edge.label._replace(run=self._run))
                    if self._system.codes(edge.after)[0].status in _SETTLED:
                        return ways[edge.after]
                    frontier.append(edge.after)
        return None


def _aged(scope: Scope, code: RunCode) -> RunCode:
    """The situation so much later that every stamp in it is stale against every reading."""
    return settle(shift(code, _AGES_MS), horizon(scope))

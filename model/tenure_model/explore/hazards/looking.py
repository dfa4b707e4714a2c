"""How a hazard is looked for: signs that must show in order, or a run that nobody can bring to its end any more.

A sign is a step. What a hazard takes is seldom one step alone, and what came before is no part of a state; so the
search goes through pairs of a state and of how many signs have shown, and finds a shortest history with all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

import attrs

from tenure_model.explore.calls import Call
from tenure_model.explore.canonical import NOW_MS
from tenure_model.explore.graph import build_graph
from tenure_model.explore.hazards.hazard import Evidence
from tenure_model.explore.judging import Property, Transition, broken_by
from tenure_model.explore.liveness import wedges
from tenure_model.explore.scope import Scope
from tenure_model.explore.search import Edge, explore
from tenure_model.explore.system import TIME, Label, RunSystem, State, outcome_name
from tenure_model.explore.telling import told
from tenure_model.explore.traces import Moment, Trace, taken_by, trace_to
from tenure_model.semantics.commands import apply
from tenure_model.semantics.profiles import ORIGINAL, Profile
from tenure_model.semantics.steps import Step
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.owners import OwnerId

Shows: TypeAlias = Callable[[Transition], bool]
Remarks: TypeAlias = Callable[[Trace], tuple[str, ...]]

_SHOWN: Final = "shown"


@attrs.frozen
class Sign:
    """A step to look for, and the words that stand beside it in the trace."""

    words: str
    shows: Shows


@attrs.frozen
class Found:
    """What a search came to: a shortest history, or ``None`` after all of so many states and transitions."""

    scope: Scope
    trace: Trace | None
    states: int
    transitions: int


@attrs.frozen
class Signs:
    """A history in which these signs show, in this order, in a scope. Called, it is the evidence under ``original``.

    ``remarks`` say of the trace what its lines do not: facts, revisions, what a record names.
    """

    scope: Scope
    signs: tuple[Sign, ...]
    remarks: Remarks = lambda _: ()

    def under(self, profile: Profile) -> Found:
        """A shortest such history under a profile."""
        return _look(attrs.evolve(self.scope, profile=profile), self.signs)

    def __call__(self) -> Evidence:
        return evidence(self, ORIGINAL)


@attrs.frozen
class Stuck:
    """A history after which a run never settles, whoever does what (``liveness``). Called, as ``Signs``."""

    scope: Scope
    remarks: Remarks = lambda _: ()

    def under(self, profile: Profile) -> Found:
        """A shortest such history under a profile."""
        scope = attrs.evolve(self.scope, profile=profile)
        found = build_graph(RunSystem(scope, properties=()))
        stuck = min((number for numbers in wedges(found).stuck for number in numbers), default=None)
        trace = None if stuck is None else trace_to(found.system, found.explored, stuck)
        return Found(scope, trace, len(found.explored.states), found.explored.transitions)

    def __call__(self) -> Evidence:
        return evidence(self, ORIGINAL)


Search: TypeAlias = Signs | Stuck
"""Evidence that is searched for, and can be under either profile."""


def evidence(search: Search, profile: Profile) -> Evidence:
    """What a search shows under a profile: the history, or that there is none, with ``steps`` of ``None``."""
    found = search.under(profile)
    if found.trace is None:
        return Evidence("trace", (absence(found.states, found.transitions),), found.scope.name, profile.name)
    lines = told(found.trace) + search.remarks(found.trace)
    return Evidence("trace", lines, found.scope.name, profile.name, len(found.trace.moments))


def absence(states: int, transitions: int) -> str:
    """The words for a search that was complete and found nothing."""
    return f"no history shows it: all {states:,} states and {transitions:,} transitions were searched"


def sign(words: str, operation: str, answer: str, by: OwnerId | None = None, where: Shows = lambda _: True) -> Sign:
    """A call of the operation that is answered like this (``outcome_name``), by this owner, where more is asked."""

    def shows(taken: Transition) -> bool:
        return (
            taken.command.operation == operation
            and outcome_name(taken.step.outcome) == answer
            and by in (None, taken.caller)
            and where(taken)
        )

    return Sign(words, shows)


class _Watched(RunSystem):
    """A system that asks about every call, also about one that leaves everything as it was."""

    __slots__ = ()

    def judged(self, world: World, call: Call, run_id: str) -> tuple[Step, tuple[str, ...]]:
        step = apply(world, call.command)
        taken = Transition(world, call.command, self.scope.owners[call.owner], step, run_id)
        return step, broken_by(taken, self._properties)


def _look(scope: Scope, signs: Sequence[Sign]) -> Found:
    watched = [_unshown(number, one) for number, one in enumerate(signs)]
    system = _Watched(scope, properties=watched)

    def successors(node: tuple[State, int]) -> Iterator[Edge[Label, tuple[State, int]]]:
        state, shown = node
        for edge in system.successors(state):
            seen = shown + (str(shown) in edge.broken)
            yield Edge(edge.label, (edge.after, seen), (_SHOWN,) if seen == len(signs) else ())

    explored = explore((system.initial(), 0), successors, first=True)
    trace = None
    if _SHOWN in explored.findings:
        last = next(number for (_, seen), number in explored.states.items() if seen == len(signs))
        trace = _walked(system, signs, explored.way_to(last))
    states = {state for state, _ in explored.states}
    return Found(scope, trace, len(states), explored.transitions)


def _unshown(number: int, one: Sign) -> Property:
    return Property(str(number), one.words, (), lambda taken: not one.shows(taken))


def _walked(system: RunSystem, signs: Sequence[Sign], way: Sequence[tuple[Label, tuple[State, int]]]) -> Trace:
    """The way taken for real. Of the marks of a step the one that the history needs stays, in its words."""
    world, now_ms, shown = empty_world(system.scope.profile), NOW_MS, 0
    moments: list[Moment] = []
    for label, (after, seen) in way:
        if label.operation == TIME:
            now_ms += int(label.outcome)
            moments.append(Moment(now_ms - NOW_MS, label.owner, None, None, world, (), ()))
            continue
        moment = next(
            one
            for one in taken_by(system, world, now_ms, label)
            if system.place(one.world, now_ms) == after and (seen == shown or str(shown) in one.broken)
        )
        moments.append(attrs.evolve(moment, broken=(signs[shown].words,) if seen > shown else ()))
        world, shown = moment.world, seen
    return Trace(system.scope, tuple(moments))

"""A way through the graph, taken for real: the concrete calls, clocks and answers that lead to a state.

States stand for many worlds, so a way is walked from the empty world with real names and times; at every step the first
call that leads to the next state is the one taken.
"""

from collections.abc import Iterator, Sequence

import attrs

from tenure_model.explore.calls import calls
from tenure_model.explore.canonical import NOW_MS
from tenure_model.explore.graph import StateGraph
from tenure_model.explore.scope import Scope
from tenure_model.explore.search import Explored, Finding
from tenure_model.explore.system import TIME, Label, RunSystem, State, outcome_name
from tenure_model.semantics.commands import Command
from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import World, empty_world


@attrs.frozen
class Moment:
    """One step of a trace. ``at_ms`` is the time since its start; ``command`` is none where only time passed.

    ``world`` is the world after it; ``broken`` names the properties that the step breaks, ``fired`` the repairs.
    """

    at_ms: int
    owner: int
    command: Command | None
    outcome: Outcome
    world: World
    broken: tuple[str, ...]
    fired: tuple[str, ...]


@attrs.frozen
class Trace:
    """A concrete history within a scope, from the empty world. Times in commands are ``NOW_MS`` and later."""

    scope: Scope
    moments: tuple[Moment, ...]


def trace_to(system: RunSystem, explored: Explored[State, Label], number: int) -> Trace:
    """A shortest history that leads to the state of that number."""
    return _walked(system, explored.way_to(number), None)


def trace_of(system: RunSystem, explored: Explored[State, Label], finding: Finding[Label]) -> Trace:
    """A shortest history whose last step breaks the property. ``ValueError`` for one that asks for what is not kept."""
    return _walked(system, explored.way_to(finding.state), finding)


def trace_along(found: StateGraph, way: Sequence[tuple[Label, int]]) -> Trace:
    """A history along these edges of a graph: labels with the numbers of the states they lead to."""
    by_number = list(found.explored.states)
    return _walked(found.system, [(label, by_number[number]) for label, number in way], None)


def _walked(system: RunSystem, way: list[tuple[Label, State]], finding: Finding[Label] | None) -> Trace:
    world, now_ms = empty_world(system.scope.profile), NOW_MS
    moments: list[Moment] = []
    for label, after in way:
        if label.operation == TIME:
            now_ms += int(label.outcome)
            moments.append(Moment(now_ms - NOW_MS, label.owner, None, None, world, (), ()))
            continue
        for moment in taken_by(system, world, now_ms, label):
            if system.place(moment.world, now_ms) == after:
                world = moment.world
                moments.append(moment)
                break
        else:
            raise AssertionError(f"no call leads on by {label}")
    if finding is not None:
        candidates = taken_by(system, world, now_ms, finding.label)
        last = next((moment for moment in candidates if finding.name in moment.broken), None)
        if last is None:
            raise ValueError("the property speaks of what a state does not keep (canonical)")
        moments.append(last)
    return Trace(system.scope, tuple(moments))


def taken_by(system: RunSystem, world: World, now_ms: int, label: Label) -> Iterator[Moment]:
    """Every call on the label's run that has its operation and outcome; owners may go by other names here."""
    plan = system.scope.runs[label.run]
    for call in calls(system.scope, world, plan, now_ms):
        if call.command.operation != label.operation:
            continue
        step, broken = system.judged(world, call, plan.run_id)
        if outcome_name(step.outcome) == label.outcome:
            fired = tuple(sorted(step.fired))
            yield Moment(now_ms - NOW_MS, call.owner, call.command, step.outcome, step.world, broken, fired)

"""Random histories within a scope, at any hour, and the same history told with other owners and at another hour."""

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast

import attrs

from tenure_model.explore.calls import calls
from tenure_model.explore.canonical import Renaming
from tenure_model.explore.scope import Scope
from tenure_model.explore.system import NOBODY, TIME, Label, RunSystem, State, outcome_name
from tenure_model.semantics.commands import apply
from tenure_model.semantics.world import World, empty_world
from tenure_model.vocabulary.owners import OwnerId

Value = TypeVar("Value")

TIMES = frozenset(
    {"nowMs", "claimedAtMs", "now_ms", "clock_ms", "claimed_at_ms", "granted_at_ms", "heartbeat_at_ms"}
    | {"checked_at_ms", "created_at_ms", "started_at_ms", "finished_at_ms", "cancel_requested_at_ms", "observed_at_ms"}
    | {"requested_at_ms"}
)
"""What a time goes by, in arguments and in fields."""


def walk(scope: Scope, seed: int, steps: int) -> Iterator[tuple[World, int]]:
    """Worlds that calls of the scope lead to from the empty one, each with its instant; the first may be any.

    Time passes at three steps in ten, and one in sixteen begins anew. Transitions are rare, as nothing much happens
    to a run that has settled.
    """
    source = random.Random(seed)
    world, now_ms = empty_world(scope.profile), source.randrange(10**6, 2**50)
    for _ in range(steps):
        yield world, now_ms
        if source.random() < 1 / 16:
            world = empty_world(scope.profile)
        after: dict[tuple[str, str, str], list[World]] = {}
        for plan in scope.runs:
            for call in calls(scope, world, plan, now_ms):
                step = apply(world, call.command)
                if step.world is not world:
                    name = call.command.operation, outcome_name(step.outcome), plan.run_id
                    after.setdefault(name, []).append(step.world)
        usual = [name for name in after if name[0] != "run.transitionOwned" or source.random() < 0.2]
        if not usual or source.random() < 0.3:
            now_ms += source.choice(scope.advances)
        else:
            world = source.choice(after[source.choice(usual)])


def edges_of(system: RunSystem, world: World, now_ms: int) -> set[tuple[Label, State]]:
    """What the calls at a world and time lead to: the labels of the graph, and the states after."""
    scope, here = system.scope, system.place(world, now_ms)
    found = {(Label(TIME, str(by_ms), NOBODY, NOBODY), system.place(world, now_ms + by_ms)) for by_ms in scope.advances}
    for number, plan in enumerate(scope.runs):
        for call in calls(scope, world, plan, now_ms):
            step = apply(world, call.command)
            after = here if step.world is world else system.place(step.world, now_ms)
            found.add((Label(call.command.operation, outcome_name(step.outcome), call.owner, number), after))
    return found


def renamed_edges(edges: Iterable[tuple[Label, State]], renaming: Renaming) -> set[tuple[Label, State]]:
    """The edges with other numbers for who called; states are free of names already."""
    return {(label._replace(owner=renaming[label.owner]), after) for label, after in edges}


def retold(value: Value, owners: Mapping[OwnerId, OwnerId], by_ms: int) -> Value:
    """A world, command or part of one with each owner replaced and every time moved."""
    return cast("Value", _retold(value, owners, by_ms, ""))


def _retold(value: object, owners: Mapping[OwnerId, OwnerId], by_ms: int, name: str) -> object:
    if isinstance(value, OwnerId):
        return owners[value]
    if isinstance(value, Mapping):
        return {key: _retold(part, owners, by_ms, key) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(_retold(part, owners, by_ms, "") for part in value)
    kind: Any = type(value)
    if attrs.has(kind):
        parts = {field.name: getattr(value, field.name) for field in attrs.fields(kind)}
        return kind(**{part: _retold(content, owners, by_ms, part) for part, content in parts.items()})
    return value + by_ms if isinstance(value, int) and name in TIMES else value

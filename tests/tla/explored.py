"""The explorer's graph of a scope, in the same words as TLC's."""

from collections.abc import Sequence

import attrs
import networkx as nx

from tenure_model.explore.canonical import NO_STAMP, NONE, RunCode
from tenure_model.explore.scope import DELETE, EVERY_OPERATION, Scope, honest
from tenure_model.explore.scopes import named
from tenure_model.explore.search import explore
from tenure_model.explore.system import Label, RunEdge, RunSystem
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE
from tenure_model.vocabulary.statuses import RUN_STATUSES
from tests.tla.graph import Graph, State

_PROFILES = {profile.name: profile for profile in (REFERENCE, ORIGINAL)}


def explored_graph(profile: str, readings: Sequence[int], *, deletes: bool = False) -> Graph:
    """What ``read_graph`` answers for two owners on two hosts, found by the explorer's scope ``second-opinion``."""
    scope = named("second-opinion", _PROFILES[profile])
    owners = tuple(attrs.evolve(owner, readings=honest(*readings)) for owner in scope.participants)
    operations = EVERY_OPERATION | {DELETE} if deletes else EVERY_OPERATION
    return _graph_of(attrs.evolve(scope, participants=owners, operations=operations))


def _graph_of(scope: Scope) -> Graph:
    system = RunSystem(scope)
    edges: list[tuple[int, Label, int]] = []

    def keep(before: int, edge: RunEdge, after: int) -> None:
        edges.append((before, edge.label, after))

    found = explore(system.initial(), system.successors, on_edge=keep)
    states = [_state_of(*system.codes(state)) for state in found.states]
    graph: Graph = nx.MultiDiGraph()
    for state in states:
        graph.add_node(state, **state._asdict())
    for before, label, after in edges:
        name = f"{label.operation.removeprefix('run.')}.{label.outcome}.o{label.owner + 1}"
        # Without a key, so that an edge that the explorer gives twice would show.
        graph.add_edge(states[before], states[after], label=name)
    return graph


def _state_of(code: RunCode) -> State:
    """The explorer's instant never moves here, so that its stamps are the readings themselves."""
    return State(
        status=None if code.status == NONE else RUN_STATUSES[code.status],
        owner=_or_none(code.owner, NONE),
        heartbeat=_or_none(code.heartbeat, NO_STAMP),
        claimant=_or_none(code.claimant, NONE),
        token=_or_none(code.token, NO_STAMP),
        cancel_requested=code.requested,
        acknowledged=code.acknowledged,
        lease_owner=_or_none(code.lease_owner, NONE),
        lease_heartbeat=_or_none(code.lease_heartbeat, NO_STAMP),
        lease_claimant=_or_none(code.lease_claimant, NONE),
        lease_token=_or_none(code.lease_token, NO_STAMP),
    )


def _or_none(value: int, absent: int) -> int | None:
    return None if value == absent else value

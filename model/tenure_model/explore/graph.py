"""The state graph of a scope: every state a node, every labelled step an edge, kept apart where they are parallel.

It serves to some 100,000 states; beyond that ``sweep`` answers what can be answered without a graph.
"""

import json
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import attrs
import networkx

from tenure_model.explore.canonical import NONE, RunCode
from tenure_model.explore.scope import Scope, owner_name, printable
from tenure_model.explore.search import Explored, Progress, explore
from tenure_model.explore.system import Label, RunEdge, RunSystem, State
from tenure_model.vocabulary.statuses import RUN_STATUSES

Graph: TypeAlias = "networkx.MultiDiGraph[int]"


@attrs.frozen
class StateGraph:
    """A searched scope and its graph.

    Nodes are numbers in the order of discovery, 0 the start, with the attribute ``state``; edges have ``label`` (a
    ``Label``), ``broken`` and ``fired``. ``explored`` has the shortest ways.
    """

    system: RunSystem
    explored: Explored[State, Label]
    graph: Graph


def build_graph(
    system: RunSystem,
    *,
    depth: int | None = None,
    limit: int | None = None,
    on_progress: Callable[[Progress], object] | None = None,
) -> StateGraph:
    """Search the system's scope and keep every edge."""
    graph: Graph = networkx.MultiDiGraph()

    def keep(source: int, edge: RunEdge, target: int) -> None:
        graph.add_edge(source, target, label=edge.label, broken=edge.broken, fired=edge.fired)

    depth = system.scope.depth if depth is None else depth
    explored = explore(
        system.initial(), system.successors, depth=depth, limit=limit, on_edge=keep, on_progress=on_progress
    )
    for state, number in explored.states.items():
        graph.add_node(number, state=state)
    return StateGraph(system, explored, graph)


def described(scope: Scope, code: RunCode) -> Mapping[str, str | int | bool]:
    """What a node says of one run, in names: absent parts are left out, stamps are milliseconds from the instant."""
    names = [owner_name(owner) for owner in scope.owners]
    fields: dict[str, str | int | bool] = {"status": "none" if code.status == NONE else RUN_STATUSES[code.status]}
    for name, owner, stamp_name, stamp in (
        ("owner", code.owner, "heartbeat", code.heartbeat),
        ("claimant", code.claimant, "token", code.token),
        ("leaseOwner", code.lease_owner, "leaseHeartbeat", code.lease_heartbeat),
        ("leaseClaimant", code.lease_claimant, "leaseToken", code.lease_token),
    ):
        if owner != NONE:
            fields[name], fields[stamp_name] = names[owner], stamp
    if code.requested:
        fields["cancelRequested"] = True
    if code.acknowledged:
        fields["cancelAcknowledged"] = True
    return fields


def exported(found: StateGraph) -> Graph:
    """The graph with plain attributes only, as every format can hold them: texts, numbers and flags."""
    plain: Graph = networkx.MultiDiGraph(scope=found.system.scope.name, profile=found.system.scope.profile.name)
    scope = found.system.scope
    for number, attributes in found.graph.nodes(data=True):
        flat = {
            f"{printable(plan.run_id)}.{name}": value
            for plan, code in zip(scope.runs, found.system.codes(attributes["state"]), strict=True)
            for name, value in described(scope, code).items()
        }
        plain.add_node(number, **flat)
    for source, target, attributes in found.graph.edges(data=True):
        label: Label = attributes["label"]
        plain.add_edge(
            source,
            target,
            operation=label.operation,
            outcome=label.outcome,
            owner="" if label.owner < 0 else owner_name(scope.owners[label.owner]),
            run="" if label.run < 0 else printable(scope.runs[label.run].run_id),
            broken=" ".join(attributes["broken"]),
            fired=" ".join(attributes["fired"]),
        )
    return plain


def as_json(found: StateGraph) -> str:
    """The graph as node-link JSON, one document."""
    return json.dumps(networkx.node_link_data(exported(found), edges="edges"), separators=(",", ":"), sort_keys=True)


def as_graphml(found: StateGraph) -> str:
    """The graph as GraphML."""
    return "\n".join(networkx.generate_graphml(exported(found))) + "\n"


def as_dot(found: StateGraph) -> str:
    """The graph in the language of Graphviz: a line a node, a line an edge, self-loops included."""
    plain = exported(found)
    lines = ["digraph states {"]
    for number, attributes in plain.nodes(data=True):
        text = "\\n".join(_in_dot(f"{name}={value}") for name, value in attributes.items())
        lines.append(f'  {number} [label="{text}"];')
    for source, target, attributes in plain.edges(data=True):
        text = " ".join(filter(None, (attributes["owner"], attributes["operation"], attributes["run"])))
        lines.append(f'  {source} -> {target} [label="{_in_dot(text)}: {attributes["outcome"]}"];')
    return "\n".join([*lines, "}", ""])


def _in_dot(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


FORMATS: Final[Mapping[str, Callable[[StateGraph], str]]] = {"json": as_json, "graphml": as_graphml, "dot": as_dot}
"""The export formats by name."""

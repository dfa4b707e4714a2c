"""Graphs in records of plans (JN-377..JN-379)."""

import re
from typing import Final

from tenure_model.admission.engine_events.members import (
    MalformedError,
    Members,
    array,
    filled_text,
    filled_texts,
    json,
    open_record,
    optional,
    quantity,
    text,
    word,
)
from tenure_model.vocabulary.engine_events.plans import (
    EDGE_REASONS,
    TIERS,
    DeclaredAt,
    Graph,
    GraphEdge,
    GraphNode,
)

_REVISION: Final = re.compile("[0-9a-f]{40}")


def read_graph(members: Members, name: str, place: str) -> Graph:
    """The graph in a member (JN-377). Members that the rules do not name are dropped, here and in what it holds."""
    place = f"{place}.{name}"
    graph = open_record(members.get(name), place)
    return Graph(
        tuple(_read_node(node, f"{place}.nodes[{at}]") for at, node in enumerate(array(graph, "nodes", place))),
        optional(_read_edges, graph, "edges", place),
        optional(_read_revision, graph, "sourceRevision", place),
    )


def _read_edges(members: Members, name: str, place: str) -> tuple[GraphEdge, ...]:
    return tuple(_read_edge(edge, f"{place}.{name}[{at}]") for at, edge in enumerate(array(members, name, place)))


def _read_revision(members: Members, name: str, place: str) -> str:
    revision = text(members, name, place)
    # A whole match, because `$` would also match before a final newline (JN-606).
    if _REVISION.fullmatch(revision):
        return revision
    raise MalformedError(f"{place}.{name}", "must be 40 lowercase hexadecimal digits")


def _read_node(value: object, place: str) -> GraphNode:
    members = open_record(value, place)
    return GraphNode(
        filled_text(members, "id", place),
        text(members, "kind", place),
        filled_texts(members, "dependsOn", place),
        word(members, "tier", place, TIERS),
        optional(json, members, "key", place),
        optional(quantity, members, "generation", place),
        optional(json, members, "action", place),
        optional(json, members, "effects", place),
        optional(_read_declared_at, members, "declaredAt", place),
    )


def _read_edge(value: object, place: str) -> GraphEdge:
    members = open_record(value, place)
    return GraphEdge(
        filled_text(members, "from", place),
        filled_text(members, "to", place),
        word(members, "reason", place, EDGE_REASONS),
    )


def _read_declared_at(members: Members, name: str, place: str) -> DeclaredAt:
    """Where an action was written; an absolute path is refused, but only one that starts with ``/`` (JN-379, HZ-39)."""
    place = f"{place}.{name}"
    site = open_record(members.get(name), place)
    path = filled_text(site, "path", place)
    if path.startswith("/"):
        raise MalformedError(f"{place}.path", "must not be absolute")
    return DeclaredAt(path, quantity(site, "line", place))

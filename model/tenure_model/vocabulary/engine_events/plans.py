"""Records of plans: what there is to do, as counts, ids and graphs (JN-370..JN-372, JN-377..JN-379).

``object`` marks a member of which no more than the name is fixed: it is JSON. ``ABSENT`` is a member left out.
"""

from typing import ClassVar, Final, Literal, TypeAlias

import attrs

from tenure_model.vocabulary.absent import ABSENT, AbsentType

PLAN_RECORDED: Final = "flows.engine.plan-recorded"
SUBGRAPH_APPENDED: Final = "flows.engine.subgraph-appended"

Tier: TypeAlias = Literal["sealed", "compensable", "irreversible"]
EdgeReason: TypeAlias = Literal["value", "continuation", "failure"]

TIERS: Final[tuple[Tier, ...]] = ("sealed", "compensable", "irreversible")
EDGE_REASONS: Final[tuple[EdgeReason, ...]] = ("value", "continuation", "failure")


@attrs.frozen
class DeclaredAt:
    """Where an action was written: a path that does not start with ``/``, and a line (JN-379, HZ-39)."""

    path: str
    line: int


@attrs.frozen
class GraphNode:
    """One node, what it depends on, and what undoing it would take (JN-377)."""

    id: str
    kind: str
    depends_on: tuple[str, ...]
    tier: Tier
    key: object = ABSENT
    generation: int | AbsentType = ABSENT
    action: object = ABSENT
    effects: object = ABSENT
    declared_at: DeclaredAt | AbsentType = ABSENT


@attrs.frozen
class GraphEdge:
    """Why one node comes before another (JN-377)."""

    source: str
    target: str
    reason: EdgeReason


@attrs.frozen
class Graph:
    """Nodes, or one page of them. A writer that does not know the reasons of its edges leaves them out (JN-378).

    ``source_revision`` is 40 lowercase hexadecimal digits.
    """

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...] | AbsentType = ABSENT
    source_revision: str | AbsentType = ABSENT


@attrs.frozen
class PlanRecorded:
    """A plan, or a generation of it, is recorded. ``nodes`` counts; the nodes are in ``graph`` (JN-371, JN-378)."""

    event_type: ClassVar[str] = PLAN_RECORDED

    flow: str
    generation: int
    nodes: int
    plan_id: str | AbsentType = ABSENT
    digest: object = ABSENT
    base_digest: object = ABSENT
    outcome: object = ABSENT
    page: int | AbsentType = ABSENT
    pages: int | AbsentType = ABSENT
    graph: Graph | AbsentType = ABSENT


@attrs.frozen
class SubgraphAppended:
    """Nodes that a generation, or a further page of one, added (JN-372, JN-378)."""

    event_type: ClassVar[str] = SUBGRAPH_APPENDED

    generation: int
    node_ids: tuple[str, ...]
    plan_id: str | AbsentType = ABSENT
    flow: str | AbsentType = ABSENT
    digest: object = ABSENT
    base_digest: object = ABSENT
    page: int | AbsentType = ABSENT
    pages: int | AbsentType = ABSENT
    graph: Graph | AbsentType = ABSENT


PlanRecord: TypeAlias = PlanRecorded | SubgraphAppended

"""The six records of plans and nodes (JN-370..JN-376, JN-381..JN-384)."""

from collections.abc import Callable, Mapping
from typing import Final

from tenure_model.admission.engine_events.graphs import read_graph
from tenure_model.admission.engine_events.members import (
    MalformedError,
    Members,
    filled_text,
    filled_texts,
    flag,
    integer,
    json,
    open_record,
    optional,
    positive,
    quantity,
    text,
    word,
)
from tenure_model.admission.refusal import refuse
from tenure_model.vocabulary.engine_events.errors import INVALID_EVENT, UNSUPPORTED_EVENT, EventError
from tenure_model.vocabulary.engine_events.nodes import (
    INVALIDATION_REASONS,
    NODE_INVALIDATED,
    NODE_OUTCOMES,
    NODE_RECONCILED,
    NODE_SCHEDULED,
    NODE_SETTLED,
    NodeInvalidated,
    NodeReconciled,
    NodeRecord,
    NodeScheduled,
    NodeSettled,
    ResultPreview,
)
from tenure_model.vocabulary.engine_events.plans import (
    PLAN_RECORDED,
    SUBGRAPH_APPENDED,
    PlanRecord,
    PlanRecorded,
    SubgraphAppended,
)

_PLACE: Final = "payload"


def decode_record(event_type: object, payload: object) -> PlanRecord | NodeRecord | EventError:
    """The payload of a record of a plan or a node, an exact ``dict``, as its class (JN-370).

    ``unsupported`` for every other event type, ``malformed`` where a member is missing or wrong. Members that the rules
    do not name are dropped: these records stand in histories of other versions too.
    """
    read = _READERS.get(event_type) if type(event_type) is str else None
    if read is None:
        return EventError(
            "unsupported", UNSUPPORTED_EVENT, refuse("eventType", "must be that of a plan or node record")
        )
    try:
        return read(open_record(payload, _PLACE))
    except MalformedError as error:
        return EventError("malformed", INVALID_EVENT, error.cause)


def _read_plan_recorded(members: Members) -> PlanRecorded:
    """JN-371."""
    return PlanRecorded(
        flow=filled_text(members, "flow", _PLACE),
        generation=quantity(members, "generation", _PLACE),
        nodes=quantity(members, "nodes", _PLACE),
        plan_id=optional(filled_text, members, "planId", _PLACE),
        digest=optional(json, members, "digest", _PLACE),
        base_digest=optional(json, members, "baseDigest", _PLACE),
        outcome=optional(json, members, "outcome", _PLACE),
        page=optional(quantity, members, "page", _PLACE),
        pages=optional(quantity, members, "pages", _PLACE),
        graph=optional(read_graph, members, "graph", _PLACE),
    )


def _read_subgraph_appended(members: Members) -> SubgraphAppended:
    """JN-372."""
    return SubgraphAppended(
        generation=quantity(members, "generation", _PLACE),
        node_ids=filled_texts(members, "nodeIds", _PLACE),
        plan_id=optional(filled_text, members, "planId", _PLACE),
        flow=optional(filled_text, members, "flow", _PLACE),
        digest=optional(json, members, "digest", _PLACE),
        base_digest=optional(json, members, "baseDigest", _PLACE),
        page=optional(quantity, members, "page", _PLACE),
        pages=optional(quantity, members, "pages", _PLACE),
        graph=optional(read_graph, members, "graph", _PLACE),
    )


def _read_node_scheduled(members: Members) -> NodeScheduled:
    """JN-373."""
    return NodeScheduled(
        node_id=filled_text(members, "nodeId", _PLACE),
        kind=text(members, "kind", _PLACE),
        attempt=positive(members, "attempt", _PLACE),
        plan_id=optional(filled_text, members, "planId", _PLACE),
        plan_key=optional(json, members, "planKey", _PLACE),
        dispatch_key=optional(json, members, "dispatchKey", _PLACE),
        priority=optional(integer, members, "priority", _PLACE),
        waited=optional(quantity, members, "waited", _PLACE),
        action=optional(json, members, "action", _PLACE),
    )


def _read_node_settled(members: Members) -> NodeSettled:
    """JN-374."""
    return NodeSettled(
        node_id=filled_text(members, "nodeId", _PLACE),
        outcome=word(members, "outcome", _PLACE, NODE_OUTCOMES),
        attempts=quantity(members, "attempts", _PLACE),
        plan_id=optional(filled_text, members, "planId", _PLACE),
        plan_key=optional(json, members, "planKey", _PLACE),
        dispatch_key=optional(json, members, "dispatchKey", _PLACE),
        step_key_digests=optional(filled_texts, members, "stepKeyDigests", _PLACE),
        rebases=optional(quantity, members, "rebases", _PLACE),
        action=optional(json, members, "action", _PLACE),
        result=optional(_read_preview, members, "result", _PLACE),
    )


def _read_node_invalidated(members: Members) -> NodeInvalidated:
    """JN-375."""
    return NodeInvalidated(
        plan_id=filled_text(members, "planId", _PLACE),
        node_id=filled_text(members, "nodeId", _PLACE),
        plan_key=json(members, "planKey", _PLACE),
        before=json(members, "from", _PLACE),
        after=json(members, "to", _PLACE),
        reason=word(members, "reason", _PLACE, INVALIDATION_REASONS),
    )


def _read_node_reconciled(members: Members) -> NodeReconciled:
    """JN-376."""
    return NodeReconciled(
        plan_id=filled_text(members, "planId", _PLACE),
        node_id=filled_text(members, "nodeId", _PLACE),
        trigger=text(members, "trigger", _PLACE),
        verdict=json(members, "verdict", _PLACE),
    )


def _read_preview(members: Members, name: str, place: str) -> ResultPreview:
    """JN-384."""
    place = f"{place}.{name}"
    result = open_record(members.get(name), place)
    return ResultPreview(
        text(result, "preview", place), quantity(result, "bytes", place), flag(result, "truncated", place)
    )


_READERS: Final[Mapping[str, Callable[[Members], PlanRecord | NodeRecord]]] = {
    PLAN_RECORDED: _read_plan_recorded,
    SUBGRAPH_APPENDED: _read_subgraph_appended,
    NODE_SCHEDULED: _read_node_scheduled,
    NODE_SETTLED: _read_node_settled,
    NODE_INVALIDATED: _read_node_invalidated,
    NODE_RECONCILED: _read_node_reconciled,
}

"""The six records: `tenure_model.admission.engine_events.records` and `graphs`."""

from collections.abc import Mapping
from typing import Any

import pytest

from tenure_model.admission.engine_events.records import decode_record
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.engine_events.attempts import ATTEMPT_LIFECYCLE
from tenure_model.vocabulary.engine_events.errors import EventError
from tenure_model.vocabulary.engine_events.nodes import (
    NODE_OUTCOMES,
    NodeInvalidated,
    NodeReconciled,
    NodeScheduled,
    NodeSettled,
    ResultPreview,
)
from tenure_model.vocabulary.engine_events.plans import (
    DeclaredAt,
    Graph,
    GraphEdge,
    GraphNode,
    PlanRecorded,
    SubgraphAppended,
)
from tests.engine_events.support import BAD_QUANTITIES, Wire, lacking, not_json, place_of

NODE: Wire = {"id": "n1", "kind": "", "dependsOn": ["n0"], "tier": "compensable"}
EDGE: Wire = {"from": "n0", "to": "n1", "reason": "value"}
FULL_NODE: Wire = {
    **NODE,
    "key": "k",
    "generation": 0,
    "action": "build",
    "effects": [{"a": 1}],
    "declaredAt": {"path": "src/flow.py", "line": 0},
}
GRAPH: Wire = {"nodes": [FULL_NODE, NODE], "edges": [EDGE], "sourceRevision": "0123456789abcdef" * 2 + "01234567"}
DECODED_GRAPH = Graph(
    (
        GraphNode("n1", "", ("n0",), "compensable", "k", 0, "build", [{"a": 1}], DeclaredAt("src/flow.py", 0)),
        GraphNode("n1", "", ("n0",), "compensable"),
    ),
    (GraphEdge("n0", "n1", "value"),),
    "0123456789abcdef0123456789abcdef01234567",
)
PREVIEW: Wire = {"preview": "", "bytes": 0, "truncated": True}

REQUIRED: Mapping[str, Wire] = {
    "flows.engine.plan-recorded": {"flow": "f", "generation": 0, "nodes": 0},
    "flows.engine.subgraph-appended": {"generation": 1, "nodeIds": []},
    "flows.engine.node-scheduled": {"nodeId": "n", "kind": "", "attempt": 1},
    "flows.engine.node-settled": {"nodeId": "n", "outcome": "built", "attempts": 0},
    "flows.engine.node-invalidated": {
        "planId": "p",
        "nodeId": "n",
        "planKey": "k",
        "from": "a",
        "to": "b",
        "reason": "measured-inputs-changed",
    },
    "flows.engine.node-reconciled": {"planId": "p", "nodeId": "n", "trigger": "", "verdict": None},
}
FULL: Mapping[str, Wire] = {
    "flows.engine.plan-recorded": {
        "planId": "p",
        "flow": "f",
        "digest": "d",
        "baseDigest": None,
        "generation": 2,
        "nodes": 3,
        "outcome": {"any": 1},
        "page": 0,
        "pages": 2,
        "graph": GRAPH,
    },
    "flows.engine.subgraph-appended": {
        "planId": "p",
        "flow": "f",
        "digest": "d",
        "baseDigest": "b",
        "generation": 1,
        "nodeIds": ["n1", "n2"],
        "page": 1,
        "pages": 2,
        "graph": GRAPH,
    },
    "flows.engine.node-scheduled": {
        "planId": "p",
        "nodeId": "n",
        "kind": "action",
        "planKey": "k",
        "dispatchKey": "d",
        "attempt": MAX_SAFE_INTEGER,
        "priority": -MAX_SAFE_INTEGER,
        "waited": 0,
        "action": "build",
    },
    "flows.engine.node-settled": {
        "planId": "p",
        "nodeId": "n",
        "planKey": "k",
        "dispatchKey": "d",
        "stepKeyDigests": ["d1", "d2"],
        "outcome": "clean",
        "attempts": 2,
        "rebases": 0,
        "action": "build",
        "result": PREVIEW,
    },
    "flows.engine.node-invalidated": REQUIRED["flows.engine.node-invalidated"],
    "flows.engine.node-reconciled": {"planId": "p", "nodeId": "n", "trigger": "t", "verdict": {"keep": [True]}},
}
DECODED: Mapping[str, tuple[object, object]] = {
    "flows.engine.plan-recorded": (
        PlanRecorded("f", 0, 0),
        PlanRecorded("f", 2, 3, "p", "d", None, {"any": 1}, 0, 2, DECODED_GRAPH),
    ),
    "flows.engine.subgraph-appended": (
        SubgraphAppended(1, ()),
        SubgraphAppended(1, ("n1", "n2"), "p", "f", "d", "b", 1, 2, DECODED_GRAPH),
    ),
    "flows.engine.node-scheduled": (
        NodeScheduled("n", "", 1),
        NodeScheduled("n", "action", MAX_SAFE_INTEGER, "p", "k", "d", -MAX_SAFE_INTEGER, 0, "build"),
    ),
    "flows.engine.node-settled": (
        NodeSettled("n", "built", 0),
        NodeSettled("n", "clean", 2, "p", "k", "d", ("d1", "d2"), 0, "build", ResultPreview("", 0, True)),
    ),
    "flows.engine.node-invalidated": (
        NodeInvalidated("p", "n", "k", "a", "b", "measured-inputs-changed"),
        NodeInvalidated("p", "n", "k", "a", "b", "measured-inputs-changed"),
    ),
    "flows.engine.node-reconciled": (
        NodeReconciled("p", "n", "", None),
        NodeReconciled("p", "n", "t", {"keep": [True]}),
    ),
}

FILLED_TEXTS = ("planId", "flow", "nodeId")
QUANTITIES = ("generation", "nodes", "page", "pages", "waited", "attempts", "rebases")
UNMARKED = ("digest", "baseDigest", "planKey", "dispatchKey", "action", "from", "to", "verdict")
BAD_FILLED_TEXTS: tuple[object, ...] = ("", "\ud800", 1, None, b"a", ["a"])


def members(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Every record that has one of the members, with it."""
    return [(event_type, name) for event_type, payload in FULL.items() for name in names if name in payload]


def refused(event_type: str, payload: object) -> object:
    """The place that makes the record malformed."""
    return place_of(decode_record(event_type, payload))


def refused_graph(graph: object) -> object:
    """The place that makes a graph malformed."""
    return refused("flows.engine.plan-recorded", {**REQUIRED["flows.engine.plan-recorded"], "graph": graph})


@pytest.mark.parametrize("event_type", REQUIRED)
def test_a_record_is_decoded(event_type: str) -> None:
    """With no more than it must have, and with all there is (JN-370..JN-377, JN-384)."""
    answers = decode_record(event_type, REQUIRED[event_type]), decode_record(event_type, FULL[event_type])

    assert answers == DECODED[event_type]
    assert {answer.event_type for answer in answers if not isinstance(answer, EventError)} == {event_type}


@pytest.mark.parametrize("event_type", REQUIRED)
def test_members_that_are_not_known_are_dropped(event_type: str) -> None:
    """Whatever they hold: stored history has other versions' members too (JN-370)."""
    assert decode_record(event_type, {**REQUIRED[event_type], "more": object()}) == DECODED[event_type][0]


@pytest.mark.parametrize("event_type", REQUIRED)
def test_only_what_may_be_missing_may(event_type: str) -> None:
    """And an absent value is a missing one (JN-371..JN-376)."""
    optional = FULL[event_type].keys() - REQUIRED[event_type].keys()
    required = list(REQUIRED[event_type])

    absent = dict.fromkeys(optional, ABSENT)

    assert decode_record(event_type, {**REQUIRED[event_type], **absent}) == DECODED[event_type][0]
    assert [refused(event_type, lacking(FULL[event_type], name)) for name in required] == [
        f"payload.{name}" for name in required
    ]


@pytest.mark.parametrize("payload", [None, [], "plan", {1: 2}, ABSENT], ids=repr)
def test_a_record_is_a_record(payload: object) -> None:
    """An exact dict (JN-370)."""
    assert [refused(event_type, payload) for event_type in REQUIRED] == ["payload"] * 6


@pytest.mark.parametrize("event_type", [ATTEMPT_LIFECYCLE, "flows.engine.plan", "", None, 1, ["a"]], ids=repr)
def test_other_event_types_are_unsupported(event_type: object) -> None:
    """There are six (JN-370)."""
    answer = decode_record(event_type, {})

    assert answer == EventError("unsupported", "unsupported engine event family or version")


@pytest.mark.parametrize(("event_type", "member"), members(FILLED_TEXTS))
@pytest.mark.parametrize("value", BAD_FILLED_TEXTS, ids=repr)
def test_texts_are_not_empty(event_type: str, member: str, value: object) -> None:
    """Of any length above zero, null is none (JN-371..JN-376)."""
    assert refused(event_type, {**FULL[event_type], member: value}) == f"payload.{member}"


@pytest.mark.parametrize(("event_type", "member"), members(FILLED_TEXTS))
def test_texts_are_no_identifiers(event_type: str, member: str) -> None:
    """They have no longest length, and may hold NUL (JN-371..JN-376)."""
    assert not isinstance(decode_record(event_type, {**FULL[event_type], member: "\0" * 5_000}), EventError)


@pytest.mark.parametrize(("event_type", "member"), members(QUANTITIES))
@pytest.mark.parametrize("value", [value for value in BAD_QUANTITIES if value is not ABSENT], ids=repr)
def test_counts_are_quantities(event_type: str, member: str, value: object) -> None:
    """From 0 (JN-371..JN-374)."""
    assert refused(event_type, {**FULL[event_type], member: value}) == f"payload.{member}"


@pytest.mark.parametrize(("event_type", "member"), members(UNMARKED))
def test_of_other_members_only_the_name_is_fixed(event_type: str, member: str) -> None:
    """They are JSON, null too (JN-371..JN-376)."""
    for value in (None, "", 1.5, [{"a": True}]):
        assert not isinstance(decode_record(event_type, {**FULL[event_type], member: value}), EventError)
    for value in not_json():
        if value is not ABSENT:
            assert refused(event_type, {**FULL[event_type], member: value}) == f"payload.{member}"


def test_kind_and_trigger_are_any_text() -> None:
    """The empty one too (JN-373, JN-376)."""
    for value in (1, None, ABSENT, "\ud800"):
        assert refused("flows.engine.node-scheduled", {**FULL["flows.engine.node-scheduled"], "kind": value}) == (
            "payload.kind"
        )
        assert refused("flows.engine.node-reconciled", {**FULL["flows.engine.node-reconciled"], "trigger": value}) == (
            "payload.trigger"
        )


@pytest.mark.parametrize("value", [0, *BAD_QUANTITIES], ids=repr)
def test_a_scheduled_attempt_counts_from_one(value: object) -> None:
    """JN-373."""
    assert refused("flows.engine.node-scheduled", {**FULL["flows.engine.node-scheduled"], "attempt": value}) == (
        "payload.attempt"
    )


@pytest.mark.parametrize("value", [2**53, -(2**53), 1.0, True, "1", None], ids=repr)
def test_a_priority_is_an_integer(value: object) -> None:
    """Negative ones too (JN-373)."""
    assert refused("flows.engine.node-scheduled", {**FULL["flows.engine.node-scheduled"], "priority": value}) == (
        "payload.priority"
    )


@pytest.mark.parametrize(
    ("event_type", "member"),
    [("flows.engine.subgraph-appended", "nodeIds"), ("flows.engine.node-settled", "stepKeyDigests")],
)
def test_lists_of_texts(event_type: str, member: str) -> None:
    """Exact lists, each text filled; an empty list is another statement than none (JN-372, JN-374, JN-383)."""
    empty = decode_record(event_type, {**REQUIRED[event_type], member: []})

    assert isinstance(empty, SubgraphAppended | NodeSettled)
    assert (empty.node_ids if isinstance(empty, SubgraphAppended) else empty.step_key_digests) == ()
    for value in (None, "ab", ("a",), {"a": 1}, 1):
        assert refused(event_type, {**FULL[event_type], member: value}) == f"payload.{member}"
    for element in BAD_FILLED_TEXTS:
        assert refused(event_type, {**FULL[event_type], member: ["a", element]}) == f"payload.{member}[1]"


@pytest.mark.parametrize("outcome", NODE_OUTCOMES)
def test_each_outcome_of_a_node(outcome: Any) -> None:
    """JN-381, JN-382."""
    assert decode_record("flows.engine.node-settled", {"nodeId": "n", "outcome": outcome, "attempts": 3}) == (
        NodeSettled("n", outcome, 3)
    )


@pytest.mark.parametrize("outcome", ["", "Built", "cached", "running", None, ABSENT, 1], ids=repr)
def test_there_is_no_other_outcome(outcome: object) -> None:
    """JN-381."""
    assert refused("flows.engine.node-settled", {**FULL["flows.engine.node-settled"], "outcome": outcome}) == (
        "payload.outcome"
    )


@pytest.mark.parametrize("reason", ["", "inputs-changed", None, ABSENT, 1], ids=repr)
def test_there_is_one_reason_to_invalidate(reason: object) -> None:
    """JN-375."""
    assert refused("flows.engine.node-invalidated", {**FULL["flows.engine.node-invalidated"], "reason": reason}) == (
        "payload.reason"
    )


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"preview": None}, ".preview"),
        ({"preview": "\ud800"}, ".preview"),
        ({"bytes": -1}, ".bytes"),
        ({"bytes": 1.0}, ".bytes"),
        ({"truncated": 0}, ".truncated"),
        ({"truncated": None}, ".truncated"),
        (None, ""),
    ],
    ids=repr,
)
def test_a_result_is_a_preview_with_a_size(changes: Wire | None, place: str) -> None:
    """JN-384."""
    result = None if changes is None else {**PREVIEW, **changes}
    payload = {**REQUIRED["flows.engine.node-settled"], "result": result}

    assert refused("flows.engine.node-settled", payload) == f"payload.result{place}"


@pytest.mark.parametrize(
    ("graph", "place"),
    [
        (None, ""),
        ([], ""),
        ({"edges": []}, ".nodes"),
        ({"nodes": None}, ".nodes"),
        ({"nodes": [1]}, ".nodes[0]"),
        ({"nodes": [NODE, {**NODE, "id": ""}]}, ".nodes[1].id"),
        ({"nodes": [{**NODE, "kind": None}]}, ".nodes[0].kind"),
        ({"nodes": [{**NODE, "dependsOn": ["a", ""]}]}, ".nodes[0].dependsOn[1]"),
        ({"nodes": [{**NODE, "tier": "open"}]}, ".nodes[0].tier"),
        ({"nodes": [{**NODE, "generation": -1}]}, ".nodes[0].generation"),
        ({"nodes": [{**NODE, "key": b"a"}]}, ".nodes[0].key"),
        ({"nodes": [{**NODE, "action": b"a"}]}, ".nodes[0].action"),
        ({"nodes": [{**NODE, "effects": float("nan")}]}, ".nodes[0].effects"),
        ({"nodes": [{**NODE, "declaredAt": "a"}]}, ".nodes[0].declaredAt"),
        ({"nodes": [], "edges": None}, ".edges"),
        ({"nodes": [], "edges": [{**EDGE, "from": ""}]}, ".edges[0].from"),
        ({"nodes": [], "edges": [EDGE, {**EDGE, "to": ""}]}, ".edges[1].to"),
        ({"nodes": [], "edges": [{**EDGE, "reason": "data"}]}, ".edges[0].reason"),
        ({"nodes": [], "sourceRevision": None}, ".sourceRevision"),
    ],
    ids=repr,
)
def test_graphs_that_are_none(graph: object, place: str) -> None:
    """Each node and edge by its own contract (JN-377)."""
    assert refused_graph(graph) == f"payload.graph{place}"


@pytest.mark.parametrize("member", ["id", "kind", "dependsOn", "tier"])
def test_no_member_of_a_node_may_be_missing(member: str) -> None:
    """JN-377."""
    assert refused_graph({"nodes": [lacking(NODE, member)]}) == f"payload.graph.nodes[0].{member}"


@pytest.mark.parametrize("reason", ["value", "continuation", "failure"])
@pytest.mark.parametrize("tier", ["sealed", "compensable", "irreversible"])
def test_each_reason_and_tier(reason: Any, tier: Any) -> None:
    """A graph without edges has none, which is not the same as an empty list (JN-377, JN-378)."""
    graph = {"nodes": [{**NODE, "tier": tier}], "edges": [{**EDGE, "reason": reason}], "more": 1}
    payload = {**REQUIRED["flows.engine.plan-recorded"], "nodes": 9, "graph": graph}

    answer = decode_record("flows.engine.plan-recorded", payload)

    assert answer == PlanRecorded(
        "f", 0, 9, graph=Graph((GraphNode("n1", "", ("n0",), tier),), (GraphEdge("n0", "n1", reason),))
    )
    assert Graph((), ()) != Graph(())


@pytest.mark.parametrize(
    "revision",
    ["", "a" * 39, "a" * 41, "a" * 40 + "\n", "A" * 40, "g" * 40, "\uff11" * 40, "0x" + "a" * 38],
    ids=ascii,
)
def test_a_revision_is_forty_digits(revision: str) -> None:
    """Lowercase hexadecimal, and not one character more (JN-377, JN-606)."""
    assert refused_graph({"nodes": [], "sourceRevision": revision}) == "payload.graph.sourceRevision"


@pytest.mark.parametrize(
    ("site", "place"),
    [
        ({"path": "", "line": 1}, ".path"),
        ({"path": "/src/flow.py", "line": 1}, ".path"),
        ({"path": "src/flow.py", "line": -1}, ".line"),
        ({"path": "src/flow.py"}, ".line"),
        ({"line": 1}, ".path"),
    ],
    ids=repr,
)
def test_a_declaration_site_is_relative(site: Wire, place: str) -> None:
    """JN-379."""
    graph = {"nodes": [{**NODE, "declaredAt": site}]}

    assert refused_graph(graph) == f"payload.graph.nodes[0].declaredAt{place}"


def test_windows_paths_pass_as_relative() -> None:
    """Only a leading slash is refused (HZ-39, JN-379)."""
    graph = {"nodes": [{**NODE, "declaredAt": {"path": "C:\\flow.py", "line": 1}}]}

    answer = decode_record("flows.engine.plan-recorded", {**REQUIRED["flows.engine.plan-recorded"], "graph": graph})

    assert isinstance(answer, PlanRecorded)
    assert answer.graph == Graph(
        (GraphNode("n1", "", ("n0",), "compensable", declared_at=DeclaredAt("C:\\flow.py", 1)),)
    )

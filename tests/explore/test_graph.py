"""The state graph: nothing merged, everything exported, and the same bytes each time."""

import io
import json
import re

import attrs
import networkx
import pytest

from tenure_model.explore.graph import FORMATS, StateGraph, build_graph
from tenure_model.explore.scope import Participant, honest, owner_name
from tenure_model.explore.scopes import named
from tenure_model.explore.system import Label, RunSystem
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE
from tenure_model.vocabulary.owners import OwnerId


@pytest.fixture(scope="module")
def found() -> StateGraph:
    """The graph of the second opinion's scope under ``original``, four steps deep."""
    return build_graph(RunSystem(named("second-opinion", ORIGINAL)), depth=4)


def test_keeps_parallel_edges(found: StateGraph):
    """Two refusals of one state are two edges, and every transition of the search is there."""
    refusals = {data["label"] for _, target, data in found.graph.out_edges(0, data=True) if target == 0}

    assert Label("run.heartbeat", "NotFound", 0, 0) in refusals
    assert Label("run.heartbeat", "NotFound", 1, 0) in refusals
    assert found.graph.number_of_edges() == found.explored.transitions


def test_no_edge_twice(found: StateGraph):
    """A labelled step between two states is one edge, however many arguments lead to it."""
    edges = [(source, target, data["label"]) for source, target, data in found.graph.edges(data=True)]

    assert len(edges) == len(set(edges))


def test_every_state_is_a_node(found: StateGraph):
    """Nodes are the numbers of the states, each with its state."""
    assert {number: data["state"] for number, data in found.graph.nodes(data=True)} == {
        number: state for state, number in found.explored.states.items()
    }


def test_json_reads_back(found: StateGraph):
    """The JSON is networkx's own form, with every node and edge and in plain values."""
    document = json.loads(FORMATS["json"](found))
    again = networkx.node_link_graph(document, edges="edges")

    assert (again.number_of_nodes(), again.number_of_edges()) == (len(found.graph), found.explored.transitions)
    assert again.nodes[0] == {"r.status": "none"}
    assert {data["outcome"] for _, _, data in again.out_edges(0, data=True) if data["operation"] == "run.create"} == {
        "ok"
    }


def test_graphml_reads_back(found: StateGraph):
    """GraphML keeps nodes, edges, and what broke at them."""
    again = networkx.read_graphml(io.BytesIO(FORMATS["graphml"](found).encode()))
    broken = {word for _, _, data in again.edges(data=True) for word in data["broken"].split()}

    assert (len(again), again.number_of_edges()) == (len(found.graph), found.explored.transitions)
    assert broken == {"claims-agree", "owners-agree", "facts-tell"}


def test_dot_has_a_line_for_each(found: StateGraph):
    """DOT has one line a node, one an edge, and the frame."""
    lines = FORMATS["dot"](found).splitlines()

    assert len(lines) == 2 + len(found.graph) + found.explored.transitions
    assert '  0 -> 1 [label="a1 run.create r: ok"];' in lines


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_same_bytes(found: StateGraph, name: str):
    """A second search gives the very same text."""
    again = build_graph(RunSystem(named("second-opinion", ORIGINAL)), depth=4)

    assert FORMATS[name](again) == FORMATS[name](found)


def test_names_tell_owners_apart():
    """Owners that differ in the nonce alone, or where host and pid run into each other, have names of their own."""
    owners = (OwnerId("a", 1, "x"), OwnerId("a", 1, "y"), OwnerId("a1", 1, "a11"), OwnerId("a", 11, "a11"))

    assert [owner_name(owner) for owner in owners] == ["a/1/x", "a/1/y", "a1/1/a11", "a11"]


@pytest.mark.parametrize("host", ['a"b', "a\\b", "a\x01b", "a\nb", "a<&>b"])
def test_odd_names_are_exported(host: str):
    """Whatever an owner may be called, each format can be read by what reads it."""
    scope = attrs.evolve(named("plain", REFERENCE), participants=(Participant(OwnerId(host, 1, "n"), honest(0)),))
    odd = build_graph(RunSystem(scope), depth=2)
    labels = re.findall(r'label="((?:[^"\\]|\\.)*)"\];$', FORMATS["dot"](odd), re.MULTILINE)

    assert len(networkx.read_graphml(io.BytesIO(FORMATS["graphml"](odd).encode()))) == len(odd.graph)
    assert len(json.loads(FORMATS["json"](odd))["nodes"]) == len(odd.graph)
    assert len(labels) == len(odd.graph) + odd.explored.transitions


def test_scopes_make_sense():
    """An operation nobody knows, a run or an owner that is there twice, and time that goes back are refused."""
    plain = named("plain", REFERENCE)
    wrong = (
        {"operations": frozenset({"run.clam"})},
        {"runs": plain.runs * 2},
        {"participants": plain.participants * 2},
        {"advances": (-1,)},
    )
    for change in wrong:
        with pytest.raises(ValueError, match="must"):
            attrs.evolve(plain, **change)

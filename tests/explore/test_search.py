"""The search: shortest ways, every edge once, the same answers every time, and bounds that say so."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import networkx
import pytest

from tenure_model.explore.graph import StateGraph, build_graph
from tenure_model.explore.scopes import named
from tenure_model.explore.search import Edge, Explored, Finding, Progress, explore
from tenure_model.explore.system import RunSystem
from tenure_model.semantics.profiles import ORIGINAL

LADDER = 5

DIGEST = """
import hashlib
import attrs
from tenure_model.explore.graph import as_json, build_graph
from tenure_model.explore.scopes import named
from tenure_model.explore.system import RunSystem
from tenure_model.semantics.profiles import ORIGINAL

for name, depth in (("deletion", 5), ("lineage", 3), ("boundary", 4)):
    found = build_graph(RunSystem(named(name, ORIGINAL)), depth=depth)
    explored = attrs.evolve(found.explored, seconds=0.0)
    print(name, hashlib.sha256((repr(explored) + as_json(found)).encode()).hexdigest())
"""


def ladder(state: int) -> Iterator[Edge[str, int]]:
    """States 0..20: a step up by one or by ``LADDER``, and a fault at every step down from a multiple of seven."""
    if state < 20:
        yield Edge("one", state + 1)
        yield Edge("many", min(state + LADDER, 20))
    if state:
        yield Edge("down", state - 1, ("seven",) if state % 7 == 0 else ())


@pytest.fixture(scope="module")
def found() -> StateGraph:
    """A scope in which properties break, searched whole."""
    return build_graph(RunSystem(named("second-opinion", ORIGINAL)))


def test_shortest_ways(found: StateGraph) -> None:
    """Every state is reached in as few steps as there can be, by edges that are there."""
    distances = networkx.single_source_shortest_path_length(found.graph, 0)
    numbers = found.explored.states

    assert {number: len(found.explored.way_to(number)) for number in numbers.values()} == distances
    assert found.explored.depth == max(distances.values())
    for number in numbers.values():
        source = 0
        for label, state in found.explored.way_to(number):
            taken = found.graph.get_edge_data(source, numbers[state])

            assert label in [edge["label"] for edge in taken.values()]
            source = numbers[state]
        assert source == number


def test_first_findings(found: StateGraph) -> None:
    """What is told of a broken property is the first step that breaks it: none is nearer."""
    distances = networkx.single_source_shortest_path_length(found.graph, 0)
    nearest: dict[str, int] = {}
    for source, _, attributes in found.graph.edges(data=True):
        for name in attributes["broken"]:
            nearest[name] = min(nearest.get(name, 99), distances[source])

    assert {name: distances[finding.state] for name, finding in found.explored.findings.items()} == nearest
    assert nearest == {"claims-agree": 3, "owners-agree": 3, "facts-tell": 3}


def test_edges_are_distinct(found: StateGraph) -> None:
    """No edge is told twice, and as many are told as are counted."""
    edges = [(source, data["label"], target) for source, target, data in found.graph.edges(data=True)]

    assert len(set(edges)) == len(edges)
    assert found.explored.transitions == len(edges)


def test_plain_search() -> None:
    """States are numbered as they are found, each with the edge that found it."""
    found = explore(0, ladder)

    assert list(found.states)[:6] == [0, 1, 5, 2, 6, 10]
    assert (list(found.parents[:6]), found.labels[:6]) == (
        [-1, 0, 0, 1, 1, 2],
        [None, "one", "many", "one", "many", "many"],
    )
    assert found.way_to(found.states[4]) == [("many", 5), ("down", 4)]
    assert found.findings == {"seven": Finding("seven", found.states[7], "down")}
    assert (len(found.states), found.transitions, found.depth, found.complete) == (21, 60, 6, True)


@pytest.mark.parametrize(
    ("bounds", "states", "expanded", "depth"),
    [
        ({"depth": 0}, [0], 0, 0),
        ({"depth": 1}, [0, 1, 5], 1, 1),
        ({"limit": 2}, [0, 1, 5], 1, 1),
        ({"limit": 4}, [0, 1, 5, 2, 6], 2, 2),
        ({"first": True}, [], 9, 4),
    ],
)
def test_bounds(bounds: dict[str, Any], states: list[int], expanded: int, depth: int) -> None:
    """A bounded search says that it is not complete and how far it came, and found what a whole one finds first."""
    sources: set[int] = set()
    found: Explored[int, str] = explore(0, ladder, on_edge=lambda source, edge, target: sources.add(source), **bounds)
    whole = explore(0, ladder)

    assert not found.complete
    assert list(found.states)[: len(states)] == states
    assert list(found.states) == list(whole.states)[: len(found.states)]
    assert (len(sources), found.depth) == (expanded, depth)
    assert max(len(found.way_to(number)) for number in found.states.values()) == depth


def test_depth_that_is_enough() -> None:
    """A depth past the farthest state completes the search; the very depth does not see what leads out of it."""
    assert explore(0, ladder, depth=7).complete
    assert not explore(0, ladder, depth=6).complete


def test_progress() -> None:
    """A long search says how far it is, not more often than it should."""
    seconds = iter(range(10**6))
    told: list[Progress] = []
    found = explore(
        0,
        lambda state: [Edge("up", state + 1)] if state < 300 else [],
        on_progress=told.append,
        seconds=lambda: next(seconds),
    )

    assert [(one.states, one.expanded, one.transitions, one.depth) for one in told] == [
        (count + 1, count, count, count - 1) for count in (64, 128, 192, 256)
    ]
    assert [one.seconds for one in told] == [1, 2, 3, 4]
    assert found.seconds == 5


def test_no_order_of_hashes_matters() -> None:
    """States, their numbers, ways, edges and findings are the same in every process."""
    answers = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "4711")
    }

    assert len(answers) == 1
    assert answers.pop().count("\n") == 3

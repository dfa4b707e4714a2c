"""The explorer and TLC, each from its own text of the rules, find the same states, transitions and wedges."""

from collections import Counter

import pytest

from tests.tla import tlc
from tests.tla.explored import explored_graph
from tests.tla.graph import wedged

pytestmark = [
    pytest.mark.skipif(tlc.missing() is not None, reason=str(tlc.missing())),
    pytest.mark.xdist_group("tlc-graphs"),
]


@pytest.fixture(scope="module", params=["reference", "original"])
def profile(request):
    """Either profile."""
    return request.param


@pytest.fixture(scope="module", params=[False, True], ids=["", "with deletion"])
def graphs(request, profile, graphs_from_tla, now_and_later):
    """TLC's graphs and the explorer's, each now and later."""
    deletes = request.param
    explored = [explored_graph(profile, readings, deletes=deletes) for readings in now_and_later]
    return graphs_from_tla(profile, deletes=deletes), explored


def transitions(graph):
    """The multiset of labelled transitions."""
    return Counter((before, label, after) for before, after, label in graph.edges(data="label"))


def test_the_same_states(graphs):
    """Neither reaches a state that the other does not."""
    from_tla, explored = graphs

    assert [set(graph) for graph in explored] == [set(graph) for graph in from_tla]


def test_the_same_labelled_transitions(graphs):
    """Every call is answered alike in every state, refusals included, and leads to the same state."""
    from_tla, explored = graphs
    found = [(transitions(ours), transitions(theirs)) for ours, theirs in zip(explored, from_tla, strict=True)]

    assert [(ours - theirs, theirs - ours) for ours, theirs in found] == [(Counter(), Counter())] * 2


def test_the_same_wedges(graphs):
    """The same states cannot be settled, with everyone alive and with one owner dead."""
    from_tla, explored = graphs

    assert [wedged(*explored, dead) for dead in ((), (0,), (1,))] == [
        wedged(*from_tla, dead) for dead in ((), (0,), (1,))
    ]

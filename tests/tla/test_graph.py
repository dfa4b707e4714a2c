"""TLC's labelled graph, read back."""

from collections import Counter

import networkx as nx
import pytest

from tests.tla import tlc
from tests.tla.graph import INITIAL, State, late, parse_state, read_graph, shortest_path_to, wedged

skipped = pytest.mark.skipif(tlc.missing() is not None, reason=str(tlc.missing()))
# One worker, so that the graphs are made once.
together = pytest.mark.xdist_group("tlc-graphs")


def needs_tlc(test):
    """A test that runs TLC, beside those that share its graphs."""
    return skipped(together(test))


OWNED = State("running", 0, 0, None, None, False, False, 0, 0, None, None)
SETTLED = State("completed", None, None, None, None, False, False, None, None, None, None)
STUCK = State("suspended", None, None, None, None, False, False, None, None, 1, 30_001)


@pytest.fixture
def graphs(graphs_from_tla):
    """Graphs by profile: at the usual readings, and with a late one more."""
    return {profile: graphs_from_tla(profile) for profile in ("reference", "original")}


def toy(*edges):
    """A graph of labelled edges."""
    graph = nx.MultiDiGraph()
    for before, label, after in edges:
        graph.add_edge(before, after, key=label, label=label)
    return graph


def test_a_state_is_parsed():
    """Owners count from 0 in Python and from 1 in TLA+, and None stays None."""
    text = '<<\\"running\\", 2, 30000, 1, 30001, TRUE, FALSE, 2, 30000, None, None>>'

    assert parse_state(text) == State("running", 1, 30_000, 0, 30_001, True, False, 1, 30_000, None, None)


@needs_tlc
@pytest.mark.parametrize(("profile", "size"), [("reference", (99, 4514)), ("original", (141, 6074))])
def test_the_graph_has_this_size(graphs, profile, size):
    """States and distinct labelled transitions of two owners on two hosts."""
    graph = graphs[profile][0]

    assert (graph.number_of_nodes(), graph.number_of_edges()) == size


@needs_tlc
def test_the_graph_keeps_refusals_and_parallel_edges(graphs):
    """A refusal is a self-loop, and two calls between the same states are two edges."""
    graph = graphs["reference"][0]
    created = State("pending", None, None, None, None, False, False, None, None, None, None)

    assert "create.constraint.o2" in graph[OWNED][OWNED]
    assert set(graph[INITIAL][created]) == {"create.ok.o1", "create.ok.o2"}
    assert graph.nodes[OWNED] == OWNED._asdict()


@needs_tlc
def test_each_operation_is_answered_in_every_state(graphs):
    """No operation is left out anywhere: each of the two owners may call all sixteen in each state."""
    graph = graphs["original"][0]
    asked = Counter(
        (state, caller)
        for state in graph
        for _, caller in {tuple(label.split(".")[::2]) for _, _, label in graph.out_edges(state, keys=True)}
    )

    assert set(asked.values()) == {16}
    assert len(asked) == 2 * graph.number_of_nodes()


@needs_tlc
def test_no_wedge_under_reference(graphs):
    """Every run can be settled, by either owner alone if need be."""
    assert [wedged(*graphs["reference"], dead) for dead in ((), (0,), (1,))] == [set(), set(), set()]


@needs_tlc
def test_a_thief_s_claim_wedges_a_suspended_run_under_original(graphs):
    """H-01: whoever is alive, a suspended run whose lease holds a claim stays suspended."""
    wedges = wedged(*graphs["original"])

    assert STUCK in wedges
    assert {(state.status, state.claimant, state.lease_owner) for state in wedges} == {("suspended", None, None)}
    assert shortest_path_to(graphs["original"][0], {STUCK}) == [
        "create.ok.o1",
        "claimAndOwn.Activated.o1",
        "steal.Claimed.o2",
        "transitionOwned.Transitioned.o1",
    ]


@needs_tlc
def test_stealing_from_oneself_wedges_the_others_under_original(graphs):
    """H-02: the run of an owner that abandoned its claim on its own run cannot be had by others once it is dead."""
    wedges = wedged(*graphs["original"], dead=[0]) - wedged(*graphs["original"])

    assert {(state.status, state.owner, state.lease_owner, state.lease_claimant) for state in wedges} == {
        ("running", 0, None, None)
    }


@needs_tlc
def test_a_deleted_row_wedges_its_successor_under_original(graphs_from_tla):
    """H-03: the lease outlives the row, and a new run of the same id cannot be claimed; R-3 removes it."""
    orphan = State("pending", None, None, None, None, False, False, None, None, 1, 0)

    assert wedged(*graphs_from_tla("reference", deletes=True)) == set()
    assert orphan in wedged(*graphs_from_tla("original", deletes=True))


def robberies(graph):
    """Who stole from whom: pairs of the owner and the thief."""
    return {
        (before.owner, int(label.rpartition(".o")[2]) - 1)
        for before, _, label in graph.edges(keys=True)
        if label.startswith("steal.Claimed.")
    }


@needs_tlc
@pytest.mark.parametrize(
    ("kind", "pairs"),
    [
        ("same-host-pid-dead", {(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)}),
        ("cross-host-unreachable-stale", {(0, 2), (1, 2), (2, 0), (2, 1)}),
        ("lease-expired", {(owner, thief) for owner in range(3) for thief in range(3)}),
    ],
)
def test_evidence_fits_some_pairs_of_hosts(kind, pairs):
    """Evidence of a dead process is for the same host, of an unreachable one for another, of time for any (RS-207)."""
    assert robberies(read_graph("reference", (0, 0, 1), (0, 30_001), kinds=[kind])) == pairs


@needs_tlc
def test_an_expired_lease_stands_for_every_kind_of_evidence():
    """More kinds of evidence give no more transitions."""
    every = ("same-host-pid-dead", "cross-host-unreachable-stale", "lease-expired")
    graphs = [read_graph("original", (0, 0, 1), (0, 30_001), kinds=kinds) for kinds in (every, every[-1:])]

    assert set(graphs[0].edges(keys=True)) == set(graphs[1].edges(keys=True))


def test_a_state_that_only_a_late_call_can_settle_is_no_wedge():
    """Reachability is judged with the late reading, wedges are counted without it."""
    now = toy((OWNED, "get.ok.o1", OWNED), (OWNED, "steal.Claimed.o1", STUCK))
    later = toy((OWNED, "transitionOwned.Transitioned.o1", SETTLED), (SETTLED, "get.ok.o1", STUCK))

    assert wedged(now, later) == {STUCK}
    assert wedged(now, later, dead=[0]) == {OWNED, STUCK}
    assert wedged(now, later, dead=[1]) == {STUCK}


def test_the_late_reading_makes_every_stamp_stale():
    """A stamp is stale when it is more than 30,000 ms old (RS-004)."""
    assert late([0, 5]) == 30_006

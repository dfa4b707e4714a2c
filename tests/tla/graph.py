"""TLC's labelled graph as a networkx graph, and the wedges in it."""

import ast
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import networkx as nx

from tests.tla.tlc import Scope, check

TERMINAL = frozenset({"completed", "failed", "cancelled"})
STALE_AFTER_MS = 30_000


class State(NamedTuple):
    """A state in its canonical form: owners are indexes from 0, stamps are ms, None is SQL's null.

    No row: ``status`` is None and the next six fields are None or False. No lease: the last four are None.
    """

    status: str | None
    owner: int | None
    heartbeat: int | None
    claimant: int | None
    token: int | None
    cancel_requested: bool
    acknowledged: bool
    lease_owner: int | None
    lease_heartbeat: int | None
    lease_claimant: int | None
    lease_token: int | None


Graph: TypeAlias = "nx.MultiDiGraph[State]"

_OWNERS = ("owner", "claimant", "lease_owner", "lease_claimant")


def read_graph(
    profile: str,
    owners: Sequence[int],
    readings: Sequence[int],
    *,
    deletes: bool = False,
    kinds: Sequence[str] = ("lease-expired",),
    workers: int = 1,
    note: Callable[[str], None] = lambda _: None,
) -> Graph:
    """Every state and every distinct labelled transition of a scope, self-loops included.

    ``owners`` has the host of each owner. A node is a ``State`` with its fields as attributes; an edge's key and its
    attribute ``label`` are ``operation.outcome.owner``, such as ``steal.Claimed.o2``. Raises ``ValueError`` if TLC's
    own counts differ from the graph's.
    """
    scope = Scope(profile, tuple(owners), tuple(readings), deletes, tuple(kinds))
    report = check(scope, properties=False, transitions=True, workers=workers, note=note)
    graph: Graph = nx.MultiDiGraph()
    states: dict[str, State] = {}
    for transition in report.transitions:
        for text in (transition.before, transition.after):
            if text not in states:
                states[text] = parse_state(text)
                graph.add_node(states[text], **states[text]._asdict())
        before, after = states[transition.before], states[transition.after]
        graph.add_edge(before, after, key=transition.label, label=transition.label)
    counted = graph.number_of_nodes(), graph.number_of_edges()
    if counted != (report.states, report.generated):
        raise ValueError(f"the graph has {counted} states and transitions, TLC {report.states, report.generated}")
    return graph


def parse_state(text: str) -> State:
    """A state as ``Transitions.tla`` writes it."""
    for written, value in (('\\"', '"'), ("<<", "("), (">>", ")"), ("TRUE", "True"), ("FALSE", "False")):
        text = text.replace(written, value)
    state = State(*ast.literal_eval(text))
    numbers = {name: getattr(state, name) for name in _OWNERS}
    return state._replace(**{name: number - 1 for name, number in numbers.items() if number is not None})


INITIAL = State(None, None, None, None, None, False, False, None, None, None, None)


def late(readings: Collection[int]) -> int:
    """The first reading at which every stamp of these readings is stale."""
    return max(readings) + STALE_AFTER_MS + 1


def wedged(graph: Graph, later: Graph, dead: Collection[int] = ()) -> set[State]:
    """The states of ``graph`` from which ``later`` reaches no terminal status by calls of owners that are not ``dead``.

    ``later`` is the same scope with one more reading, ``late(readings)``: what clocks past staleness can still mend.
    """
    callers = {f"o{owner + 1}" for owner in dead}
    steps: nx.DiGraph[object] = nx.DiGraph()
    steps.add_nodes_from(later)
    for before, after, attributes in later.edges(data=True):
        if attributes["label"].rpartition(".")[2] not in callers:
            steps.add_edge(before, after)
    steps.add_edges_from((state, "settled") for state in later if state.status in TERMINAL)
    return set(graph) - nx.ancestors(steps, "settled")


def shortest_path_to(graph: Graph, targets: Collection[State]) -> list[str]:
    """The labels of a shortest way from the initial state into one of the targets; the first in alphabetical order."""
    ways = nx.single_source_shortest_path(graph, INITIAL)
    labels = [
        [min(graph[before][after]) for before, after in pairwise(way)]
        for target, way in ways.items()
        if target in targets
    ]
    return min(labels, key=lambda way: (len(way), way), default=[])

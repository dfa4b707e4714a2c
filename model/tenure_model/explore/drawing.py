"""The state graph as a picture: situations as nodes, what leads from one to another as edges, laid out by Graphviz."""

import re
import subprocess
from collections.abc import Mapping
from typing import Final

from tenure_model.explore.graph import StateGraph
from tenure_model.explore.judging import GRANTS
from tenure_model.explore.situations import Situation, caption, situation_of
from tenure_model.explore.system import NOBODY, TIME, Label

_FILLS: Final[Mapping[str, str]] = {
    "no row": "#ffffff",
    "pending": "#fdf3d8",
    "suspended": "#e8e2f4",
    "running": "#d9ecd9",
    "settled": "#e3e6ea",
}
_LINE: Final = "\\n"
_WARNING: Final = "#c0392b"
_GRANTED: Final = frozenset(kind.__name__ for kind in GRANTS) | {"ok", "true"}

DRAW_SECONDS: Final = 60
"""How long Graphviz may take."""


class DrawingError(Exception):
    """Graphviz is not there, or would not draw."""


def situation_dot(found: StateGraph) -> str:
    """The graph of situations of a scope's first run in the language of Graphviz, the same text for the same graph.

    Steps that stay in a situation are left out. An edge names the operations that lead along it, with the outcome where
    that is no grant; one that leads from every situation of a running run leaves from their frame. Time passing is
    dashed. A situation in which row and lease differ is drawn in red.
    """
    placed = {number: situation_of(found.system.codes(state)[0]) for state, number in found.explored.states.items()}
    leads: dict[tuple[Situation, Situation], set[str]] = {}
    for source, target, data in found.graph.edges(data=True):
        label: Label = data["label"]
        if placed[source] != placed[target] and label.run in (0, NOBODY):
            leads.setdefault((placed[source], placed[target]), set()).add(_named(label))
    nodes = sorted(set(placed.values()))
    names = {situation: f"s{number}" for number, situation in enumerate(nodes)}
    running = [situation for situation in nodes if situation.status == "running" and not situation.split]
    lines = [
        "digraph situations {",
        "  rankdir=LR; compound=true; nodesep=0.4; ranksep=0.8; bgcolor=white;",
        '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=13, margin="0.15,0.08"];',
        '  edge [fontname="Helvetica", fontsize=10, color="#44546a", fontcolor="#44546a", arrowsize=0.7];',
        *[f"  {names[situation]} {_looks(situation)};" for situation in nodes if situation not in running],
        '  subgraph cluster_running { style="rounded,dashed"; color="#7fa37f";',
        *[f"    {names[situation]} {_looks(situation)};" for situation in running],
        "  }",
    ]
    for end in nodes:
        shared = set.intersection(*[leads.get((start, end), set()) for start in running]) if running else set()
        if shared and end not in running:
            for start in running:
                leads[start, end] = leads[start, end] - shared
            tail = names[running[len(running) // 2]]
            lines.append(f"  {tail} -> {names[end]} [label={_text(shared)}, ltail=cluster_running];")
    for (start, end), steps in sorted(leads.items()):
        if calls := steps - {TIME}:
            lines.append(f"  {names[start]} -> {names[end]} [label={_text(calls)}];")
        elif steps:
            lines.append(f'  {names[start]} -> {names[end]} [style=dashed, color="#9aa5b1"];')
    return "\n".join([*lines, "}", ""])


def as_svg(dot: str) -> str:
    """What Graphviz makes of it, without what tells one release of it from another. ``DrawingError`` where it fails."""
    try:
        ran = subprocess.run(
            ["dot", "-Tsvg"], input=dot, capture_output=True, text=True, timeout=DRAW_SECONDS, check=True
        )
    except FileNotFoundError:
        raise DrawingError("Graphviz is not installed: its command dot was not found") from None
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise DrawingError("Graphviz did not draw the graph") from error
    return re.sub(r"<!--.*?-->\n?", "", ran.stdout, flags=re.DOTALL)


def _named(label: Label) -> str:
    if label.operation == TIME:
        return TIME
    method = label.operation.removeprefix("run.")
    return method if label.outcome in _GRANTED else f"{method}: {label.outcome}"


def _looks(situation: Situation) -> str:
    colours = f', color="{_WARNING}", penwidth=2, fontcolor="{_WARNING}"' if situation.split else ""
    return f'[label="{_LINE.join(caption(situation))}", fillcolor="{_FILLS[situation.status]}"{colours}]'


def _text(calls: set[str]) -> str:
    return f'"{_LINE.join(sorted(calls))}"'

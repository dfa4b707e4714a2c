"""Vectors of the run store: short histories from the state graph that show every operation with every outcome.

A cell is a situation, an operation and an outcome. Each vector is a shortest way to one cell, whose name it has, and
takes in passing what else it can. A vector is a trace (``traces``), so that whatever replays traces runs vectors.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tenure_model.conform.model_system import ModelSystem
from tenure_model.conform.systems import state_to_wire
from tenure_model.conform.traces import FIRST_SESSION
from tenure_model.conform.wire import result_to_wire, to_wire
from tenure_model.explore.graph import StateGraph, build_graph
from tenure_model.explore.scopes import VECTORS
from tenure_model.explore.situations import caption, situation_of
from tenure_model.explore.system import TIME, Label, RunSystem
from tenure_model.explore.traces import Trace, trace_along

MAX_STEPS: Final = 24
"""The most calls of a vector."""


class Cell(NamedTuple):
    """What one step shows: the situation it was taken in, the operation, and the outcome."""

    situation: str
    operation: str
    outcome: str

    @property
    def name(self) -> str:
        """``steal Claimed, running, owner stale``."""
        return f"{self.operation.removeprefix('run.')} {self.outcome}, {self.situation}"


class _Edge(NamedTuple):
    source: int
    target: int
    label: Label


def cells_of(found: StateGraph) -> dict[Cell, list[_Edge]]:
    """Every cell of a graph with the edges that show it, those of the nearest states first."""
    situations = {
        number: ", ".join(caption(situation_of(found.system.codes(state)[0])))
        for state, number in found.explored.states.items()
    }
    cells: dict[Cell, list[_Edge]] = {}
    for source, target, data in found.graph.edges(data=True):
        label: Label = data["label"]
        if label.operation != TIME:
            cell = Cell(situations[source], label.operation, label.outcome)
            cells.setdefault(cell, []).append(_Edge(source, target, label))
    for edges in cells.values():
        edges.sort()
    return cells


def covering(found: StateGraph) -> Iterator[tuple[Cell, tuple[Cell, ...], Trace]]:
    """A small set of traces that together show every cell: each with the cell it is for, and all that it shows.

    Cells far from the start come first, as their ways show nearer ones; a cell that stays in its state is shown by the
    first trace that comes by and has room.
    """
    cells = cells_of(found)
    nearest = {cell: edges[0] for cell, edges in cells.items()}
    ways = {edge.source: _way(found, edge.source) for edge in nearest.values()}
    shown: set[Cell] = set()
    for cell in sorted(nearest, key=lambda cell: (-len(ways[nearest[cell].source]), nearest[cell], cell)):
        if cell in shown:
            continue
        edges, covers = _filled(cells, [*ways[nearest[cell].source], nearest[cell]], cell, shown)
        shown |= set(covers)
        yield cell, covers, trace_along(found, [(edge.label, edge.target) for edge in edges])


def _way(found: StateGraph, number: int) -> list[_Edge]:
    explored, way = found.explored, list[_Edge]()
    while (label := explored.labels[number]) is not None:
        way.append(_Edge(explored.parents[number], number, label))
        number = explored.parents[number]
    return way[::-1]


def _filled(
    cells: dict[Cell, list[_Edge]], way: Sequence[_Edge], wanted: Cell, shown: set[Cell]
) -> tuple[list[_Edge], tuple[Cell, ...]]:
    """The way with steps that stay where they are put in wherever they show what was not shown yet."""
    by_edge = {edge: cell for cell, edges in cells.items() for edge in edges}
    covers = dict.fromkeys([wanted, *(by_edge[edge] for edge in way if edge in by_edge)])
    room = MAX_STEPS - len(way)
    filled: list[_Edge] = []
    for edge in [*way, None]:
        at = way[-1].target if edge is None else edge.source
        for cell, edges in cells.items():
            stays = next((other for other in edges if other.source == other.target == at), None)
            if stays is not None and room > 0 and cell not in shown and cell not in covers:
                covers[cell] = None
                filled.append(stays)
                room -= 1
        if edge is not None:
            filled.append(edge)
    return filled, tuple(covers)


def vector(cell: Cell, covers: Iterable[Cell], trace: Trace, rules_digest: str) -> dict[str, Any]:
    """A trace as a document: every answer and the end state are the model's, under the trace's profile."""
    model = ModelSystem(trace.scope.profile, (FIRST_SESSION,))
    steps: list[dict[str, Any]] = []
    for moment in trace.moments:
        if moment.command is not None:
            command = moment.command
            outcome = model.call(FIRST_SESSION, command.operation, command.arguments, command.clock_ms)
            step = {"clock": command.clock_ms, "op": command.operation, "args": to_wire(dict(command.arguments))}
            steps.append({**step, **result_to_wire(outcome, command.operation)})
    end = state_to_wire(model.state(FIRST_SESSION))
    about = {"kind": "runs", "name": cell.name, "covers": [shown.name for shown in covers], "rules": rules_digest}
    return {**about, "steps": steps, **end}


def digest_of_rules(folder: Path) -> str:
    """The SHA-256 of the normative text on runs: of every file right in the folder, by name, in order."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.md")):
        digest.update(f"{file.relative_to(folder).as_posix()}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def vectors_of(found: StateGraph, rules_digest: str) -> Iterator[tuple[str, str]]:
    """Every vector of a graph as a file: its name and its text. The same graph gives the same files."""
    for number, (cell, covers, trace) in enumerate(covering(found), 1):
        words = cell.name.replace(",", "").replace(".", " ").split()
        text = json.dumps(vector(cell, covers, trace, rules_digest), indent=1, ensure_ascii=False)
        yield f"{number:03}-{'-'.join(words).lower()}.json", text + "\n"


def write_vectors(rules: Path, folder: Path) -> int:
    """Write every vector into an emptied folder, and answer how many there are."""
    found = build_graph(RunSystem(VECTORS))
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.json"):
        stale.unlink()
    files = list(vectors_of(found, digest_of_rules(rules)))
    for name, text in files:
        (folder / name).write_text(text, encoding="utf-8")
    return len(files)


if __name__ == "__main__":
    write_vectors(Path(sys.argv[1]), Path(sys.argv[2]))

"""The vectors of the run store: all cells, the committed files, and both systems against them."""

import json
from pathlib import Path

import pytest

from tenure.port import StoreSystem
from tenure_model.conform.model_system import ModelSystem
from tenure_model.conform.replay import replay
from tenure_model.conform.traces import FIRST_SESSION, Trace, parse_trace, read_traces
from tenure_model.conform.vectors import MAX_STEPS, cells_of, digest_of_rules, vectors_of
from tenure_model.explore.graph import StateGraph, build_graph
from tenure_model.explore.scopes import VECTORS, named
from tenure_model.explore.system import RunSystem
from tenure_model.semantics.profiles import REFERENCE

SPECS = Path(__file__).parents[2] / "specs"
FOLDER = SPECS / "vectors" / "runs"
FILES = sorted(FOLDER.glob("*.json"))


@pytest.fixture(scope="module")
def found() -> StateGraph:
    """The graph that the vectors come from."""
    return build_graph(RunSystem(VECTORS))


def the_trace(file: Path) -> Trace:
    """The one trace of a vector file."""
    (trace,) = read_traces(file)
    return trace


def test_committed_files_are_those_of_the_graph(found: StateGraph):
    """The folder holds exactly what the graph and the rules give now: regenerate it with ``make vectors``."""
    expected = dict(vectors_of(found, digest_of_rules(SPECS / "rules")))
    committed = {file.name: file.read_text(encoding="utf-8") for file in FILES}

    assert sorted(name for name in {*expected, *committed} if expected.get(name) != committed.get(name)) == []


def test_every_cell_is_covered(found: StateGraph):
    """Each operation with each outcome in each situation is shown by a vector that says so."""
    covered = {name for file in FILES for name in the_trace(file).about["covers"]}

    assert covered == {cell.name for cell in cells_of(found)}


@pytest.mark.parametrize("name", ["plain", "second-opinion", "deletion"])
def test_no_other_scope_has_more(found: StateGraph, name: str):
    """What happens in the other scopes is among the cells of this one."""
    other = build_graph(RunSystem(named(name, REFERENCE)))

    assert cells_of(other).keys() - cells_of(found).keys() == set()


def test_they_are_few_and_short():
    """A vector shows the cell that it is named after, in at most 24 calls."""
    traces = [the_trace(file) for file in FILES]

    assert len(traces) == 60
    assert [trace.about["name"] for trace in traces if trace.about["name"] not in trace.about["covers"]] == []
    assert max(len(trace.steps) for trace in traces) == MAX_STEPS


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_both_answer_as_the_vector(file: Path):
    """Model and store give every answer, and end in the very state, revisions and facts included."""
    trace = the_trace(file)
    store = StoreSystem.in_memory((FIRST_SESSION,))
    try:
        verdicts = [
            replay(trace, system, REFERENCE).verdict for system in (ModelSystem(REFERENCE, (FIRST_SESSION,)), store)
        ]
    finally:
        store.close()

    assert verdicts == ["agrees", "agrees"]


def test_a_wrong_answer_is_seen():
    """A vector with another answer at its end does not agree."""
    document = json.loads(FILES[-1].read_text(encoding="utf-8"))
    document["steps"][-1]["ok"]["requestedAtMs"] += 1

    trace = parse_trace(document, "wrong")

    assert replay(trace, ModelSystem(REFERENCE, (FIRST_SESSION,)), REFERENCE).verdict == "differs"

"""Pictures: the situations by Graphviz, a counterexample as a space-time diagram, the same bytes each time."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tenure_model.explore.drawing import as_svg, situation_dot
from tenure_model.explore.graph import StateGraph, build_graph
from tenure_model.explore.scopes import named
from tenure_model.explore.situations import caption, situation_of
from tenure_model.explore.spacetime import spacetime_svg
from tenure_model.explore.system import RunSystem
from tenure_model.explore.traces import trace_of
from tenure_model.semantics.profiles import ORIGINAL, REFERENCE

PICTURE = Path(__file__).parents[2] / "specs" / "situations.svg"

SVG = "{http://www.w3.org/2000/svg}"

needs_graphviz = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed: no command dot")


@pytest.fixture(scope="module")
def found() -> StateGraph:
    """The graph of the scope that is drawn in the README."""
    return build_graph(RunSystem(named("plain", REFERENCE)))


@pytest.fixture(scope="module")
def wedged() -> StateGraph:
    """The second opinion's scope under ``original``."""
    return build_graph(RunSystem(named("second-opinion", ORIGINAL)))


def texts(svg: str) -> list[str]:
    """The texts of a picture, sorted: where they stand depends on the fonts of the machine that drew it."""
    return sorted("".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text"))


def parts(svg: str) -> list[tuple[str, ...]]:
    """What stands in a picture: each node and edge by its title (``s0->s1``), with the colours of its shapes."""
    groups = [group for group in ElementTree.fromstring(svg).iter(f"{SVG}g") if group.get("class") in ("node", "edge")]
    return sorted(
        (group.findtext(f"{SVG}title", ""), *(shape.get("fill", "") for shape in group if shape.tag != f"{SVG}title"))
        for group in groups
    )


def test_situations_are_few(found: StateGraph):
    """Status, claim and freshness: ten situations are all there are."""
    captions = {" ".join(caption(situation_of(found.system.codes(state)[0]))) for state in found.explored.states}

    assert captions == {
        "no row",
        "pending",
        "pending claimed",
        "running owner fresh",
        "running owner fresh claimed",
        "running owner stale",
        "running owner stale claimed",
        "suspended",
        "suspended claimed",
        "settled",
    }


def test_dot_leaves_out_what_stays(found: StateGraph):
    """No edge of the picture is a loop, and what every running situation does leaves from their frame."""
    edges = re.findall(r"(s\d+) -> (s\d+)", dot := situation_dot(found))

    assert edges
    assert [edge for edge in edges if edge[0] == edge[1]] == []
    assert re.findall(r'label="([^"]*)", ltail=cluster_running', dot) == ["transitionOwned", "transitionOwned"]


def test_wedges_are_red(wedged: StateGraph):
    """A situation in which row and lease differ says so, in red."""
    dot = situation_dot(wedged)

    assert '[label="suspended\\nclaimed\\nrow and lease differ", fillcolor="#e8e2f4", color="#c0392b"' in dot


@needs_graphviz
def test_same_bytes(found: StateGraph):
    """Graphviz draws the same picture again, and says nothing of its release."""
    svg = as_svg(situation_dot(found))

    assert svg == as_svg(situation_dot(found))
    assert "<!--" not in svg


@pytest.mark.parametrize("seed", ["0", "77"])
def test_same_text_in_every_process(found: StateGraph, seed: str):
    """What is drawn does not depend on how a process orders its sets."""
    script = (
        "import sys; from tenure_model.explore.drawing import situation_dot; from tenure_model.explore.graph import "
        "build_graph; from tenure_model.explore.scopes import PLAIN; from tenure_model.explore.system import "
        "RunSystem; sys.stdout.write(situation_dot(build_graph(RunSystem(PLAIN))))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)

    assert ran.stdout == situation_dot(found)


@needs_graphviz
def test_committed_picture_is_the_graph(found: StateGraph):
    """The picture of the README shows what the search finds: regenerate it with ``make pictures``."""
    committed, drawn = PICTURE.read_text(encoding="utf-8"), as_svg(situation_dot(found))

    assert texts(committed) == texts(drawn)
    assert parts(committed) == parts(drawn)


def test_spacetime_has_a_lane_each(wedged: StateGraph):
    """Owners as lanes, every call with clock, name and answer, the broken one in red, and what each left."""
    trace = trace_of(wedged.system, wedged.explored, wedged.explored.findings["claims-agree"])
    svg = spacetime_svg(trace, "claims-agree")

    lanes = ["a1", "b1"]
    clocks = ["0", "0", "0", "30,001"]
    names = ["create", "claimAndOwn", "steal", "transitionOwned"]
    answers = ["→ ok", "→ Activated", "→ Claimed(30,001)", "→ Transitioned"]
    left = [
        "pending",
        "running under a1@0",
        "running under a1@0, claimed by b1@30,001",
        "suspended; on the lease: nobody's, claimed by b1@30,001",
    ]

    assert texts(svg) == sorted([*lanes, *clocks, *names, *answers, *left])
    assert svg.count("<circle") == 4
    assert svg.count('fill="#c0392b"') == 3

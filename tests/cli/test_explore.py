"""``tenure explore``: what it prints, exports and answers."""

import json
import shutil
from pathlib import Path

import networkx
import pytest
from click.testing import CliRunner, Result

from tenure.cli import main
from tenure_model.explore.properties import STEP_PROPERTIES


def run(*arguments: str) -> Result:
    """The command's result, output and exit code."""
    return CliRunner().invoke(main, ["explore", *arguments])


def test_says_what_holds():
    """Size, depth, and a verdict for each property; exit code 0."""
    result = run("second-opinion")

    assert result.exit_code == 0
    assert result.output.startswith(
        "scope second-opinion under reference\n99 states (all of them), 4,514 transitions, depth 6"
    )
    assert result.output.count("\nholds ") == len(STEP_PROPERTIES)
    assert "BROKEN" not in result.output


def test_tells_what_breaks():
    """A broken property comes with its trace; exit code 1."""
    result = run("second-opinion", "--profile", "original", "--depth", "5")

    assert result.exit_code == 1
    assert "BROKEN claims-agree: " in result.output
    assert "transitionOwned(toStatus=suspended) -> Transitioned  [claims-agree]" in result.output
    assert "not all: a bound ended the search" in result.output


def test_says_whether_runs_can_end():
    """No wedge, and the number of calls that a survivor needs; under ``original`` the way into the wedge."""
    holds, breaks = run("plain"), run("plain", "--profile", "original")

    assert "\nno wedge: from every state every run can be brought to its end" in holds.output
    assert "\na single survivor ends any run in 3 calls" in holds.output
    assert "\nWEDGED in 18 states" in breaks.output
    assert "\nSTRANDED in 90 cases" in breaks.output
    assert breaks.exit_code == 1


def test_json():
    """One document with the numbers, and the lines of each trace."""
    result = run("second-opinion", "--profile", "original", "--json")
    document = json.loads(result.output)

    assert result.exit_code == 1
    assert (document["states"], document["complete"], document["depth"]) == (141, True, 7)
    assert sorted(document["broken"]) == ["claims-agree", "facts-tell", "owners-agree"]


def test_streams():
    """Without a graph the sizes are the same, and a break is told by its depth."""
    result = run("second-opinion", "--profile", "original", "--stream", "--json")
    document = json.loads(result.output)

    assert document["states"] == 141
    assert document["broken"]["claims-agree"] == ["first at depth 3"]


def test_exports(tmp_path: Path):
    """The suffix of the file says the format."""
    file = tmp_path / "graph.graphml"
    result = run("second-opinion", "--depth", "3", "--export", str(file))

    assert result.exit_code == 0
    assert networkx.read_graphml(file).nodes["0"] == {"r.status": "none"}


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed: no command dot")
def test_draws(tmp_path: Path):
    """The situations, and each broken property beside them."""
    run("second-opinion", "--profile", "original", "--draw", str(tmp_path / "states.svg"))

    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "states-claims-agree.svg",
        "states-facts-tell.svg",
        "states-owners-agree.svg",
        "states.svg",
    ]
    assert "<svg" in (tmp_path / "states.svg").read_text()


def test_lists_scopes():
    """Every named scope, one a line."""
    names = [line.split(":")[0] for line in run("--list").output.splitlines()]

    assert names == ["boundary", "plain", "second-opinion", "deletion", "lineage", "pair", "vectors", "night"]


def test_refuses_what_it_cannot_do(tmp_path: Path):
    """An unknown scope, an unknown format, and an export of what is not kept are usage errors."""
    assert [
        run("nowhere").exit_code,
        run("second-opinion", "--export", str(tmp_path / "graph.png")).exit_code,
        run("second-opinion", "--stream", "--export", str(tmp_path / "graph.json")).exit_code,
        run("second-opinion", "--export", str(tmp_path / "nowhere" / "graph.json")).exit_code,
    ] == [2, 2, 2, 2]


@pytest.mark.parametrize("option", ["--export", "--draw"])
def test_a_file_that_cannot_be_written_is_refused_by_name(option: str, tmp_path: Path):
    """In a folder that is not there, before anything is searched."""
    refused = run("second-opinion", "--depth", "0", option, str(tmp_path / "missing" / "x.svg"))

    assert refused.exit_code == 2
    assert f"Invalid value for '{option}'" in refused.output

"""``tenure hazard``: what it prints, draws and answers."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from tenure.cli import main


def run(*arguments: str) -> Result:
    """The command's result, output and exit code."""
    return CliRunner().invoke(main, ["hazard", *arguments])


def test_tells_a_hazard():
    """What happens, the shortest history, what the library does, what a port must do."""
    result = run("H-01")

    assert result.exit_code == 0
    assert result.output.startswith("H-01 A suspended run is stuck behind the claim of a thief\n")
    assert "The shortest history under `original`, 5 steps, right clocks:" in result.output
    assert "suspended; on the lease: nobody's, claimed by b1@30,001" in result.output
    assert "`reference` (R-1): " in result.output
    assert "\nA port: " in result.output


def test_looks_under_reference():
    """What is repaired is not found there, and the size of the search says so."""
    result = run("H-01", "--profile", "reference")

    assert result.exit_code == 0
    assert "Looked for under `reference`, right clocks:" in result.output
    assert "    no history shows it: all 119 states and 5,333 transitions were searched\n" in result.output


def test_tells_a_hazard_of_the_journal():
    """Ids of both kinds are known, under both profiles."""
    result = run("HZ-01", "--profile", "reference", "--json")

    assert json.loads(result.output)["evidence"]["steps"] is None


def test_json():
    """One document with everything that the text says."""
    result = run("H-02", "--json")
    document = json.loads(result.output)

    assert (document["id"], document["repairedBy"]) == ("H-02", "R-2")
    assert (document["evidence"]["kind"], document["evidence"]["steps"]) == ("trace", 5)
    assert document["proof"] == "no history shows it: all 119 states and 5,333 transitions were searched"


def test_draws(tmp_path: Path):
    """A history becomes a space-time diagram."""
    file = tmp_path / "hazard.svg"

    result = run("H-02", "--draw", str(file))

    assert result.exit_code == 0
    assert "abandonClaim" in file.read_text()


def test_draws_a_hazard_of_the_journal(tmp_path: Path):
    """Sessions are its lanes, and the step that shows it is red."""
    file = tmp_path / "hazard.svg"

    result = run("HZ-03", "--draw", str(file))
    drawing = file.read_text()

    assert result.exit_code == 0
    assert '<text x="90" y="24" text-anchor="middle" font-weight="bold">a</text>' in drawing
    assert drawing.count("<circle") == 7
    assert drawing.count('r="5" fill="#c0392b"') == 1


def test_draws_nothing_where_there_is_nothing(tmp_path: Path):
    """A hazard without a history to draw is wrong use, and no file is left."""
    file = tmp_path / "hazard.svg"

    result = run("H-02", "--profile", "reference", "--draw", str(file))

    assert result.exit_code == 2
    assert "H-02 has no history to draw under reference" in result.output
    assert not file.exists()


def test_ids_in_small_letters():
    """``h-02`` is ``H-02``."""
    assert run("h-02").output == run("H-02").output


def test_lists():
    """Each hazard in a line; with ``--json`` in one document."""
    lines = run("--list").output.splitlines()
    listed = json.loads(run("--list", "--json").output)

    assert lines[0] == "H-01   A suspended run is stuck behind the claim of a thief (repaired by R-1)"
    assert [line.split()[0] for line in lines] == [one["id"] for one in listed]


def test_unknown_id():
    """An id that names nothing, or none, is wrong use; the answer says what there is."""
    unknown, missing = run("H-99"), run()

    assert (unknown.exit_code, missing.exit_code) == (2, 2)
    assert "there is no such hazard; there are H-01..H-" in unknown.output
    assert "HZ-01..HZ-41" in missing.output


def test_a_file_that_cannot_be_written_is_refused_by_name(tmp_path: Path):
    """In a folder that is not there, before anything is searched."""
    refused = run("H-02", "--draw", str(tmp_path / "missing" / "x.svg"))

    assert refused.exit_code == 2
    assert "Invalid value for '--draw'" in refused.output

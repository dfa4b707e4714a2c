"""``tenure replay``: verdicts, exit codes, and what it says about the first difference."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tenure.cli import main

TRACES = Path(__file__).parents[2] / "specs" / "traces"


def run(*arguments):
    """Call the command; answers its exit code and what it printed."""
    result = CliRunner().invoke(main, ["replay", *map(str, arguments)])
    return result.exit_code, result.output


def documents(name):
    """The traces of a recorded file."""
    with gzip.open(TRACES / name, "rt") as lines:
        return [json.loads(line) for line in lines]


def write(path, *traces):
    """A trace file."""
    path.write_text("".join(json.dumps(trace) + "\n" for trace in traces))
    return path


@pytest.mark.parametrize(("system", "profile"), [("model", "reference"), ("model", "original"), ("store", "reference")])
def test_recorded_runs_agree_everywhere(system, profile):
    """All forty traces, every step and the end state, in both profiles of the model and in the store."""
    code, output = run(TRACES / "runs.jsonl.gz", "--system", system, "--profile", profile, "--json")

    summary = json.loads(output)
    assert code == 0
    assert summary["traces"] == 40
    assert summary["steps"] == summary["agree"] > 3_900
    assert {replay["verdict"] for replay in summary["replays"]} == {"agrees"}


def test_recorded_hazards_agree_under_original():
    """All fifteen traces that walk into the wedges, every step and the end state."""
    code, output = run(TRACES / "hazard.jsonl.gz", "--profile", "original", "--json")

    summary = json.loads(output)
    assert code == 0
    assert summary["traces"] == 15
    assert summary["steps"] == summary["agree"]


@pytest.mark.parametrize("system", ["model", "store"])
def test_hazards_differ_as_repairs_allow(system):
    """Under ``reference`` each difference comes after a repair, which is named with the step at which it fired."""
    code, output = run(TRACES / "hazard.jsonl.gz", "--system", system, "--json")

    differences = {
        replay["trace"].split(":")[1]: (
            replay["difference"]["step"],
            [(repair["id"], repair["firedAtStep"]) for repair in replay["difference"]["repairs"]],
        )
        for replay in json.loads(output)["replays"]
        if replay["verdict"] == "allowed"
    }
    assert code == 0
    assert differences == {
        "1": (None, [("R-1", 86)]),
        "3": (59, [("R-1", 57)]),
        "5": (None, [("R-1", 102)]),
        "7": (88, [("R-2", 72)]),
        "10": (68, [("R-2", 55)]),
    }


@pytest.mark.parametrize("system", ["model", "store"])
def test_a_changed_answer_differs(tmp_path, system):
    """A recorded outcome that nobody would give is found at its step, and told."""
    trace = documents("runs.jsonl.gz")[0]
    step = next(i for i, step in enumerate(trace["steps"]) if step.get("ok") == {"_tag": "Activated"})
    trace["steps"][step]["ok"] = {"_tag": "SnapshotChanged"}

    code, output = run(write(tmp_path / "t.jsonl", trace), "--system", system)

    assert code == 1
    assert f"first difference at step {step}" in output
    assert 'recorded "SnapshotChanged", answered "Activated"' in output


@pytest.mark.parametrize("field", ["rows", "changes", "source", "leases", "facts"])
def test_a_changed_end_differs(tmp_path, field):
    """Every part of the end state is compared."""
    trace = documents("runs.jsonl.gz")[0]
    trace[field] = {} if isinstance(trace[field], dict) else []

    code, output = run(write(tmp_path / "t.jsonl", trace), "--system", "store", "--json")

    (replay,) = json.loads(output)["replays"]
    assert code == 1
    assert replay["verdict"] == "differs"
    assert (replay["difference"]["step"], replay["difference"]["where"]) == (None, field)


def test_a_changed_row_differs(tmp_path):
    """What ``get`` answered after a step is compared."""
    trace = documents("runs.jsonl.gz")[0]
    step = next(i for i, step in enumerate(trace["steps"]) if "row" in step)
    trace["steps"][step]["row"]["createdAtMs"] += 1

    code, output = run(write(tmp_path / "t.jsonl", trace), "--json")

    assert code == 1
    assert {
        (replay["difference"]["step"], replay["difference"]["where"]) for replay in json.loads(output)["replays"]
    } == {(step, "row")}


def test_a_repair_excuses_only_what_it_explains(tmp_path):
    """A trace whose difference is not the repair's differs, although a repair has fired before."""
    trace = documents("hazard.jsonl.gz")[2]
    trace["steps"][59]["ok"] = {"_tag": "AlreadyClaimed"}

    code, _ = run(write(tmp_path / "t.jsonl", trace))

    assert code == 1


def test_sessions_transactions_and_crashes(tmp_path):
    """A history of several instances on one file: uncommitted work of a dropped one is gone."""
    create = {"op": "run.create", "args": {"runId": "r", "stateJson": "{}"}}
    trace = {
        "kind": "runs",
        "steps": [
            {"clock": 5, "session": "a", "op": "session.begin", "ok": True},
            {"clock": 5, "session": "a", **create, "ok": None},
            {"clock": 5, "session": "b", "op": "run.get", "args": {"runId": "r"}, "error": {"code": "not_found_row"}},
            {"clock": 5, "session": "a", "op": "session.crash", "ok": True},
            {"clock": 6, "session": "b", **create, "ok": None},
            {"clock": 6, "session": "b", "op": "system.crash", "ok": True},
            {"clock": 7, "session": "a", **create, "error": {"code": "constraint", "method": "create"}},
            {"clock": 7, "session": "a", "op": "row.delete", "args": {"runId": "r"}, "ok": True},
        ],
        "changes": [{"run_id": "r", "revision": 2, "deleted": 1}],
    }
    trace["steps"][2]["error"]["method"] = "get"

    code, output = run(write(tmp_path / "t.json", trace), "--json")

    assert json.loads(output)["agree"] == 16
    assert code == 0


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "holds no trace"),
        ('{"kind": "runs", "steps": [{"clock": 1, "op": "run.fly"}]}', "step 0: op is not a known operation"),
        ('{"kind": "films", "steps": []}', "cannot be replayed"),
        ('{"kind": "runs", "steps": [{"clock": 1, "op": "row.delete"}]}', "step 0: runId must be a string"),
        ('{"kind": "runs", "steps": [], "leases": [{}]}', "leases must be an array"),
    ],
)
def test_what_is_no_trace(tmp_path, content, complaint):
    """Exit code 2 and one line that says what is wrong, as JSON where JSON was asked for."""
    path = tmp_path / "t.jsonl"
    path.write_text(content)

    plain, as_json = run(path), run(path, "--json")

    assert plain[0] == as_json[0] == 2
    assert complaint in plain[1]
    assert complaint in json.loads(as_json[1])["error"]


def test_the_store_has_one_profile():
    """Asking the store for the wedges is a usage error."""
    code, output = run(TRACES / "runs.jsonl.gz", "--system", "store", "--profile", "original")

    assert code == 2
    assert "reference profile only" in output

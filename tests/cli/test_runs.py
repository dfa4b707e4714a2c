"""``tenure runs``: what a file holds, without touching it."""

import json
import shutil

import apsw
import pytest
from click.testing import CliRunner

import tenure
from tenure.cli import main

ME = tenure.OwnerId("host", 7, "nonce")
NOW = 1_000_000


def run(*arguments):
    """Call the command; answers its exit code and what it printed."""
    result = CliRunner().invoke(main, ["runs", *map(str, arguments)])
    return result.exit_code, result.output


@pytest.fixture
def file(tmp_path):
    """A store with a pending, a claimed, a fresh and a stale run."""
    path = tmp_path / "runs.db"
    with tenure.open(path, clock=lambda: NOW) as store:
        for run_id in ("a-pending", "b-claimed", "c-running", "d-stale"):
            store.runs.create(run_id, "{}")
        store.runs.claim("b-claimed", tenure.PENDING, ME, NOW - 4_000)
        store.runs.claim_and_own("c-running", tenure.PENDING, ME, NOW - 30_000)
        store.runs.claim_and_own("d-stale", tenure.PENDING, ME, NOW - 30_001)
        store.runs.request_cancel("d-stale", NOW)
    return path


def test_lists_owners_and_ages(file):
    """One line a run: who has it, how old the lease is, and whether a peer may take it."""
    code, output = run(file, "--now", NOW)

    lines = {line.split()[0]: line for line in output.splitlines()}
    assert code == 0
    assert "host:7:nonce" in lines["b-claimed"]
    assert "4.0 s" in lines["b-claimed"]
    assert "30.0 s" in lines["c-running"]
    assert "stale" not in lines["c-running"]
    assert "30.0 s stale" in lines["d-stale"]
    assert "requested" in lines["d-stale"]


def test_json_is_one_document_a_run(file):
    """Every field by its wire name, ages in milliseconds."""
    code, output = run(file, "--json", "--now", NOW)

    records = [json.loads(line) for line in output.splitlines()]
    assert code == 0
    assert [record["runId"] for record in records] == ["a-pending", "b-claimed", "c-running", "d-stale"]
    assert records[1]["claim"] == {"hostId": "host", "pid": 7, "nonce": "nonce"}
    assert records[1]["claimAgeMs"] == 4_000
    assert [record["stale"] for record in records] == [None, None, False, True]
    assert records[3]["leaseAgeMs"] == 30_001


def test_lists_beside_a_writer_and_changes_nothing(file):
    """A listing sees what is committed while somebody writes, and leaves the file as it was."""
    with tenure.open(file) as store:
        before = store.runs.get("a-pending")
        with store.transaction():
            store.runs.create("e", "{}")
            code, output = run(file, "--json")

        assert code == 0
        assert len(output.splitlines()) == 4
        assert store.runs.get("a-pending") == before


def test_more_runs_than_a_page(tmp_path):
    """Pages join without a gap."""
    path = tmp_path / "runs.db"
    with tenure.open(path) as store, store.transaction():
        for number in range(1_001):
            store.runs.create(f"r{number:04}", "{}")

    _, output = run(path, "--json")

    assert [json.loads(line)["runId"] for line in output.splitlines()] == [f"r{number:04}" for number in range(1_001)]


def many(path):
    """1,501 runs, three pages and one, the second page with a name that is wider than any in the first."""
    with tenure.open(path) as store, store.transaction():
        for number in range(1_501):
            store.runs.create(f"r{number:04}" if number != 700 else "x" * 50, "{}")


def test_columns_are_as_wide_as_the_first_page_needs(tmp_path):
    """However long, it is one table: one heading, the same columns on every page, and what is wider stands out."""
    many(tmp_path / "runs.db")

    _, output = run(tmp_path / "runs.db")

    lines = output.splitlines()
    assert lines[0] == "run    status   owner  lease age  claim  claim age  cancel"
    assert lines[1] == "r0000  pending"
    assert lines[701] == f"{'x' * 50}  pending"
    assert lines[1_501:] == ["r1500  pending"]


def test_wide_characters_take_two_columns(tmp_path):
    """Columns are those of a terminal."""
    with tenure.open(tmp_path / "runs.db") as store:
        for run_id in ("\u5b9f\u884c", "a"):
            store.runs.create(run_id, "{}")

    _, output = run(tmp_path / "runs.db")

    assert output.splitlines()[1:] == ["\u5b9f\u884c  pending", "a     pending"]


def test_pages_are_printed_as_they_are_read(tmp_path):
    """What stands before a damaged place is printed, and the complaint after it."""
    path = tmp_path / "runs.db"
    many(path)
    with apsw.Connection(str(path)) as connection:
        [(page, size)] = connection.execute(
            "SELECT pageno - 1, pgsize FROM dbstat WHERE name = 'flows_runs' ORDER BY path DESC LIMIT 1"
        )
    connection.close()
    with path.open("r+b") as file:
        file.seek(page * size)
        file.write(b"\xff" * size)

    code, output = run(path)

    lines = output.splitlines()
    assert code == 2
    assert lines[1_000] == "r0999  pending"
    assert lines[-1] == "tenure runs: io"


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_leaves_no_file_behind(file, form):
    """A closed store is one file before and after, and not a byte of it changes."""
    before = file.read_bytes(), file.stat().st_mtime_ns

    code, _ = run(file, *form)

    assert code == 0
    assert list(file.parent.iterdir()) == [file]
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


def test_leaves_what_a_killed_program_has_left(file):
    """The log of a program that is gone is read, and neither moved into the database nor removed."""
    left = file.parent / "left"
    left.mkdir()
    with tenure.open(file) as store:
        store.runs.create("e-killed", "{}")
        for name in ("runs.db", "runs.db-wal"):
            shutil.copy(file.parent / name, left / name)
    before = {path.name: path.read_bytes() for path in left.iterdir()}

    code, output = run(left / "runs.db")

    assert code == 0
    assert output.splitlines()[-1].split() == ["e-killed", "pending"]
    assert {path.name: path.read_bytes() for path in left.iterdir() if path.name in before} == before


def test_hostile_names_do_not_reach_the_terminal(tmp_path):
    """Markup and control characters in a name are shown, not obeyed."""
    path = tmp_path / "runs.db"
    with tenure.open(path) as store:
        store.runs.create("[red]x\x1b[2J", "{}")

    _, output = run(path)

    assert "[red]x\\x1b[2J" in output


def test_a_corrupt_name_hides_no_other_run(tmp_path):
    """A run id that is no UTF-8 is shown as far as it can be, and the others as ever."""
    path = tmp_path / "runs.db"
    with tenure.open(path) as store:
        for run_id in ("a", "b", "c"):
            store.runs.create(run_id, "{}")
    with apsw.Connection(str(path)) as connection:
        connection.execute("DROP TRIGGER flows_runs_identity_immutable")
        connection.execute("UPDATE flows_runs SET run_id = CAST(x'ff62' AS TEXT) WHERE run_id = 'b'")

    code, output = run(path, "--json")

    assert code == 0
    assert [json.loads(line)["runId"] for line in output.splitlines()] == ["a", "\ufffdb", "c"]


def test_complains_in_json_where_json_was_asked_for(tmp_path):
    """A reader of JSON gets JSON also of what is wrong."""
    code, output = run(tmp_path / "none.db", "--json")

    assert code == 2
    assert "does not exist" in json.loads(output)["error"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(None, "does not exist"), (b"", "is not a store"), (b"nothing like it" * 100, "is not an SQLite database")],
)
def test_what_is_no_store(tmp_path, content, complaint):
    """Exit code 2 and one line; no file appears."""
    path = tmp_path / "runs.db"
    if content is not None:
        path.write_bytes(content)

    code, output = run(path)

    assert code == 2
    assert complaint in output
    assert (path.read_bytes() if path.exists() else None) == content


def test_an_empty_store(tmp_path):
    """No runs is said, not shown as an empty table."""
    path = tmp_path / "runs.db"
    tenure.open(path).close()

    code, output = run(path)

    assert code == 0
    assert output.splitlines()[-1] == "no runs"

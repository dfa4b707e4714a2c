"""``tenure journal``: entries in order, gaps as gaps, the floor as the floor."""

import json
import signal
import subprocess
import sys
import time

import apsw
import pytest
from click.testing import CliRunner

import tenure
from tenure.cli import main
from tenure.cli.journal import _records

ME = tenure.OwnerId("host", 7, "nonce")
OPTIONS = {"capacity": 8, "overflow": "reject"}


def run(*arguments):
    """Call the command; answers its exit code and what it printed."""
    result = CliRunner().invoke(main, ["journal", *map(str, arguments)])
    return result.exit_code, result.output


def emit(store, source_seq, payload=None):
    """Append one event of one producer."""
    event = {"runId": "r", "sourceId": "p", "sourceSeq": source_seq, "eventType": "e.a", "payload": payload}
    return store.journal.emit_durable_unfenced(event)


@pytest.fixture
def file(tmp_path):
    """Entries at 0, 1, 3 and 4: the duplicate used up 2."""
    path = tmp_path / "runs.db"
    with tenure.open(path, clock=lambda: 1_700_000_000_000, journal=OPTIONS) as store:
        for source_seq in (0, 1, 1, 2, 3):
            emit(store, source_seq, {"n": source_seq})
    return path


def test_entries_and_gaps(file):
    """A line an entry, in order, with a line where a number is missing."""
    code, output = run(file, "r")

    lines = output.splitlines()
    assert code == 0
    assert [line.split()[0] for line in lines] == ["0", "1", "gap:", "3", "4"]
    assert lines[2].split() == ["gap:", "2"]
    assert '2023-11-14T22:13:20.000Z  e.a  p:0  {"n":0}' in lines[0]


def test_json(file):
    """A document a line: entries under the wire's names, gaps with both ends."""
    _, output = run(file, "r", "--json", "--after", 0)

    records = [json.loads(line) for line in output.splitlines()]
    assert [list(record) for record in records] == [["entry"], ["gap"], ["entry"], ["entry"]]
    assert records[1] == {"gap": {"from": 2, "to": 2}}
    assert records[0]["entry"] == {
        "runId": "r",
        "seq": 1,
        "eventId": "flows:event:1:r1:p1",
        "sourceId": "p",
        "sourceSeq": 1,
        "emittedAtMs": 1_700_000_000_000,
        "eventType": "e.a",
        "payload": {"n": 1},
        "meta": None,
    }


def test_the_floor_is_shown(file):
    """What compaction cut off is told once, and no gap is invented for it."""
    with tenure.open(file, journal=OPTIONS) as store:
        store.runs.create("r", "{}")
        store.runs.claim_and_own("r", tenure.PENDING, ME, store.now())
        store.journal.checkpoint("r", 3, {}, ME)
        store.journal.compact("r", ME)

    _, output = run(file, "r", "--json")

    assert [next(iter(json.loads(line))) for line in output.splitlines()] == ["floor", "entry", "entry"]
    assert "compacted below 3: the checkpoint at 3 stands for everything up to and with it" in run(file, "r")[1]


def test_a_compaction_meanwhile_is_no_gap(tmp_path):
    """What is cut off while the command prints is told as the floor, not as numbers that never were."""
    path = tmp_path / "runs.db"
    with tenure.open(path, journal=OPTIONS) as store:
        store.runs.create("r", "{}")
        store.runs.claim_and_own("r", tenure.PENDING, ME, store.now())
        with store.transaction():
            for number in range(1_200):
                emit(store, number)
        records = _records(path, "r", -1, False)
        first = next(records)
        store.journal.checkpoint("r", 1_100, {}, ME)
        store.journal.compact("r", ME)
        rest = list(records)

    assert first["entry"]["seq"] == 0
    assert not [record for record in rest if "gap" in record]
    assert [record for record in rest if "floor" in record] == [{"floor": {"seq": 1_100}}]
    assert rest[-1]["entry"]["seq"] == 1_199


def test_a_corrupt_entry_is_said(file):
    """An entry that does not decode ends the listing with exit code 2, in JSON where JSON was asked for."""
    with apsw.Connection(str(file)) as connection:
        connection.pragma("ignore_check_constraints", 1)
        connection.execute("UPDATE flows_journal_events SET payload_json = '{bad' WHERE seq = 3")

    plain, as_json = run(file, "r"), run(file, "r", "--json")

    assert plain[0] == as_json[0] == 2
    assert "could not decode" in plain[1]
    assert "could not decode" in json.loads(as_json[1].splitlines()[-1])["error"]


def test_an_unknown_run_is_said(file):
    """Exit code 2 and a line on stderr, in JSON where JSON was asked for; its name is shown and not obeyed."""
    plain = CliRunner().invoke(main, ["journal", str(file), "no\x1bsuchrun"])
    code, output = run(file, "nosuchrun", "--json")

    assert (plain.exit_code, plain.stdout) == (2, "")
    assert plain.stderr == f"tenure journal: {file} has no run no\\x1bsuchrun\n"
    assert (code, json.loads(output)) == (2, {"error": f"{file} has no run nosuchrun"})


def test_nothing_above_the_last_entry_is_no_error(file):
    """Above the last entry there is nothing to print and nothing to say."""
    assert run(file, "r", "--after", "4") == (0, "")


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--after", "4")])
def test_a_known_run_without_a_history_is_no_error(file, arguments):
    """A run that has no history yet, as in a store without a journal: a line on stderr says so, and nothing else."""
    with tenure.open(file) as store:
        store.runs.create("silent\x1b", "{}")

    result = CliRunner().invoke(main, ["journal", str(file), "silent\x1b", *arguments])

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == (
        f"tenure journal: {file} has no entries of run silent\\x1b; a store keeps them if it is opened with journal "
        "options\n"
    )


def test_follows_until_interrupted(file):
    """A follower prints what another process commits, and ends with the interrupt that is meant to end it."""
    command = [sys.executable, "-m", "tenure.cli", "journal", str(file), "r", "--follow", "--after", "4", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as follower:
        try:
            with tenure.open(file, journal=OPTIONS) as store:
                emit(store, 4)
            line = json.loads(follower.stdout.readline())
            time.sleep(0.05)  # so that the interrupt meets it waiting, not printing
            follower.send_signal(signal.SIGINT)
            code = follower.wait(timeout=30)
        finally:
            follower.kill()

    assert line["entry"]["sourceSeq"] == 4
    assert code == 0


def test_hostile_text_does_not_reach_the_terminal(tmp_path):
    """Control characters in a type or a payload are shown, not obeyed."""
    path = tmp_path / "runs.db"
    with tenure.open(path, journal=OPTIONS) as store:
        event = {"runId": "r", "sourceId": "p", "eventType": "e\x1b[2J", "payload": "\x9b"}
        store.journal.emit_durable_unfenced(event)

    _, output = run(path, "r")

    assert "e\\x1b[2J" in output
    assert "\\x9b" in output


@pytest.mark.parametrize(("content", "complaint"), [(None, "does not exist"), (b"", "is not a store with a journal")])
def test_what_is_no_store(tmp_path, content, complaint):
    """Exit code 2 and one line."""
    path = tmp_path / "runs.db"
    if content is not None:
        path.write_bytes(content)

    code, output = run(path, "r")

    assert code == 2
    assert complaint in output


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("r", "--after", 2**53), "'--after'"),
        (("r", "--after", 2**63), "'--after'"),
        (("\udcff",), "'RUN'"),
    ],
)
def test_what_no_run_can_have_is_refused_by_name(file, arguments, named):
    """A number or an id that is out of bounds is the parameter's fault, and not an unknown failure."""
    code, output = run(file, *arguments)

    assert code == 2
    assert f"Invalid value for {named}" in output

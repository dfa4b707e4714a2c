"""Several connections, threads and processes that want the same run or the same file (BR-37, BR-52)."""

import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import apsw
import pytest

import tenure
from tenure.database.sqlite import SqliteEngine
from tests.cases.support import (
    STALE,
    T0,
    A,
    B,
    PassThrough,
    StoreSubject,
    WrappedEngine,
    expired,
    must,
)

PATIENCE_SECONDS = 120
"""Never reached unless something hangs."""
ROUNDS = 12
RIVALS = (A, B, tenure.OwnerId("host-3", 3, "third"))
NOW = T0 + STALE + 1


def plain(connection):
    """The connection as it is."""
    return connection


def rounds(path):
    """Runs to fight for: pending ones, and ones whose owner is long silent."""
    subject = StoreSubject(path)
    dead = tenure.OwnerId("host-9", 9, "dead")
    for number in range(ROUNDS):
        must(subject.create(f"pending-{number}", "{}"), type(None))
        for kind in ("stolen", "seized"):
            must(subject.create(f"{kind}-{number}", "{}"), type(None))
            must(subject.claim_and_own(f"{kind}-{number}", tenure.PENDING, dead, T0), tenure.Activated)
    subject.close()
    return tenure.RunSnapshot("running", dead, T0)


def fight(path, wrap):
    """Rivals with a connection each, all at once at a barrier, for one run after another; the outcomes by run."""
    stale = rounds(path)
    barrier = threading.Barrier(len(RIVALS))
    outcomes = {}

    def rival(who):
        subject = StoreSubject(WrappedEngine(SqliteEngine(path), wrap))
        subject.clock_ms = NOW
        calls = {
            "pending": lambda run_id: subject.claim(run_id, tenure.PENDING, who, NOW),
            "stolen": lambda run_id: subject.steal(run_id, stale, who, NOW, expired(stale.owner, NOW)),
            "seized": lambda run_id: subject.claim_and_own(run_id, stale, who, NOW, expired(stale.owner, NOW)),
        }
        try:
            for number in range(ROUNDS):
                for kind, call in calls.items():
                    barrier.wait(PATIENCE_SECONDS)
                    outcomes.setdefault(f"{kind}-{number}", {})[who] = call(f"{kind}-{number}")
        except BaseException:
            barrier.abort()
            raise
        subject.close()

    with ThreadPoolExecutor(len(RIVALS)) as pool:
        for finished in [pool.submit(rival, who) for who in RIVALS]:
            finished.result()
    return outcomes


def exactly_one_wins(path, wrap=plain):
    """Of the rivals for a run one wins, the others are told why, and the row names the winner."""
    outcomes = fight(path, wrap)
    subject = StoreSubject(path)
    for run_id, answers in outcomes.items():
        winners = [who for who, answer in answers.items() if isinstance(answer, tenure.Claimed | tenure.Activated)]
        losers = {type(answer) for who, answer in answers.items() if who not in winners}
        row = subject.get(run_id)
        assert winners == [row.owner if run_id.startswith("seized") else row.claim], (run_id, answers)
        # After a takeover at once the new owner's beat is fresh; a claim stands until somebody activates it.
        assert losers == {tenure.HeartbeatFresh if run_id.startswith("seized") else tenure.AlreadyClaimed}
    assert len(outcomes) == 3 * ROUNDS
    subject.close()


def test_br_37_one_of_several_connections_wins(tmp_path):
    """BR-37: at a barrier, three connections claim, steal and take over the same runs: exactly one gets each."""
    exactly_one_wins(str(tmp_path / "runs.db"))


class IgnoresChanges(PassThrough):
    """Takes a guarded write for done without a look at whether it changed a row."""

    def rows(self, sql, bindings=(), /):
        rows = self.inner.rows(sql, bindings)
        return rows or ([(1,)] if "RETURNING 1" in sql else [])


def test_br_37_kills_a_claim_that_does_not_look(tmp_path):
    """BR-37: where nobody looks whether the update changed a row, several claimants win."""
    with pytest.raises(AssertionError):
        exactly_one_wins(str(tmp_path / "runs.db"), IgnoresChanges)


RIVAL = """
import sys, tenure
path, name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
me = tenure.OwnerId(name, 1, name)
with tenure.open(path) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(rounds):
        print(type(store.runs.claim(f"run-{number}", tenure.PENDING, me, store.now())).__name__, flush=True)
    for number in range(rounds):
        run_id = f"{name}-{number}"
        store.runs.create(run_id, "{}")
        assert store.runs.claim_and_own(run_id, tenure.PENDING, me, store.now()) == tenure.Activated()
        assert store.runs.heartbeat(run_id, me, store.now()) == tenure.Updated()
        assert store.runs.transition_owned(run_id, me, "completed") == tenure.Transitioned()
"""


def test_br_37_and_52_processes_share_a_file(tmp_path):
    """BR-37, BR-52: two processes, started at once, claim the same runs, one each; and then write side by side: no
    SQLITE_BUSY surfaces, nothing is lost, and every write has a revision of its own."""
    path, count = str(tmp_path / "runs.db"), 40
    with tenure.open(path) as store, store.transaction():
        for number in range(count):
            store.runs.create(f"run-{number}", "{}")
    rivals = [
        subprocess.Popen(
            [sys.executable, "-c", RIVAL, path, name, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    ready = [rival.stdout.readline() for rival in rivals]
    for rival in rivals:
        rival.stdin.write("go\n")
        rival.stdin.flush()
    answers = [rival.communicate(timeout=PATIENCE_SECONDS)[0].split() for rival in rivals]
    with tenure.open(path) as store:
        completed = store.database.read("SELECT count(*) FROM flows_runs WHERE status = 'completed'")
        source = store.database.read("SELECT revision FROM flows_run_source")

    assert ready == ["ready\n", "ready\n"]
    assert [rival.returncode for rival in rivals] == [0, 0]
    assert all(sorted(pair) == ["AlreadyClaimed", "Claimed"] for pair in zip(*answers, strict=True))
    assert completed == [(2 * count,)]
    assert source == [(2 * count + 2 * count * 4,)]


class Trace:
    """Every statement of every connection that is opened while it listens, with whether a transaction was open."""

    def __init__(self):
        self.statements = []
        self.connections = []

    def __call__(self, connection):
        """Listen to a new connection."""
        self.connections.append(connection)
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, self._note)

    def _note(self, event):
        if not event["trigger"]:
            connection = event["connection"]
            self.statements.append((id(connection), event["sql"].strip(), event["readonly"]))

    def begins(self):
        """How transactions were begun."""
        return Counter(sql for _, sql, _ in self.statements if sql.upper().startswith("BEGIN"))

    def outside(self):
        """Statements that write and were run outside a transaction."""
        found, open_on = [], set()
        for connection, sql, readonly in self.statements:
            word = sql.split()[0].upper()
            if word == "BEGIN":
                open_on.add(connection)
            elif word in ("COMMIT", "ROLLBACK") and " TO" not in sql.upper():
                open_on.discard(connection)
            elif not readonly and word != "PRAGMA" and connection not in open_on:
                found.append(sql)
        return found


@pytest.fixture
def trace():
    """Listens to every connection that the driver opens."""
    trace = Trace()
    apsw.connection_hooks.append(trace)
    yield trace
    apsw.connection_hooks.remove(trace)


def everything(path, wrap=plain):
    """A store, migrated and used by every operation, with reads, a nested transaction and a refusal that rolls back."""
    subject = StoreSubject(WrappedEngine(SqliteEngine(path), wrap))
    for run_id in ("r", "s", "t"):
        subject.create(run_id, "{}")
    subject.create("r", "{}")
    subject.claim("r", tenure.PENDING, A, T0)
    subject.activate("r", A, T0, tenure.PENDING)
    subject.claim_and_own("s", tenure.PENDING, A, T0)
    for method in (subject.heartbeat, subject.reconfirm, subject.request_cancel_lineage):
        method("r", *([A] if method is not subject.request_cancel_lineage else []), T0)
    subject.request_cancel("s", T0)
    subject.acknowledge_cancel("s", A, T0)
    subject.clock_ms = NOW
    subject.steal("r", subject.get("r"), B, NOW, expired(A, NOW))
    subject.abandon_claim("r", B, NOW)
    subject.claim("t", tenure.PENDING, B, T0)
    subject.recover_claim("t", B, T0, A, NOW, expired(B, NOW))
    subject.lineage("r")
    subject.latest_round("r")
    with subject.store.transaction():
        subject.transition_owned("r", A, "completed")
        subject.get("r")
    subject.alter("DELETE FROM flows_consensus_leases")
    subject.heartbeat("s", A, NOW)
    subject.transition_owned("s", A, "failed")
    return subject


def transactions_are_immediate(trace):
    """Every transaction takes the write lock when it begins, and nothing is written outside one."""
    assert set(trace.begins()) == {"BEGIN IMMEDIATE"}
    assert trace.begins()["BEGIN IMMEDIATE"] > 15
    assert trace.outside() == []


def settings_are_safe(trace):
    """Each connection has what durability and integrity rest on."""
    wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 5_000}
    for connection in trace.connections:
        assert {pragma: connection.pragma(pragma) for pragma in wanted} == wanted
        assert connection.pragma("ignore_check_constraints") == 0


def test_br_52_every_write_transaction_is_immediate(tmp_path, trace):
    """BR-52: from migration to the last operation, no transaction reads first and asks for the lock later."""
    everything(str(tmp_path / "runs.db")).close()

    transactions_are_immediate(trace)


def test_br_52_every_connection_has_the_settings(tmp_path, trace):
    """BR-52: WAL, synchronous=FULL, foreign keys and 5 s of busy timeout on the writer and on every reader."""
    subject = everything(str(tmp_path / "runs.db"))

    assert len(trace.connections) == 2
    settings_are_safe(trace)
    assert [connection.pragma("query_only") for connection in trace.connections] == [0, 1]
    subject.close()


class Deferred(PassThrough):
    """Begins without the lock."""

    def begin(self):
        self.inner.rows("BEGIN")


class Autocommit(PassThrough):
    """Begins nothing: every statement commits by itself."""

    def begin(self):
        pass

    def commit(self):
        pass


@pytest.mark.parametrize("wrap", [Deferred, Autocommit])
def test_br_52_kills_other_transactions(tmp_path, trace, wrap):
    """BR-52: deferred transactions, and none at all, are found."""
    everything(str(tmp_path / "runs.db"), wrap).close()

    with pytest.raises(AssertionError):
        transactions_are_immediate(trace)


@pytest.mark.parametrize("pragma", ["synchronous = NORMAL", "foreign_keys = OFF", "busy_timeout = 0"])
def test_br_52_kills_other_settings(tmp_path, trace, pragma):
    """BR-52: one weaker setting on any connection is found."""

    def weaker(connection):
        connection.rows(f"PRAGMA {pragma}")
        return connection

    subject = everything(str(tmp_path / "runs.db"), weaker)
    with pytest.raises(AssertionError):
        settings_are_safe(trace)
    subject.close()

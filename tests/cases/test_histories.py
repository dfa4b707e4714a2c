"""Sequences, compaction, duplicates and publication: histories that lost, repeated or reordered what they held."""

import itertools
import subprocess
import sys

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tenure.database.sqlite import SqliteEngine
from tenure.port import JournalStoreSystem
from tenure_model.vocabulary.journal import Accepted, Duplicate
from tests.differential.choice import RandomChooser, pick

OPTIONS = {"capacity": 8, "overflow": "reject", "batchSize": 2}
A = tenure.OwnerId("h1", 1, "a")
B = tenure.OwnerId("h2", 2, "b")


def event(payload=None, *, source_seq=tenure.ABSENT, source="p", event_type="e", run="r"):
    """An input, numbered or not."""
    return tenure.JournalInput(run, source, event_type, payload, source_seq=source_seq)


def owned(store, owner=A, now_ms=0):
    """A run that ``owner`` has."""
    store.runs.create("r", "{}")
    assert store.runs.claim_and_own("r", tenure.PENDING, owner, now_ms) == tenure.Activated()


def all_seqs(store):
    """Every committed number of the run."""
    return [entry.seq for entry in store.journal.entries("r", limit=10_000).entries]


def rolled_back(store, body):
    """Run ``body`` in a transaction that then fails."""

    def fail():
        body()
        raise RuntimeError("taken back")

    with pytest.raises(RuntimeError, match="taken back"):
        store.write(fail)


class PrefixReader:
    """Sees the run again and again, and objects to what appears at or below what it has seen."""

    def __init__(self):
        self.tail = -1

    def look(self, seqs):
        """One look at all committed numbers."""
        fresh = [seq for seq in seqs if seq not in self.seen] if self.tail >= 0 else list(seqs)
        assert all(seq > self.tail for seq in fresh), f"{fresh} appeared at or below {self.tail}"
        self.seen = list(seqs)
        self.tail = max(seqs, default=-1)


STEPS = (
    ("journal.emitLossy", {"input": {"runId": "r", "sourceId": "p", "eventType": "e", "payload": 1}}),
    ("journal.emitDurableUnfenced", {"input": {"runId": "r", "sourceId": "q", "eventType": "e", "payload": 1}}),
    ("writer.take", {}),
    ("writer.write", {}),
    ("writer.settle", {}),
    ("session.begin", None),
    ("session.commit", None),
    ("session.rollback", None),
)


@pytest.mark.parametrize("seed", range(6))
def test_br_43_a_reader_never_misses_a_lower_number(seed):
    """BR-43: two connections, their writers and transactions in any order; nothing ever appears below what was seen."""
    chooser, reader = RandomChooser(seed), PrefixReader()
    sessions = ("s0", "s1")
    system = JournalStoreSystem.on_file((*sessions, "reader"))
    try:
        for session in sessions:
            system.call(session, "journal.open", {"options": OPTIONS}, 0)
        for _ in range(500):
            session = pick(chooser, sessions)
            operation, arguments = pick(chooser, STEPS)
            if arguments is None:
                system.control(session, operation)
            else:
                system.call(session, operation, arguments, 0)
            reader.look([row[0] for row in system.journal("reader").events.get("r", ())])
    finally:
        system.close()

    assert reader.tail > 5


def test_br_43_mutant_a_number_that_appears_late_is_noticed():
    """BR-43: a history that commits 1 after 2 was seen does not pass."""
    reader = PrefixReader()
    reader.look([0, 2])

    with pytest.raises(AssertionError, match="appeared"):
        reader.look([0, 1, 2])


def test_br_45_gaps_are_never_waited_for():
    """BR-45: refused, dropped and repeated emits leave gaps; pages and streams pass over them at once."""
    with tenure.open(":memory:", journal={"capacity": 1, "overflow": "drop-newest"}) as store:
        owned(store)
        journal = store.journal
        journal.emit_durable(event(0, source_seq=0), A)
        for _ in range(3):
            assert isinstance(journal.emit_durable(event(0, source_seq=0), A), tenure.Duplicate)
        with pytest.raises(tenure.JournalError, match="no longer owned"):
            journal.emit_durable(event(1, source_seq=1), B)
        rolled_back(store, lambda: journal.emit_durable(event(2, source_seq=2), A))
        journal.emit_durable(event(3, source_seq=3), A)
        stream = journal.stream("r")
        seqs = all_seqs(store)

        assert [next(stream).seq, next(stream).seq] == seqs
        assert seqs[1] - seqs[0] > 4


def test_br_46_two_processes_append_to_one_run(tmp_path):
    """BR-46: both get through, with distinct numbers, and neither ever hears of a busy database."""
    path = tmp_path / "runs.db"
    tenure.migrate(path)
    program = (
        "import sys, tenure\n"
        "with tenure.open(sys.argv[1], journal={'capacity': 8, 'overflow': 'reject'}) as store:\n"
        "    for n in range(60):\n"
        "        store.journal.emit_durable_unfenced(tenure.JournalInput('r', sys.argv[2], 'e', n))\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", program, str(path), name]) for name in ("p", "q")]
    codes = [process.wait(timeout=120) for process in both]
    with tenure.open(path, journal=OPTIONS) as store:
        entries = store.journal.entries("r", limit=1_000).entries

    assert codes == [0, 0]
    assert len({entry.seq for entry in entries}) == 120
    assert [entry.payload for entry in entries if entry.source_id == "p"] == list(range(60))


class FailingConnection:
    """A connection whose storage fails at one statement, counted from when it is armed."""

    def __init__(self, connection, engine):
        self._connection, self._engine = connection, engine

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def rows(self, sql, bindings=(), /):
        """Run a statement, unless it is the one."""
        self._engine.count()
        return self._connection.rows(sql, bindings)

    def commit(self):
        """Commit, unless it is the one."""
        self._engine.count()
        self._connection.commit()


class FailingEngine:
    """An engine whose storage fails at the ``left``-th statement of its writer."""

    def __init__(self, path):
        self._engine = SqliteEngine(str(path))
        self.left = None

    concurrent_reads = True

    def connect(self, *, read_only=False):
        """A connection that can fail."""
        connection = self._engine.connect(read_only=read_only)
        return connection if read_only else FailingConnection(connection, self)

    def count(self):
        """One more statement."""
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise DatabaseError("io", "made to fail")


def compacted_run(path):
    """Six entries and a checkpoint at the last, ready to be compacted."""
    with tenure.open(path, clock=lambda: 0, journal=OPTIONS) as store:
        owned(store)
        for number in range(6):
            store.journal.emit_durable(event(number), A)
        store.journal.checkpoint("r", 5, {"upTo": 5}, A)


def test_br_47_a_compaction_that_breaks_anywhere_has_not_happened(tmp_path):
    """BR-47: at whichever statement it fails, history and floor are as before, and no number is ever given again."""
    for number in itertools.count():
        path = tmp_path / f"{number}.db"
        compacted_run(path)
        engine = FailingEngine(path)
        with tenure.open(engine, clock=lambda: 0, journal=OPTIONS) as store:
            engine.left = number
            try:
                store.journal.compact("r", A)
            except tenure.JournalError:
                broke = True
            else:
                broke = False
            engine.left = None
        with tenure.open(path, clock=lambda: 0, journal=OPTIONS) as store:
            if not broke:
                break
            assert all_seqs(store) == [0, 1, 2, 3, 4, 5]
            assert store.journal.emit_durable(event("next"), A).seq == 6

    assert number > 5


def test_br_47_readers_around_the_floor(tmp_path):
    """BR-47: below the floor a reader is refused, at it and above it misses nothing; the tail is never reused."""
    path = tmp_path / "runs.db"
    compacted_run(path)
    with tenure.open(path, clock=lambda: 0, journal=OPTIONS) as store:
        store.journal.compact("r", A)
    with tenure.open(path, clock=lambda: 0, journal=OPTIONS) as store:
        receipt = store.journal.emit_durable(event("after"), A)
        with pytest.raises(tenure.JournalError) as refused:
            store.journal.entries("r", after=3, limit=9)
        around = [[e.seq for e in store.journal.entries("r", after=after, limit=9).entries] for after in (4, 5, 6)]
        with pytest.raises(tenure.JournalError) as stream_refused:
            next(store.journal.stream("r", after_sequence=3))

    assert receipt.seq == 6
    assert (refused.value.code, refused.value.checkpoint_seq) == ("compacted", 5)
    assert stream_refused.value.code == "compacted"
    assert around == [[5, 6], [6], []]


def test_br_50_a_repeated_event_is_one_row(tmp_path):
    """BR-50: over restart, channels and states, a repeated identity is a duplicate with the original number."""
    path = tmp_path / "runs.db"
    with tenure.open(path, journal=OPTIONS) as store:
        first = store.journal.emit_durable_unfenced(event(1, source_seq=7))
        again = store.journal.emit_durable_unfenced(event(1, source_seq=7))
        lossy = store.journal.emit_lossy(event(1, source_seq=7))
        queued = store.journal.emit_lossy(event(2, source_seq=8))
        store.journal.flush()
        settled = store.journal.emit_lossy(event(2, source_seq=8))
    with tenure.open(path, journal=OPTIONS | {"sourceEventCache": 1}) as store:
        restarted = store.journal.emit_durable_unfenced(event(1, source_seq=7))
        store.journal.emit_lossy(event(1, source_seq=7))
        store.journal.flush()
        rows = store.journal.entries("r", limit=9).entries

    assert again == restarted == Duplicate(first.seq, 7, "committed")
    assert lossy == Duplicate(first.seq, 7, "committed")
    assert isinstance(queued, Accepted)
    assert settled == Duplicate(rows[1].seq, 8, "committed")
    assert [entry.source_seq for entry in rows] == [7, 8]


def test_br_50_overlapping_batches_are_all_or_nothing():
    """BR-50: {1, 3, 7} and then {2, 7, 14}: with equal content each is one row, with other content the batch is not."""
    with tenure.open(":memory:", journal=OPTIONS) as store:
        journal = store.journal

        def batch(numbers, payload):
            return journal.transact(
                lambda: [journal.emit_durable_unfenced(event(payload, source_seq=n)) for n in numbers]
            )

        batch((1, 3, 7), "x")
        second = batch((2, 7, 14), "x")
        with pytest.raises(tenure.JournalError, match="different content"):
            batch((20, 7, 21), "y")
        stored = [entry.source_seq for entry in journal.entries("r", limit=99).entries]

    assert [type(receipt) for receipt in second] == [Accepted, Duplicate, Accepted]
    assert sorted(stored) == [1, 2, 3, 7, 14]


@pytest.mark.parametrize("changed", [{"payload": 2}, {"event_type": "other"}, {"payload": None}])
def test_br_51_another_content_under_a_used_identity_is_a_conflict(changed):
    """BR-51: never a duplicate, on either channel, compacted or not; what stands is not touched."""
    other = {"payload": 1, "event_type": "e"} | changed
    with tenure.open(":memory:", clock=lambda: 0, journal=OPTIONS) as store:
        owned(store)
        journal = store.journal
        journal.emit_durable(event(1, source_seq=0), A)
        journal.emit_durable(event("tail"), A)
        conflicts = []
        for compact in (False, True):
            if compact:
                journal.checkpoint("r", all_seqs(store)[-1], {}, A)
                journal.compact("r", A)
            with pytest.raises(tenure.JournalError) as durable:
                journal.emit_durable(event(other["payload"], event_type=other["event_type"], source_seq=0), A)
            conflicts.append(durable.value.code)
        standing = journal.emit_durable(event(1, source_seq=0), A)

    assert conflicts == ["idempotency_conflict"] * 2
    assert standing == Duplicate(0, 0, "committed")


def test_br_51_an_attempt_is_the_same_only_if_equal():
    """BR-51: a repeated put with another value is a conflict, with an equal one, however spelled, the same."""
    with tenure.open(":memory:", clock=lambda: 0) as store:
        owned(store)
        put = store.attempts.put
        attempt = tenure.Attempt("r", "s", 1, "running", 0, {"a": 1, "b": [2]})
        answers = [
            put(attempt, A),
            put(tenure.Attempt("r", "s", 1, "running", 0, {"b": [2.0], "a": 1.0}), A),
            put(tenure.Attempt("r", "s", 1, "running", 0, {"a": True, "b": [2]}), A),
        ]

    assert answers == [tenure.Inserted(), tenure.ExistingSame(), tenure.Conflict()]


def test_br_08_a_paused_owner_cannot_append():
    """BR-08: after a takeover the old owner's entry is refused before any duplicate is looked up, and leaves no row."""
    clock = [0]
    with tenure.open(":memory:", clock=lambda: clock[0], journal=OPTIONS) as store:
        owned(store)
        store.journal.emit_durable(event(1, source_seq=0), A)
        clock[0] = 30_001
        evidence = tenure.LivenessEvidence(A, 30_001, "lease-expired")
        row = store.runs.get("r")
        assert store.runs.claim_and_own("r", row, B, 30_001, evidence) == tenure.Activated()
        with pytest.raises(tenure.JournalError) as fresh:
            store.journal.emit_durable(event(2, source_seq=1), A)
        with pytest.raises(tenure.JournalError) as repeated:
            store.journal.emit_durable(event(1, source_seq=0), A)
        seqs = all_seqs(store)
        store.journal.emit_durable(event(3, source_seq=1), B)

        assert fresh.value.code == repeated.value.code == "fence_lost"
        assert seqs == [0]
        assert all_seqs(store)[-1] > 0


def test_br_52_publication_never_precedes_the_commit():
    """BR-52: inside a transaction nothing is published; a rollback publishes nothing, a commit everything, in order."""
    with tenure.open(":memory:", journal=OPTIONS) as store:
        changes = store.journal.changes()
        with store.transaction():
            store.journal.emit_durable_unfenced(event(1))
            inside = changes.take()
            rolled_back(store, lambda: store.journal.emit_durable_unfenced(event(2)))
            store.journal.emit_durable_unfenced(event(3))
        committed = changes.take()

    assert inside == []
    assert [entry.payload for entry in committed] == [1, 3]

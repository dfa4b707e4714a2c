"""The projection of attempts against the rows of a real store: `tenure.events.projection`."""

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import attrs
import pytest

import tenure
from tenure import events
from tenure_model.admission.engine_events.rows import tells_row
from tests.engine_events.histories import COUNTS, Write, interleaved
from tests.engine_events.support import CONSUMER, ROOT_LINEAGE

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 120
"""Never reached unless something hangs."""

NOW = 1_000_000
ME = tenure.OwnerId("host", 1, "nonce")
OTHER = tenure.OwnerId("host", 2, "other")
OPTIONS = tenure.JournalOptions(capacity=64, overflow="reject")
ATTEMPTS = tenure.AttemptOptions(in_progress_states=("running", "suspended"), put_mode="upsert")

WRITE_AND_DIE = """
import os, signal, sys, tenure
from tests.engine_events.test_rebuilding import CONSUMER, ME, claimed, events, interleaved, opened, perform, record
path, count, compacted_at, dies_at = sys.argv[1], *map(int, sys.argv[2:])
store = opened(path)
claimed(store)
for number, write in enumerate(interleaved(count)):
    if number == compacted_at:
        events.compact_attempts(store.journal, CONSUMER, ME)
        projection = events.rebuild_attempts(store.journal, CONSUMER)
        del projection
    if number == dies_at:
        with store.transaction():
            perform(store, write)
            os.kill(os.getpid(), signal.SIGKILL)
    record(store, write, number)
"""


def opened(path: str) -> tenure.Store:
    """A store with a journal and attempts that may be overwritten while they are in progress."""
    return tenure.open(path, clock=lambda: NOW, journal=OPTIONS, attempts=ATTEMPTS)


def claimed(store: tenure.Store) -> None:
    """The run, owned."""
    store.runs.create("run-1", "{}")
    assert store.runs.claim_and_own("run-1", tenure.PENDING, ME, NOW) == tenure.Activated()


def perform(store: tenure.Store, write: Write) -> None:
    """The write by the store's own operation, which must take it."""
    row = write.row
    match write.operation:
        case "put":
            assert isinstance(store.attempts.put(row, ME), tenure.Inserted | tenure.Upserted)
        case "heartbeat":
            assert row.heartbeat_at_ms is not tenure.ABSENT
            beat = store.attempts.heartbeat(
                row.run_id, row.step_key_digest, row.attempt, ME, row.heartbeat_at_ms, row.checkpoint
            )
            assert beat == tenure.Updated()
        case "finish":
            assert row.finished_at_ms is not tenure.ABSENT
            ending = tenure.FinishAttempt(
                *(row.run_id, row.step_key_digest, row.attempt, row.state, row.finished_at_ms, row.error, row.outcome)
            )
            assert store.attempts.finish(ending, ME) == tenure.Finished()
        case "patch":
            changes = tenure.AttemptPatch(row.checkpoint, row.error, row.outcome, row.meta)
            assert store.attempts.patch(row, changes, ME) == tenure.Patched()


def record(store: tenure.Store, write: Write, number: int) -> None:
    """The write and the event about what is then stored, in one transaction; nothing of either where it is refused."""
    before = store.attempts.get(write.row)
    refused: str | None = None
    try:
        with store.transaction():
            perform(store, write)
            written = store.attempts.get(write.row)
            assert written == write.row
            payload = events.attempt_payload(written, ROOT_LINEAGE, before)
            store.journal.emit_durable(events.attempt(payload, "engine", number), ME)
    except events.EventError as error:
        refused = error.code
    assert refused == write.refused
    assert store.attempts.get(write.row) == (before if refused else write.row)


def row_count(store: tenure.Store) -> object:
    """How many attempts the store has."""
    return store.database.read("SELECT count(*) FROM flows_attempts")[0][0]


def mistold(store: tenure.Store, projection: events.AttemptProjection) -> list[object]:
    """The projected attempts that differ from their rows; the rows must be as many."""
    assert row_count(store) == len(projection.attempts)
    different: list[object] = []
    for (digest, attempt), projected in projection.attempts.items():
        row = store.attempts.get(tenure.AttemptId("run-1", digest, attempt))
        if row is None or not tells_row(projected, row):
            different.append((projected, row))
    return different


@pytest.fixture
def store() -> Iterator[tenure.Store]:
    """An empty store in memory, its run owned."""
    with opened(":memory:") as store:
        claimed(store)
        yield store


def fill(store: tenure.Store, writes: Iterable[Write], start: int = 0) -> None:
    """Every write, numbered."""
    for number, write in enumerate(writes, start):
        record(store, write, number)


def told_count(writes: Iterable[Write]) -> int:
    """How many of the writes are told."""
    return sum(write.refused is None for write in writes)


@pytest.mark.parametrize("count", COUNTS)
def test_history_and_snapshot_with_suffix_equal_the_rows(store: tenure.Store, count: int) -> None:
    """Before compaction, after it, and with a suffix above it; compacting deletes all entries but the last."""
    writes = list(interleaved(count))
    cut = len(writes) // 2
    fill(store, writes[:cut])
    whole = events.rebuild_attempts(store.journal, CONSUMER)
    assert mistold(store, whole) == []

    result = events.compact_attempts(store.journal, CONSUMER, ME)
    compacted = events.rebuild_attempts(store.journal, CONSUMER)
    fill(store, writes[cut:], cut)
    continued = events.rebuild_attempts(store.journal, CONSUMER)

    assert (result.checkpoint_seq, result.deleted) == (whole.covering_seq, told_count(writes[:cut]) - 1)
    assert compacted == whole
    assert mistold(store, continued) == []
    assert len(continued.attempts) == count


def test_compacting_again_deletes_nothing(store: tenure.Store) -> None:
    """And keeps the snapshot."""
    fill(store, interleaved(2))
    first = events.compact_attempts(store.journal, CONSUMER, ME)
    checkpoint = store.journal.latest_checkpoint("run-1")

    again = events.compact_attempts(store.journal, CONSUMER, ME)

    assert again == attrs.evolve(first, deleted=0)
    assert store.journal.latest_checkpoint("run-1") == checkpoint


def foreign(state: dict[str, object]) -> dict[str, object]:
    """The snapshot with a row of another run."""
    rows = state["rows"]
    assert isinstance(rows, list)
    return {**state, "rows": [{**rows[0], "runId": "run-2"}]}


def doubled(state: dict[str, object]) -> dict[str, object]:
    """The snapshot with a row twice."""
    rows = state["rows"]
    assert isinstance(rows, list)
    return {**state, "rows": [rows[0], rows[0]]}


def ahead(state: dict[str, object]) -> dict[str, object]:
    """The snapshot with a row that it does not cover."""
    rows = state["rows"]
    assert isinstance(rows, list)
    return {**state, "rows": [{**rows[0], "seq": 10_000}]}


def elsewhere(state: dict[str, object]) -> dict[str, object]:
    """The snapshot under another sequence than its own."""
    return {**state, "coveringSeq": 10_000}


@pytest.mark.parametrize(
    ("spoil", "code"),
    [(foreign, "foreign"), (doubled, "malformed"), (ahead, "malformed"), (elsewhere, "malformed")],
)
def test_a_snapshot_that_is_wrong_is_never_compacted_to(
    store: tenure.Store, spoil: Callable[[dict[str, object]], dict[str, object]], code: str
) -> None:
    """Nor read: every entry is still there (version 2)."""
    fill(store, interleaved(2))
    entries = store.journal.entries("run-1", limit=100).entries
    events.compact_attempts(store.journal, CONSUMER, ME)
    checkpoint = store.journal.latest_checkpoint("run-1")
    assert checkpoint is not None
    assert isinstance(checkpoint.state, dict)
    record(store, Write("put", tenure.Attempt("run-1", "digest-9", 0, "running", 5, None)), 99)
    seq = store.journal.entries("run-1", limit=100, after=entries[-1].seq).entries[-1].seq
    store.journal.checkpoint("run-1", seq, spoil({**checkpoint.state, "coveringSeq": seq}), ME)

    for use in (
        lambda: events.rebuild_attempts(store.journal, CONSUMER),
        lambda: events.compact_attempts(store.journal, CONSUMER, ME),
    ):
        with pytest.raises(events.EventError) as raised:
            use()

        assert raised.value.code == code
    assert store.journal.entries("run-1", limit=100, after=entries[-1].seq).entries != ()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE {table} SET state_json = json_set(state_json, '$.rows[0].startedAtMs', 777) WHERE seq = NEW.seq",
        "UPDATE {table} SET state_json = json_remove(state_json, '$.rows[0]') WHERE seq = NEW.seq",
        "UPDATE {table} SET state_json = '{{}}' WHERE seq = NEW.seq",
        "DELETE FROM {table} WHERE seq = NEW.seq",
    ],
    ids=["another start", "a row less", "no snapshot", "lost"],
)
def test_a_snapshot_that_was_stored_otherwise_is_not_compacted_to(store: tenure.Store, damage: str) -> None:
    """What is in the database has to say what was projected, before anything is deleted; it is not kept to be taken for
    a right one the next time.
    """
    fill(store, interleaved(2))
    whole = events.rebuild_attempts(store.journal, CONSUMER)
    entries = store.journal.entries("run-1", limit=100).entries
    statement = damage.format(table="flows_journal_checkpoints")
    trigger = f"CREATE TRIGGER damage AFTER INSERT ON flows_journal_checkpoints BEGIN {statement}; END"
    store.database.write(store.database.rows, trigger)

    for _ in range(2):
        with pytest.raises(events.EventError) as raised:
            events.compact_attempts(store.journal, CONSUMER, ME)

        assert raised.value.code == "malformed"
    assert store.journal.entries("run-1", limit=100).entries == entries
    assert store.journal.latest_checkpoint("run-1") is None
    assert events.rebuild_attempts(store.journal, CONSUMER) == whole


def test_only_the_owner_compacts(store: tenure.Store) -> None:
    """The fence is the journal's own; a projection restores none (JN-083)."""
    fill(store, interleaved(2))

    with pytest.raises(tenure.JournalError) as raised:
        events.compact_attempts(store.journal, CONSUMER, OTHER)

    assert raised.value.code == "fence_lost"
    assert store.journal.latest_checkpoint("run-1") is None


def test_a_history_without_attempts_is_not_compacted(store: tenure.Store) -> None:
    """There is no lineage to bind a snapshot to."""
    store.journal.emit_durable(tenure.JournalInput("run-1", "engine", "step.done", 1), ME)

    with pytest.raises(events.EventError) as raised:
        events.compact_attempts(store.journal, CONSUMER, ME)

    assert raised.value.code == "malformed"
    assert events.rebuild_attempts(store.journal, CONSUMER).covering_seq == 0


def test_a_row_that_events_cannot_tell_is_refused(store: tenure.Store) -> None:
    """With the transaction that would have written it (JN-354)."""
    record(store, Write("put", tenure.Attempt("run-1", "digest-1", 0, "waiting", 5, None), "malformed"), 0)

    assert row_count(store) == 0


def test_attempts_told_by_a_stranger_stop_the_projection(store: tenure.Store) -> None:
    """Which holds until a reader believes that source as well; nothing is deleted meanwhile (JN-359)."""
    fill(store, interleaved(2))
    stranger = events.AttemptPayload(ROOT_LINEAGE, "run-1", "digest-9", 0, events.AttemptRunning(5))
    store.journal.emit_durable_unfenced(events.attempt(stranger, "stranger", 0))
    entries = store.journal.entries("run-1", limit=100).entries

    for use in (
        lambda: events.rebuild_attempts(store.journal, CONSUMER),
        lambda: events.compact_attempts(store.journal, CONSUMER, ME),
    ):
        with pytest.raises(events.EventError) as raised:
            use()

        assert (raised.value.code, raised.value.cause) == ("foreign", entries[-1])
    believing = attrs.evolve(CONSUMER, sources={*CONSUMER.sources, "stranger"})
    assert ("digest-9", 0) in events.rebuild_attempts(store.journal, believing).attempts
    assert events.compact_attempts(store.journal, believing, ME).deleted == len(entries) - 1


def test_a_checkpoint_of_another_kind_stops_the_projection(store: tenure.Store) -> None:
    """It might stand for entries that are gone; a snapshot above it would not be trusted either."""
    fill(store, interleaved(2))
    entries = store.journal.entries("run-1", limit=100).entries
    store.journal.checkpoint("run-1", entries[0].seq, {"step": 3}, ME)

    for use in (
        lambda: events.rebuild_attempts(store.journal, CONSUMER),
        lambda: events.compact_attempts(store.journal, CONSUMER, ME),
    ):
        with pytest.raises(events.EventError) as raised:
            use()

        assert raised.value.code == "malformed"
    assert store.journal.entries("run-1", limit=100).entries == entries


def test_attempts_are_never_taken_for_each_other(store: tenure.Store) -> None:
    """One whose digest the journal would redact is refused with its row."""
    digests = ["sk-step00001", "sk-step00002", "digest-1"]
    rows = [tenure.Attempt("run-1", digest, 0, "running", 5, None) for digest in digests]

    fill(store, [Write("put", row, "malformed" if row.step_key_digest.startswith("sk") else None) for row in rows])

    assert list(events.rebuild_attempts(store.journal, CONSUMER).attempts) == [("digest-1", 0)]
    assert row_count(store) == 1


@pytest.mark.parametrize("count", [2, 70])
@pytest.mark.parametrize("seed", range(2))
def test_a_killed_process_leaves_what_can_be_rebuilt(tmp_path: Path, count: int, seed: int) -> None:
    """It drops its projection, is killed between a row and its event, and a fresh connection finds rows and history
    agreeing: the row without an event went with its transaction.
    """
    path = str(tmp_path / "runs.db")
    writes = list(interleaved(count))
    chance = random.Random(seed)
    compacted_at, dies_at = sorted(chance.sample(range(2, len(writes)), 2))

    died = subprocess.run(
        [sys.executable, "-c", WRITE_AND_DIE, path, *map(str, (count, compacted_at, dies_at))],
        check=False,
        timeout=PATIENCE_SECONDS,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with opened(path) as store:
        projection = events.rebuild_attempts(store.journal, CONSUMER)
        different = mistold(store, projection)
        floor = store.journal.latest_checkpoint("run-1")
        fill(store, writes[dies_at:], dies_at)
        finished = mistold(store, events.rebuild_attempts(store.journal, CONSUMER))

    assert died.returncode == -9
    assert floor is not None
    assert floor.compacted_at_ms is not None
    assert different == []
    assert finished == []
    assert projection.covering_seq == told_count(writes[:dies_at]) - 1

"""Tests of construction: options, the table of generations, what is remembered of the newest rows."""

from typing import Any

import pytest

import tenure
from tenure.database.engine import DatabaseError
from tenure.journal.statements import NEWEST
from tests.database.support import Faults, FaultyEngine
from tests.journal.support import NOW, World, new_world, refused
from tests.runs.support import Recorder


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"capacity": 0}, "capacity must be a positive safe integer"),
        ({"capacity": True}, "capacity must be a positive safe integer"),
        ({"batch_size": 0, "source_event_cache": 0}, "batchSize must be a positive safe integer"),
        ({"source_event_cache": 1.5, "max_entry_bytes": 0}, "sourceEventCache must be a positive safe integer"),
        ({"max_entry_bytes": 2**53}, "maxEntryBytes must be a positive safe integer"),
        (
            {"compaction": tenure.CompactionPolicy(0, lambda run_id, seq: None)},
            "compaction.entryThreshold must be a positive safe integer",
        ),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], text: str) -> None:
    """The first one in the order of JN-150."""
    error = refused(lambda: new_world(**options))

    assert (error.code, error.text) == ("invalid_event", text)


def test_options_may_come_in_wire_form() -> None:
    """An exact dict under the wire's names."""
    with tenure.open(":memory:", journal={"capacity": 8, "overflow": "drop-oldest", "batchSize": 3}) as store:
        settings = store.journal.instance.settings

    assert (settings.capacity, settings.overflow, settings.batch_size) == (8, "drop-oldest", 3)
    assert settings.source_event_cache == 4_096


@pytest.mark.parametrize(("capacity", "batch_size"), [(10, 10), (1_000, 64)])
def test_a_batch_is_64_entries_or_the_capacity(capacity: int, batch_size: int) -> None:
    """JN-150."""
    world = new_world(capacity=capacity)

    assert world.instance.settings.batch_size == batch_size
    world.store.close()


def test_the_newest_rows_are_remembered_as_committed(on_file: World) -> None:
    """The oldest first, by time, run and seq; floors start out empty (JN-152)."""
    for offset, run_id in ((2, "a"), (0, "b"), (1, "b"), (1, "a"), (3, "a")):
        on_file.clock.ms = NOW + offset
        on_file.durable(run_id=run_id)
    other = on_file.reopened(source_event_cache=4)
    remembered = [(identity[0], found.seq, status) for identity, found, status in other.instance.cache.items()]
    floors = dict(other.instance.floors.seq)
    duplicate = other.lossy(run_id="a", source_seq=0)
    miss = other.lossy(run_id="b", source_seq=0)
    other.store.close()

    assert remembered == [
        ("a", 1, "committed"),
        ("b", 1, "committed"),
        ("a", 0, "committed"),
        ("a", 2, "committed"),
    ]
    assert floors == {}
    assert duplicate == tenure.Duplicate(0, 0, "committed")
    assert miss == tenure.Accepted(2, 0)


def test_start_up_reads_no_history(on_file: World) -> None:
    """One walk along an index, and no aggregate (JN-152)."""
    plan = on_file.rows(f"EXPLAIN QUERY PLAN {NEWEST}", 10)

    assert [row[3] for row in plan] == ["SCAN flows_journal_events USING INDEX flows_journal_events_startup_idx"]


@pytest.mark.parametrize("damage", ["payload_json = '{'", "event_type = CAST(x'ff' AS TEXT)"])
def test_a_corrupt_row_in_the_window_prevents_opening(on_file: World, damage: str) -> None:
    """And one outside it does not (JN-152, HZ-30)."""
    on_file.durable()
    on_file.clock.ms += 1
    on_file.durable()
    on_file.corrupt(f"UPDATE flows_journal_events SET {damage} WHERE seq = 0")
    error = refused(on_file.reopened)
    outside = on_file.reopened(source_event_cache=1)
    outside.store.close()

    assert (error.code, error.text) == ("decode_failed", "could not decode a durable journal row")


@pytest.mark.parametrize(
    ("on", "code", "text"),
    [
        (
            "CREATE TABLE IF NOT EXISTS flows_journal_generations",
            "read_failed",
            "could not initialize journal generations",
        ),
        ("DESC LIMIT", "sink_failed", "could not initialize journal source events"),
    ],
)
def test_failing_storage_prevents_opening(on: str, code: str, text: str) -> None:
    """Nothing stays open behind (JN-151, JN-152)."""
    closed: list[str] = []

    def before(sql: str) -> None:
        if on in sql:
            closed.append(sql)
            raise DatabaseError("io")

    error = refused(
        lambda: tenure.open(
            FaultyEngine(":memory:", Faults(before)), journal=tenure.JournalOptions(capacity=1, overflow="reject")
        )
    )

    assert (error.code, error.text) == (code, text)
    assert len(closed) == 1


def test_the_table_of_generations_is_created_once(on_file: World) -> None:
    """With its bounds, and only by a journal (JN-151, JN-340)."""
    assert on_file.rows("SELECT count(*) FROM sqlite_schema WHERE name = 'flows_journal_generations'") == [(1,)]
    on_file.sql("INSERT INTO flows_journal_generations VALUES ('r', 1, -1)")
    on_file.reopened().store.close()

    assert on_file.rows("SELECT * FROM flows_journal_generations") == [("r", 1, -1)]
    for row in ("('', 1, 0)", "('x', 0, 0)", "('x', 1.5, 0)", "('x', 1, -2)", "('x', 1, NULL)"):
        with pytest.raises(DatabaseError):
            on_file.sql(f"INSERT INTO flows_journal_generations VALUES {row}")


def test_a_refused_journal_leaves_the_file_usable(on_file: World) -> None:
    """The database is closed again."""
    refused(lambda: on_file.reopened(capacity=-1))

    assert on_file.durable() == tenure.Accepted(0, 0)


def test_facts_may_go_elsewhere() -> None:
    """A recorder that is given is used instead of the journal."""
    recorder = Recorder()
    store = tenure.open(
        ":memory:",
        journal=tenure.JournalOptions(capacity=1, overflow="reject"),
        facts=lambda database: recorder,
    )
    store.runs.create("r", "{}")
    store.runs.claim("r", tenure.PENDING, tenure.OwnerId("h", 1, "n"), store.now())

    assert [fact.transition for fact in recorder.facts] == ["claimed"]
    assert store.database.read("SELECT count(*) FROM flows_journal_events") == [(0,)]
    store.close()

"""Tests of the migration pass: fresh, older, interrupted, newer."""

from pathlib import Path

import pytest

import tenure
from tenure.database.engine import DatabaseError, OpenError
from tenure.database.migrations import SETS, Migration, MigrationSet, migrate, pending
from tests.database.support import (
    ALL_IDS,
    IDENTITY,
    LEVELS,
    Faults,
    FaultyEngine,
    build,
    contents,
    open_database,
    query,
)

NAMES = [
    (1, "journal_initial"),
    (2, "journal_checkpoints"),
    (3, "journal_startup_index"),
    (4, "journal_dedup"),
    (5, "journal_run_event_type"),
    (6, "journal_consensus"),
    (1001, "run-store_initial"),
    (1002, "run-store_lineage"),
    (1003, "run-store_execution_revisions"),
    (1004, "run-store_waiting_request"),
]


def schema(path: Path) -> list[tuple[object, ...]]:
    """Tables, indexes and triggers, without the ledger."""
    return query(path, "SELECT type, name, sql FROM sqlite_schema WHERE name <> 'flows_migrations' ORDER BY type, name")


def test_fresh_database(tmp_path: Path) -> None:
    """A fresh database gets all ten, in order; a second pass gets none (RS-140, RS-141, JN-001, JN-003)."""
    path = tmp_path / "runs.db"

    first, second = tenure.migrate(path), tenure.migrate(path)

    assert first == NAMES
    assert second == []
    assert query(path, "SELECT migration_id, name FROM flows_migrations ORDER BY 1") == NAMES


def test_opening_migrates(tmp_path: Path) -> None:
    """Opening a store does the same pass."""
    path = tmp_path / "runs.db"
    tenure.open(path).close()

    assert tenure.migrate(path) == []


def test_ledger_keeps_the_time(tmp_path: Path) -> None:
    """The ledger says when, by the injected clock."""
    path = tmp_path / "runs.db"
    tenure.migrate(path, clock=lambda: 1_000_000_000_999.9)

    assert query(path, "SELECT DISTINCT created_at FROM flows_migrations") == [("2001-09-09 01:46:40",)]


@pytest.mark.parametrize("edge", [-210_866_760_000_000, 253_402_300_799_999])
def test_times_that_the_ledger_cannot_date(tmp_path: Path, edge: int) -> None:
    """Just beyond the first or last date that SQLite has, the parameter is named and nothing is written."""
    outside = edge - 1 if edge < 0 else edge + 1
    for reading in (outside, float(outside), 10**5_000 * outside):
        for call in (tenure.open, tenure.migrate):
            with pytest.raises(tenure.UsageError, match=r"^clock must .* within the years -4713 to 9999 when"):
                call(tmp_path / "runs.db", clock=lambda reading=reading: reading)

    assert query(tmp_path / "runs.db", "SELECT name FROM sqlite_schema") == []
    assert len(tenure.migrate(tmp_path / "runs.db", clock=lambda: edge)) == 10


def test_any_time_will_do_where_nothing_is_migrated(tmp_path: Path) -> None:
    """What has nothing left to date is opened by any clock."""
    tenure.migrate(tmp_path / "runs.db")

    assert tenure.migrate(tmp_path / "runs.db", clock=lambda: 2**53) == []


def test_tables(tmp_path: Path) -> None:
    """Exactly the tables of the rules come to be (JN-004, RS-100..RS-130)."""
    path = tmp_path / "runs.db"
    tenure.migrate(path)

    assert query(path, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'flows%' ORDER BY name") == [
        ("flows_attempts",),
        ("flows_consensus_leases",),
        ("flows_journal_checkpoints",),
        ("flows_journal_dedup",),
        ("flows_journal_events",),
        ("flows_migrations",),
        ("flows_run_changes",),
        ("flows_run_source",),
        ("flows_runs",),
    ]


@pytest.mark.parametrize("level", range(len(ALL_IDS) + 1))
def test_upgrade_from_every_level(tmp_path: Path, level: int) -> None:
    """A database of any older level is brought to the very schema of a fresh one."""
    old, fresh = tmp_path / "old.db", tmp_path / "fresh.db"
    build(old, ALL_IDS[:level])
    tenure.migrate(fresh)

    applied = tenure.migrate(old)

    assert applied == NAMES[level:]
    assert schema(old) == schema(fresh)


@pytest.mark.parametrize("journal", range(1, 6))
def test_journal_is_upgraded_below_the_run_store(tmp_path: Path, journal: int) -> None:
    """Journal migrations that came later are appended although higher ids are recorded (JN-003, RS-147)."""
    path = tmp_path / "runs.db"
    build(path, [*range(1, journal + 1), 1001, 1002])

    applied = tenure.migrate(path)

    assert [number for number, _ in applied] == [*range(journal + 1, 7), 1003, 1004]


OLD_RUNS = """
    INSERT INTO flows_runs (run_id, status, created_at_ms, state_json) VALUES ('z', 'pending', 5, '{}');
    INSERT INTO flows_runs (run_id, status, created_at_ms, state_json,
        owner_host_id, owner_pid, owner_nonce, heartbeat_at_ms)
      VALUES ('r', 'running', 7, '{}', 'h', 1, 'n', 70);
    INSERT INTO flows_runs (run_id, status, created_at_ms, state_json,
        claim_host_id, claim_pid, claim_nonce, claimed_at_ms)
      VALUES ('c', 'suspended', 7, '{}', 'g', 2, 'm', 60);
    INSERT INTO flows_runs (run_id, status, created_at_ms, state_json,
        owner_host_id, owner_pid, owner_nonce, heartbeat_at_ms, claim_host_id, claim_pid, claim_nonce, claimed_at_ms)
      VALUES ('b', 'running', 3, '{}', 'h', 1, 'n', 80, 'g', 2, 'm', 90);
    INSERT INTO flows_runs (run_id, status, created_at_ms, state_json, finished_at_ms)
      VALUES ('d', 'completed', 9, '{}', 10);
"""


def test_leases_are_backfilled(tmp_path: Path) -> None:
    """An owner or claimant from before the lease table gets its lease (RS-146, JN-013)."""
    path = tmp_path / "runs.db"
    build(path, [1, 2, 3, 4, 5, 1001, 1002], OLD_RUNS)

    tenure.migrate(path)

    assert query(path, "SELECT * FROM flows_consensus_leases ORDER BY run_id") == [
        ("b", "h", 1, "n", 80, 80, "g", 2, "m", 90),
        ("c", None, None, None, None, None, "g", 2, "m", 60),
        ("r", "h", 1, "n", 70, 70, None, None, None, None),
    ]


def test_backfilled_owner_keeps_its_fence(tmp_path: Path) -> None:
    """Such an owner goes on working, and once stale can be replaced (RS-146)."""
    path = tmp_path / "runs.db"
    build(path, [1, 2, 3, 4, 5, 1001, 1002], OLD_RUNS)
    owner, thief = tenure.OwnerId("h", 1, "n"), tenure.OwnerId("x", 1, "n")
    with tenure.open(path, clock=lambda: 100_000) as store:
        beat = store.runs.heartbeat("r", owner, 71)
        evidence = tenure.LivenessEvidence(owner, 100_000, "lease-expired")
        stolen = store.runs.steal("r", store.runs.get("r"), thief, 100_000, evidence)

    assert beat == tenure.Updated()
    assert stolen == tenure.Claimed(100_000)


def test_revisions_are_backfilled(tmp_path: Path) -> None:
    """Every old run gets a baseline revision by age, then id; the source stands at their number (RS-144)."""
    path = tmp_path / "runs.db"
    build(path, [1, 2, 3, 4, 5, 6, 1001, 1002], OLD_RUNS)

    tenure.migrate(path, identity=lambda: IDENTITY)

    assert query(path, "SELECT * FROM flows_run_changes ORDER BY revision") == [
        ("b", 1, 0),
        ("z", 2, 0),
        ("c", 3, 0),
        ("r", 4, 0),
        ("d", 5, 0),
    ]
    assert query(path, "SELECT * FROM flows_run_source") == [(1, IDENTITY, 5)]
    assert query(path, "SELECT DISTINCT cancel_acknowledgement_json, waiting_request, lineage_id FROM flows_runs") == [
        (None, None, None)
    ]


def test_identity_is_drawn_once(tmp_path: Path) -> None:
    """Every database has a source of its own, which survives reopening (RS-120, RS-167)."""
    first, second = tmp_path / "a.db", tmp_path / "b.db"
    sources = []
    for path in (first, second, first):
        tenure.open(path).close()
        sources.append(query(path, "SELECT source FROM flows_run_source")[0][0])

    assert sources[0] == sources[2]
    assert sources[0] != sources[1]


def test_lease_trigger_reaches_files_of_older_programs(tmp_path: Path) -> None:
    """A file that an older program took to the last level gets the trigger of R-3 all the same."""
    path = tmp_path / "runs.db"
    build(path, ALL_IDS, OLD_RUNS + "INSERT INTO flows_consensus_leases (run_id, owner_host_id) VALUES ('r', 'h')")

    applied = tenure.migrate(path)

    connection = query(path, "DELETE FROM flows_runs WHERE run_id = 'r' RETURNING 1")
    assert applied == []
    assert connection == [(1,)]
    assert query(path, "SELECT * FROM flows_consensus_leases") == []


class Interrupted(Exception):
    """What the interruptions of these tests raise."""


def statements_of_a_full_pass(path: Path) -> list[str]:
    """Everything a full pass does, in order."""
    seen: list[str] = []
    database = open_database(FaultyEngine(path, Faults(before=seen.append)))
    migrate(database, now_ms=0, identity=IDENTITY)
    database.close()
    return seen


def test_interruption_anywhere_leaves_whole_migrations(tmp_path: Path) -> None:
    """Wherever the pass is cut off, a migration and its ledger row are there or not together (RS-142)."""
    steps = len(statements_of_a_full_pass(tmp_path / "whole.db"))
    fresh = contents(tmp_path / "whole.db")
    levels = []
    for level in range(len(ALL_IDS) + 1):
        path = tmp_path / f"level{level}.db"
        build(path, ALL_IDS[:level])
        levels.append({name: rows for name, rows in contents(path).items() if name != "flows_migrations"})

    for cut in range(steps):
        path = tmp_path / f"cut{cut}.db"
        countdown = iter(range(cut))

        def before(sql: str, countdown: object = countdown) -> None:
            if next(countdown, None) is None:  # type: ignore[call-overload]  # an iterator
                raise Interrupted

        with pytest.raises(Interrupted):
            migrate(open_database(FaultyEngine(path, Faults(before=before))), now_ms=0, identity=IDENTITY)
        found = contents(path)
        recorded = len(found.pop("flows_migrations", []))
        without_ledger = [entry for entry in found["schema"] if "flows_migrations" not in str(entry[1])]
        expected = [entry for entry in levels[recorded]["schema"] if "flows_migrations" not in str(entry[1])]
        assert without_ledger == expected or recorded == len(ALL_IDS)

        resumed = tenure.migrate(path, clock=lambda: 0, identity=lambda: IDENTITY)
        assert resumed == NAMES[recorded:]
        assert contents(path) == fresh


def test_failing_migration_leaves_nothing(tmp_path: Path) -> None:
    """A migration that fails half way leaves neither its first half nor its ledger row (RS-142)."""
    path = tmp_path / "runs.db"
    build(path, [1, 2, 3, 4, 5, 6, 1001])
    before = contents(path)

    def fail_at_ordinal(sql: str) -> None:
        if "round_ordinal INTEGER" in sql:
            raise DatabaseError("io")

    with pytest.raises(DatabaseError):
        migrate(open_database(FaultyEngine(path, Faults(fail_at_ordinal))), now_ms=0, identity=IDENTITY)

    assert contents(path) == before


def ledger(*ids: int, **names: str) -> dict[int, str]:
    """A ledger with these ids under their own names, or the last under another."""
    known = {number: LEVELS[number].name if number in LEVELS else f"other_{number}" for number in ids}
    return {**known, **{int(number[1:]): name for number, name in names.items()}}


@pytest.mark.parametrize("number", [7, 999, 1000, 1005, 1999, 0])
def test_newer_database_is_refused(tmp_path: Path, number: int) -> None:
    """An unknown id in one of our blocks means a newer program: nothing is touched, and the error says so."""
    path = tmp_path / "runs.db"
    build(path, ALL_IDS)
    query(path, f"INSERT INTO flows_migrations VALUES ({number}, '', 'run-store_from_the_future')")
    before = contents(path)

    for attempt in (tenure.open, tenure.migrate):
        with pytest.raises(OpenError) as caught:
            attempt(path)
        assert caught.value.code == "schema"
        assert f"newer than this program: it has migration {number} (run-store_from_the_future)" in caught.value.text

    assert contents(path) == before


@pytest.mark.parametrize("others", [(2001,), (5000, 5001), (1_000_000,)])
def test_other_packages_ids_are_tolerated(others: tuple[int, ...]) -> None:
    """Ids in other blocks belong to other packages, and ours still go forward (JN-002, RS-147)."""
    missing = pending(ledger(1, 2, 3, 4, 5, 1001, *others))

    assert [member.id for member in missing] == [6, 1002, 1003, 1004]


@pytest.mark.parametrize(
    ("recorded", "complaint"),
    [
        (ledger(1, 3), "lacks migration 2 (journal_checkpoints) and has later ones"),
        (ledger(2), "lacks migration 1 (journal_initial) and has later ones"),
        (ledger(1, 2, 3, 4, 5, 6, 1001, 1003), "lacks migration 1002 (run-store_lineage) and has later ones"),
        (ledger(1001), "has no journal migrations, and others that must come after them"),
        (ledger(1, 2, 3, 4, 5, 6, 2001), "has no run-store migrations, and others that must come after them"),
        (ledger(1, _2="journal_consensus"), "records migration 2 as journal_consensus, not journal_checkpoints"),
    ],
)
def test_holes_are_refused(recorded: dict[int, str], complaint: str) -> None:
    """A gap inside a block, a new block below recorded ids, and a foreign name are refused (RS-147)."""
    with pytest.raises(OpenError) as caught:
        pending(recorded)

    assert complaint in caught.value.text


def test_missing_migrations_go_in_ascending_order() -> None:
    """Whatever the order of the sets, ids ascend."""
    missing = pending({}, tuple(reversed(SETS)))

    assert [member.id for member in missing] == ALL_IDS


def test_sets_keep_to_their_blocks() -> None:
    """Every id lies in its set's own block, and no two are the same (JN-002)."""
    for block in SETS:
        assert isinstance(block, MigrationSet)
        for member in block.members:
            assert isinstance(member, Migration)
            assert block.offset < member.id < block.offset + 1_000
    assert len({member.id for block in SETS for member in block.members}) == 10


def test_simultaneous_passes_apply_once(tmp_path: Path) -> None:
    """A pass that finds another one ahead of it applies only what is left, and answers only that."""
    path = tmp_path / "runs.db"
    applied: list[list[tuple[int, str]]] = []

    def before(sql: str) -> None:
        if sql == "BEGIN" and not applied:
            applied.append(tenure.migrate(path))

    late = migrate(open_database(FaultyEngine(path, Faults(before))), now_ms=0, identity=IDENTITY)

    assert applied == [NAMES]
    assert late == []

"""Tests of the tables themselves, through raw SQL: every CHECK, key, index and trigger."""

import itertools
from pathlib import Path

import apsw
import pytest

import tenure
from tests.database.support import IDENTITY, raw

MAX = 2**53 - 1


@pytest.fixture
def connection(tmp_path: Path) -> apsw.Connection:
    """A raw connection to a migrated database."""
    path = tmp_path / "runs.db"
    tenure.migrate(path, identity=lambda: IDENTITY)
    return raw(path)


def insert(connection: apsw.Connection, table: str, **columns: object) -> None:
    """Insert one row."""
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(columns.values()))


def accepts(connection: apsw.Connection, table: str, **columns: object) -> bool:
    """Whether the table takes this row; afterwards it is as before."""
    connection.execute("SAVEPOINT probe")
    try:
        insert(connection, table, **columns)
    except apsw.ConstraintError:
        return False
    finally:
        connection.execute("ROLLBACK TO probe; RELEASE probe")
    return True


RUN: dict[str, object] = {"run_id": "r", "status": "pending", "created_at_ms": 1, "state_json": "{}"}
OWNER = {"owner_host_id": "h", "owner_pid": 1, "owner_nonce": "n", "heartbeat_at_ms": 5}
CLAIM = {"claim_host_id": "h", "claim_pid": 1, "claim_nonce": "n", "claimed_at_ms": 5}
ATTEMPT: dict[str, object] = {
    "run_id": "r",
    "step_key_digest": "s",
    "attempt": 0,
    "state": "x",
    "started_at_ms": 0,
    "meta_json": "1",
}
EVENT: dict[str, object] = {
    "run_id": "r",
    "seq": 0,
    "event_id": "e",
    "source_id": "s",
    "source_seq": 0,
    "emitted_at_ms": 0,
    "event_type": "t",
    "payload_json": "1",
    "meta_json": "1",
}
CHECKPOINT: dict[str, object] = {"run_id": "r", "seq": 0, "state_json": "1", "created_at_ms": 0}
TOMBSTONE: dict[str, object] = {
    "run_id": "r",
    "source_id": "s",
    "source_seq": 0,
    "event_id": "e",
    "seq": 0,
    "content_hash": "0" * 64,
}
LEASE: dict[str, object] = {"run_id": "r"}
CHANGE: dict[str, object] = {"run_id": "r", "revision": 9, "deleted": 0}

TIMES = [0, MAX]
NO_TIMES = [-1, MAX + 1, 1.5, "x", b"1"]
TEXTS = ["a", "é", " "]
NO_TEXTS = ["", "\0", "\0a"]
JSON_TEXTS = ["{}", ' {"a": [1, null]} ', '"\\u0000"']
NO_JSON_TEXTS = ["", "{", "NaN", "{'a': 1}"]

# table, a good row, column, values it takes, values it does not; None among them says whether it may be null
COLUMNS = [
    ("flows_runs", RUN, "run_id", TEXTS, [*NO_TEXTS, None]),
    (
        "flows_runs",
        RUN,
        "status",
        ["pending", "suspended", "completed", "failed", "cancelled"],
        ["", "done", b"pending", None],
    ),
    ("flows_runs", RUN, "created_at_ms", TIMES, [*NO_TIMES, None]),
    ("flows_runs", RUN, "started_at_ms", [*TIMES, None], NO_TIMES),
    ("flows_runs", RUN, "finished_at_ms", [*TIMES, None], NO_TIMES),
    ("flows_runs", RUN, "parent_run_id", ["parent", "r", None], [*NO_TEXTS, "missing"]),
    ("flows_runs", RUN, "cancel_requested_at_ms", [*TIMES, None], NO_TIMES),
    ("flows_runs", RUN, "waiting_reason", [*TEXTS, None], NO_TEXTS),
    ("flows_runs", RUN, "waiting_wake_at_ms", [None], [0, MAX]),
    ("flows_runs", RUN, "waiting_token", [None], ["a"]),
    ("flows_runs", {**RUN, "waiting_reason": "w"}, "waiting_wake_at_ms", [*TIMES, None], NO_TIMES),
    ("flows_runs", {**RUN, "waiting_reason": "w"}, "waiting_token", [*TEXTS, None], NO_TEXTS),
    ("flows_runs", RUN, "waiting_request", [*JSON_TEXTS, None], NO_JSON_TEXTS),
    ("flows_runs", RUN, "state_json", JSON_TEXTS, [*NO_JSON_TEXTS, None]),
    ("flows_runs", RUN, "lineage_id", [*TEXTS, None], NO_TEXTS),
    ("flows_runs", RUN, "round_ordinal", [*TIMES, None], NO_TIMES),
    ("flows_runs", RUN, "cancel_acknowledgement_json", [*JSON_TEXTS, None], NO_JSON_TEXTS),
    ("flows_attempts", ATTEMPT, "run_id", ["parent"], [*NO_TEXTS, "missing", None]),
    ("flows_attempts", {**ATTEMPT, "run_id": "parent"}, "step_key_digest", TEXTS, [*NO_TEXTS, None]),
    ("flows_attempts", {**ATTEMPT, "run_id": "parent"}, "attempt", TIMES, [*NO_TIMES, None]),
    ("flows_attempts", {**ATTEMPT, "run_id": "parent"}, "state", TEXTS, [*NO_TEXTS, None]),
    ("flows_attempts", {**ATTEMPT, "run_id": "parent"}, "started_at_ms", TIMES, [*NO_TIMES, None]),
    ("flows_attempts", {**ATTEMPT, "run_id": "parent"}, "finished_at_ms", [*TIMES, None], NO_TIMES),
    ("flows_attempts", {**ATTEMPT, "run_id": "parent"}, "heartbeat_at_ms", [*TIMES, None], NO_TIMES),
    ("flows_attempts", {**ATTEMPT, "run_id": "parent"}, "checkpoint_json", [*JSON_TEXTS, None], NO_JSON_TEXTS),
    ("flows_attempts", {**ATTEMPT, "run_id": "parent"}, "error_json", [*JSON_TEXTS, None], NO_JSON_TEXTS),
    ("flows_attempts", {**ATTEMPT, "run_id": "parent"}, "outcome_json", [*JSON_TEXTS, None], NO_JSON_TEXTS),
    ("flows_attempts", {**ATTEMPT, "run_id": "parent"}, "meta_json", JSON_TEXTS, [*NO_JSON_TEXTS, None]),
    ("flows_run_changes", CHANGE, "run_id", TEXTS, [*NO_TEXTS, None]),
    ("flows_run_changes", CHANGE, "revision", [2, MAX], [0, *NO_TIMES, None]),
    ("flows_run_changes", CHANGE, "deleted", [0, 1], [2, -1, "x", None]),
    ("flows_consensus_leases", LEASE, "run_id", TEXTS, [*NO_TEXTS, None]),
    ("flows_consensus_leases", LEASE, "owner_pid", [0, 2**62, None], [-1, 1.5, "x"]),
    ("flows_consensus_leases", LEASE, "granted_at_ms", [0, 2**62, None], [-1, 1.5, "x"]),
    ("flows_consensus_leases", LEASE, "heartbeat_at_ms", [0, 2**62, None], [-1, 1.5, "x"]),
    ("flows_consensus_leases", LEASE, "claim_pid", [0, 2**62, None], [-1, 1.5, "x"]),
    ("flows_consensus_leases", LEASE, "claimed_at_ms", [0, 2**62, None], [-1, 1.5, "x"]),
    ("flows_consensus_leases", LEASE, "owner_host_id", ["a", "", None], []),
    ("flows_consensus_leases", LEASE, "owner_nonce", ["a", "", None], []),
    ("flows_consensus_leases", LEASE, "claim_host_id", ["a", "", None], []),
    ("flows_consensus_leases", LEASE, "claim_nonce", ["a", "", None], []),
    ("flows_journal_events", EVENT, "run_id", TEXTS, [*NO_TEXTS, None]),
    ("flows_journal_events", EVENT, "seq", TIMES, [*NO_TIMES, None]),
    ("flows_journal_events", EVENT, "event_id", TEXTS, [*NO_TEXTS, None]),
    ("flows_journal_events", EVENT, "source_id", TEXTS, [*NO_TEXTS, None]),
    ("flows_journal_events", EVENT, "source_seq", TIMES, [*NO_TIMES, None]),
    ("flows_journal_events", EVENT, "emitted_at_ms", TIMES, [*NO_TIMES, None]),
    ("flows_journal_events", EVENT, "event_type", TEXTS, [*NO_TEXTS, None]),
    ("flows_journal_events", EVENT, "payload_json", JSON_TEXTS, [*NO_JSON_TEXTS, None]),
    ("flows_journal_events", EVENT, "meta_json", JSON_TEXTS, [*NO_JSON_TEXTS, None]),
    ("flows_journal_checkpoints", CHECKPOINT, "run_id", TEXTS, [*NO_TEXTS, None]),
    ("flows_journal_checkpoints", CHECKPOINT, "seq", TIMES, [*NO_TIMES, None]),
    ("flows_journal_checkpoints", CHECKPOINT, "state_json", JSON_TEXTS, [*NO_JSON_TEXTS, None]),
    ("flows_journal_checkpoints", CHECKPOINT, "created_at_ms", TIMES, [*NO_TIMES, None]),
    ("flows_journal_checkpoints", CHECKPOINT, "compacted_at_ms", [*TIMES, None], NO_TIMES),
    ("flows_journal_dedup", TOMBSTONE, "run_id", TEXTS, [*NO_TEXTS, None]),
    ("flows_journal_dedup", TOMBSTONE, "source_id", TEXTS, [*NO_TEXTS, None]),
    ("flows_journal_dedup", TOMBSTONE, "source_seq", TIMES, [*NO_TIMES, None]),
    ("flows_journal_dedup", TOMBSTONE, "event_id", TEXTS, [*NO_TEXTS, None]),
    ("flows_journal_dedup", TOMBSTONE, "seq", TIMES, [*NO_TIMES, None]),
    ("flows_journal_dedup", TOMBSTONE, "content_hash", ["f" * 64], ["f" * 63, "f" * 65, "", None]),
]


@pytest.mark.parametrize(("table", "row", "column", "good", "bad"), COLUMNS, ids=[f"{c[0]}-{c[2]}" for c in COLUMNS])
def test_columns(
    connection: apsw.Connection,
    table: str,
    row: dict[str, object],
    column: str,
    good: list[object],
    bad: list[object],
) -> None:
    """Every column takes exactly what the rules let it hold (RS-100..RS-130, JN-005..JN-012)."""
    insert(connection, "flows_runs", **{**RUN, "run_id": "parent"})

    assert [value for value in good if not accepts(connection, table, **{**row, column: value})] == []
    assert [value for value in bad if accepts(connection, table, **{**row, column: value})] == []


# A blob has a length, and the CHECK asks for no more: decoding refuses it (RS-101, RS-406).
TEXT_KINDS: dict[str, object] = {"null": None, "empty": "", "nul": "\0x", "blob": b"h", "empty blob": b"", "good": "h"}
NUMBER_KINDS: dict[str, object] = {
    "null": None,
    "negative": -1,
    "wrong": "x",
    "fraction": 1.5,
    "good": 5,
    "large": MAX + 1,
}


def whole(host: str, pid: str, nonce: str, stamp: str) -> bool:
    """Whether a quadruple of kinds is a whole identity with its stamp; a pid has no upper bound in SQL (RS-101)."""
    return {host, nonce} <= {"good", "blob"} and stamp == "good" and pid in ("good", "large")


def test_no_half_owned_row(connection: apsw.Connection) -> None:
    """Of every combination of status and owner columns, exactly the whole and the empty ones pass (RS-101)."""
    wrong = [
        kinds
        for kinds in itertools.product(
            ["pending", "running", "suspended", "completed", "failed", "cancelled", "", None],
            TEXT_KINDS,
            NUMBER_KINDS,
            TEXT_KINDS,
            NUMBER_KINDS,
        )
        if accepts(
            connection,
            "flows_runs",
            **{
                **RUN,
                "status": kinds[0],
                "owner_host_id": TEXT_KINDS[kinds[1]],
                "owner_pid": NUMBER_KINDS[kinds[2]],
                "owner_nonce": TEXT_KINDS[kinds[3]],
                "heartbeat_at_ms": NUMBER_KINDS[kinds[4]],
            },
        )
        != (whole(*kinds[1:]) if kinds[0] == "running" else bool(kinds[0]) and set(kinds[1:]) == {"null"})
    ]

    assert wrong == []


@pytest.mark.parametrize("owned", [False, True])
def test_no_half_claimed_row(connection: apsw.Connection, owned: bool) -> None:
    """Of every combination of claim columns, exactly the whole and the empty ones pass, in any status (RS-102)."""
    base = {**RUN, "status": "running", **OWNER} if owned else {**RUN, "status": "completed"}
    wrong = [
        kinds
        for kinds in itertools.product(TEXT_KINDS, NUMBER_KINDS, TEXT_KINDS, NUMBER_KINDS)
        if accepts(
            connection,
            "flows_runs",
            **{
                **base,
                "claim_host_id": TEXT_KINDS[kinds[0]],
                "claim_pid": NUMBER_KINDS[kinds[1]],
                "claim_nonce": TEXT_KINDS[kinds[2]],
                "claimed_at_ms": NUMBER_KINDS[kinds[3]],
            },
        )
        != (whole(*kinds) or set(kinds) == {"null"})
    ]

    assert wrong == []


def test_update_cannot_leave_a_half_owned_row(connection: apsw.Connection) -> None:
    """The same holds for an UPDATE of any one column."""
    insert(connection, "flows_runs", **{**RUN, "status": "running", **OWNER, **CLAIM})

    for column in (*OWNER, *CLAIM):
        with pytest.raises(apsw.ConstraintError):
            connection.execute(f"UPDATE flows_runs SET {column} = NULL")
    for status in ("pending", "suspended", "completed"):
        with pytest.raises(apsw.ConstraintError):
            connection.execute("UPDATE flows_runs SET status = ?", (status,))


def test_unconstrained_combinations(connection: apsw.Connection) -> None:
    """What the rules leave open is open (RS-103, RS-104)."""
    assert accepts(connection, "flows_runs", **RUN, finished_at_ms=0, started_at_ms=9)
    assert accepts(connection, "flows_runs", **RUN, lineage_id="L")
    assert accepts(connection, "flows_runs", **RUN, round_ordinal=3)
    assert accepts(connection, "flows_runs", **RUN, waiting_request="{}")


def test_lineage_index_is_unique(connection: apsw.Connection) -> None:
    """No two rows name the same round; rows without any may be many (RS-105)."""
    for run_id in ("a", "b"):
        insert(connection, "flows_runs", **{**RUN, "run_id": run_id})
    insert(connection, "flows_runs", **{**RUN, "run_id": "c"}, lineage_id="L", round_ordinal=1)

    assert accepts(connection, "flows_runs", **RUN, lineage_id="L", round_ordinal=2)
    assert accepts(connection, "flows_runs", **RUN, lineage_id="M", round_ordinal=1)
    assert not accepts(connection, "flows_runs", **RUN, lineage_id="L", round_ordinal=1)


def test_keys(connection: apsw.Connection) -> None:
    """Primary keys and uniqueness hold (RS-110, RS-121, JN-005, JN-007, JN-009)."""
    insert(connection, "flows_runs", **RUN)
    rows: dict[str, tuple[dict[str, object], list[dict[str, object]]]] = {
        "flows_runs": (RUN, []),
        "flows_attempts": (ATTEMPT, [{"step_key_digest": "t"}, {"attempt": 1}]),
        "flows_consensus_leases": (LEASE, []),
        "flows_journal_events": (EVENT, []),
        "flows_journal_checkpoints": (CHECKPOINT, [{"seq": 1}]),
        "flows_journal_dedup": (TOMBSTONE, []),
    }
    for table, (row, others) in rows.items():
        if table not in ("flows_runs", "flows_journal_dedup"):
            insert(connection, table, **row)
        elif table == "flows_journal_dedup":
            connection.execute("DELETE FROM flows_journal_events")
            insert(connection, table, **row)
        assert not accepts(connection, table, **row)
        for other in others:
            assert accepts(connection, table, **{**row, **other})
    assert not accepts(connection, "flows_journal_dedup", **{**TOMBSTONE, "source_seq": 1})
    assert not accepts(connection, "flows_run_changes", run_id="x", revision=1, deleted=0)


def test_event_keys(connection: apsw.Connection) -> None:
    """An event's id is its own in the whole table, and a producer's number in its run (JN-005)."""
    insert(connection, "flows_journal_events", **EVENT)

    assert accepts(connection, "flows_journal_events", **{**EVENT, "seq": 1, "event_id": "f", "source_seq": 1})
    assert not accepts(connection, "flows_journal_events", **{**EVENT, "seq": 1, "source_seq": 1, "run_id": "q"})
    assert not accepts(connection, "flows_journal_events", **{**EVENT, "seq": 1, "event_id": "f"})


INDEXES = {
    "flows_runs_parent_run_id_idx": ["parent_run_id"],
    "flows_runs_cancel_requested_idx": ["cancel_requested_at_ms"],
    "flows_runs_waiting_reason_wake_at_idx": ["waiting_reason", "waiting_wake_at_ms"],
    "flows_runs_lineage_idx": ["lineage_id", "round_ordinal"],
    "flows_journal_events_event_type_idx": ["event_type"],
    "flows_journal_events_startup_idx": ["emitted_at_ms DESC", "run_id DESC", "seq DESC"],
    "flows_journal_events_run_event_type_idx": ["run_id", "event_type", "seq"],
}


def test_indexes(connection: apsw.Connection) -> None:
    """The indexes are those of the rules, two of them partial (RS-105, JN-006)."""
    found: dict[str, list[str]] = {}
    for name in INDEXES:
        columns = connection.execute(f"PRAGMA index_xinfo({name})").fetchall()
        found[name] = [
            f"{column} DESC" if descending else str(column) for _, _, column, descending, _, key in columns if key
        ]
    partial = connection.execute("SELECT name FROM pragma_index_list('flows_runs') WHERE partial ORDER BY 1").fetchall()

    assert found == INDEXES
    assert partial == [("flows_runs_cancel_requested_idx",), ("flows_runs_waiting_reason_wake_at_idx",)]


def test_run_with_children_or_attempts_cannot_be_deleted(connection: apsw.Connection) -> None:
    """Foreign keys hold, and a run may name itself as its parent (RS-106, H-21)."""
    insert(connection, "flows_runs", **RUN, parent_run_id="r")
    insert(connection, "flows_runs", **{**RUN, "run_id": "child"}, parent_run_id="r")
    insert(connection, "flows_attempts", **{**ATTEMPT, "run_id": "child"})

    for run_id in ("r", "child"):
        with pytest.raises(apsw.ConstraintError):
            connection.execute("DELETE FROM flows_runs WHERE run_id = ?", (run_id,))


def test_source_is_one_row(connection: apsw.Connection) -> None:
    """There is one source, of 32 lowercase hexadecimal digits (RS-120)."""
    assert connection.execute("SELECT * FROM flows_run_source").fetchall() == [(1, IDENTITY, 0)]
    assert not accepts(connection, "flows_run_source", singleton=2, source=IDENTITY, revision=0)
    connection.execute("DELETE FROM flows_run_source")
    assert accepts(connection, "flows_run_source", singleton=1, source="f" * 32, revision=MAX)
    for source in ("f" * 31, "f" * 33, "F" * 32, "g" * 32, "", None):
        assert not accepts(connection, "flows_run_source", singleton=1, source=source, revision=0)
    for revision in (-1, MAX + 1, "x", None):
        assert not accepts(connection, "flows_run_source", singleton=1, source=IDENTITY, revision=revision)


def changes(connection: apsw.Connection) -> dict[object, tuple[object, ...]]:
    """Revision and tombstone flag by run id; under ``source`` the source's revision."""
    rows = connection.execute("SELECT run_id, revision, deleted FROM flows_run_changes").fetchall()
    source = connection.execute("SELECT revision FROM flows_run_source").fetchall()
    return {**{row[0]: row[1:] for row in rows}, "source": source[0]}


def test_revisions(connection: apsw.Connection) -> None:
    """Insert, update and delete each spend one revision per row, kept for the newest only (RS-161, RS-163, RS-165)."""
    insert(connection, "flows_runs", **{**RUN, "run_id": "a"})
    insert(connection, "flows_runs", **{**RUN, "run_id": "b"})
    inserted = changes(connection)
    connection.execute("UPDATE flows_runs SET waiting_reason = 'w' WHERE run_id = 'a'")
    connection.execute("UPDATE flows_runs SET waiting_reason = 'w' WHERE run_id = 'a'")
    connection.execute("UPDATE flows_runs SET waiting_reason = 'w' WHERE run_id = 'missing'")
    updated = changes(connection)
    connection.execute("DELETE FROM flows_runs WHERE run_id = 'a'")
    deleted = changes(connection)
    insert(connection, "flows_runs", **{**RUN, "run_id": "a"})
    again = changes(connection)
    connection.execute("UPDATE flows_runs SET status = 'suspended'")
    both = changes(connection)

    assert inserted == {"a": (1, 0), "b": (2, 0), "source": (2,)}
    assert updated == {"a": (4, 0), "b": (2, 0), "source": (4,)}
    assert deleted == {"a": (5, 1), "b": (2, 0), "source": (5,)}
    assert again == {"a": (6, 0), "b": (2, 0), "source": (6,)}
    assert {both["a"], both["b"]} == {(7, 0), (8, 0)}


def test_missing_source_stops_every_change(connection: apsw.Connection) -> None:
    """Without its source no run row can be inserted, changed or deleted (RS-161)."""
    insert(connection, "flows_runs", **RUN)
    connection.execute("DELETE FROM flows_run_source")

    for sql in (
        "INSERT INTO flows_runs (run_id, status, created_at_ms, state_json) VALUES ('b', 'pending', 1, '{}')",
        "UPDATE flows_runs SET waiting_reason = 'w'",
        "DELETE FROM flows_runs",
    ):
        with pytest.raises(apsw.ConstraintError, match="execution source identity is missing"):
            connection.execute(sql)


def test_run_identity_is_immutable(connection: apsw.Connection) -> None:
    """A run keeps its id; writing the same one is a change like any other (RS-162)."""
    insert(connection, "flows_runs", **RUN)
    with pytest.raises(apsw.ConstraintError, match="run identity is immutable"):
        connection.execute("UPDATE flows_runs SET run_id = 'other'")
    refused = changes(connection)
    connection.execute("UPDATE flows_runs SET run_id = 'r'")

    assert refused == {"r": (1, 0), "source": (1,)}
    assert changes(connection) == {"r": (2, 0), "source": (2,)}


def test_revisions_end_at_their_limit(connection: apsw.Connection) -> None:
    """At the largest revision every further change fails and nothing wraps (RS-164)."""
    connection.execute("UPDATE flows_run_source SET revision = ?", (MAX - 1,))
    insert(connection, "flows_runs", **RUN)

    for sql in ("UPDATE flows_runs SET waiting_reason = 'w'", "DELETE FROM flows_runs"):
        with pytest.raises(apsw.ConstraintError):
            connection.execute(sql)

    assert changes(connection) == {"r": (MAX, 0), "source": (MAX,)}


def test_deleting_a_run_ends_its_lease(connection: apsw.Connection) -> None:
    """The lease of a deleted run goes with it, and no other (R-3)."""
    for run_id in ("r", "q"):
        insert(connection, "flows_runs", **{**RUN, "run_id": run_id})
        insert(connection, "flows_consensus_leases", run_id=run_id, claim_host_id="h")
    connection.execute("DELETE FROM flows_runs WHERE run_id = 'r'")

    assert connection.execute("SELECT run_id FROM flows_consensus_leases").fetchall() == [("q",)]


@pytest.mark.parametrize("same", [{"event_id": "e"}, {"run_id": "r", "source_id": "s", "source_seq": 0}])
def test_tombstone_swallows_an_event(connection: apsw.Connection, same: dict[str, object]) -> None:
    """An event whose id or producer number is a tombstone is ignored without an error (JN-010)."""
    insert(connection, "flows_journal_dedup", **TOMBSTONE)
    other = {**EVENT, "run_id": "q", "event_id": "f", "source_seq": 1}
    insert(connection, "flows_journal_events", **{**other, **same})
    swallowed = connection.execute("SELECT count(*) FROM flows_journal_events").fetchall()
    insert(connection, "flows_journal_events", **other)

    assert swallowed == [(0,)]
    assert connection.execute("SELECT count(*) FROM flows_journal_events").fetchall() == [(1,)]

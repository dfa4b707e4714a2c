"""The tables of the journal's migrations 1 to 6 (JN-001, JN-005..JN-013, RS-130, RS-146)."""

from collections.abc import Callable
from typing import Final

from tenure.database.engine import Statements

MAX = 9_007_199_254_740_991


def text(column: str, *, null: bool = False) -> str:
    """A column of non-empty text."""
    return (
        f"{column} TEXT CHECK (length({column}) > 0)"
        if null
        else f"{column} TEXT NOT NULL CHECK (length({column}) > 0)"
    )


def quantity(column: str, *, null: bool = False, least: int = 0, most: int | None = MAX) -> str:
    """A column of integers in ``least..most``. A type other than integer is refused, not converted."""
    bounds = f"{column} >= {least}" if most is None else f"{column} BETWEEN {least} AND {most}"
    if null:
        return f"{column} INTEGER CHECK ({column} IS NULL OR (typeof({column}) = 'integer' AND {bounds}))"
    return f"{column} INTEGER NOT NULL CHECK (typeof({column}) = 'integer' AND {bounds})"


def json(column: str, *, null: bool = False) -> str:
    """A column of JSON text."""
    if null:
        return f"{column} TEXT CHECK ({column} IS NULL OR json_valid({column}))"
    return f"{column} TEXT NOT NULL CHECK (json_valid({column}))"


def table(name: str, *members: str) -> str:
    """``CREATE TABLE``."""
    return f"CREATE TABLE {name} (\n  " + ",\n  ".join(members) + "\n)"


def script(*statements: str) -> Callable[[Statements, str], None]:
    """A migration that runs these statements in order."""

    def apply(rows: Statements, identity: str) -> None:
        for statement in statements:
            rows(statement)

    return apply


initial: Final = script(
    table(
        "flows_journal_events",
        text("run_id"),
        quantity("seq"),
        text("event_id") + " UNIQUE",
        text("source_id"),
        quantity("source_seq"),
        quantity("emitted_at_ms"),
        text("event_type"),
        json("payload_json"),
        json("meta_json"),
        "PRIMARY KEY (run_id, seq)",
        "UNIQUE (run_id, source_id, source_seq)",
    ),
    "CREATE INDEX flows_journal_events_event_type_idx ON flows_journal_events (event_type)",
)

checkpoints: Final = script(
    table(
        "flows_journal_checkpoints",
        text("run_id"),
        quantity("seq"),
        json("state_json"),
        quantity("created_at_ms"),
        quantity("compacted_at_ms", null=True),
        "PRIMARY KEY (run_id, seq)",
    ),
)

startup_index: Final = script(
    "CREATE INDEX flows_journal_events_startup_idx ON flows_journal_events (emitted_at_ms DESC, run_id DESC, seq DESC)",
)

dedup: Final = script(
    table(
        "flows_journal_dedup",
        text("run_id"),
        text("source_id"),
        quantity("source_seq"),
        text("event_id") + " UNIQUE",
        quantity("seq"),
        "content_hash TEXT NOT NULL CHECK (length(content_hash) = 64)",
        "PRIMARY KEY (run_id, source_id, source_seq)",
    ),
    # Two probes, each by its own index: one condition with OR would scan.
    """
    CREATE TRIGGER flows_journal_dedup_insert_guard BEFORE INSERT ON flows_journal_events
    WHEN EXISTS (SELECT 1 FROM flows_journal_dedup WHERE event_id = NEW.event_id)
      OR EXISTS (
        SELECT 1 FROM flows_journal_dedup
        WHERE run_id = NEW.run_id AND source_id = NEW.source_id AND source_seq = NEW.source_seq
      )
    BEGIN
      SELECT RAISE(IGNORE);
    END
    """,
)

run_event_type: Final = script(
    "CREATE INDEX flows_journal_events_run_event_type_idx ON flows_journal_events (run_id, event_type, seq)",
)

_create_leases: Final = table(
    "flows_consensus_leases",
    "run_id TEXT PRIMARY KEY NOT NULL CHECK (length(run_id) > 0)",
    "owner_host_id TEXT",
    quantity("owner_pid", null=True, most=None),
    "owner_nonce TEXT",
    quantity("granted_at_ms", null=True, most=None),
    quantity("heartbeat_at_ms", null=True, most=None),
    "claim_host_id TEXT",
    quantity("claim_pid", null=True, most=None),
    "claim_nonce TEXT",
    quantity("claimed_at_ms", null=True, most=None),
)

_backfill_leases: Final = """
    INSERT INTO flows_consensus_leases (
      run_id, owner_host_id, owner_pid, owner_nonce, granted_at_ms, heartbeat_at_ms,
      claim_host_id, claim_pid, claim_nonce, claimed_at_ms
    )
    SELECT
      run_id, owner_host_id, owner_pid, owner_nonce,
      CASE status WHEN 'running' THEN heartbeat_at_ms END, CASE status WHEN 'running' THEN heartbeat_at_ms END,
      claim_host_id, claim_pid, claim_nonce, claimed_at_ms
    FROM flows_runs WHERE status = 'running' OR claim_host_id IS NOT NULL
    ON CONFLICT (run_id) DO NOTHING
"""


def consensus(rows: Statements, identity: str) -> None:
    """Create the lease table, and give every owner and claimant from before it a lease (RS-146, JN-013)."""
    rows(_create_leases)
    if rows("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'flows_runs'"):
        rows(_backfill_leases)

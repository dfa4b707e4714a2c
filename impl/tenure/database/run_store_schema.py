"""The tables and triggers of the run store's migrations 1001 to 1004.

Rules RS-100..RS-121, RS-143..RS-145, RS-160..RS-164.
"""

from typing import Final

from tenure.database.engine import Statements
from tenure.database.journal_schema import json, quantity, script, table, text

_STATUSES: Final = "'pending', 'running', 'suspended', 'completed', 'failed', 'cancelled'"


def _identity(prefix: str) -> str:
    # A blob has a length too, so it passes as a host or a nonce. No owner compares equal to it, and decoding says so.
    return (
        f"{prefix}_host_id IS NOT NULL AND length({prefix}_host_id) > 0"
        f" AND typeof({prefix}_pid) = 'integer' AND {prefix}_pid >= 0"
        f" AND {prefix}_nonce IS NOT NULL AND length({prefix}_nonce) > 0"
    )


def _none(*columns: str) -> str:
    return " AND ".join(f"{column} IS NULL" for column in columns)


initial: Final = script(
    table(
        "flows_runs",
        "run_id TEXT PRIMARY KEY NOT NULL CHECK (length(run_id) > 0)",
        f"status TEXT NOT NULL CHECK (status IN ({_STATUSES}))",
        quantity("created_at_ms"),
        quantity("started_at_ms", null=True),
        quantity("finished_at_ms", null=True),
        "owner_host_id TEXT",
        "owner_pid INTEGER",
        "owner_nonce TEXT",
        quantity("heartbeat_at_ms", null=True),
        "claim_host_id TEXT",
        "claim_pid INTEGER",
        "claim_nonce TEXT",
        quantity("claimed_at_ms", null=True),
        text("parent_run_id", null=True) + " REFERENCES flows_runs (run_id)",
        quantity("cancel_requested_at_ms", null=True),
        text("waiting_reason", null=True),
        quantity("waiting_wake_at_ms", null=True),
        text("waiting_token", null=True),
        json("state_json"),
        # Running iff owned iff stamped (RS-101). Every branch is never NULL: a CHECK that is NULL passes.
        "CHECK (CASE status WHEN 'running'"
        f" THEN {_identity('owner')} AND heartbeat_at_ms IS NOT NULL"
        f" ELSE {_none('owner_host_id', 'owner_pid', 'owner_nonce', 'heartbeat_at_ms')} END)",
        # A claim is whole or absent (RS-102).
        f"CHECK (({_none('claim_host_id', 'claim_pid', 'claim_nonce', 'claimed_at_ms')})"
        f" OR ({_identity('claim')} AND claimed_at_ms IS NOT NULL))",
        # Waiting details need a reason (RS-103).
        "CHECK (waiting_reason IS NOT NULL OR (waiting_wake_at_ms IS NULL AND waiting_token IS NULL))",
    ),
    "CREATE INDEX flows_runs_parent_run_id_idx ON flows_runs (parent_run_id)",
    "CREATE INDEX flows_runs_cancel_requested_idx ON flows_runs (cancel_requested_at_ms)"
    " WHERE cancel_requested_at_ms IS NOT NULL",
    "CREATE INDEX flows_runs_waiting_reason_wake_at_idx ON flows_runs (waiting_reason, waiting_wake_at_ms)"
    " WHERE waiting_reason IS NOT NULL",
    table(
        "flows_attempts",
        text("run_id") + " REFERENCES flows_runs (run_id)",
        text("step_key_digest"),
        quantity("attempt"),
        text("state"),
        quantity("started_at_ms"),
        quantity("finished_at_ms", null=True),
        quantity("heartbeat_at_ms", null=True),
        json("checkpoint_json", null=True),
        json("error_json", null=True),
        json("outcome_json", null=True),
        json("meta_json"),
        "PRIMARY KEY (run_id, step_key_digest, attempt)",
    ),
)

lineage: Final = script(
    f"ALTER TABLE flows_runs ADD COLUMN {text('lineage_id', null=True)}",
    f"ALTER TABLE flows_runs ADD COLUMN {quantity('round_ordinal', null=True)}",
    "CREATE UNIQUE INDEX flows_runs_lineage_idx ON flows_runs (lineage_id, round_ordinal)",
)


def _revision_trigger(event: str, row: str, *, deleted: int) -> str:
    """Spend one revision and record it for the row's run, in the statement that changed the row (RS-161)."""
    return f"""
    CREATE TRIGGER flows_runs_revision_{event.lower()} AFTER {event} ON flows_runs
    BEGIN
      SELECT RAISE(ABORT, 'execution source identity is missing')
      WHERE NOT EXISTS (SELECT 1 FROM flows_run_source WHERE singleton = 1);
      UPDATE flows_run_source SET revision = revision + 1 WHERE singleton = 1;
      INSERT INTO flows_run_changes (run_id, revision, deleted)
      SELECT {row}.run_id, revision, {deleted} FROM flows_run_source WHERE singleton = 1
      ON CONFLICT (run_id) DO UPDATE SET revision = excluded.revision, deleted = excluded.deleted;
    END
    """


_immutable_identity: Final = """
    CREATE TRIGGER flows_runs_identity_immutable BEFORE UPDATE OF run_id ON flows_runs
    WHEN NEW.run_id IS NOT OLD.run_id
    BEGIN
      SELECT RAISE(ABORT, 'run identity is immutable');
    END
"""

_source_table: Final = table(
    "flows_run_source",
    "singleton INTEGER PRIMARY KEY CHECK (singleton = 1)",
    "source TEXT NOT NULL CHECK (length(source) = 32 AND source NOT GLOB '*[^0-9a-f]*')",
    quantity("revision"),
)

_changes_table: Final = table(
    "flows_run_changes",
    "run_id TEXT PRIMARY KEY NOT NULL CHECK (length(run_id) > 0)",
    quantity("revision", least=1) + " UNIQUE",
    quantity("deleted", most=1),
)

_baseline_changes: Final = """
    INSERT INTO flows_run_changes (run_id, revision, deleted)
    SELECT run_id, row_number() OVER (ORDER BY created_at_ms, run_id), 0 FROM flows_runs
"""

_baseline_revision: Final = "UPDATE flows_run_source SET revision = (SELECT count(*) FROM flows_runs)"


def execution_revisions(rows: Statements, identity: str) -> None:
    """Source identity, revisions and tombstones; every run so far gets a baseline revision (RS-144).

    ``identity`` is 32 lowercase hexadecimal digits, drawn anew for every database.
    """
    rows(_source_table)
    rows(_changes_table)
    rows("INSERT INTO flows_run_source (singleton, source, revision) VALUES (1, ?, 0)", (identity,))
    rows(f"ALTER TABLE flows_runs ADD COLUMN {json('cancel_acknowledgement_json', null=True)}")
    rows(_baseline_changes)
    rows(_baseline_revision)
    rows(_revision_trigger("INSERT", "NEW", deleted=0))
    rows(_revision_trigger("UPDATE", "NEW", deleted=0))
    rows(_revision_trigger("DELETE", "OLD", deleted=1))
    rows(_immutable_identity)


waiting_request: Final = script(f"ALTER TABLE flows_runs ADD COLUMN {json('waiting_request', null=True)}")

LEASE_TRIGGER: Final = "flows_runs_lease_delete"

# Deleting a run ends its lease: a lease that outlives its row would refuse every claim on a run re-created under
# the same id. The trigger is no part of a migration, because files that an older program took to 1004 need it as well;
# a new migration id would make them unreadable to that program.
create_lease_trigger: Final = f"""
    CREATE TRIGGER IF NOT EXISTS {LEASE_TRIGGER} AFTER DELETE ON flows_runs
    BEGIN
      DELETE FROM flows_consensus_leases WHERE run_id = OLD.run_id;
    END
"""

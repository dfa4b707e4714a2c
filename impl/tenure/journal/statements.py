"""The journal's statements, one text each. Every one finds its rows by the primary key or an index.

In every statement ?1 is the run id, where there is one.
"""

from typing import Final

from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER

_COLUMNS: Final = "run_id, seq, event_id, source_id, source_seq, emitted_at_ms, event_type, payload_json, meta_json"
_RUN_FLOOR: Final = "ifnull((SELECT max(seq) + 1 FROM flows_journal_events WHERE run_id = ?1), 0)"
_PRODUCER_FLOOR: Final = """
    max(
      ifnull((SELECT max(source_seq) + 1 FROM flows_journal_events WHERE run_id = ?1 AND source_id = ?2), 0),
      ifnull((SELECT max(source_seq) + 1 FROM flows_journal_dedup WHERE run_id = ?1 AND source_id = ?2), 0)
    )
"""
RUN_FLOOR: Final = f"SELECT {_RUN_FLOOR}"
PRODUCER_FLOOR: Final = f"SELECT {_PRODUCER_FLOOR}"
FLOORS: Final = f"SELECT {_RUN_FLOOR}, {_PRODUCER_FLOOR}"

# A tombstone makes the insert vanish without an error, as a conflict does here (JN-010).
INSERT: Final = f"""
    INSERT INTO flows_journal_events ({_COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    ON CONFLICT DO NOTHING RETURNING seq
"""
# Batches are inserted in chunks of these sizes, each by one statement: what costs time is asking, not inserting.
CHUNKS: Final = (64, 8)
INSERT_CHUNK: Final = {
    size: f"INSERT INTO flows_journal_events ({_COLUMNS}) VALUES "
    + ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?)"] * size)
    + " ON CONFLICT DO NOTHING"
    for size in CHUNKS
}
INSERTED: Final = "SELECT changes()"
# One arm for each index: a condition with OR might scan. The lowest seq wins (JN-175).
EXISTING: Final = """
    SELECT seq, event_type, payload_json, meta_json, NULL FROM flows_journal_events
    WHERE run_id = ?1 AND source_id = ?2 AND source_seq = ?3
    UNION ALL
    SELECT seq, event_type, payload_json, meta_json, NULL FROM flows_journal_events WHERE event_id = ?4
    UNION ALL
    SELECT seq, NULL, NULL, NULL, content_hash FROM flows_journal_dedup
    WHERE run_id = ?1 AND source_id = ?2 AND source_seq = ?3
    UNION ALL
    SELECT seq, NULL, NULL, NULL, content_hash FROM flows_journal_dedup WHERE event_id = ?4
    ORDER BY 1 LIMIT 1
"""

PAGE: Final = f"SELECT {_COLUMNS} FROM flows_journal_events WHERE run_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3"
# ?4 is a JSON array of event types.
PAGE_OF_TYPES: Final = f"""
    SELECT {_COLUMNS} FROM flows_journal_events
    WHERE run_id = ?1 AND seq > ?2 AND event_type IN (SELECT value FROM json_each(?4))
    ORDER BY seq LIMIT ?3
"""
COMPACTION_FLOOR: Final = """
    SELECT max(seq) FROM flows_journal_checkpoints WHERE run_id = ?1 AND compacted_at_ms IS NOT NULL
"""
BOUNDS: Final = f"SELECT {_RUN_FLOOR}, ({COMPACTION_FLOOR})"
NEWEST: Final = f"""
    SELECT {_COLUMNS} FROM flows_journal_events ORDER BY emitted_at_ms DESC, run_id DESC, seq DESC LIMIT ?1
"""
TAIL: Final = "SELECT max(seq) FROM flows_journal_events WHERE run_id = ?1"
COUNT: Final = "SELECT count(*) FROM flows_journal_events WHERE run_id = ?1"
EXISTS: Final = "SELECT 1 FROM flows_journal_events WHERE run_id = ?1 AND seq = ?2"

UPSERT_CHECKPOINT: Final = """
    INSERT INTO flows_journal_checkpoints (run_id, seq, state_json, created_at_ms) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (run_id, seq) DO UPDATE SET state_json = excluded.state_json, created_at_ms = excluded.created_at_ms
"""
LATEST_CHECKPOINT: Final = """
    SELECT run_id, seq, state_json, created_at_ms, compacted_at_ms FROM flows_journal_checkpoints
    WHERE run_id = ?1 ORDER BY seq DESC LIMIT 1
"""
NEWEST_TARGET: Final = """
    SELECT seq, compacted_at_ms IS NOT NULL FROM flows_journal_checkpoints WHERE run_id = ?1 ORDER BY seq DESC LIMIT 1
"""
TARGET_AT: Final = """
    SELECT seq, compacted_at_ms IS NOT NULL FROM flows_journal_checkpoints WHERE run_id = ?1 AND seq = ?2
"""

# ?2 is the last seq of the page before, ?3 the checkpoint's.
DOOMED_PAGE: Final = """
    SELECT seq, event_type, payload_json, meta_json FROM flows_journal_events
    WHERE run_id = ?1 AND seq > ?2 AND seq < ?3 ORDER BY seq LIMIT ?4
"""
# ?2 is a JSON array of [seq, fingerprint]: one statement a page, and the identities never leave the database.
# CROSS JOIN keeps the page on the outside; the planner would otherwise walk the whole run once for each page.
ENTOMB: Final = """
    INSERT INTO flows_journal_dedup (run_id, source_id, source_seq, event_id, seq, content_hash)
    SELECT doomed.run_id, doomed.source_id, doomed.source_seq, doomed.event_id, doomed.seq,
      json_extract(marked.value, '$[1]')
    FROM json_each(?2) AS marked
    CROSS JOIN flows_journal_events AS doomed ON doomed.run_id = ?1 AND doomed.seq = json_extract(marked.value, '$[0]')
"""
DELETE_BELOW: Final = "DELETE FROM flows_journal_events WHERE run_id = ?1 AND seq < ?2"
DELETE_CHECKPOINTS_BELOW: Final = "DELETE FROM flows_journal_checkpoints WHERE run_id = ?1 AND seq < ?2"
MARK_COMPACTED: Final = "UPDATE flows_journal_checkpoints SET compacted_at_ms = ?3 WHERE run_id = ?1 AND seq = ?2"

GENERATIONS_EXIST: Final = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'flows_journal_generations'"
CREATE_GENERATIONS: Final = f"""
    CREATE TABLE IF NOT EXISTS flows_journal_generations (
      run_id TEXT PRIMARY KEY NOT NULL CHECK (length(run_id) > 0),
      generation INTEGER NOT NULL
        CHECK (typeof(generation) = 'integer' AND generation BETWEEN 1 AND {MAX_SAFE_INTEGER}),
      after_seq INTEGER NOT NULL CHECK (typeof(after_seq) = 'integer' AND after_seq BETWEEN -1 AND {MAX_SAFE_INTEGER})
    )
"""
GENERATION: Final = "SELECT generation, after_seq FROM flows_journal_generations WHERE run_id = ?1"

STATEMENTS: Final = (
    RUN_FLOOR,
    PRODUCER_FLOOR,
    FLOORS,
    INSERT,
    BOUNDS,
    EXISTING,
    PAGE,
    PAGE_OF_TYPES,
    COMPACTION_FLOOR,
    NEWEST,
    TAIL,
    COUNT,
    EXISTS,
    UPSERT_CHECKPOINT,
    LATEST_CHECKPOINT,
    NEWEST_TARGET,
    TARGET_AT,
    DOOMED_PAGE,
    ENTOMB,
    DELETE_BELOW,
    DELETE_CHECKPOINTS_BELOW,
    MARK_COMPACTED,
    GENERATION,
)
"""Every statement over the journal's own tables, the creation of one of them apart."""

"""What checkpointing and truncating decide inside their transaction, whoever asks for it (JN-270, JN-280, JN-281)."""

import attrs

from tenure_model.semantics.commands import whole_milliseconds
from tenure_model.semantics.journal.instance import Instance
from tenure_model.semantics.journal.tables import (
    CheckpointRow,
    JournalTables,
    compaction_floor,
    event_count,
    truncated,
    with_checkpoint,
)
from tenure_model.semantics.predicates import is_storable_time
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.journal import CompactionResult
from tenure_model.vocabulary.journal_errors import (
    CHECKPOINT_WRITE_FAILED,
    COMPACTION_FAILED,
    JournalError,
    checkpoint_at_floor,
    checkpoint_names_no_entry,
    no_checkpoint,
    reader_behind,
)


def place(
    tables: JournalTables, run_id: str, seq: int, state_json: str, clock_ms: float
) -> tuple[JournalTables, CheckpointRow] | JournalError:
    """Write the checkpoint, whoever asks: the entry must exist, and lie above the floor (JN-270).

    Below the floor nothing exists, so only the floor itself is told apart (JN-271). A time that no column takes is a
    failed write.
    """
    if not any(event.seq == seq for event in tables.events.get(run_id, ())):
        return checkpoint_names_no_entry(run_id, seq)
    floor = compaction_floor(tables, run_id)
    if floor is not None and seq <= floor:
        return checkpoint_at_floor(run_id, floor)
    created_at_ms = whole_milliseconds(clock_ms)
    if not is_storable_time(created_at_ms):
        return JournalError("sink_failed", CHECKPOINT_WRITE_FAILED, cause={"code": "constraint"})
    row = CheckpointRow(run_id, seq, state_json, created_at_ms, None)
    return with_checkpoint(tables, row), row


def truncate(
    instance: Instance, tables: JournalTables, run_id: str, up_to: int | AbsentType, clock_ms: float
) -> tuple[JournalTables, CompactionResult] | JournalError:
    """Cut a run's history off below a checkpoint: the one at ``up_to``, or the latest (JN-280).

    Doing it again deletes nothing and asks no reader (JN-283). A stream of this instance that has not read up to the
    checkpoint refuses it; streams of other instances do not count (HZ-20). Identities survive as tombstones, and the
    entry at the checkpoint survives as the tail, so that no number comes back (JN-281, JN-282).
    """
    rows = tables.checkpoints.get(run_id, {})
    row = rows.get(max(rows) if up_to is ABSENT else up_to) if rows else None
    if row is None:
        return no_checkpoint(run_id, up_to)
    if row.compacted_at_ms is not None:
        return tables, CompactionResult(run_id, row.seq, 0)
    if any(stream.run_id == run_id and stream.cursor < row.seq - 1 for stream in instance.streams.values()):
        return reader_behind(run_id, row.seq)
    compacted_at_ms = whole_milliseconds(clock_ms)
    if not is_storable_time(compacted_at_ms):
        return JournalError("sink_failed", COMPACTION_FAILED, cause={"code": "constraint"})
    after = truncated(tables, attrs.evolve(row, compacted_at_ms=compacted_at_ms))
    deleted = event_count(tables, run_id) - event_count(after, run_id)
    return after, CompactionResult(run_id, row.seq, deleted)

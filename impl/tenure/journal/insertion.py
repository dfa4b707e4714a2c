"""What becomes of one queued entry inside a transaction (JN-211, JN-212)."""

from typing import TypeAlias

import attrs

from tenure.database.engine import SqlRow, Statements
from tenure.journal import statements
from tenure.journal.backlog import Queued
from tenure.journal.floors import exhausted
from tenure.journal.identities import Existing, find_existing, require_same
from tenure_model.admission.event_identity import event_id
from tenure_model.vocabulary.journal_errors import JournalError, dropped_below_floor


@attrs.frozen
class Inserted:
    """The entry has a row of its own."""

    row: SqlRow


Fate: TypeAlias = Inserted | Existing | JournalError
"""A row, the row or tombstone that it repeats, or why it is lost."""


def insert(rows: Statements, queued: Queued) -> Fate:
    """Insert one entry above the run's tail, or say what stopped it.

    A duplicate from below the compaction floor is a duplicate and no loss. Raises only what storage raises.
    """
    prepared = queued.prepared
    run_id, source_id, source_seq = prepared.run_id, prepared.source_id, queued.source_seq
    name = event_id(run_id, source_id, source_seq)
    content = (
        name,
        source_id,
        source_seq,
        prepared.emitted_at_ms,
        prepared.event_type,
        prepared.payload_json,
        prepared.meta_json,
    )
    inserted = rows(statements.INSERT_QUEUED, (run_id, queued.seq, *content))
    if inserted:
        return Inserted((run_id, inserted[0][0], *content))
    existing = find_existing(rows, prepared, source_seq, name)
    if existing is not None:
        try:
            require_same(existing, prepared, source_seq)
        except JournalError as conflict:
            return conflict.with_traceback(None)
        return existing
    floor = rows(statements.COMPACTION_FLOOR, (run_id,))[0][0]
    return dropped_below_floor(run_id, queued.seq, floor) if floor is not None and floor >= queued.seq else exhausted()

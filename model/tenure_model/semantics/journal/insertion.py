"""What one insert decides inside the transaction: a new row, a collapse, or a refusal (JN-175..JN-178, JN-211)."""

from tenure_model.semantics.journal.allocation import exhausted
from tenure_model.semantics.journal.instance import Collapsed, Inserted, InsertResult
from tenure_model.semantics.journal.tables import (
    Draft,
    JournalTables,
    Standing,
    compaction_floor,
    content_matches,
    event_at,
    run_floor,
    standing_at,
    with_event,
)
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal_errors import JournalError, dropped_below_floor, idempotency_conflict


def insert_durable(tables: JournalTables, draft: Draft) -> tuple[JournalTables, InsertResult]:
    """Insert at the allocated ``seq``, unless the identity stands already (JN-175..JN-177)."""
    standing = standing_at(tables, draft.identity)
    if standing is not None:
        return tables, _onto(draft, standing)
    event = event_at(draft, draft.seq)
    return with_event(tables, event), Inserted(event)


def insert_queued(tables: JournalTables, draft: Draft) -> tuple[JournalTables, InsertResult]:
    """Insert at the reservation, or above the tail that has overtaken it (JN-211).

    What stands is looked at first, so that a duplicate below the compaction floor is a duplicate. Then a reservation at
    or below the floor is ``compacted`` (JN-289), and a run whose last number is taken is exhausted (JN-212).
    """
    standing = standing_at(tables, draft.identity)
    if standing is not None:
        return tables, _onto(draft, standing)
    floor = compaction_floor(tables, draft.run_id)
    if floor is not None and floor >= draft.seq:
        return tables, dropped_below_floor(draft.run_id, draft.seq, floor)
    seq = max(draft.seq, run_floor(tables, draft.run_id))
    if seq == MAX_SAFE_INTEGER:
        return tables, exhausted()
    event = event_at(draft, seq)
    return with_event(tables, event), Inserted(event)


def _onto(draft: Draft, standing: Standing) -> Collapsed | JournalError:
    """What an identity that stands makes of its repetition (JN-047, JN-177). The row that stands never changes."""
    if draft.dedupe == "content" and not content_matches(draft.content, standing):
        return idempotency_conflict(draft.run_id, draft.source_id, draft.source_seq)
    return Collapsed(standing)

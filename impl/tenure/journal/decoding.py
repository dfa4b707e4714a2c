"""From stored rows to entries and checkpoints, or ``decode_failed`` (JN-025, JN-253, JN-275)."""

from collections.abc import Iterable

from tenure.database.engine import SqlRow
from tenure_model.admission.canonical_json import decode_json
from tenure_model.admission.integers import is_safe_integer
from tenure_model.admission.journal_input import is_sequence
from tenure_model.admission.json_values import JsonComplaint
from tenure_model.admission.text import is_durable_text
from tenure_model.vocabulary.journal import Checkpoint, Entry
from tenure_model.vocabulary.journal_errors import CHECKPOINT_UNDECODABLE, ROW_UNDECODABLE, JournalError


def decode_entries(rows: Iterable[SqlRow]) -> list[Entry]:
    """The entries in ``rows``, whose columns are those of the events table; each has values of its own.

    Raises ``decode_failed`` if a single one cannot be read: a page is whole or refused.
    """
    entries: list[Entry] = []
    # A page has few names, and they come again and again.
    known: set[str] = set()
    for run_id, seq, event_id, source_id, source_seq, emitted_at_ms, event_type, payload_json, meta_json in rows:
        if not (
            ((type(run_id) is str and run_id in known) or _is_name(run_id, known))
            and ((type(source_id) is str and source_id in known) or _is_name(source_id, known))
            and ((type(event_type) is str and event_type in known) or _is_name(event_type, known))
            and type(event_id) is str
            and type(payload_json) is str
            and type(meta_json) is str
            and is_sequence(seq)
            and is_sequence(source_seq)
            and is_safe_integer(emitted_at_ms)
        ):
            raise undecodable_row()
        payload = decode_json(payload_json)
        # Most metas are missing.
        meta = None if meta_json == "null" else decode_json(meta_json)
        if type(payload) is JsonComplaint or type(meta) is JsonComplaint:
            raise undecodable_row()
        entries.append(Entry(run_id, seq, event_id, source_id, source_seq, emitted_at_ms, event_type, payload, meta))
    return entries


def decode_checkpoint(row: SqlRow) -> Checkpoint:
    """The checkpoint in ``row``, or ``decode_failed``."""
    run_id, seq, state_json, created_at_ms, compacted_at_ms = row
    if (
        is_durable_text(run_id)
        and is_sequence(seq)
        and type(state_json) is str
        and is_safe_integer(created_at_ms)
        and (compacted_at_ms is None or is_safe_integer(compacted_at_ms))
    ):
        state = decode_json(state_json)
        if type(state) is not JsonComplaint:
            return Checkpoint(run_id, seq, state, created_at_ms, compacted_at_ms)
    raise undecodable_checkpoint()


def undecodable_row() -> JournalError:
    """A row of the events table whose columns are not what they may be."""
    return JournalError("decode_failed", ROW_UNDECODABLE)


def undecodable_checkpoint() -> JournalError:
    """A row of the checkpoints table whose columns are not what they may be."""
    return JournalError("decode_failed", CHECKPOINT_UNDECODABLE)


def _is_name(value: object, known: set[str]) -> bool:
    if not is_durable_text(value):
        return False
    known.add(value)
    return True

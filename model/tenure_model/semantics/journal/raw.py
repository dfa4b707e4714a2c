"""Raw writes to the journal's tables, which no operation makes: they plant what a hand on the database could.

The schema still holds: what a CHECK or a key refuses is ``constraint`` (JN-005, JN-340).
"""

from tenure_model.admission.canonical_json import decode_json
from tenure_model.admission.event_identity import event_id
from tenure_model.admission.integers import is_safe_integer
from tenure_model.admission.json_values import JsonComplaint
from tenure_model.admission.wire_records import wire_members
from tenure_model.semantics.journal.after_commit import conclude
from tenure_model.semantics.journal.state import JournalState, JournalStep, Store, is_busy, visible
from tenure_model.semantics.journal.tables import (
    Content,
    Event,
    JournalTables,
    run_floor,
    standing_at,
    with_event,
)
from tenure_model.semantics.steps import database_failure
from tenure_model.vocabulary.journal import Generation
from tenure_model.vocabulary.journal_errors import JournalUsageError

_TEXTS = ("run_id", "source_id", "event_type", "payload_json", "meta_json")
_INTEGERS = ("seq", "source_seq", "emitted_at_ms")


def write_event(state: JournalState, session: str, clock_ms: float, columns: object) -> JournalStep:
    """Insert a row above the tail of its run, past every operation; its event id is the one that its identity has.

    ``columns`` gives every other column of ``flows_journal_events`` by its own name. ``constraint``: an empty text, a
    document that is no JSON, a number beyond 2**53-1, an identity that stands, a ``seq`` at or below the tail.
    """
    row = wire_members(columns)
    if row is None or row.keys() != {*_TEXTS, *_INTEGERS}:
        return JournalStep(state, JournalUsageError("columns must give every column but event_id"))
    if not all(type(row[name]) is str for name in _TEXTS) or not all(type(row[name]) is int for name in _INTEGERS):
        return JournalStep(state, JournalUsageError("columns must have values of their types"))
    if is_busy(state, session):
        return JournalStep(state, database_failure("busy", "event.write"))
    store = visible(state, session)
    tables = _with_row(store.journal, row)
    if tables is None:
        return JournalStep(state, database_failure("constraint", "event.write"))
    state, fired = conclude(state, session, Store(store.world, tables, store.receipts), (), clock_ms)
    return JournalStep(state, None, fired)


def _with_row(tables: JournalTables, row: dict[str, object]) -> JournalTables | None:
    run_id, source_id, event_type, payload_json, meta_json = (str(row[name]) for name in _TEXTS)
    seq, source_seq, emitted_at_ms = row["seq"], row["source_seq"], row["emitted_at_ms"]
    if not (is_safe_integer(seq) and is_safe_integer(source_seq) and is_safe_integer(emitted_at_ms)):
        return None
    if not all(_has_length(text) for text in (run_id, source_id, event_type)):
        return None
    if any(isinstance(decode_json(text), JsonComplaint) for text in (payload_json, meta_json)):
        return None
    if seq < run_floor(tables, run_id) or standing_at(tables, (run_id, source_id, source_seq)) is not None:
        return None
    content = Content(event_type, payload_json, meta_json)
    identity = event_id(run_id, source_id, source_seq)
    return with_event(tables, Event(run_id, seq, identity, source_id, source_seq, emitted_at_ms, content))


def _has_length(text: str) -> bool:
    """Whether SQLite finds the text longer than nothing: it stops counting at U+0000."""
    return bool(text.partition("\0")[0])


def write_generation(
    state: JournalState, session: str, clock_ms: float, run_id: object, generation: object, after_seq: object
) -> JournalStep:
    """Set a run's generation, as a rewinder would (JN-340)."""
    if type(run_id) is not str or type(generation) is not int or type(after_seq) is not int:
        return JournalStep(state, JournalUsageError("a generation is a run id and two integers"))
    if is_busy(state, session):
        return JournalStep(state, database_failure("busy", "generation.write"))
    if not _has_length(run_id) or not is_safe_integer(generation) or generation < 1 or after_seq < -1:
        return JournalStep(state, database_failure("constraint", "generation.write"))
    if not is_safe_integer(after_seq + 1):
        return JournalStep(state, database_failure("constraint", "generation.write"))
    store = visible(state, session)
    tables = store.journal
    generations = {**tables.generations, run_id: Generation(generation, after_seq)}
    tables = JournalTables(tables.events, tables.tombstones, tables.checkpoints, generations)
    state, fired = conclude(state, session, Store(store.world, tables, store.receipts), (), clock_ms)
    return JournalStep(state, None, fired)

"""Reads of committed history: pages of entries, checkpoints, generations (JN-250..JN-253, JN-275, JN-341)."""

from collections.abc import Iterable

from tenure_model.admission.canonical_json import decode_json
from tenure_model.admission.journal_input import is_sequence
from tenure_model.admission.journal_options import admit_entries_options
from tenure_model.admission.json_values import JsonComplaint
from tenure_model.admission.refusal import Refusal
from tenure_model.admission.text import is_durable_text
from tenure_model.semantics.journal.answers import is_failing
from tenure_model.semantics.journal.state import JournalState, JournalStep, visible
from tenure_model.semantics.journal.tables import UNREWOUND, CheckpointRow, Event, JournalTables, compaction_floor
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal import Checkpoint, EntriesPage, Entry
from tenure_model.vocabulary.journal_errors import (
    CHECKPOINT_READ_FAILED,
    CHECKPOINT_UNDECODABLE,
    GENERATION_READ_FAILED,
    INVALID_ENTRIES_OPTIONS,
    INVALID_RUN_ID,
    JOURNAL_READ_FAILED,
    ROW_UNDECODABLE,
    JournalError,
    compacted,
    unavailable,
)


def entries(
    state: JournalState,
    session: str,
    clock_ms: float,
    run_id: object,
    limit: object,
    after: object,
    event_types: object,
    fault: object = ABSENT,
) -> JournalStep:
    """One page of a run, ascending, of these types only where some are named (JN-250, JN-251).

    Complete or refused, never shortened: a cursor below the floor is ``compacted``, also where no entry would match
    (JN-252), and one row that does not decode refuses the page (JN-253).
    """
    if session not in state.instances:
        return JournalStep(state, unavailable("entries"))
    options = admit_entries_options({"runId": run_id, "limit": limit, "after": after, "eventTypes": event_types})
    if isinstance(options, Refusal):
        return JournalStep(state, JournalError("invalid_event", INVALID_ENTRIES_OPTIONS, cause=options.cause))
    if is_failing(fault):
        return JournalStep(state, JournalError("read_failed", JOURNAL_READ_FAILED))
    tables = visible(state, session).journal
    cursor = -1 if options.after is ABSENT else options.after
    matching = [
        event
        for event in tables.events.get(options.run_id, ())
        if event.seq > cursor and (options.event_types is ABSENT or event.content.event_type in options.event_types)
    ]
    page = decoded_page(tables, options.run_id, cursor, matching[: options.limit])
    if isinstance(page, JournalError):
        return JournalStep(state, page)
    return JournalStep(state, EntriesPage(page, has_more=len(matching) > options.limit))


def decoded_page(
    tables: JournalTables, run_id: str, cursor: int, events: Iterable[Event]
) -> tuple[Entry, ...] | JournalError:
    """The entries of a page read from ``cursor``, or ``compacted``, or ``decode_failed``, in that order (JN-253).

    The cursor just below the floor is served, as nothing above it is gone (JN-252).
    """
    floor = compaction_floor(tables, run_id)
    if floor is not None and cursor < floor - 1:
        return compacted(run_id, floor)
    page = []
    for event in events:
        entry = decode(event)
        if isinstance(entry, JournalError):
            return entry
        page.append(entry)
    return tuple(page)


def decode(event: Event) -> Entry | JournalError:
    """A row as the entry that readers get (JN-025), or ``decode_failed`` for what no writer here would have stored."""
    content = event.content
    payload, meta = decode_json(content.payload_json), decode_json(content.meta_json)
    if isinstance(payload, JsonComplaint) or isinstance(meta, JsonComplaint) or not _is_shaped(event):
        return JournalError("decode_failed", ROW_UNDECODABLE)
    return Entry(
        event.run_id,
        event.seq,
        event.event_id,
        event.source_id,
        event.source_seq,
        event.emitted_at_ms,
        content.event_type,
        payload,
        meta,
    )


def _is_shaped(event: Event) -> bool:
    return (
        is_durable_text(event.run_id)
        and is_durable_text(event.source_id)
        and is_durable_text(event.content.event_type)
        and is_sequence(event.seq)
        and is_sequence(event.source_seq)
    )


def latest_checkpoint(
    state: JournalState, session: str, clock_ms: float, run_id: object, fault: object = ABSENT
) -> JournalStep:
    """The checkpoint with the largest ``seq``, compacted or not, or ``None`` (JN-275)."""
    if session not in state.instances:
        return JournalStep(state, unavailable("latestCheckpoint"))
    if not is_durable_text(run_id):
        return JournalStep(state, JournalError("invalid_event", INVALID_RUN_ID))
    if is_failing(fault):
        return JournalStep(state, JournalError("read_failed", CHECKPOINT_READ_FAILED))
    rows = visible(state, session).journal.checkpoints.get(run_id)
    return JournalStep(state, decode_checkpoint(rows[max(rows)]) if rows else None)


def decode_checkpoint(row: CheckpointRow) -> Checkpoint | JournalError:
    """A checkpoint as callers get it: its state is decoded from what is stored (JN-272)."""
    checkpointed = decode_json(row.state_json)
    if isinstance(checkpointed, JsonComplaint):
        return JournalError("decode_failed", CHECKPOINT_UNDECODABLE)
    return Checkpoint(row.run_id, row.seq, checkpointed, row.created_at_ms, row.compacted_at_ms)


def generation(
    state: JournalState, session: str, clock_ms: float, run_id: object, fault: object = ABSENT
) -> JournalStep:
    """How often the run was rewound, and what survived; 0 and -1 where no row says (JN-341)."""
    if session not in state.instances:
        return JournalStep(state, unavailable("generation"))
    if not is_durable_text(run_id):
        return JournalStep(state, JournalError("invalid_event", INVALID_RUN_ID))
    if is_failing(fault):
        return JournalStep(state, JournalError("read_failed", GENERATION_READ_FAILED))
    return JournalStep(state, visible(state, session).journal.generations.get(run_id, UNREWOUND))

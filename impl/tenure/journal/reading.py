"""``entries``, ``latestCheckpoint`` and ``generation``: reads outside any transaction, or in the caller's own.

Rules JN-250..JN-253, JN-275, JN-341.
"""

import json
from collections.abc import Callable
from typing import TypeAlias

from tenure.database.engine import Bindings, SqlRow, UndecodableTextError, UsageError
from tenure.journal import statements
from tenure.journal.decoding import decode_checkpoint, decode_entries, undecodable_checkpoint, undecodable_row
from tenure.journal.failures import storage_failure
from tenure.journal.instance import Instance
from tenure_model.admission.journal_options import admit_entries_options
from tenure_model.admission.refusal import Refusal
from tenure_model.admission.text import is_durable_text
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal import Checkpoint, EntriesPage, Entry, Generation
from tenure_model.vocabulary.journal_errors import (
    CHECKPOINT_READ_FAILED,
    GENERATION_READ_FAILED,
    INVALID_ENTRIES_OPTIONS,
    INVALID_RUN_ID,
    JOURNAL_READ_FAILED,
    JournalError,
    compacted,
)

Read: TypeAlias = Callable[[str, Bindings], list[SqlRow]]


def entries(instance: Instance, options: object) -> EntriesPage:
    """One page (JN-250..JN-252)."""
    admitted = admit_entries_options(options)
    if type(admitted) is Refusal:
        raise JournalError("invalid_event", INVALID_ENTRIES_OPTIONS, cause=admitted.cause)
    types = () if admitted.event_types is ABSENT else tuple(admitted.event_types)
    after = -1 if admitted.after is ABSENT else admitted.after
    found, has_more = read_page(instance, admitted.run_id, after, admitted.limit, types)
    return EntriesPage(tuple(found), has_more)


def read_page(
    instance: Instance,
    run_id: str,
    after: int,
    limit: int,
    event_types: tuple[str, ...] = (),
    *,
    committed_only: bool = False,
) -> tuple[list[Entry], bool]:
    """The first ``limit`` entries above ``after``, of these types if any are given, and whether there is another.

    The page is read first and the floor second, so a compaction in between makes a refusal and no gap. Errors in this
    order: ``read_failed``, ``compacted``, ``decode_failed`` (JN-252, JN-253). ``committed_only`` leaves out what the
    caller's own transaction has written.
    """
    read = instance.database.read_committed if committed_only else instance.database.read
    rows = _page_rows(read, run_id, after, limit, event_types)
    floor = _read(read, statements.COMPACTION_FLOOR, (run_id,))[0][0]
    if floor is not None and after < floor - 1:
        raise compacted(run_id, floor)
    if rows is None:
        raise undecodable_row()
    return decode_entries(rows[:limit]), len(rows) > limit


def _page_rows(read: Read, run_id: str, after: int, limit: int, event_types: tuple[str, ...]) -> list[SqlRow] | None:
    """The rows of a page and, if there is one, of the entry behind it; ``None`` where the page holds no text."""
    sql = statements.PAGE
    types: tuple[str, ...] = ()
    if event_types:
        sql = statements.PAGE_OF_TYPES
        types = (json.dumps(sorted(set(event_types)), ensure_ascii=False),)
    try:
        return _read(read, sql, (run_id, after, limit + 1, *types))
    except UndecodableTextError:
        pass
    try:
        # It may be the row behind the page that cannot be read, and that one spoils nothing yet.
        rows = _read(read, sql, (run_id, after, limit, *types))
    except UndecodableTextError:
        return None
    return [*rows, ()]


def latest_checkpoint(instance: Instance, run_id: object) -> Checkpoint | None:
    """The checkpoint with the highest seq, compacted or not (JN-275)."""
    admitted = require_run_id(run_id)
    try:
        rows = instance.database.read(statements.LATEST_CHECKPOINT, (admitted,))
    except UndecodableTextError:
        raise undecodable_checkpoint() from None
    except UsageError:
        raise
    except Exception as error:
        raise storage_failure("read_failed", CHECKPOINT_READ_FAILED, error) from error
    return decode_checkpoint(rows[0]) if rows else None


def generation(instance: Instance, run_id: object) -> Generation:
    """How often the run was rewound (JN-341)."""
    admitted = require_run_id(run_id)
    try:
        rows = instance.database.read(statements.GENERATION, (admitted,))
    except UsageError:
        raise
    except Exception as error:
        raise storage_failure("read_failed", GENERATION_READ_FAILED, error) from error
    return Generation(*rows[0]) if rows else Generation(0, -1)


def require_run_id(run_id: object) -> str:
    """The run id, or ``invalid_event``."""
    if not is_durable_text(run_id):
        raise JournalError("invalid_event", INVALID_RUN_ID)
    return run_id


def _read(read: Read, sql: str, bindings: Bindings) -> list[SqlRow]:
    try:
        return read(sql, bindings)
    except (UndecodableTextError, UsageError):
        raise
    except Exception as error:
        raise storage_failure("read_failed", JOURNAL_READ_FAILED, error) from error

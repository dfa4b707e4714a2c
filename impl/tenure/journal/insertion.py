"""What becomes of queued entries inside one transaction (JN-211, JN-212)."""

from typing import TypeAlias

import attrs

from tenure.database.engine import SqlRow, Statements
from tenure.journal import statements
from tenure.journal.backlog import Queued
from tenure.journal.floors import exhausted
from tenure.journal.identities import Existing, find_existing, require_same
from tenure_model.admission.event_identity import event_id
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal_errors import JournalError, dropped_below_floor


@attrs.define(eq=False)
class Inserted:
    """The entry has a row of its own."""

    row: SqlRow


Fate: TypeAlias = Inserted | Existing | JournalError
"""A row, the row or tombstone that it repeats, or why it is lost."""


@attrs.define
class _Run:
    """Where a run's next row goes, and how far it is compacted."""

    next_seq: int
    compaction_floor: int | None


class Insertion:
    """Inserts queued entries, in the order they were queued in, above the tails of their runs.

    It is good for one transaction in which nothing else is written meanwhile: it reads each run's bounds once.
    """

    __slots__ = ("_rows", "_runs")

    def __init__(self, rows: Statements) -> None:
        self._rows = rows
        self._runs: dict[str, _Run] = {}

    def insert(self, queued: Queued) -> Fate:
        """Insert one entry, or say what stopped it; raises only what storage raises.

        The compaction floor is held against the reservation, not against the seq that it moves to. A duplicate from
        below that floor is a duplicate and no loss.
        """
        prepared = queued.prepared
        run_id, source_id, source_seq = prepared.run_id, prepared.source_id, queued.source_seq
        run = self._runs.get(run_id)
        if run is None:
            run = self._runs[run_id] = _Run(*self._rows(statements.BOUNDS, (run_id,))[0])
        name = event_id(run_id, source_id, source_seq)
        floor = run.compaction_floor
        is_overtaken = floor is not None and floor >= queued.seq
        if not is_overtaken and run.next_seq < MAX_SAFE_INTEGER:
            row = (
                run_id,
                max(queued.seq, run.next_seq),
                name,
                source_id,
                source_seq,
                prepared.emitted_at_ms,
                prepared.event_type,
                prepared.payload_json,
                prepared.meta_json,
            )
            if self._rows(statements.INSERT, row):
                run.next_seq = row[1] + 1
                return Inserted(row)
        existing = find_existing(self._rows, prepared, source_seq, name)
        if existing is not None:
            try:
                require_same(existing, prepared, source_seq)
            except JournalError as conflict:
                return conflict.with_traceback(None)
            return existing
        if floor is not None and is_overtaken:
            return dropped_below_floor(run_id, queued.seq, floor)
        return exhausted()

"""What becomes of queued entries inside one transaction (JN-211, JN-212)."""

from collections.abc import Sequence
from itertools import chain
from typing import TypeAlias

import attrs

from tenure.database.writer import Database, Withdrawn
from tenure.journal import statements
from tenure.journal.backlog import Queued
from tenure.journal.floors import exhausted
from tenure.journal.identities import Existing, find_existing, require_same
from tenure_model.admission.event_identity import event_id
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal_errors import JournalError, dropped_below_floor

EventRow: TypeAlias = tuple[str, int, str, str, int, int, str, str, str]
"""The columns of an event."""


@attrs.define(eq=False)
class Inserted:
    """The entry has a row of its own."""

    row: EventRow


Fate: TypeAlias = Inserted | Existing | JournalError
"""A row, the row or tombstone that it repeats, or why it is lost."""


@attrs.define
class _Run:
    """Where a run's next row goes, and how far it is compacted."""

    next_seq: int
    compaction_floor: int | None

    def has_overtaken(self, queued: Queued) -> bool:
        """Whether the run was compacted past the entry's reservation (JN-211)."""
        return self.compaction_floor is not None and self.compaction_floor >= queued.seq


class Insertion:
    """Inserts queued entries, in the order they were queued in, above the tails of their runs.

    It is good for one transaction in which nothing else is written meanwhile: it reads each run's bounds once. Raises
    only what storage raises.
    """

    __slots__ = ("_database", "_rows", "_runs")

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows = database.rows
        self._runs: dict[str, _Run] = {}

    def insert_all(self, entries: Sequence[Queued]) -> list[Fate]:
        """Insert each entry, or say what stopped it: many at a time where nothing stops any of them."""
        fates: list[Fate] = []
        start = 0
        while start < len(entries):
            size = next((size for size in statements.CHUNKS if size <= len(entries) - start), 1)
            chunk = entries[start : start + size]
            fates += self._insert_chunk(chunk) if size > 1 else [self._insert(chunk[0])]
            start += size
        return fates

    def _insert_chunk(self, chunk: Sequence[Queued]) -> Sequence[Fate]:
        """Insert a chunk by one statement, or, if any of it gets no row, one by one: who comes later moves up then."""
        rows: list[EventRow] = []
        next_seqs: dict[str, int] = {}
        for queued in chunk:
            run_id = queued.prepared.run_id
            run = self._bounds(run_id)
            seq = max(queued.seq, next_seqs.get(run_id, run.next_seq))
            if run.has_overtaken(queued) or seq >= MAX_SAFE_INTEGER:
                break
            next_seqs[run_id] = seq + 1
            rows.append(_row(queued, seq))
        if len(rows) < len(chunk) or not self._database.write(self._insert_rows, rows):
            return [self._insert(queued) for queued in chunk]
        for run_id, next_seq in next_seqs.items():
            self._runs[run_id].next_seq = next_seq
        return [Inserted(row) for row in rows]

    def _insert_rows(self, rows: Sequence[EventRow]) -> bool:
        self._rows(statements.INSERT_CHUNK[len(rows)], tuple(chain.from_iterable(rows)))
        if self._rows(statements.INSERTED) != [(len(rows),)]:
            raise Withdrawn(False)
        return True

    def _insert(self, queued: Queued) -> Fate:
        """Insert one entry.

        The compaction floor is held against the reservation, not against the seq that it moves to. A duplicate from
        below that floor is a duplicate and no loss.
        """
        prepared = queued.prepared
        run = self._bounds(prepared.run_id)
        row = _row(queued, max(queued.seq, run.next_seq))
        is_overtaken = run.has_overtaken(queued)
        if not is_overtaken and run.next_seq < MAX_SAFE_INTEGER and self._rows(statements.INSERT, row):
            run.next_seq = row[1] + 1
            return Inserted(row)
        existing = find_existing(self._rows, prepared, queued.source_seq, row[2])
        if existing is not None:
            try:
                require_same(existing, prepared, queued.source_seq)
            except JournalError as conflict:
                return conflict.with_traceback(None)
            return existing
        if run.compaction_floor is not None and is_overtaken:
            return dropped_below_floor(prepared.run_id, queued.seq, run.compaction_floor)
        return exhausted()

    def _bounds(self, run_id: str) -> _Run:
        run = self._runs.get(run_id)
        if run is None:
            run = self._runs[run_id] = _Run(*self._rows(statements.BOUNDS, (run_id,))[0])
        return run


def _row(queued: Queued, seq: int) -> EventRow:
    prepared = queued.prepared
    run_id, source_id, source_seq = prepared.run_id, prepared.source_id, queued.source_seq
    return (
        run_id,
        seq,
        event_id(run_id, source_id, source_seq),
        source_id,
        source_seq,
        prepared.emitted_at_ms,
        prepared.event_type,
        prepared.payload_json,
        prepared.meta_json,
    )

"""What a journal has on disk: events, tombstones, checkpoints and generations, as one immutable value (JN-005..JN-012).

Events and tombstones stand by run in ascending ``seq``, as every insert lands above the tail of its run (JN-240). The
functions read the tables, or answer new ones; none decides whether something may be written.
"""

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

import attrs

from tenure_model.admission.event_identity import content_fingerprint, event_id
from tenure_model.admission.preparation import Prepared
from tenure_model.vocabulary.journal import Dedupe, Generation

Identity: TypeAlias = tuple[str, str, int]
"""(run id, source id, source sequence): what a producer's retry has in common with the original (JN-027)."""


@attrs.frozen
class Content:
    """What two events with one identity must have in common: the type and the stored texts (JN-046)."""

    event_type: str
    payload_json: str
    meta_json: str

    def fingerprint(self) -> str:
        """What a tombstone keeps of it (JN-048)."""
        return content_fingerprint(self.event_type, self.payload_json, self.meta_json)


@attrs.frozen
class Draft:
    """A prepared event with its numbers: ``seq`` is the lowest it commits at, ``source_seq`` is final (JN-198)."""

    run_id: str
    source_id: str
    source_seq: int
    seq: int
    dedupe: Dedupe
    emitted_at_ms: int
    content: Content

    @property
    def identity(self) -> Identity:
        """The producer identity (JN-027)."""
        return self.run_id, self.source_id, self.source_seq


def drafted(prepared: Prepared, seq: int, source_seq: int) -> Draft:
    """The prepared event under these numbers."""
    return Draft(
        prepared.run_id,
        prepared.source_id,
        source_seq,
        seq,
        prepared.dedupe,
        prepared.emitted_at_ms,
        content_of(prepared),
    )


def content_of(prepared: Prepared) -> Content:
    """The content of a prepared event."""
    return Content(prepared.event_type, prepared.payload_json, prepared.meta_json)


@attrs.frozen
class Event:
    """One row of ``flows_journal_events`` (JN-005)."""

    run_id: str
    seq: int
    event_id: str
    source_id: str
    source_seq: int
    emitted_at_ms: int
    content: Content

    @property
    def identity(self) -> Identity:
        """The producer identity (JN-027)."""
        return self.run_id, self.source_id, self.source_seq


def event_at(draft: Draft, seq: int) -> Event:
    """The row that the draft becomes at ``seq``; identity and event id do not depend on it (JN-026, JN-027)."""
    return Event(
        draft.run_id,
        seq,
        event_id(draft.run_id, draft.source_id, draft.source_seq),
        draft.source_id,
        draft.source_seq,
        draft.emitted_at_ms,
        draft.content,
    )


@attrs.frozen
class Tombstone:
    """One row of ``flows_journal_dedup``: the identity of an event that compaction removed (JN-009, JN-011)."""

    run_id: str
    source_id: str
    source_seq: int
    event_id: str
    seq: int
    content_hash: str

    @property
    def identity(self) -> Identity:
        """The producer identity (JN-027)."""
        return self.run_id, self.source_id, self.source_seq


Standing: TypeAlias = Event | Tombstone
"""What holds an identity: the event, or the tombstone it left."""


def tombstone_of(event: Event) -> Tombstone:
    """What remains of an event that is compacted away (JN-281)."""
    return Tombstone(
        event.run_id, event.source_id, event.source_seq, event.event_id, event.seq, event.content.fingerprint()
    )


@attrs.frozen
class CheckpointRow:
    """One row of ``flows_journal_checkpoints`` (JN-007)."""

    run_id: str
    seq: int
    state_json: str
    created_at_ms: int
    compacted_at_ms: int | None


@attrs.frozen
class JournalTables:
    """The journal's tables, each by run id; checkpoints then by ``seq``."""

    events: Mapping[str, tuple[Event, ...]]
    tombstones: Mapping[str, tuple[Tombstone, ...]]
    checkpoints: Mapping[str, Mapping[int, CheckpointRow]]
    generations: Mapping[str, Generation]


EMPTY_TABLES: Final = JournalTables(events={}, tombstones={}, checkpoints={}, generations={})
"""A freshly migrated journal (JN-004)."""

UNREWOUND: Final = Generation(0, -1)
"""The generation of a run that no row speaks of (JN-341)."""


def tail(tables: JournalTables, run_id: str) -> int | None:
    """The largest ``seq`` of the run's events. Compaction keeps it, so it never falls (JN-282)."""
    events = tables.events.get(run_id)
    return events[-1].seq if events else None


def run_floor(tables: JournalTables, run_id: str) -> int:
    """The first ``seq`` above the run's events, 0 without any (JN-172)."""
    last = tail(tables, run_id)
    return 0 if last is None else last + 1


def producer_floor(tables: JournalTables, run_id: str, source_id: str) -> int:
    """The first source sequence above all that the producer used in the run, tombstones included (JN-172)."""
    used = [standing.source_seq for standing in identities(tables, run_id) if standing.source_id == source_id]
    return max(used) + 1 if used else 0


def compaction_floor(tables: JournalTables, run_id: str) -> int | None:
    """The largest compacted checkpoint of the run: no event below it exists (JN-008)."""
    compacted = [row.seq for row in tables.checkpoints.get(run_id, {}).values() if row.compacted_at_ms is not None]
    return max(compacted) if compacted else None


def identities(tables: JournalTables, run_id: str) -> Iterator[Standing]:
    """Whatever holds an identity in the run, ascending in ``seq``: tombstones lie below all events (JN-281)."""
    yield from tables.tombstones.get(run_id, ())
    yield from tables.events.get(run_id, ())


def standing_at(tables: JournalTables, identity: Identity) -> Standing | None:
    """What holds the identity already (JN-175)."""
    run_id, source_id, source_seq = identity
    for standing in identities(tables, run_id):
        if standing.source_seq == source_seq and standing.source_id == source_id:
            return standing
    return None


def content_matches(content: Content, standing: Standing) -> bool:
    """Whether the content is that of the event, or has the fingerprint of the tombstone (JN-177)."""
    if isinstance(standing, Event):
        return standing.content == content
    return standing.content_hash == content.fingerprint()


def event_count(tables: JournalTables, run_id: str) -> int:
    """How many events the run has (JN-301)."""
    return len(tables.events.get(run_id, ()))


def with_event(tables: JournalTables, event: Event) -> JournalTables:
    """The tables with one more event, above the tail of its run."""
    events = {**tables.events, event.run_id: (*tables.events.get(event.run_id, ()), event)}
    return JournalTables(events, tables.tombstones, tables.checkpoints, tables.generations)


def with_checkpoint(tables: JournalTables, row: CheckpointRow) -> JournalTables:
    """The tables with this checkpoint, in place of one at the same ``seq``."""
    rows = {**tables.checkpoints.get(row.run_id, {}), row.seq: row}
    return JournalTables(tables.events, tables.tombstones, {**tables.checkpoints, row.run_id: rows}, tables.generations)


def truncated(tables: JournalTables, row: CheckpointRow) -> JournalTables:
    """The tables in which ``row`` is a run's compaction floor: events below it are tombstones, checkpoints below it
    are gone (JN-281).
    """
    run_id = row.run_id
    events = tables.events.get(run_id, ())
    buried = tuple(tombstone_of(event) for event in events if event.seq < row.seq)
    kept = {seq: other for seq, other in tables.checkpoints.get(run_id, {}).items() if seq > row.seq}
    return JournalTables(
        {**tables.events, run_id: tuple(event for event in events if event.seq >= row.seq)},
        {**tables.tombstones, run_id: (*tables.tombstones.get(run_id, ()), *buried)},
        {**tables.checkpoints, run_id: {row.seq: row, **kept}},
        tables.generations,
    )

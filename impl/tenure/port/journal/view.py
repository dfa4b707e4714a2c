"""The journal as one session sees it, in the form in which systems are compared."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tenure.database.engine import SqlRow
from tenure.database.writer import Database
from tenure.journal.backlog import Queued
from tenure.port.journal.session import JournalSession
from tenure_model.conform.journal_view import EventColumns, Identity, JournalView, MemoryView
from tenure_model.conform.systems import Columns

_READ_EVENTS: Final = """
    SELECT run_id, seq, event_id, source_id, source_seq, emitted_at_ms, event_type, payload_json, meta_json
    FROM flows_journal_events ORDER BY run_id, seq
"""
_READ_CHECKPOINTS: Final = """
    SELECT run_id, seq, state_json, created_at_ms, compacted_at_ms FROM flows_journal_checkpoints ORDER BY run_id, seq
"""
_READ_TOMBSTONES: Final = """
    SELECT run_id, source_id, source_seq, event_id, seq, content_hash FROM flows_journal_dedup ORDER BY run_id, seq
"""
_GENERATIONS_EXIST: Final = "SELECT 1 FROM sqlite_schema WHERE name = 'flows_journal_generations'"
_READ_GENERATIONS: Final = "SELECT run_id, generation, after_seq FROM flows_journal_generations"


def memory_of(acting: JournalSession) -> MemoryView | None:
    """What the session's instance remembers, if it has one."""
    if acting.journal is None or acting.driver is None:
        return None
    instance = acting.journal.instance
    backlog = instance.backlog
    lost = backlog.last_loss if backlog.has_unreported_loss else None
    return MemoryView(
        status=instance.status,
        run_floors=dict(instance.floors.seq),
        producer_floors=dict(instance.floors.source),
        warm=frozenset(instance.floors.warm),
        identities=tuple((identity, known.seq, status) for identity, known, status in instance.cache.items()),
        queue=tuple(map(_identity, backlog.queue)),
        batch=tuple(map(_identity, backlog.taken)),
        gates=frozenset(instance.gates),
        unreported=None if lost is None else lost.code,
        published=tuple(acting.published.entries),
        maintenance=tuple((task.run_id, task.stage) for task in acting.driver.tasks),
        losses=backlog.losses,
        counters={} if instance.policy is None or instance.status == "closed" else dict(instance.policy.counters),
    )


def read_journal(
    database: Database, memory: MemoryView | None, ran: Sequence[str], fates: Mapping[int, str]
) -> JournalView:
    """The tables, in the caller's transaction if it has one, with what is remembered beside them."""
    read = database.read
    events: dict[str, tuple[EventColumns, ...]] = _by_run(read(_READ_EVENTS))
    generations = read(_READ_GENERATIONS) if read(_GENERATIONS_EXIST) else []
    return JournalView(
        events=events,
        checkpoints=_by_run(read(_READ_CHECKPOINTS)),
        tombstones=_by_run(read(_READ_TOMBSTONES)),
        generations={run_id: (generation, after_seq) for run_id, generation, after_seq in generations},
        memory=memory,
        ran=tuple(ran),
        fates=fates,
    )


def _identity(queued: Queued) -> Identity:
    return (queued.prepared.run_id, queued.prepared.source_id, queued.source_seq)


def _by_run(rows: Sequence[SqlRow]) -> dict[str, tuple[Any, ...]]:
    grouped: dict[str, list[Columns]] = {}
    for run_id, *columns in rows:
        grouped.setdefault(run_id, []).append(tuple(columns))
    return {run_id: tuple(members) for run_id, members in grouped.items()}

"""The model of runs and journal together, as a system that can be driven."""

from collections.abc import Mapping, Sequence
from typing import Final

from tenure_model.conform.journal_view import Identity, JournalView, MemoryView
from tenure_model.conform.model_system import world_state
from tenure_model.conform.systems import SystemState
from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal.commands import apply
from tenure_model.semantics.journal.instance import Instance, Queued
from tenure_model.semantics.journal.state import Fate, JournalState, JournalStep, Store, empty_state, visible
from tenure_model.semantics.profiles import Profile

_CRASHES: Final = ("session.crash", "system.crash")


def _identities(entries: Sequence[Queued]) -> tuple[Identity, ...]:
    return tuple(queued.draft.identity for queued in entries)


def memory_view(instance: Instance) -> MemoryView:
    """What the instance remembers."""
    lost = instance.losses.unreported
    return MemoryView(
        status=instance.status,
        run_floors=instance.floors.run,
        producer_floors=instance.floors.producer,
        warm=instance.floors.warm,
        identities=tuple((identity, known.seq, known.status) for identity, known in instance.cache.items()),
        queue=_identities(instance.queue),
        batch=() if instance.batch is None else _identities(instance.batch.entries),
        gates=frozenset(compaction.run_id for compaction in instance.compactions.values() if compaction.gated),
        unreported=None if lost is None else lost.code,
        published=instance.published,
        maintenance=tuple((task.run_id, task.stage) for task in instance.maintenance.values()),
        losses=instance.losses.epoch,
        counters={} if instance.status == "closed" else instance.counters,
    )


def journal_view(
    store: Store, instance: Instance | None, ran: tuple[str, ...], fates: Mapping[int, Fate]
) -> JournalView:
    """The tables, and the memory beside them."""
    tables = store.journal
    return JournalView(
        events={
            run_id: tuple(
                (
                    event.seq,
                    event.event_id,
                    event.source_id,
                    event.source_seq,
                    event.emitted_at_ms,
                    event.content.event_type,
                    event.content.payload_json,
                    event.content.meta_json,
                )
                for event in events
            )
            for run_id, events in tables.events.items()
            if events
        },
        checkpoints={
            run_id: tuple(
                (row.seq, row.state_json, row.created_at_ms, row.compacted_at_ms)
                for row in sorted(rows.values(), key=lambda row: row.seq)
            )
            for run_id, rows in tables.checkpoints.items()
            if rows
        },
        tombstones={
            run_id: tuple((row.source_id, row.source_seq, row.event_id, row.seq, row.content_hash) for row in rows)
            for run_id, rows in tables.tombstones.items()
            if rows
        },
        generations={run_id: (row.generation, row.after_seq) for run_id, row in tables.generations.items()},
        memory=None if instance is None else memory_view(instance),
        ran=ran,
        fates=fates,
    )


class JournalModelSystem:
    """Runs and journal of the model under one profile. ``take_fired`` names the repairs that made a difference."""

    def __init__(self, profile: Profile) -> None:
        self.model: JournalState = empty_state(profile)
        self._fired: frozenset[str] = frozenset()
        self.last_step: tuple[JournalState, str, Command, JournalStep] | None = None
        """The last step taken, as ``violated_between`` wants it."""
        self._last: tuple[Store, Instance | None, JournalView] | None = None

    def call(self, session: str, operation: str, arguments: Mapping[str, object], clock_ms: float) -> object:
        """One operation or step by its wire names; answers its outcome, or its error as a value."""
        command = Command(operation, arguments, clock_ms)
        step = apply(self.model, session, command)
        self.last_step = self.model, session, command, step
        self.model = step.state
        self._fired |= step.fired
        return step.outcome

    def take_fired(self) -> frozenset[str]:
        """The repairs by which the calls since the last ``take_fired`` made a difference."""
        fired, self._fired = self._fired, frozenset()
        return fired

    def control(self, session: str, action: str, clock_ms: float = 0.0) -> bool:
        """A transaction's begin, commit or rollback, or a crash; answers whether it could be."""
        outcome = self.call(session, action, {}, clock_ms)
        return action in _CRASHES or outcome is None

    def state(self, session: str) -> SystemState:
        """The runs as the session sees them."""
        return world_state(visible(self.model, session).world)

    def journal(self, session: str) -> JournalView:
        """The journal as the session sees it."""
        store, instance = visible(self.model, session), self.model.instances.get(session)
        ran, fates = self.model.ran, self.model.fates
        last = self._last
        if (
            last is None
            or last[0] is not store
            or last[1] is not instance
            or last[2].ran is not ran
            or last[2].fates is not fates
        ):
            last = self._last = store, instance, journal_view(store, instance, ran, fates)
        return last[2]

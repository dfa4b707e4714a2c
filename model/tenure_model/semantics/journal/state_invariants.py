"""What holds in every state of the journal, each invariant a function that answers where the state breaks it.

Under ``original`` the ``fates`` break by HZ-03; nothing else breaks under either profile. Raw writes may break
``facts``.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from tenure_model.admission.event_identity import companion_run_id
from tenure_model.semantics.journal.instance import Succeeded, pending
from tenure_model.semantics.journal.run_operations import FACT_SOURCE
from tenure_model.semantics.journal.state import JournalState
from tenure_model.semantics.journal.tables import Event, compaction_floor, identities, standing_at
from tenure_model.vocabulary.constants import COMPANION_STREAM

Where: TypeAlias = Iterator[str]
"""Where an invariant is broken: the run, the entry, the session it is broken for."""


def unique(state: JournalState) -> Where:
    """(run, seq), identity and event id are unique over events and tombstones together (JN-005, JN-009, JN-010)."""
    tables = state.committed.journal
    event_ids: list[str] = []
    for run_id in {**tables.events, **tables.tombstones}:
        standing = list(identities(tables, run_id))
        event_ids += [one.event_id for one in standing]
        if len({one.seq for one in standing}) < len(standing) or len({one.identity for one in standing}) < len(
            standing
        ):
            yield run_id
    yield from (event_id for event_id, count in Counter(event_ids).items() if count > 1)


def floors(state: JournalState) -> Where:
    """No event lies below a compaction floor, and the event at it exists (JN-281, JN-282)."""
    tables = state.committed.journal
    for run_id in tables.checkpoints:
        floor = compaction_floor(tables, run_id)
        if floor is None:
            continue
        seqs = [event.seq for event in tables.events.get(run_id, ())]
        if floor not in seqs or min(seqs) < floor:
            yield run_id


def receipts(state: JournalState) -> Where:
    """What a durable receipt named is there, as a row or as a tombstone, under the same ``seq`` (JN-170, JN-177)."""
    for identity, seq in state.committed.receipts.items():
        standing = standing_at(state.committed.journal, identity)
        if standing is None or standing.seq != seq:
            yield str(identity)


def fates(state: JournalState) -> Where:
    """An accepted lossy entry is outstanding exactly as long as one instance has it once; none is dropped without a
    word (JN-214, JN-231).
    """
    held = Counter(queued.entry_id for instance in state.instances.values() for queued in pending(instance))
    for entry_id, fate in state.fates.items():
        if fate == "abandoned" or held[entry_id] != (1 if fate == "outstanding" else 0):
            yield str(entry_id)
    yield from (str(entry_id) for entry_id in held if entry_id not in state.fates)


def publication(state: JournalState) -> Where:
    """What an instance published is committed, and nothing twice; no subscriber has anything else (JN-179, JN-260)."""
    tables = state.committed.journal
    committed = {
        (run_id, one.seq) for run_id in {**tables.events, **tables.tombstones} for one in identities(tables, run_id)
    }
    for session, instance in state.instances.items():
        published = set(instance.published)
        waiting = {(event.run_id, event.seq) for events in instance.changes.values() for event in events}
        if len(published) < len(instance.published) or not published <= committed or not waiting <= published:
            yield session


def answered_flushes(state: JournalState) -> Where:
    """A flush that has ended well left none of the entries before it outstanding, nor did it hide a loss among them
    (JN-222).
    """
    for session, instance in state.instances.items():
        for flush in instance.flushes.values():
            if isinstance(flush.answer, Succeeded) and (
                flush.lost is not None or any(state.fates[entry_id] == "outstanding" for entry_id in flush.covered)
            ):
                yield session


def lock_order(state: JournalState) -> Where:
    """Whoever has closed a gate holds the transaction, so nobody waits for the database behind a gate (JN-286)."""
    held = state.transaction
    for session, instance in state.instances.items():
        for ticket, compaction in instance.compactions.items():
            holds = held is not None and (held.session, held.compaction) == (session, ticket)
            if compaction.gated != holds:
                yield session


def facts(state: JournalState) -> Where:
    """Every granted transition is on the companion stream, in order, and nothing else of that producer is (RS-703)."""
    store = state.committed
    for run_id in store.world.facts:
        recorded = [fact.event_type for fact in store.world.facts[run_id]]
        stream = list(identities(store.journal, companion_run_id(COMPANION_STREAM, run_id)))
        told = [one for one in stream if one.source_id == FACT_SOURCE]
        kinds = [one.content.event_type for one in told if isinstance(one, Event)]
        if len(told) != len(recorded) or kinds != recorded[len(recorded) - len(kinds) :]:
            yield run_id


OF_STATES: Final[Mapping[str, Callable[[JournalState], Where]]] = {
    "unique": unique,
    "floors": floors,
    "receipts": receipts,
    "fates": fates,
    "publication": publication,
    "answered flushes": answered_flushes,
    "lock order": lock_order,
    "facts": facts,
}
"""The invariants of one state, by name."""

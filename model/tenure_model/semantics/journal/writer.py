"""The batch writer of an instance: it takes, writes in one transaction, and settles (JN-210..JN-216)."""

from typing import Final

import attrs

from tenure_model.semantics.journal import cache
from tenure_model.semantics.journal.allocation import raise_floors
from tenure_model.semantics.journal.answers import Blocked
from tenure_model.semantics.journal.flush import report, resolve
from tenure_model.semantics.journal.insertion import insert_queued
from tenure_model.semantics.journal.instance import (
    Batch,
    Collapsed,
    Inserted,
    InsertResult,
    Instance,
    Maintenance,
    Queued,
    is_attempting,
)
from tenure_model.semantics.journal.publication import publish
from tenure_model.semantics.journal.state import (
    NO_REPAIRS,
    Fate,
    JournalState,
    JournalStep,
    Store,
    with_committed,
    with_fates,
    with_instance,
)
from tenure_model.semantics.journal.tables import Draft
from tenure_model.semantics.profiles import Profile
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal_errors import (
    SINK_FAILED,
    WRITER_FAILED,
    JournalError,
    JournalUsageError,
    unavailable,
)

FAULTS: Final = {"sink": SINK_FAILED, "writer": WRITER_FAILED}
"""What can befall a whole batch: its storage fails, or the writer itself does (JN-213)."""


def take(state: JournalState, session: str) -> JournalStep:
    """Take up to a batch from the head of the queue; answers how many, 0 also while a batch is in hand (JN-210)."""
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("writer"))
    if instance.batch is not None or not instance.queue:
        return JournalStep(state, 0)
    size = instance.settings.batch_size
    batch = Batch(instance.queue[:size])
    instance = attrs.evolve(instance, batch=batch, queue=instance.queue[size:])
    return JournalStep(with_instance(state, session, instance), len(batch.entries))


def write(state: JournalState, session: str, fault: object = ABSENT) -> JournalStep:
    """Insert every entry of the batch in one transaction and commit it; nothing to do without a batch.

    ``Blocked`` while anybody holds a transaction. ``fault`` makes all of it fail: ``sink`` the storage, ``writer`` the
    writer. Otherwise an entry that fails is lost alone, and the others commit (JN-213).
    """
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("writer"))
    if fault is not ABSENT and (type(fault) is not str or fault not in FAULTS):
        return JournalStep(state, JournalUsageError("no such fault"))
    batch = instance.batch
    if batch is None or batch.results is not None or batch.failure is not None:
        return JournalStep(state, None)
    if type(fault) is str:
        failed = Batch(batch.entries, failure=JournalError("sink_failed", FAULTS[fault]))
        return JournalStep(with_instance(state, session, attrs.evolve(instance, batch=failed)), None)
    if state.transaction is not None:
        return JournalStep(state, Blocked())
    store = state.committed
    tables = store.journal
    results: list[InsertResult] = []
    for queued in batch.entries:
        tables, result = insert_queued(tables, queued.draft)
        results.append(result)
    state = with_committed(state, Store(store.world, tables, store.receipts))
    written = attrs.evolve(instance, batch=Batch(batch.entries, tuple(results)))
    return JournalStep(with_instance(state, session, written), None)


def settle(state: JournalState, session: str) -> JournalStep:
    """What follows the batch's commit, in the order of JN-214; nothing to do before it.

    Committed and collapsed entries enter memory, inserted ones are published, the batch is no longer pending, automatic
    compaction of each run with new rows is registered, losses are reported one by one, and flushes are answered.
    """
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("writer"))
    batch = instance.batch
    if batch is None or (batch.results is None and batch.failure is None):
        return JournalStep(state, None)
    fired: frozenset[str] = NO_REPAIRS
    events = []
    for queued, result in zip(batch.entries, batch.results or (), strict=False):
        if isinstance(result, JournalError):
            continue
        instance, repaired = settle_draft(instance, queued.draft, result, state.profile)
        fired |= repaired
        if isinstance(result, Inserted):
            events.append(result.event)
    instance = attrs.evolve(publish(instance, ()), batch=None)
    instance = _register_maintenance(instance, [event.run_id for event in events])
    losses = _losses(batch)
    for lost, error in losses:
        instance = report(instance, state.profile, lost, error)
    instance, resolved = resolve(instance, state.profile, len(losses))
    fired |= resolved
    return JournalStep(with_fates(with_instance(state, session, instance), fates_of(batch)), None, fired)


def drain(state: JournalState, session: str) -> JournalStep:
    """What a writer with nothing in its way would do: take, write and settle until the queue is empty (JN-216).

    ``Blocked`` where somebody holds a transaction, with what could be done before that done.
    """
    fired: frozenset[str] = NO_REPAIRS
    while True:
        instance = state.instances.get(session)
        if instance is None:
            return JournalStep(state, unavailable("writer"), fired)
        if instance.batch is None and not instance.queue:
            return JournalStep(state, None, fired)
        written = write(take(state, session).state, session)
        if isinstance(written.outcome, Blocked):
            return JournalStep(written.state, written.outcome, fired)
        settled = settle(written.state, session)
        state, fired = settled.state, fired | settled.fired


def settle_draft(
    instance: Instance, draft: Draft, result: Inserted | Collapsed, profile: Profile
) -> tuple[Instance, frozenset[str]]:
    """Remember a committed or collapsed event, and raise the floors above where it stands (JN-179, JN-214).

    This warms no producer (R-5).
    """
    seq = result.event.seq if isinstance(result, Inserted) else result.standing.seq
    remembered, fired = cache.settle(instance.cache, instance.settings.source_event_cache, draft, result, profile)
    floors = raise_floors(instance.floors, draft.run_id, seq, draft.source_id, draft.source_seq)
    return attrs.evolve(instance, cache=remembered, floors=floors), fired


def fates_of(batch: Batch) -> dict[int, Fate]:
    """What has become of the entries of a batch that was written."""
    if batch.results is None:
        return {queued.entry_id: "lost" for queued in batch.entries}
    return {
        queued.entry_id: "row"
        if isinstance(result, Inserted)
        else "collapsed"
        if isinstance(result, Collapsed)
        else "lost"
        for queued, result in zip(batch.entries, batch.results, strict=True)
    }


def _losses(batch: Batch) -> list[tuple[tuple[Queued, ...], JournalError]]:
    """The losses to report: the whole batch as one, or each bad entry as its own (JN-213, JN-223)."""
    if batch.failure is not None:
        return [(batch.entries, batch.failure)]
    return [
        ((queued,), result)
        for queued, result in zip(batch.entries, batch.results or (), strict=True)
        if isinstance(result, JournalError)
    ]


def _register_maintenance(instance: Instance, run_ids: list[str]) -> Instance:
    """Register automatic compaction for each run that got rows, before the batch settles, so that flush and close wait
    for it (JN-304). While an attempt for the run is in flight its rows are passed over (JN-301, HZ-25).
    """
    if instance.settings.compaction is None or not run_ids:
        return instance
    maintenance = dict(instance.maintenance)
    number = instance.next_number
    for run_id in dict.fromkeys(run_ids):
        if is_attempting(instance, run_id):
            continue
        maintenance[number] = Maintenance(run_id, inserted=run_ids.count(run_id))
        number += 1
    return attrs.evolve(instance, maintenance=maintenance, next_number=number)

"""``compact``: wait for the run to drain, close its gate inside the transaction, truncate (JN-280, JN-286..JN-291).

At the top level it moves by small steps: it waits with admissions open, then holds the transaction with the gate
closed, then is done. No gate is ever closed while the transaction is waited for. Inside a transaction nothing waits.
"""

import attrs

from tenure_model.admission.journal_input import admit_fence_owner
from tenure_model.admission.journal_options import admit_compact_options
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics import lease
from tenure_model.semantics.journal.after_commit import conclude
from tenure_model.semantics.journal.answers import Blocked, Waiting, is_failing
from tenure_model.semantics.journal.insertion import insert_queued
from tenure_model.semantics.journal.instance import Compaction, Inserted, Instance, is_pending, pending
from tenure_model.semantics.journal.retention import truncate
from tenure_model.semantics.journal.state import (
    JournalState,
    JournalStep,
    Publish,
    Store,
    Transaction,
    is_busy,
    is_inside,
    visible,
    with_committed,
    with_instance,
    with_transaction,
)
from tenure_model.semantics.journal.writer import drain
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal import CompactOptions
from tenure_model.vocabulary.journal_errors import (
    CLOSED,
    COMPACTION_FAILED,
    INVALID_COMPACT_OPTIONS,
    JournalError,
    JournalUsageError,
    fence_lost,
    fence_required,
    unavailable,
)
from tenure_model.vocabulary.owners import OwnerId


def compact(
    state: JournalState, session: str, clock_ms: float, run_id: object, owner: object, up_to: object
) -> JournalStep:
    """Compact a run, all steps in a row; where the run must drain first, the writer drains its queue.

    Failures in order: the owner, a journal that is not open, the options; then, in the transaction, the fence and what
    ``retention.truncate`` refuses (JN-280).
    """
    if is_busy(state, session):
        refused = _admitted(state, session, run_id, owner, up_to)
        busy = JournalError("sink_failed", COMPACTION_FAILED, cause={"code": "busy"})
        return JournalStep(state, refused if isinstance(refused, JournalError) else busy)
    step = begin_compact(state, session, clock_ms, run_id, owner, up_to)
    fired = step.fired
    while isinstance(step.outcome, Waiting):
        ticket = step.outcome.ticket
        compaction = step.state.instances[session].compactions[ticket]
        state = step.state
        if is_pending(state.instances[session], compaction.run_id):
            drained = drain(state, session)
            state, fired = drained.state, fired | drained.fired
        step = poll_compact(state, session, clock_ms, ticket)
        fired |= step.fired
    return attrs.evolve(step, fired=fired)


def begin_compact(
    state: JournalState, session: str, clock_ms: float, run_id: object, owner: object, up_to: object
) -> JournalStep:
    """Begin to compact: ``Waiting`` with a ticket for ``poll_compact``; inside a transaction the result (JN-288)."""
    admitted = _admitted(state, session, run_id, owner, up_to)
    if isinstance(admitted, JournalError):
        return JournalStep(state, admitted)
    instance, options, claimant = admitted
    if is_inside(state, session):
        return _compact_inside(state, session, instance, clock_ms, options, claimant)
    ticket = instance.next_number
    compactions = {**instance.compactions, ticket: Compaction(options.run_id, options.up_to, claimant)}
    instance = attrs.evolve(instance, compactions=compactions, next_number=ticket + 1)
    return JournalStep(with_instance(state, session, instance), Waiting(ticket))


def poll_compact(
    state: JournalState, session: str, clock_ms: float, ticket: object, fault: object = ABSENT
) -> JournalStep:
    """Move a compaction by one step, or say that it is still ``Waiting`` for its run, or ``Blocked`` by a transaction.

    Once the run has drained and nobody holds the transaction, it takes the transaction, sees again that the run has
    drained, and closes the gate (JN-286); the next step decides, commits or rolls back, and opens the gate (JN-287).
    ``journal_closed`` where the instance was closed before it got so far. ``fault`` of ``delete`` makes its storage
    fail half way through the work, and nothing of it remains (JN-284).
    """
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("compact"))
    compaction = instance.compactions.get(ticket) if type(ticket) is int else None
    if compaction is None or type(ticket) is not int:
        return JournalStep(state, JournalUsageError("no compaction has this ticket"))
    if compaction.gated:
        return _truncate(state, session, instance, clock_ms, ticket, compaction, fails=is_failing(fault, "delete"))
    if is_pending(instance, compaction.run_id):
        return JournalStep(state, Waiting(ticket))
    if state.transaction is not None:
        return JournalStep(state, Blocked())
    if instance.status == "closed":
        state = with_instance(state, session, _without(instance, ticket))
        return JournalStep(state, JournalError("journal_closed", CLOSED))
    gated = attrs.evolve(compaction, gated=True)
    instance = attrs.evolve(instance, compactions={**instance.compactions, ticket: gated})
    held = Transaction(session, state.committed, (), compaction=ticket)
    return JournalStep(with_transaction(with_instance(state, session, instance), held), Waiting(ticket))


def _admitted(
    state: JournalState, session: str, run_id: object, owner: object, up_to: object
) -> tuple[Instance, CompactOptions, OwnerId] | JournalError:
    instance = state.instances.get(session)
    if instance is None:
        return unavailable("compact")
    if isinstance(owner := admit_fence_owner(owner), Refusal):
        return fence_required("compact")
    if instance.status != "open":
        return JournalError("journal_closed", CLOSED)
    options = admit_compact_options({"runId": run_id, "upTo": up_to})
    if isinstance(options, Refusal):
        return JournalError("invalid_event", INVALID_COMPACT_OPTIONS, cause=options.cause)
    return instance, options, owner


def _truncate(
    state: JournalState,
    session: str,
    instance: Instance,
    clock_ms: float,
    ticket: int,
    compaction: Compaction,
    *,
    fails: bool,
) -> JournalStep:
    """The work of a compaction that holds the transaction; either way it lets go of it and of the gate (JN-287)."""
    store = state.committed
    state = with_transaction(with_instance(state, session, _without(instance, ticket)), None)
    if not lease.owns(store.world, compaction.run_id, compaction.owner):
        return JournalStep(state, fence_lost(compaction.run_id, compaction.owner))
    truncated = truncate(instance, store.journal, compaction.run_id, compaction.up_to, clock_ms)
    if isinstance(truncated, JournalError):
        return JournalStep(state, truncated)
    tables, result = truncated
    if fails and tables is not store.journal:
        return JournalStep(state, JournalError("sink_failed", COMPACTION_FAILED))
    return JournalStep(with_committed(state, Store(store.world, tables, store.receipts)), result)


def _compact_inside(
    state: JournalState, session: str, instance: Instance, clock_ms: float, options: CompactOptions, owner: OwnerId
) -> JournalStep:
    """Compact as a savepoint of the caller's transaction.

    The run's pending entries, queued or in the writer's hands, are inserted first, so that they survive above the tail
    (JN-289); a refusal, of the fence too, takes them back. They stay pending: the writer settles them, by collapsing
    onto these rows or, after a rollback, by inserting them. Entries that fail here are left to the writer (JN-288).
    """
    store = visible(state, session)
    tables = store.journal
    events = []
    for queued in pending(instance):
        if queued.draft.run_id == options.run_id:
            tables, inserted = insert_queued(tables, queued.draft)
            if isinstance(inserted, Inserted):
                events.append(inserted.event)
    if not lease.owns(store.world, options.run_id, owner):
        return JournalStep(state, fence_lost(options.run_id, owner))
    truncated = truncate(instance, tables, options.run_id, options.up_to, clock_ms)
    if isinstance(truncated, JournalError):
        return JournalStep(state, truncated)
    tables, result = truncated
    updates = (Publish(tuple(events)),) if events else ()
    state, fired = conclude(state, session, Store(store.world, tables, store.receipts), updates, clock_ms)
    return JournalStep(state, result, fired)


def _without(instance: Instance, ticket: int) -> Instance:
    compactions = {number: waiting for number, waiting in instance.compactions.items() if number != ticket}
    return attrs.evolve(instance, compactions=compactions)

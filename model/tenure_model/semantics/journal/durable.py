"""``emitDurable`` and ``emitDurableUnfenced``: what the caller is told is on disk (JN-170..JN-183)."""

import attrs

from tenure_model.admission.journal_input import admit_fence_owner
from tenure_model.admission.preparation import Prepared, prepare
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics import lease
from tenure_model.semantics.journal.after_commit import conclude
from tenure_model.semantics.journal.allocation import allocate_durable
from tenure_model.semantics.journal.insertion import insert_durable
from tenure_model.semantics.journal.instance import Inserted, Instance
from tenure_model.semantics.journal.state import (
    JournalState,
    JournalStep,
    Settle,
    Store,
    is_busy,
    visible,
    with_instance,
)
from tenure_model.vocabulary.journal import Accepted, Duplicate, DurableReceipt
from tenure_model.vocabulary.journal_errors import (
    CLOSED,
    DURABLE_WRITE_FAILED,
    JournalError,
    fence_lost,
    fence_required,
    unavailable,
)
from tenure_model.vocabulary.owners import OwnerId


def emit_durable(state: JournalState, session: str, clock_ms: float, event: object, owner: object) -> JournalStep:
    """Append behind the fence: ``Accepted``, or ``Duplicate`` of what stands.

    The owner is admitted before all else (JN-082). The fence is asked inside the transaction and before any duplicate,
    so that a zombie is told ``fence_lost`` and nothing of what its successor wrote (JN-085, JN-176).
    """
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("emitDurable"))
    if isinstance(owner := admit_fence_owner(owner), Refusal):
        return JournalStep(state, fence_required("emitDurable"))
    return _emit(state, session, instance, clock_ms, event, owner)


def emit_durable_unfenced(state: JournalState, session: str, clock_ms: float, event: object) -> JournalStep:
    """Append what belongs to no owner: ``Accepted``, or ``Duplicate`` of what stands (JN-081, JN-175)."""
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("emitDurableUnfenced"))
    return _emit(state, session, instance, clock_ms, event, None)


def _emit(
    state: JournalState, session: str, instance: Instance, clock_ms: float, event: object, owner: OwnerId | None
) -> JournalStep:
    prepared = prepare_event(instance, clock_ms, event)
    if isinstance(prepared, JournalError):
        return JournalStep(state, prepared)
    if is_busy(state, session):
        return JournalStep(state, JournalError("sink_failed", DURABLE_WRITE_FAILED, cause={"code": "busy"}))
    appended = append(instance, visible(state, session), prepared, owner)
    state = with_instance(state, session, appended.instance)
    if isinstance(appended.receipt, JournalError):
        return JournalStep(state, appended.receipt)
    state, fired = conclude(state, session, appended.store, appended.updates, clock_ms)
    return JournalStep(state, appended.receipt, fired)


def prepare_event(instance: Instance, clock_ms: float, event: object) -> Prepared | JournalError:
    """The event as it will be stored, or why it is refused; a journal that is not open refuses first (JN-040)."""
    if instance.status != "open":
        return JournalError("journal_closed", CLOSED)
    settings = instance.settings
    return prepare(event, clock_ms, settings.redact, settings.max_entry_bytes, settings.default)


@attrs.frozen
class Appended:
    """One durable append inside a transaction: memory and store after it, and what follows the commit."""

    instance: Instance
    store: Store
    receipt: DurableReceipt | JournalError
    updates: tuple[Settle, ...] = ()


def append(instance: Instance, store: Store, prepared: Prepared, owner: OwnerId | None) -> Appended:
    """Allocate, ask the fence where there is an ``owner``, insert (JN-171, JN-175, JN-176).

    The numbers are spent also by a duplicate, a conflict, a lost fence and a later rollback (JN-174); the store is
    changed only by a success.
    """
    allocated = allocate_durable(instance.floors, store.journal, prepared)
    if isinstance(allocated, JournalError):
        return Appended(instance, store, allocated)
    floors, draft = allocated
    instance = attrs.evolve(instance, floors=floors)
    if owner is not None and not lease.owns(store.world, draft.run_id, owner):
        return Appended(instance, store, fence_lost(draft.run_id, owner))
    tables, result = insert_durable(store.journal, draft)
    if isinstance(result, JournalError):
        return Appended(instance, store, result)
    receipt: DurableReceipt
    if isinstance(result, Inserted):
        receipt = Accepted(result.event.seq, draft.source_seq)
    else:
        receipt = Duplicate(result.standing.seq, draft.source_seq, "committed")
    receipts = {**store.receipts, draft.identity: receipt.seq}
    return Appended(instance, Store(store.world, tables, receipts), receipt, (Settle(draft, result),))

"""What waits for the outermost commit: memory, publication and the program's own updates (JN-145, JN-146, JN-179)."""

from collections.abc import Iterable

import attrs

from tenure_model.semantics.journal.instance import Inserted
from tenure_model.semantics.journal.policy import compact_after
from tenure_model.semantics.journal.publication import publish
from tenure_model.semantics.journal.state import (
    NO_REPAIRS,
    Call,
    JournalState,
    JournalStep,
    Publish,
    Settle,
    Store,
    Update,
    is_inside,
    is_owned,
    with_committed,
    with_instance,
    with_transaction,
)
from tenure_model.semantics.journal.tables import Event
from tenure_model.semantics.journal.writer import settle_draft
from tenure_model.vocabulary.journal_errors import JournalUsageError


def conclude(
    state: JournalState, session: str, store: Store, updates: Iterable[Update], clock_ms: float
) -> tuple[JournalState, frozenset[str]]:
    """End one write of the session that has changed the store, and name the repairs that made a difference.

    Inside the session's transaction the write was a savepoint: it is kept, and its updates wait, unless a raw level
    makes the transaction nobody's; then they never run (JN-145, JN-316). Outside it is committed, and they run now.
    """
    held = state.transaction
    if held is None or not is_inside(state, session):
        return run_updates(with_committed(state, store), session, updates, clock_ms)
    waiting = (*held.updates, *updates) if is_owned(held) else held.updates
    return with_transaction(state, attrs.evolve(held, working=store, updates=waiting)), NO_REPAIRS


def run_updates(
    state: JournalState, session: str, updates: Iterable[Update], clock_ms: float
) -> tuple[JournalState, frozenset[str]]:
    """Run the updates of a committed transaction, in the order they were registered (JN-146).

    The first that publishes publishes for all of them: what follows from one may write, and that comes later (JN-260).
    """
    updates = tuple(updates)
    fired: frozenset[str] = NO_REPAIRS
    events = tuple(event for update in updates for event in _inserted(update))
    if events:
        state = with_instance(state, session, publish(state.instances[session], events))
    for update in updates:
        match update:
            case Settle():
                state, repaired = _settle(state, session, update, clock_ms)
                fired |= repaired
            case Publish():
                pass
            case Call(label):
                state = attrs.evolve(state, ran=(*state.ran, label))
    return state, fired


def _inserted(update: Update) -> tuple[Event, ...]:
    """The new rows that an update is to publish."""
    match update:
        case Settle(_, Inserted(event)):
            return (event,)
        case Publish(events):
            return events
        case _:
            return ()


def _settle(state: JournalState, session: str, update: Settle, clock_ms: float) -> tuple[JournalState, frozenset[str]]:
    """A durable emit enters memory; a new row counts for automatic compaction (JN-179)."""
    instance, fired = settle_draft(state.instances[session], update.draft, update.result, state.profile)
    state = with_instance(state, session, instance)
    if not isinstance(update.result, Inserted):
        return state, fired
    state, repaired = compact_after(state, session, update.draft.run_id, clock_ms)
    return state, fired | repaired


def when_committed(state: JournalState, session: str, clock_ms: float, label: object) -> JournalStep:
    """Run an update once what surrounds it is committed, at once where nothing does; answers whether it will (JN-315).

    ``False``, and never run, inside a raw transaction or savepoint.
    """
    if not is_inside(state, session) and type(label) is str:
        state, fired = run_updates(state, session, (Call(label),), clock_ms)
        return JournalStep(state, True, fired)
    return after_commit(state, session, clock_ms, label)


def after_commit(state: JournalState, session: str, clock_ms: float, label: object) -> JournalStep:
    """Register an update with the session's transaction; answers whether there is one that will run it (JN-145)."""
    if type(label) is not str:
        return JournalStep(state, JournalUsageError("an update is named by a text"))
    held = state.transaction
    if held is None or not is_inside(state, session) or not is_owned(held):
        return JournalStep(state, False)
    return JournalStep(with_transaction(state, attrs.evolve(held, updates=(*held.updates, Call(label)))), True)

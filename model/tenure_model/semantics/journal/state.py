"""The journal as sessions see it: what is committed, the one write transaction, and each session's instance.

A session is one store on the shared database, with at most one journal instance. What a session does inside its open
transaction is part of it; what other sessions do there that needs a write transaction is busy (RS-390).
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import attrs

from tenure_model.semantics.journal.instance import Collapsed, Inserted, Instance
from tenure_model.semantics.journal.tables import EMPTY_TABLES, Draft, Event, Identity, JournalTables
from tenure_model.semantics.profiles import REFERENCE, Profile
from tenure_model.semantics.world import World, empty_world

Fate: TypeAlias = Literal["outstanding", "row", "collapsed", "lost", "evicted", "crashed", "abandoned"]
"""What became of an accepted lossy entry. ``abandoned`` is the silent drop of HZ-03, the one that must not be."""

NO_REPAIRS: Final[frozenset[str]] = frozenset()


@attrs.frozen
class Store:
    """All that is on disk, as one transaction sees it; a rollback takes all of it back together.

    ``world`` has runs, leases and facts. ``receipts`` are the durable answers given, as the ``seq`` of each identity:
    no table, but what the tables must bear out (JN-170).
    """

    world: World
    journal: JournalTables
    receipts: Mapping[Identity, int]


@attrs.frozen
class Settle:
    """After the commit: a durable emit enters its instance's memory, and is published if it is a new row (JN-179)."""

    draft: Draft
    result: Inserted | Collapsed


@attrs.frozen
class Publish:
    """After the commit: rows that a nested compaction inserted are published, their settlement is not (JN-288)."""

    events: tuple[Event, ...]


@attrs.frozen
class Call:
    """After the commit: a registered update of the program runs, known by its label (JN-145)."""

    label: str


Update: TypeAlias = Settle | Publish | Call


@attrs.frozen
class Level:
    """One level of a transaction: what a rollback goes back to, and whether the writer began it or a raw statement."""

    before: Store
    updates: int
    raw: bool


@attrs.frozen
class Transaction:
    """The one open write transaction.

    ``working`` is the store as ``session`` sees it, ``levels`` its nested levels, outermost first. ``updates`` wait for
    the outermost commit, in order (JN-146). ``compaction`` is the ticket of a top-level compaction, where that and no
    program holds the transaction (JN-286).
    """

    session: str
    working: Store
    levels: tuple[Level, ...]
    updates: tuple[Update, ...] = ()
    compaction: int | None = None


@attrs.frozen
class JournalState:
    """Everything at one instant. ``fates`` tells what became of each accepted lossy entry, the first being 0; ``ran``
    the labels of the program's updates that have run (JN-146).
    """

    committed: Store
    transaction: Transaction | None
    instances: Mapping[str, Instance]
    fates: Mapping[int, Fate]
    ran: tuple[str, ...]

    @property
    def profile(self) -> Profile:
        """The profile of the semantics that everything here follows."""
        return self.committed.world.profile


@attrs.frozen
class JournalStep:
    """One command: the state after it, what it answered, and which repairs made a difference."""

    state: JournalState
    outcome: object
    fired: frozenset[str] = NO_REPAIRS


def empty_state(profile: Profile = REFERENCE, world: World | None = None) -> JournalState:
    """A freshly migrated database without any instance, over ``world`` where one is given."""
    store = Store(empty_world(profile) if world is None else world, EMPTY_TABLES, {})
    return JournalState(store, None, {}, {}, ())


def is_inside(state: JournalState, session: str) -> bool:
    """Whether the session's program has the write transaction open, so that what it does joins it (JN-141)."""
    held = state.transaction
    return held is not None and held.session == session and held.compaction is None


def is_busy(state: JournalState, session: str) -> bool:
    """Whether somebody else holds the write transaction."""
    return state.transaction is not None and not is_inside(state, session)


def is_owned(transaction: Transaction) -> bool:
    """Whether updates after its commit are the writer's to run: no level was begun by a raw statement (JN-145)."""
    return not any(level.raw for level in transaction.levels)


def visible(state: JournalState, session: str) -> Store:
    """The store that the session reads: its own writes inside its transaction, else what is committed (JN-193)."""
    held = state.transaction
    return held.working if held is not None and is_inside(state, session) else state.committed


def with_instance(state: JournalState, session: str, instance: Instance) -> JournalState:
    """The state in which the session's instance remembers this."""
    if state.instances.get(session) is instance:
        return state
    instances = {**state.instances, session: instance}
    return JournalState(state.committed, state.transaction, instances, state.fates, state.ran)


def with_fates(state: JournalState, fates: Mapping[int, Fate]) -> JournalState:
    """The state in which these entries have these fates."""
    if not fates:
        return state
    return JournalState(state.committed, state.transaction, state.instances, {**state.fates, **fates}, state.ran)


def with_committed(state: JournalState, store: Store) -> JournalState:
    """The state after a transaction of its own, begun and committed while nobody held one."""
    return JournalState(store, state.transaction, state.instances, state.fates, state.ran)


def with_transaction(state: JournalState, transaction: Transaction | None) -> JournalState:
    """The state with this transaction open, or none."""
    return JournalState(state.committed, transaction, state.instances, state.fates, state.ran)

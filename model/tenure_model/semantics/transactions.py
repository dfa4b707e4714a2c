"""The database as sessions see it: one writer at a time, savepoints inside, reads of what is committed
(RS-390..RS-393).

A session is a name: one connection of one process. A call outside a transaction is a transaction of its own. While one
session has a transaction open, every other session reads the committed world, and whatever it does that would have to
begin a write transaction is ``busy`` and changes nothing; who retries it repeats the very same command (RS-391).
"""

import attrs

from tenure_model.semantics.commands import Command, apply, method_of
from tenure_model.semantics.steps import NO_REPAIRS, Step, database_failure
from tenure_model.semantics.world import World
from tenure_model.vocabulary.errors import RunStoreError


@attrs.frozen
class Database:
    """What is committed, and the one write transaction that may be open on top of it.

    ``writer`` is the session that has it open, ``working`` the world as that session sees it, and ``savepoints`` the
    worlds that its nested levels go back to, outermost first. Without a writer the last two are empty.
    """

    committed: World
    writer: str | None = None
    working: World | None = None
    savepoints: tuple[World, ...] = ()


def visible(database: Database, session: str) -> World:
    """The world that the session reads: its own writes while it is the writer, else what is committed."""
    if database.writer == session and database.working is not None:
        return database.working
    return database.committed


def begin(database: Database, session: str) -> tuple[Database, RunStoreError | None]:
    """Open the write transaction, or a nested level if the session has it open already; ``busy`` if another has it."""
    if database.writer is None:
        return Database(database.committed, session, database.committed), None
    if database.writer != session:
        return database, database_failure("busy", "begin")
    return begin_nested(database, session)


def begin_nested(database: Database, session: str) -> tuple[Database, RunStoreError | None]:
    """Set a savepoint inside the session's transaction (RS-390). Without one there is nothing to nest in."""
    if database.writer != session or database.working is None:
        return database, database_failure("unknown", "begin_nested")
    savepoints = (*database.savepoints, database.working)
    return Database(database.committed, session, database.working, savepoints), None


def commit(database: Database, session: str) -> tuple[Database, RunStoreError | None]:
    """End the innermost level: a nested one merges into its parent, the outermost is committed for all to see."""
    if database.writer != session or database.working is None:
        return database, database_failure("unknown", "commit")
    if database.savepoints:
        return Database(database.committed, session, database.working, database.savepoints[:-1]), None
    return Database(database.working), None


def rollback(database: Database, session: str) -> tuple[Database, RunStoreError | None]:
    """Undo the innermost level, facts included: a nested one back to its savepoint, the outermost to the committed."""
    if database.writer != session:
        return database, database_failure("unknown", "rollback")
    if database.savepoints:
        restored = database.savepoints[-1]
        return Database(database.committed, session, restored, database.savepoints[:-1]), None
    return Database(database.committed), None


def crash(database: Database, session: str) -> Database:
    """The session is gone without a word: whatever it had not committed never was."""
    return Database(database.committed) if database.writer == session else database


def execute(database: Database, session: str, command: Command) -> tuple[Database, Step]:
    """One call of one session, inside its transaction if it has one open, else as a transaction of its own.

    ``busy`` is decided by what was supplied, never by what is stored: invalid input, reads and answers that need no
    write transaction pass beside another writer (RS-390).
    """
    step = apply(visible(database, session), command)
    if database.writer is None:
        return Database(step.world), step
    if database.writer == session:
        return Database(database.committed, session, step.world, database.savepoints), step
    if not step.transacted:
        return database, step
    busy = database_failure("busy", method_of(command))
    return database, Step(database.committed, busy, NO_REPAIRS, transacted=True)

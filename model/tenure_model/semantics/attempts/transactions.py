"""Attempts in the database that sessions share: they commit and roll back with the runs beside them (RS-390).

``semantics.transactions`` says who may write and what a level of a transaction goes back to, for runs. Here is the same
stack for attempts: whenever a level of the one begins or ends, so does one of the other.
"""

import attrs

from tenure_model.semantics import transactions
from tenure_model.semantics.attempts.commands import apply_attempt, method_of
from tenure_model.semantics.attempts.steps import AttemptStep
from tenure_model.semantics.attempts.table import NO_ATTEMPTS, AttemptTable, has_attempts
from tenure_model.semantics.commands import Command
from tenure_model.semantics.steps import Step, violated
from tenure_model.semantics.transactions import Database
from tenure_model.vocabulary.attempt_errors import attempt_database_failure
from tenure_model.vocabulary.attempts import AttemptOptions


@attrs.frozen
class AttemptLevels:
    """What is committed, and the table of each open level of the one write transaction, innermost last."""

    committed: AttemptTable = NO_ATTEMPTS
    levels: tuple[AttemptTable, ...] = ()


def begun(attempts: AttemptLevels) -> AttemptLevels:
    """A level was opened: it begins with what its parent shows."""
    return AttemptLevels(attempts.committed, (*attempts.levels, _innermost(attempts)))


def committed(attempts: AttemptLevels) -> AttemptLevels:
    """The innermost level was ended for good: its table is its parent's now, or everybody's."""
    *outer, innermost = attempts.levels
    return AttemptLevels(attempts.committed, (*outer[:-1], innermost)) if outer else AttemptLevels(innermost)


def rolled_back(attempts: AttemptLevels) -> AttemptLevels:
    """The innermost level was undone."""
    return AttemptLevels(attempts.committed, attempts.levels[:-1])


def crashed(attempts: AttemptLevels) -> AttemptLevels:
    """The writer is gone: all open levels are."""
    return AttemptLevels(attempts.committed)


def visible(database: Database, attempts: AttemptLevels, session: str) -> AttemptTable:
    """The attempts that the session reads: its own writes while it is the writer, else what is committed."""
    return _innermost(attempts) if database.writer == session else attempts.committed


def execute(
    database: Database, attempts: AttemptLevels, session: str, options: AttemptOptions, command: Command
) -> tuple[AttemptLevels, AttemptStep]:
    """One attempt operation of one session, inside its transaction if it has one open, else as one of its own.

    Beside another writer, what needs a write transaction is busy and changes nothing (RS-390).
    """
    table = visible(database, attempts, session)
    step = apply_attempt(transactions.visible(database, session), table, options, command)
    if database.writer is None:
        return AttemptLevels(step.attempts), step
    if database.writer == session:
        return AttemptLevels(attempts.committed, (*attempts.levels[:-1], step.attempts)), step
    if not step.transacted:
        return attempts, step
    return attempts, AttemptStep(table, attempt_database_failure("busy", method_of(command)), transacted=True)


def execute_run(database: Database, attempts: AttemptLevels, session: str, command: Command) -> tuple[Database, Step]:
    """One run operation of one session where runs may have attempts: as ``transactions.execute``, but for the foreign
    key, by which deleting a run that has attempts is ``constraint`` (RS-106).
    """
    after, step = transactions.execute(database, session, command)
    if command.operation != "row.delete" or step.outcome is not True:
        return after, step
    if not has_attempts(visible(database, attempts, session), str(command.arguments["runId"])):
        return after, step
    return database, violated(transactions.visible(database, session), "row.delete")


def _innermost(attempts: AttemptLevels) -> AttemptTable:
    return attempts.levels[-1] if attempts.levels else attempts.committed

"""What tests of writes run in them, over a table ``t`` of numbers."""

from collections.abc import Callable

from tenure.database.writer import Database, Withdrawn


def insert(database: Database, *values: int) -> None:
    """Insert into ``t``, in the transaction that is open."""
    for value in values:
        database.rows("INSERT INTO t VALUES (?)", (value,))


def committed(database: Database) -> list[int]:
    """What ``t`` holds."""
    return [row[0] for row in database.read("SELECT x FROM t ORDER BY rowid")]


def failing(database: Database, *values: int) -> None:
    """Insert and fail."""
    insert(database, *values)
    raise LookupError("the body failed")


def withdrawing(database: Database, *values: int) -> str:
    """Insert and withdraw."""
    insert(database, *values)
    raise Withdrawn("refused")


def in_transaction(database: Database, *steps: Callable[[], object]) -> None:
    """Take the steps in one explicit transaction."""
    with database.transaction():
        for step in steps:
            step()


def fail() -> None:
    """The step that fails."""
    raise LookupError("the step failed")

"""What a store needs of a database, and how a database reports failure.

A second engine is a new file beside ``sqlite.py``; stores know only what is declared here.
"""

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias

DatabaseErrorCode: TypeAlias = Literal["busy", "constraint", "io", "schema", "unsupported", "unknown"]
SqlValue: TypeAlias = str | int | float | bytes | None
Bindings: TypeAlias = Sequence[SqlValue]
SqlRow: TypeAlias = tuple[Any, ...]
"""One returned row. Its members are SQL values; the statement that selects them says of which type."""


class DatabaseError(Exception):
    """A failure of the database, normalised (JN-144).

    ``code`` is all that a store may rely on. ``text`` is ours: no driver text, SQL or bound value is kept (RS-363).
    """

    def __init__(self, code: DatabaseErrorCode, text: str = "") -> None:
        self.code: DatabaseErrorCode = code
        self.text = text
        super().__init__(code, text)

    def __str__(self) -> str:
        return f"{self.code}: {self.text}" if self.text else self.code


class CommitUnknownError(DatabaseError):
    """COMMIT failed and left no transaction open: whether it took effect cannot be known from here."""


class UndecodableTextError(DatabaseError):
    """A column declared as text holds bytes that are not UTF-8."""


class ClosedError(DatabaseError):
    """The database was closed by this program."""

    def __init__(self) -> None:
        super().__init__("unsupported", "the store is closed")


class OpenError(DatabaseError):
    """The file cannot be used as a store: ``text`` says why. Nothing in it was changed."""


class UsageError(RuntimeError):
    """A call that could only hang, join somebody else's transaction or fail half-way, refused at once."""


class Statements(Protocol):
    """Runs one statement to its end and answers every row it returned."""

    def __call__(self, sql: str, bindings: Bindings = ..., /) -> list[SqlRow]: ...


class Connection(Protocol):
    """One connection, used by one thread at a time. Every method raises ``DatabaseError`` and nothing else."""

    def rows(self, sql: str, bindings: Bindings = (), /) -> list[SqlRow]:
        """Run one statement to its end and answer every row it returned."""
        ...

    def begin(self) -> None:
        """Open a transaction that already holds the write lock."""
        ...

    def commit(self) -> None:
        """Commit. ``CommitUnknownError`` when it failed and no transaction is left open."""
        ...

    def rollback(self) -> None:
        """Undo the open transaction; do nothing where the failure already undid it."""
        ...

    def savepoint(self) -> None:
        """Open a nested scope."""
        ...

    def release(self) -> None:
        """Keep what the innermost scope wrote."""
        ...

    def rollback_to_savepoint(self) -> None:
        """Undo the innermost scope and close it."""
        ...

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open. Some failures roll back by themselves, others do not: look, never assume."""
        ...

    def close(self) -> None:
        """Close for good; an open transaction is rolled back."""
        ...


class Engine(Protocol):
    """Opens connections to one database."""

    @property
    def concurrent_reads(self) -> bool:
        """Whether a second connection sees the same data without waiting for a writer."""
        ...

    def connect(self, *, read_only: bool = False) -> Connection:
        """A new connection with every setting asserted. Raises ``OpenError`` or ``DatabaseError``."""
        ...


_LONGEST_CHAIN = 8


def find_database_error(error: BaseException) -> DatabaseError | None:
    """The database failure behind ``error``: itself, or along its causes through at most eight nodes (RS-363).

    The first one found decides, so an I/O failure on top of a busy one is an I/O failure (JN-142).
    """
    node: BaseException | None = error
    for _ in range(_LONGEST_CHAIN):
        if node is None or isinstance(node, DatabaseError):
            return node
        node = node.__cause__
    return None

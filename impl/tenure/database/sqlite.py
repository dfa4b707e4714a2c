"""SQLite through APSW: the one file that knows the driver.

A connection sets what safety rests on and then reads it back: WAL with synchronous=FULL keeps every acknowledged commit
through a power failure, WAL with NORMAL does not, and a setting that SQLite ignores it ignores silently.
"""

import contextlib
import os
from typing import Final

import apsw
import attrs

from tenure.database.engine import (
    Bindings,
    CommitUnknownError,
    DatabaseError,
    DatabaseErrorCode,
    OpenError,
    SqlRow,
    UndecodableTextError,
)

MEMORY: Final = ":memory:"
_SYNCHRONOUS_FULL: Final = 2

_CODES: Final[dict[int, DatabaseErrorCode]] = {
    apsw.SQLITE_BUSY: "busy",
    apsw.SQLITE_LOCKED: "busy",
    apsw.SQLITE_CONSTRAINT: "constraint",
    apsw.SQLITE_CANTOPEN: "io",
    apsw.SQLITE_CORRUPT: "io",
    apsw.SQLITE_FULL: "io",
    apsw.SQLITE_IOERR: "io",
    apsw.SQLITE_NOTADB: "io",
    apsw.SQLITE_PROTOCOL: "io",
    apsw.SQLITE_READONLY: "io",
    apsw.SQLITE_SCHEMA: "schema",
    apsw.SQLITE_NOLFS: "unsupported",
    apsw.SQLITE_MISUSE: "unsupported",
}


def _code(error: apsw.Error) -> DatabaseErrorCode:
    result = getattr(error, "result", None)
    if result == apsw.SQLITE_ERROR and str(error).startswith("no such "):
        return "schema"
    return _CODES.get(result, "unknown") if isinstance(result, int) else "unknown"


class SqliteConnection:
    """One APSW connection. Statements run on one cursor, each to its end, so that none is pending at COMMIT."""

    __slots__ = ("_connection", "_cursor", "_execute")

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        # Bound once: the lookup would otherwise be paid by every statement.
        self._execute = self._cursor.execute

    def rows(self, sql: str, bindings: Bindings = (), /) -> list[SqlRow]:
        """Run one statement to its end and answer every row it returned."""
        try:
            return self._execute(sql, bindings).fetchall()
        except apsw.Error as error:
            # `from None`: the driver's text may quote what was stored or bound (RS-363).
            raise DatabaseError(_code(error)) from None
        except UnicodeDecodeError:
            self._abandon_cursor()
            raise UndecodableTextError("unknown") from None
        except (TypeError, ValueError, OverflowError, MemoryError):
            raise DatabaseError("unknown") from None

    def begin(self) -> None:
        """``BEGIN IMMEDIATE``: a deferred transaction that reads first dies on its first write instead of waiting."""
        try:
            self._execute("BEGIN IMMEDIATE")
        except apsw.Error as error:
            raise DatabaseError(_code(error)) from None

    def commit(self) -> None:
        """``COMMIT``. ``CommitUnknownError`` when it failed and no transaction is left open."""
        if not self._connection.in_transaction:
            # A statement failed in a way that rolled everything back, and whoever ran it went on regardless.
            raise DatabaseError("io", "the database rolled the whole transaction back")
        try:
            self._execute("COMMIT")
        except apsw.Error as error:
            if self._connection.in_transaction:
                raise DatabaseError(_code(error)) from None
            raise CommitUnknownError(_code(error), "COMMIT failed; its outcome is unknown") from None

    def rollback(self) -> None:
        """``ROLLBACK`` where a transaction is still open: FULL and IOERR end it by themselves, BUSY does not."""
        if self._connection.in_transaction:
            self.rows("ROLLBACK")

    def savepoint(self) -> None:
        """Open a nested scope. SQLite resolves equal names to the innermost, so one name serves every depth."""
        self.rows("SAVEPOINT tenure")

    def release(self) -> None:
        """Keep what the innermost scope wrote."""
        self.rows("RELEASE tenure")

    def rollback_to_savepoint(self) -> None:
        """Undo the innermost scope and close it."""
        self.rows("ROLLBACK TO tenure")
        self.rows("RELEASE tenure")

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._connection.in_transaction

    def close(self) -> None:
        """Close for good; an open transaction is rolled back."""
        self._cursor.close(True)
        self._connection.close(True)

    def _abandon_cursor(self) -> None:
        # A cursor that stopped half way would keep its read snapshot, and with it the WAL, alive.
        self._cursor.close(True)
        self._cursor = self._connection.cursor()
        self._execute = self._cursor.execute


def _is_unencodable(path: str) -> bool:
    """Whether the path holds surrogates, which no UTF-8 name can have and SQLite would not take."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return True
    return False


@attrs.frozen
class SqliteEngine:
    """Opens one file, or one private memory database under the name ``:memory:``.

    ``busy_timeout_ms`` is how long SQLite itself waits for a lock before it reports ``busy``. ``vfs`` names a
    registered VFS, for programs that test what happens when storage fails.
    """

    path: str
    busy_timeout_ms: int = 5_000
    vfs: str | None = None

    @property
    def concurrent_reads(self) -> bool:
        """A file in WAL mode lets readers run beside a writer; a memory database has only its one connection."""
        return self.path != MEMORY

    def connect(self, *, read_only: bool = False) -> SqliteConnection:
        """A new connection with every setting asserted.

        Raises ``OpenError`` for a missing folder, a folder, a file that is no database, a file that cannot be written,
        and a setting that did not take; ``DatabaseError("busy")`` while another process holds the file.
        """
        self._check_folder()
        connection: apsw.Connection | None = None
        try:
            connection = apsw.Connection(
                self.path, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, vfs=self.vfs
            )
            connection.set_busy_timeout(self.busy_timeout_ms)
            self._configure(connection, read_only=read_only)
            return SqliteConnection(connection)
        except BaseException as error:
            if connection is not None:
                with contextlib.suppress(apsw.Error):
                    connection.close(True)
            if isinstance(error, apsw.Error):
                raise self._open_failure(error) from None
            raise

    def inspect(self) -> SqliteConnection:
        """A connection that only looks: it creates no database, changes no setting of it and migrates nothing.

        Where it leaves a file beside the database when it closes, somebody else's program has left one there before.
        Raises ``OpenError`` for a missing file and for one that is no database.
        """
        self._check_folder()
        if not os.path.exists(self.path):
            raise OpenError("io", f"{self.path} does not exist")
        has_log = os.path.exists(f"{self.path}-wal")
        connection: apsw.Connection | None = None
        try:
            # A read-only connection could not remove the log and its index, which it creates where there are none.
            connection = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=self.vfs)
            connection.set_busy_timeout(self.busy_timeout_ms)
            connection.pragma("query_only", 1)
            # What a program that is gone has left in its log is not ours to move into the database.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log)
            connection.pragma("schema_version")
        except apsw.Error as error:
            if connection is not None:
                connection.close(True)
            raise self._open_failure(error) from None
        return SqliteConnection(connection)

    def _check_folder(self) -> None:
        if type(self.path) is not str:
            raise OpenError("unsupported", "the path must be text")
        if not self.path or "\0" in self.path or (not self.path.isprintable() and _is_unencodable(self.path)):
            raise OpenError("unsupported", "the path cannot name a file")
        if self.path == MEMORY or self.vfs is not None:
            return
        if os.path.isdir(self.path):
            raise OpenError("io", f"{self.path} is a folder, not a database file")
        folder = os.path.dirname(os.path.abspath(self.path))
        if not os.path.isdir(folder):
            raise OpenError("io", f"the folder {folder} does not exist")

    def _configure(self, connection: apsw.Connection, *, read_only: bool) -> None:
        if connection.readonly("main"):
            # SQLite opens a file that it may not write as read-only, without saying so.
            raise OpenError("io", f"{self.path} cannot be written")
        mode = "memory" if self.path == MEMORY else "wal"
        self._require(connection, "busy_timeout", self.busy_timeout_ms)
        self._require(connection, "journal_mode", mode, connection.pragma("journal_mode", mode))
        for pragma, wanted in (
            ("synchronous", _SYNCHRONOUS_FULL),
            ("foreign_keys", 1),
            ("ignore_check_constraints", 0),
        ):
            connection.pragma(pragma, wanted)
            self._require(connection, pragma, wanted)
        if read_only:
            connection.pragma("query_only", 1)
            self._require(connection, "query_only", 1)

    def _require(self, connection: apsw.Connection, pragma: str, wanted: object, actual: object = None) -> None:
        actual = connection.pragma(pragma) if actual is None else actual
        if actual != wanted:
            raise OpenError("unsupported", f"{self.path}: SQLite keeps {pragma} at {actual}, and {wanted} is required")

    def _open_failure(self, error: apsw.Error) -> DatabaseError:
        code = _code(error)
        result = getattr(error, "result", None)
        if result == apsw.SQLITE_NOTADB:
            return OpenError(code, f"{self.path} is not an SQLite database")
        if result == apsw.SQLITE_CORRUPT:
            return OpenError(code, f"{self.path} is a damaged SQLite database")
        if result == apsw.SQLITE_READONLY:
            return OpenError(code, f"{self.path} cannot be written")
        if result == apsw.SQLITE_CANTOPEN:
            return OpenError(code, f"{self.path} cannot be opened")
        if code == "busy":
            return DatabaseError("busy", f"{self.path} is locked by another process")
        return OpenError(code, f"{self.path} cannot be opened as a database")

"""The bare loop: the very statements that a store issued, given to APSW with nothing around them."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import apsw

import tenure
from tenure.database.engine import Bindings, Connection, SqlRow
from tenure.database.sqlite import MEMORY, SqliteEngine

Statement: TypeAlias = tuple[str, Bindings]


class RecordingConnection:
    """A connection that writes down what it is asked, then asks the real one."""

    def __init__(self, connection: Connection, statements: list[Statement]) -> None:
        self._connection = connection
        self._statements = statements

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)

    def rows(self, sql: str, bindings: Bindings = (), /) -> list[SqlRow]:
        """Run a statement."""
        self._statements.append((sql, bindings))
        return self._connection.rows(sql, bindings)

    def begin(self) -> None:
        """Open the transaction."""
        self._statements.append(("BEGIN IMMEDIATE", ()))
        self._connection.begin()

    def commit(self) -> None:
        """Commit it."""
        self._statements.append(("COMMIT", ()))
        self._connection.commit()


class RecordingEngine:
    """An engine whose write connection is recorded."""

    def __init__(self) -> None:
        self._engine = SqliteEngine(MEMORY)
        self.statements: list[Statement] = []

    @property
    def concurrent_reads(self) -> bool:
        """As the real engine."""
        return self._engine.concurrent_reads

    def connect(self, *, read_only: bool = False) -> Connection:
        """A recorded connection."""
        return RecordingConnection(self._engine.connect(read_only=read_only), self.statements)  # type: ignore[return-value]  # the rest by __getattr__


def record(
    prepare: Callable[[tenure.Store], None],
    work: Callable[[tenure.Store], None],
    journal: Mapping[str, object] | None = None,
) -> tuple[list[Statement], int]:
    """What ``prepare`` and then ``work`` issue, and where the second begins; on a fresh database, clock at 0."""
    engine = RecordingEngine()
    with tenure.open(engine, clock=lambda: 0, journal=journal) as store:
        engine.statements.clear()
        prepare(store)
        begins = len(engine.statements)
        work(store)
    return list(engine.statements), begins


def play(path: Path | str, statements: Sequence[Statement], begins: int, now: Callable[[], float]) -> float:
    """Seconds that the statements from ``begins`` on take in a bare loop over a freshly migrated database."""
    connection = migrated(path)
    execute = connection.cursor().execute
    for sql, bindings in statements[:begins]:
        execute(sql, bindings).fetchall()
    timed = statements[begins:]
    start = now()
    for sql, bindings in timed:
        execute(sql, bindings).fetchall()
    elapsed = now() - start
    connection.close()
    return elapsed


def migrated(path: Path | str) -> apsw.Connection:
    """A bare connection to a freshly migrated database, set up as a store's."""
    if path != MEMORY:
        tenure.migrate(path)
        connection = apsw.Connection(str(path))
        connection.pragma("journal_mode", "wal")
    else:
        # A memory database has one connection, so the schema is copied from a file.
        with tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder:
            template = Path(folder) / "template.db"
            source, connection = migrated(template), apsw.Connection(MEMORY)
            with connection.backup("main", source, "main") as backup:
                backup.step()
            source.close()
        connection.pragma("journal_mode", "memory")
    connection.pragma("synchronous", 2)
    connection.pragma("foreign_keys", 1)
    return connection

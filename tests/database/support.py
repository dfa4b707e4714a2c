"""Raw connections, databases of older levels, and an engine that fails on demand."""

from collections.abc import Callable, Iterable
from pathlib import Path

import apsw
import attrs

from tenure.database.engine import Bindings, CommitUnknownError, Connection, SqlRow
from tenure.database.migrations import SETS
from tenure.database.retry import RetryPolicy
from tenure.database.sqlite import SqliteEngine
from tenure.database.writer import Database

IDENTITY = "0123456789abcdef" * 2
LEVELS = {member.id: member for block in SETS for member in block.members}
ALL_IDS = sorted(LEVELS)


def raw(path: Path | str) -> apsw.Connection:
    """A connection that bypasses the engine; foreign keys are enforced."""
    connection = apsw.Connection(str(path))
    connection.pragma("foreign_keys", True)
    return connection


def build(path: Path, ids: Iterable[int], fill: str = "") -> None:
    """A database with exactly these migrations recorded, in this order; ``fill`` then writes into it."""
    connection = raw(path)
    connection.execute("CREATE TABLE flows_migrations (migration_id INTEGER PRIMARY KEY, created_at TEXT, name TEXT)")
    for number in ids:
        member = LEVELS[number]
        member.apply(lambda sql, bindings=(): connection.execute(sql, bindings).fetchall(), IDENTITY)
        connection.execute("INSERT INTO flows_migrations VALUES (?, '2020-01-01 00:00:00', ?)", (number, member.name))
    connection.execute(fill)
    connection.close()


def query(path: Path, sql: str) -> list[tuple[object, ...]]:
    """What a fresh connection reads."""
    connection = raw(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every table's rows, and the schema, as a fresh connection reads them."""
    tables = query(path, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    found = {str(name): query(path, f"SELECT * FROM {name} ORDER BY 1") for (name,) in tables}
    found["schema"] = query(path, "SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2")
    return found


class Sleeper:
    """Records how long it was asked to sleep, in seconds, and what else it was told to do then."""

    def __init__(self, during: Callable[[], object] = lambda: None) -> None:
        self.seconds: list[float] = []
        self._during = during

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self._during()


def open_database(engine: "SqliteEngine | FaultyEngine", *, sleep: Callable[[float], object] | None = None) -> Database:
    """A database without migrations, whose retries sleep nowhere and jitter nothing."""
    return Database(
        engine, sleep=Sleeper() if sleep is None else sleep, random=lambda: 0.5, retry=RetryPolicy(attempts=10)
    )


@attrs.define
class Faults:
    """``before`` is called with every statement's text, and BEGIN, COMMIT and so on, before it runs."""

    before: Callable[[str], None] = lambda sql: None
    instead_of_commit: Callable[[Connection], None] | None = None


def commit_then_fail(connection: Connection) -> None:
    """The commit reaches the disk, the confirmation does not reach us."""
    connection.commit()
    raise CommitUnknownError("io")


class FaultyConnection:
    """A connection that does what its faults say first."""

    def __init__(self, connection: Connection, faults: Faults) -> None:
        self._inner = connection
        self._faults = faults

    def rows(self, sql: str, bindings: Bindings = (), /) -> list[SqlRow]:
        self._faults.before(sql)
        return self._inner.rows(sql, bindings)

    def begin(self) -> None:
        self._faults.before("BEGIN")
        self._inner.begin()

    def commit(self) -> None:
        self._faults.before("COMMIT")
        if self._faults.instead_of_commit is not None:
            self._faults.instead_of_commit(self._inner)
        self._inner.commit()

    def rollback(self) -> None:
        self._inner.rollback()

    def savepoint(self) -> None:
        self._faults.before("SAVEPOINT")
        self._inner.savepoint()

    def release(self) -> None:
        self._faults.before("RELEASE")
        self._inner.release()

    def rollback_to_savepoint(self) -> None:
        self._inner.rollback_to_savepoint()

    @property
    def in_transaction(self) -> bool:
        return self._inner.in_transaction

    def close(self) -> None:
        self._inner.close()


class FaultyEngine:
    """An SQLite engine whose connections fail on demand."""

    def __init__(self, path: Path | str, faults: Faults, busy_timeout_ms: int = 0) -> None:
        self._engine = SqliteEngine(str(path), busy_timeout_ms)
        self._faults = faults

    @property
    def concurrent_reads(self) -> bool:
        return self._engine.concurrent_reads

    def connect(self, *, read_only: bool = False) -> FaultyConnection:
        return FaultyConnection(self._engine.connect(read_only=read_only), self._faults)

"""The store as a system that can be driven step by step, by traces and by the fuzzer.

Each session is a store instance of its own with a clock that the driver sets. On a file, sessions share the file, a
dropped session leaves without closing, and a crash of the system goes on with a copy of what was on disk.
"""

import contextvars
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

import attrs

import tenure
from tenure.database.engine import Connection, DatabaseError
from tenure.database.sqlite import SqliteEngine
from tenure.database.writer import Database, Transaction
from tenure.facts import FactRecorder
from tenure_model.conform.systems import ATTEMPT_COLUMNS, LEASE_COLUMNS, RUN_COLUMNS, FactColumns, SystemState
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempt_errors import AttemptStoreError
from tenure_model.vocabulary.attempt_operations import ATTEMPT_OPERATIONS
from tenure_model.vocabulary.attempts import AttemptOptions, PutMode
from tenure_model.vocabulary.errors import RunStoreError, RunStoreErrorCode
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.operations import RUN_OPERATIONS

_FACTS_EXIST: Final = "SELECT 1 FROM sqlite_master WHERE name = 'port_facts'"
_CREATE_FACTS: Final = """
    CREATE TABLE port_facts(
        id INTEGER PRIMARY KEY, run_id TEXT, transition TEXT,
        host_id TEXT, pid INTEGER, nonce TEXT, granted_at_ms INTEGER)
"""
_INSERT_FACT: Final = (
    "INSERT INTO port_facts(run_id, transition, host_id, pid, nonce, granted_at_ms) VALUES(?, ?, ?, ?, ?, ?)"
)
_READ_FACTS: Final = "SELECT run_id, transition, host_id, pid, nonce, granted_at_ms FROM port_facts ORDER BY id"
_READ_RUNS: Final = f"SELECT {', '.join(RUN_COLUMNS)} FROM flows_runs"
_READ_LEASES: Final = f"SELECT {', '.join(LEASE_COLUMNS)} FROM flows_consensus_leases"
# The store spells JSON as ``encode_json`` does, so the text is compared as it is.
_READ_ATTEMPTS: Final = f"SELECT {', '.join(ATTEMPT_COLUMNS)} FROM flows_attempts"
_READ_CHANGES: Final = "SELECT run_id, revision, deleted FROM flows_run_changes"
_READ_SOURCE: Final = "SELECT revision FROM flows_run_source"
_DELETE_ROW: Final = "DELETE FROM flows_runs WHERE run_id = ? RETURNING run_id"


class _FactTable:
    """Keeps ownership facts in a table beside the store's own, inside its transactions."""

    def __init__(self, database: Database) -> None:
        self._rows = database.rows
        if not database.read(_FACTS_EXIST):
            database.write(self._rows, _CREATE_FACTS)

    def record(self, fact: OwnershipFact) -> None:
        """Insert one fact."""
        owner = fact.owner
        bindings = (fact.run_id, fact.transition, owner.host_id, owner.pid, owner.nonce, fact.granted_at_ms)
        self._rows(_INSERT_FACT, bindings)


class PluggedEngine:
    """An engine whose connections can be cut, as the end of a process cuts them: nobody says goodbye."""

    def __init__(self, engine: SqliteEngine) -> None:
        self._engine = engine
        self._connections: list[Connection] = []

    @property
    def concurrent_reads(self) -> bool:
        """As the real engine."""
        return self._engine.concurrent_reads

    def connect(self, *, read_only: bool = False) -> Connection:
        """A real connection, remembered."""
        connection = self._engine.connect(read_only=read_only)
        self._connections.append(connection)
        return connection

    def unplug(self) -> None:
        """End every connection where it stands; what was open is rolled back by SQLite."""
        for connection in self._connections:
            connection.close()


class Session:
    """One store instance, the transactions it has open, and the context they belong to.

    ``keep_facts`` is given the database and answers who keeps ownership facts; ``put_mode`` is that of its attempts.
    """

    def __init__(
        self,
        engine: PluggedEngine,
        keep_facts: Callable[[Database], FactRecorder] = _FactTable,
        put_mode: PutMode = "insert",
    ) -> None:
        self.engine = engine
        self.clock_ms = 0.0
        self.context = contextvars.copy_context()
        self.transactions: list[Transaction] = []
        self.store = tenure.open(
            self.engine,
            clock=lambda: self.clock_ms,
            sleep=lambda seconds: None,
            facts=keep_facts,
            attempts=AttemptOptions(put_mode=put_mode),
        )
        self.operations: dict[str, tuple[Callable[..., object], Mapping[str, str], frozenset[str]]] = {
            name: (getattr(part, signature.python_name), signature.parameters, signature.optional)
            for part, operations in ((self.store.runs, RUN_OPERATIONS), (self.store.attempts, ATTEMPT_OPERATIONS))
            for name, signature in operations.items()
        }

    def end(self) -> None:
        """Leave without a word, as the end of a process does."""
        self.engine.unplug()


class StoreSystem:
    """The SQLite store with any number of sessions. ``close`` it: a file lives in a folder of its own.

    ``put_mode`` is that of its attempts.
    """

    def __init__(self, sessions: Sequence[str], folder: Path | None, put_mode: PutMode = "insert") -> None:
        self._names = tuple(sessions)
        self._folder = folder
        self._put_mode: PutMode = put_mode
        self._generation = 0
        self._sessions = {name: self._open() for name in self._names}

    def _open(self) -> Session:
        # Another session of the same thread can hold the lock for as long as it likes: waiting for it cannot help.
        return Session(PluggedEngine(SqliteEngine(self._path, busy_timeout_ms=0)), put_mode=self._put_mode)

    @classmethod
    def in_memory(cls, sessions: Sequence[str], **options: PutMode) -> Self:
        """One session over an in-memory database, which is gone with it. Options are those of the class."""
        if len(sessions) != 1:
            raise ValueError("an in-memory database has one session")
        return cls(sessions, None, **options)

    @classmethod
    def on_file(cls, sessions: Sequence[str], **options: PutMode) -> Self:
        """Sessions that share one file, in a temporary folder. Options are those of the class."""
        return cls(sessions, Path(tempfile.mkdtemp(prefix="tenure-")), **options)

    @property
    def _path(self) -> str:
        return ":memory:" if self._folder is None else str(self._folder / f"{self._generation}.db")

    def call(self, session: str, operation: str, arguments: Mapping[str, object], clock_ms: float) -> object:
        """One operation by its wire names; answers its outcome, or its store's error as a value."""
        acting = self._sessions[session]
        acting.clock_ms = clock_ms
        try:
            if operation == "row.delete":
                return acting.context.run(_delete_row, acting.store.database, str(arguments["runId"]))
            method, parameters, optional = acting.operations[operation]
            named = {
                name: arguments.get(wire_name, ABSENT)
                for wire_name, name in parameters.items()
                if wire_name in arguments or wire_name not in optional
            }
            return acting.context.run(method, **named)
        except (RunStoreError, AttemptStoreError) as error:
            return error

    def control(self, session: str, action: str, clock_ms: float = 0.0) -> bool:
        """A transaction's begin, commit or rollback, or a crash; answers whether it could be."""
        if action == "system.crash":
            self._crash()
            return True
        acting = self._sessions[session]
        acting.clock_ms = clock_ms
        if action == "session.crash":
            acting.end()
            self._sessions[session] = self._open()
            return True
        if action == "session.begin":
            transaction = acting.store.transaction()
            try:
                acting.context.run(transaction.__enter__)
            except DatabaseError as error:
                if error.code != "busy":
                    raise
                return False
            acting.transactions.append(transaction)
            return True
        if not acting.transactions:
            return False
        failure = None if action == "session.commit" else RuntimeError("rolled back by the driver")
        acting.context.run(acting.transactions.pop().__exit__, None, failure, None)
        return True

    def state(self, session: str) -> SystemState:
        """The whole state as the session sees it."""
        acting = self._sessions[session]
        return acting.context.run(_read_state, acting.store.database)

    def alter(self, statement: str) -> None:
        """Run raw SQL, as a hand on the database would."""
        database = self._sessions[self._names[0]].store.database
        database.write(database.rows, statement)

    def close(self) -> None:
        """End every session and delete the file."""
        self._unplug()
        if self._folder is not None:
            shutil.rmtree(self._folder)

    def _unplug(self) -> None:
        for session in self._sessions.values():
            session.end()

    def _crash(self) -> None:
        """Go on with a copy of the file and its write-ahead log, as they were on disk; nobody closed anything."""
        if self._folder is None:
            raise ValueError("an in-memory database does not survive a crash")
        before = self._path
        self._generation += 1
        for suffix in ("", "-wal"):
            if Path(before + suffix).exists():
                shutil.copyfile(before + suffix, self._path + suffix)
        self._unplug()
        self._sessions = {name: self._open() for name in self._names}


def _delete_row(database: Database, run_id: str) -> object:
    try:
        return bool(database.write(database.rows, _DELETE_ROW, (run_id,)))
    except DatabaseError as error:
        code: RunStoreErrorCode = "constraint" if error.code == "constraint" else "persistence_failed"
        cause = {"category": code, "cause": {"code": error.code}}
        return RunStoreError(code, "row.delete", "database operation failed", cause)


def _read_state(database: Database) -> SystemState:
    facts: dict[str, tuple[FactColumns, ...]] = {}
    for run_id, *fact in database.read(_READ_FACTS):
        facts[run_id] = (*facts.get(run_id, ()), tuple(fact))
    return attrs.evolve(read_tables(database), facts=facts)


def read_tables(database: Database) -> SystemState:
    """Everything of runs and attempts but the facts."""
    read = database.read
    return SystemState(
        runs={row[0]: row for row in read(_READ_RUNS)},
        leases={row[0]: row for row in read(_READ_LEASES)},
        changes={run_id: (revision, deleted) for run_id, revision, deleted in read(_READ_CHANGES)},
        source=read(_READ_SOURCE)[0][0],
        facts={},
        attempts={row[:3]: row for row in read(_READ_ATTEMPTS)},
    )

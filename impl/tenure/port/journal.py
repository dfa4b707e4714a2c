"""The store with its journal, driven step by step: nothing here happens by itself, and nothing waits.

What a thread would wait for (a transaction that another session has open, a writer with nothing to do) is answered
``Blocked`` or ``Waiting``, as the steps of the model answer it.
"""

import contextvars
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tenure.consensus.database import DatabaseConsensus
from tenure.database.engine import Connection, DatabaseError, SqlRow
from tenure.database.sqlite import SqliteEngine
from tenure.database.writer import Database
from tenure.journal import lossy
from tenure.journal.backlog import Queued, Ticket
from tenure.journal.changes import Changes
from tenure.journal.driving import ManualDriver, Task
from tenure.journal.facts import JournalRecorder
from tenure.journal.instance import Instance
from tenure.journal.journal import Journal
from tenure.journal.opening import JournalSetup, open_instance
from tenure.journal.streams import EntryStream, open_stream
from tenure.port.runs import PluggedEngine, Session, StoreSystem, read_tables
from tenure_model.conform.journal_view import EventColumns, Identity, JournalView, MemoryView
from tenure_model.conform.systems import Columns, SystemState
from tenure_model.semantics.journal.answers import Begun, Blocked, Done, Ended, UserFailure, Waiting
from tenure_model.semantics.journal.instance import Failed
from tenure_model.semantics.journal.policy import CAPTURES
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.journal import Duplicate
from tenure_model.vocabulary.journal_errors import (
    TRANSACTION_FAILED,
    JournalError,
    JournalUsageError,
    unavailable,
)
from tenure_model.vocabulary.journal_operations import JOURNAL_OPERATIONS

_READ_EVENTS: Final = """
    SELECT run_id, seq, event_id, source_id, source_seq, emitted_at_ms, event_type, payload_json, meta_json
    FROM flows_journal_events ORDER BY run_id, seq
"""
_READ_CHECKPOINTS: Final = """
    SELECT run_id, seq, state_json, created_at_ms, compacted_at_ms FROM flows_journal_checkpoints ORDER BY run_id, seq
"""
_READ_TOMBSTONES: Final = """
    SELECT run_id, source_id, source_seq, event_id, seq, content_hash FROM flows_journal_dedup ORDER BY run_id, seq
"""
_GENERATIONS_EXIST: Final = "SELECT 1 FROM sqlite_schema WHERE name = 'flows_journal_generations'"
_READ_GENERATIONS: Final = "SELECT run_id, generation, after_seq FROM flows_journal_generations"


class _SwitchedRecorder:
    """Keeps facts in the journal that the session has open, or nowhere while it has none."""

    def __init__(self) -> None:
        self.recorder: JournalRecorder | None = None

    def record(self, fact: OwnershipFact) -> None:
        """Append one fact."""
        if self.recorder is not None:
            self.recorder.record(fact)


class _FaultyConnection:
    """A connection that opens no transaction while its engine's storage is broken."""

    def __init__(self, connection: Connection, engine: "_FaultyEngine") -> None:
        self._connection = connection
        self._engine = engine
        self.rows = connection.rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def begin(self) -> None:
        """Open a transaction, unless the storage is broken."""
        if self._engine.is_broken:
            raise DatabaseError("io", "the storage was made to fail")
        self._connection.begin()


class _FaultyEngine(PluggedEngine):
    """An engine whose storage can be made to fail."""

    is_broken = False

    def connect(self, *, read_only: bool = False) -> Connection:
        """A real connection that can fail."""
        connection: Any = _FaultyConnection(super().connect(read_only=read_only), self)
        return connection  # type: ignore[no-any-return]  # the rest of the protocol is by __getattr__


class _SteppedDriver(ManualDriver):
    """Maintenance waits until it is told to go on."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self.tasks: deque[Task] = deque()

    def maintain(self, task: Task) -> None:
        """Keep the task for later."""
        self.tasks.append(task)

    def wait_until(self, done: Callable[[], bool]) -> None:
        """Let the writer and then the tasks go on until it is so."""
        while not self._look(done):
            if self.writer.has_taken or self._instance.backlog.queue:
                self.writer.take()
                self.writer.write()
                self.writer.settle()
            elif self.tasks:
                self.tasks.popleft()()
            else:
                raise RuntimeError("waits for something that only another thread could do")


class _PublishedLog:
    """A subscriber that forgets nothing."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, int]] = []

    def offer(self, row: SqlRow) -> None:
        """Note a committed row."""
        self.entries.append((row[0], row[1]))

    def end(self) -> None:
        """The journal is closed."""


class _JournalSession(Session):
    """A session with the instance it has open, if any, and what it has begun there."""

    def __init__(self, path: str) -> None:
        self.switch = _SwitchedRecorder()
        self.storage = _FaultyEngine(SqliteEngine(path, busy_timeout_ms=0))
        super().__init__(self.storage, lambda database: self.switch)
        self.journal: Journal | None = None
        self.driver: _SteppedDriver | None = None
        self.published = _PublishedLog()
        self._next_number = 0
        self.held: dict[int, Any] = {}

    def hold(self, thing: object) -> int:
        """A number for something begun."""
        self._next_number += 1
        self.held[self._next_number] = thing
        return self._next_number


class JournalStoreSystem(StoreSystem):
    """Runs and journal over SQLite, with any number of sessions on one file."""

    def __init__(self, sessions: Sequence[str], folder: Path | None) -> None:
        super().__init__(sessions, folder)
        self._steps: dict[str, Callable[..., object]] = {
            "journal.open": self._open_journal,
            "journal.close": self._close_journal,
            "journal.flush": self._flush,
            "journal.transact": self._transact,
            "lossy.begin": self._begin_lossy,
            "lossy.read": self._read_lossy,
            "lossy.finish": self._finish_lossy,
            "writer.take": self._take,
            "writer.write": self._write,
            "writer.settle": self._settle,
            "writer.drain": self._drain,
            "maintenance.finish": self._finish_maintenance,
            "flush.begin": self._begin_flush,
            "flush.poll": self._poll_flush,
            "stream.open": self._open_stream,
            "stream.page": self._page,
            "stream.close": self._close_stream,
            "changes.open": self._open_changes,
            "changes.take": self._take_changes,
            "changes.close": self._close_changes,
        }

    def _open(self) -> _JournalSession:
        return _JournalSession(self._path)

    def _session(self, name: str) -> _JournalSession:
        session = self._sessions[name]
        assert isinstance(session, _JournalSession)
        return session

    def call(self, session: str, operation: str, arguments: Mapping[str, object], clock_ms: float) -> object:
        """One operation or step by its wire names; answers its outcome, or its error as a value."""
        if operation.startswith(("run.", "row.")):
            return super().call(session, operation, arguments, clock_ms)
        acting = self._session(session)
        acting.clock_ms = clock_ms
        try:
            step = self._steps.get(operation)
            if step is not None:
                return step(session, acting, **arguments)
            return self._operation(acting, operation, arguments)
        except (JournalError, JournalUsageError, RunStoreError) as error:
            return error

    def journal(self, session: str) -> JournalView:
        """The journal as the session sees it."""
        acting = self._session(session)
        memory = None if acting.journal is None else _memory(acting)
        return acting.context.run(_read_journal, acting.store.database, memory)

    def state(self, session: str) -> SystemState:
        """The runs as the session sees them; the facts are the journal's."""
        acting = self._session(session)
        return acting.context.run(read_tables, acting.store.database)

    def _is_held(self) -> bool:
        return any(session.transactions for session in self._sessions.values())

    def _is_held_by_another(self, acting: _JournalSession) -> bool:
        return any(session.transactions for session in self._sessions.values() if session is not acting)

    @staticmethod
    def _required(acting: _JournalSession, method: str) -> tuple[Journal, _SteppedDriver]:
        if acting.journal is None or acting.driver is None:
            raise unavailable(method)
        return acting.journal, acting.driver

    def _operation(self, acting: _JournalSession, operation: str, arguments: Mapping[str, object]) -> object:
        signature = JOURNAL_OPERATIONS[operation]
        journal, _ = self._required(acting, signature.method)
        method = getattr(journal, signature.python_name)
        named = {
            name: arguments.get(wire_name, ABSENT)
            for wire_name, name in signature.parameters.items()
            if wire_name in arguments or wire_name not in signature.optional
        }
        return acting.context.run(method, **named)

    def _open_journal(self, _: str, acting: _JournalSession, options: object = ABSENT) -> object:
        if acting.journal is not None and acting.journal.instance.status != "closed":
            raise JournalUsageError("the session has an open journal")
        if acting.transactions:
            raise JournalUsageError("a journal cannot be opened inside a transaction")
        setup = JournalSetup(_with_capture(options), writer="manual")  # type: ignore[arg-type]  # admission's to judge
        database = acting.store.database
        instance = acting.context.run(
            open_instance, database, DatabaseConsensus(database.rows), lambda: acting.clock_ms, setup
        )
        driver = _SteppedDriver(instance)
        instance.driver = driver
        acting.published = _PublishedLog()
        instance.changes.add(acting.published)  # type: ignore[arg-type]  # it offers and ends as a subscription does
        acting.journal, acting.driver = Journal(instance), driver
        acting.switch.recorder = JournalRecorder(instance)
        return None

    def _close_journal(self, _: str, acting: _JournalSession) -> object:
        journal, _driver = self._required(acting, "close")
        acting.context.run(journal.close)
        return None

    def _flush(self, session: str, acting: _JournalSession) -> object:
        journal, _driver = self._required(acting, "flush")
        backlog = journal.instance.backlog
        waits = bool(backlog.pending or backlog.maintenance)
        if waits and self._is_held_by_another(acting):
            return Waiting(acting.hold(acting.context.run(journal.begin_flush)))
        try:
            acting.context.run(journal.flush)
        finally:
            if waits:
                self._finish_maintenance(session, acting)
        return None

    def _begin_flush(self, _: str, acting: _JournalSession) -> object:
        journal, _driver = self._required(acting, "flush")
        ticket = acting.context.run(journal.begin_flush)
        return _stand_of(ticket, acting.hold(ticket))

    def _poll_flush(self, _: str, acting: _JournalSession, ticket: int) -> object:
        self._required(acting, "flush")
        begun = acting.held.get(ticket)
        if not isinstance(begun, Ticket):
            raise JournalUsageError("no flush has this ticket")
        stand = _stand_of(begun, ticket)
        if not isinstance(stand, Waiting):
            del acting.held[ticket]
        return stand

    def _transact(self, session: str, acting: _JournalSession, ops: Sequence[Mapping[str, Any]]) -> object:
        transaction = acting.store.transaction()
        try:
            acting.context.run(transaction.__enter__)
        except DatabaseError:
            raise JournalError("sink_failed", TRANSACTION_FAILED) from None
        acting.transactions.append(transaction)
        outcomes: list[object] = []
        failure: object = None
        for operation in ops:
            if operation["op"] == "fail":
                failure = UserFailure()
                break
            outcome = self.call(session, operation["op"], operation.get("args", {}), acting.clock_ms)
            if isinstance(outcome, JournalError | JournalUsageError | RunStoreError | UserFailure):
                failure = outcome
                break
            outcomes.append(outcome)
        acting.transactions.pop()
        undo = None if failure is None else RuntimeError("rolled back by the driver")
        acting.context.run(transaction.__exit__, None, undo, None)
        return tuple(outcomes) if failure is None else failure

    def _begin_lossy(self, _: str, acting: _JournalSession, input: object) -> object:
        journal, _driver = self._required(acting, "emitLossy")
        begun = acting.context.run(lossy.begin, journal.instance, input)
        return begun if isinstance(begun, Duplicate) else Begun(acting.hold([begun, False]))

    def _admission(self, acting: _JournalSession, token: int) -> list[Any]:
        self._required(acting, "emitLossy")
        begun = acting.held.get(token)
        if not isinstance(begun, list):
            raise JournalUsageError("no admission has this token")
        return begun

    def _read_lossy(self, _: str, acting: _JournalSession, token: int) -> object:
        begun = self._admission(acting, token)
        journal, _driver = self._required(acting, "emitLossy")
        if not begun[1]:
            acting.context.run(lossy.read_floors, journal.instance, begun[0])
            begun[1] = True
        return None

    def _finish_lossy(self, _: str, acting: _JournalSession, token: int) -> object:
        begun = self._admission(acting, token)
        journal, _driver = self._required(acting, "emitLossy")
        if not begun[1]:
            return Blocked()
        del acting.held[token]
        return acting.context.run(lossy.finish, journal.instance, begun[0])

    def _take(self, _: str, acting: _JournalSession) -> object:
        _journal, driver = self._required(acting, "writer")
        return 0 if driver.writer.has_taken else driver.writer.take()

    def _write(self, _: str, acting: _JournalSession, fault: object = ABSENT) -> object:
        _journal, driver = self._required(acting, "writer")
        writer = driver.writer
        if not writer.has_taken or writer.has_written:
            return None
        if fault is ABSENT and self._is_held():
            return Blocked()
        acting.storage.is_broken = fault is not ABSENT
        try:
            # In a context of its own, as the writer's thread is: never inside the session's transaction.
            contextvars.Context().run(writer.write)
        finally:
            acting.storage.is_broken = False
        return None

    def _settle(self, _: str, acting: _JournalSession) -> object:
        _journal, driver = self._required(acting, "writer")
        acting.context.run(driver.writer.settle)
        return None

    def _drain(self, session: str, acting: _JournalSession) -> object:
        journal, driver = self._required(acting, "writer")
        while driver.writer.has_taken or journal.instance.backlog.queue:
            self._take(session, acting)
            if isinstance(self._write(session, acting), Blocked):
                return Blocked()
            self._settle(session, acting)
        return None

    def _finish_maintenance(self, session: str, acting: _JournalSession) -> object:
        _journal, driver = self._required(acting, "maintenance")
        while driver.tasks:
            if isinstance(self._drain(session, acting), Blocked) or self._is_held():
                return Blocked()
            acting.context.run(driver.tasks.popleft())
        return None

    def _open_stream(self, _: str, acting: _JournalSession, **options: object) -> object:
        journal, _driver = self._required(acting, "stream")
        stream = acting.context.run(open_stream, journal.instance, options)
        return acting.hold(stream)

    def _page(self, _: str, acting: _JournalSession, stream: int) -> object:
        self._required(acting, "stream")
        followed = acting.held.get(stream)
        if not isinstance(followed, EntryStream) or followed.is_ended:
            return Ended()
        return tuple(acting.context.run(followed.page))

    def _close_stream(self, _: str, acting: _JournalSession, stream: int) -> object:
        self._required(acting, "stream")
        followed = acting.held.get(stream)
        if not isinstance(followed, EntryStream) or followed.is_ended:
            return False
        followed.close()
        return True

    def _open_changes(self, _: str, acting: _JournalSession) -> object:
        journal, _driver = self._required(acting, "changes")
        return acting.hold(journal.changes())

    def _take_changes(self, _: str, acting: _JournalSession, changes: int) -> object:
        journal, _driver = self._required(acting, "changes")
        subscription = acting.held.get(changes)
        if not isinstance(subscription, Changes) or subscription not in journal.instance.changes:
            return Ended()
        return tuple(subscription.take())

    def _close_changes(self, _: str, acting: _JournalSession, changes: int) -> object:
        journal, _driver = self._required(acting, "changes")
        subscription = acting.held.get(changes)
        if not isinstance(subscription, Changes) or subscription not in journal.instance.changes:
            return False
        subscription.close()
        return True


def _stand_of(ticket: Ticket, number: int) -> object:
    if not ticket.ended:
        return Waiting(number)
    return Done() if ticket.failure is None else Failed(ticket.failure)


def _with_capture(options: object) -> object:
    """The options with a capture in place of its name."""
    if not isinstance(options, dict) or not isinstance(options.get("compaction"), dict):
        return options
    policy = options["compaction"]
    return {**options, "compaction": {**policy, "capture": CAPTURES.get(policy.get("capture"), policy.get("capture"))}}


def _identity(queued: Queued) -> Identity:
    return (queued.prepared.run_id, queued.prepared.source_id, queued.source_seq)


def _memory(acting: _JournalSession) -> MemoryView:
    assert acting.journal is not None
    instance = acting.journal.instance
    backlog = instance.backlog
    lost = backlog.last_loss if backlog.has_unreported_loss else None
    return MemoryView(
        status=instance.status,
        run_floors=dict(instance.floors.seq),
        producer_floors=dict(instance.floors.source),
        warm=frozenset(instance.floors.warm),
        identities=tuple((identity, known.seq, status) for identity, known, status in instance.cache.items()),
        queue=tuple(map(_identity, backlog.queue)),
        batch=tuple(map(_identity, backlog.taken)),
        unreported=None if lost is None else lost.code,
        published=tuple(acting.published.entries),
    )


def _by_run(rows: Sequence[SqlRow]) -> dict[str, tuple[Any, ...]]:
    grouped: dict[str, list[Columns]] = {}
    for run_id, *columns in rows:
        grouped.setdefault(run_id, []).append(tuple(columns))
    return {run_id: tuple(members) for run_id, members in grouped.items()}


def _read_journal(database: Database, memory: MemoryView | None) -> JournalView:
    read = database.read
    events: dict[str, tuple[EventColumns, ...]] = _by_run(read(_READ_EVENTS))
    generations = read(_READ_GENERATIONS) if read(_GENERATIONS_EXIST) else []
    return JournalView(
        events=events,
        checkpoints=_by_run(read(_READ_CHECKPOINTS)),
        tombstones=_by_run(read(_READ_TOMBSTONES)),
        generations={run_id: (generation, after_seq) for run_id, generation, after_seq in generations},
        memory=memory,
    )

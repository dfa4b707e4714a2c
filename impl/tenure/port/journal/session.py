"""One session with the journal instance that it has open, and what it has begun there and not ended."""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeVar

from tenure.database.engine import SqlRow
from tenure.database.sqlite import SqliteEngine
from tenure.journal.driving import ManualDriver
from tenure.journal.facts import JournalRecorder
from tenure.journal.instance import Instance
from tenure.journal.journal import Journal
from tenure.journal.policy import Maintenance
from tenure.port.journal.fates import WatchedBacklog
from tenure.port.journal.paused import Paused, paused_call
from tenure.port.journal.storage import FaultyEngine, SteppedDatabase
from tenure.port.runs import Session
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.journal_errors import unavailable

Result = TypeVar("Result")


class _SwitchedRecorder:
    """Keeps facts in the journal that the session has open, or nowhere while it has none."""

    def __init__(self) -> None:
        self.recorder: JournalRecorder | None = None

    def record(self, fact: OwnershipFact) -> None:
        """Append one fact."""
        if self.recorder is not None:
            self.recorder.record(fact)


class SteppedDriver(ManualDriver):
    """Maintenance waits until it is told to go on."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self.tasks: list[Maintenance] = []

    def maintain(self, task: Maintenance) -> None:
        """Keep the task for later."""
        self.tasks.append(task)

    def wait_until(self, done: Callable[[], bool]) -> None:
        """Let the writer empty its queue and then the tasks go on until it is so; a paused call waits for others."""
        call = paused_call()
        if call is not None:
            if call.at is None:
                call.pause("drain")
            while not self._look(done):
                call.pause("drain")
            return
        while not self._look(done):
            if self.writer.has_taken or self._instance.backlog.queue:
                self.writer.drain()
            elif self.tasks:
                self.tasks.pop(0).finish()
            else:
                raise RuntimeError("waits for something that only another thread could do")


class PublishedLog:
    """A subscriber that forgets nothing."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, int]] = []

    def offer(self, row: SqlRow) -> None:
        """Note a committed row."""
        self.entries.append((row[0], row[1]))

    def end(self) -> None:
        """The journal is closed."""


class JournalSession(Session):
    """A session with the instance it has open, if any, and what it has begun there."""

    def __init__(self, path: str) -> None:
        self.switch = _SwitchedRecorder()
        self.storage = FaultyEngine(SqliteEngine(path, busy_timeout_ms=0))
        super().__init__(self.storage, lambda database: self.switch)
        self.database = SteppedDatabase(self.store.database)
        self.journal: Journal | None = None
        self.driver: SteppedDriver | None = None
        self.published = PublishedLog()
        self._next_number = 0
        self.held: dict[int, Any] = {}
        self._calls: list[Paused] = []
        self.gated: Paused | None = None
        """The compaction that has closed its gate, and holds the database's write transaction."""
        self.closing: int | None = None
        """The number of the close that is under way."""

    @property
    def holds(self) -> bool:
        """Whether the session has the database's one write transaction open."""
        return bool(self.transactions) or self.gated is not None

    def start(self, body: Callable[[], object]) -> Paused:
        """Begin a call in the session's context; it runs to its first pause."""
        call = self.context.run(Paused, body)
        call.go_on()
        if not call.has_ended:
            self._calls.append(call)
        return call

    def ask(self, question: Callable[[], Result]) -> Result:
        """What the session sees: in its context, or in the transaction of the compaction that has its turn."""
        return self.context.run(question) if self.gated is None else self.gated.ask(question)

    def give_up(self) -> None:
        """Forget everything begun, in the middle of what it does."""
        for call in self._calls:
            call.give_up()
        self._calls.clear()
        self.held.clear()
        self.gated = self.closing = None

    def end(self) -> None:
        """Leave without a word, as the end of a process does."""
        backlog = None if self.journal is None else self.journal.instance.backlog
        if isinstance(backlog, WatchedBacklog):
            backlog.crash()
        self.give_up()
        super().end()

    def hold(self, thing: object) -> int:
        """A number for something begun."""
        self._next_number += 1
        self.held[self._next_number] = thing
        return self._next_number

    def required(self, method: str) -> tuple[Journal, SteppedDriver]:
        """The open journal and its driver, or the error that ``method`` answers without one."""
        if self.journal is None or self.driver is None:
            raise unavailable(method)
        return self.journal, self.driver


class Sessions(Protocol):
    """What a step has to know of the other sessions."""

    ran: list[str]
    """The labels of the program's own work that has run after its commit."""
    fates: dict[int, str]
    """What became of every lossy entry that was ever accepted."""

    def is_held(self) -> bool:
        """Whether anybody has the database's one write transaction open."""
        ...


Step: TypeAlias = Callable[..., object]
"""Takes the sessions, the one that acts, and the arguments under their wire names."""

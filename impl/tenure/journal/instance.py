"""What one instance of the journal keeps in memory, and the locks around it (JN-160, JN-287).

One lock guards all of it and is held for moments only: never while the database works or is waited for, so that a
thread inside a transaction may always take it (JN-286).
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal, TypeAlias
from weakref import WeakSet

import attrs

from tenure.consensus.strategy import ConsensusStrategy
from tenure.database.engine import SqlRow, Statements
from tenure.database.writer import Database
from tenure.journal.backlog import Backlog
from tenure.journal.failures import closed
from tenure.journal.floors import Floors
from tenure.journal.identities import IdentityCache
from tenure.metrics.observer import Observer
from tenure_model.admission.journal_options import JournalSettings
from tenure_model.admission.preparation import Prepared, prepare
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal_errors import JournalError

if TYPE_CHECKING:
    from tenure.journal.changes import Changes
    from tenure.journal.driving import Driver
    from tenure.journal.policy import Policy
    from tenure.journal.publication import Publication
    from tenure.journal.streams import EntryStream

Status: TypeAlias = Literal["open", "closing", "closed"]

LOG = logging.getLogger("tenure.journal")

_capturing: ContextVar[frozenset[int]] = ContextVar("tenure_capturing", default=frozenset())
"""In ``capture``: the instances, by ``id``, that wait for it."""


@attrs.frozen
class Timing:
    """How long things wait, in seconds, and what waits: ``wait`` is given a held condition and how long at most."""

    poll_seconds: float
    capture_seconds: float
    wait: Callable[[threading.Condition, float], object]


class Instance:
    """The memory of one journal. What is in it is read and changed under ``lock``."""

    __slots__ = (
        "__weakref__",
        "backlog",
        "cache",
        "changes",
        "clock",
        "consensus",
        "database",
        "driver",
        "floors",
        "gates",
        "lock",
        "news",
        "observer",
        "policy",
        "progress",
        "rows",
        "settings",
        "status",
        "streams",
        "timing",
        "unpublished",
        "work",
    )

    def __init__(
        self,
        database: Database,
        consensus: ConsensusStrategy,
        clock: Callable[[], float],
        settings: JournalSettings,
        timing: Timing,
        observer: Observer,
    ) -> None:
        self.database = database
        self.rows: Statements = database.rows
        self.consensus = consensus
        self.clock = clock
        self.settings = settings
        self.timing = timing
        self.observer = observer
        self.status: Status = "open"
        self.floors = Floors()
        self.cache = IdentityCache(settings.source_event_cache)
        self.backlog = Backlog()
        # Runs that are being compacted: their admissions wait.
        self.gates: set[str] = set()
        # A stream or subscription that its reader dropped without closing it is no reader any more.
        self.streams: WeakSet[EntryStream] = WeakSet()
        self.changes: WeakSet[Changes] = WeakSet()
        # What is committed and not published, in the order of commits. Who commits appends to it without the lock.
        self.unpublished: deque[Publication] = deque()
        self.policy: Policy | None = None
        self.driver: Driver
        # Reentrant, because the collector may run in any thread, and what it ends takes the lock.
        self.lock = threading.RLock()
        # The writer waits for work, flushes and compactions for progress, streams and subscriptions for news.
        self.work = threading.Condition(self.lock)
        self.progress = threading.Condition(self.lock)
        self.news = threading.Condition(self.lock)

    def prepare(self, value: object) -> Prepared:
        """The input, ready to be numbered; raises ``journal_closed``, then what JN-040 says."""
        if self.status != "open":
            raise closed()
        prepared = prepare(
            value, self.clock(), self.settings.redact, self.settings.max_entry_bytes, self.settings.default
        )
        if isinstance(prepared, JournalError):
            raise prepared
        return prepared

    def now(self) -> int:
        """The clock in whole milliseconds; -1, which no column of times takes, where it says nothing usable."""
        reading: object = self.clock()
        if type(reading) is float and 0 <= reading <= MAX_SAFE_INTEGER:
            reading = int(reading)
        return reading if type(reading) is int and 0 <= reading <= MAX_SAFE_INTEGER else -1

    def require_open(self) -> None:
        """Raise ``journal_closed`` once closing has begun."""
        if self.status != "open":
            raise closed()

    @property
    def cannot_wait(self) -> bool:
        """Whether waiting for the writer could never end here: in a transaction of this thread, or in ``capture``."""
        return self.database.held_here or id(self) in _capturing.get()

    @contextmanager
    def capturing(self) -> Generator[None]:
        """Mark this context as one that the instance waits for."""
        token = _capturing.set(_capturing.get() | {id(self)})
        try:
            yield
        finally:
            _capturing.reset(token)

    def pass_gate(self, run_id: str) -> None:
        """Wait, with ``lock`` held, until the run is not being compacted (JN-287)."""
        while run_id in self.gates:
            self.progress.wait()

    def publish(self, rows: Iterable[SqlRow]) -> None:
        """With ``lock`` held: hand committed rows to subscribers, and wake the streams of their runs (JN-260)."""
        if not self.changes and not self.streams:
            return
        for row in rows:
            for subscription in self.changes:
                subscription.offer(row)
            for stream in self.streams:
                if stream.run_id == row[0]:
                    stream.wake()
        self.news.notify_all()

    def wake_all(self) -> None:
        """With ``lock`` held: let every stream look at what happened (JN-223)."""
        for stream in self.streams:
            stream.wake()
        self.news.notify_all()

    def end_flushes(self) -> None:
        """With ``lock`` held: end what flushes can end, and whatever else waits for progress may look again."""
        if self.backlog.end_flushes() and self.policy is not None:
            self.policy.retire_idle()
        self.progress.notify_all()

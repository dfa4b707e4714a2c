"""Opening a store, and the store itself."""

import math
import os
import random as random_numbers
import secrets
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Literal, TypeVar, TypeVarTuple

from tenure.attempts.context import AttemptContext, admit_options, new_context
from tenure.attempts.store import AttemptStore
from tenure.consensus.database import DatabaseConsensus
from tenure.consensus.strategy import ConsensusStrategy
from tenure.database.engine import Engine, OpenError, UsageError
from tenure.database.migrations import migrate as apply_migrations
from tenure.database.retry import RetryPolicy
from tenure.database.sqlite import SqliteEngine
from tenure.database.writer import Database, Transaction
from tenure.facts import FactRecorder
from tenure.journal.facts import JournalRecorder
from tenure.journal.journal import Journal
from tenure.journal.opening import JournalSetup, open_instance
from tenure.metrics import views
from tenure.metrics.consensus import TracedConsensus
from tenure.metrics.counters import Counters
from tenure.metrics.observer import Observer, new_observer
from tenure.metrics.telemetry import Telemetry
from tenure.ownership.beats import BeatCalls
from tenure.ownership.block import SupervisedBlock
from tenure.ownership.supervised import Hook
from tenure.ownership.supervisor import Supervisor
from tenure.ownership.timing import Timing
from tenure.runs.context import RunContext
from tenure.runs.store import RunStore
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.attempts import AttemptOptions
from tenure_model.vocabulary.journal import JournalOptions
from tenure_model.vocabulary.owners import OwnerId

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


def wall_clock() -> int:
    """The system's wall clock in whole milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def new_identity() -> str:
    """A fresh source identity: 32 hexadecimal digits (RS-120)."""
    return secrets.token_hex(16)


class Store:
    """A database of runs. Threads may share it, and several processes may open the same file.

    ``runs`` has the operations on runs, ``attempts`` those on attempts at their steps, ``journal`` those on histories
    where the store was opened with one; ``database`` is for other stores over the same file. Leaving its ``with`` block
    closes it. It stays usable after any refusal or error.
    """

    __slots__ = ("_context", "_journal", "_supervisor", "attempts", "database", "runs")

    def __init__(
        self,
        database: Database,
        context: RunContext,
        attempts: AttemptContext,
        journal: Journal | None = None,
        timing: Timing | None = None,
    ) -> None:
        self.database = database
        self._context = context
        self._journal = journal
        self.runs = RunStore(context)
        self.attempts = AttemptStore(attempts)
        calls = BeatCalls(database.write, self.runs.heartbeat, self.runs.reconfirm)
        self._supervisor = Supervisor(calls, context.clock, Timing() if timing is None else timing)

    @property
    def counters(self) -> Counters:
        """How often what has happened in this store since it was opened (RS-960)."""
        return self._context.observer.counters

    @property
    def journal(self) -> Journal:
        """The store's journal. ``UsageError`` where it was opened without one."""
        if self._journal is None:
            raise UsageError("the store was opened without a journal: give tenure.open journal options")
        return self._journal

    @property
    def clock(self) -> Callable[[], float]:
        """The clock that the store was opened with: milliseconds, perhaps with fractions."""
        return self._context.clock

    def now(self) -> int:
        """The store's clock in whole milliseconds: what to pass as ``now_ms``."""
        return self._context.now()

    def supervise(
        self,
        run_id: str,
        owner: OwnerId,
        *,
        on_reconfirm: Hook | None = None,
        on_lapse: Hook | None = None,
    ) -> SupervisedBlock:
        """A context manager around the work on a run that ``owner`` has: it beats each second, and answers a ``Lease``.

        The work goes on through beats that fail or hang for 19 s (RS-910..RS-918). Then the lease is reconfirmed within
        1 s, and ``on_reconfirm`` called with the milliseconds that it went unconfirmed; or it lapses, and ``on_lapse``
        is called so. A fence found lost ends it at once, without a call. The body learns of the end by ``lease.lost``,
        by ``lease.check()``, which raises ``LeaseLost``, and by ``LeaseLost`` when it leaves the block. An exception of
        a hook, and one of a beat that is no ``RunStoreError``, ends it too and is raised in place of ``LeaseLost``.

        Hooks run in threads of their own and should be quick: the body is told of a lapse only after ``on_lapse``. All
        runs of a store share two threads, which are there while any is supervised. ``RunStoreError`` for an id or owner
        that is refused, and on a closed store.
        """
        return SupervisedBlock(self._supervisor, run_id, owner, on_reconfirm, on_lapse)

    def transaction(self) -> Transaction:
        """A context manager: every call of this thread inside it commits together, or not at all if the block raises.

        Nested, it is a savepoint. Other threads' writes wait for its end. The block runs once; ``DatabaseError`` from
        its end means that nothing was kept, ``CommitUnknownError`` that nobody can know.
        """
        return self.database.transaction()

    def write(self, body: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """Run ``body(*arguments)`` in one transaction, and again as a whole while the database is busy (RS-391).

        ``body`` may run several times: it must take its inputs from its arguments and do nothing that a rollback does
        not undo. Nested, it is a savepoint and runs once. ``UsageError`` for a ``body`` that cannot be called.
        """
        if not callable(body):
            raise UsageError("body must be callable")
        return self.database.write(body, *arguments)

    def after_commit(self, callback: Callable[[], object]) -> bool:
        """Run ``callback`` after the transaction that is open now has committed; never if it rolls back (JN-146).

        False, and nothing registered, outside a transaction. What it raises reaches the caller as ``AfterCommitError``.
        ``UsageError`` for a ``callback`` that cannot be called, in a transaction or out of one.
        """
        if not callable(callback):
            raise UsageError("callback must be callable")
        return self.database.after_commit(callback)

    def close(self) -> None:
        """End all supervision, close the journal, which writes what is queued, and the database; afterwards every call
        fails with a clear error. Closing twice does nothing.
        """
        self._supervisor.stop()
        if self._journal is not None:
            self._journal.close()
        self.database.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def open(
    path: str | os.PathLike[str] | Engine,
    *,
    clock: Callable[[], float] = wall_clock,
    sleep: Callable[[float], object] = time.sleep,
    random: Callable[[], float] = random_numbers.random,
    identity: Callable[[], str] = new_identity,
    consensus: Literal["database"] | ConsensusStrategy = "database",
    facts: Callable[[Database], FactRecorder] | None = None,
    journal: JournalOptions | JournalSetup | Mapping[str, object] | None = None,
    attempts: AttemptOptions | Mapping[str, object] | AbsentType = ABSENT,
    busy_timeout_ms: int = 5_000,
    retry: RetryPolicy | None = None,
    timing: Timing | None = None,
    telemetry: Telemetry | None = None,
) -> Store:
    """Open the database at ``path``, migrating it first; ``":memory:"`` is a private one that ends with the store.

    A store belongs to the process that opened it: after a fork the child must open one of its own and leave this alone,
    as SQLite asks for and as the threads of a journal and of supervision do not survive the fork.

    ``clock`` answers milliseconds, ``sleep`` takes seconds, ``random`` answers 0 <= x < 1, ``identity`` names a new
    database's source. ``consensus`` arbitrates ownership; anything but ``"database"`` forgets it with the process.
    With ``journal`` options the store has a journal, which keeps the facts of ownership too; ``facts`` is given the
    database and answers who keeps them instead. ``attempts`` is the policy of ``store.attempts``. ``busy_timeout_ms``
    bounds each wait for a lock, and ``retry`` says how often a busy write is repeated. ``timing`` is what supervision
    measures and waits with. ``telemetry`` is told of counters and spans; ``store.counters`` has the
    counters without it. An engine may be given in place of a path.

    Raises ``OpenError`` for what cannot be used, saying why: a missing folder, a file that is no database or cannot be
    written, a database newer than this program. ``DatabaseError("busy")`` where another process keeps it locked.
    ``JournalError`` for journal options that are wrong, and for a journal that cannot be read. ``AttemptStoreError``
    for a policy of attempts that is wrong, before anything is opened (RS-804). ``UsageError`` for a ``clock`` that
    answers no finite number, or, where there is something to migrate, a time outside the years -4713 to 9999.
    """
    policy = admit_options(attempts)
    observer = new_observer(telemetry)
    database = _connect(path, sleep, random, busy_timeout_ms, retry, observer)
    try:
        apply_migrations(database, now_ms=_first_reading(clock()), identity=identity())
        strategy: ConsensusStrategy = DatabaseConsensus(database.rows) if consensus == "database" else consensus
        if telemetry is not None:
            strategy = TracedConsensus(strategy, observer)
        opened = None if journal is None else _open_journal(database, strategy, clock, journal, observer)
        recorder: FactRecorder | None = None
        if facts is not None:
            recorder = facts(database)
        elif opened is not None:
            recorder = JournalRecorder(opened.instance)
        context = RunContext(
            database=database, rows=database.rows, consensus=strategy, clock=clock, recorder=recorder, observer=observer
        )
    except BaseException:
        database.close()
        raise
    return Store(database, context, new_context(database, policy, observer), opened, timing)


def migrate(
    path: str | os.PathLike[str] | Engine,
    *,
    clock: Callable[[], float] = wall_clock,
    sleep: Callable[[float], object] = time.sleep,
    random: Callable[[], float] = random_numbers.random,
    identity: Callable[[], str] = new_identity,
    busy_timeout_ms: int = 5_000,
    retry: RetryPolicy | None = None,
) -> list[tuple[int, str]]:
    """Bring the database at ``path`` to the newest level; answer the ids and names applied, none on a rerun (RS-141).

    Arguments and errors as in ``open``, which does the same.
    """
    database = _connect(path, sleep, random, busy_timeout_ms, retry, new_observer(None))
    try:
        return apply_migrations(database, now_ms=_first_reading(clock()), identity=identity())
    finally:
        database.close()


def _first_reading(reading: object) -> int:
    if not isinstance(reading, int) and not (isinstance(reading, float) and math.isfinite(reading)):
        raise UsageError(f"clock must answer milliseconds as a finite number, not {reading!r}")
    return int(reading)


def _open_journal(
    database: Database,
    consensus: ConsensusStrategy,
    clock: Callable[[], float],
    journal: JournalOptions | JournalSetup | Mapping[str, object],
    observer: Observer,
) -> Journal:
    setup = journal if isinstance(journal, JournalSetup) else JournalSetup(journal)
    return Journal(open_instance(database, consensus, clock, setup, observer))


def _connect(
    path: str | os.PathLike[str] | Engine,
    sleep: Callable[[float], object],
    random: Callable[[], float],
    busy_timeout_ms: int,
    retry: RetryPolicy | None,
    observer: Observer,
) -> Database:
    if isinstance(path, str | bytes | os.PathLike):
        engine: Engine = SqliteEngine(os.fspath(path), busy_timeout_ms)
    elif callable(getattr(path, "connect", None)):
        engine = path
    else:
        raise OpenError("unsupported", "a store is opened at a path, or over an engine")
    policy = RetryPolicy() if retry is None else retry
    return Database(
        engine, sleep=sleep, random=random, retry=policy, retried=observer.counters.ticker(views.write_retries)
    )

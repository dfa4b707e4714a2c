"""Opening a store for tasks, and the store itself."""

import os
import random as random_numbers
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Literal, TypeVar, TypeVarTuple

from anyio import CapacityLimiter, get_cancelled_exc_class

import tenure.store
from tenure.aio.attempts import AttemptStore
from tenure.aio.block import SupervisedBlock
from tenure.aio.journal import Journal
from tenure.aio.runs import RunStore
from tenure.aio.supervisor import Hook, Supervisor, Timing
from tenure.aio.workers import DEFAULT_THREADS, Workers, require_threads, run_whole, without_waits
from tenure.consensus.strategy import ConsensusStrategy
from tenure.database.engine import Engine
from tenure.database.retry import RetryPolicy
from tenure.database.writer import Database
from tenure.facts import FactRecorder
from tenure.journal.opening import JournalSetup
from tenure.metrics.counters import Counters
from tenure.metrics.telemetry import Telemetry
from tenure.ownership.beats import Beat, BeatCalls, perform
from tenure.store import new_identity, wall_clock
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.attempts import AttemptOptions
from tenure_model.vocabulary.journal import JournalOptions
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.supervision import HeartbeatResult

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


class Store:
    """A store for the tasks of one loop, over a ``tenure.Store``, which is its ``sync``.

    Every call is a unit of work: it runs whole in one worker thread, and no two tasks share a transaction. Cancelled
    before it has a thread it does nothing; after that it goes on to its end, and answers, or, where asyncio itself
    cancels, raises the cancellation then. Leaving its ``async with`` block closes it.
    """

    __slots__ = ("_supervisor", "_workers", "attempts", "runs", "sync")

    def __init__(self, sync: tenure.store.Store, threads: int = DEFAULT_THREADS, timing: Timing | None = None) -> None:
        self.sync = sync
        """For use inside units of work. Elsewhere it blocks the loop."""
        self._workers = Workers(sync.database, threads)
        self.runs = RunStore(self._workers, sync.runs)
        self.attempts = AttemptStore(self._workers, sync.attempts)
        calls = BeatCalls(sync.database.write, sync.runs.heartbeat, sync.runs.reconfirm)
        # A thread of their own: beats must not wait for one while writers that hang have them all.
        thread = CapacityLimiter(1)

        async def write(beats: Sequence[Beat]) -> list[HeartbeatResult | None]:
            return await run_whole(thread, perform, calls, beats)

        self._supervisor = Supervisor(write, sync.clock, Timing() if timing is None else timing)

    @property
    def counters(self) -> Counters:
        """How often what has happened in this store since it was opened (RS-960)."""
        return self.sync.counters

    @property
    def journal(self) -> Journal:
        """The store's journal. ``UsageError`` where it was opened without one."""
        return Journal(self._workers, self.sync.journal)

    def now(self) -> int:
        """The store's clock in whole milliseconds: what to pass as ``now_ms``."""
        return self.sync.now()

    def supervise(
        self,
        run_id: str,
        owner: OwnerId,
        *,
        on_reconfirm: Hook | None = None,
        on_lapse: Hook | None = None,
    ) -> SupervisedBlock:
        """An asynchronous context manager around the work on a run that ``owner`` has; it answers a ``Lease``.

        When the lease is lost its body is cancelled at once, and ``LeaseLost`` raised from the block; what else ended
        the supervision, an exception of a hook or of a beat that is no ``RunStoreError``, is raised in its place. An
        exception of the body is never replaced. Beats, tolerance and hooks are those of ``tenure.Store.supervise``; a
        hook may be a coroutine function, runs in a task of its own, and is cancelled when its time is over or the block
        is left. One that is none is called in the loop, and must not block it.
        """
        return SupervisedBlock(self._supervisor, run_id, owner, on_reconfirm, on_lapse)

    async def write(self, body: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """Run ``body(*arguments)`` whole in one worker thread and one transaction, again while the database is busy.

        ``body`` uses ``sync``, whose calls become savepoints there, and ends committed, or rolled back if it raises. It
        may run several times, as in ``tenure.Store.write``. ``UsageError`` where it cannot be called, and, with nothing
        committed, where it is a coroutine function.
        """
        return await self._workers.write(self.sync.write, without_waits(body), *arguments)

    async def close(self) -> None:
        """End all supervision, close the journal, which writes what is queued, and the database.

        It goes through to its end though it is cancelled, after every unit of work that has begun. Streams and
        subscriptions end. Closing twice does nothing.
        """
        self._supervisor.stop()
        await self._workers.close(self.sync.close)

    async def __aenter__(self) -> "Store":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()


def wrap(store: tenure.store.Store, *, threads: int = DEFAULT_THREADS, timing: Timing | None = None) -> Store:
    """An open store, for the tasks of this loop. Other threads may go on using it; closing either closes both."""
    return Store(store, threads, timing)


@asynccontextmanager
async def open(
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
    threads: int = DEFAULT_THREADS,
) -> AsyncGenerator[Store, None]:
    """``async with tenure.aio.open(path) as store``: open it in a worker thread, and close it at the end of the block.

    Arguments and errors are those of ``tenure.open``; ``sleep`` is called in worker threads. ``timing`` is what
    supervision measures and sleeps with in the loop. ``threads`` bounds those that write at once, and those that read;
    ``UsageError`` unless it is 1 or more.
    """
    require_threads(threads)
    opening = partial(
        tenure.store.open,
        path,
        clock=clock,
        sleep=sleep,
        random=random,
        identity=identity,
        consensus=consensus,
        facts=facts,
        journal=journal,
        attempts=attempts,
        busy_timeout_ms=busy_timeout_ms,
        retry=retry,
        telemetry=telemetry,
    )
    opened: list[tenure.store.Store] = []
    try:
        await run_whole(CapacityLimiter(1), lambda: opened.append(opening()))
    except get_cancelled_exc_class():
        # By asyncio, while it was opened: nobody else has it.
        for sync in opened:
            await Store(sync).close()
        raise
    async with Store(opened[0], threads, timing) as store:
        yield store


def supervise(
    store: Store,
    run_id: str,
    owner: OwnerId,
    *,
    on_reconfirm: Hook | None = None,
    on_lapse: Hook | None = None,
) -> SupervisedBlock:
    """``store.supervise``."""
    return store.supervise(run_id, owner, on_reconfirm=on_reconfirm, on_lapse=on_lapse)

"""Units of work: each runs whole in one worker thread, or never begins.

Cancellation that arrives while a unit waits for a thread drops it: the caller sees the cancellation, and nothing was
done. Once it has begun it goes on to its end, committed or rolled back, and the caller waits for that. Scopes of anyio
and trio hold a cancellation off so long: the caller sees the answer or the error, and the cancellation comes with its
next wait. Nothing holds off asyncio's own, of ``task.cancel()``, ``asyncio.timeout`` and ``asyncio.TaskGroup``: it is
raised once the unit is over, with the unit's error as its cause, and whether the unit was committed must be read.

Threads are limited, and cannot be waited for in a circle. A unit that waits for the writer's turn waits for a unit that
has its thread already, or for a thread of somebody else; what would need another thread to go on is refused: a unit
that calls back into the loop for another one, and a task whose loop's thread has a transaction open. Reads have threads
of their own, since on a file they wait for no writer.
"""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar
from inspect import iscoroutine
from typing import Final, TypeVar, TypeVarTuple

import attrs
from anyio import CancelScope, CapacityLimiter, get_cancelled_exc_class, to_thread

from tenure.aio.loops import Bell
from tenure.database.engine import UsageError
from tenure.database.writer import Database

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

DEFAULT_THREADS: Final = 16


@attrs.define(eq=False)
class _Mark:
    """Left in the context of a unit, and in what the unit starts from there; empty once the unit is over."""

    database: Database | None


_marks: ContextVar[tuple[_Mark, ...]] = ContextVar("tenure_units", default=())


def require_threads(value: object) -> None:
    """``UsageError`` for what is no number of threads to be had."""
    if type(value) is not int or value < 1:
        raise UsageError("threads must be an integer of 1 or more")


def without_waits(body: Callable[[*Arguments], Result]) -> Callable[[*Arguments], Result]:
    """``body`` as a unit of work: ``UsageError`` where it answers a coroutine, which nobody would await."""

    def call(*arguments: *Arguments) -> Result:
        answer = body(*arguments)
        if iscoroutine(answer):
            answer.close()
            raise UsageError("body must not be a coroutine function: a unit of work runs in a thread")
        return answer

    # What cannot be called is named by the store.
    return call if callable(body) else body


class Workers:
    """The threads of one store: ``threads`` at most for writes, and as many for reads. ``UsageError`` for none."""

    __slots__ = ("_database", "_reads", "_writes")

    def __init__(self, database: Database, threads: int) -> None:
        require_threads(threads)
        self._database = database
        self._writes = CapacityLimiter(threads)
        self._reads = CapacityLimiter(threads)

    async def write(self, function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """Run what may wait for the writer's turn, for the journal's writer or for the disk."""
        return await self._run(self._writes, function, arguments)

    async def read(self, function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """Run what on a file waits for nobody."""
        return await self._run(self._reads, function, arguments)

    async def close(self, close: Callable[[], None]) -> None:
        """Run ``close``, whoever is cancelled and however many wait for threads.

        Where asyncio cancels the caller it is run again, which must do nothing then, and the cancellation raised.
        """
        cancellation: BaseException | None = None
        with CancelScope(shield=True):
            while True:
                try:
                    await self._run(CapacityLimiter(1), close, ())
                    break
                except get_cancelled_exc_class() as another:
                    cancellation = another
        if cancellation is not None:
            raise cancellation

    async def _run(
        self, limiter: CapacityLimiter, function: Callable[[*Arguments], Result], arguments: tuple[*Arguments]
    ) -> Result:
        database = self._database
        if database.held_here:
            raise UsageError("the thread of this loop has a transaction open, for which the unit of work would wait")
        if any(mark.database is database for mark in _marks.get()):
            raise UsageError("a unit of work uses the synchronous store: it would wait here for itself")
        return await run_whole(limiter, _marked, _Mark(database), function, arguments)


def _marked(mark: _Mark, function: Callable[[*Arguments], Result], arguments: tuple[*Arguments]) -> Result:
    _marks.set((*_marks.get(), mark))
    try:
        return function(*arguments)
    finally:
        mark.database = None


async def run_whole(
    limiter: CapacityLimiter, function: Callable[[*Arguments], Result], *arguments: *Arguments
) -> Result:
    """Run ``function(*arguments)`` whole in a worker thread, or not at all; answer or raise what it did.

    A cancellation by asyncio itself is raised when it is over. The limiter counts it until then.
    """
    unit: Future[Result] = Future()
    try:
        async with limiter:
            try:
                await to_thread.run_sync(_run_unit, unit, function, arguments, limiter=CapacityLimiter(1))
            except get_cancelled_exc_class() as cancellation:
                if unit.cancel():
                    raise
                # Only asyncio's own cancellation gets here: no scope can shield from that.
                await _outlast(unit)
                raise cancellation from unit.exception()
            return unit.result()
    finally:
        # What it raises would refer to itself through this frame.
        del unit


def _run_unit(unit: "Future[Result]", function: Callable[[*Arguments], Result], arguments: tuple[*Arguments]) -> None:
    if not unit.set_running_or_notify_cancel():
        return
    try:
        result = function(*arguments)
    except BaseException as failure:  # noqa: BLE001  # it is the unit's answer
        unit.set_exception(failure)
    else:
        unit.set_result(result)


async def _outlast(unit: "Future[Result]") -> None:
    """Wait for the end of the unit, however often asyncio cancels the wait: one cancellation is there to be raised."""
    bell = Bell()
    unit.add_done_callback(lambda _: bell.ring())
    over = bell.listen()
    with CancelScope(shield=True):
        while not unit.done():
            with suppress(get_cancelled_exc_class()):
                await over.wait()

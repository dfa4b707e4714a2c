"""Streams, subscriptions and projections as asynchronous iterators.

While one waits it holds no thread: what publishes or closes rings a bell in its loop. It belongs to that loop. Two
tasks may share one; each entry goes to one of them. A wait that is cancelled loses no entry.
"""

from collections import deque
from types import TracebackType
from typing import Generic, TypeVar

from anyio import Lock, move_on_after
from anyio.lowlevel import checkpoint

from tenure.aio.loops import Bell
from tenure.aio.workers import Workers
from tenure.database.engine import SqlRow
from tenure.journal.changes import Changes as SyncChanges
from tenure.journal.decoding import decode_entries
from tenure.journal.instance import Instance
from tenure.journal.projection import Projection
from tenure.journal.streams import EntryStream as SyncStream
from tenure_model.vocabulary.journal import Entry
from tenure_model.vocabulary.journal_errors import projection_failed

State = TypeVar("State")


class _RingingStream(SyncStream):
    __slots__ = ("_bell",)

    def __init__(self, instance: Instance, run_id: str, after: int, bell: Bell) -> None:
        self._bell = bell
        super().__init__(instance, run_id, after)

    def wake(self) -> None:
        super().wake()
        self._bell.ring()

    def end(self) -> None:
        super().end()
        self._bell.ring()


class _RingingChanges(SyncChanges):
    __slots__ = ("_bell",)

    def __init__(self, instance: Instance, bell: Bell) -> None:
        self._bell = bell
        super().__init__(instance)

    @property
    def is_closed(self) -> bool:
        """Whether nothing more is published here."""
        return self._is_closed

    def offer(self, row: SqlRow) -> None:
        super().offer(row)
        self._bell.ring()

    def end(self) -> None:
        super().end()
        self._bell.ring()

    def pop(self) -> Entry | None:
        """The oldest entry that nobody has taken, if there is one."""
        with self._instance.lock:
            if not self._buffer:
                return None
            row = self._buffer.popleft()
        return decode_entries((row,))[0]


class EntryStream:
    """The entries of one run above a cursor, as ``tenure.EntryStream`` gives them. ``aclose`` it to end it (JN-254).

    It ends with the error that a page met, or, without one, when it or the store is closed.
    """

    __slots__ = ("_bell", "_buffer", "_failure", "_instance", "_is_closed", "_stream", "_turn", "_workers")

    def __init__(self, workers: Workers, instance: Instance, run_id: str, after: int) -> None:
        self._workers = workers
        self._instance = instance
        self._bell = Bell()
        self._stream = _RingingStream(instance, run_id, after, self._bell)
        self._buffer: deque[Entry] = deque()
        self._failure: Exception | None = None
        self._is_closed = False
        self._turn = Lock()

    @property
    def run_id(self) -> str:
        """Whose entries these are."""
        return self._stream.run_id

    @property
    def cursor(self) -> int:
        """The last seq that was read. A compaction above the one after it is refused while the stream lives."""
        return self._stream.cursor

    @property
    def is_ended(self) -> bool:
        """Whether no page will be read any more."""
        return self._stream.is_ended

    async def aclose(self) -> None:
        """End it: whoever waits for the next entry stops, and no compaction waits for it. It never waits."""
        self._is_closed = True
        self._buffer.clear()
        self._failure = None
        self._stream.close()

    def __aiter__(self) -> "EntryStream":
        return self

    async def __anext__(self) -> Entry:
        while not self._is_closed:
            if self._buffer:
                return self._buffer.popleft()
            if self._failure is not None:
                failure, self._failure = self._failure, None
                try:
                    raise failure
                finally:
                    # It would refer to itself through this frame.
                    del failure
            async with self._turn:
                if not self._buffer and self._failure is None:
                    await self._read()
        raise StopAsyncIteration

    async def _read(self) -> None:
        """Read a page, or wait until there may be one."""
        if self._stream.is_ended:
            self._is_closed = True
            return
        news = self._bell.listen()
        if not await self._workers.read(self._fill):
            with move_on_after(self._instance.timing.poll_seconds):
                await news.wait()

    def _fill(self) -> bool:
        """In a worker thread: what came of it is kept, an error too, whatever becomes of who waits for it."""
        try:
            page = self._stream.page()
        except Exception as failure:  # noqa: BLE001  # it is for whoever asks next
            self._failure = failure
            return True
        self._buffer.extend(page)
        return bool(page) or self._stream.is_ended

    async def __aenter__(self) -> "EntryStream":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


class Changes:
    """A subscription to everything that the store's journal commits, as ``tenure.Changes`` gives it (JN-260).

    It keeps the newest ``capacity`` entries that nobody has taken, and ends when it or the store is closed.
    """

    __slots__ = ("_bell", "_changes")

    def __init__(self, instance: Instance) -> None:
        self._bell = Bell()
        self._changes = _RingingChanges(instance, self._bell)

    def take(self) -> list[Entry]:
        """Everything published since the last call, oldest first; it never waits."""
        return self._changes.take()

    async def aclose(self) -> None:
        """End it: whoever waits for the next entry stops, and what was not taken is gone. It never waits."""
        self._changes.close()

    def __aiter__(self) -> "Changes":
        return self

    async def __anext__(self) -> Entry:
        # Where entries come faster than they are taken, other tasks must get to run all the same.
        await checkpoint()
        while True:
            news = self._bell.listen()
            is_closed = self._changes.is_closed
            entry = self._changes.pop()
            if entry is not None:
                return entry
            if is_closed:
                raise StopAsyncIteration
            await news.wait()

    async def __aenter__(self) -> "Changes":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


class ProjectedStates(Generic[State]):
    """The states of a fold: the initial one, then one for each entry. ``aclose`` it to end it (JN-262, JN-263).

    ``reduce`` is called in the loop. Errors as of ``tenure.ProjectedStates``.
    """

    __slots__ = ("_has_begun", "_projection", "_state", "_stream")

    def __init__(self, projection: Projection[State], stream: EntryStream) -> None:
        self._projection = projection
        self._stream = stream
        self._state = projection.initial
        self._has_begun = False

    async def aclose(self) -> None:
        """End it. It never waits."""
        await self._stream.aclose()

    def __aiter__(self) -> "ProjectedStates[State]":
        return self

    async def __anext__(self) -> State:
        if not self._has_begun:
            if self._stream.is_ended:
                raise StopAsyncIteration
            self._has_begun = True
            return self._state
        entry = await anext(self._stream)
        try:
            self._state = self._projection.reduce(self._state, entry)
        except BaseException as error:
            await self.aclose()
            if isinstance(error, Exception):
                raise projection_failed(self._projection.name, error) from error
            raise
        return self._state

    async def __aenter__(self) -> "ProjectedStates[State]":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

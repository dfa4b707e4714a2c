"""``changes``: what this instance has committed, of all runs, as it happens (JN-260)."""

from collections import deque
from types import TracebackType

from tenure.database.engine import SqlRow
from tenure.journal.decoding import decode_entries
from tenure.journal.instance import Instance
from tenure_model.vocabulary.journal import Entry


class Changes:
    """A subscription: iterate over it, or ``take`` what is there. ``close`` it, from any thread, to end it.

    It starts with what is committed after it was made, and keeps the newest ``capacity`` entries that nobody has taken.
    They come in the order of their commits, whichever threads commit: within a run by ascending ``seq`` (JN-240). The
    last one is a cursor for ``stream`` only where none was dropped and no other instance writes to the run. Each
    subscriber gets entries of its own: what one does to a payload no other sees.
    """

    __slots__ = ("__weakref__", "_buffer", "_instance", "_is_closed")

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._buffer: deque[SqlRow] = deque(maxlen=instance.settings.capacity)
        with instance.lock:
            self._is_closed = instance.status == "closed"
            if not self._is_closed:
                instance.changes.add(self)

    def offer(self, row: SqlRow) -> None:
        """With the instance's lock held: append a committed row; the oldest makes room (JN-260)."""
        self._buffer.append(row)

    def take(self) -> list[Entry]:
        """Everything published since the last call, oldest first; it never waits."""
        with self._instance.lock:
            rows = list(self._buffer)
            self._buffer.clear()
        return decode_entries(rows)

    def close(self) -> None:
        """End the subscription: who waits for the next entry stops, and what was not taken is gone."""
        with self._instance.lock:
            self._buffer.clear()
            self.end()
            self._instance.news.notify_all()

    def end(self) -> None:
        """With the instance's lock held: publish nothing more here. What is in the buffer can still be taken."""
        self._is_closed = True
        self._instance.changes.discard(self)

    def __iter__(self) -> "Changes":
        return self

    def __next__(self) -> Entry:
        instance = self._instance
        with instance.lock:
            while not self._buffer:
                if self._is_closed:
                    raise StopIteration
                instance.news.wait()
            row = self._buffer.popleft()
        return decode_entries((row,))[0]

    def __enter__(self) -> "Changes":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

"""``stream``: a run's history and then its future, without a gap and without an end (JN-254..JN-258)."""

import threading
from collections import deque
from types import TracebackType

from tenure.database.engine import ClosedError, UsageError, find_database_error
from tenure.journal.failures import again
from tenure.journal.instance import Instance
from tenure.journal.reading import read_page
from tenure_model.admission.journal_options import admit_stream_options
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal import Entry
from tenure_model.vocabulary.journal_errors import INVALID_STREAM_OPTIONS, JournalError


class EntryStream:
    """The entries of one run above a cursor: iterate over it. ``close`` it, from any thread, to end it.

    It reads a page at a time, and at the end of history waits for a commit of this instance, or for the poll interval,
    after which it sees the commits of others. It ends with an error that a page read met, with a loss that the writer
    reported since it was made (JN-256), or, without one, when it or the journal is closed. What a transaction has
    written it shows once that is committed; inside one of a memory database it raises ``UsageError``, and lives on.
    Threads may share one: each entry goes to one of them, in order (JN-258).
    """

    __slots__ = (
        "__weakref__",
        "_buffer",
        "_instance",
        "_is_ended",
        "_is_woken",
        "_losses_before",
        "_turn",
        "cursor",
        "run_id",
    )

    def __init__(self, instance: Instance, run_id: str, after: int) -> None:
        self._instance = instance
        self.run_id = run_id
        self.cursor = after
        """The last seq that was read. A compaction above the one after it is refused while the stream lives."""
        self._buffer: deque[Entry] = deque()
        self._is_woken = False
        # Held by the one thread that reads ahead, or waits for something to read.
        self._turn = threading.Lock()
        with instance.lock:
            self._losses_before = instance.backlog.losses
            self._is_ended = instance.status == "closed"
            if not self._is_ended:
                instance.streams.add(self)

    @property
    def is_ended(self) -> bool:
        """Whether no page will be read any more."""
        return self._is_ended

    def page(self) -> list[Entry]:
        """Read what comes next, at most a page and perhaps nothing; it never waits. The cursor moves now (JN-255).

        Of threads that read the same page at once one gets it, the others nothing.
        """
        instance = self._instance
        with instance.lock:
            after = self.cursor
            self._is_woken = False
            if self._is_ended:
                return []
            loss = instance.backlog.last_loss if instance.backlog.losses > self._losses_before else None
        try:
            if loss is not None:
                raise again(loss)
            # Never what the reader's own transaction has written: rolled back, the cursor would have passed what comes
            # in its place (JN-241, JN-311).
            size = instance.settings.stream_page_size
            entries, _ = read_page(instance, self.run_id, after, size, committed_only=True)
        except UsageError:
            raise
        except BaseException as error:
            with instance.lock:
                was_ended = self._is_ended
                self.end()
            if was_ended and isinstance(find_database_error(error), ClosedError):
                return []
            raise
        with instance.lock:
            if self._is_ended:
                return []
            if self.cursor != after:
                # There may be more above what the other thread has read.
                self._is_woken = True
                return []
            if entries:
                self.cursor = entries[-1].seq
        return entries

    def wake(self) -> None:
        """With the instance's lock held: there may be something to read."""
        self._is_woken = True

    def close(self) -> None:
        """End the stream: who waits for the next entry stops, and no compaction waits for it."""
        with self._instance.lock:
            self._buffer.clear()
            self.end()
            self._instance.news.notify_all()

    def end(self) -> None:
        """With the instance's lock held: read nothing more. What was read can still be consumed."""
        self._is_ended = True
        self._instance.streams.discard(self)

    def __iter__(self) -> "EntryStream":
        return self

    def __next__(self) -> Entry:
        while True:
            try:
                return self._buffer.popleft()
            except IndexError:
                pass
            with self._turn:
                if not self._buffer:
                    self._read_ahead()

    def _read_ahead(self) -> None:
        """With the turn: buffer a page, or wait until there may be one; ``StopIteration`` where there will be none."""
        if self._is_ended:
            raise StopIteration
        page = self.page()
        if page:
            self._buffer.extend(page)
            return
        with self._instance.lock:
            if not self._is_woken and not self._is_ended:
                self._instance.timing.wait(self._instance.news, self._instance.timing.poll_seconds)

    def __enter__(self) -> "EntryStream":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def open_stream(instance: Instance, options: object) -> EntryStream:
    """A stream that has read nothing yet; ``invalid_event`` for options that are none (JN-254)."""
    return EntryStream(instance, *admit_stream(options))


def admit_stream(options: object) -> tuple[str, int]:
    """The run and the cursor that a stream begins with, or ``invalid_event`` (JN-254)."""
    admitted = admit_stream_options(options)
    if type(admitted) is Refusal:
        raise JournalError("invalid_event", INVALID_STREAM_OPTIONS, cause=admitted.cause)
    return admitted.run_id, -1 if admitted.after_sequence is ABSENT else admitted.after_sequence

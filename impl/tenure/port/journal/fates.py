"""What becomes of each accepted lossy entry, as its instance goes about it (JN-214, JN-223, JN-226)."""

from collections.abc import Callable, Sequence
from typing import Final

from tenure.journal.backlog import Backlog, Queued
from tenure.journal.identities import Existing
from tenure.journal.insertion import Fate, Inserted
from tenure_model.admission.preparation import Prepared
from tenure_model.vocabulary.journal_errors import JournalError

_NAMES: Final = {Inserted: "row", Existing: "collapsed"}


class WatchedBacklog(Backlog):
    """A backlog that writes down the fate of each of its entries.

    ``fates`` is that of all sessions, the first entry of all being 0; ``written`` says what the writer knows of its
    batch.
    """

    __slots__ = ("_fates", "_numbers", "_written")

    def __init__(self, fates: dict[int, str], written: Callable[[], Sequence[Fate] | None]) -> None:
        super().__init__()
        self._fates = fates
        self._written = written
        self._numbers: dict[Queued, int] = {}

    def enqueue(self, prepared: Prepared, seq: int, source_seq: int) -> None:
        """As the real one; the entry is outstanding."""
        super().enqueue(prepared, seq, source_seq)
        number = len(self._fates)
        self._numbers[self.queue[-1]] = number
        self._fates[number] = "outstanding"

    def evict_oldest(self) -> Queued:
        """As the real one; the entry was evicted."""
        evicted = super().evict_oldest()
        self._fates[self._numbers.pop(evicted)] = "evicted"
        return evicted

    def lose(self, error: JournalError, entries: Sequence[Queued]) -> None:
        """As the real one; the entries are lost."""
        super().lose(error, entries)
        for queued in entries:
            self._fates[self._numbers.pop(queued)] = "lost"

    def settle(self) -> None:
        """As the real one; what was not lost is a row, or fell onto one."""
        self._note_written()
        super().settle()

    def crash(self) -> None:
        """The process is gone: what the writer had not committed is lost with it."""
        self._note_written()
        for number in self._numbers.values():
            self._fates[number] = "crashed"
        self._numbers.clear()

    def _note_written(self) -> None:
        for queued, fate in zip(self.taken, self._written() or (), strict=False):
            if queued in self._numbers and not isinstance(fate, JournalError):
                self._fates[self._numbers.pop(queued)] = _NAMES[type(fate)]

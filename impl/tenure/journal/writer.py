"""The lossy writer: batches from the queue into the database, and what follows (JN-210..JN-215, JN-223).

Three steps, so that whoever drives it decides what happens between them: take, write, settle.
"""

from collections.abc import Sequence

import attrs

from tenure.database.engine import DatabaseError
from tenure.journal.backlog import Queued
from tenure.journal.failures import storage_failure
from tenure.journal.identities import Existing, Remembered, remember_collapse
from tenure.journal.insertion import Fate, Inserted, Insertion
from tenure.journal.instance import LOG, Instance
from tenure.journal.publication import Publication
from tenure_model.vocabulary.journal_errors import SINK_FAILED, WRITER_FAILED, JournalError


@attrs.frozen(eq=False)
class Loss:
    """Entries that will never be rows, and why."""

    error: JournalError
    entries: Sequence[Queued]


class _BatchPublication(Publication):
    """What the writer inserted: it publishes that when it settles the batch, unless somebody did before."""

    __slots__ = ()

    def __call__(self) -> None:
        pass


class LossyWriter:
    """One batch at a time. Driven by one thread at a time; no step raises anything but an interruption."""

    __slots__ = ("_instance", "_lost_whole", "_publication", "fates")

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self.fates: Sequence[Fate] | None = None
        """What became of each entry of the batch that is taken, once it is written."""
        self._lost_whole: JournalError | None = None
        self._publication: _BatchPublication | None = None

    @property
    def has_taken(self) -> bool:
        """Whether a batch is taken and not settled."""
        return bool(self._instance.backlog.taken)

    @property
    def has_written(self) -> bool:
        """Whether the batch that is taken has been written, or lost in the attempt."""
        return self.fates is not None or self._lost_whole is not None

    def take(self) -> int:
        """Take at most ``batchSize`` entries from the queue; answers how many. They no longer count against capacity.

        A batch that is not settled stays the one taken.
        """
        instance = self._instance
        with instance.lock:
            if instance.backlog.taken:
                return len(instance.backlog.taken)
            return len(instance.backlog.take(instance.settings.batch_size))

    def write(self) -> None:
        """Insert the batch in one transaction, each entry by itself (JN-210..JN-213)."""
        batch = self._instance.backlog.taken
        if not batch or self.has_written:
            return
        try:
            self.fates = self._instance.database.write(self._insert, batch)
        except DatabaseError as error:
            self._lost_whole = storage_failure("sink_failed", SINK_FAILED, error)
            self._lost_whole.__cause__ = error
        except Exception as error:  # noqa: BLE001  # whatever broke, the batch is lost and the writer goes on
            self._lost_whole = storage_failure("sink_failed", WRITER_FAILED, error)
            self._lost_whole.__cause__ = error

    def settle(self) -> None:
        """Make the outcome known, in the order of JN-214, and run what automatic compaction has to do."""
        if not self.has_written:
            return
        instance = self._instance
        batch = instance.backlog.taken
        losses, inserted = self._judge(batch)
        lost = {queued.ordinal for loss in losses for queued in loss.entries}
        with instance.lock:
            self._remember(batch, lost)
            if self.fates is not None and self._publication is not None:
                self._publication.publish()
            instance.backlog.release(batch)
            instance.progress.notify_all()
        tasks = [] if instance.policy is None else instance.policy.settled_lossy([fate.row[0] for fate in inserted])
        for loss in losses:
            instance.observer.lost(loss.error.code, len(loss.entries))
            _log(loss)
        with instance.lock:
            for loss in losses:
                for queued in loss.entries:
                    instance.cache.forget(queued.identity)
                instance.backlog.lose(loss.error, loss.entries)
            if losses:
                instance.wake_all()
            instance.backlog.settle()
            self.fates = self._lost_whole = self._publication = None
            instance.end_flushes()
        for task in tasks:
            instance.driver.maintain(task)

    def drain(self) -> None:
        """Take, write and settle until the queue is empty, as a writer does that is left alone."""
        while self.take():
            self.write()
            self.settle()

    def _insert(self, batch: Sequence[Queued]) -> list[Fate]:
        instance = self._instance
        fates = Insertion(instance.database).insert_all(batch)
        self._publication = _BatchPublication(instance, [fate.row for fate in fates if type(fate) is Inserted])
        instance.database.after_commit(self._publication)
        return fates

    def _judge(self, batch: Sequence[Queued]) -> tuple[list[Loss], list[Inserted]]:
        if self.fates is None:
            return ([] if self._lost_whole is None else [Loss(self._lost_whole, batch)]), []
        losses = [
            Loss(fate, (queued,))
            for queued, fate in zip(batch, self.fates, strict=True)
            if isinstance(fate, JournalError)
        ]
        return losses, [fate for fate in self.fates if type(fate) is Inserted]

    def _remember(self, batch: Sequence[Queued], lost: set[int]) -> None:
        """With the lock held: what was committed or collapsed is committed, and floors rise above it (R-7)."""
        instance = self._instance
        for queued, fate in zip(batch, self.fates or (), strict=False):
            prepared = queued.prepared
            if type(fate) is Inserted:
                seq: int = fate.row[1]
                remembered = Remembered(seq, prepared.event_type, prepared.payload_json, prepared.meta_json)
                instance.cache.enter(queued.identity, remembered, "committed")
            elif type(fate) is Existing:
                seq = fate.seq
                remember_collapse(instance.cache, queued.identity, prepared, fate)
            else:
                continue
            instance.floors.rise(prepared.run_id, seq, prepared.source_id, queued.source_seq)


def _log(loss: Loss) -> None:
    """One warning a loss, with count, code and runs (JN-412)."""
    runs = sorted({queued.prepared.run_id for queued in loss.entries})
    LOG.warning("lost %d journal entries (%s) of %s", len(loss.entries), loss.error.code, ", ".join(runs))

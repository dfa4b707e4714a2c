"""The journal of a store, as a task calls it: each operation is that of ``tenure.Journal``, in a worker thread.

Parameters, answers and errors are those of the operation of the same name there. What is for the inside of a
transaction is not here: a unit of work, given to ``transact`` or to the store's ``write``, uses the synchronous store.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TypeVar

from tenure.aio.streams import Changes, EntryStream, ProjectedStates
from tenure.aio.workers import Workers, without_waits
from tenure.journal.journal import Input
from tenure.journal.journal import Journal as SyncJournal
from tenure.journal.projection import Projection, require_projection
from tenure.journal.streams import admit_stream
from tenure.metrics import operations
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.journal import (
    Checkpoint,
    CompactionResult,
    DurableReceipt,
    EmitReceipt,
    EntriesPage,
    Generation,
    StreamOptions,
)
from tenure_model.vocabulary.owners import OwnerId

Result = TypeVar("Result")
State = TypeVar("State")


class Journal:
    """One instance of the journal over a store's database. Obtained as ``store.journal``."""

    __slots__ = ("_journal", "_workers")

    def __init__(self, workers: Workers, journal: SyncJournal) -> None:
        self._workers = workers
        self._journal = journal

    async def emit_durable(self, input: Input, owner: OwnerId | Mapping[str, object]) -> DurableReceipt:
        """Append one event while ``owner`` owns the run, and return once it is on disk."""
        return await self._workers.write(self._journal.emit_durable, input, owner)

    async def emit_durable_unfenced(self, input: Input) -> DurableReceipt:
        """As ``emit_durable``, whoever owns the run."""
        return await self._workers.write(self._journal.emit_durable_unfenced, input)

    async def emit_lossy(self, input: Input) -> EmitReceipt:
        """Queue one event for the writer, and return before it is on disk."""
        return await self._workers.read(self._journal.emit_lossy, input)

    async def flush(self) -> None:
        """Wait until every lossy event admitted before this call is on disk, a duplicate, evicted or lost."""
        await self._workers.write(self._journal.flush)

    async def entries(
        self,
        run_id: str,
        *,
        limit: int,
        after: int | AbsentType = ABSENT,
        event_types: Sequence[str] | AbsentType = ABSENT,
    ) -> EntriesPage:
        """At most ``limit`` (1..10,000) entries above ``after``, ascending, of 1 to 64 types if given."""
        return await self._workers.read(
            partial(self._journal.entries, run_id, limit=limit, after=after, event_types=event_types)
        )

    def stream(self, run_id: str, *, after_sequence: int | AbsentType = ABSENT) -> EntryStream:
        """Every entry above ``after_sequence``, those that are there and those to come, for this loop."""
        instance = self._journal.instance
        options = StreamOptions(run_id, after_sequence)
        with instance.observer.around(operations.STREAM, options):
            return EntryStream(self._workers, instance, *admit_stream(options))

    def changes(self) -> Changes:
        """Every entry that this instance commits from now on, of all runs, for this loop."""
        instance = self._journal.instance
        with instance.observer.around(operations.CHANGES):
            return Changes(instance)

    def project(
        self, projection: Projection[State], run_id: str, *, after_sequence: int | AbsentType = ABSENT
    ) -> ProjectedStates[State]:
        """The states of a fold over ``stream``, the initial one first. ``JournalUsageError`` for no ``Projection``."""
        require_projection(projection)
        with self._journal.instance.observer.around(operations.PROJECT, projection, run_id):
            return ProjectedStates(projection, self.stream(run_id, after_sequence=after_sequence))

    async def checkpoint(
        self, run_id: str, seq: int, state: object, owner: OwnerId | Mapping[str, object]
    ) -> Checkpoint:
        """Keep ``state`` as what stands for the run up to and with ``seq``, while ``owner`` owns it."""
        return await self._workers.write(self._journal.checkpoint, run_id, seq, state, owner)

    async def latest_checkpoint(self, run_id: str) -> Checkpoint | None:
        """The checkpoint with the highest seq, compacted or not."""
        return await self._workers.read(self._journal.latest_checkpoint, run_id)

    async def compact(
        self, run_id: str, owner: OwnerId | Mapping[str, object], *, up_to: int | AbsentType = ABSENT
    ) -> CompactionResult:
        """Delete the entries below a checkpoint, the latest unless ``up_to`` names one."""
        return await self._workers.write(partial(self._journal.compact, run_id, owner, up_to=up_to))

    async def transact(self, body: Callable[[], Result]) -> Result:
        """Run ``body`` as a unit of work: what it writes through the synchronous store commits together, or not at all.

        It runs again, as a whole, while the database is busy. What the database raises leaves it as ``sink_failed``.
        ``UsageError``, with nothing committed, where it is a coroutine function.
        """
        return await self._workers.write(self._transact, body)

    def _transact(self, body: Callable[[], Result]) -> Result:
        return self._journal.transact(without_waits(body))

    async def generation(self, run_id: str) -> Generation:
        """How often the run was rewound, and to where; 0 and -1 where never."""
        return await self._workers.read(self._journal.generation, run_id)

    async def forget(self, run_ids: Collection[str]) -> None:
        """Forget numbers and identities of runs whose history was cut back."""
        await self._workers.read(self._journal.forget, run_ids)

    async def close(self) -> None:
        """Refuse what is new, write everything that is queued, wait for automatic compaction, and end.

        Streams and subscriptions end. It goes through to its end though it is cancelled.
        """
        await self._workers.close(self._journal.close)

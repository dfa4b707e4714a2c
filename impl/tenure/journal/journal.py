"""The journal of a store, as a program calls it: two channels in, pages and streams out, checkpoints, transactions.

Inputs and options are the frozen classes of the vocabulary or exact ``dict`` under the wire's names. Every operation
admits what it is given first and raises ``JournalError("invalid_event")`` for the first thing that is wrong; nothing is
read, written or numbered then. Storage that fails is ``sink_failed`` or ``read_failed`` with the database's failure as
``cause``, and ``JournalOutcomeUnknown`` where a write may have taken effect. Numbers that an event used up are never
used again, so gaps are ordinary and mean nothing (JN-243). Threads may share a journal.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias, TypeVar, overload

from tenure.journal import checkpoints, closing, compaction, durable, flushing, lossy, reading, streams, transactions
from tenure.journal.backlog import Ticket
from tenure.journal.changes import Changes
from tenure.journal.instance import Instance
from tenure.journal.projection import ProjectedStates, Projection, require_projection
from tenure.journal.streams import EntryStream
from tenure.journal.transactions import JournalTransaction
from tenure.metrics import operations
from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.journal import (
    Checkpoint,
    CheckpointOptions,
    CompactionResult,
    CompactOptions,
    DurableReceipt,
    EmitReceipt,
    EntriesOptions,
    EntriesPage,
    Generation,
    JournalInput,
    StreamOptions,
)
from tenure_model.vocabulary.journal_errors import INVALID_RUN_ID, JournalError
from tenure_model.vocabulary.owners import OwnerId

Result = TypeVar("Result")
State = TypeVar("State")

Input: TypeAlias = JournalInput | Mapping[str, object]


class Journal:
    """One instance of the journal over a store's database. Obtained as ``store.journal``.

    Several instances, in this process or others, may work on one file: the database decides about order and duplicates.
    """

    __slots__ = (
        "_changes",
        "_checkpoint",
        "_close",
        "_compact",
        "_emit_durable",
        "_emit_durable_unfenced",
        "_emit_lossy",
        "_entries",
        "_flush",
        "_forget",
        "_generation",
        "_latest_checkpoint",
        "_stream",
        "_when_committed",
        "instance",
    )

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        """What the journal keeps in memory: for programs that drive or inspect it."""
        bind = instance.observer.bind
        self._emit_durable = bind(operations.EMIT_DURABLE, durable.emit_durable, instance)
        self._emit_durable_unfenced = bind(operations.EMIT_DURABLE_UNFENCED, durable.emit_durable_unfenced, instance)
        self._emit_lossy = bind(operations.EMIT_LOSSY, lossy.emit_lossy, instance)
        self._flush = bind(operations.FLUSH, flushing.flush_pending, instance)
        self._entries = bind(operations.ENTRIES, reading.entries, instance)
        self._stream = bind(operations.STREAM, streams.open_stream, instance)
        self._changes = bind(operations.CHANGES, Changes, instance)
        self._checkpoint = bind(operations.CHECKPOINT, checkpoints.checkpoint, instance)
        self._latest_checkpoint = bind(operations.LATEST_CHECKPOINT, reading.latest_checkpoint, instance)
        self._compact = bind(operations.COMPACT, compaction.compact, instance)
        self._when_committed = bind(operations.WHEN_COMMITTED, transactions.when_committed, instance.database)
        self._generation = bind(operations.GENERATION, reading.generation, instance)
        self._forget = bind(operations.FORGET, _forget, instance)
        self._close = bind(operations.CLOSE, closing.close, instance)

    def emit_durable(self, input: Input, owner: OwnerId | Mapping[str, object]) -> DurableReceipt:
        """Append one event while ``owner`` owns the run, and return once it is on disk (JN-170..JN-179).

        ``Accepted``: it has a row at ``seq``. ``Duplicate``: the identity is there already, with equal content, at
        ``seq``. Inside a transaction it is there once that commits. ``fence_lost`` where somebody else owns the run or
        nobody does, also for a duplicate (JN-085); ``idempotency_conflict`` where the identity has other content.
        """
        return self._emit_durable(input, owner)

    def emit_durable_unfenced(self, input: Input) -> DurableReceipt:
        """As ``emit_durable``, whoever owns the run."""
        return self._emit_durable_unfenced(input)

    def emit_lossy(self, input: Input) -> EmitReceipt:
        """Queue one event for the writer, and return before it is on disk (JN-190..JN-200).

        ``Accepted``: queued; its ``seq`` is provisional, and ``evicted`` says what had to give way. ``Duplicate``: the
        identity is remembered with equal content, ``pending`` or ``committed``. ``Dropped``: the queue was full.
        ``queue_overflow`` says the same under ``reject``. It takes no part in the caller's transaction.
        """
        return self._emit_lossy(input)

    def flush(self) -> None:
        """Wait until every lossy event admitted before this call is on disk, a duplicate, evicted or lost (JN-222).

        Raises the latest loss that no flush has reported, or that is among those events; all losses count as reported
        then. ``JournalUsageError`` inside a transaction and in ``capture``, where the wait could not end (R-9). Inside
        a transaction of another store on the same file it waits until the writer gives up as busy, and then raises the
        loss of its batch: no store knows of another.
        """
        self._flush(self.instance.backlog.pending)

    def begin_flush(self) -> Ticket:
        """A flush that does not wait: its ticket says when it has ended, and then how."""
        return flushing.begin_flush(self.instance)

    def entries(
        self,
        run_id: str,
        *,
        limit: int,
        after: int | AbsentType = ABSENT,
        event_types: Sequence[str] | AbsentType = ABSENT,
    ) -> EntriesPage:
        """At most ``limit`` (1..10,000) entries above ``after``, ascending, of 1 to 64 types if given (JN-250..JN-253).

        ``compacted``, with the floor in ``checkpoint_seq``, where entries above ``after`` have been cut off: go on from
        the checkpoint. A page is never silently short. ``decode_failed`` if a single row is corrupt.
        """
        return self._entries(EntriesOptions(run_id, limit, after, event_types))

    def stream(self, run_id: str, *, after_sequence: int | AbsentType = ABSENT) -> EntryStream:
        """Every entry above ``after_sequence``, those that are there and those to come (JN-254..JN-258).

        It ends when it or the journal is closed, or with the error that a read met. While it lives, no compaction of
        this instance cuts off what it has not read.
        """
        return self._stream(StreamOptions(run_id, after_sequence))

    def changes(self) -> Changes:
        """Every entry that this instance commits from now on, of all runs (JN-260)."""
        return self._changes()

    def project(
        self, projection: Projection[State], run_id: str, *, after_sequence: int | AbsentType = ABSENT
    ) -> ProjectedStates[State]:
        """The states of a fold over ``stream``, the initial one first (JN-262, JN-263).

        ``JournalUsageError`` for what is no ``Projection``.
        """
        require_projection(projection)
        with self.instance.observer.around(operations.PROJECT, projection, run_id):
            return ProjectedStates(projection, self.stream(run_id, after_sequence=after_sequence))

    def checkpoint(self, run_id: str, seq: int, state: object, owner: OwnerId | Mapping[str, object]) -> Checkpoint:
        """Keep ``state`` as what stands for the run up to and with ``seq``, while ``owner`` owns it (JN-270..JN-274).

        The state is stored as JSON, neither redacted nor sorted, and replaces one that was there.
        ``checkpoint_invalid`` where ``seq`` names no committed entry or lies at the compaction floor.
        """
        return self._checkpoint(CheckpointOptions(run_id, seq, state), owner)

    def latest_checkpoint(self, run_id: str) -> Checkpoint | None:
        """The checkpoint with the highest seq, compacted or not (JN-275)."""
        return self._latest_checkpoint(run_id)

    def compact(
        self, run_id: str, owner: OwnerId | Mapping[str, object], *, up_to: int | AbsentType = ABSENT
    ) -> CompactionResult:
        """Delete the entries below a checkpoint, the latest unless ``up_to`` names one (JN-280..JN-291).

        The entry at the checkpoint stays, and the identities of the others are remembered for good. Repeated, it
        deletes 0. ``checkpoint_invalid`` without such a checkpoint; ``reader_behind`` while a stream of this instance
        has not read so far; ``fence_lost``. Outside a transaction it waits until the run has nothing pending.
        """
        return self._compact(CompactOptions(run_id, up_to), owner)

    @overload
    def transact(self, body: None = None) -> JournalTransaction: ...
    @overload
    def transact(self, body: Callable[[], Result]) -> Result: ...
    def transact(self, body: Callable[[], Result] | None = None) -> JournalTransaction | Result:
        """Commit everything that is written through this store inside, or nothing (JN-310..JN-314).

        With ``body`` it runs that and answers what it answered, and runs it again, as a whole, while the database is
        busy. Without, it is a context manager, whose block runs once. Nested, either is a savepoint. What the database
        raises leaves it as ``sink_failed``, other errors as they are. Publication follows the outermost commit.
        ``JournalUsageError`` for a ``body`` that cannot be called.
        """
        if body is None:
            return JournalTransaction(self.instance.database, self.instance.observer)
        with self.instance.observer.around(operations.TRANSACT):
            return transactions.transact(self.instance.database, body)

    def when_committed(self, update: Callable[[], object]) -> bool:
        """Run ``update`` now where no transaction is open, else once the outermost has committed (JN-315).

        False, and it never runs, where the transaction of this thread belongs to another task. ``JournalUsageError``
        for an ``update`` that cannot be called.
        """
        return self._when_committed(update)

    def generation(self, run_id: str) -> Generation:
        """How often the run was rewound, and to where; 0 and -1 where never (JN-341)."""
        return self._generation(run_id)

    def forget(self, run_ids: Collection[str]) -> None:
        """Forget numbers and identities of runs whose history was cut back (JN-342).

        ``run_ids`` is a list, tuple or set. Their producers must be quiet and flushed. No row changes.
        """
        self._forget(run_ids)

    def close(self) -> None:
        """Refuse what is new, write everything that is queued, wait for automatic compaction, and end (JN-230..JN-233).

        Losses are logged. Streams and subscriptions end; reads go on while the database is open. So do those operations
        of ``store.runs`` that record no fact. Those that grant or end a claim or an ownership write it here, and
        from now on change nothing and raise ``persistence_failed``, whose ``__cause__`` is ``journal_closed`` (RS-702).
        ``JournalUsageError`` inside a transaction and in ``capture``. Closing twice does nothing.
        """
        self._close()


def _forget(instance: Instance, run_ids: Collection[str]) -> None:
    # A single text would be taken for the runs that its characters name.
    if not isinstance(run_ids, list | tuple | set | frozenset):
        raise JournalError("invalid_event", INVALID_RUN_ID)
    admitted = {reading.require_run_id(run_id) for run_id in run_ids}
    with instance.lock:
        instance.floors.forget(admitted)
        instance.cache.forget_runs(admitted)

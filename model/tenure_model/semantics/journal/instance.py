"""The memory of one journal instance: everything a crash of its process loses (JN-160).

Tokens, tickets, streams and subscriptions are named by numbers that an instance never gives twice.
"""

from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

import attrs

from tenure_model.admission.journal_options import JournalSettings
from tenure_model.admission.preparation import Prepared
from tenure_model.semantics.journal.tables import Content, Draft, Event, Identity, Standing
from tenure_model.vocabulary.absent import AbsentType
from tenure_model.vocabulary.journal import DuplicateStatus
from tenure_model.vocabulary.journal_errors import JournalError
from tenure_model.vocabulary.owners import OwnerId

Status: TypeAlias = Literal["open", "closing", "closed"]
Producer: TypeAlias = tuple[str, str]


@attrs.frozen
class Floors:
    """The next numbers an instance allocates at the lowest: ``run`` by run id, ``producer`` by (run id, source id).

    Both only rise (JN-161). ``warm`` holds the producers whose floor came from a durable read or an implicit
    allocation, and so covers what is on disk (R-5).
    """

    run: Mapping[str, int]
    producer: Mapping[Producer, int]
    warm: frozenset[Producer]


@attrs.frozen
class Remembered:
    """What the identity cache holds of one producer identity; a ``pending`` ``seq`` is provisional (JN-160)."""

    seq: int
    content: Content
    status: DuplicateStatus


@attrs.frozen
class Queued:
    """An accepted lossy event. ``entry_id`` tells it from all others; ``draft.seq`` is its reservation (JN-195)."""

    entry_id: int
    draft: Draft


@attrs.frozen
class Inserted:
    """The event is a new row."""

    event: Event


@attrs.frozen
class Collapsed:
    """The event fell onto what holds its identity already, with equal content or by ``identity`` (JN-177)."""

    standing: Standing


InsertResult: TypeAlias = Inserted | Collapsed | JournalError


@attrs.frozen
class Batch:
    """What the writer has taken from the queue; ``results``, one an entry, once it has written (JN-210).

    ``failure`` is the one error of a batch that is lost as a whole (JN-213).
    """

    entries: tuple[Queued, ...]
    results: tuple[InsertResult, ...] | None = None
    failure: JournalError | None = None


@attrs.frozen
class Losses:
    """Reports of lost entries: how many were made, up to which one they are handed out, and the last (JN-223)."""

    epoch: int
    reported_epoch: int
    last: JournalError | None

    @property
    def unreported(self) -> JournalError | None:
        """The last loss, if some report has reached nobody yet (JN-221)."""
        return self.last if self.epoch > self.reported_epoch else None


@attrs.frozen
class Succeeded:
    """A flush has ended well."""


@attrs.frozen
class Failed:
    """A flush has ended with the loss it reports."""

    error: JournalError


FlushAnswer: TypeAlias = Succeeded | Failed


@attrs.frozen
class Flush:
    """A flush that had to wait. ``covered`` and ``tasks`` are the entries and the maintenance before it (R-8).

    ``lost`` is the latest loss among the covered entries, ``answer`` how it ended, ``closing`` whether it is the final
    flush of a close (JN-230).
    """

    covered: frozenset[int]
    tasks: frozenset[int]
    closing: bool
    lost: JournalError | None = None
    answer: FlushAnswer | None = None


@attrs.frozen
class Admission:
    """A lossy admission between its phases (JN-191..JN-194).

    The floors are what phase 2 read: ``None`` where it read nothing. ``needless`` says that ``original`` would not have
    read the producer floor (R-5).
    """

    prepared: Prepared
    has_read: bool = False
    run_floor: int | None = None
    producer_floor: int | None = None
    needless: bool = False


@attrs.frozen
class Stream:
    """A live stream. ``cursor`` is the last ``seq`` of the last page read, or where it started (JN-254, JN-255).

    ``loss_epoch`` is the count of losses when it subscribed (JN-256); ``last_read`` the last ``seq`` it was given.
    """

    run_id: str
    cursor: int
    loss_epoch: int
    last_read: int | None = None


@attrs.frozen
class Compaction:
    """A top-level compaction that waits for its run to drain, or, once ``gated``, holds the transaction (JN-286)."""

    run_id: str
    up_to: int | AbsentType
    owner: OwnerId
    gated: bool = False


@attrs.frozen
class Maintenance:
    """Automatic compaction after a settlement that inserted ``inserted`` rows of a run, and how far it got (JN-301).

    ``count`` has not counted yet; the other stages are an attempt in flight, to the ``tail`` with the captured state.
    """

    run_id: str
    inserted: int
    stage: Literal["count", "capture", "checkpoint", "compact"] = "count"
    tail: int = 0
    state_json: str = ""


@attrs.frozen
class Instance:
    """One journal instance (JN-160).

    ``cache`` runs from the oldest identity to the newest. ``batch`` is pending as the queue is, but does not count
    towards the capacity (JN-195). ``changes`` holds what each subscriber has not taken (JN-260); ``published`` all that
    was published, as (run id, ``seq``). ``counters`` are the policy's (JN-301). Numbers from ``next_number`` on are
    unused.
    """

    settings: JournalSettings
    status: Status
    floors: Floors
    cache: Mapping[Identity, Remembered]
    queue: tuple[Queued, ...]
    batch: Batch | None
    losses: Losses
    flushes: Mapping[int, Flush]
    admissions: Mapping[int, Admission]
    streams: Mapping[int, Stream]
    changes: Mapping[int, tuple[Event, ...]]
    published: tuple[tuple[str, int], ...]
    compactions: Mapping[int, Compaction]
    maintenance: Mapping[int, Maintenance]
    counters: Mapping[str, int]
    next_number: int


COLD: Final = Floors(run={}, producer={}, warm=frozenset())
"""The floors of an instance that has allocated nothing (JN-152)."""


def fresh_instance(settings: JournalSettings, cache: Mapping[Identity, Remembered]) -> Instance:
    """An instance that has just opened."""
    return Instance(
        settings=settings,
        status="open",
        floors=COLD,
        cache=cache,
        queue=(),
        batch=None,
        losses=Losses(0, 0, None),
        flushes={},
        admissions={},
        streams={},
        changes={},
        published=(),
        compactions={},
        maintenance={},
        counters={},
        next_number=1,
    )


def pending(instance: Instance) -> Iterator[Queued]:
    """The lossy entries that have not settled, in the order they were admitted (JN-160)."""
    if instance.batch is not None:
        yield from instance.batch.entries
    yield from instance.queue


def pending_count(instance: Instance) -> int:
    """How many lossy entries have not settled."""
    return len(instance.queue) + (0 if instance.batch is None else len(instance.batch.entries))


def is_pending(instance: Instance, run_id: str) -> bool:
    """Whether a lossy entry of the run has not settled."""
    return any(queued.draft.run_id == run_id for queued in pending(instance))


def is_gated(instance: Instance, run_id: str) -> bool:
    """Whether a compaction has closed the run's admission gate (JN-287)."""
    return any(compaction.gated and compaction.run_id == run_id for compaction in instance.compactions.values())


def is_attempting(instance: Instance, run_id: str) -> bool:
    """Whether an attempt to compact the run automatically is in flight (JN-301)."""
    return any(task.run_id == run_id and task.stage != "count" for task in instance.maintenance.values())

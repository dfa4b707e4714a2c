"""What a journal takes and answers: inputs, entries, receipts, pages, checkpoints, options (JN-020..JN-025).

The classes check nothing when they are built; every operation admits what it is given. ``ABSENT`` in a field means that
the caller said nothing, ``None`` that it said null.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias

import attrs

from tenure_model.vocabulary.absent import ABSENT, AbsentType

Dedupe: TypeAlias = Literal["content", "identity"]
OverflowPolicy: TypeAlias = Literal["reject", "drop-newest", "drop-oldest"]
DuplicateStatus: TypeAlias = Literal["pending", "committed"]

DEDUPES: Final[tuple[Dedupe, ...]] = ("content", "identity")
OVERFLOW_POLICIES: Final[tuple[OverflowPolicy, ...]] = ("reject", "drop-newest", "drop-oldest")

Redact: TypeAlias = Callable[[object], object]
"""A redactor: what it answers is stored in place of the payload or meta it is given; it may raise (JN-040, JN-050)."""

JsonHook: TypeAlias = Callable[[object], object]
"""Encodes a value that is no JSON, as ``default=`` of ``json.dumps`` does; called once a value (JN-042, JN-057)."""

MAX_ENTRIES_LIMIT: Final = 10_000
"""Most entries of one page (JN-250)."""

MAX_EVENT_TYPES: Final = 64
"""Most event types one read filters by (JN-250)."""

CANONICAL_DEPTH: Final = 256
"""How many containers may be wrapped around a value of payload or meta (JN-044)."""

STATE_DEPTH: Final = 999
"""How many containers may be wrapped around a value of a checkpoint's state: SQLite's ``json_valid`` stops at 1,000
nested ones (JN-007, JN-272)."""

DEFAULT_SOURCE_EVENT_CACHE: Final = 4_096
"""How many producer identities an instance remembers unless told otherwise (JN-150)."""

DEFAULT_BATCH_SIZE: Final = 64
"""Most entries of one lossy batch, unless the capacity is smaller (JN-150)."""

STREAM_POLL_MS: Final = 1_000
"""How long a stream waits for a wake before it reads anyway (JN-254)."""

COMPACTION_PAGE_SIZE: Final = 256
"""How many entries a compaction turns into tombstones at a time (JN-281)."""

CAPTURE_TIMEOUT_MS: Final = 30_000
"""How long automatic compaction waits for the state it asked for (JN-302)."""


@attrs.frozen
class JournalInput:
    """One event to append (JN-024).

    ``source_seq`` is the producer's own number; left out, the journal allocates one. ``dedupe`` of ``identity`` lets a
    repeated identity pass as a duplicate whatever its content (JN-047). A missing ``meta`` is stored as null (JN-025).
    """

    run_id: str
    source_id: str
    event_type: str
    payload: object = ABSENT
    source_seq: int | AbsentType = ABSENT
    dedupe: Dedupe = "content"
    meta: object = ABSENT


@attrs.frozen
class Entry:
    """One committed event (JN-025). ``emitted_at_ms`` is the clock when the emit began, not the commit's (JN-028)."""

    run_id: str
    seq: int
    event_id: str
    source_id: str
    source_seq: int
    emitted_at_ms: int
    event_type: str
    payload: object
    meta: object


@attrs.frozen
class Evicted:
    """``count`` queued entries gave way to the accepted one (JN-195)."""

    policy: OverflowPolicy
    count: int


@attrs.frozen
class Accepted:
    """The event is committed (durable channel) or queued, its ``seq`` then provisional (JN-170, JN-190, JN-198)."""

    seq: int
    source_seq: int
    evicted: Evicted | AbsentType = ABSENT


@attrs.frozen
class Duplicate:
    """The identity is known with equal content; the ``seq`` of a ``pending`` one is provisional (JN-177, JN-191)."""

    seq: int
    source_seq: int
    status: DuplicateStatus


@attrs.frozen
class Dropped:
    """The queue was full: the event is gone, both numbers are used up (JN-195)."""

    seq: int
    source_seq: int
    policy: OverflowPolicy


DurableReceipt: TypeAlias = Accepted | Duplicate
EmitReceipt: TypeAlias = Accepted | Duplicate | Dropped


@attrs.frozen
class EntriesPage:
    """Consecutive matching entries in ascending ``seq``, and whether one more exists (JN-251)."""

    entries: tuple[Entry, ...]
    has_more: bool


@attrs.frozen
class Checkpoint:
    """The caller's state as of ``seq``; ``compacted_at_ms`` says when history below it was cut off (JN-007, JN-272)."""

    run_id: str
    seq: int
    state: object
    created_at_ms: int
    compacted_at_ms: int | None


@attrs.frozen
class CompactionResult:
    """The run is compacted to ``checkpoint_seq``; ``deleted`` entries are gone, none if it was already (JN-280)."""

    run_id: str
    checkpoint_seq: int
    deleted: int


@attrs.frozen
class Generation:
    """How often a run was rewound, and the last ``seq`` that survived; 0 and -1 where never (JN-341)."""

    generation: int
    after_seq: int


@attrs.frozen
class EntriesOptions:
    """What page to read: entries above ``after``, of these types only, at most ``limit`` (JN-250)."""

    run_id: str
    limit: int
    after: int | AbsentType = ABSENT
    event_types: Sequence[str] | AbsentType = ABSENT


@attrs.frozen
class StreamOptions:
    """What to follow: the entries of a run above ``after_sequence`` (JN-254)."""

    run_id: str
    after_sequence: int | AbsentType = ABSENT


@attrs.frozen
class CheckpointOptions:
    """The state that stands for every entry of the run up to and with ``seq`` (JN-270, JN-273)."""

    run_id: str
    seq: int
    state: object = ABSENT


@attrs.frozen
class CompactOptions:
    """The run to compact, and the checkpoint to compact to unless it is the latest (JN-280)."""

    run_id: str
    up_to: int | AbsentType = ABSENT


@attrs.frozen
class CompactionPolicy:
    """Compact by itself once a run has ``entry_threshold`` entries, to the state ``capture(run_id, seq)`` answers
    (JN-300..JN-302).
    """

    entry_threshold: int
    capture: Callable[[str, int], object]


@attrs.frozen
class JournalOptions:
    """How an instance is built (JN-150). ``None`` takes the default.

    ``capacity`` and ``batch_size`` count entries, ``max_entry_bytes`` the UTF-8 bytes of payload and meta together
    (JN-045). ``default`` encodes what is no JSON in payloads, metas and states.
    """

    capacity: int
    overflow: OverflowPolicy
    batch_size: int | None = None
    source_event_cache: int | None = None
    max_entry_bytes: int | None = None
    redact: Redact | None = None
    compaction: CompactionPolicy | None = None
    default: JsonHook | None = None

"""The journal's errors and the texts they carry (JN-400..JN-403). The model answers them, the store raises them."""

from typing import Final, Literal, TypeAlias, get_args

from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.owners import OwnerId

JournalErrorCode: TypeAlias = Literal[
    "invalid_event",
    "idempotency_conflict",
    "sequence_conflict",
    "fence_lost",
    "queue_overflow",
    "journal_closed",
    "sink_failed",
    "read_failed",
    "decode_failed",
    "projection_failed",
    "checkpoint_invalid",
    "reader_behind",
    "compacted",
    "unknown",
]

JOURNAL_ERROR_CODES: Final[tuple[JournalErrorCode, ...]] = get_args(JournalErrorCode)


class JournalError(Exception):
    """Why the journal refused or failed (JN-400).

    ``text`` is the message (JN-401). ``checkpoint_seq`` names the sequence to resync from or to wait for, where the
    code has one. ``cause`` is the storage failure, or field names and lengths of a refused input, never its content
    (JN-402). Errors are equal when code, text and ``checkpoint_seq`` are.
    """

    def __init__(
        self,
        code: JournalErrorCode,
        text: str,
        checkpoint_seq: int | AbsentType = ABSENT,
        cause: object = None,
    ) -> None:
        self.code: JournalErrorCode = code
        self.text = text
        self.checkpoint_seq = checkpoint_seq
        self.cause = cause
        super().__init__(code, text, checkpoint_seq, cause)

    @property
    def message(self) -> str:
        """The text, under the name the wire gives it."""
        return self.text

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return (self.code, self.text, self.checkpoint_seq) == (other.code, other.text, other.checkpoint_seq)

    def __hash__(self) -> int:
        return hash((type(self), self.code, self.text, self.checkpoint_seq))


class JournalUsageError(RuntimeError):
    """A wait for the queued writer where it can never end: inside a transaction, or in ``capture`` (R-9). And an
    argument that the operation could only fail on half-way: it names the parameter.
    """


INVALID_INPUT: Final = "event violates the journal input contract"
INVALID_CLOCK: Final = "emittedAtMs must be a non-negative safe integer"
NOT_REDACTED: Final = "could not be redacted"
NOT_JSON: Final = "must be JSON-serializable"
NOT_CANONICAL: Final = "could not be canonicalized"
SEQUENCE_EXHAUSTED: Final = "journal sequence is outside the allocatable safe integer range"
INVALID_ENTRIES_OPTIONS: Final = "entries options violate the journal read contract"
INVALID_STREAM_OPTIONS: Final = "stream options violate the journal read contract"
INVALID_CHECKPOINT_OPTIONS: Final = "checkpoint options violate the journal contract"
INVALID_COMPACT_OPTIONS: Final = "compact options violate the journal contract"
INVALID_RUN_ID: Final = "runId violates the journal identifier contract"
QUEUE_FULL: Final = "journal admission queue is full"
CLOSED: Final = "journal is closed"
SINK_FAILED: Final = "journal sink failed"
WRITER_FAILED: Final = "journal writer failed"
DURABLE_WRITE_FAILED: Final = "durable journal write failed"
TRANSACTION_FAILED: Final = "journal transaction failed"
CHECKPOINT_WRITE_FAILED: Final = "durable checkpoint write failed"
COMPACTION_FAILED: Final = "journal compaction failed"
SOURCE_EVENTS_FAILED: Final = "could not initialize journal source events"
GENERATIONS_FAILED: Final = "could not initialize journal generations"
FLOOR_READ_FAILED: Final = "could not read journal allocation floor"
GENERATION_READ_FAILED: Final = "could not read journal generation"
GUARD_FAILED: Final = "consensus guard failed"
FINGERPRINT_FAILED: Final = "could not fingerprint journal content"
JOURNAL_READ_FAILED: Final = "durable journal read failed"
CHECKPOINT_READ_FAILED: Final = "durable checkpoint read failed"
ROW_UNDECODABLE: Final = "could not decode a durable journal row"
CHECKPOINT_UNDECODABLE: Final = "could not decode a durable checkpoint row"


def fence_required(method: str) -> JournalError:
    """No well-formed owner came with ``method``, a wire name without prefix (JN-082)."""
    return JournalError("invalid_event", f"{method} requires a well-formed owner fence")


def fence_lost(run_id: str, owner: OwnerId) -> JournalError:
    """The lease of the run names nobody or somebody else (JN-083, JN-403)."""
    return JournalError("fence_lost", f"run {run_id} is no longer owned by {owner.host_id}:{owner.pid}:{owner.nonce}")


def idempotency_conflict(run_id: str, source_id: str, source_seq: int) -> JournalError:
    """A producer identity came back with other content (JN-177, JN-403)."""
    return JournalError(
        "idempotency_conflict",
        f"source event {source_id}:{source_seq} for run {run_id} was reused with different content",
    )


def entry_too_large(size: int, limit: int) -> JournalError:
    """Payload and meta take ``size`` bytes, more than ``limit`` (JN-045)."""
    return JournalError("invalid_event", f"event is {size} bytes, over the {limit}-byte maxEntryBytes bound")


def not_positive(option: str) -> JournalError:
    """A construction option is no positive safe integer (JN-150)."""
    return JournalError("invalid_event", f"{option} must be a positive safe integer")


def unavailable(method: str) -> JournalError:
    """A stand-in journal lacks the operation (JN-420)."""
    return JournalError("journal_closed", f"{method} is unavailable")


def projection_failed(name: str, cause: object) -> JournalError:
    """The reducer of a projection failed (JN-263)."""
    return JournalError("projection_failed", f"projection {name} failed", cause=cause)


def checkpoint_names_no_entry(run_id: str, seq: int) -> JournalError:
    """There is no committed entry to checkpoint at (JN-270)."""
    return JournalError("checkpoint_invalid", f"checkpoint sequence {seq} names no committed entry of run {run_id}")


def checkpoint_at_floor(run_id: str, floor: int) -> JournalError:
    """The checkpoint would stand at the compaction floor (JN-270, JN-271)."""
    return JournalError("checkpoint_invalid", f"run {run_id} is already compacted through sequence {floor}", floor)


def no_checkpoint(run_id: str, seq: int | AbsentType = ABSENT) -> JournalError:
    """There is no checkpoint, or none at ``seq``, to compact to (JN-280)."""
    place = "" if seq is ABSENT else f" at sequence {seq}"
    return JournalError("checkpoint_invalid", f"run {run_id} has no checkpoint{place} to compact to")


def reader_behind(run_id: str, checkpoint_seq: int) -> JournalError:
    """A live stream of this instance has not read up to the checkpoint (JN-280)."""
    text = f"a live stream of run {run_id} still needs sequences below checkpoint {checkpoint_seq}"
    return JournalError("reader_behind", text, checkpoint_seq)


def compacted(run_id: str, floor: int) -> JournalError:
    """What was asked for lies below the compaction floor (JN-252)."""
    text = f"run {run_id} is compacted through sequence {floor}; resync from its checkpoint"
    return JournalError("compacted", text, floor)


def dropped_below_floor(run_id: str, seq: int, floor: int) -> JournalError:
    """A queued entry was overtaken by a compaction (JN-289)."""
    return JournalError(
        "compacted", f"queued sequence {seq} for run {run_id} was dropped below compaction floor {floor}", floor
    )

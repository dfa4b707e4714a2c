"""The attempts of a run as its history tells them, for readers without access to the attempt store.

The attempt store stays the authority. What is projected was redacted on its way into the journal, and says nothing of
leases and fences, which only the lease table knows.
"""

from typing import Final

from tenure.events.decoding import admitted_consumer
from tenure.journal.journal import Journal
from tenure_model.admission.engine_events.projection import fold_attempts
from tenure_model.admission.engine_events.rows import describe_row
from tenure_model.admission.engine_events.snapshots import decode_snapshot, encode_snapshot
from tenure_model.admission.redaction.redactor import DEFAULT_REDACTOR
from tenure_model.admission.refusal import refuse
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.attempts import Attempt
from tenure_model.vocabulary.engine_events.attempts import AttemptPayload
from tenure_model.vocabulary.engine_events.consumers import Consumer
from tenure_model.vocabulary.engine_events.errors import INVALID_SNAPSHOT, EventError
from tenure_model.vocabulary.engine_events.lineage import Lineage
from tenure_model.vocabulary.engine_events.projections import EMPTY_PROJECTION, AttemptProjection
from tenure_model.vocabulary.journal import Checkpoint, CompactionResult, Redact
from tenure_model.vocabulary.owners import OwnerId

PAGE_SIZE: Final = 1_000
"""How many entries are read at a time."""


def attempt_payload(
    row: Attempt, lineage: Lineage, told: Attempt | None, *, redact: Redact = DEFAULT_REDACTOR
) -> AttemptPayload:
    """What an event says after the row was written; write both in one transaction (JN-353, JN-354).

    ``told`` is the row as the last event told it, ``None`` where none did. Where every write is told, heartbeats and
    patches too, that is the row as it stood before. A success has its value as the row's ``outcome``, a failure
    ``{reason, detail}`` as its ``error``. ``redact`` is the redactor that the journal was given.

    Raises ``EventError``, so that what is told always equals the rows: ``malformed`` for a row that no event can tell,
    in a state of its own, in progress with an outcome, ended without one, or with a digest or another identity that
    redaction would change, so that readers could not tell it from others; ``transition`` for one that cannot follow
    what was told, because an attempt that had ended moves on, or one that ends has another heartbeat or checkpoint than
    was told, which the event of an end does not carry.
    """
    answer = describe_row(row, lineage, told, redact)
    if isinstance(answer, EventError):
        raise answer
    return answer


def rebuild_attempts(journal: Journal, consumer: Consumer) -> AttemptProjection:
    """The projection of what is committed: the latest checkpoint, if there is one, and every entry above it.

    Raises ``EventError`` where that checkpoint is no valid snapshot, bound to its own sequence and to the consumer's
    lineage, and where an entry is refused; ``JournalError`` where the journal cannot be read, ``compacted`` among them
    if somebody compacts meanwhile: then rebuild again.
    """
    consumer = admitted_consumer(consumer)
    checkpoint = journal.latest_checkpoint(consumer.run_id)
    projection = EMPTY_PROJECTION if checkpoint is None else _restore(checkpoint, consumer)
    while True:
        after = ABSENT if projection.covering_seq < 0 else projection.covering_seq
        page = journal.entries(consumer.run_id, limit=PAGE_SIZE, after=after)
        answer = fold_attempts(projection, page.entries, consumer)
        if isinstance(answer, EventError):
            raise answer
        projection = answer
        if not page.has_more:
            return projection


def compact_attempts(journal: Journal, consumer: Consumer, owner: OwnerId) -> CompactionResult:
    """Replace the history of the run, up to its last entry, by a snapshot of its attempts, while ``owner`` owns it.

    The snapshot is kept as a checkpoint, read back from the database and validated before anything is deleted; one that
    is not what was projected is undone. Repeated, it deletes 0. Every other kind of event goes too: who needs those
    must not compact this way. Raises what ``rebuild_attempts`` raises, ``EventError`` where no event has named a
    lineage yet, and the errors of ``Journal.checkpoint`` and ``Journal.compact``.
    """
    consumer = admitted_consumer(consumer)
    projection = rebuild_attempts(journal, consumer)
    known = journal.latest_checkpoint(consumer.run_id)
    if known is None or known.seq < projection.covering_seq:
        journal.transact(lambda: _keep(journal, projection, consumer, owner))
    return journal.compact(consumer.run_id, owner, up_to=projection.covering_seq)


def _keep(journal: Journal, projection: AttemptProjection, consumer: Consumer, owner: OwnerId) -> None:
    """Keep a snapshot, or raise; one that is not what was projected must not stay and pass for right the next time."""
    snapshot = encode_snapshot(projection)
    if isinstance(snapshot, EventError):
        raise snapshot
    journal.checkpoint(consumer.run_id, projection.covering_seq, snapshot, owner)
    stored = journal.latest_checkpoint(consumer.run_id)
    if stored is None or _restore(stored, consumer) != projection:
        raise EventError("malformed", INVALID_SNAPSHOT, refuse("snapshot", "must say what was projected"))


def _restore(checkpoint: Checkpoint, consumer: Consumer) -> AttemptProjection:
    answer = decode_snapshot(checkpoint.state, consumer)
    if isinstance(answer, EventError):
        raise answer
    if answer.covering_seq != checkpoint.seq:
        raise EventError(
            "malformed", INVALID_SNAPSHOT, refuse("snapshot.coveringSeq", "must be the checkpoint's sequence")
        )
    return answer

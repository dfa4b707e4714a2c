"""``compact``: cut history off below a checkpoint, and leave a tombstone for each event (JN-280..JN-291)."""

import json
from collections.abc import Generator
from contextlib import contextmanager

from tenure.database.engine import UndecodableTextError
from tenure.database.writer import Withdrawn
from tenure.journal import statements
from tenure.journal.durable import guard, require_owner
from tenure.journal.failures import PASSED_ON, closed, storage_failure
from tenure.journal.flushing import require_waitable
from tenure.journal.insertion import Inserted, Insertion
from tenure.journal.instance import Instance
from tenure.journal.publication import Publication
from tenure_model.admission.event_identity import content_fingerprint
from tenure_model.admission.journal_options import admit_compact_options
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal import COMPACTION_PAGE_SIZE, CompactionResult, CompactOptions
from tenure_model.vocabulary.journal_errors import (
    COMPACTION_FAILED,
    FINGERPRINT_FAILED,
    INVALID_COMPACT_OPTIONS,
    JournalError,
    no_checkpoint,
    reader_behind,
)
from tenure_model.vocabulary.owners import OwnerId


def compact(instance: Instance, options: object, owner: object) -> CompactionResult:
    """Compact the run while ``owner`` owns it."""
    fence = require_owner("compact", owner)
    instance.require_open()
    admitted = admit_compact_options(options)
    if type(admitted) is Refusal:
        raise JournalError("invalid_event", INVALID_COMPACT_OPTIONS, cause=admitted.cause)
    return compact_run(instance, admitted, fence)


def compact_run(instance: Instance, options: CompactOptions, fence: OwnerId | None) -> CompactionResult:
    """Compact, whoever owns the run where there is no ``fence`` (JN-302).

    Outside a transaction it first waits until the run has nothing pending, and looks again once it has the database;
    nothing is locked while it waits (JN-286). A durable write needs no waiting for: it is active only in a transaction
    of its own, and there is one at a time (JN-290). Inside a transaction there is no waiting (JN-288).
    """
    policy = instance.policy
    if policy is not None:
        policy.enter(options.run_id)
    try:
        if instance.database.held_here:
            return instance.database.write(_compact_nested, instance, options, fence)
        while True:
            _await_drained(instance, options.run_id)
            result = instance.database.write(_compact_if_drained, instance, options, fence)
            if result is not None:
                return result
    except PASSED_ON:
        raise
    except Exception as error:
        raise storage_failure("sink_failed", COMPACTION_FAILED, error) from error
    finally:
        if policy is not None:
            policy.leave(options.run_id)


def _await_drained(instance: Instance, run_id: str) -> None:
    with instance.lock:
        if instance.backlog.is_drained(run_id):
            return
    require_waitable(instance, "compact")
    instance.driver.wait_until(lambda: instance.backlog.is_drained(run_id))


def _compact_if_drained(instance: Instance, options: CompactOptions, fence: OwnerId | None) -> CompactionResult | None:
    """Compact in a transaction of its own, or answer ``None`` where something was queued meanwhile."""
    with instance.lock:
        if not instance.backlog.is_drained(options.run_id):
            raise Withdrawn(None)
        if instance.status == "closed":
            # While it waited.
            raise closed()
        instance.gates.add(options.run_id)
    with _gate(instance, options.run_id):
        return _compact(instance, options, fence)


def _compact_nested(instance: Instance, options: CompactOptions, fence: OwnerId | None) -> CompactionResult:
    """Compact inside the caller's transaction.

    What the run has pending is inserted first, by the writer's own statements. The writer still settles it: it finds
    the rows, or inserts again if the caller rolled back (JN-288).
    """
    with instance.lock:
        instance.gates.add(options.run_id)
        pending = instance.backlog.pending_of(options.run_id)
    with _gate(instance, options.run_id):
        fates = Insertion(instance.database).insert_all(pending)
        inserted = [fate.row for fate in fates if type(fate) is Inserted]
        if inserted:
            instance.database.after_commit(Publication(instance, inserted))
        return _compact(instance, options, fence)


@contextmanager
def _gate(instance: Instance, run_id: str) -> Generator[None]:
    """The gate, closed already, is opened in every case (JN-287).

    It is open before the commit: who passes it then is numbered as who passes it afterwards, since floors only rise.
    """
    try:
        yield
    finally:
        with instance.lock:
            instance.gates.discard(run_id)
            instance.progress.notify_all()


def _compact(instance: Instance, options: CompactOptions, fence: OwnerId | None) -> CompactionResult:
    run_id = options.run_id
    rows = instance.rows
    if fence is not None:
        guard(instance, run_id, fence)
    if options.up_to is ABSENT:
        target = rows(statements.NEWEST_TARGET, (run_id,))
    else:
        target = rows(statements.TARGET_AT, (run_id, options.up_to))
    if not target:
        raise no_checkpoint(run_id, options.up_to)
    checkpoint_seq, is_compacted = target[0]
    if is_compacted:
        return CompactionResult(run_id, checkpoint_seq, 0)
    with instance.lock:
        if any(stream.run_id == run_id and stream.cursor < checkpoint_seq - 1 for stream in instance.streams):
            raise reader_behind(run_id, checkpoint_seq)
    deleted = _entomb(instance, run_id, checkpoint_seq)
    rows(statements.DELETE_BELOW, (run_id, checkpoint_seq))
    rows(statements.DELETE_CHECKPOINTS_BELOW, (run_id, checkpoint_seq))
    rows(statements.MARK_COMPACTED, (run_id, checkpoint_seq, instance.now()))
    return CompactionResult(run_id, checkpoint_seq, deleted)


def _entomb(instance: Instance, run_id: str, checkpoint_seq: int) -> int:
    """A tombstone for every event below the checkpoint, page by page; answers how many (JN-281, JN-284)."""
    entombed = 0
    after = -1
    while True:
        try:
            page = instance.rows(statements.DOOMED_PAGE, (run_id, after, checkpoint_seq, COMPACTION_PAGE_SIZE))
            marked = [(seq, content_fingerprint(*content)) for seq, *content in page]
        except (UndecodableTextError, TypeError, UnicodeError) as error:
            raise JournalError("sink_failed", FINGERPRINT_FAILED, cause=error) from error
        if not page:
            return entombed
        instance.rows(statements.ENTOMB, (run_id, json.dumps(marked)))
        entombed += len(page)
        after = page[-1][0]

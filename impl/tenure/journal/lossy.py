"""``emitLossy``: admission in three phases, of which only the second touches the database (JN-190..JN-200)."""

import attrs

from tenure.database.engine import UsageError
from tenure.journal import statements
from tenure.journal.failures import closed, storage_failure
from tenure.journal.floors import exhausted
from tenure.journal.identities import Remembered, require_same
from tenure.journal.instance import Instance
from tenure_model.admission.preparation import Prepared
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal import Accepted, Dropped, Duplicate, EmitReceipt, Evicted
from tenure_model.vocabulary.journal_errors import FLOOR_READ_FAILED, QUEUE_FULL, JournalError


@attrs.define(eq=False)
class Admission:
    """A prepared input on its way into the queue, and the durable floors read for it."""

    prepared: Prepared
    run_floor: int = 0
    producer_floor: int = 0


def emit_lossy(instance: Instance, value: object) -> EmitReceipt:
    """All three phases in a row."""
    begun = begin(instance, value)
    if isinstance(begun, Duplicate):
        return begun
    try:
        read_floors(instance, begun)
        return finish(instance, begun)
    finally:
        end(instance, begun)


def begin(instance: Instance, value: object) -> Admission | Duplicate:
    """Phase 1: prepare, and answer from memory what is known (JN-191). What it begins has to ``end``."""
    prepared = instance.prepare(value)
    if prepared.source_seq is not ABSENT:
        with instance.lock:
            instance.pass_gate(prepared.run_id)
            known = _find_known(instance, prepared)
        if known is not None:
            return known
    if instance.policy is not None:
        instance.policy.enter(prepared.run_id)
    return Admission(prepared)


def end(instance: Instance, admission: Admission) -> None:
    """The admission is over, however it went."""
    if instance.policy is not None:
        instance.policy.leave(admission.prepared.run_id)


def read_floors(instance: Instance, admission: Admission) -> None:
    """Phase 2: read the floors that the instance does not know, in the caller's transaction if there is one (JN-192).

    No lock is held meanwhile, and what is read changes nothing by itself.
    """
    prepared = admission.prepared
    run_id, source_id = prepared.run_id, prepared.source_id
    floors = instance.floors
    # Looked up without the lock: each is a single operation on a dictionary or set, and floors only rise.
    if run_id not in floors.seq:
        admission.run_floor = _read_floor(instance, statements.RUN_FLOOR, (run_id,))
    if prepared.source_seq is ABSENT and (run_id, source_id) not in floors.warm:
        admission.producer_floor = _read_floor(instance, statements.PRODUCER_FLOOR, (run_id, source_id))


def finish(instance: Instance, admission: Admission) -> EmitReceipt:
    """Phase 3: look again, take the numbers, and queue (JN-194, JN-195)."""
    prepared = admission.prepared
    run_id, source_id = prepared.run_id, prepared.source_id
    backlog = instance.backlog
    settings = instance.settings
    evicted: Evicted | None = None
    with instance.lock:
        instance.pass_gate(run_id)
        if instance.status != "open":
            raise closed()
        if prepared.source_seq is not ABSENT:
            known = _find_known(instance, prepared)
            if known is not None:
                return known
        seq, source_seq = instance.floors.allocate(
            run_id, source_id, prepared.source_seq, admission.run_floor, admission.producer_floor
        )
        if len(backlog.queue) >= settings.capacity:
            if settings.overflow == "reject":
                raise JournalError("queue_overflow", QUEUE_FULL)
            if settings.overflow == "drop-newest":
                return Dropped(seq, source_seq, "drop-newest")
            instance.cache.forget(backlog.evict_oldest().identity)
            evicted = Evicted("drop-oldest", 1)
        instance.cache.enter(
            (run_id, source_id, source_seq),
            Remembered(seq, prepared.event_type, prepared.payload_json, prepared.meta_json),
            "pending",
        )
        backlog.enqueue(prepared, seq, source_seq)
        if evicted is not None:
            # What waited for the evicted entry waits no longer.
            instance.end_flushes()
        instance.driver.admitted()
    return Accepted(seq, source_seq) if evicted is None else Accepted(seq, source_seq, evicted)


def _find_known(instance: Instance, prepared: Prepared) -> Duplicate | None:
    """The duplicate of what is remembered under an explicit identity, or a conflict; with the lock held (JN-191)."""
    source_seq = prepared.source_seq
    if source_seq is ABSENT:
        return None
    found = instance.cache.find((prepared.run_id, prepared.source_id, source_seq))
    if found is None:
        return None
    remembered, status = found
    require_same(remembered, prepared, source_seq)
    return Duplicate(remembered.seq, source_seq, status)


def _read_floor(instance: Instance, sql: str, bindings: tuple[str, ...]) -> int:
    try:
        floor: object = instance.database.read(sql, bindings)[0][0]
    except UsageError:
        raise
    except Exception as error:
        raise storage_failure("sink_failed", FLOOR_READ_FAILED, error) from error
    if type(floor) is not int or floor < 0:
        raise exhausted()
    return floor

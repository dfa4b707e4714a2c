"""``emitDurable`` and ``emitDurableUnfenced``: append in a transaction, settle after its commit (JN-170..JN-183)."""

from functools import partial

from tenure.consensus.strategy import ConsensusError
from tenure.journal import statements
from tenure.journal.failures import PASSED_ON, storage_failure
from tenure.journal.floors import exhausted
from tenure.journal.identities import Existing, Remembered, find_existing, remember_collapse, require_same
from tenure.journal.instance import Instance
from tenure.journal.publication import Publication
from tenure_model.admission.event_identity import event_id
from tenure_model.admission.journal_input import admit_fence_owner
from tenure_model.admission.preparation import Prepared
from tenure_model.admission.refusal import Refusal
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal import Accepted, Duplicate, DurableReceipt
from tenure_model.vocabulary.journal_errors import (
    DURABLE_WRITE_FAILED,
    GUARD_FAILED,
    JournalError,
    fence_required,
)
from tenure_model.vocabulary.owners import OwnerId


def emit_durable(instance: Instance, value: object, owner: object) -> DurableReceipt:
    """Append while ``owner`` owns the run; its shape is looked at before anything else (JN-082)."""
    fence = require_owner("emitDurable", owner)
    return _emit(instance, instance.prepare(value), fence)


def emit_durable_unfenced(instance: Instance, value: object) -> DurableReceipt:
    """Append, whoever owns the run."""
    return _emit(instance, instance.prepare(value), None)


def _emit(instance: Instance, prepared: Prepared, fence: OwnerId | None) -> DurableReceipt:
    try:
        return instance.database.write(append, instance, prepared, fence)
    except PASSED_ON:
        raise
    except Exception as error:
        raise storage_failure("sink_failed", DURABLE_WRITE_FAILED, error) from error


def append(instance: Instance, prepared: Prepared, fence: OwnerId | None) -> DurableReceipt:
    """Append in the open transaction: floors, numbers, fence, insert, in that order (JN-171, JN-175, JN-176).

    The numbers are used up whatever follows (JN-174). An unfenced append that inserts first and looks up a conflict
    afterwards answers what the other order would: what is found by looking is what stops the insert.
    """
    run_id, source_id = prepared.run_id, prepared.source_id
    if prepared.source_seq is ABSENT:
        run_floor, producer_floor = instance.rows(statements.FLOORS, (run_id, source_id))[0]
    else:
        run_floor, producer_floor = instance.rows(statements.RUN_FLOOR, (run_id,))[0][0], 0
    with instance.lock:
        if prepared.source_seq is ABSENT:
            instance.floors.warm_up(run_id, source_id)
        seq, source_seq = instance.floors.allocate(run_id, source_id, prepared.source_seq, run_floor, producer_floor)
    if fence is not None:
        guard(instance, run_id, fence)
    name = event_id(run_id, source_id, source_seq)
    row = (
        run_id,
        seq,
        name,
        source_id,
        source_seq,
        prepared.emitted_at_ms,
        prepared.event_type,
        prepared.payload_json,
        prepared.meta_json,
    )
    if instance.rows(statements.INSERT, row):
        instance.database.after_commit(_Settlement(instance, prepared, row))
        return Accepted(seq, source_seq)
    existing = find_existing(instance.rows, prepared, source_seq, name)
    if existing is None:
        raise exhausted()
    require_same(existing, prepared, source_seq)
    instance.database.after_commit(partial(_settle_collapsed, instance, prepared, source_seq, existing))
    return Duplicate(existing.seq, source_seq, "committed")


def require_owner(method: str, owner: object) -> OwnerId:
    """The owner that fences ``method``, or ``invalid_event`` (JN-082)."""
    fence = admit_fence_owner(owner)
    if type(fence) is Refusal:
        raise fence_required(method)
    return fence


def guard(instance: Instance, run_id: str, fence: OwnerId) -> None:
    """Raise ``fence_lost`` unless ``fence`` owns the run, seen from the open transaction (JN-083, JN-084)."""
    try:
        instance.consensus.guard(run_id, fence)
    except ConsensusError as error:
        if error.code == "fence_lost":
            raise JournalError("fence_lost", error.message) from None
        raise storage_failure("sink_failed", GUARD_FAILED, error) from error
    except Exception as error:
        raise storage_failure("sink_failed", GUARD_FAILED, error) from error


class _Settlement(Publication):
    """After the commit: remember, publish, count (JN-179)."""

    __slots__ = ("_prepared", "_row")

    def __init__(
        self, instance: Instance, prepared: Prepared, row: tuple[str, int, str, str, int, int, str, str, str]
    ) -> None:
        super().__init__(instance, (row,))
        self._prepared = prepared
        self._row = row

    def __call__(self) -> None:
        instance, prepared = self._instance, self._prepared
        run_id, seq, _, source_id, source_seq, *_ = self._row
        with instance.lock:
            instance.cache.enter(
                (run_id, source_id, source_seq),
                Remembered(seq, prepared.event_type, prepared.payload_json, prepared.meta_json),
                "committed",
            )
            instance.floors.rise(run_id, seq, source_id, source_seq)
            self.publish()
        if instance.policy is not None:
            instance.policy.settled_durable(run_id)


def _settle_collapsed(instance: Instance, prepared: Prepared, source_seq: int, existing: Existing) -> None:
    """After the commit of a duplicate: remember what stands (JN-179, R-7)."""
    with instance.lock:
        remember_collapse(instance.cache, (prepared.run_id, prepared.source_id, source_seq), prepared, existing)
        instance.floors.rise(prepared.run_id, existing.seq, prepared.source_id, source_seq)

"""What to look for: for each hazard that a scope exhibits, the steps by which it shows, most often a single one."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Final

import attrs

from tenure_model.admission.canonical_json import encode_canonical
from tenure_model.explore.journal.scope import OWNERS
from tenure_model.semantics import lease
from tenure_model.semantics.journal.answers import Waiting, WouldHang
from tenure_model.semantics.journal.instance import (
    Batch,
    Failed,
    Flush,
    Inserted,
    Instance,
    Maintenance,
    is_attempting,
    pending,
)
from tenure_model.semantics.journal.invariants import Transition
from tenure_model.semantics.journal.state import is_inside, visible
from tenure_model.semantics.journal.tables import (
    Event,
    compaction_floor,
    event_count,
    producer_floor,
    standing_at,
    tail,
)
from tenure_model.semantics.predicates import is_stale
from tenure_model.vocabulary.journal import Accepted, CompactionResult
from tenure_model.vocabulary.journal_errors import JournalError
from tenure_model.vocabulary.outcomes import Abandoned, Activated, Claimed

Shows = Callable[[Transition], bool]


@attrs.frozen
class Witness:
    """The scope that exhibits a hazard, and its signs: the steps by which it shows, in their order."""

    scope: str
    signs: tuple[Shows, ...]


def _memory(taken: Transition) -> Instance | None:
    return taken.before.instances.get(taken.session)


def _batch(taken: Transition) -> Batch | None:
    memory = _memory(taken)
    return None if memory is None else memory.batch


def _is(taken: Transition, operation: str) -> bool:
    return taken.command.operation == operation


def _number(taken: Transition, name: str) -> int:
    number = taken.command.arguments[name]
    assert isinstance(number, int)
    return number


def _flush(taken: Transition) -> Flush | None:
    memory = _memory(taken)
    return memory.flushes.get(_number(taken, "ticket")) if memory is not None and _is(taken, "flush.poll") else None


def _refused(taken: Transition, code: str) -> Iterator[str]:
    """The payloads of the entries that the settling of a batch loses by an error of this code."""
    batch = _batch(taken)
    if _is(taken, "writer.settle") and batch is not None:
        for queued, result in zip(batch.entries, batch.results or (), strict=False):
            if isinstance(result, JournalError) and result.code == code:
                yield queued.draft.content.payload_json


def _numbered_too_low(taken: Transition) -> bool:
    return '"new"' in _refused(taken, "idempotency_conflict")


def _lost_to_a_conflict(taken: Transition) -> bool:
    return any(_refused(taken, "idempotency_conflict"))


def _accepted_entries_vanish(taken: Transition) -> bool:
    return any(fate == "abandoned" for fate in taken.after.fates.values())


def _two_losses_in_one_report(taken: Transition) -> bool:
    before, after = _memory(taken), taken.after.instances.get(taken.session)
    if before is None or after is None or not isinstance(taken.step.outcome, Failed | JournalError):
        return False
    return after.losses.reported_epoch - before.losses.reported_epoch > 1


def _waits_for_others(taken: Transition) -> bool:
    flush, memory = _flush(taken), _memory(taken)
    if flush is None or memory is None or not isinstance(taken.step.outcome, Waiting):
        return False
    outstanding = {queued.entry_id for queued in pending(memory)}
    return flush.covered.isdisjoint(outstanding) and flush.tasks.isdisjoint(memory.maintenance)


def _evicts_a_stranger(taken: Transition) -> bool:
    memory, outcome, event = _memory(taken), taken.step.outcome, taken.command.arguments.get("input")
    if memory is None or not isinstance(event, Mapping) or not isinstance(outcome, Accepted):
        return False
    evicted = [entry_id for entry_id, fate in taken.after.fates.items() if fate == "evicted"]
    return any(one.entry_id in evicted and one.draft.source_id != event["sourceId"] for one in memory.queue)


def _false_conflict(taken: Transition) -> bool:
    outcome, event = taken.step.outcome, taken.command.arguments.get("input")
    if (
        not isinstance(outcome, JournalError)
        or outcome.code != "idempotency_conflict"
        or not isinstance(event, Mapping)
    ):
        return False
    standing = standing_at(taken.before.committed.journal, (event["runId"], event["sourceId"], event["sourceSeq"]))
    return isinstance(standing, Event) and standing.content.payload_json == encode_canonical(
        event["payload"], "payload"
    )


def _writes_beside_a_claim(taken: Transition) -> bool:
    lease = taken.before.committed.world.leases.get("r")
    return (
        _is(taken, "journal.emitDurable")
        and isinstance(taken.step.outcome, Accepted)
        and lease is not None
        and lease.claim is not None
    )


def _displaces_a_live_owner(taken: Transition) -> bool:
    lease = taken.before.committed.world.leases.get("r")
    if not isinstance(taken.step.outcome, Activated) or lease is None or lease.ownership is None:
        return False
    return not is_stale(lease.ownership.heartbeat_at_ms, int(taken.command.clock_ms))


def _granted(taken: Transition) -> bool:
    return _is(taken, "run.claim") and isinstance(taken.step.outcome, Claimed)


def _given_back(taken: Transition) -> bool:
    return isinstance(taken.step.outcome, Abandoned)


def _good_again(taken: Transition) -> bool:
    return isinstance(taken.step.outcome, Activated)


def _dies_before_it_publishes(taken: Transition) -> bool:
    batch = _batch(taken)
    return _is(taken, "session.crash") and batch is not None and batch.results is not None


def _numbers_move_on(taken: Transition) -> bool:
    memory = _memory(taken)
    if memory is None or any(pending(memory)):
        return False
    if not _is(taken, "journal.emitDurableUnfenced") or not isinstance(taken.step.outcome, Accepted):
        return False
    tables = visible(taken.before, taken.session).journal
    return taken.step.outcome.source_seq > producer_floor(tables, "r", "p")


def _queued_inside(taken: Transition) -> bool:
    return (
        _is(taken, "journal.emitLossy")
        and isinstance(taken.step.outcome, Accepted)
        and is_inside(taken.before, taken.session)
    )


def _outlives_its_transaction(taken: Transition) -> bool:
    memory = taken.after.instances.get(taken.session)
    is_over = _is(taken, "session.rollback") and taken.after.transaction is None
    return is_over and memory is not None and bool(memory.queue)


def _numbers_out_of_order(taken: Transition) -> bool:
    rows = taken.after.committed.journal.events.get("r", ())
    return taken.before.committed is not taken.after.committed and any(
        later.source_seq < earlier.source_seq for earlier, later in pairwise(rows)
    )


def _reservation_is_anothers(taken: Transition) -> bool:
    after = taken.after.instances.get(taken.session)
    batch = None if after is None else after.batch
    if not _is(taken, "writer.write") or batch is None:
        return False
    rows = {row.seq: row.identity for row in taken.after.committed.journal.events.get("r", ())}
    return any(
        isinstance(result, Inserted) and rows.get(queued.draft.seq, queued.draft.identity) != queued.draft.identity
        for queued, result in zip(batch.entries, batch.results or (), strict=False)
    )


def _number_given_twice(taken: Transition) -> bool:
    memory = taken.after.instances.get(taken.session)
    if memory is None or not _is(taken, "journal.emitLossy"):
        return False
    reserved = [queued.draft.seq for queued in pending(memory)]
    return len(set(reserved)) < len(reserved)


def _compacted_by_another(taken: Transition) -> bool:
    outcome = taken.step.outcome
    return _is(taken, "stream.page") and isinstance(outcome, JournalError) and outcome.code == "compacted"


def _compacted_what_was_just_read(taken: Transition) -> bool:
    memory, outcome = _memory(taken), taken.step.outcome
    if memory is None or not isinstance(outcome, CompactionResult) or not outcome.deleted:
        return False
    return any(stream.last_read is not None for stream in memory.streams.values())


def _ends_by_a_strangers_loss(taken: Transition) -> bool:
    memory = _memory(taken)
    if memory is None or not _is(taken, "stream.page") or not isinstance(taken.step.outcome, JournalError):
        return False
    stream = memory.streams.get(_number(taken, "stream"))
    return stream is not None and stream.run_id not in memory.floors.run


def _task_of_a_stranger(taken: Transition, stage: str) -> Maintenance | None:
    """The task at this stage that the step takes on, of a process that does not own the run."""
    memory = _memory(taken)
    if memory is None or not _is(taken, "maintenance.step"):
        return None
    task = memory.maintenance[_number(taken, "task")]
    is_owner = lease.owns(taken.before.committed.world, task.run_id, OWNERS[taken.session])
    return task if task.stage == stage and not is_owner else None


def _replaces_the_owners_state(taken: Transition) -> bool:
    """Whether it files its state where the owner's was, and under a tail that is no longer the run's."""
    task = _task_of_a_stranger(taken, "checkpoint")
    if task is None:
        return False
    tables = taken.before.committed.journal
    last = tail(tables, task.run_id)
    return task.tail in tables.checkpoints.get(task.run_id, {}) and last is not None and last > task.tail


def _truncated_by_a_stranger(taken: Transition) -> bool:
    task = _task_of_a_stranger(taken, "compact")
    if task is None:
        return False
    before, after = taken.before.committed.journal, taken.after.committed.journal
    return event_count(after, task.run_id) < event_count(before, task.run_id)


def _capture_waits_for_itself(taken: Transition) -> bool:
    memory = _memory(taken)
    if memory is None or not _is(taken, "maintenance.step") or "R-9" in taken.step.fired:
        return False
    return memory.maintenance[_number(taken, "task")].stage == "capture" and taken.after.instances[
        taken.session
    ].counters == {"r": 0}


def _rows_not_counted(taken: Transition) -> bool:
    batch, memory = _batch(taken), _memory(taken)
    if batch is None or memory is None or not _is(taken, "writer.settle") or not is_attempting(memory, "r"):
        return False
    return any(isinstance(result, Inserted) for result in batch.results or ())


def _gate_open_before_the_commit(taken: Transition) -> bool:
    held, memory = taken.before.transaction, _memory(taken)
    if held is None or memory is None or not _is(taken, "session.rollback") or len(held.levels) > 1:
        return False
    is_undone = compaction_floor(held.working.journal, "r") != compaction_floor(taken.before.committed.journal, "r")
    return is_undone and any(pending(memory))


def _hangs(taken: Transition) -> bool:
    return isinstance(taken.step.outcome, WouldHang)


def _dropped_below_the_floor(taken: Transition) -> bool:
    return any(_refused(taken, "compacted"))


def _returns_before_its_entries(taken: Transition) -> bool:
    memory = _memory(taken)
    return (
        memory is not None
        and _is(taken, "flush.begin")
        and isinstance(taken.step.outcome, Failed)
        and any(pending(memory))
    )


def _left_waiting(taken: Transition) -> bool:
    after = taken.after.instances.get(taken.session)
    if after is None or not _is(taken, "close.poll") or after.status != "closed":
        return False
    return any(flush.answer is None for flush in after.flushes.values())


WITNESSES: Final[Mapping[str, Witness]] = {
    "HZ-01": Witness("retries", (_numbered_too_low,)),
    "HZ-02": Witness("two-instances", (_lost_to_a_conflict,)),
    "HZ-03": Witness("closing", (_accepted_entries_vanish,)),
    "HZ-04": Witness("closing", (_two_losses_in_one_report,)),
    "HZ-05": Witness("overflow-reject", (_waits_for_others,)),
    "HZ-06": Witness("overflow-drop-oldest", (_evicts_a_stranger,)),
    "HZ-07": Witness("retries", (_false_conflict,)),
    "HZ-08": Witness("fence", (_writes_beside_a_claim,)),
    "HZ-09": Witness("fence", (_displaces_a_live_owner,)),
    "HZ-11": Witness("one-millisecond", (_granted, _given_back, _granted, _good_again)),
    "HZ-13": Witness("crash", (_dies_before_it_publishes,)),
    "HZ-14": Witness("crash", (_numbers_move_on,)),
    "HZ-16": Witness("nested", (_queued_inside, _outlives_its_transaction)),
    "HZ-17": Witness("beside", (_numbers_out_of_order,)),
    "HZ-18": Witness("beside", (_reservation_is_anothers,)),
    "HZ-19": Witness("rewind", (_number_given_twice,)),
    "HZ-20": Witness("across", (_compacted_by_another,)),
    "HZ-21": Witness("compaction", (_compacted_what_was_just_read,)),
    "HZ-22": Witness("streams", (_ends_by_a_strangers_loss,)),
    "HZ-23": Witness("unfenced", (_replaces_the_owners_state, _truncated_by_a_stranger)),
    "HZ-24": Witness("capture", (_capture_waits_for_itself,)),
    "HZ-25": Witness("policy", (_rows_not_counted,)),
    "HZ-26": Witness("nested", (_gate_open_before_the_commit,)),
    "HZ-33": Witness("nested", (_hangs,)),
    "HZ-37": Witness("across", (_dropped_below_the_floor,)),
    "HZ-40": Witness("closing", (_returns_before_its_entries,)),
    "HZ-41": Witness("closing", (_left_waiting,)),
}
"""The hazards that a named scope exhibits under ``original``."""

"""Automatic compaction: counting rows, and the attempt that a full counter starts (JN-300..JN-307).

An attempt moves by small stages, each with its own transaction or none, so that other work may come between them: the
captured state may then cover more than the tail it is filed under (HZ-23).
"""

from collections.abc import Callable, Mapping
from typing import Final

import attrs

from tenure_model.admission.canonical_json import encode_plain
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics.journal.answers import Blocked, Done, is_failing
from tenure_model.semantics.journal.flush import begin_flush, resolve
from tenure_model.semantics.journal.instance import Instance, Maintenance, is_attempting, is_pending
from tenure_model.semantics.journal.retention import place, truncate
from tenure_model.semantics.journal.state import (
    NO_REPAIRS,
    JournalState,
    JournalStep,
    Store,
    with_committed,
    with_instance,
)
from tenure_model.semantics.journal.tables import JournalTables, event_count, tail
from tenure_model.semantics.journal.writer import drain
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal import CompactionPolicy
from tenure_model.vocabulary.journal_errors import JournalError, JournalUsageError, unavailable


def capture_tail(run_id: str, up_to: int) -> object:
    """A state that says how far it goes."""
    return {"upTo": up_to}


def capture_nothing(run_id: str, up_to: int) -> object:
    """A capture that fails."""
    raise ValueError("no state to capture")


def capture_after_flush(run_id: str, up_to: int) -> object:
    """A capture that first flushes its journal, which it must not (JN-306): the policy knows it by name."""
    return {"upTo": up_to}


CAPTURES: Final[Mapping[str, Callable[[str, int], object]]] = {
    "tail": capture_tail,
    "fail": capture_nothing,
    "flush": capture_after_flush,
}
"""Captures by the names that a command can give."""


def compact_after(
    state: JournalState, session: str, run_id: str, clock_ms: float
) -> tuple[JournalState, frozenset[str]]:
    """What a durable emit waits for after its commit: one row counted, and the whole attempt it starts (JN-304).

    Where the attempt waits for the run to drain, the writer drains its queue.
    """
    instance = state.instances[session]
    if instance.settings.compaction is None or instance.status != "open":
        return state, NO_REPAIRS
    task: Maintenance | None = Maintenance(run_id, inserted=1)
    fired: frozenset[str] = NO_REPAIRS
    while task is not None:
        if task.stage == "compact" and is_pending(state.instances[session], run_id):
            state, repaired = _drained_in_flight(state, session, task)
            fired |= repaired
        advanced = _advance(state, session, task, clock_ms)
        if isinstance(advanced, Blocked):
            return state, fired
        state, task, repaired = advanced
        fired |= repaired
    return state, fired


def _drained_in_flight(state: JournalState, session: str, task: Maintenance) -> tuple[JournalState, frozenset[str]]:
    """Let the writer drain its queue while an attempt is in flight, so that the run's rows are passed over (JN-301)."""
    instance = state.instances[session]
    number = instance.next_number
    instance = attrs.evolve(instance, maintenance={**instance.maintenance, number: task}, next_number=number + 1)
    drained = drain(with_instance(state, session, instance), session)
    instance = drained.state.instances[session]
    others = {other: waiting for other, waiting in instance.maintenance.items() if other != number}
    instance, fired = resolve(attrs.evolve(instance, maintenance=others), state.profile)
    return with_instance(drained.state, session, instance), drained.fired | fired


def step_maintenance(
    state: JournalState,
    session: str,
    clock_ms: float,
    number: object = ABSENT,
    place: object = ABSENT,
    fault: object = ABSENT,
) -> JournalStep:
    """Move one registered task by one stage; answers how many are left. It is the oldest, or the one of this number or
    at this place in line, from 0 on.

    ``Blocked`` where the stage needs a transaction and somebody holds one, or the run has not drained. Flushes that
    waited for a task that has ended are answered.
    """
    instance = state.instances.get(session)
    if instance is None:
        return JournalStep(state, unavailable("maintenance"))
    if place is not ABSENT and instance.maintenance:
        if type(place) is not int or not 0 <= place < len(instance.maintenance):
            return JournalStep(state, JournalUsageError("no task has this place"))
        number = list(instance.maintenance)[place]
    chosen = next(iter(instance.maintenance), None) if number is ABSENT else number
    task = instance.maintenance.get(chosen) if type(chosen) is int else None
    if task is None or type(chosen) is not int:
        return JournalStep(state, 0 if number is ABSENT else JournalUsageError("no task has this number"))
    advanced = _advance(state, session, task, clock_ms, fails=is_failing(fault))
    if isinstance(advanced, Blocked):
        return JournalStep(state, advanced)
    state, left, fired = advanced
    instance = state.instances[session]
    if left is not None:
        instance = attrs.evolve(instance, maintenance={**instance.maintenance, chosen: left})
    else:
        others = {other: waiting for other, waiting in instance.maintenance.items() if other != chosen}
        instance, resolved = resolve(attrs.evolve(instance, maintenance=others), state.profile)
        fired |= resolved
    return JournalStep(with_instance(state, session, instance), len(instance.maintenance), fired)


def finish_maintenance(state: JournalState, session: str, clock_ms: float) -> JournalStep:
    """All registered tasks to their end, the writer draining where they wait for it; ``Blocked`` where one is."""
    fired: frozenset[str] = NO_REPAIRS
    while True:
        instance = state.instances.get(session)
        if instance is None:
            return JournalStep(state, unavailable("maintenance"), fired)
        if not instance.maintenance:
            return JournalStep(state, None, fired)
        drained = drain(state, session)
        stepped = step_maintenance(drained.state, session, clock_ms)
        state, fired = stepped.state, fired | drained.fired | stepped.fired
        if isinstance(stepped.outcome, Blocked):
            return JournalStep(state, stepped.outcome, fired)


def _advance(
    state: JournalState, session: str, task: Maintenance, clock_ms: float, *, fails: bool = False
) -> tuple[JournalState, Maintenance | None, frozenset[str]] | Blocked:
    """The next stage of a task, and what is left of it. Where its reads fail, the attempt does; a count is none."""
    instance = state.instances[session]
    policy = instance.settings.compaction
    if policy is None:
        return state, None, NO_REPAIRS
    match task.stage:
        case "count":
            if fails and task.run_id not in instance.counters and not is_attempting(instance, task.run_id):
                # JN-305.
                return state, None, NO_REPAIRS
            return _count(state, session, policy, task)
        case "capture" if fails:
            return _damped(state, session, task.run_id), None, NO_REPAIRS
        case "capture":
            return _capture(state, session, policy, task)
        case "checkpoint":
            return _checkpoint(state, session, task, clock_ms)
        case "compact":
            compacted = _compact(state, session, task, clock_ms)
            if fails and not isinstance(compacted, Blocked):
                return _damped(compacted[0], session, task.run_id), None, NO_REPAIRS
            return compacted


def _count(
    state: JournalState, session: str, policy: CompactionPolicy, task: Maintenance
) -> tuple[JournalState, Maintenance | None, frozenset[str]]:
    """Count the rows of a settlement: the run's rows where no counter is known, else the new ones on top of it.

    While an attempt for the run is in flight they are not counted at all (JN-301, HZ-25).
    """
    instance, run_id = state.instances[session], task.run_id
    if is_attempting(instance, run_id):
        return state, None, NO_REPAIRS
    known = instance.counters.get(run_id)
    counter = event_count(state.committed.journal, run_id) if known is None else known + task.inserted
    state = _with_counter(state, session, run_id, counter)
    return state, attrs.evolve(task, stage="capture") if counter >= policy.entry_threshold else None, NO_REPAIRS


def _capture(
    state: JournalState, session: str, policy: CompactionPolicy, task: Maintenance
) -> tuple[JournalState, Maintenance | None, frozenset[str]]:
    """Ask for the state at the run's tail, outside any transaction; a run without rows ends the attempt (JN-302).

    A capture that flushes is refused by R-9; under ``original`` it may wait for the very attempt it belongs to, until
    the time limit ends it (HZ-24).
    """
    last = tail(state.committed.journal, task.run_id)
    if last is None:
        return state, None, NO_REPAIRS
    if policy.capture is capture_after_flush:
        if "R-9" in state.profile.repairs:
            return _damped(state, session, task.run_id), None, frozenset({"R-9"})
        flushed = begin_flush(state, session)
        state = flushed.state
        if not isinstance(flushed.outcome, Done):
            return _damped(_without_flush(state, session, flushed.outcome), session, task.run_id), None, NO_REPAIRS
    try:
        captured = policy.capture(task.run_id, last)
    except Exception:  # noqa: BLE001  # whatever a caller's capture raises, the attempt fails and no emit hears of it
        return _damped(state, session, task.run_id), None, NO_REPAIRS
    state_json = encode_plain(captured, default=state.instances[session].settings.default)
    if isinstance(state_json, Refusal):
        return _damped(state, session, task.run_id), None, NO_REPAIRS
    return state, attrs.evolve(task, stage="checkpoint", tail=last, state_json=state_json), NO_REPAIRS


def _checkpoint(
    state: JournalState, session: str, task: Maintenance, clock_ms: float
) -> tuple[JournalState, Maintenance | None, frozenset[str]] | Blocked:
    """File the captured state under the tail, unfenced, in a transaction of its own (JN-302)."""
    if state.transaction is not None:
        return Blocked()
    placed = place(state.committed.journal, task.run_id, task.tail, task.state_json, clock_ms)
    if isinstance(placed, JournalError):
        return _damped(state, session, task.run_id), None, NO_REPAIRS
    return _with_tables(state, placed[0]), attrs.evolve(task, stage="compact"), NO_REPAIRS


def _compact(
    state: JournalState, session: str, task: Maintenance, clock_ms: float
) -> tuple[JournalState, Maintenance | None, frozenset[str]] | Blocked:
    """Truncate below that checkpoint once the run has drained, unfenced, and count afresh (JN-302)."""
    instance = state.instances[session]
    if state.transaction is not None or is_pending(instance, task.run_id):
        return Blocked()
    truncated = truncate(instance, state.committed.journal, task.run_id, task.tail, clock_ms)
    if isinstance(truncated, JournalError):
        return _damped(state, session, task.run_id), None, NO_REPAIRS
    state = _with_tables(state, truncated[0])
    return _with_counter(state, session, task.run_id, event_count(truncated[0], task.run_id)), None, NO_REPAIRS


def _damped(state: JournalState, session: str, run_id: str) -> JournalState:
    """A failed attempt: the next one needs as many rows again, and no emit hears of it (JN-303)."""
    return _with_counter(state, session, run_id, 0)


def _with_counter(state: JournalState, session: str, run_id: str, counter: int) -> JournalState:
    instance = state.instances[session]
    return with_instance(state, session, attrs.evolve(instance, counters={**instance.counters, run_id: counter}))


def _with_tables(state: JournalState, tables: JournalTables) -> JournalState:
    return with_committed(state, Store(state.committed.world, tables, state.committed.receipts))


def _without_flush(state: JournalState, session: str, outcome: object) -> JournalState:
    """The state after a flush of ``outcome`` was given up by the time limit."""
    instance: Instance = state.instances[session]
    ticket = getattr(outcome, "ticket", None)
    flushes = {number: flush for number, flush in instance.flushes.items() if number != ticket}
    return with_instance(state, session, attrs.evolve(instance, flushes=flushes))

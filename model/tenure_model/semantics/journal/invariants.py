"""What holds of every step of the journal from one state to the next, beside what holds in every state.

Each invariant is a function of its own and answers where it is broken. None of a step breaks under either profile,
whatever is called in whatever order.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import attrs

from tenure_model.admission.journal_input import admit_fence_owner
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics import lease
from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal.answers import Done
from tenure_model.semantics.journal.instance import Failed, Instance, pending
from tenure_model.semantics.journal.state import JournalState, JournalStep, visible
from tenure_model.semantics.journal.state_invariants import OF_STATES, Where
from tenure_model.semantics.journal.tables import (
    JournalTables,
    Tombstone,
    compaction_floor,
    identities,
    standing_at,
    tombstone_of,
)
from tenure_model.semantics.predicates import is_stale
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.journal import CompactionResult, Duplicate, EntriesPage
from tenure_model.vocabulary.journal_errors import JournalError, JournalUsageError
from tenure_model.vocabulary.outcomes import Claimed, Updated


@attrs.frozen
class Violation:
    """A broken invariant by its name below, and what it is broken for."""

    invariant: str
    where: str


def violated_invariants(state: JournalState) -> tuple[Violation, ...]:
    """Every invariant of one state that this state breaks."""
    return tuple(Violation(name, where) for name, check in OF_STATES.items() for where in check(state))


def violated_between(before: JournalState, session: str, command: Command, step: JournalStep) -> tuple[Violation, ...]:
    """Every invariant of steps that this command of this session breaks."""
    transition = Transition(before, session, command, step)
    return tuple(Violation(name, where) for name, check in OF_STEPS.items() for where in check(transition))


@attrs.frozen
class Transition:
    """One step, with what it was asked."""

    before: JournalState
    session: str
    command: Command
    step: JournalStep

    @property
    def after(self) -> JournalState:
        """The state it leads to."""
        return self.step.state


def watermark(transition: Transition) -> Where:
    """A new row lies above all that its run ever had, and above all that any reader was given (JN-240, JN-241)."""
    before, after = transition.before.committed.journal, transition.after.committed.journal
    if before is after:
        return
    for run_id, events in after.events.items():
        known = {event.seq for event in before.events.get(run_id, ())}
        highest = max(
            (
                *(one.seq for one in identities(before, run_id)),
                *before.checkpoints.get(run_id, {}),
                *_read_up_to(transition.before, run_id),
            ),
            default=-1,
        )
        if any(event.seq <= highest for event in events if event.seq not in known):
            yield run_id


def _read_up_to(state: JournalState, run_id: str) -> Iterator[int]:
    for instance in state.instances.values():
        for stream in instance.streams.values():
            if stream.run_id == run_id and stream.last_read is not None:
                yield stream.last_read


def floors_rise(transition: Transition) -> Where:
    """Neither a compaction floor nor what an instance has handed out goes back, ``forget`` apart (JN-161, JN-283)."""
    before, after = transition.before, transition.after
    for run_id in before.committed.journal.checkpoints:
        old = compaction_floor(before.committed.journal, run_id)
        new = compaction_floor(after.committed.journal, run_id)
        if old is not None and (new is None or new < old):
            yield run_id
    if transition.command.operation in ("journal.forget", "journal.open"):
        return
    for session, memory in before.instances.items():
        later = after.instances.get(session)
        if later is not None and not _have_risen(memory, later):
            yield session


def _have_risen(before: Instance, after: Instance) -> bool:
    if before.floors is after.floors:
        return True
    return (
        all(after.floors.run.get(run_id, 0) >= floor for run_id, floor in before.floors.run.items())
        and all(after.floors.producer.get(producer, 0) >= floor for producer, floor in before.floors.producer.items())
        and before.floors.warm <= after.floors.warm
    )


def ends(transition: Transition) -> Where:
    """A fate is final, and true: a row or collapse stands, a loss was reported, a crash took the instance
    (JN-214, JN-223).
    """
    before, after = transition.before, transition.after
    if before.fates is after.fates:
        return
    for session, instance in before.instances.items():
        later = after.instances.get(session)
        is_reported = later is not None and later.losses.epoch > instance.losses.epoch
        for queued in pending(instance):
            stands = standing_at(after.committed.journal, queued.draft.identity) is not None
            is_true = {
                "outstanding": True,
                "row": stands,
                "collapsed": stands,
                "lost": is_reported,
                "evicted": queued in instance.queue,
                "crashed": later is None,
                "abandoned": True,
            }
            if not is_true.get(after.fates.get(queued.entry_id, ""), False):
                yield str(queued.entry_id)
        evicted = [after.fates.get(queued.entry_id) == "evicted" for queued in instance.queue]
        if evicted != sorted(evicted, reverse=True):
            yield f"{session}: not the oldest was evicted"
    for entry_id, fate in before.fates.items():
        if fate != "outstanding" and after.fates.get(entry_id) != fate:
            yield str(entry_id)


def fence(transition: Transition) -> Where:
    """A fenced write that succeeds, or that is told of a duplicate, comes from the owner that the lease names then
    (JN-083, JN-085).
    """
    command, outcome = transition.command, transition.step.outcome
    if command.operation not in ("journal.emitDurable", "journal.checkpoint", "journal.compact"):
        return
    if isinstance(outcome, JournalError | JournalUsageError):
        return
    owner = admit_fence_owner(command.arguments.get("owner", ABSENT))
    run_id = getattr(outcome, "run_id", None) or _run_of(command)
    store = visible(transition.before, transition.session)
    if isinstance(owner, Refusal) or not lease.owns(store.world, run_id, owner):
        yield f"{run_id} {type(outcome).__name__}"


def _run_of(command: Command) -> str:
    event = command.arguments.get("input")
    run_id = event.get("runId") if isinstance(event, Mapping) else getattr(event, "run_id", None)
    return run_id if isinstance(run_id, str) else ""


def standing_rows(transition: Transition) -> Where:
    """A committed row never changes; where compaction takes it, its tombstone stays for ever (JN-177, JN-281)."""
    before, after = transition.before.committed.journal, transition.after.committed.journal
    if before is after:
        return
    for run_id, events in before.events.items():
        rows = {event.seq: event for event in after.events.get(run_id, ())}
        tombstones = {one.seq: one for one in after.tombstones.get(run_id, ())}
        for event in events:
            if rows.get(event.seq) != event and tombstones.get(event.seq) != tombstone_of(event):
                yield f"{run_id} {event.seq}"
    for run_id, buried in before.tombstones.items():
        kept: set[Tombstone] = set(after.tombstones.get(run_id, ()))
        yield from (f"{run_id} {one.seq}" for one in buried if one not in kept)


def pages(transition: Transition) -> Where:
    """A page is the next part of what is committed above the cursor, without a hole, and none is served from below
    the floor (JN-251, JN-252, JN-255).
    """
    command, outcome = transition.command, transition.step.outcome
    if command.operation == "stream.page" and isinstance(outcome, tuple):
        number = command.arguments.get("stream")
        instance = transition.before.instances[transition.session]
        stream = instance.streams.get(number) if isinstance(number, int) else None
        if stream is None:
            yield "no such stream"
            return
        seqs = [entry.seq for entry in outcome]
        yield from _holes(transition.before.committed.journal, stream.run_id, stream.cursor, seqs, complete=not seqs)
    if command.operation == "journal.entries" and isinstance(outcome, EntriesPage):
        if command.arguments.get("eventTypes", ABSENT) is not ABSENT:
            return
        after, run_id = command.arguments.get("after", ABSENT), command.arguments.get("runId")
        cursor = after if isinstance(after, int) else -1
        tables = visible(transition.before, transition.session).journal
        seqs = [entry.seq for entry in outcome.entries]
        yield from _holes(tables, str(run_id), cursor, seqs, complete=not outcome.has_more)


def _holes(tables: JournalTables, run_id: str, cursor: int, seqs: list[int], *, complete: bool) -> Where:
    above = [event.seq for event in tables.events.get(run_id, ()) if event.seq > cursor]
    floor = compaction_floor(tables, run_id)
    if (
        seqs != above[: len(seqs)]
        or (complete and len(seqs) < len(above))
        or (floor is not None and cursor < floor - 1)
    ):
        yield f"{run_id} above {cursor}"


def ended_flushes(transition: Transition) -> Where:
    """A flush that answers well leaves no loss untold, and of what was admitted before it nothing is outstanding or
    lost (JN-222, R-8).
    """
    command, outcome = transition.command, transition.step.outcome
    memory = transition.before.instances.get(transition.session)
    later = transition.after.instances.get(transition.session)
    if memory is None or not (outcome is None or isinstance(outcome, Done)):
        return
    covered: list[int] = []
    if command.operation in ("flush.begin", "journal.flush"):
        covered = [queued.entry_id for queued in pending(memory)]
        if later is not None and later.losses.unreported is not None:
            yield "a loss before it"
    if command.operation == "flush.poll":
        ticket = command.arguments.get("ticket")
        flush = memory.flushes.get(ticket) if isinstance(ticket, int) else None
        covered = [] if flush is None else list(flush.covered)
    is_hidden = ("outstanding", "lost", "abandoned")
    yield from (str(entry_id) for entry_id in covered if transition.after.fates.get(entry_id) in is_hidden)


def told_losses(transition: Transition) -> Where:
    """A flush that has failed says so when it is asked, and neither a flush nor the writer takes a loss for reported
    by which no flush fails (JN-224). A close logs the failure of its own flush (JN-231).
    """
    operation, outcome = transition.command.operation, transition.step.outcome
    if operation == "journal.open":
        return
    answer = outcome.error if isinstance(outcome, Failed) else outcome
    is_judged = operation.startswith(("flush.", "writer.", "journal.flush")) and not isinstance(answer, JournalError)
    for session, memory in transition.before.instances.items():
        later = transition.after.instances.get(session)
        if later is None or (later.losses is memory.losses and later.flushes is memory.flushes):
            continue
        was_failed, is_failed = _failed(memory), _failed(later)
        if is_judged and later.losses.reported_epoch > memory.losses.reported_epoch and is_failed <= was_failed:
            yield f"{session}: nobody was told"
        for ticket in sorted(was_failed - is_failed):
            flush = memory.flushes[ticket]
            if not flush.closing and not (isinstance(flush.answer, Failed) and answer == flush.answer.error):
                yield f"{session}: flush {ticket}"


def _failed(instance: Instance) -> set[int]:
    return {ticket for ticket, flush in instance.flushes.items() if isinstance(flush.answer, Failed)}


def reconfirm_or_steal(transition: Transition) -> Where:
    """A reconfirm passes only without a claim, and a steal only over a stale owner: never both at once (JN-108)."""
    command, outcome = transition.command, transition.step.outcome
    run_id = command.arguments.get("runId")
    if not isinstance(run_id, str) or isinstance(outcome, RunStoreError):
        return
    world = visible(transition.before, transition.session).world
    if command.operation == "run.reconfirm" and isinstance(outcome, Updated) and lease.has_claim(world, run_id):
        yield run_id
    if command.operation == "run.steal" and isinstance(outcome, Claimed):
        row, now_ms = world.leases.get(run_id), command.arguments.get("nowMs")
        stamp = None if row is None or row.ownership is None else row.ownership.heartbeat_at_ms
        if not isinstance(now_ms, int) or not is_stale(stamp, now_ms):
            yield run_id


def retried_compaction(transition: Transition) -> Where:
    """A compaction to where the run is compacted already deletes nothing and changes nothing (JN-283)."""
    outcome = transition.step.outcome
    if transition.command.operation != "journal.compact" or not isinstance(outcome, CompactionResult):
        return
    before = visible(transition.before, transition.session).journal
    if compaction_floor(before, outcome.run_id) == outcome.checkpoint_seq and outcome.deleted != 0:
        yield outcome.run_id


def known_duplicates(transition: Transition) -> Where:
    """A durable ``Duplicate`` names what stands, and nothing that is pending (JN-170, JN-177)."""
    command, outcome = transition.command, transition.step.outcome
    if not command.operation.startswith("journal.emitDurable") or not isinstance(outcome, Duplicate):
        return
    tables = visible(transition.before, transition.session).journal
    if not any(
        (one.seq, one.source_seq) == (outcome.seq, outcome.source_seq) for one in identities(tables, _run_of(command))
    ):
        yield _run_of(command)


OF_STEPS: Final[Mapping[str, Callable[[Transition], Where]]] = {
    "watermark": watermark,
    "floors rise": floors_rise,
    "ends": ends,
    "fence": fence,
    "standing rows": standing_rows,
    "pages": pages,
    "ended flushes": ended_flushes,
    "told losses": told_losses,
    "reconfirm or steal": reconfirm_or_steal,
    "retried compaction": retried_compaction,
    "known duplicates": known_duplicates,
}
"""The invariants of one step, by name."""

"""A history of the journal in lines that a person can read: who called what, the answer, and what it left.

An entry is told as its producer and number, ``p0``; a row as its number in the run and its entry, ``3=p0``.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs

from tenure_model.admission.event_identity import is_companion_run_id
from tenure_model.explore.journal.scope import OWNERS, START_MS
from tenure_model.explore.journal.traces import Trace
from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal.instance import Instance, Queued
from tenure_model.semantics.journal.state import JournalState, JournalStep
from tenure_model.semantics.journal.tables import JournalTables, compaction_floor
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.evidence import LivenessEvidence
from tenure_model.vocabulary.journal import Entry
from tenure_model.vocabulary.journal_errors import JournalError, JournalUsageError
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import RunSnapshot

_UNSAID: Final = frozenset({"stateJson", "state", "eventType", "redact", "limit"})

_LONGEST: Final = 60
"""As much of a value as is told, in characters."""


def told(trace: Trace) -> tuple[str, ...]:
    """The trace, a line a step, and under it what the step left where it changed anything to be seen.

    In brackets: the properties that a step breaks, and the repairs that make a difference to it.
    """
    steps = ((one.call.session, one.call.command, one.step, one.broken) for one in trace.steps)
    return told_steps(trace.start.state, steps)


def told_steps(
    before: JournalState, steps: Iterable[tuple[str, Command, JournalStep, tuple[str, ...]]]
) -> tuple[str, ...]:
    """Steps from a state on, each with what it breaks; the first line tells what was there."""
    seen = situation(before)
    lines = [f"    at first: {seen}"]
    for number, (session, command, step, broken) in enumerate(steps, 1):
        notes = "".join(f"  [{note}]" for note in (*broken, *sorted(step.fired)))
        lines.append(f"{number:>2}. {session}: {called(command)} -> {answer(step.outcome)}{notes}")
        left = situation(step.state)
        if left != seen:
            lines.append(f"      {left}")
        seen = left
    return tuple(lines)


def called(command: Command) -> str:
    """The call with the arguments that tell it from others."""
    clock_ms = int(command.clock_ms) - START_MS
    at = f" at {clock_ms:,} ms" if clock_ms else ""
    return f"{command.operation}({', '.join(_members(command.arguments))}){at}"


def answer(outcome: object) -> str:
    """The answer: an error with its code and text, a value with its members."""
    if outcome is None:
        return "done"
    if isinstance(outcome, JournalError):
        return f"{outcome.code}: {outcome.text}"
    if isinstance(outcome, RunStoreError):
        return outcome.code
    if isinstance(outcome, JournalUsageError):
        return f"usage error: {outcome}"
    return _value(outcome)


def situation(state: JournalState) -> str:
    """Rows of every run but companions, leases, the open transaction and the memories, in one line."""
    parts = list(_rows(state.committed.journal))
    for run_id, lease in state.committed.world.leases.items():
        held = [] if lease.ownership is None else [f"owned by {_value(lease.ownership.owner)}"]
        held += [] if lease.claim is None else [f"claimed by {_value(lease.claim.claimant)}"]
        parts.append(f"{run_id} {' and '.join(held)}")
    if state.transaction is not None:
        inside = "; ".join(_rows(state.transaction.working.journal))
        parts.append(f"{state.transaction.session} has a transaction in which {inside}")
    parts += (f"{session}: {_memory(instance)}" for session, instance in state.instances.items())
    return " | ".join(parts)


def _rows(tables: JournalTables) -> Iterator[str]:
    for run_id in dict.fromkeys((*tables.events, *tables.tombstones)):
        if is_companion_run_id(run_id):
            continue
        rows = ", ".join(f"{row.seq}={_value(row.source_id)}{row.source_seq}" for row in tables.events.get(run_id, ()))
        graves = tables.tombstones.get(run_id, ())
        floor = compaction_floor(tables, run_id)
        buried = f" above floor {floor}, {len(graves)} buried" if floor is not None else ""
        yield f"{run_id} has {rows or 'nothing'}{buried}"
    if not any(not is_companion_run_id(run_id) for run_id in tables.events):
        yield "no rows"


def _memory(instance: Instance) -> str:
    parts: list[str] = [] if instance.status == "open" else [instance.status]
    if instance.queue:
        parts.append(f"queue {_entries(instance.queue)}")
    batch = instance.batch
    if batch is not None:
        done = "lost" if batch.failure is not None else "taken" if batch.results is None else "written"
        parts.append(f"{done} {_entries(batch.entries)}")
    if instance.losses.unreported is not None:
        parts.append("a loss to report")
    parts += (f"stream of {stream.run_id} at {stream.cursor}" for stream in instance.streams.values())
    parts += (
        f"{'gated' if one.gated else 'waiting'} compaction of {one.run_id}" for one in instance.compactions.values()
    )
    parts += (f"{task.stage} of {task.run_id} to come" for task in instance.maintenance.values())
    parts += (
        f"{counter} {'row' if counter == 1 else 'rows'} of {run_id} counted"
        for run_id, counter in instance.counters.items()
    )
    return ", ".join(parts) or "idle"


def _entries(entries: tuple[Queued, ...]) -> str:
    return " ".join(f"{one.draft.source_id}{one.draft.source_seq}@{one.draft.seq}" for one in entries)


def _members(members: Mapping[str, object]) -> Iterator[str]:
    for name, value in members.items():
        if name == "input" and isinstance(value, Mapping):
            yield from _members(value)
        elif name not in _UNSAID and value is not ABSENT:
            yield f"{name}={_value(value)}"


def _value(value: object) -> str:
    if isinstance(value, OwnerId):
        return next((name for name, owner in OWNERS.items() if owner == value), value.host_id)
    if isinstance(value, RunSnapshot):
        return value.status if value.owner is None else f"{value.status}/{_value(value.owner)}"
    if isinstance(value, LivenessEvidence):
        return f"{value.kind} of {_value(value.expected_owner)}"
    if isinstance(value, Entry):
        return f"{value.seq}={value.source_id}{value.source_seq}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(_members(value)) + "}"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    if isinstance(value, JournalError):
        return value.code
    kind = type(value)
    if attrs.has(kind):
        members = {field.name: getattr(value, field.name) for field in attrs.fields(kind)}
        return f"{kind.__name__}({', '.join(_members(members))})"
    if type(value) is int and value >= START_MS:
        return f"{value - START_MS:,}ms"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

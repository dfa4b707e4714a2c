"""One command is one step of one session: an operation of the journal or of the run store, or a step of what runs in
the background.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal import (
    after_commit,
    checkpoints,
    compaction,
    durable,
    flush,
    lossy,
    opening,
    policy,
    raw,
    reads,
    streams,
    transactions,
    writer,
)
from tenure_model.semantics.journal.answers import Done, Waiting
from tenure_model.semantics.journal.instance import Failed
from tenure_model.semantics.journal.run_operations import apply_run_operation
from tenure_model.semantics.journal.state import JournalState, JournalStep
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal_errors import JournalUsageError

Handler: TypeAlias = Callable[..., JournalStep]
"""Takes the state, the session, the clock, and the arguments in the order of their wire names."""


def flush_all(state: JournalState, session: str, clock_ms: float) -> JournalStep:
    """``journal.flush``: begin, let the writer and the maintenance go on where it waits, and answer.

    ``None``, the loss it reports, or ``Waiting`` where somebody holds the transaction that the writer needs.
    """
    step = flush.begin_flush(state, session)
    fired = step.fired
    if isinstance(step.outcome, Waiting):
        ticket = step.outcome.ticket
        drained = writer.drain(step.state, session)
        maintained = policy.finish_maintenance(drained.state, session, clock_ms)
        step = flush.poll_flush(maintained.state, session, ticket)
        fired |= drained.fired | maintained.fired | step.fired
    outcome = step.outcome
    if isinstance(outcome, Failed):
        outcome = outcome.error
    return JournalStep(step.state, None if isinstance(outcome, Done) else outcome, fired)


def _timeless(handler: Handler) -> Handler:
    def timed(state: JournalState, session: str, _clock_ms: float, *arguments: object) -> JournalStep:
        return handler(state, session, *arguments)

    return timed


def _transact(state: JournalState, session: str, clock_ms: float, operations: object) -> JournalStep:
    return transactions.transact(state, session, clock_ms, operations, apply)


_HANDLERS: Final[Mapping[str, tuple[Handler, tuple[str, ...]]]] = {
    "journal.open": (opening.open_instance, ("options", "fault")),
    "journal.close": (opening.close_instance, ()),
    "journal.emitDurable": (durable.emit_durable, ("input", "owner")),
    "journal.emitDurableUnfenced": (durable.emit_durable_unfenced, ("input",)),
    "journal.emitLossy": (lossy.emit_lossy, ("input",)),
    "journal.flush": (flush_all, ()),
    "journal.entries": (reads.entries, ("runId", "limit", "after", "eventTypes", "fault")),
    "journal.checkpoint": (checkpoints.checkpoint, ("runId", "seq", "state", "owner")),
    "journal.latestCheckpoint": (reads.latest_checkpoint, ("runId", "fault")),
    "journal.compact": (compaction.compact, ("runId", "owner", "upTo")),
    "journal.generation": (reads.generation, ("runId", "fault")),
    "journal.forget": (opening.forget_instance_runs, ("runIds",)),
    "journal.transact": (_transact, ("ops",)),
    "journal.whenCommitted": (after_commit.when_committed, ("label",)),
    "journal.afterCommit": (after_commit.after_commit, ("label",)),
    "lossy.begin": (lossy.begin_lossy, ("input",)),
    "lossy.read": (_timeless(lossy.read_lossy), ("token", "fault")),
    "lossy.finish": (_timeless(lossy.finish_lossy), ("token",)),
    "writer.take": (_timeless(writer.take), ()),
    "writer.write": (_timeless(writer.write), ("fault",)),
    "writer.settle": (_timeless(writer.settle), ()),
    "writer.drain": (_timeless(writer.drain), ()),
    "maintenance.step": (policy.step_maintenance, ("task", "place", "fault")),
    "maintenance.finish": (policy.finish_maintenance, ()),
    "flush.begin": (_timeless(flush.begin_flush), ()),
    "flush.poll": (_timeless(flush.poll_flush), ("ticket",)),
    "close.begin": (_timeless(opening.begin_close), ()),
    "close.poll": (_timeless(opening.poll_close), ("ticket",)),
    "compact.begin": (compaction.begin_compact, ("runId", "owner", "upTo")),
    "compact.poll": (compaction.poll_compact, ("ticket", "fault")),
    "stream.open": (streams.open_stream, ("runId", "afterSequence")),
    "stream.page": (streams.read_stream, ("stream", "fault")),
    "stream.close": (streams.close_stream, ("stream",)),
    "changes.open": (streams.open_changes, ()),
    "changes.take": (streams.take_changes, ("changes",)),
    "changes.close": (streams.close_changes, ("changes",)),
    "session.begin": (transactions.begin, ("raw",)),
    "session.commit": (transactions.commit, ()),
    "session.rollback": (transactions.rollback, ()),
    "session.crash": (transactions.crash_session, ()),
    "system.crash": (transactions.crash_all, ()),
    "event.write": (raw.write_event, ("columns",)),
    "generation.write": (raw.write_generation, ("runId", "generation", "afterSeq")),
}

OPERATIONS: Final[frozenset[str]] = frozenset(_HANDLERS)
"""The journal's operations and steps. Run operations are those of ``semantics.commands``."""


def apply(state: JournalState, session: str, command: Command) -> JournalStep:
    """What the command does, asked by this session: total, pure, and the state given stays as it is.

    Whatever is no operation of the journal goes to the run store, which refuses what it does not know either. An
    argument that nothing is known of is a usage error. While a compaction of the session holds the transaction, the
    session's own writes are busy like everybody's.
    """
    found = _HANDLERS.get(command.operation) if type(command.operation) is str else None
    if found is None:
        return apply_run_operation(state, session, command)
    handler, parameters = found
    if not set(command.arguments) <= set(parameters):
        return JournalStep(state, JournalUsageError("arguments are not all known"))
    return handler(state, session, command.clock_ms, *(command.arguments.get(name, ABSENT) for name in parameters))

"""Transactions of a session: levels, commits, rollbacks, crashes, and ``transact`` (JN-141, JN-310..JN-317).

A level that a raw statement began is the database's but not the writer's: what is written inside it is durable with the
outermost commit, and no update runs for it (JN-315, JN-316).
"""

from collections.abc import Callable, Mapping

import attrs

from tenure_model.semantics.commands import Command
from tenure_model.semantics.journal.after_commit import run_updates
from tenure_model.semantics.journal.answers import UserFailure, WouldHang
from tenure_model.semantics.journal.opening import unsettled_fates
from tenure_model.semantics.journal.state import (
    NO_REPAIRS,
    JournalState,
    JournalStep,
    Level,
    Transaction,
    is_busy,
    is_inside,
    with_committed,
    with_fates,
    with_transaction,
)
from tenure_model.semantics.steps import database_failure
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.journal_errors import TRANSACTION_FAILED, JournalError, JournalUsageError


def begin(state: JournalState, session: str, clock_ms: float, raw: object = ABSENT) -> JournalStep:
    """Open the write transaction, or a nested level of the session's own; ``busy`` if another has it (RS-390).

    ``raw`` of ``True`` begins it by a statement that the writer knows nothing of.
    """
    if is_busy(state, session):
        return JournalStep(state, database_failure("busy", "begin"))
    held = state.transaction
    if held is None:
        opened = Transaction(session, state.committed, (Level(state.committed, 0, raw is True),))
    else:
        level = Level(held.working, len(held.updates), raw is True)
        opened = attrs.evolve(held, levels=(*held.levels, level))
    return JournalStep(with_transaction(state, opened), None)


def commit(state: JournalState, session: str, clock_ms: float) -> JournalStep:
    """End the innermost level: a nested one merges into its parent, the outermost is committed, and its updates run."""
    held = state.transaction
    if held is None or not is_inside(state, session):
        return JournalStep(state, database_failure("unknown", "commit"))
    if len(held.levels) > 1:
        return JournalStep(with_transaction(state, attrs.evolve(held, levels=held.levels[:-1])), None)
    state = with_committed(with_transaction(state, None), held.working)
    state, fired = run_updates(state, session, held.updates, clock_ms)
    return JournalStep(state, None, fired)


def rollback(state: JournalState, session: str, clock_ms: float) -> JournalStep:
    """Undo the innermost level, rows and updates both; numbers that were handed out stay spent (JN-174, JN-313)."""
    held = state.transaction
    if held is None or not is_inside(state, session):
        return JournalStep(state, database_failure("unknown", "rollback"))
    if len(held.levels) == 1:
        return JournalStep(with_transaction(state, None), None)
    level = held.levels[-1]
    restored = attrs.evolve(held, working=level.before, levels=held.levels[:-1], updates=held.updates[: level.updates])
    return JournalStep(with_transaction(state, restored), None)


def crash(state: JournalState, session: str) -> JournalState:
    """The session is gone without a word: its transaction never was, and its instance's memory with all that was
    queued is lost. What the writer had committed stays.
    """
    instance = state.instances.get(session)
    held = state.transaction
    if held is not None and held.session == session:
        state = with_transaction(state, None)
    if instance is None:
        return state
    others = {other: memory for other, memory in state.instances.items() if other != session}
    return with_fates(attrs.evolve(state, instances=others), unsettled_fates(instance, "crashed"))


def crash_session(state: JournalState, session: str, clock_ms: float) -> JournalStep:
    """The session's process dies."""
    return JournalStep(crash(state, session), None)


def crash_all(state: JournalState, session: str, clock_ms: float) -> JournalStep:
    """Every process dies at once."""
    for other in tuple(state.instances):
        state = crash(state, other)
    return JournalStep(with_transaction(state, None), None)


def transact(
    state: JournalState,
    session: str,
    clock_ms: float,
    operations: object,
    apply: Callable[[JournalState, str, Command], JournalStep],
) -> JournalStep:
    """All of these operations in one transaction, or in a savepoint of the session's own: what each answered, in order.

    The first error rolls all of them back and is the answer; so does the operation ``fail``, with ``UserFailure``
    (JN-310, JN-313). Each is ``{"op": wire name, "args": {…}}`` and is applied by ``apply`` at the same clock.
    """
    if type(operations) is not list or not all(map(_is_operation, operations)):
        return JournalStep(state, JournalUsageError("ops must be a list of operations"))
    begun = begin(state, session, clock_ms)
    if begun.outcome is not None:
        return JournalStep(state, JournalError("sink_failed", TRANSACTION_FAILED, cause={"code": "busy"}))
    inner = begun.state
    fired: frozenset[str] = NO_REPAIRS
    outcomes: list[object] = []
    for operation in operations:
        if operation["op"] == "fail":
            return JournalStep(rollback(inner, session, clock_ms).state, UserFailure(), fired)
        step = apply(inner, session, Command(operation["op"], operation.get("args", {}), clock_ms))
        fired |= step.fired
        if isinstance(step.outcome, WouldHang):
            return JournalStep(state, step.outcome, fired)
        inner = step.state
        if isinstance(step.outcome, JournalError | JournalUsageError | RunStoreError | UserFailure):
            return JournalStep(rollback(inner, session, clock_ms).state, step.outcome, fired)
        outcomes.append(step.outcome)
    committed = commit(inner, session, clock_ms)
    return JournalStep(committed.state, tuple(outcomes), fired | committed.fired)


def _is_operation(value: object) -> bool:
    """Whether the value names an operation that stays inside the transaction it is applied in."""
    if not isinstance(value, Mapping) or type(value.get("op")) is not str:
        return False
    arguments = value.get("args", {})
    return type(arguments) is dict and not value["op"].startswith(("session.", "system."))

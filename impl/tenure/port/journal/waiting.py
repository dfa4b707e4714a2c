"""What waits for others, step by step: flushes and maintenance."""

import contextvars
from collections.abc import Mapping
from typing import Final

from tenure.journal.backlog import Ticket
from tenure.port.journal.lossy import drain
from tenure.port.journal.session import JournalSession, Sessions, Step
from tenure_model.semantics.journal.answers import Blocked, Done, Waiting
from tenure_model.semantics.journal.instance import Failed
from tenure_model.vocabulary.journal_errors import JournalUsageError


def _flush(sessions: Sessions, acting: JournalSession) -> object:
    journal, _driver = acting.required("flush")
    backlog = journal.instance.backlog
    waits = bool(backlog.pending or backlog.maintenance) and not acting.transactions
    if waits and sessions.is_held():
        ticket = acting.hold(acting.context.run(journal.begin_flush))
        drain(sessions, acting)
        finish_maintenance(sessions, acting)
        stand = _poll_flush(sessions, acting, ticket)
        if isinstance(stand, Failed):
            raise stand.error
        return None if isinstance(stand, Done) else stand
    try:
        acting.context.run(journal.flush)
    finally:
        if waits:
            finish_maintenance(sessions, acting)
    return None


def _begin_flush(_: Sessions, acting: JournalSession) -> object:
    journal, _driver = acting.required("flush")
    ticket = acting.context.run(journal.begin_flush)
    return _stand_of(ticket, acting.hold(ticket))


def _poll_flush(_: Sessions, acting: JournalSession, ticket: int) -> object:
    acting.required("flush")
    begun = acting.held.get(ticket)
    if not isinstance(begun, Ticket):
        raise JournalUsageError("no flush has this ticket")
    stand = _stand_of(begun, ticket)
    if not isinstance(stand, Waiting):
        del acting.held[ticket]
    return stand


def _stand_of(ticket: Ticket, number: int) -> object:
    if not ticket.ended:
        return Waiting(number)
    return Done() if ticket.failure is None else Failed(ticket.failure)


def _step_maintenance(sessions: Sessions, acting: JournalSession, place: int = 0) -> object:
    """One stage of the task at this place in line; answers how many tasks are left."""
    journal, driver = acting.required("maintenance")
    if not driver.tasks:
        return 0
    if not 0 <= place < len(driver.tasks):
        raise JournalUsageError("no task has this place")
    task = driver.tasks[place]
    is_drained = task.stage != "compact" or journal.instance.backlog.is_drained(task.run_id)
    if (task.stage in ("checkpoint", "compact") and sessions.is_held()) or not is_drained:
        return Blocked()
    # In a context of its own, as its thread is: never inside the session's transaction.
    if not contextvars.Context().run(task.step):
        driver.tasks.remove(task)
    return len(driver.tasks)


def finish_maintenance(sessions: Sessions, acting: JournalSession) -> object:
    """Every task to its end, the writer emptying its queue before each stage; ``Blocked`` by a transaction."""
    _journal, driver = acting.required("maintenance")
    while driver.tasks:
        drain(sessions, acting)
        if isinstance(_step_maintenance(sessions, acting), Blocked):
            return Blocked()
    return None


STEPS: Final[Mapping[str, Step]] = {
    "journal.flush": _flush,
    "flush.begin": _begin_flush,
    "flush.poll": _poll_flush,
    "maintenance.step": _step_maintenance,
    "maintenance.finish": finish_maintenance,
}

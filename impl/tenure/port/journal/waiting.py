"""What waits for others, step by step: flushes and maintenance."""

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
    waits = bool(backlog.pending or backlog.maintenance)
    if waits and not acting.transactions and sessions.is_held():
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


def finish_maintenance(sessions: Sessions, acting: JournalSession) -> object:
    """Every task to its end, the writer emptying its queue before each; ``Blocked`` by a transaction in the way."""
    _journal, driver = acting.required("maintenance")
    while driver.tasks:
        if isinstance(drain(sessions, acting), Blocked) or sessions.is_held():
            return Blocked()
        acting.context.run(driver.tasks.popleft())
    return None


STEPS: Final[Mapping[str, Step]] = {
    "journal.flush": _flush,
    "flush.begin": _begin_flush,
    "flush.poll": _poll_flush,
    "maintenance.finish": finish_maintenance,
}

"""``flush``: a ticket for what is outstanding, and the wait for it (JN-220..JN-228, R-8, R-9)."""

from tenure.journal.backlog import Ticket
from tenure.journal.failures import closed
from tenure.journal.instance import Instance
from tenure_model.vocabulary.journal_errors import JournalUsageError


def begin_flush(instance: Instance) -> Ticket:
    """A ticket, ended already where nothing is outstanding. It never waits, and the ticket says how the flush ends."""
    require_waitable(instance, "flush")
    with instance.lock:
        if instance.status == "closed":
            raise closed()
        ticket = instance.backlog.begin_flush()
        instance.end_flushes()
    return ticket


def flush(instance: Instance) -> None:
    """Wait for everything that is outstanding now; raise the loss that it or an earlier entry met, if any."""
    ticket = begin_flush(instance)
    await_ticket(instance, ticket)
    ticket.answer()


def flush_pending(instance: Instance, pending: int) -> None:
    """``flush``; ``pending``, how many entries are not settled when it is called, is for whoever observes it."""
    flush(instance)


def await_ticket(instance: Instance, ticket: Ticket) -> None:
    """Wait until the ticket has ended; an interruption gives it up."""
    try:
        instance.driver.wait_until(lambda: ticket.ended)
    except BaseException:
        with instance.lock:
            instance.backlog.abandon(ticket)
        raise


def require_waitable(instance: Instance, method: str) -> None:
    """Raise ``JournalUsageError`` where the wait for the writer could never end (R-9)."""
    if instance.cannot_wait:
        raise JournalUsageError(
            f"{method} waits for the writer: it cannot be called inside a transaction, nor by capture"
        )

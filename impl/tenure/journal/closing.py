"""``close``: nothing new, everything queued to its end, then the end of all followers (JN-230..JN-233, R-6)."""

from tenure.journal.flushing import await_ticket, require_waitable
from tenure.journal.instance import LOG, Instance


def close(instance: Instance) -> None:
    """Drain, wait for maintenance, and end. A loss found in the drain is logged. Closing twice does nothing."""
    if instance.status == "closed":
        return
    require_waitable(instance, "close")
    with instance.lock:
        if instance.status != "open":
            # Another thread is at it.
            _await_closed(instance)
            return
        instance.status = "closing"
        ticket = instance.backlog.begin_flush()
        instance.end_flushes()
    try:
        await_ticket(instance, ticket)
        # What the drained entries set going.
        instance.driver.wait_until(lambda: not instance.backlog.pending and not instance.backlog.maintenance)
    finally:
        with instance.lock:
            instance.status = "closed"
            for stream in list(instance.streams):
                stream.end()
            for subscription in list(instance.changes):
                subscription.end()
            instance.news.notify_all()
            instance.progress.notify_all()
        instance.driver.stop()
    if ticket.failure is not None:
        LOG.warning("the journal closed with losses, the latest: %s", ticket.failure)


def _await_closed(instance: Instance) -> None:
    while instance.status != "closed":
        instance.progress.wait()

"""Lossy entries that are not settled, the losses among them, and who waits for them (JN-195, JN-220..JN-226, R-8)."""

from collections import deque
from collections.abc import Iterable, Sequence

import attrs

from tenure.journal.failures import again
from tenure.journal.identities import Identity
from tenure_model.admission.preparation import Prepared
from tenure_model.vocabulary.journal_errors import JournalError


@attrs.define(eq=False)
class Queued:
    """An admitted entry. ``seq`` is its reservation, ``ordinal`` its place among all admissions of the instance."""

    prepared: Prepared
    seq: int
    source_seq: int
    ordinal: int

    @property
    def identity(self) -> Identity:
        """Its producer identity."""
        return (self.prepared.run_id, self.prepared.source_id, self.source_seq)


@attrs.define(eq=False)
class Ticket:
    """One flush: what it waits for, and how it ended (JN-221, JN-222).

    It covers the entries up to the ordinal ``covers`` and the maintenance tasks in ``maintenance``. ``lost`` is the
    latest loss among those entries.
    """

    covers: int
    maintenance: frozenset[int]
    lost: JournalError | None = None
    ended: bool = False
    failure: JournalError | None = None

    def answer(self) -> None:
        """Return where the flush succeeded, raise the loss where it failed. Only once it has ended."""
        if self.failure is not None:
            raise again(self.failure)


class Backlog:
    """The queue, what the writer has taken from it, losses and tickets. Used under the instance's lock."""

    __slots__ = (
        "_by_run",
        "_maintenance_begun",
        "_ordinal",
        "last_loss",
        "losses",
        "losses_reported",
        "maintenance",
        "queue",
        "taken",
        "tickets",
    )

    def __init__(self) -> None:
        self.queue: deque[Queued] = deque()
        self.taken: Sequence[Queued] = ()
        # By run, in order: what a compaction has to wait for, or to insert by itself.
        self._by_run: dict[str, dict[int, Queued]] = {}
        self._ordinal = 0
        self.losses = 0
        self.losses_reported = 0
        self.last_loss: JournalError | None = None
        self.tickets: list[Ticket] = []
        self.maintenance: set[int] = set()
        self._maintenance_begun = 0

    @property
    def pending(self) -> int:
        """How many entries are not settled."""
        return len(self.queue) + len(self.taken)

    @property
    def has_unreported_loss(self) -> bool:
        """Whether a loss waits for a flush to report it."""
        return self.losses > self.losses_reported

    def enqueue(self, prepared: Prepared, seq: int, source_seq: int) -> None:
        """Queue an entry that has been given its numbers."""
        self._ordinal = ordinal = self._ordinal + 1
        queued = Queued(prepared, seq, source_seq, ordinal)
        self.queue.append(queued)
        of_run = self._by_run.get(prepared.run_id)
        if of_run is None:
            self._by_run[prepared.run_id] = {ordinal: queued}
        else:
            of_run[ordinal] = queued

    def evict_oldest(self) -> Queued:
        """Remove the oldest queued entry, of whatever run. What the writer has taken is beyond reach."""
        evicted = self.queue.popleft()
        self.release((evicted,))
        return evicted

    def take(self, limit: int) -> Sequence[Queued]:
        """Hand the oldest entries to the writer, which has to ``release`` and ``settle`` them before it takes more."""
        queue = self.queue
        self.taken = [queue.popleft() for _ in range(min(limit, len(queue)))]
        return self.taken

    def release(self, entries: Iterable[Queued]) -> None:
        """Let no compaction wait for these any more."""
        for queued in entries:
            run_id = queued.prepared.run_id
            of_run = self._by_run.get(run_id)
            if of_run is not None and of_run.pop(queued.ordinal, None) is not None and not of_run:
                del self._by_run[run_id]

    def settle(self) -> None:
        """What the writer had taken has all become rows, collapsed, or been lost."""
        self.taken = ()

    def pending_of(self, run_id: str) -> Sequence[Queued]:
        """The run's entries that a compaction has to reckon with, in order."""
        of_run = self._by_run.get(run_id)
        return () if of_run is None else tuple(of_run.values())

    def is_drained(self, run_id: str) -> bool:
        """Whether a compaction of the run has nothing to wait for."""
        return run_id not in self._by_run

    def lose(self, error: JournalError, entries: Sequence[Queued]) -> None:
        """Count one loss, and tell every ticket that covers one of its entries (JN-223, JN-224)."""
        self.losses += 1
        self.last_loss = error
        oldest = min(queued.ordinal for queued in entries)
        for ticket in self.tickets:
            if oldest <= ticket.covers:
                ticket.lost = error

    def begin_maintenance(self) -> int:
        """Register a task that later flushes wait for; answers its number (JN-304)."""
        self._maintenance_begun += 1
        self.maintenance.add(self._maintenance_begun)
        return self._maintenance_begun

    def end_maintenance(self, task: int) -> None:
        """The task is over."""
        self.maintenance.discard(task)

    def begin_flush(self) -> Ticket:
        """A ticket for what is outstanding now; ``end_flushes`` says when it has ended."""
        ticket = Ticket(self._ordinal, frozenset(self.maintenance))
        self.tickets.append(ticket)
        return ticket

    def end_flushes(self) -> bool:
        """End every ticket that has nothing left to wait for, in the order of their calls; whether any did.

        A ticket fails with the latest of the losses that no flush has reported and those among its own entries, and
        then all losses count as reported (JN-222).
        """
        if not self.tickets:
            return False
        oldest = self._oldest_unsettled()
        waiting: list[Ticket] = []
        for ticket in self.tickets:
            if oldest <= ticket.covers or not ticket.maintenance.isdisjoint(self.maintenance):
                waiting.append(ticket)
                continue
            ticket.ended = True
            ticket.failure = self.last_loss if self.has_unreported_loss else ticket.lost
            self.losses_reported = self.losses
        ended = len(waiting) < len(self.tickets)
        self.tickets = waiting
        return ended

    def abandon(self, ticket: Ticket) -> None:
        """Nobody waits for this ticket any more: it must not use up a report."""
        if ticket in self.tickets:
            self.tickets.remove(ticket)

    def _oldest_unsettled(self) -> float:
        if self.taken:
            return self.taken[0].ordinal
        return self.queue[0].ordinal if self.queue else float("inf")

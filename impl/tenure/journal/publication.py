"""How committed rows reach subscribers: in the order of their commits, whichever thread gets there first (JN-260)."""

from collections.abc import Sequence

from tenure.database.after_commit import InOrder
from tenure.database.engine import SqlRow
from tenure.journal.instance import Instance


class Publication(InOrder):
    """Rows that one write inserted. Registered for after its commit, it is published then, and no later.

    What is committed is queued in the instance. Whoever publishes anything publishes all of that first: so within a run
    no entry follows one with a higher seq (JN-240).
    """

    __slots__ = ("_instance", "_is_published", "_rows")

    def __init__(self, instance: Instance, rows: Sequence[SqlRow]) -> None:
        self._instance = instance
        self._rows = rows
        self._is_published = False

    def committed(self) -> None:
        """Queue it behind what was committed before."""
        self._instance.unpublished.append(self)

    def __call__(self) -> None:
        """Publish it."""
        with self._instance.lock:
            self.publish()

    def publish(self) -> None:
        """With the instance's lock held: publish all that was committed before, and this, if it is not yet."""
        unpublished = self._instance.unpublished
        while unpublished:
            unpublished.popleft().offer()
        # An interruption may have kept it from being queued.
        self.offer()

    def offer(self) -> None:
        """With the instance's lock held: hand the rows to subscribers, once."""
        if not self._is_published:
            self._is_published = True
            self._instance.publish(self._rows)

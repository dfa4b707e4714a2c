"""The seam through which granted ownership transitions reach a journal (RS-393, RS-702..RS-704)."""

from typing import Protocol

from tenure_model.vocabulary.facts import OwnershipFact


class FactRecorder(Protocol):
    """Keeps ownership facts. A store without one records nothing."""

    def record(self, fact: OwnershipFact) -> None:
        """Keep one fact, inside the transaction that granted it, in the order the transitions were granted.

        What it writes through the store's database commits or rolls back with the grant. Whatever it raises fails the
        operation with ``persistence_failed`` and rolls it back, so it must not swallow errors of its own writes.
        """
        ...

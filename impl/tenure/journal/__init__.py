"""The journal: what became part of a run's history, in which order, and for how long."""

from tenure.journal.changes import Changes
from tenure.journal.failures import JournalOutcomeUnknown
from tenure.journal.journal import Journal
from tenure.journal.opening import JournalSetup
from tenure.journal.projection import ProjectedStates, Projection
from tenure.journal.streams import EntryStream
from tenure.journal.transactions import JournalTransaction

__all__ = [
    "Changes",
    "EntryStream",
    "Journal",
    "JournalOutcomeUnknown",
    "JournalSetup",
    "JournalTransaction",
    "ProjectedStates",
    "Projection",
]

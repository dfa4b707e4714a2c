"""Steps that a scenario does not take, because a thread would wait in them for what another holds open."""

from collections.abc import Mapping
from typing import Final

from tenure_model.semantics.journal.state import JournalState
from tenure_model.vocabulary.absent import ABSENT

_WAITS_FOR_THE_DATABASE: Final = frozenset({"journal.compact", "journal.open"})
"""These wait while another session has a transaction open; the first ``journal.open`` creates a table (JN-151)."""

_BESIDE_A_GATE: Final = frozenset(
    {
        *("lossy.begin", "lossy.finish", "writer.take", "writer.write", "writer.settle", "flush.begin", "flush.poll"),
        *("compact.begin", "compact.poll", "close.begin", "close.poll", "journal.forget", "journal.whenCommitted"),
        *("stream.open", "stream.close", "changes.open", "changes.take", "changes.close"),
        *("session.crash", "system.crash"),
    }
)
"""What a session can do while a compaction of its own has the transaction, so that a thread that writes waits."""

_READS_BESIDE_A_GATE: Final = frozenset(
    {
        *("lossy.read", "journal.emitLossy", "journal.flush", "journal.close", "writer.drain", "maintenance.step"),
        "maintenance.finish",
        *("journal.entries", "journal.latestCheckpoint", "journal.generation", "stream.page", "run.get"),
    }
)
"""And what reads: on a memory database with its one connection that waits too."""


def would_wait(
    state: JournalState, session: str, operation: str, arguments: Mapping[str, object], *, in_memory: bool
) -> bool:
    """Whether a thread of the session would wait in this step, and not be answered."""
    held = state.transaction
    if held is None:
        return False
    if operation == "writer.write" and arguments.get("fault", ABSENT) is not ABSENT:
        # It would wait for the transaction before its storage could fail.
        return True
    if held.session == session and held.compaction is not None:
        return operation not in _BESIDE_A_GATE and (in_memory or operation not in _READS_BESIDE_A_GATE)
    if operation in ("maintenance.step", "maintenance.finish") and in_memory:
        return True
    if operation == "stream.page" and in_memory:
        # Not a wait: a memory database sees its own transaction and nothing else, and says so.
        return True
    is_nested = operation == "journal.compact" and held.session == session
    return operation in _WAITS_FOR_THE_DATABASE and not is_nested

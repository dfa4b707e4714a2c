"""What the loser of a claim is told (RS-456)."""

from typing import TypeAlias

from tenure.database.engine import SqlRow
from tenure.runs import statements
from tenure.runs.context import RunContext
from tenure_model.vocabulary.outcomes import AlreadyClaimed, HeartbeatFresh, NotFound, SnapshotChanged

Loss: TypeAlias = NotFound | AlreadyClaimed | HeartbeatFresh | SnapshotChanged


def classify_loss(context: RunContext, run_id: str, now_ms: int) -> Loss:
    """The first that applies: no run, a pending claim, a fresh heartbeat, a changed snapshot (RS-456)."""
    return loss_of(context.rows(statements.LOSS, (run_id, now_ms)))


def loss_of(rows: list[SqlRow]) -> Loss:
    """The loss that a row of ``statements.LOSS`` speaks of."""
    if not rows:
        return NotFound()
    claimed, fresh = rows[0][:2]
    if claimed:
        return AlreadyClaimed()
    return HeartbeatFresh() if fresh else SnapshotChanged()

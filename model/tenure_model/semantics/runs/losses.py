"""Why a claim was not admitted: the one classification that ``claim``, ``claimAndOwn`` and ``steal`` share."""

from tenure_model.semantics.predicates import claim_free, is_stale
from tenure_model.semantics.world import Run
from tenure_model.vocabulary.outcomes import AlreadyClaimed, HeartbeatFresh, NotFound, SnapshotChanged


def classify_loss(run: Run | None, now_ms: int) -> NotFound | AlreadyClaimed | HeartbeatFresh | SnapshotChanged:
    """The first that holds: no row, a claim on it, a running row that is not stale at ``now_ms``, else it moved
    (RS-456).

    A row that satisfied the admission and was refused by the lease alone is ``SnapshotChanged`` by this (RS-453).
    """
    if run is None:
        return NotFound()
    if not claim_free(run):
        return AlreadyClaimed()
    if run.status == "running" and not is_stale(run.heartbeat_at_ms, now_ms):
        return HeartbeatFresh()
    return SnapshotChanged()

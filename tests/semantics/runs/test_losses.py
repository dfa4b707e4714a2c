"""The classification of losses."""

import pytest

from tenure_model.semantics.runs.losses import classify_loss
from tenure_model.semantics.steps import Outcome
from tenure_model.semantics.world import Run
from tenure_model.vocabulary.outcomes import AlreadyClaimed, HeartbeatFresh, NotFound, SnapshotChanged
from tests.semantics.worlds import LATE, claimed, pending, running, settled, stolen, suspended


@pytest.mark.parametrize(
    ("run", "now_ms", "loss"),
    [
        (None, LATE, NotFound()),
        (claimed().runs["r"], LATE, AlreadyClaimed()),
        (stolen().runs["r"], LATE, AlreadyClaimed()),
        (stolen().runs["r"], 0, AlreadyClaimed()),
        (running().runs["r"], LATE - 1, HeartbeatFresh()),
        (running().runs["r"], LATE, SnapshotChanged()),
        (pending().runs["r"], LATE, SnapshotChanged()),
        (suspended().runs["r"], 0, SnapshotChanged()),
        (settled().runs["r"], 0, SnapshotChanged()),
    ],
)
def test_precedence(run: Run | None, now_ms: int, loss: Outcome) -> None:
    """No row, then a claim, then a fresh owner, then the snapshot (RS-456)."""
    assert classify_loss(run, now_ms) == loss

"""Where the hazards of runs show: who takes part, and how time passes. Small, so that each is searched in a moment."""

from typing import Final

import attrs

from tenure_model.explore.scope import DELETE, EVERY_OPERATION, WRITE_LEASE, WRITE_ROW, Participant, Scope, honest
from tenure_model.vocabulary.constants import HEARTBEAT_STALE_AFTER_MS
from tenure_model.vocabulary.owners import OwnerId

A: Final = OwnerId("a", 1, "a1")
"""The owner whom things happen to."""

B: Final = OwnerId("b", 1, "b1")
"""A peer on another host."""

NEIGHBOUR: Final = OwnerId("a", 2, "a2")
"""A peer on the same host."""

JUST_STALE_MS: Final = HEARTBEAT_STALE_AFTER_MS + 1
"""The age at which a stamp is stale."""

RIGHT: Final = Scope(
    "right clocks", (Participant(A, honest(0)), Participant(B, honest(0))), advances=(JUST_STALE_MS,), symmetric=False
)
"""Two owners on two hosts whose clocks are right, and time that passes until a stamp is stale."""

STILL: Final = attrs.evolve(RIGHT, name="one instant", advances=())
"""The same two, and everything within one millisecond."""

DELETED: Final = attrs.evolve(RIGHT, name="rows deleted", operations=EVERY_OPERATION | {DELETE})
"""An administrator may delete the row."""

RAW: Final = attrs.evolve(RIGHT, name="raw writes", operations=EVERY_OPERATION | {WRITE_ROW, WRITE_LEASE})
"""Somebody writes to the row, or to the lease, past every operation."""

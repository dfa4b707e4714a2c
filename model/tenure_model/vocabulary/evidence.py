"""Liveness evidence: what a taker asserts about the owner it replaces (RS-207, RS-311)."""

from typing import Final, Literal, TypeAlias

import attrs

from tenure_model.vocabulary.owners import OwnerId

EvidenceKind: TypeAlias = Literal["same-host-pid-dead", "cross-host-unreachable-stale", "lease-expired"]

EVIDENCE_KINDS: Final[tuple[EvidenceKind, ...]] = (
    "same-host-pid-dead",
    "cross-host-unreachable-stale",
    "lease-expired",
)


@attrs.frozen
class LivenessEvidence:
    """Evidence about one owner at one instant. ``checked_at_ms`` must equal the consuming call's ``now_ms`` exactly,
    so that a probe cannot be replayed into a later decision (RS-207).
    """

    expected_owner: OwnerId
    checked_at_ms: int
    kind: EvidenceKind

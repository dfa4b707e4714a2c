"""Every answer of the run store that is not a value read: one frozen class a tag, one alias a union.

A loss is an answer, never an error (RS-364). A class without fields carries nothing a loser could work with.
"""

from typing import TypeAlias

import attrs

from tenure_model.vocabulary.statuses import TerminalRunStatus


@attrs.frozen
class Claimed:
    """The claim is yours. ``claimed_at_ms`` is the token that ``activate`` compares against (RS-454, RS-512)."""

    claimed_at_ms: int


@attrs.frozen
class Activated:
    """You own the run (RS-465, RS-474)."""


@attrs.frozen
class Abandoned:
    """Your claim is gone (RS-480)."""


@attrs.frozen
class Recovered:
    """The stale claim is gone; the run is not yours yet (RS-486)."""


@attrs.frozen
class Updated:
    """The lease is renewed (RS-492)."""


@attrs.frozen
class Transitioned:
    """The run has the new status (RS-501)."""


@attrs.frozen
class CancelRequested:
    """The cancellation request is recorded, at ``requested_at_ms`` (RS-421, RS-431)."""

    requested_at_ms: int


@attrs.frozen
class AlreadyRequested:
    """An earlier request stands, made at ``requested_at_ms`` (RS-422, RS-432)."""

    requested_at_ms: int


@attrs.frozen
class Terminal:
    """The run has settled with ``status``; nothing was recorded (RS-422, RS-432)."""

    status: TerminalRunStatus


@attrs.frozen
class NotFound:
    """There is no such run."""


@attrs.frozen
class AlreadyClaimed:
    """Somebody's claim is pending, perhaps your own (RS-455, RS-456)."""


@attrs.frozen
class HeartbeatFresh:
    """The owner's stamp is not stale against your reading (RS-456)."""


@attrs.frozen
class SnapshotChanged:
    """The run is not what you expected: read it again (RS-456)."""


@attrs.frozen
class EvidenceRequired:
    """The snapshot is current and its other owner stale, but no matching evidence came with the call (RS-461)."""


@attrs.frozen
class LivenessUnconfirmed:
    """The evidence does not match, so nothing was read (RS-486, RS-511)."""


@attrs.frozen
class ClaimLost:
    """The claim you present is not the one that stands (RS-471, RS-473, RS-480)."""


@attrs.frozen
class ClaimFresh:
    """The claim stands and is not stale yet (RS-486)."""


@attrs.frozen
class ClaimChanged:
    """The claim you named is not the one that stands (RS-486)."""


@attrs.frozen
class FenceLost:
    """You do not own the run (RS-491, RS-501)."""


@attrs.frozen
class GuardFailed:
    """You own the run, and the guard refused the write (RS-501)."""


RequestCancelOutcome: TypeAlias = CancelRequested | AlreadyRequested | NotFound | Terminal
ClaimOutcome: TypeAlias = Claimed | NotFound | AlreadyClaimed | HeartbeatFresh | SnapshotChanged
StealOutcome: TypeAlias = ClaimOutcome | LivenessUnconfirmed
ClaimAndOwnOutcome: TypeAlias = (
    Activated | NotFound | AlreadyClaimed | HeartbeatFresh | SnapshotChanged | EvidenceRequired
)
ActivateOutcome: TypeAlias = Activated | ClaimLost | SnapshotChanged
AbandonClaimOutcome: TypeAlias = Abandoned | ClaimLost
RecoverClaimOutcome: TypeAlias = Recovered | NotFound | ClaimFresh | ClaimChanged | LivenessUnconfirmed
HeartbeatOutcome: TypeAlias = Updated | FenceLost | NotFound
TransitionOutcome: TypeAlias = Transitioned | FenceLost | NotFound | GuardFailed

"""What a run looks like from outside, and what a caller says about it."""

from typing import Final, Literal, TypeAlias

import attrs

from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.statuses import RunStatus

CancelGuard: TypeAlias = Literal["absent", "present"]


@attrs.frozen
class RunSnapshot:
    """The triple every claim guards (RS-012): ``running`` needs owner and heartbeat, no other status has either."""

    status: RunStatus
    owner: OwnerId | None
    heartbeat_at_ms: int | None


PENDING: Final = RunSnapshot("pending", None, None)
"""The snapshot of a run that nobody has run yet."""

SUSPENDED: Final = RunSnapshot("suspended", None, None)
"""The snapshot of a run whose owner gave it back."""


@attrs.frozen
class RunRow:
    """One decoded run, as ``get`` and the lineage reads answer it (RS-407). Passes as an expected snapshot (RS-305)."""

    run_id: str
    status: RunStatus
    created_at_ms: int
    started_at_ms: int | None
    finished_at_ms: int | None
    owner: OwnerId | None
    heartbeat_at_ms: int | None
    claim: OwnerId | None
    claimed_at_ms: int | None
    parent_run_id: str | None
    cancel_requested_at_ms: int | None
    lineage_id: str | None
    round_ordinal: int | None
    state_json: str


@attrs.frozen
class CreateOptions:
    """Ancestry and lineage of a new run (RS-313). ``None`` means absent; lineage and ordinal go together."""

    parent_run_id: str | None = None
    lineage_id: str | None = None
    round_ordinal: int | None = None


@attrs.frozen
class TransitionGuard:
    """An extra condition on a transition (RS-312): whether a cancellation request must be absent or present."""

    cancel_requested: CancelGuard | AbsentType = ABSENT

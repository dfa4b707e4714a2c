"""The older markers of attempts, which stay in stored history as they are (JN-361, JN-362)."""

from typing import ClassVar, Final, Literal, TypeAlias

import attrs

from tenure_model.vocabulary.engine_events.plans import Tier
from tenure_model.vocabulary.journal import Entry

ATTEMPT_STARTED: Final = "flows.engine.attempt-started"
ATTEMPT_FINISHED: Final = "flows.engine.attempt-finished"

FinishedState: TypeAlias = Literal["succeeded", "failed"]

FINISHED_STATES: Final[tuple[FinishedState, ...]] = ("succeeded", "failed")


@attrs.frozen
class AttemptStarted:
    """An attempt began; its time is not part of the marker."""

    event_type: ClassVar[str] = ATTEMPT_STARTED

    run_id: str
    step_key_digest: str
    attempt: int
    tier: Tier


@attrs.frozen
class AttemptFinished:
    """An attempt ended. What it answered was never recorded, and cannot be derived (JN-362)."""

    event_type: ClassVar[str] = ATTEMPT_FINISHED

    run_id: str
    step_key_digest: str
    attempt: int
    state: FinishedState


AttemptMarker: TypeAlias = AttemptStarted | AttemptFinished


@attrs.frozen
class CurrentAttempt:
    """A marker with its entry, and the lineage that the entry's meta names. Nothing in it is made up (JN-361)."""

    entry: Entry
    marker: AttemptMarker
    lineage_id: str

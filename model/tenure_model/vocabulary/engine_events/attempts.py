"""The history of one attempt at a dispatched step, version 2 (JN-350, JN-353, JN-354). Times are milliseconds."""

from typing import ClassVar, Final, Literal, TypeAlias

import attrs

from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.engine_events.lineage import Lineage
from tenure_model.vocabulary.engine_events.results import Failure, Success

ATTEMPT_LIFECYCLE: Final = "flows.engine.v2.attempt-lifecycle"

EVENT_VERSION: Final = 2
"""The version in the payload of both families (JN-350)."""


@attrs.frozen
class AttemptRunning:
    """The attempt runs. ``heartbeat_at_ms`` and the JSON ``checkpoint`` say how far it is known to be."""

    state: ClassVar[Literal["running"]] = "running"

    started_at_ms: int
    heartbeat_at_ms: int | AbsentType = ABSENT
    checkpoint: object = ABSENT


@attrs.frozen
class AttemptSuspended:
    """The attempt waits, and has not ended."""

    state: ClassVar[Literal["suspended"]] = "suspended"

    started_at_ms: int
    heartbeat_at_ms: int | AbsentType = ABSENT
    checkpoint: object = ABSENT


@attrs.frozen
class AttemptSucceeded:
    """The attempt ended well; by its times it may have ended before it started."""

    state: ClassVar[Literal["succeeded"]] = "succeeded"

    started_at_ms: int
    finished_at_ms: int
    result: Success


@attrs.frozen
class AttemptFailed:
    """The attempt ended badly; by its times it may have ended before it started."""

    state: ClassVar[Literal["failed"]] = "failed"

    started_at_ms: int
    finished_at_ms: int
    result: Failure


AttemptLifecycle: TypeAlias = AttemptRunning | AttemptSuspended | AttemptSucceeded | AttemptFailed


@attrs.frozen
class AttemptPayload:
    """Where one attempt stands. ``execution_id`` is the run's id; ``attempt`` counts from 0 (JN-353)."""

    lineage: Lineage
    execution_id: str
    step_key_digest: str
    attempt: int
    lifecycle: AttemptLifecycle
    version: Literal[2] = EVENT_VERSION

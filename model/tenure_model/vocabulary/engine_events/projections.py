"""What the attempts of one run look like to a reader of its history (JN-353, JN-354).

A projection never restores leases or fences: who owns a run is for the lease table alone to say.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import attrs

from tenure_model.vocabulary.absent import ABSENT, AbsentType
from tenure_model.vocabulary.engine_events.lineage import Lineage
from tenure_model.vocabulary.engine_events.results import Result

AttemptState: TypeAlias = Literal["running", "suspended", "succeeded", "failed"]

ATTEMPT_STATES: Final[tuple[AttemptState, ...]] = ("running", "suspended", "succeeded", "failed")

SNAPSHOT_VERSION: Final = 2
"""The version of a snapshot that is bound to a lineage and a covering sequence."""

AttemptKey: TypeAlias = tuple[str, int]
"""The digest of a step and the how manyth try, within one run."""


@attrs.frozen
class ProjectedAttempt:
    """One attempt as its events tell it: everything that its row has but the meta.

    ``seq`` is that of the last event about it. An ended attempt keeps the heartbeat and the checkpoint it had before.
    """

    step_key_digest: str
    attempt: int
    seq: int
    state: AttemptState
    started_at_ms: int
    finished_at_ms: int | AbsentType = ABSENT
    heartbeat_at_ms: int | AbsentType = ABSENT
    checkpoint: object = ABSENT
    result: Result | AbsentType = ABSENT


@attrs.frozen
class AttemptProjection:
    """The attempts of the run of a lineage, after every entry up to and with ``covering_seq``; -1 before any.

    ``lineage`` is ``None`` as long as no event has named it.
    """

    lineage: Lineage | None
    covering_seq: int
    attempts: Mapping[AttemptKey, ProjectedAttempt]


EMPTY_PROJECTION: Final = AttemptProjection(None, -1, {})
"""What is known before the first entry."""

"""How an attempt or an execution came out (JN-352)."""

from typing import Final, Literal, TypeAlias

import attrs

FailureReason: TypeAlias = Literal["error", "defect", "interrupted", "encoding"]

FAILURE_REASONS: Final[tuple[FailureReason, ...]] = ("error", "defect", "interrupted", "encoding")


@attrs.frozen
class Success:
    """It answered ``value``, JSON with finite numbers only."""

    value: object


@attrs.frozen
class Failure:
    """It failed: a typed error, a defect, an interruption, or a value that could not be encoded. ``detail`` is JSON."""

    reason: FailureReason
    detail: object


Result: TypeAlias = Success | Failure

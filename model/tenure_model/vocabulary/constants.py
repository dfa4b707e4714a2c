"""Limits and durations every part of the project shares (RS-013, RS-014, RS-015, RS-016)."""

from typing import Final

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""Largest stored time, ordinal, attempt number or revision (RS-015)."""

MAX_IDENTIFIER_UNITS: Final = 1024
"""Longest identifier, in UTF-16 code units (RS-014, RS-301)."""

MAX_JSON_DEPTH: Final = 128
"""Deepest admitted JSON value; the root is at depth 0 (RS-321)."""

MAX_JSON_VALUES: Final = 100_000
"""Most values in one JSON document, the root included (RS-322)."""

MAX_JSON_MEMBERS: Final = 100_000
"""Most array elements and object members in one JSON document, all containers together (RS-323)."""

HEARTBEAT_INTERVAL_MS: Final = 1_000
"""How often an owner beats (RS-013)."""

HEARTBEAT_STALE_AFTER_MS: Final = 30_000
"""A stamp is stale when it is strictly older than this (RS-004, RS-013)."""

HEARTBEAT_SKEW_ALLOWANCE_MS: Final = 10_000
"""How far a reading may run ahead of the store's clock (RS-309), and how far clocks may differ (RS-013)."""

HEARTBEAT_WRITE_TOLERANCE_MS: Final = HEARTBEAT_STALE_AFTER_MS - HEARTBEAT_SKEW_ALLOWANCE_MS - HEARTBEAT_INTERVAL_MS
"""How long an owner keeps working through failing heartbeat writes: derived, not chosen (RS-013)."""

# A beat that is written as late as the tolerance allows must still land before a peer with the fastest admitted clock
# finds the stamp stale; and one lost beat alone must not end the tolerance.
assert HEARTBEAT_INTERVAL_MS + HEARTBEAT_SKEW_ALLOWANCE_MS + HEARTBEAT_WRITE_TOLERANCE_MS <= HEARTBEAT_STALE_AFTER_MS
assert 0 < 2 * HEARTBEAT_INTERVAL_MS <= HEARTBEAT_WRITE_TOLERANCE_MS

COMPANION_PREFIX: Final = "flows.companion/"
"""Run ids with this prefix name journal companion streams and cannot be created (RS-307)."""

COMPANION_STREAM: Final = "run-store"
"""The companion stream that ownership facts go to (RS-016)."""

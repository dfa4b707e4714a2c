"""The six run statuses (RS-010)."""

from typing import Final, Literal, TypeAlias

RunStatus: TypeAlias = Literal["pending", "running", "suspended", "completed", "failed", "cancelled"]
TerminalRunStatus: TypeAlias = Literal["completed", "failed", "cancelled"]
TargetStatus: TypeAlias = Literal["running", "suspended", "completed", "failed", "cancelled"]

RUN_STATUSES: Final[tuple[RunStatus, ...]] = (
    "pending",
    "running",
    "suspended",
    "completed",
    "failed",
    "cancelled",
)
TERMINAL_RUN_STATUSES: Final[tuple[TerminalRunStatus, ...]] = ("completed", "failed", "cancelled")


def is_terminal_run_status(status: str) -> bool:
    """Whether a run in this status has settled for ever (RS-010)."""
    return status in TERMINAL_RUN_STATUSES

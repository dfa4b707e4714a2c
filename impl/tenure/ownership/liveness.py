"""Whether the recorded owner of a run still works: checks, which no store runs by itself (RS-900..RS-903)."""

import os
from collections.abc import Callable
from typing import Protocol

import attrs

from tenure_model.admission.integers import is_safe_integer
from tenure_model.vocabulary.constants import HEARTBEAT_STALE_AFTER_MS
from tenure_model.vocabulary.owners import OwnerId


@attrs.frozen
class LivenessContext:
    """Who asks, what stands in the row, and when: ``heartbeat_at_ms`` and ``now_ms`` in whole milliseconds."""

    claimant: OwnerId
    heartbeat_at_ms: int | None
    now_ms: int


class LivenessCheck(Protocol):
    """Answers "is the recorded owner still working?"; True refuses the takeover (RS-903)."""

    def __call__(self, expected_owner: OwnerId, context: LivenessContext, /) -> bool: ...


def same_host_incarnation(expected_owner: OwnerId, claimant: OwnerId) -> bool:
    """Whether the two are incarnations on one host: their host ids are equal (RS-900)."""
    return expected_owner.host_id == claimant.host_id


def lease_liveness(window_ms: int = HEARTBEAT_STALE_AFTER_MS) -> LivenessCheck:
    """A check by the stored heartbeat: alive while it is at most ``window_ms`` old (RS-901).

    An owner without a heartbeat is gone. The bound belongs to the living: at exactly ``window_ms`` it is alive.
    """

    def check(expected_owner: OwnerId, context: LivenessContext) -> bool:
        return context.heartbeat_at_ms is not None and context.heartbeat_at_ms >= context.now_ms - window_ms

    return check


def signal_process(pid: int, signal: int, *, system: str = os.name) -> None:
    """``os.kill``, where signal 0 asks and does nothing; on Windows, where it would act, always an ``OSError``."""
    if system == "nt":
        raise OSError("this system cannot be asked for a process by signal 0")
    os.kill(pid, signal)


def same_host_pid_probe(
    expected_owner: OwnerId, context: LivenessContext, *, kill: Callable[[int, int], object] = signal_process
) -> bool:
    """A check by this machine's process table, through ``kill(pid, 0)``, which sends no signal (RS-902).

    Only "no such process" is death. Every other failure, ``EPERM`` included, and a pid that is no positive safe integer
    are life. An owner on another host is not probed and counts as gone, so that its lease decides. A pid that somebody
    else has by now is alive too: so is an owner recorded with the pid of this very process.
    """
    if not same_host_incarnation(expected_owner, context.claimant):
        return False
    if not is_safe_integer(expected_owner.pid) or expected_owner.pid == 0:
        return True
    try:
        kill(expected_owner.pid, 0)
    except ProcessLookupError:
        return False
    except Exception:  # noqa: BLE001  # the rule: whatever else fails is no proof of death
        return True
    return True

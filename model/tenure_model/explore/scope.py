"""What is explored: who takes part, what their clocks may show, which calls they make, and how far."""

from collections.abc import Iterable
from typing import Final

import attrs

from tenure_model.semantics.profiles import REFERENCE, Profile
from tenure_model.vocabulary.constants import HEARTBEAT_SKEW_ALLOWANCE_MS
from tenure_model.vocabulary.operations import RUN_OPERATIONS
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.runs import CreateOptions
from tenure_model.vocabulary.statuses import TargetStatus

DELETE: Final = "row.delete"
"""A raw write that a scope may draw: an administrator deletes the row (H-03)."""

WRITE_ROW: Final = "row.write"
"""Another: a hand that knows of no lease puts the caller into the row, as claimant or as owner (H-05, H-17, H-27)."""

WRITE_LEASE: Final = "lease.write"
"""And one past the row: the lease is lost, or has a claim of the caller beside what it has (H-04, H-24)."""

EVERY_OPERATION: Final = frozenset(RUN_OPERATIONS)
"""The sixteen operations of the run store."""

NO_ANCESTRY: Final = CreateOptions()
"""A run of its own: no parent and no lineage."""


@attrs.frozen
class Reading:
    """What an owner's clocks show, both in milliseconds from the instant of the call.

    ``clock_ms`` is the clock of the store it calls, ``now_ms`` what it passes as its own reading.
    """

    clock_ms: int
    now_ms: int


@attrs.frozen
class Participant:
    """An owner, and every reading it may take at an instant, whatever it took before: clocks may jump both ways."""

    owner: OwnerId
    readings: tuple[Reading, ...]


@attrs.frozen
class RunPlan:
    """A run that may be created, and the ancestry it is created with."""

    run_id: str
    options: CreateOptions = NO_ANCESTRY


@attrs.frozen
class Scope:
    """A finite part of the world that is searched whole.

    ``advances`` are the steps in which time passes, in milliseconds; without any, every call happens at one instant
    and only the readings differ. ``targets`` are the statuses a transition asks for. ``symmetric`` says whether owners
    of one host that take the same readings are one and the same. ``depth`` bounds the number of steps, ``None`` does
    not. ``ValueError`` for an owner or a run that is there twice, an operation that nobody knows, and time that stands
    still or goes back.
    """

    name: str
    participants: tuple[Participant, ...]
    runs: tuple[RunPlan, ...] = (RunPlan("r"),)
    advances: tuple[int, ...] = ()
    operations: frozenset[str] = EVERY_OPERATION
    targets: tuple[TargetStatus, ...] = ("running", "suspended", "completed", "failed", "cancelled")
    symmetric: bool = True
    profile: Profile = REFERENCE
    depth: int | None = None

    def __attrs_post_init__(self) -> None:
        if len(set(self.owners)) != len(self.owners):
            raise ValueError("participants must be different owners")
        if len({plan.run_id for plan in self.runs}) != len(self.runs):
            raise ValueError("runs must have different ids")
        if not self.operations <= EVERY_OPERATION | {DELETE, WRITE_ROW, WRITE_LEASE}:
            raise ValueError("operations must be those of the run store, or raw writes")
        if not all(by_ms > 0 for by_ms in self.advances):
            raise ValueError("advances must be positive")

    @property
    def owners(self) -> tuple[OwnerId, ...]:
        """The owners in order: their place is their number in states and labels."""
        return tuple(participant.owner for participant in self.participants)


def honest(*offsets_ms: int) -> tuple[Reading, ...]:
    """Readings of an owner that passes what its store's clock shows, at each of these offsets."""
    return tuple(Reading(offset_ms, offset_ms) for offset_ms in offsets_ms)


def ahead(*offsets_ms: int, by_ms: int = HEARTBEAT_SKEW_ALLOWANCE_MS) -> tuple[Reading, ...]:
    """Readings that run ahead of the store's clock, by as much as is admitted unless told otherwise (RS-309)."""
    return tuple(Reading(offset_ms, offset_ms + by_ms) for offset_ms in offsets_ms)


def owners_on(host_id: str, count: int) -> Iterable[OwnerId]:
    """``count`` processes of one host."""
    return (OwnerId(host_id, pid, f"{host_id}{pid}") for pid in range(1, count + 1))


def owner_name(owner: OwnerId) -> str:
    """A name that no other owner has: host and pid for those of ``owners_on``, all three parts for others (RS-011)."""
    short = f"{owner.host_id}{owner.pid}"
    if owner.nonce == short and not owner.host_id[-1:].isdigit():
        return printable(short)
    return printable(f"{owner.host_id}/{owner.pid}/{owner.nonce}")


def printable(text: str) -> str:
    """The text with what cannot be printed spelled out: names may hold anything that is no surrogate (RS-301)."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)

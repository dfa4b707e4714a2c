"""The whole state of a run store as one immutable value: rows, leases, change rows, revision and facts.

Nothing here decides anything. The functions at the end answer a new world and leave the one they are given alone; the
mappings inside a world are never written to.
"""

from collections.abc import Mapping
from typing import Final

import attrs

from tenure_model.semantics.profiles import REFERENCE, Profile
from tenure_model.vocabulary.facts import OwnershipFact
from tenure_model.vocabulary.owners import OwnerId
from tenure_model.vocabulary.statuses import RunStatus

ZERO_SOURCE: Final = "0" * 32
"""The source identity of a world whose maker did not draw one."""


@attrs.frozen
class Claim:
    """A pending claim: who made it, and the reading it was made with, which is its token (RS-004, RS-102)."""

    claimant: OwnerId
    claimed_at_ms: int


@attrs.frozen
class Ownership:
    """The lease's owner slot (RS-130): ``granted_at_ms`` is the token of the claim it grew from."""

    owner: OwnerId
    granted_at_ms: int
    heartbeat_at_ms: int


@attrs.frozen
class Lease:
    """One row of ``flows_consensus_leases``: the private evidence that arbitrates (RS-130, RS-131)."""

    ownership: Ownership | None
    claim: Claim | None


@attrs.frozen
class Acknowledgement:
    """The first observation of a cancellation request by an owner (RS-441)."""

    observed_at_ms: int
    owner: OwnerId


@attrs.frozen
class Run:
    """One row of ``flows_runs`` (RS-100), without the ``waiting_*`` columns that no operation reads or writes (RS-107).

    ``owner`` and ``heartbeat_at_ms`` stand apart because a snapshot compares them apart; the CHECK of RS-101 keeps them
    together. The claim columns are null together (RS-102), so they are one value here.
    """

    run_id: str
    status: RunStatus
    created_at_ms: int
    started_at_ms: int | None
    finished_at_ms: int | None
    owner: OwnerId | None
    heartbeat_at_ms: int | None
    claim: Claim | None
    parent_run_id: str | None
    cancel_requested_at_ms: int | None
    acknowledgement: Acknowledgement | None
    lineage_id: str | None
    round_ordinal: int | None
    state_json: str


@attrs.frozen
class Change:
    """One row of ``flows_run_changes``: a run's newest revision, and whether it is a tombstone (RS-121, RS-165)."""

    revision: int
    deleted: bool


@attrs.frozen
class World:
    """A database at one instant, under one profile.

    ``runs``, ``leases`` and ``changes`` map run ids to rows; ``revision`` is the source revision and ``source`` the
    identity beside it (RS-120); ``facts`` maps run ids to what their companion streams hold, oldest first (RS-700).
    """

    profile: Profile
    runs: Mapping[str, Run]
    leases: Mapping[str, Lease]
    changes: Mapping[str, Change]
    revision: int
    facts: Mapping[str, tuple[OwnershipFact, ...]]
    source: str


def empty_world(profile: Profile = REFERENCE, source: str = ZERO_SOURCE) -> World:
    """A freshly migrated database: no run, revision 0 (RS-144). ``source`` is drawn by the caller (RS-120)."""
    return World(profile, runs={}, leases={}, changes={}, revision=0, facts={}, source=source)


def with_lease(world: World, run_id: str, lease: Lease) -> World:
    """The world in which ``run_id`` has this lease row."""
    return World(
        world.profile,
        world.runs,
        {**world.leases, run_id: lease},
        world.changes,
        world.revision,
        world.facts,
        world.source,
    )


def without_lease(world: World, run_id: str) -> World:
    """The world in which ``run_id`` has no lease row."""
    leases = {other: lease for other, lease in world.leases.items() if other != run_id}
    return World(world.profile, world.runs, leases, world.changes, world.revision, world.facts, world.source)


def with_fact(world: World, fact: OwnershipFact) -> World:
    """The world in which the companion stream of the fact's run has one more fact, the newest (RS-701, RS-703)."""
    facts = {**world.facts, fact.run_id: (*world.facts.get(fact.run_id, ()), fact)}
    return World(world.profile, world.runs, world.leases, world.changes, world.revision, facts, world.source)
